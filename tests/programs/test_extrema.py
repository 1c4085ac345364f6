"""torch.max and min of a second argument that nothing is known of: a dim or another tensor, as the run tells."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source

from ..proof.comparison import assert_close
from ..small_programs import HEAD, both, load

BODIES = {
    "both": "return torch.max(x, y)",
    "a method": "return x.min(y)",
    "the first": "return torch.max(x, y)[0]",
    "the second": "return x.min(y)[1]",
    "unpacked": "a, b = torch.min(x, y)\nreturn b, a",
}


@pytest.mark.parametrize("kind", ["dim", "tensor"])
@pytest.mark.parametrize("name", BODIES)
def test_as_the_run_tells(name, kind):
    torch_f, jax_f, code = both(BODIES[name])
    x, y = torch.randn(2, 3), -1 if kind == "dim" else torch.randn(2, 3)
    want = torch_f(x, y)
    got = jax_f(x.numpy(), y) if kind == "dim" else jax.jit(jax_f)(x.numpy(), y.numpy())
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w.numpy(), err_msg=code)


def test_a_dim_that_jit_does_not_know():
    _, jax_f, _ = both(BODIES["both"])
    with pytest.raises(TypeError, match="static"):
        jax.jit(jax_f)(np.ones((2, 3)), 1)


def test_what_is_known_is_decided():
    code = convert_source(f"{HEAD}def f(x, y, dim):\n    return torch.max(x, dim)[0] + torch.max(x, y.exp()) + x.min(1).values + torch.min(x * 1, y * 1)\n").code
    assert "jnp.maximum(x, jnp.exp(y))" in code and "nn.max_values(x, dim)" in code and "_or_" not in code, code


def test_a_loop_over_both_results_of_a_dim():
    """Values and indices are two turns, not a scan over the rows of each."""
    source = "import torch\n\n\ndef f(x):\n    found = torch.max(x, 1)\n    y = x\n    for part in found:\n        y = y + part.sum()\n    return y\n"
    scope, x = {}, torch.randn(3, 4)
    exec(source, scope)
    result = convert_source(source)
    assert not result.diagnostics
    assert_close(load(result)["f"](jnp.asarray(x.numpy())), scope["f"](x).numpy())
