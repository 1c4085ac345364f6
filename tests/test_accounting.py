"""What slips through the passes is found in the output and reported at its line."""

import re
from pathlib import Path

import pytest

import transpile
from transpile import convert_path, convert_source
from transpile.model.diagnostics import CATALOGUE
from transpile.passes import undefined_names

from .small_programs import load

CASES = [
    ("a name only a star of torch's can give", "from torch import *\n\n\ndef f(x):\n    return no_such(exp(x))\n", (5, "left-over")),
    ("a draw outside any function", "import torch\n\nDRAWS = [lambda: torch.rand(3)]\n", (3, "draw-in-value")),
    ("a module in two places", "import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(3, 3)\n        self.b = nn.Sequential(self.a, nn.ReLU())\n        self.c = nn.Sequential(*list(self.b))\n\n    def forward(self, x):\n        return self.c(self.b(x))\n", (9, "shared-module")),
    ("backward", "import torch\n\n\ndef f(x: torch.Tensor):\n    y = torch.exp(x).sum()\n    y.backward()\n", (6, "training-loop")),
    ("a property without a rule", "import torch\n\n\ndef f(x: torch.Tensor):\n    torch.exp(x)\n    return x.grad\n", (6, "no-rule")),
    ("torch itself passed on", "import torch\n\n\ndef f(g):\n    return g(torch)\n", (5, "no-rule")),
]


@pytest.mark.parametrize(("source", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_it_is_reported_at_its_line(source, expected):
    assert expected in {(d.line, d.id) for d in convert_source(source).diagnostics}


@pytest.mark.parametrize(
    "source",
    [
        "import torch\n\n\ndef f(x):\n    return torch.exp(x) + undefined\n",  # the user's affair
        "import torch\n\n\ndef f(torch):\n    return torch.foo\n",  # a parameter
        "import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        fc = nn.Linear(3, 3)\n        self.a = nn.Sequential(fc)\n        fc = nn.Linear(3, 3)\n        self.b = nn.Sequential(fc)\n\n    def forward(self, x):\n        return self.a(self.b(x))\n",  # two modules under one name
        "import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self, a):\n        super().__init__()\n        self.a = nn.Linear(3, 4)\n        self.b = nn.Linear(self.a.out_features, 3)\n\n    def forward(self, x):\n        return self.b(self.a(x))\n",
        'import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self, layer=None):\n        super().__init__()\n        self.net = nn.Linear(4, 4)\n        self.layer, self.asked = layer, False\n\n    def found(self, name):\n        self.asked = True\n        if self.layer is None:\n            layer = getattr(self, name)\n        else:\n            layer = self.layer\n        return type(layer).__name__\n\n    def forward(self, x):\n        return self.net(x) * len(self.found("net"))\n',  # a module of which nothing is called
        "import torch\n\n\ndef f(x: torch.Tensor, names: list):\n    return [n.strip() for n in names], x.exp()\n",
    ],
)
def test_what_is_not_torch_is_not_reported(source):
    assert not convert_source(source).diagnostics


def test_torch_through_another_file(tmp_path):
    (tmp_path / "common.py").write_text("import math\nimport torch.nn.functional as F\n")
    (tmp_path / "model.py").write_text("from common import F, math\n\n\ndef f(x):\n    return F.relu(x) * math.pi\n")
    assert not convert_path(tmp_path, tmp_path / "out").diagnostics
    assert "from common import math\n" in (tmp_path / "out" / "model.py").read_text()
    assert "jax.nn.relu(x)" in (tmp_path / "out" / "model.py").read_text()


def test_an_import_in_a_one_line_suite():
    result = convert_source("import torch\nif True: import torch.nn as layers\n")
    assert not result.diagnostics and "torch" not in result.code


def test_every_diagnostic_is_in_the_catalogue():
    folder = Path(transpile.__file__).parent
    texts = [p.read_text() for room in ("passes", "dialects") for p in (folder / room).rglob("*.py")]
    pattern = re.compile(r'(?:report|unconverted|refuse|Unconverted|Diagnostic)\((?:[^"()]|\([^()]*\))*"([a-z]+(?:-[a-z]+)*)",')
    assert {id for text in texts for id in pattern.findall(text)} <= CATALOGUE.keys()


def test_undefined_names():
    code = "import a\nfrom b import c as d\n\n\nclass E:\n    x = 1\n    y = x + d\n\n    def f(self, g=1, *h, **i):\n        global j\n        j = [k for k in h]\n        return lambda l: a, c, l, len, j, __class__\n"
    assert undefined_names.undefined(code) == {"c", "l"}


@pytest.mark.parametrize("asked", ["{n: p for n, p in model.named_parameters()}", "sum(p.numel() for p in model.parameters())", "dict(model.named_buffers())"])
def test_what_a_model_of_any_class_is_asked_for(asked):
    found = convert_source(f"import torch\n\n\ndef f(model, x):\n    return {asked}, torch.exp(x)\n").diagnostics
    assert [(d.id, d.line) for d in found] == [("module-value", 5)]


def test_params_of_a_module_that_is_given_are_counted():
    source = "import torch.nn as nn\n\n\ndef count(model: nn.Module):\n    return sum(p.numel() for p in model.parameters())\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 4)\n\n    def forward(self, x):\n        return self.fc(x)\n"
    result = convert_source(source)
    assert [(d.id, d.line) for d in result.diagnostics] == [("taken-for-granted", 5)]
    made = load(result)
    assert made["count"](made["M"]()) == 16


HELD = "import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self, net):\n        super().__init__()\n        self.net = net\n        for p in self.net.state_dict().values():\n            print(p.shape)\n\n    def forward(self, x):\n        return self.net(x)\n"


def test_what_a_module_of_any_class_holds():
    assert [(d.id, d.line) for d in convert_source(HELD).diagnostics] == [("module-value", 8)]
    assert not convert_source(HELD + "\n\nclass Store:\n    def state_dict(self):\n        return {}\n").diagnostics


def test_what_asks_for_parameters_of_its_own():
    source = "import torch\n\n\nclass Table:\n    def parameters(self):\n        return [1]\n\n\ndef f(table, x):\n    return table.parameters(), torch.exp(x)\n"
    assert not convert_source(source).diagnostics


# name -> what stands before the class, what forward returns, and the line of what is reported
UNDEFINED = {
    "a function": ("", "later(x) + later(x)", 10),
    "of a star": ("from layers import *\n", "later(x)", None),
    "set by a function": ("def set_up(f):\n    global later\n    later = f\n\n\n", "later(x)", None),
    "a builtin": ("", "x * len(x) if __name__ else x", None),
    "Python 2's": ("", "x if isinstance(x, unicode) else -x", None),
    "a name of a lambda": ("", "(lambda later: later)(x)", None),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_a_name_that_the_source_never_defines_is_reported(name):
    before, value, line = UNDEFINED[name]
    source = f"import torch\nimport torch.nn as nn\n\n\n{before}class M(nn.Module):\n    rate = 2\n\n    def forward(self, x):\n        x = torch.relu(x)\n        return {value}\n"
    found = [(d.id, d.line) for d in convert_source(source).diagnostics]
    assert found == ([("undefined-name", line)] if line else []), found


def test_an_undefined_name_of_code_that_no_forward_pass_runs_is_the_users_affair():
    assert not convert_source("import torch\n\n\ndef main(x):\n    show(torch.relu(x))\n").diagnostics
