"""What calls of the user's functions and modules give back and keep: a write to it later reaches all that hold it, or is reported.

Each program is the end of a module's class; it is run twice against torch, and then its state is compared.
"""

import jax
import pytest

from transpile import convert_source

from ..small_programs import HEAD, compare_twice

DEFINITIONS = """class Kept:
    def __init__(self):
        self.t, self.ts = None, []

    def remember(self, t):
        self.t = t

    def note(self, t):
        self.ts.append(t)


class Sub(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('n', torch.ones(3))
        self.register_buffer('h', torch.zeros(4, 3))

    def get(self):
        return self.n

    def remember(self, t):
        self.h = t

    def replace(self):
        self.n = self.n * 2

    def hide(self, t):
        if t.shape[0] == 9:
            return
        self.h = t

    def forward(self, x):
        return x * self.n + self.h


class Feature(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('feature', torch.zeros(4, 3))

    def forward(self, x):
        y = x * 2
        self.feature = y
        return y


class Same(nn.Module):
    def forward(self, x):
        return x


class Perhaps(nn.Module):
    def __init__(self, p=0.0):
        super().__init__()
        self.p = p

    def forward(self, x):
        if self.p == 0.0:
            return x
        return x * self.p


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Tanh(), nn.Sigmoid()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x) + x
        return x


class Biased(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer('bias', torch.ones(3))

    def forward(self, x):
        return self.fc(x), self.bias


class Given(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x):
        if self.mask is not None:
            x = x.masked_fill(self.mask.unsqueeze(0)[0] > 0, 2.0)
        return x + 1


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('table', torch.ones(9, 3))

    def forward(self, x):
        return self.table[: x.size(0)]


def put(held, t):
    held.append(t)


def put_again(held, t):
    put(held, t=t)


def add(held, t):
    held += [t]
    return len(held)


def name(held, t):
    held['t'] = t


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('n', torch.ones(3))
        self.register_buffer('h', torch.zeros(4, 3))
        self.sub, self.other, self.feature, self.same = Sub(), Sub(), Feature(), Same()
        self.perhaps, self.rows = Perhaps(), Rows()
        self.pair, self.either = nn.Sequential(Same(), Same()), nn.Sequential(Perhaps(), nn.Identity())
        self.biased, self.given, self.others = Biased(), Given(), nn.ModuleList([Given(), Given()])
        self.subs, self.blocks = nn.ModuleList([Sub(), Sub()]), nn.ModuleList([Residual(), Residual()])

    def remember(self, t):
        self.h = t

    def get(self):
        return self.h * 2

    def replace(self):
        self.n = self.n * 2

    def forward(self, x):
"""

# What is written reaches who holds it.
REACHED = {
    "a buffer of a submodule": "m = self.sub.n\nm.add_(1)\nreturn self.sub(x)",
    "a buffer of a submodule, by its path": "m = self.sub.n\nself.sub.n.mul_(3)\nreturn self.sub(x) + m",
    "what a method gives": "m = self.sub.get()\nm.add_(1)\nreturn self.sub(x)",
    "what a method keeps": "y = x + 0\nself.remember(y)\ny.add_(1)\nreturn self.h * 2 + y",
    "what a method keeps and another reads": "y = x + 0\nself.remember(y)\ny.add_(1)\nreturn self.get() + y",
    "what a submodule keeps": "y = x + 0\nself.sub.remember(y)\ny += 1\nreturn self.sub(x) + y",
    "what a submodule keeps by another name": "y = x + 0\nself.sub.remember(t=y)\nself.sub.h.mul_(2)\nreturn y",
    "what a submodule keeps and gives": "y = self.feature(x)\ny += x\nreturn y",
    "a module that gives back its argument": "y = x * 2\nz = self.same(y)\nz += 1\nreturn y + z",
    "what is no longer kept": "m = self.n\nself.replace()\nm += 1\nreturn x * self.n + m",
    "what a submodule no longer keeps": "m = self.sub.n\nself.sub.replace()\nm += 1\nreturn self.sub(x) + m",
    "what one of two submodules keeps": "y = x + 0\nself.sub.remember(y)\nself.other.remember(y * 2)\ny.add_(1)\nreturn self.sub(x) + self.other(x)",
    "what a loop over layers makes": "total = None\nfor block in self.blocks:\n    if total is None:\n        total = block(x)\n    else:\n        total += block(x)\nreturn total + x",
    "one part of what a module gives": "y, bias = self.biased(x)\ny += bias\nreturn y * bias",
    "the other part of what a module gives": "y, bias = self.biased(x)\nbias += x[0]\nreturn y * self.biased.bias",
    "what is set on a submodule": "self.given.mask = x * 2\nreturn self.given(x)",
    "what is set on a submodule, and written": "y = x * 2\nself.given.mask = y\ny -= 1\nreturn self.given(x)",
    "what is set on submodules": "for one in self.others:\n    one.mask = x * 2\nfor one in self.others:\n    x = one(x)\nreturn x",
    "what a test keeps": "y = x + 0\nif self.sub.remember(y) is None:\n    y.add_(1)\nreturn self.sub(x)",
}
# Who holds it has no name here, or may be another.
REPORTED = {
    "a function's list": "held, y = [], x + 0\nput(held, y)\ny.add_(1)\nreturn held[0] + y",
    "a function's function's list": "held, y = [], x + 0\nput_again(held, y)\ny.add_(1)\nreturn held[0] + y",
    "a list that a function adds to": "held, y = [], x + 0\nn = add(held, t=y)\ny.add_(1)\nreturn held[0] * n",
    "another name for the list": "held, y = [], x + 0\nsame = held\nput(same, y)\ny.add_(1)\nreturn held[0] + y",
    "a function's dict": "held, y = {}, x + 0\nname(held, y)\ny.add_(1)\nreturn held['t'] + y",
    "an object": "held, y = Kept(), x + 0\nheld.remember(y)\ny.add_(1)\nreturn held.t + y",
    "an object's list": "held, y = Kept(), x + 0\nheld.note(y)\ny.add_(1)\nreturn held.ts[0] + y",
    "a module that may give back its argument": "y = x * 2\nz = self.perhaps(y)\nz += 1\nreturn y + z",
    "several modules that give back their argument": "y = x * 2\nz = self.pair(y)\nz += 1\nreturn y + z",
    "several modules that may": "y = x * 2\nz = self.either(y)\nz += 1\nreturn y + z",
    "a view of a buffer of a submodule": "z = self.rows(x)\nz += x\nreturn z",
    "what a loop over modules leaves": "y = x + 0\nfor sub in self.subs:\n    sub.remember(y)\ny.add_(1)\nreturn y",
    "what a method keeps on one way": "y = x + 0\nself.sub.hide(y)\ny.add_(1)\nreturn y",
}


def _source(body):
    return HEAD + DEFINITIONS + "".join(f"        {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("name", REACHED)
def test_reached(name):
    compare_twice(_source(REACHED[name]), lambda module: jax.jit(module.apply))


@pytest.mark.parametrize("name", REPORTED)
def test_reported(name):
    result = convert_source(_source(REPORTED[name]))
    assert {d.id for d in result.diagnostics} == {"aliased-write"}, (result.diagnostics, result.code)
    assert "nn.unconverted" in result.code
