"""`functools.partial` of torch's functions: a call of one goes by the rule that all its arguments choose."""

import pytest

from transpile import convert_source

from ..small_programs import compare, reported, source_of, three

PROGRAMS = {
    "placed": "arange = partial(torch.arange, device=x.device)\nreturn x * arange(6) + arange(1, 7) + arange(0.5, 6)",
    "of a dtype": "tensor = partial(torch.tensor, dtype=torch.float64)\nzeros = functools.partial(torch.zeros, dtype=torch.float64, device=x.device)\nreturn x * tensor([1, 2, 3, 4, 5, 6]) + zeros(6) + zeros((4, 6))",
    "with a default": "pad = partial(F.pad, value=1.5)\nreturn pad(x, (1, 2)) + pad(y, (2, 1), value=2.5)",
    "of one dimension": "top = partial(torch.max, dim=1, keepdim=True)\nreturn x - top(x)[0] + top(y).values",
    "by place": "full = partial(torch.full, (4, 6))\nreturn x * full(3.0)",
    "in a lambda": "norm = partial(F.softmax, dim=-1)\nreturn (lambda t: norm(t))(x) + sum(norm(t) for t in (x, y))",
    "a number of the function": "dim = x.dim() - 1\nstack = partial(torch.stack, dim=dim)\nreturn stack([x, y])",
    "mapped": "a, b = map(partial(torch.sum, dim=-1), (x, y))\nreturn a * b",
    "mapped, on a device": "a, b = map(partial(torch.zeros_like, device=x.device), (x, y))\nreturn x + a + b",
    "handed on, of one dimension": "def g(f, t):\n    return f(t)[0]\ndef f(x, y):\n    return g(partial(torch.max, dim=1), x)",
    "of the file": "clip = partial(torch.clamp, max=0.5)\ndef g(t, dim):\n    return clip(t, min=-dim)\ndef f(x, y):\n    return clip(x) + g(y, 1)",
    "its dimension changes": "dim = 0\ntotal = partial(torch.sum, dim=dim)\ndim = 1\nreturn total(x) + x.sum(dim).sum()",
    "in place": "act = partial(F.relu, inplace=True)\nx = x + 1\nact(x)\nreturn x * 2",
    "of a library": "from einops import reduce\nreturn x + reduce(y, \"a b -> a 1\", partial(torch.var, unbiased=False))",
    "another in a branch": "norm = partial(F.softmax, dim=-1)\nif x.shape[0] == 4:\n    norm = partial(F.softmax, dim=0)\nreturn norm(x)",
    "a parameter of an inner function": "f = partial(torch.sum, dim=0)\ndef apply(f, t):\n    return f(t)\nreturn f(x) + apply(torch.sum, y)",
}


def _written(body):
    imports = "import functools\nfrom functools import partial\n\n"
    if "def f(" in body:
        return imports + body
    return imports + "def f(x, y):\n" + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_they_compute(name):
    compare(_written(PROGRAMS[name]), three())


def test_the_rule_stands_at_the_call():
    body = "# counts\ncount = partial(torch.arange, device=x.device)  # as torch does\nreturn x + count(6)"
    assert "# counts\n    # as torch does\n    return x + jnp.arange(6)" in convert_source(source_of(_written(body))).code


def test_what_draws_is_refused_where_it_is_handed_on():
    assert reported(_written("return sum(map(partial(F.dropout, p=0.3), (x, y)))")) == {"unsupported"}


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_an_initialiser_that_a_file_names(target):
    head = "from functools import partial\n\nfrom torch import nn\nfrom torch.nn.init import constant_\n\nzeros = partial(constant_, val=0.0)\n\n\n"
    source = head + "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n        zeros(self.fc.bias)\n"
    assert not convert_source(source, target=target).diagnostics
