"""`self.first.forward(x)` of an attribute of unknown make is a call of a module, or of a function, as `self.first(x)` is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..proof.comparison import assert_close
from ..small_programs import HEAD, load

SUM = "class Sum(nn.Module):\n    def __init__(self, first, second):\n        super().__init__()\n        self.first, self.second = first, second\n\n    def forward(self, *inputs):\n        return self.first.forward(*inputs) + self.second.forward(*inputs)\n\n\n"
MADE = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = Sum(nn.Linear(2, 2), nn.Tanh())\n\n    def forward(self, x):\n        return self.fc(x)\n"
OWN = "class Plain:\n    def forward(self, x):\n        return x * 2\n\n\n"


def test_of_layers():
    scope = {}
    exec(compile(HEAD + SUM + MADE, "program.py", "exec"), scope)
    result = convert_source(HEAD + SUM + MADE)
    assert not result.diagnostics and ".forward(" not in result.code, result.code
    module, x = scope["M"](), np.array([[0.5, -1.0]], dtype=np.float32)
    made = load(result)["M"]()
    params, state = from_torch(module, made)
    got = made.apply(params, state, jnp.asarray(x), key=jax.random.key(0), training=False)[0]
    assert_close(got, module(torch.from_numpy(x)).detach())


@pytest.mark.parametrize("name", ["first", "second"])
def test_of_an_object_that_is_no_module(name):
    assert f"self.{name}.forward(" in convert_source(HEAD + OWN + SUM).code
