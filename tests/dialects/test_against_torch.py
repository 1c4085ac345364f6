"""Torch files through the whole new engine, in three dialects, beside torch."""

import jax
import jax.numpy as jnp
import pytest
import torch
from flax import nnx

import transpile
from transpile.dialects import flax
from transpile.model.effects import Apply

from .verified import converted, verify

CONTAINERS = '''
from collections import OrderedDict
import torch
from torch import nn


class Down(nn.Sequential):
    def __init__(self, a, b):
        super().__init__()
        self.add_module("norm", nn.BatchNorm2d(a))
        self.add_module("act", nn.ReLU())
        self.add_module("conv", nn.Conv2d(a, b, 3))


class Net(nn.Module):
    """Names out of their order: what a split and a merge sorts comes out wrong here."""

    def __init__(self):
        super().__init__()
        self.down = Down(3, 4)
        named = [("z", nn.Conv2d(4, 4, 1)), ("a", nn.ReLU()), ("m", nn.Conv2d(4, 5, 1))]
        self.named = nn.Sequential(OrderedDict(named))
        self.heads = nn.ModuleDict({"z": nn.Conv2d(5, 6, 1), "b": nn.Conv2d(6, 5, 1)})

    def forward(self, x):
        x = self.named(self.down(x))
        for name, head in self.heads.items():
            x = head(x)
        return x
'''


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_containers_keep_their_order(target):
    torch.manual_seed(0)
    verify(CONTAINERS, "Net", "", [torch.randn(2, 3, 6, 6, dtype=torch.float64)], target)


KEPT = '''
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.last = {value}

    def forward(self, x):
        return self.last(self.lin(x))

    def double(self, x):
        return 2 * self.lin(x)
'''


@pytest.mark.parametrize("target", ["flax", "equinox"])
@pytest.mark.parametrize(
    "value, told",
    [
        ("lambda x: self.lin(x)", []),  # it becomes a method
        ('{"f": lambda x: self.lin(x)}["f"]', ["module-value"]),
        ("self.double", []),  # it becomes a method that runs the other
        ("lambda x: 2 * x", []),
        ("nn.Linear(max([3], key=lambda i: self.lin.in_features), 3)", []),
    ],
)
def test_a_kept_function_that_holds_modules_is_refused(target, value, told):
    result = transpile.convert_source(KEPT.replace("{value}", value), target)
    assert [d.id for d in result.diagnostics] == told


def test_a_fault_of_a_dialect_costs_one_function(monkeypatch):
    def broken(low, node):
        raise RuntimeError("broken")

    monkeypatch.setitem(flax.HANDLERS, Apply, broken)
    monkeypatch.delenv("TORCH_TO_JAX_TRACE", raising=False)
    result = transpile.convert_source(KEPT.replace("{value}", "nn.ReLU()"), "flax")
    assert {(d.id, d.line) for d in result.diagnostics} == {("internal-error", 12), ("internal-error", 15)}
    assert "self.lin = nn.Linear(3, 3, rngs=rngs)" in result.code


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_a_support_file_is_extended_and_keeps_what_the_user_added(target, tmp_path):
    (tmp_path / "a.py").write_text(KEPT.replace("{value}", "nn.ReLU()"))
    (tmp_path / "b.py").write_text(KEPT.replace("{value}", "nn.GELU()"))
    support = tmp_path / "out" / "jax_nn.py"
    transpile.convert_path(tmp_path / "a.py", tmp_path / "out" / "a.py", target)
    support.write_text(support.read_text() + "\n\nimport os\n\n\ndef mine( x ):\n    return os.fspath(x)\n")
    transpile.convert_path(tmp_path / "b.py", tmp_path / "out" / "b.py", target)
    text = support.read_text()
    for part in ("class Linear(", "class ReLU(", "class GELU(", "def mine( x ):", "import os\n"):
        assert text.count(part) == 1, part


def test_targets_are_not_mixed_in_a_folder(tmp_path):
    (tmp_path / "a.py").write_text(KEPT.replace("{value}", "nn.ReLU()"))
    for target in ("functional", "flax", "equinox"):
        transpile.convert_path(tmp_path / "a.py", tmp_path / target / "a.py", target)
        for other in {"functional", "flax", "equinox"} - {target}:
            with pytest.raises(ValueError, match=f"is of the target {target}"):
                transpile.convert_path(tmp_path / "a.py", tmp_path / target / "a.py", other)


BEGINS = """
import torch
from torch import nn


class Other(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(nn.ReLU(True), nn.Conv2d(c, c, 1))


class Net(nn.Module):
    def __init__(self, c, n, given):
        super().__init__()
        {made}

    def make(self, c, act):
        layers = []
        layers.append(nn.Conv2d(c, c, 1))
        layers.append(act)
        return nn.Sequential(*layers)

    def forward(self, x):
        return {layer}(x) + x
"""


@pytest.mark.parametrize(
    "made, layer, told",
    [
        ("self.body = nn.Sequential(*[nn.Conv2d(c, c, 1)] * n)", "self.body", []),
        ("self.body = self.make(c, nn.ReLU(True))", "self.body", []),
        (
            "self.body = nn.ModuleList(self.make(c, nn.ReLU(True)) for i in range(n))",
            "self.body[0]",
            [],
        ),
        ("self.body = nn.Sequential(nn.ReLU(True), nn.Conv2d(c, c, 1))", "self.body", []),  # in two calls
        ("self.body = self.make(c, given) if n else nn.Sequential(*[nn.ReLU(True), given])", "self.body", ["taken-for-granted"]),
    ],
)
def test_only_a_sequential_that_begins_in_place_writes_its_argument(made, layer, told):
    source = BEGINS.replace("{made}", made).replace("{layer}", layer)
    result = transpile.convert_source(source, "flax")
    assert [d.id for d in result.diagnostics] == told


UNSET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.seen = None

    def forward(self, x):
        y = self.lin(x)
        self.seen = torch.softmax(y, -1)
        return y * 2
"""


def test_an_array_may_be_none_until_the_model_runs():
    """Its graph is another one then, as in Flax: `nnx.merge` of new state wants the new graph."""
    result = transpile.convert_source(UNSET, "flax")
    model = converted(result.code, result.support)["Net"](rngs=nnx.Rngs(0))
    x = jnp.arange(6.0).reshape(2, 3)
    for _ in range(2):
        y = nnx.jit(lambda model, x: model(x))(model, x)
        x = x + 1
        assert jnp.allclose(model.seen[...], jax.nn.softmax(y / 2, -1))


AT_IMPORT = """
import torch
from torch import nn

CUDA = int(torch.version.cuda.split(".")[0])
NEWER = CUDA > 11
KINDS = {"sgd": torch.optim.SGD}


class Net(nn.Module):
    kind = torch.optim.Adam

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return self.lin(x)


def make(params, kind="sgd"{default}):
    return KINDS[kind](params)
"""


@pytest.mark.parametrize(
    "target, default", [("flax", ", other=torch.optim.SGD"), ("flax", ""), ("equinox", "")]
)
def test_what_is_not_converted_raises_where_it_is_used_not_at_import(target, default):
    result = transpile.convert_source(AT_IMPORT.replace("{default}", default), target)
    assert {d.id for d in result.diagnostics} == {"no-rule"}
    scope = converted(result.code, result.support)
    with pytest.raises(NotImplementedError, match="not converted"):
        scope["make"]([jnp.ones(3)])


COMPUTED = '''
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        for i in range(1, d):
            setattr(self, f"w{i}", nn.Parameter(torch.ones(i)))
        self.d = d

    def forward(self, x):
        for i in range(1, self.d):
            x = x * getattr(self, f"w{i}").sum()
        return x
'''


@pytest.mark.parametrize("target", ["flax", "equinox", "functional"])
def test_params_under_computed_names(target):
    verify(COMPUTED, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


SIDES_THAT_WRITE = '''
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.register_buffer("low", torch.zeros(1))

    def forward(self, x):
        least = x.detach().min()
        if self.calls == 0:
            self.calls += 1
            low = least
        else:
            low = torch.min(least, self.low)
        self.low.copy_(low)
        if x.sum() > 0:
            self.calls += 1
            y = torch.ones(4)
        else:
            y = 2
        return x * self.low + y
'''


@pytest.mark.parametrize("target", ["flax", "equinox", "functional"])
def test_sides_that_write_give_one_type(target):
    verify(SIDES_THAT_WRITE, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)
