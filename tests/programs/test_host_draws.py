"""What constructors draw is drawn once, and agrees with a checkpoint: NumPy's and Python's generators, arrays made in several steps."""

import jax
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, load

MODULE = "import random\n\nimport numpy as np\nfrom scipy import linalg\n" + HEAD + """
def random_mask(n):
    return (np.random.rand(n) > 0.5).astype(np.float32)


class M(nn.Module):
    def __init__(self, n):
        super().__init__()
{body}

    def forward(self, x):
        return {result}
"""

BUFFERS = {
    "a call": ('self.register_buffer("mask", torch.from_numpy(random_mask(n)))', "x * self.mask"),
    "a local": ('order = np.random.permutation(n)\nself.register_buffer("order", torch.tensor(order))', "x[:, self.order]"),
    "shuffled": ('order = list(range(n))\nrandom.shuffle(order)\nself.register_buffer("order", torch.tensor(order))', "x[:, self.order]"),
    "a parameter too": ('w = torch.tensor(np.random.randn(n, n)).float()\nself.w = nn.Parameter(w)\nself.register_buffer("inverse", torch.inverse(w))', "x @ self.w @ self.inverse"),
    "in steps": ('q, _ = linalg.qr(np.random.randn(n, n))\np, l, u = linalg.lu(q.astype(np.float32))\nu = np.triu(u)\nself.register_buffer("p", torch.from_numpy(p))\nself.u = nn.Parameter(torch.from_numpy(u))', "x @ self.p @ self.u"),
}  # fmt: skip


def _sides(body, result):
    source = MODULE.format(body="".join(f"        {line}\n" for line in body.splitlines()), result=result)
    converted = convert_source(source)
    assert not converted.diagnostics, (converted.diagnostics, converted.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    return scope["M"], load(converted)["M"], converted.code


@pytest.mark.parametrize("name", BUFFERS)
def test_a_buffer_made_of_host_draws_is_in_the_checkpoint(name):
    torch_class, jax_class, code = _sides(*BUFFERS[name])
    torch_module, jax_module = torch_class(6), jax_class(6)
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(4, 6)
    got = jax_module.apply(params, state, x.numpy())[0]
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), rtol=1e-4, atol=1e-5, err_msg=code)


def test_a_parameter_and_a_buffer_are_made_of_one_draw():
    _, jax_class, code = _sides(*BUFFERS["a parameter too"])
    module = jax_class(6)
    params, state = module.init(jax.random.key(0)), module.init_state(jax.random.key(1))
    np.testing.assert_allclose(params["w"] @ state["inverse"], np.eye(6), atol=1e-3, err_msg=code)


def test_a_plain_attribute_keeps_its_draw():
    _, jax_class, code = _sides("self.noise = torch.from_numpy(np.random.randn(n))", "x + self.noise")
    module = jax_class(6)
    np.testing.assert_array_equal(module.noise, module.noise, err_msg=code)


def test_a_draw_with_a_key_for_params_and_state_is_reported():
    body = 'w = torch.randn(n, n)\nself.w = nn.Parameter(w)\nself.register_buffer("inverse", torch.inverse(w))'
    source = MODULE.format(body="".join(f"        {line}\n" for line in body.splitlines()), result="x")
    assert [d.id for d in convert_source(source).diagnostics] == ["random-in-init"]


def test_an_orthogonal_weight_of_several_steps():
    body = "w = torch.randn(n, n)\nq, _ = torch.qr(w)\nw = q.unsqueeze(2)\nself.w = nn.Parameter(w)"
    _, jax_class, code = _sides(body, "x @ self.w[..., 0]")
    w = jax_class(6).init(jax.random.key(0))["w"][..., 0]
    np.testing.assert_allclose(w @ w.T, np.eye(6), atol=1e-5, err_msg=code)
    assert "def __init__(self, n):\n        self.n = n\n" in code, code
