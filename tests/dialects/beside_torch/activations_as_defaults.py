# An activation that a parameter is by default takes nothing: no containers of it do for its sake.
from torch import nn


class Layer(nn.Module):
    def __init__(self, d, act_fn=nn.SiLU()):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(d, d), act_fn, nn.Linear(d, d), act_fn)
        self.act = act_fn

    def forward(self, x):
        return self.act(self.mlp(x))


class Stack(nn.Module):
    def __init__(self, d, act_fn=nn.SiLU(), n=2):
        super().__init__()
        self.n = n
        for i in range(n):
            self.add_module("gcl_%d" % i, Layer(d, act_fn=act_fn))

    def forward(self, x):
        for i in range(self.n):
            x = self._modules["gcl_%d" % i](x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Stack(4)
        self.b = Stack(4, nn.ReLU())

    def forward(self, x, y):
        return self.b(self.a(x)) + y
