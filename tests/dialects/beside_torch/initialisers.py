from torch import nn


KINDS = {"xavier": nn.init.xavier_uniform_, "zeros": nn.init.zeros_}


class Unit(nn.Sequential):
    def __init__(self, d, kind=None, layer=None, init=nn.init.kaiming_normal_, name=""):
        super().__init__()
        unit = layer(d, d)
        init(unit.weight)
        if kind is not None:
            KINDS[kind](unit.weight)
        nn.init.constant_(unit.bias, 0)
        self.add_module(name + "unit", unit)
        self.add_module(name + "activation", nn.ReLU())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Unit(4, "xavier", nn.Linear)
        self.second = Unit(4, layer=nn.Linear, init=nn.init.ones_)

    def forward(self, x, y):
        return self.second(self.first(x)) + y
