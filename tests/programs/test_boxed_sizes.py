"""Sizes that functions are handed in tensors, as TorchScript once asked for."""

import pytest

from tests.small_programs import HEAD, both, compare, three
from transpile import convert_source

FUSED = "def fused(a, b, n_channels):\n    n = n_channels[0]\n    return torch.tanh(a[:, :n]) * torch.sigmoid(b[:, n:])\n\n\n"
PROGRAMS = {
    "where it is made": FUSED + "def f(x, y):\n    return fused(x, y, torch.IntTensor([x.size(1) // 2]))",
    "by a local": FUSED + "def f(x, y):\n    sizes = torch.LongTensor([x.size(1) // 2])\n    return fused(x, y, sizes) + fused(y, x, n_channels=sizes)",
    "without a name": "def part(a, n):\n    return a[:, n[0] : n[1]]\n\n\ndef f(x, y):\n    return part(x, torch.tensor([1, 3])) + y[:, 1:3]",
}
KEPT = {
    "computed with": "def fused(a, n):\n    m = n[0]\n    return a[:, :m] / m\n\n\ndef f(x, y):\n    return fused(x, torch.IntTensor([2])) + y[:, :2]",
    "read elsewhere": FUSED + "def f(x, y):\n    sizes = torch.IntTensor([2])\n    return fused(x, y, sizes) * sizes",
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_a_list(name):
    assert "jnp.array" not in both(PROGRAMS[name])[2]
    compare(PROGRAMS[name], three())


@pytest.mark.parametrize("name", KEPT)
def test_it_stays_a_tensor(name):
    assert "data-dependent-shape" in {d.id for d in convert_source(HEAD + KEPT[name]).diagnostics}
