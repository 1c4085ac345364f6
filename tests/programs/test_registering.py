"""A constructor's own short name for registering: the buffers have the values and names that torch gives them."""

import pytest
import torch

from transpile import convert_source, from_torch

from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules

CONSTRUCTORS = {
    "a cast": "register_buffer = lambda name, val: self.register_buffer(name, val.to(torch.float32))\nregister_buffer('a', a)\nregister_buffer('b', 1 - a)",
    "not kept in a checkpoint": "keep = lambda val, name: self.register_buffer(name, val, persistent=False)\nkeep(a.float(), 'a')\nkeep((a * 2).float(), 'b')",
    "setattr": "put = lambda name, val: setattr(self, name, val.float())\nput('a', a)\nput('b', a + 1)",
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_it_is_written_out(name):
    body = "".join(f"        {line}\n" for line in CONSTRUCTORS[name].splitlines())
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self, n=4):\n        super().__init__()\n        a = torch.linspace(0.1, 0.2, n, dtype=torch.float64)\n{body}\n    def forward(self, x):\n        return x * self.a + self.b\n"
    result = convert_source(source)
    assert not result.diagnostics and "lambda" not in result.code, (result.diagnostics, result.code)
    torch_module, jax_module = both_modules(source, result)
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(3, 4)
    assert_close(jax_module.apply(params, state, x.numpy())[0], torch_module(x).numpy(), err_msg=result.code)
