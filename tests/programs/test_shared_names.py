"""Names that a function has in common with the functions and comprehensions inside it: each has its own, or reads what is current."""

from functools import partial

import pytest

from transpile import convert_source

from ..small_programs import HEAD, compare_twice

MODULES = """class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.w = nn.Parameter(torch.randn(3))

    def forward(self, x):
        return self.linear(x) * self.w


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(3)

    def forward(self, x):
        return self.bn(x)


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Layer(), Layer()
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.norm = Normed()
        self.norms = nn.ModuleList([Normed(), Normed()])

    def forward(self, x):
"""

EQUAL = {
    "a layer after a comprehension over others": "layer = self.a\nys = [layer(x) for layer in self.layers]\nreturn layer(x) + sum(ys)",
    "a param of a layer after a comprehension": "m = self.a\nt = sum(m.w.sum() for m in self.layers)\nreturn x + t + m.w.sum() * 3",
    "a tensor after a comprehension of calls with state": "ys = [self.norm(x) for x in (x + 1, x + 2)]\nreturn x + sum(ys)",
    "in the same expression": "y = x * 2\nreturn sum([self.norm(y) for y in (x, x + 1)]) + y",
    "before, in the same expression": "y = x * 2\nreturn y + sum([self.norm(y) for y in (x, x + 1)])",
    "in the next turn of a loop": "total, k = 0, 1\nfor _ in range(2):\n    total = total + k * x\n    total = total + sum([self.norm(x + k) for k in range(2)])\nreturn total",
    "a counter and its row": "i, y = 3, x\nt = [self.norm(y + i) for i, y in enumerate((x, x + 1))]\nreturn y * i + t[1]",
    "two comprehensions with a condition": "i = 3\nys = [self.norm(x + i) for i in range(3) if i != 1]\nzs = [self.norm(x - i) for i in range(2)]\nreturn x * i + sum(ys) + sum(zs)",
    "a layer that a function inside sets": "m = self.a\ndef f():\n    m = self.b\n    return m.w.sum()\nreturn x + f() + m.w.sum() * 3",
    "a layer that is another by the time of the call": "m = self.a\ndef f():\n    return m.w.sum()\nm = self.b\nreturn x + f() + m.w.sum() * 3",
    "a layer as a default": "line = self.a.linear\ndef f(x, line=line):\n    return line(x)\nreturn f(x) + f(x, self.b.linear)",
    "a tensor called as the body of a loop": "body, condition = x * 2, x + 1\nn = x.detach().abs().sum()\nwhile n > 8:\n    n = n / 2\nreturn body * condition + n",
    "a tensor called as the side of a branch": "if_true = x * 2\nif x.sum() > -100:\n    x = self.a(x)\nreturn x + if_true",
    "a tensor called as the step of a scan": "step = x * 2\nfor i in range(20):\n    x = x * 0.9 + step\nreturn x + step",
    "a branch on data before the call": "y = x\ndef f(z):\n    return z * y\nif x.sum() > -100:\n    y = x * 2\nreturn f(x)",
    "a branch on data, and a list of functions": "y = x\nfs = []\nfs.append(lambda z: z * y)\nif x.sum() > -100:\n    y = x * 2\nfor f in fs:\n    x = f(x)\nreturn x",
    "a function that makes functions": "y = x\ndef outer(k):\n    return lambda z: z * k + y\ng = outer(2)\nif x.sum() > -100:\n    y = y * 2\nreturn g(x)",
    "a loop of many turns": "y = x\ndef f(z):\n    return z * y\nfor i in range(20):\n    y = f(y) * 0.1 + 1\nreturn f(x)",
    "a view, and a write of what it is of": "x = x.clone()\ny = x[0]\ndef f(z):\n    return z + y\nx[0] = 0.5\nreturn f(x)",
}  # fmt: skip
REPORTED = {
    "layers as defaults of lambdas": ("fs = []\nfor line in (self.a.linear, self.b.linear):\n    fs.append(lambda x, line=line: line(x))\nreturn fs[0](x) * 2 + fs[1](x)", "module-value"),
    "a layer given to a function inside": ("layer = self.a\ndef f(layer):\n    return layer.w.sum()\nreturn x + f(self.b) + f(layer) * 2", "module-value"),
    "a function inside a function inside": ("m = self.a\ndef f(x):\n    def g(m):\n        return m.w.sum()\n    return g(self.b) + m.w.sum() * 2\nreturn f(x) + x", "module-value"),
    "a call in a loop on data": ("y = x\ndef f(z):\n    return z * y\nwhile y.abs().sum() < 100:\n    y = f(y) + 1\nreturn f(x)", "traced-loop"),
    "a call of a list's function in a loop on data": ("y = x\nfs = [lambda z: z * y]\nwhile y.abs().sum() < 100:\n    y = fs[0](y) + 1\nreturn y", "traced-loop"),
    "a call on one side": ("y = x\ndef f(z):\n    return z * y\nif x.sum() > -100:\n    y = x * 2\n    w = f(y)\nelse:\n    w = f(x)\nreturn w", "traced-branch"),
    "handed on on one side": ("y = x\nf = lambda z: z * y\nif x.sum() > -100:\n    y = y + 1\n    x = sum(map(f, (x, y)))\nreturn x", "traced-branch"),
    "an early return": ("y = x\ndef f(z):\n    return z * y\nif x.sum() > 100:\n    return f(x)\ny = y + 1\nreturn f(x)", "traced-branch"),
}  # fmt: skip


def _source(body):
    return HEAD + MODULES + "".join(f"        {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("name", EQUAL)
def test_equal(name):
    compare_twice(_source(EQUAL[name]), lambda module: partial(module.apply, training=True))


@pytest.mark.parametrize("name", REPORTED)
def test_reported(name):
    body, id = REPORTED[name]
    result = convert_source(_source(body))
    assert id in {d.id for d in result.diagnostics}, (result.diagnostics, result.code)


def _called_init(made, used):
    return f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.init = {made}\n        self.fc = nn.Linear(3, 3)\n\n    def forward(self, x):\n        return self.fc({used})\n"


@pytest.mark.parametrize("made", ["nn.Parameter(torch.ones(3))", "3.0"])
def test_what_is_called_as_a_method_of_modules(made):
    compare_twice(_called_init(made, "x * self.init"), lambda module: partial(module.apply, training=True))


@pytest.mark.parametrize("made", ["nn.Linear(3, 3)", "nn.BatchNorm1d(3)"])
def test_a_submodule_called_as_a_method_is_refused(made):
    """It would stand in the method's place: `model.init(key)` would call the layer."""
    assert "unsupported" in {d.id for d in convert_source(_called_init(made, "self.init(x)")).diagnostics}


def test_a_buffer_called_as_a_method_of_modules():
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('init', torch.zeros(3))\n\n    def forward(self, x):\n        self.init = self.init + x.sum(0)\n        return x * self.init\n"
    compare_twice(source, lambda module: partial(module.apply, training=True))
