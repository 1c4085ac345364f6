"""Models of the Equinox output keep Equinox's protocols: what its own functions take and give."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from transpile.command import engine

from .verified import converted, given

SOURCE = """
import numpy as np
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.scales = np.array([1.0, 2.0])

    def forward(self, x):
        return self.drop(self.norm(self.fc(x))) * float(self.scales[1])


class Plain(nn.Module):
    def forward(self, x):
        return torch.tanh(x)


class Chain(nn.Sequential):
    pass
"""


@pytest.fixture(scope="module")
def scope():
    (made,), support, _ = engine.convert([given(SOURCE)], "", "equinox")
    assert not made.diagnostics
    return converted(made.code, support)


def block(scope, seed=0):
    return eqx.nn.make_with_state(scope["Block"])(key=jax.random.key(seed))


X, KEY = jnp.arange(12.0).reshape(3, 4), jax.random.key(1)


def test_equinox_runs_the_layers_one_after_the_other(scope):
    make = lambda key: eqx.nn.Sequential([scope["Block"](key=key), scope["Plain"]()])
    model, state = eqx.nn.make_with_state(make)(jax.random.key(0))
    assert [eqx.nn.StatefulLayer in type(m).__mro__ for m in model.layers] == [True, False]
    assert model.is_stateful() and model.layers[0].is_stateful()
    y, new = model(X, jax.tree.map(lambda leaf: leaf, state), key=KEY)  # a state is used once
    own, _ = model.layers[0](X, state, key=jax.random.split(KEY, 2)[0])
    np.testing.assert_allclose(y, jnp.tanh(own))
    assert new.get(model.layers[0].norm.num_batches_tracked) == 1


def test_a_state_that_is_given_is_given_back(scope):
    chain = scope["Chain"](scope["Plain"]())
    y, state = chain(X, state=None)  # as a model without one has it
    assert state is None
    np.testing.assert_array_equal(y, chain(X))


def test_leaves_go_to_a_file_and_back(scope, tmp_path):
    kept, other = block(scope), block(scope, 1)
    eqx.tree_serialise_leaves(tmp_path / "model.eqx", kept)
    back = eqx.tree_deserialise_leaves(tmp_path / "model.eqx", other)
    assert eqx.tree_equal(back[0].fc, kept[0].fc) and not eqx.tree_equal(other[0].fc, kept[0].fc)


def test_inference_mode_reaches_all_layers(scope):
    model, state = block(scope)
    model = eqx.nn.inference_mode(model)
    y, new = model(X, state)
    np.testing.assert_allclose(y, 2 * model.fc(X), rtol=1e-4)
    assert new.get(model.norm.num_batches_tracked) == 0


def test_each_key_of_a_batch_has_a_mask_of_its_own(scope):
    model, state = block(scope)
    masks = jax.vmap(lambda key: model(X, state, key=key)[0] == 0)(jax.random.split(KEY, 2))
    assert (masks[0] != masks[1]).any()


def test_a_step_donates_all_and_equal_models_share_a_compilation(scope):
    compiled = 0

    @eqx.filter_jit(donate="all")
    def step(model, state, key):
        nonlocal compiled
        compiled += 1

        def loss(model, state):
            y, state = model(X, state, key=key)
            return (y**2).mean(), state

        grads, state = eqx.filter_grad(loss, has_aux=True)(model, state)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads)), state

    for seed in range(2):
        model, state = block(scope, seed)
        weight = model.fc.weight
        for key in jax.random.split(KEY, 2):
            model, state = step(model, state, key)
        assert weight.is_deleted() and state.get(model.norm.num_batches_tracked) == 2
        np.testing.assert_array_equal(model.scales.value, [1.0, 2.0])
    assert compiled == 1
