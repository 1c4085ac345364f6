"""Sizes, indices, masks and dtypes of small programs."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import from_torch
from transpile.command import engine

from .small import HEAD, TARGETS, program
from .verified import built, compare, converted, given, in_float64, namespace, verify

MASKS_BY_VIEWS = """
class Net(nn.Module):
    def forward(self, x, y):
        a, b = (y > 0).chunk(2, dim=1)
        chosen = torch.where(y > 0, x > 0, y < -0.5)
        rows = 0
        for i, m in enumerate(chosen.unbind(0)):
            rows = rows + x[i][m].sum()
        z = x.T.clone()
        z[(y > 0).T] = 1
        x = x.clone()
        x[:, :2][a] = 0
        return x, z, rows, x[chosen].sum(), x[:, 2:][b].mean(), x.T[chosen.T].sum()
"""


@pytest.mark.parametrize("target", TARGETS)
def test_views_of_masks_are_masks(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + MASKS_BY_VIEWS, "Net", "", inputs, target)


OF_ANOTHER_SHAPE = """
class Grown(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("last", torch.tensor([]))
        self.register_buffer("hidden", torch.zeros(1, 4))
        self.register_buffer("hits", torch.zeros(1))
        self.register_buffer("mean", torch.ones(1, 1))

    def forward(self, x, y):
        h = self.fc(x) + self.hidden
        if self.last.numel() > 0:
            h = h + self.last
        self.last = h.detach()
        self.hidden = torch.tanh(h.detach())
        self.hits = self.hits + 1
        self.mean = self.mean * 0.9 + 0.1 * x.mean(0)
        return h * self.hits + y * self.mean
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_buffer_is_given_another_shape(target):
    (made,), support, _ = engine.convert([given(HEAD + OF_ANOTHER_SHAPE)], "", target)
    assert not made.diagnostics
    theirs, scope = namespace(HEAD + OF_ANOTHER_SHAPE, "program"), converted(made.code, support)
    with in_float64():
        inputs = [torch.randn(3, 4) for _ in range(2)]
        compare(theirs["Grown"](), built(scope["Grown"], scope["Grown"]), inputs, target, True)


@pytest.mark.parametrize("target", TARGETS)
def test_pieces_by_their_names_in_jax(target):
    (made,), _, _ = engine.convert([given(program("pieces"))], "", target)
    assert made.code.count("jnp.split(") == 5 and made.code.count("nn.chunk(") == 1
    assert ", [self.far, self.far + self.far], axis=-1)" in made.code


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_are_told_are_said_in_jax(target):
    (made,), _, _ = engine.convert([given(program("sizes"))], "", target)
    assert set(re.findall(r"nn\.([a-z_]+)\(", made.code)) <= {"clamp"}
    assert "jnp.pad(padded" not in made.code and made.code.count("nn.clamp(") <= 2


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_a_constructor_tells_are_said_in_jax(target):
    (made,), _, _ = engine.convert([given(program("held_sizes"))], "", target)
    assert re.findall(r"nn\.([a-z_]+)\(", made.code) == ["expand_to"], made.code
    assert "nn.expand_to(y[:1], (self.kept, 4))" in made.code


MASKED = """
class Masked(nn.Conv1d):
    def __init__(self, kind, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.register_buffer("mask", {mask})
        self.mask.fill_(1)
        self.mask[:, :, self.weight.size(2) // 2 + (kind == "B"):] = 0

    def forward(self, x):
        {forward}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = Masked("A", 1, 2, 3, padding=1)

    def forward(self, x):
        return self.c(x.unsqueeze(1))
"""
OWN = "return F.conv1d(x, self.weight * self.mask, self.bias, padding=1)"
WRITTEN = "self.weight.data *= self.mask\n        return super().forward(x)"


@pytest.mark.parametrize("mask", ["self.weight.data.clone()", "torch.zeros_like(self.weight)"])
@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_constant_has_the_shape_of_a_param(target, mask):
    source = HEAD + MASKED.format(mask=mask, forward=OWN)
    verify(source, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


def test_a_param_that_forward_writes_holds_for_the_call_in_equinox():
    """Its gradient is that of the param; the caller's module stays as it is, which is told."""
    source = HEAD + MASKED.format(mask="torch.ones_like(self.weight)", forward=WRITTEN)
    (made,), support, _ = engine.convert([given(source)], "", "equinox")
    assert [(d.id, d.line) for d in made.diagnostics] == [("parameter-write", 15)], made.code
    theirs = namespace(source, "program")["Net"]()
    ours, _ = from_torch(theirs, converted(made.code, support)["Net"](key=jax.random.key(0)))
    x = torch.randn(3, 4)
    want = theirs(x)
    want.sin().sum().backward()
    loss = lambda model: jnp.sin(model(jnp.asarray(x))).sum()
    np.testing.assert_allclose(ours(jnp.asarray(x)), want.detach(), rtol=1e-5, atol=1e-6)
    grads = eqx.filter_grad(loss)(ours)
    np.testing.assert_allclose(grads.c.weight, theirs.c.weight.grad, rtol=1e-5, atol=1e-6)


LIKE_PARAMS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("u", torch.ones(self.fc.weight.size(0)))
        self.register_buffer("m", torch.zeros_like(self.fc.weight))
        self.n = self.u.shape[0]

    def forward(self, x, y):
        self.m.copy_(self.fc.weight.detach() * 0.5)
        self.u.mul_(0.5).add_(x.detach().mean(0))
        return self.fc(x) * self.u + y @ self.m * self.n
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_state_that_has_the_shape_of_a_param(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + LIKE_PARAMS, "Net", "", inputs, target)


# A number for a module of the user's, in a method that calls of it give a number.
TAKES_A_LENGTH = """
class Rotary(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / 10 ** (torch.arange(n) / n))
    def forward(self, seq_len, device):
        return torch.einsum("i,j->ij", torch.arange(seq_len, device=device).type_as(self.inv_freq), self.inv_freq)
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.rotary = Rotary(n)
    def embedding(self, n, device):
        return self.rotary(n, device=device)
    def forward(self, x, y):
        n, device = x.shape[0], x.device
        return x * self.embedding(n, device) + y[()]
"""
GONE_OVER_TO_THE_LONGEST = """
from itertools import zip_longest
class Counted(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc, self.bn, self.drop = nn.Linear(n, n), nn.BatchNorm1d(n), nn.Dropout(0.0)
    def forward(self, x):
        return self.drop(self.bn(self.fc(x)))
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(3):
            self.layers.append(Counted(n))
    def forward(self, x, y):
        for layer, more in zip_longest(self.layers, [y, y * 2]):
            x = layer(x)
            if more is not None:
                x = x + more
        return x
"""


@pytest.mark.parametrize("program", ["TAKES_A_LENGTH", "GONE_OVER_TO_THE_LONGEST"])
@pytest.mark.parametrize("target", TARGETS)
def test_lengths_are_given_and_layers_gone_over_to_the_longest(target, program):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + globals()[program], "Net", "4", inputs, target)


PICKED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.Linear(4, 4)
        self.value = nn.Linear(4, 1)
        self.score = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Dropout(0.0))

    def forward(self, x, y):
        x = self.heads(x)
        b, n, d = x.shape
        order = torch.argsort(torch.arange(n).expand(b, n), dim=1, descending=True)
        kept = torch.gather(x, 1, order[:, :2].unsqueeze(-1).repeat(1, 1, d))
        spread = torch.gather(x, dim=1, index=torch.argsort(x.new_zeros(b, n), dim=1)[..., None].expand(-1, -1, d))
        first = y.gather(1, order[:1, :1].unsqueeze(-1))
        value = self.value(x).squeeze(-1) + x.mean(1, keepdim=True)[..., 0].squeeze(1)[:, None]
        value = value * torch.sigmoid(self.score(y)).squeeze(-1)
        return kept.sum() + (spread * y).sum(), first, value, x.max(2, keepdim=True)[0].squeeze(1)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_picked_along_an_axis_is_as_large_at_the_others(target):
    """An index of size 1 there, `order[:1]`, takes the first in torch, where jnp repeats it, and a
    dim of another size is not left out."""
    verify(HEAD + PICKED, "Net", "", [torch.randn(3, 5, 4, dtype=torch.float64)] * 2, target)
    (made,), _, _ = engine.convert([given(HEAD + PICKED)], "", target)
    assert "jnp.take_along_axis(x, order[:, :2][..., None], axis=1)" in made.code
    assert (made.code.count("nn.gather("), made.code.count("nn.squeeze(")) == (1, 1)


HALF_NORMS = """
class Net(nn.Module):
    @torch.no_grad()
    def forward(self, x, y):
        large, small = (x.abs() * 300 + 300).half(), (y * 1e-4).half()
        return [v.double() for v in (large.norm(), small.norm(dim=1), large.norm() / 4, (large / 4).std(1))]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_norms_of_half_types_are_those_of_float32(target):
    verify(HEAD + HALF_NORMS, "Net", "", [torch.randn(3, 4, dtype=torch.float64)] * 2, target)


# A size of the call before is an array of the state; what is made anew of sizes is none.
SIZES_LEFT = """
class Net(nn.Module):
    def __init__(self, cached=True):
        super().__init__()
        self.cached = cached
        self.width = 0
        self.rows = 0
        self.labels = {}

    def truth(self, n, device):
        if self.rows != n or device not in self.labels:
            labels = torch.arange(n, device=device)
            if self.cached:
                self.labels[device] = labels
                self.rows = n
        else:
            labels = self.labels[device]
        return labels

    def forward(self, x, y):
        if self.width != x.shape[1]:
            x = x + 1
            self.width = x.shape[1] + 1
        return F.cross_entropy(x @ y.T, self.truth(len(x), x.device)) + y.sum() * (self.width > 0)
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("cached", ("True", "False"))
def test_sizes_that_a_call_leaves_are_state_unless_they_are_of_a_cache(target, cached):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + SIZES_LEFT, "Net", cached, inputs, target)


WRAPPED_BYTES = """
class Net(nn.Module):
    def forward(self, x):
        a = (x * 100).to(torch.uint8) + (-x * 300).byte() - (x * 500).type(torch.uint8)
        b = (x.sigmoid() * 255 + 0.5).to(device=x.device, dtype=torch.uint8)
        return a.double(), b.double(), (x > 0).to(torch.uint8).double()
"""


@pytest.mark.parametrize("target", TARGETS)
def test_floats_wrap_as_bytes(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + WRAPPED_BYTES, "Net", "", inputs, target)


NO_LAYERS = """
class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.turns = len(sizes) - 1
        self.fcs = nn.ModuleList()
        for i in range(self.turns):
            self.fcs.append(nn.Linear(sizes[i], sizes[i + 1]))
        n = len(sizes)
        self.net = nn.Sequential(*[nn.Linear(sizes[i], sizes[i + 1]) for i in range(n - 1)])
        self.deep = nn.ModuleList([nn.Linear(4, 4) for _ in range(n - 2)])
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        for fc in [*self.fcs, *self.deep]:
            x = fc(x)
        return self.fc(self.net(x))
"""


@pytest.mark.parametrize("sizes", ["[]", "[4, 4, 4]"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_range_below_zero_has_no_turns(target, sizes):
    verify(HEAD + NO_LAYERS, "Net", sizes, [torch.randn(3, 4, dtype=torch.float64)], target)


INDICES_AND_NUMBERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, pad_mask, ids):
        h = self.fc(x)
        h[pad_mask[..., None].tile(1, 1, 4)] = 0
        kept = pad_mask.unsqueeze(-1).repeat(1, 1, h.shape[-1])
        ids = ids.long()
        return h, x[kept].mean(), torch.sigmoid(ids), ids.rsqrt(), ids.exp()
"""


@pytest.mark.parametrize("target", TARGETS)
def test_indices_that_are_called_masks_and_functions_of_whole_numbers(target):
    inputs = [
        torch.randn(2, 3, 4, dtype=torch.float64),
        torch.randn(2, 3) > 0,
        torch.tensor([1, 2]),
    ]
    verify(HEAD + INDICES_AND_NUMBERS, "Net", "", inputs, target)
    source = (
        HEAD
        + "class Net(nn.Module):\n    def forward(self, x, mask):\n        return x[mask[..., None].tile(1, 4)]\n"
    )
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert [(d.line, d.id) for d in made.diagnostics] == [(8, "data-dependent-shape")]
