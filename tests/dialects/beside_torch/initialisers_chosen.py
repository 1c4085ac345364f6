import torch
from torch import nn
from functools import partial


def named_apply(fn, module, name=""):
    for child_name, child_module in module.named_children():
        child_name = ".".join((name, child_name)) if name else child_name
        named_apply(fn=fn, module=child_module, name=child_name)
    fn(module=module, name=name)
    return module


def init_a(module, name="", std=0.02):
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=std)
        nn.init.zeros_(module.bias)


def init_b(module, name="", std=1.0):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.constant_(module.bias, std)


class Net(nn.Module):
    def __init__(self, mode="a"):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Sequential(nn.Linear(4, 3))
        init_fn = init_a if mode == "a" else init_b
        init_fn = partial(init_fn, std=0.5)
        named_apply(init_fn, self)

    def forward(self, x):
        return self.b(self.a(x))
