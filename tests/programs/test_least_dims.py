"""A 0-dim tensor has dims 0 and -1 in torch: a reduction over those is a plain one where the source tells that there is a dim."""

import pytest
import torch

from tests.small_programs import both, compare, three

PLAIN = {
    "a size": "n = x.shape[0]\nreturn x.amax(dim=-1) * n",
    "sizes unpacked": "b, c = x.size()\nreturn x.sum(0).amin(-1) * b",
    "a part": "return x[:, 1:].prod(0) + y[None].amax(0)[0, 0]",
    "a view": "return x.view(-1).amax(0), y.reshape(2, 12).argmin(-1)",
    "elementwise": "z = (x[:, 0] - 1).exp()\nreturn (z > 1).all(-1), torch.sigmoid(-z).amin(0)",
    "joined": "z = torch.cat([x, y])\nw = torch.stack([x, y])\nreturn z.amax(-1), w.any(0)",
    "made": "return torch.zeros(3, 4).amax(-1), torch.arange(4).prod(0), torch.tensor([1.0, 2.0]).amin(0), x",
    "distances": "return torch.cdist(x, y).argmin(dim=-1), (x.unsqueeze(1) - y).pow(2).sum(-1).argmin(-1), x.unsqueeze(1).norm(dim=-1).amax(0)",
    "parts": "a, b = x.chunk(2)\nreturn a.amax(-1) + b.amin(-1), x.topk(2)[0].amax(-1)",
    "given by a call": "def g(z):\n    return z.amax(-1)\n\n\ndef f(x, y):\n    return g(x[1:]) + g(y.view(4, 6)[1:])",
    "a forward": "class M(nn.Module):\n    def helper(self, h):\n        return h.amin(-1)\n    def forward(self, x, y):\n        h = x * y\n        return h.amax(-1) - self.helper(h)\n\n\ndef f(x, y):\n    return M()(x, y)",
    "another dim": "return x.amax(1), y.all(1), x.argmin(dim=1)",
    "order": "return torch.argsort(x.view(-1)), torch.argsort(y[:, 0], -1, descending=True), x.argsort(dim=1), torch.sort(y, 1)[1]",
    "grids": "v = [torch.linspace(0, 1, n) for n in x.shape]\na, b = torch.meshgrid(x.flatten(), y[:, 0], indexing='xy')\nreturn a * b, torch.stack(torch.meshgrid(v)), torch.meshgrid([x.view(-1), y[:, 0]])[0]",
    "all of them": "return x.amax(), y.all(), x.prod()",
}  # fmt: skip

# what only the run tells to be a list or not
UNKNOWN = "def g(v):\n    return torch.meshgrid(v, indexing='ij')\n\n\ndef f(x, y):\n    return g(x.view(-1))[0] * 2, torch.stack(g([y.view(-1), x.view(-1)]))"
ASKS = ("reduced(", "argsorted(", "atleast_1d")

NOT_KNOWN = {
    "a parameter": "return x.amax(dim=-1), y.amin(0, keepdim=True), x.prod(-1), y.argmin(-1), (x > 0).all(-1), (y > 0).any(dim=0), torch.logsumexp(x, (0,))",
    "order": "return torch.argsort(x, -1), torch.argsort(y), x.argsort(0, descending=True)",
    "grids": "a, b = torch.meshgrid(x.sum(), y.sum())\nv = torch.meshgrid([x.sum(), y.sum()], indexing='xy')\nreturn a * b, torch.stack(v), torch.meshgrid(y.mean())[0]",
    "a reduction": "return x.sum(0).amax(-1), y",
    "an element": "return x[0].amax(-1), y",
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PLAIN)
def test_it_is_plain(name):
    assert not any(word in both(PLAIN[name])[2] for word in ASKS)
    if name != "a forward":
        compare(PLAIN[name], three())


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", NOT_KNOWN)
def test_it_asks(name):
    assert any(word in both(NOT_KNOWN[name])[2] for word in ASKS)
    compare(NOT_KNOWN[name], three())


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", ["a parameter", "order"])
def test_without_dims(name):
    compare(NOT_KNOWN[name], [[torch.tensor(1.5, dtype=torch.float64), torch.tensor(-0.5, dtype=torch.float64)]])


@pytest.mark.usefixtures("wide")
def test_a_grid_of_a_list_or_of_one():
    compare(UNKNOWN, three())
