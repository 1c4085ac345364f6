"""Tests of buffers that hold one element, whose truth torch takes though they have a dim."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source

from ..small_programs import HEAD, both_modules

MADE = ["torch.zeros(1)", "torch.tensor([0])", "torch.Tensor([False])", "torch.zeros((1,), dtype=torch.long)", "torch.zeros(1).bool()"]
TESTS = {
    "not": "if not self.ready:",
    "compared": "if self.ready == 0:",
    "with a mode": "if self.training and not self.ready:",
    "with another": "if not self.ready and self.steps < 3:",
    "an element": "if self.ready[0] == 0:",
    "reduced": "if not self.ready.any():",
}
SOURCE = """class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ready", {made})
        self.register_buffer("steps", torch.zeros(1))
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        {test}
            self.mean.copy_(x.mean(0))
            self.ready.fill_(1)
        x = x * 2 if self.steps > 1 else x
        self.steps += 1
        return x - self.mean
"""


@pytest.mark.parametrize(("made", "test"), [(MADE[0], t) for t in TESTS] + [(m, "not") for m in MADE[1:]])
def test_tests(made, test):
    source = HEAD + SOURCE.format(made=made, test=TESTS[test])
    result = convert_source(source)
    assert not result.diagnostics, result.code
    torch_module, module = both_modules(source, result)
    state, mode = module.init_state(None), {"training": True} if "training" in result.code else {}
    for _ in range(3):
        x = torch.randn(4, 3)
        got, state = jax.jit(lambda s, x, mode=mode: module(s, x, **mode))(state, jnp.asarray(x.numpy()))
        np.testing.assert_allclose(got, torch_module(x).numpy(), 1e-5, 1e-5)


@pytest.mark.parametrize("more", ["self.ready = torch.tensor(True)", "self.ready = x.sum() > 0", "self.ready.data = x.mean()"])
def test_what_becomes_another_array_stays(more):
    source = HEAD + SOURCE.format(made=MADE[0], test=TESTS["not"]).replace("self.ready.fill_(1)", more)
    assert 'state["ready"][0]' not in convert_source(source).code
