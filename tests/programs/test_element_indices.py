"""`int(labels[i])` as an index, where labels may be an array or a list."""

import jax
import pytest
import torch

from transpile import convert_source

from ..proof.comparison import assert_close
from ..small_programs import HEAD, load

MODULE = """
class M(nn.Module):
    def forward(self, x, labels):
        out = torch.zeros_like(x)
        for i in range(x.size(0)):
            {lines}
        return out
"""
INDICES = {
    "a local": "k = int(labels[i])\n            out[i, k] = x[i, k] * 2",
    "where it stands": "out[i, int(labels[i])] = 1",
    "both sides": "out[int(labels[i])] += x[i]",
}
LABELS = {"ints": [2, 0, 1], "floats": [2.9, 0.0, 1.5], "bools": [True, False, True]}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", INDICES)
def test_the_index_is_an_int(name, kind):
    source = HEAD + MODULE.format(lines=INDICES[name])
    result = convert_source(source)
    assert not result.diagnostics, result.diagnostics
    here = {}
    exec(compile(source, "program.py", "exec"), here)
    x, labels = torch.randn(3, 3), torch.tensor(LABELS[kind])
    want, module = here["M"]()(x, labels), load(result)["M"]()
    for got in (jax.jit(module)(x.numpy(), labels.numpy()), module(x.numpy(), LABELS[kind])):
        assert_close(got, want, err_msg=result.code)


def test_a_number_stays_one():
    source = HEAD + MODULE.format(lines="k = int(labels[i])\n            out = out[:, :k] + x[i, k]")
    assert "k = int(labels[i])" in convert_source(source).code
