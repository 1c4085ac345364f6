"""What constructors do to modules that stand elsewhere, in Equinox: initial values are torch's."""

from pathlib import PurePosixPath

import jax
import numpy as np
import pytest
import torch

from transpile.command import engine
from transpile.dialects.equinox import runtime
from transpile.source.files import Source

from ..proof.comparison import assert_close
from .verified import converted, namespace, verify

HEAD = """
import torch
import torch.nn as nn

def bias(m):
    if type(m).__name__.find("Linear") != -1:
        m.bias.data.fill_(5.0)

def fill(layer, value=1.0):
    nn.init.constant_(layer.weight, value)
    return layer

def fill_all(net):
    for m in net.modules():
        if isinstance(m, nn.Linear):
            nn.init.constant_(m.weight, 4.0)

def fill_each(nets, value=2.0):
    if not isinstance(nets, list):
        nets = [nets]
    for net in nets:
        for m in net.modules():
            if isinstance(m, nn.Linear):
                nn.init.constant_(m.weight, value)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.last = nn.Linear(2, 2), nn.Linear(2, 2)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), Block())
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
        self.rnn = nn.GRU(2, 2)
        self.scale = nn.Parameter(torch.ones(2))
        for name, p in self.named_parameters():
            p.data.fill_(float(len(name)))
        self.reset()

    def reset(self):
BODY

    def _init(self, module):
        if isinstance(module, nn.Linear):
            module.weight.data.fill_(3.0)
        if isinstance(module, Block):
            nn.init.constant_(module.last.bias, 7.0)
"""
BODIES = {
    "names": "pass",
    "modules, outer before inner": """
for m in self.modules():
    if isinstance(m, Block):
        nn.init.constant_(m.last.weight, 8.0)
    elif isinstance(m, nn.Linear):
        if m.weight.shape[0] != 2:
            continue
        n = m.in_features
        m.weight.data.fill_(2.0 / n)
""",
    "apply, inner before outer": "self.apply(self._init)",
    "apply of a part": "self.net.apply(bias)",
    "params": "for p in self.parameters():\n    if p.dim() > 1:\n        nn.init.zeros_(p)",
    "params of a layer": """
for name, p in self.rnn.named_parameters():
    if "weight" in name:
        nn.init.eye_(p.data)
    else:
        p.data.zero_()
""",
    "params of modules": """
for m in self.modules():
    if isinstance(m, nn.GRU):
        for name, p in m.named_parameters():
            if name.startswith("weight"):
                nn.init.ones_(p)
""",
    "children": "for m in self.layers.children():\n    nn.init.zeros_(m.weight)",
    "a list": "for layer in self.layers:\n    nn.init.zeros_(layer.weight)",
    "a display": "for m in [self.fc, self.net[0]]:\n    nn.init.zeros_(m.weight)",
    "a display's name": "ms = [self.fc, self.net[0]]\nfor m in ms:\n    nn.init.zeros_(m.weight)\n"
    "for m in ms:\n    nn.init.ones_(m.bias)",
    "an item": "nn.init.zeros_(self.net[2].fc.bias)",
    "another name": "last = self.net[2].last\nlast.bias.data.zero_()\nlast.weight.data.fill_(2.0)",
    "handed on before": "fc = nn.Linear(2, 2)\nself.fc = fc\nfill(fc)\n"
    "fc.weight.data.mul_(2.0)\nnn.init.zeros_(fc.bias)",
    "appended before": """
for i in range(2):
    fc = nn.Linear(2, 2)
    self.layers.append(fc)
    nn.init.constant_(fc.weight, i + 8.0)
    fill(fc, i + 9.0)
    fc.bias.data.zero_()
""",
    "in a list before": """
layers = []
for i in range(2):
    fc = nn.Linear(2, 2)
    layers += [fc, nn.ReLU()]
    nn.init.constant_(fc.weight, i + 8.0)
    fc.bias.data.zero_()
first, last = nn.Linear(2, 2), nn.Linear(2, 2)
mods = [first, nn.ReLU(), last]
fill(last)
fill(first, 3.0)
self.net = nn.Sequential(*layers, *mods)
""",
    "in a Sequential before": "fc = nn.Linear(2, 2)\nself.net = nn.Sequential(nn.ReLU(), fc)\n"
    "fill(fc)\nnn.init.zeros_(fc.bias)",
    "added before": "fc = nn.Linear(2, 2)\nself.net.append(fc)\nfill(fc)\nnn.init.zeros_(fc.bias)",
    "added under a name": "fc = nn.Linear(2, 2)\nself.net.add_module('end', fc)\nfill(fc)\n"
    "nn.init.zeros_(fc.bias)",
    "a function of a layer": "fill(self.fc, 2.0)\nself.layers[1] = fill(self.layers[1])",
    "a function of a net": "fill_all(self.net)",
    "a function of a list": "fill_each([self.fc, self.net])\nfill_each(self.net[0], 3.0)",
    "a function that makes a list": "fill_each(self.net, 6.0)\nfill_each([self.fc])",
    "what is counted": """
n = sum(p.numel() for p in self.parameters())
names = [name for name, p in self.net.named_parameters() if p.dim() > 1]
for name, p in self.fc.named_parameters():
    n += p.numel() * name.startswith("bias")
self.fc.weight.data.fill_(n + 100 * len(names))
""",
    "a module replaced": "self.net[0].bias = nn.Parameter(torch.zeros(2))",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_initial_values(body):
    lines = "\n".join(" " * 8 + line for line in body.strip().splitlines())
    source = HEAD.replace("BODY", lines)
    given = Source(PurePosixPath("module.py"), source, "utf-8", False, "\n")
    (made,), support, _ = engine.convert([given], "", "equinox")
    assert not made.diagnostics, (made.diagnostics, made.code)
    theirs = namespace(source, "program")["Net"]().state_dict()
    cls = converted(made.code, support)["Net"]
    ours = runtime.arrays(cls(key=jax.random.key(0)))
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        if not np.allclose(value, value.flatten()[0]) and "eye_" not in body:
            continue  # a fresh layer's own draws
        assert_close(ours[name], value, err_msg=name)


@pytest.mark.parametrize(
    "body",
    [
        "n = 0\nfor m in self.modules():\n    n += 1\n    if isinstance(m, nn.Linear):\n"
        "        m.bias.data.fill_(n)",
        "m = nn.Linear(2, 2)\nif self.scale.shape[0] > 1:\n    self.layers.append(m)\n"
        "nn.init.zeros_(m.weight)",
        "m = nn.Linear(2, 2)\nself.layers.append(m)\nself.layers.append(nn.Linear(2, 2))\n"
        "nn.init.zeros_(m.weight)",
        "m = nn.Linear(2, 2)\nself.last = m\nself.layers.append(m)\nnn.init.zeros_(m.weight)",
        "m = nn.Linear(2, 2)\nfor _ in range(2):\n    self.layers.append(m)\n"
        "    nn.init.zeros_(m.weight)",
        "for m in self.modules():\n    if isinstance(m, nn.Linear):\n        nn.init.zeros_(m.bias)\n"
        "        break",
        "ms = [self.fc]\nself.fc = nn.Linear(2, 2)\nfor m in ms:\n    nn.init.zeros_(m.weight)",
        "ms = [self.fc]\nfor m in ms:\n    nn.init.zeros_(m.weight)\nms[0](torch.ones(2))",
    ],
)
def test_what_has_no_place_is_refused(body):
    lines = "\n".join(" " * 8 + line for line in body.splitlines())
    given = Source(PurePosixPath("module.py"), HEAD.replace("BODY", lines), "utf-8", False, "\n")
    (made,), _, _ = engine.convert([given], "", "equinox")
    told = [d.id for d in made.diagnostics if d.id != "shared-module"]
    assert told in (["module-walk"], ["parameter-write"]), made.code


FROZEN = """
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pad = nn.ConstantPad1d(0, 0)
        self.register_buffer("noise", torch.zeros(4))
        self.reset()

    def reset(self):
        self.noise.copy_(torch.ones(4))
        return 1

    def forward(self, x):
        self.reset()
        self.pad.padding = (1, 0)
        return self.pad(x)[:, :4] + self.noise
"""


def test_what_is_frozen_or_not_there_yet_is_told():
    given = Source(PurePosixPath("module.py"), FROZEN, "utf-8", False, "\n")
    (made,), _, _ = engine.convert([given], "", "equinox")
    found = [(d.id, d.line) for d in made.diagnostics]
    assert found == [("state-in-constructor", 10), ("parameter-write", 18)]


FITTED = """
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("grid", torch.arange(4.0))
        self.weight = nn.Parameter(torch.zeros(3, 4))
        self.fit()

    def fit(self):
        self.weight.data.copy_(self.at(torch.ones(3, 1)))

    def at(self, x):
        return x * self.basis(x)

    def basis(self, x):
        return self.grid + x

    def forward(self, x):
        self.grid.add_(1)
        return self.basis(x) * self.weight
"""


def test_what_reads_the_state_runs_in_the_constructor():
    verify(FITTED, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], "equinox")
    given = Source(PurePosixPath("module.py"), FITTED, "utf-8", False, "\n")
    (made,), support, _ = engine.convert([given], "", "equinox")
    weight = runtime.arrays(converted(made.code, support)["Net"]())["weight"]
    assert not made.diagnostics and np.array_equal(weight, [[1, 2, 3, 4]] * 3)


BUFFERS = """
import torch
import torch.nn as nn

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.zeros(3))

    def forward(self, x):
        return x + self.mask

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("noise", torch.randn(3))
        self.register_buffer("scale", torch.full((3,), 2.0), persistent=False)
        self.inner = nn.ModuleList([Inner(), Inner()])
        self.inner[0].mask.fill_(4)
        self.border = torch.zeros(3)
        self.border[0] = 1

    def forward(self, x):
        for m in self.inner:
            x = m(x * self.noise * self.scale + self.border)
        return x
"""


def test_buffers_that_nothing_writes_come_from_a_checkpoint():
    verify(
        BUFFERS, "Net", "", [torch.randn(2, 3, dtype=torch.float64, requires_grad=True)], "equinox"
    )


NAMED = """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        linear = lambda i, o: nn.Linear(i, o)
        self.parts = nn.ModuleDict({"embed": nn.Linear(3, 3), "head": nn.Linear(3, 3)})
        self.spare = nn.ModuleList([linear(3, 3), linear(3, 3)])
        self.net = nn.Sequential(nn.Tanh())
        self.net.add_module("first", nn.Linear(3, 3))

    def forward(self, x):
        return self.parts.head(self.net(self.parts.embed(x)))
"""


def test_parts_by_name_and_builders_that_draw():
    verify(NAMED, "Net", "", [torch.randn(2, 3, dtype=torch.float64)], "equinox")
    given = Source(PurePosixPath("module.py"), NAMED, "utf-8", False, "\n")
    (made,), support, _ = engine.convert([given], "", "equinox")
    arrays = runtime.arrays(converted(made.code, support)["Net"](key=jax.random.key(0)))
    assert not np.allclose(arrays["spare.0.weight"], arrays["spare.1.weight"])


COMPUTED_BEHIND_OTHERS = """
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.z = nn.Linear(4, 4)
        self.a = nn.LayerNorm(4)
        for i in (3, 1, 2):
            self.add_module(f"block{i}", nn.Linear(4, 4))
        self.b = nn.Tanh()

    def forward(self, x):
        for i, m in enumerate(self.children()):
            x = m(x) * (i + 1)
        return x
"""


def test_submodules_under_computed_names_stand_where_the_first_was_set():
    inputs = [torch.randn(3, 4).double()]
    verify(COMPUTED_BEHIND_OTHERS, "Net", "", inputs, "equinox", ["module-value"])


@pytest.mark.parametrize("drawn", ["torch.randperm(4).tolist()", "torch.randint(1, 4, (1,)).item()"])
def test_numbers_that_are_drawn_are_told(drawn):
    text = (
        "import torch\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n        self.drawn = {drawn}\n\n"
        "    def forward(self, x):\n        return x[:, self.drawn]\n"
    )
    source = Source(PurePosixPath("net.py"), text, "utf-8", False, "\n")
    (made,), _, _ = engine.convert([source], "", "equinox")
    assert [(d.id, d.line) for d in made.diagnostics] == [("buffer-in-list", 8)]
