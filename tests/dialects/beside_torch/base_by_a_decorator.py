from torch import nn


class State(object):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.key = "k"

    def full(self, key):
        return self.key + key

    def twice(self, kept, x):
        return x * (3 if kept is None else kept[self.full("a")])


def with_state(cls):
    cls.__bases__ = (State,) + tuple(b for b in cls.__bases__ if b != State)
    return cls


class Decoder(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n


@with_state
class Net(Decoder):
    '''Decodes.'''

    def __init__(self):
        super().__init__(4)
        self.fc = nn.Linear(4, self.n)

    def forward(self, x, kept=None):
        return self.twice(kept, self.fc(x))
