"""Layers that the first batch gives their params: a method that forward calls writes them, under a flag that is a buffer."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

LAYER = """class M(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(1, n))
        self.scale = nn.Parameter(torch.ones(1, n))
        self.register_buffer("initialized", torch.tensor(0, dtype=torch.uint8))

    def initialize(self, input, eps=1e-6):
        with torch.no_grad():
            mean = input.mean(0, keepdim=True)
            {write}

    def forward(self, input):
        {test}:
            {call}
            self.initialized.fill_(1)
        return self.scale * (input + self.loc)
"""
WRITES = {
    "data": "self.loc.data.copy_(-mean)\n            self.scale.data.copy_(1 / (input.std(0, keepdim=True) + eps))",
    "under no_grad": "self.loc.copy_(-mean - eps)\n            self.scale.mul_(2)",
}
TESTS = ["if self.initialized.item() == 0", "if not self.initialized", "if self.training and self.initialized.item() == 0"]


def checked(source, x, training):
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} == {"parameter-write"}, result.code
    torch_module, module = both_modules(source, result, x.shape[1])
    for initialised in (0, 1):
        torch_module.initialized.fill_(initialised)
        torch_module.train(training)
        params, state = from_torch(torch_module, module)
        mode = {"training": training} if "training" in source else {}
        got, state = jax.jit(lambda *args, mode=mode: module(*args, **mode))(params, state, jnp.asarray(x.numpy()))
        np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-5)
        assert int(state["initialized"]) == int(torch_module.initialized)
        grads = jax.jit(jax.grad(lambda p, s, mode=mode: (module(p, s, jnp.asarray(x.numpy()), **mode)[0] ** 2).sum()))(params, state)
        assert set(grads) == {"loc", "scale"}


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("write", WRITES)
def test_layers(write, test):
    source = HEAD + LAYER.format(write=WRITES[write], test=test, call="self.initialize(input)")
    checked(source, torch.randn(4, 3) * 2 + 1, training=True)


def test_in_eval_mode():
    checked(HEAD + LAYER.format(write=WRITES["data"], test=TESTS[2], call="self.initialize(input)"), torch.randn(4, 3), training=False)


def test_names_that_clash_are_refused():
    source = HEAD + LAYER.format(write=WRITES["data"], test=TESTS[0], call="mean = input * 2\n            self.initialize(mean)")
    assert "parameter-write" in {d.id for d in convert_source(source).diagnostics}


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("write", WRITES)
def test_layers_in_equinox(write, test):
    """The module holds more than arrays: functions, and its mode."""
    layer = LAYER.replace("return ", "return self.acts[0](input) + ").replace("self.register", "self.acts = [torch.tanh]\n        self.register")
    source = HEAD + layer.format(write=WRITES[write], test=test, call="self.initialize(input)")
    result = convert_source(source, target="equinox")
    assert {d.id for d in result.diagnostics} == {"parameter-write"}, result.code
    x = torch.randn(4, 3) * 2 + 1
    theirs, module = both_modules(source, result, 3)

    @eqx.filter_jit
    def run(model, state, x):
        return model(x, state)

    for initialised in (0, 1):
        theirs.initialized.fill_(initialised)
        model, state = from_torch(theirs, module)
        got, state = run(model, state, jnp.asarray(x.numpy()))
        grads = eqx.filter_grad(lambda model, state=state: (model(jnp.asarray(x.numpy()), state)[0] ** 2).sum())(model)
        np.testing.assert_allclose(got, theirs(x).detach().numpy(), 1e-5, 1e-5)
        assert int(state.get(model.initialized)) == int(theirs.initialized) == 1
        assert float(jnp.abs(grads.loc).min()) > 0 and float(jnp.abs(grads.scale).min()) > 0
