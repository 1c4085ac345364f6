"""Branches and loops of small programs, and what data ask for."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx

from transpile.command import engine

from .small import HEAD, TARGETS, alone, program
from .verified import built, converted, given, in_float64, verify


@pytest.mark.parametrize("target", ("equinox", "functional"))
def test_a_tie_in_what_a_loop_goes_over_is_refused(target):
    looped = alone("tied_item").replace("self.outs(", "sum(out(y) for out in self.outs) + (")
    (made,), _, _ = engine.convert([given(HEAD + looped)], "", target)
    assert {d.id for d in made.diagnostics} == {"tied-weight"}


COMPUTED_DATA = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        for name in ("weight", "bias"):
            p = getattr(self.fc, name)
            p.data = p.data * 2
            getattr(self.fc, name).data.mul_(2)
        return self.fc(x)
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_data_under_a_computed_name_is_told(target):
    (made,), _, _ = engine.convert([given(HEAD + COMPUTED_DATA)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [
        ("parameter-write", 15),
        ("parameter-write", 16),
    ]


BOUNDED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        x, i = self.fc(x), 0
        while i < 3 and x.norm() > 0.5:
            x = x * 0.7 * self.fc.bias.cos()
            self.seen[i] += 1
            i += 1
        return x
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_loop_with_a_bound_that_writes_has_a_gradient(target):
    verify(HEAD + BOUNDED, "Net", "", [torch.randn(2, 4, dtype=torch.float64)], target)


UNBOUNDED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        x = self.fc(x)
        while x.norm() > 1:
            x = x * 0.5
        return x
"""


@pytest.mark.parametrize(
    "program, told", [(UNBOUNDED, [14]), (UNBOUNDED.replace("(x)\n", "(x).detach()\n"), [])]
)
def test_a_loop_without_a_bound_has_no_gradient_and_says_so(program, told):
    (made,), _, _ = engine.convert([given(HEAD + program)], "", "functional")
    assert [d.line for d in made.diagnostics] == told


COMPARED = """import elsewhere


class Net(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.pad = pad

    def forward(self, ids):
        return self.mask(ids)

    def mask(self, ids):
        return (ids != self.pad).unsqueeze(1).unsqueeze(2)


def evaluate(words):
    net = Net(elsewhere.pad(words))
    for batch in elsewhere.batches(words):
        ids = batch.ids
        print(net(ids), (batch.a == batch.b).float().mean())
    return (elsewhere.a(words) == elsewhere.b(words)).mean()
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_comparison_of_unknown_things_gives_is_a_tensor_where_it_is_used_as_one(target):
    (made,), *_ = engine.convert([given(HEAD + COMPARED)], "", target)
    assert "jnp.expand_dims(ids != self.pad, (1, 2))" in made.code
    assert "(batch.a == batch.b).astype(jnp.float32).mean()" in made.code
    assert "(elsewhere.a(words) == elsewhere.b(words)).mean()" in made.code


ASKED_FOR_ATTRIBUTES = """
def doubled(v):
    if hasattr(v, "astype"):
        return torch.from_numpy(v.astype("float64"))
    if hasattr(v, "cpu"):
        return v * 2
    return torch.tensor(v)


class Net(nn.Module):
    def forward(self, x):
        z = torch.relu(x)
        if hasattr(x, "at") or hasattr(z, "flat") or not hasattr(x, "unsqueeze"):
            z = z * 100
        return doubled(z) + doubled(1.0)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_attributes_that_tensors_have_are_asked_for(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + ASKED_FOR_ATTRIBUTES, "Net", "", inputs, target)


@pytest.mark.parametrize(
    "said",
    [
        "sorted([x.sum(), y.sum()])[0]",
        "sorted([x, y], key=lambda t: t.sum())[0]",
        "max(x, y, key=lambda t: t.abs().sum())",
        "min([x.sum(), y.sum()], key=lambda t: t)",
        'len(f"{x.sum():.3f}")',
        'len("loss {:.3f}".format(x.mean().item()))',
        'len("loss %.3f" % x.mean().item())',
    ],
)
def test_what_python_asks_of_data_is_refused(said):
    source = f"def f(x: torch.Tensor, y: torch.Tensor):\n    return {said} * x\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "functional")
    assert [(d.id, d.line) for d in made.diagnostics] == [("unsupported", 7)], made.code


def test_what_python_knows_of_data_is_asked():
    source = "def f(xs, y):\n    first = sorted(xs, key=lambda t: t.shape[0])[0]\n    n = f'{y.shape[0]:3d}'\n"
    source += "    print(f'{y.mean():.3f}')\n    if y.shape[0] > 9:\n        raise ValueError(f'{y.sum():.1f}')\n"
    source += "    return first * len(n) + max(y.shape, key=lambda n: n % 3) + len(sorted({'b': y, 'a': 1}))\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "functional")
    assert not made.diagnostics, made.diagnostics


def test_a_branch_on_a_flag_that_is_kept_reads_its_array():
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = True

    def forward(self, x):
        if self.first:
            self.first = False
            x = x * 2
        return x
"""
    (made,), support, _ = engine.convert([given(HEAD + source)], "", "flax")
    run = nnx.jit(lambda net, x: net(x))
    net = converted(made.code, support)["Net"]()
    assert [float(run(net, jnp.ones(()))) for _ in range(2)] == [2.0, 1.0]


@pytest.mark.parametrize("target", TARGETS)
def test_the_truth_of_an_array_that_may_lack_is_told_where_it_is_no_branch(target):
    source = "class Net(nn.Module):\n    def __init__(self, b=True):\n        super().__init__()\n"
    source += "        self.b = nn.Parameter(torch.ones(1)) if b else None\n\n"
    source += "    def forward(self, x):\n        return x + self.b if self.b else x\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert [d.id for d in made.diagnostics] == ["traced-branch"], made.code


CARRIED_MODULE = """
def default(value, other):
    return value if value is not None else other


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = nn.BatchNorm1d(n)

    def forward(self, x, f: nn.Module | None = None):
        if x.mean() > 0:
            f = default(f, self.norm)
            x = f(x)
        return x * 2
"""


def test_a_module_that_a_branch_sets_goes_in_once():
    inputs = [torch.rand(3, 4, dtype=torch.float64)]
    verify(HEAD + CARRIED_MODULE, "Net", "4", inputs, "flax")


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_the_truth_of_a_bias_is_whether_it_is_there(target):
    (made,), support, _ = engine.convert([given(program("truth_of_a_bias"))], "", target)
    cls = converted(made.code, support)["Net"]
    with in_float64():
        ours = built(lambda **keys: cls(**keys), cls)
    ours = ours[0] if isinstance(ours, tuple) else ours
    got = [np.unique(np.asarray(a)).tolist() for a in (ours.fc.weight, ours.one.weight, ours.one.bias)]
    assert got == [[0.25], [0.5], [3.0]], made.code


LEFT_BY_RETURNS = """
class Net(nn.Module):
    def forward(self, x, y):
        while True:
            x = x * 0.5
            if x.abs().max() < 0.3:
                return x + y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_that_only_returns_leave_has_no_way_past_it(target):
    inputs = [torch.rand(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + LEFT_BY_RETURNS, "Net", "", inputs, target, told=["taken-for-granted"])
