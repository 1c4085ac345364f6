# A decorator whose class extends the one that it is given, and keeps what that is built with.
import torch
from torch import nn
import copy

_decorators = set()


def persistent_class(orig_class):
    class Decorator(orig_class):
        _orig_module_src = "x"
        _orig_class_name = orig_class.__name__

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._init_args = copy.deepcopy(args)
            self._init_kwargs = copy.deepcopy(kwargs)

        @property
        def init_args(self):
            return copy.deepcopy(self._init_args)

        @property
        def init_kwargs(self):
            return copy.deepcopy(self._init_kwargs)

    Decorator.__name__ = orig_class.__name__
    _decorators.add(Decorator)
    return Decorator


@persistent_class
class Lin(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return self.fc(x)



@persistent_class
class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("s", torch.ones(n) * 2)
    def forward(self, x):
        return x * self.s


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Lin(4, 4), Scale(4)
    def forward(self, x, y):
        return self.b(self.a(x)) + y * len(self.a.init_args)
