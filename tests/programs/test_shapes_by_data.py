"""What follows in size from data cannot be under jit: it is reported where a forward pass asks for it, and stays as it is outside."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source

from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules, compare, three

READS = {
    "unique": "torch.unique(x)",
    "unique of each": "[torch.unique(t, sorted=True) for t in torch.unbind(x)]",
    "nonzero": "x.nonzero(as_tuple=True)",
    "places": "torch.where(x > 0)[0]",
    "argwhere": "torch.argwhere(x)",
    "masked_select": "x.masked_select(x > 0)",
    "bincount": "torch.bincount(x.flatten().long())",
    "mask": "x[x > 0]",
    "mask without a gradient": "x[(x > 0).detach()].sort()",
    "mask in another shape": "x[(y > 0).view(-1).to(x.device)]",
    "triangle of a mask": "x[(x > 0).tril()]",
    "padded mask": "x[F.pad(x[1:] > 0, (0, 0, 0, 1))]",
    "rows of a mask": "x[(x > 0).index_select(0, y.long()[0])]",
    "part of a mask": "x[torch.zeros_like(x > 0).masked_fill(y > 0, True)]",
    "mask of rows": "x[x.sum(1) > 0, 1:].mean()",
}
SIZES = {  # what may be any number is a size here, which data tell
    "topk": "x.topk(int((y > 0).sum()))[0]",
    "topk of some": "torch.topk(x, min((y > 0).sum().item(), 3))",
    "arange": "x + torch.arange(y.max() + 1)",
    "zeros": "torch.zeros(4, y.max().item())",
    "a shape": "x.new_zeros((4, int(y.max())))",
    "expand": "x.expand(int(y.max()), 3)",
    "view": "x.view(int(y.max()), -1)",
    "repeats": "x.repeat_interleave(y.long(), 0)",
    "classes": "F.one_hot(y.long())",
    "number of classes": "F.one_hot(y.long(), int(y.max()) + 1)",
    "a slice": "x[: (y > 0).sum().item()]",
    "padding": "F.pad(x, (0, int(y.max())))",
    "interpolate": "F.interpolate(x, size=int(y.max()))",
    "pieces": "torch.split(x, y.long().tolist())",
    "permutation": "torch.randperm(int(y.max()))",
    "padded to the longest": "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, y, True, False), True)[0]",
}
STATIC = {
    "arange": "x + torch.arange(x.size(1))",
    "padded as told": "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, y, True, False), True, total_length=7)[0]",
    "of an argument": "torch.zeros(k, 3)",
    "of a list": "x.view(*sizes)",
    "repeats to a size": "x.repeat_interleave(y.long(), 0, output_size=7)",
    "dims as a list": "torch.sum(x, dim=[0] + torch.arange(1, len(x.shape), device=x.device).tolist())",
    "shifted by data": "torch.roll(x, int(y.max()), 0)",
}
WRITES = {
    "a number": "x[x > 0] = 1.0",
    "added": "x[x > 0] += 1.0",
    "by the same mask": "m = x > 0\nx[m] = y[m]",
    "filled": "x = x.masked_fill(x > 0, 1.0)",
    "chosen": "x = torch.where(x > 0, x, y)",
    "by places": "x = x[y.long()[0]]",
}
MODULE = HEAD + "import torch.nn.utils.rnn as rnn\n\n\nclass M(nn.Module):\n    def forward(self, x, y):\n        x = x.clone()\n{lines}        return {value}\n"


def diagnostics(lines, value):
    return [d.id for d in convert_source(MODULE.format(lines="".join(f"        {line}\n" for line in lines.splitlines()), value=value)).diagnostics]


def test_what_would_tell_the_size_is_said():
    source = MODULE.format(lines="", value=SIZES["padded to the longest"])
    (found,) = convert_source(source).diagnostics
    assert found.message.endswith(", which jax.jit cannot know: give it total_length")


@pytest.mark.parametrize("name", READS)
def test_in_a_forward_pass(name):
    assert diagnostics("", READS[name]) == ["data-dependent-shape"]


@pytest.mark.parametrize("name", SIZES)
def test_sizes_in_a_forward_pass(name):
    assert diagnostics("", SIZES[name]) == ["data-dependent-shape"]


@pytest.mark.parametrize("name", STATIC)
def test_sizes_that_are_known(name):
    source = MODULE.replace("self, x, y", "self, x, y, k=3, sizes=(2, 3)")
    assert not convert_source(source.format(lines="", value=STATIC[name])).diagnostics


@pytest.mark.parametrize("name", WRITES)
def test_writes_by_masks_are_none(name):
    assert not diagnostics(WRITES[name], "x")


FIRST = """def first(x, n):
    return torch.arange(len(x))[:n]


class M(nn.Module):
    def forward(self, x):
        return first(x, 2) + x[:2, 0]

    def others(self, x):
        return first(x, int((x > 0).sum()))
"""


def test_a_slice_as_long_as_some_calls_let_the_data_say():
    result = convert_source(HEAD + FIRST)
    theirs, ours = both_modules(HEAD + FIRST, result)
    assert [d.id for d in result.diagnostics] == ["data-dependent-shape"]
    x = torch.randn(3, 4).abs()
    assert np.allclose(jax.jit(ours)(x.numpy()), theirs(x))
    assert np.allclose(ours.others(x[:, :1].numpy()), range(3))  # outside of jit


def test_in_a_helper():
    source = HEAD + "def some(x):\n    return x[x > 0]\n\n\nclass M(nn.Module):\n    def forward(self, x):\n        return some(x).sum()\n"
    assert [d.id for d in convert_source(source).diagnostics] == ["data-dependent-shape"]


OBJECT = """class Pairs:
    def __init__(self, n):
        self.n = n

    def of(self, x):
        return self.chosen(x)

    def chosen(self, x):
        return x[x > self.n]


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.pairs = Pairs(2)

    def forward(self, x):
        return {call}
"""


@pytest.mark.parametrize("call", ["self.pairs.of(x).sum()", "Pairs(3).of(x).sum()"])
def test_in_a_method_of_a_plain_object(call):
    assert [d.id for d in convert_source(HEAD + OBJECT.format(call=call)).diagnostics] == ["data-dependent-shape"]


def test_in_a_method_of_an_object_that_no_forward_pass_has():
    assert not convert_source(HEAD + OBJECT.format(call="x + 1")).diagnostics


GROWN = """class M(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("table", self.build(n))

    @staticmethod
    def build(n):
        return torch.arange(n).unsqueeze(1) * 2.0

    def forward(self, x):
        return {value}
"""


@pytest.mark.parametrize("value, ids", [("self.build(x.max() + 1)", ["data-dependent-shape"]), ("self.table * x", []), ("self.build(x.shape[0]) * x", [])])
def test_a_size_that_only_some_calls_know(value, ids):
    """The constructor gives a number, a forward pass what is traced."""
    assert [d.id for d in convert_source(HEAD + GROWN.format(value=value)).diagnostics] == ids


@pytest.mark.parametrize("name", READS)
def test_outside_of_a_forward_pass(name):
    assert not convert_source(HEAD + f"def f(x):\n    return {READS[name]}\n").diagnostics


PARTS = {"the largest": "x.max(1).values", "the largest along dim": "torch.max(x, dim=1).values", "a factor": "torch.linalg.qr(x).R[:, 0]", "under a name": "best.values"}


@pytest.mark.parametrize("name", PARTS)
def test_masks_of_named_parts(wide, name):
    """What `x.max` gives is a tensor or a tuple by its arguments: what its parts are compared with is a mask."""
    compare(f"best = x.max(1)\nm = {PARTS[name]} > 0.5\ny = y[: m.size(0)].clone()\ny[m] = 2.0\ny[{PARTS[name]} <= 0.1] = 3.0\nreturn y * x[: m.size(0)]", three())


def test_dims_that_torch_counts(wide):
    compare("dims = torch.arange(1, x.dim()).tolist()\nreturn (x * y).sum(dim=[0] + dims), torch.flip(x, dims)", three())


def test_counts_of_numbers_below_another():
    source = MODULE.format(lines="        n = torch.bincount(y.long(), minlength=5)\n", value="x * n.sum()")
    result = convert_source(source)
    assert [d.id for d in result.diagnostics] == ["taken-for-granted"]
    torch_module, module = both_modules(source, result)
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0, 3.0])
    got = jax.jit(module.__call__)(jnp.asarray(x.numpy()), jnp.asarray(y.numpy()))
    assert_close(got, torch_module(x, y).numpy())


COUNTS = ["torch.nonzero(m).size(0)", "torch.nonzero(m).size()[0]", "m.nonzero().shape[0]", "len(torch.nonzero(m))"]


@pytest.mark.parametrize("count", COUNTS)
def test_places_that_are_counted_alone(count):
    """Their number is data, and needs no array that is as long."""
    lines = f"        m = x > 0\n        n = {count}\n        if n > 0:\n            x = x / n\n"
    source = MODULE.format(lines=lines, value="x")
    result = convert_source(source)
    assert not result.diagnostics, result.code
    torch_module, module = both_modules(source, result)
    for x in (torch.tensor([1.0, -2.0, 3.0]), torch.tensor([-1.0])):
        assert_close(jax.jit(module.__call__)(jnp.asarray(x.numpy()), None), torch_module(x, None).numpy())
