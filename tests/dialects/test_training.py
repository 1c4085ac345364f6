"""A model that draws, has running statistics and a tie, trained with the means of each library."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
import pytest
import torch
from flax import nnx

from transpile import from_torch, to_torch

from ..small_programs import speakers
from .verified import in_float64

IDS = np.array([[1, 2, 4, 0, 3, 3], [0, 0, 4, 2, 1, 3]])
ADAM = optax.adam(0.1)


def loss_of(y):
    return (y * y.cos() if isinstance(y, torch.Tensor) else y * jnp.cos(y)).mean()


def functional_steps(model, module):
    params, state = from_torch(model, module)
    moments = ADAM.init(params)

    @jax.jit
    def step(params, state, moments, ids):
        def loss(params):
            y, new = module(params, state, ids, key=jax.random.key(0), training=True)
            return loss_of(y), new

        grads, state = jax.grad(loss, has_aux=True)(params)
        updates, moments = ADAM.update(grads, moments)
        return optax.apply_updates(params, updates), state, moments

    for ids in IDS:
        params, state, moments = step(params, state, moments, ids)
    return to_torch(params, state)


def train(model, optimizer, ids):
    graph, params, rest = nnx.split(model, nnx.Param, ...)
    loss = lambda params, rest: loss_of(nnx.merge(graph, params, rest)(ids))
    value, grads = nnx.value_and_grad(loss)(params, rest)
    optimizer.update(model, grads)
    return value


def flax_steps(model, ours):
    from_torch(model, ours).train()
    optimizer = nnx.Optimizer(ours, ADAM, wrt=nnx.Param)
    step = nnx.jit(train, donate_argnums=(0, 1))
    for ids in IDS:
        step(ours, optimizer, ids)
    return to_torch(ours)


def equinox_steps(model, ours):
    ours, state = from_torch(model, ours)
    moments = ADAM.init(eqx.filter(ours, eqx.is_inexact_array))

    @eqx.filter_jit(donate="all")
    def step(ours, state, moments, ids):
        def loss(ours, state):
            y, state = ours(ids, state=state, key=jax.random.key(0))
            return loss_of(y), state

        (_, state), grads = eqx.filter_value_and_grad(loss, has_aux=True)(ours, state)
        updates, moments = ADAM.update(grads, moments)
        return eqx.apply_updates(ours, updates), state, moments

    for ids in IDS:
        ours, state, moments = step(ours, state, moments, ids)
    return to_torch(ours, state)


def steps_are_torchs(target, steps):
    with in_float64():
        theirs, make = speakers(target, dropout=0.0)
        model = theirs(dropout=0.0)
        got = steps(model, make(jax.random.key(0)))
        optimizer = torch.optim.Adam(model.parameters(), 0.1)
        for ids in IDS:
            optimizer.zero_grad()
            loss_of(model(torch.as_tensor(ids))).backward()
            optimizer.step()
    want = model.state_dict()
    assert set(want) - set(got) == {"tokens.weight"}  # the tied one
    for name, value in got.items():
        np.testing.assert_allclose(value, want[name], 1e-6, 1e-7, err_msg=name)


@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_two_steps_give_what_torch_has_then(target):
    steps_are_torchs(target, functional_steps if target == "functional" else equinox_steps)


def test_two_steps_give_what_torch_has_then_in_flax(graph_mode):
    steps_are_torchs("flax", flax_steps)


def test_donation_by_name_loses_what_is_not_written_where_calls_return_their_updates(graph_mode):
    model = speakers("flax")[1](jax.random.key(0))
    step = nnx.jit(lambda model, ids: model(ids).sum(), donate_argnames=("model",))
    step(model, IDS[0])
    assert any(leaf.is_deleted() for leaf in jax.tree.leaves(nnx.state(model))) != graph_mode[1]


@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_a_key_draws_the_same_masks_again_and_another_one_others(target):
    model = speakers(target)[1](jax.random.key(0))
    if target == "functional":
        params, state = model.init(jax.random.key(0)), model.init_state(jax.random.key(0))
        call = lambda key: model(params, state, IDS[0], key=key, training=True)[0]
    else:
        model, state = eqx.nn.make_with_state(lambda: model)()
        call = lambda key: model(IDS[0], state=state, key=key)[0]
    call, keys = jax.jit(call), jax.random.split(jax.random.key(1), 2)
    first, again, other = call(keys[0]), call(keys[0]), call(keys[1])
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
    np.testing.assert_allclose(jax.vmap(call)(keys), [first, other], 1e-5)


def test_two_calls_in_flax_draw_other_masks_and_a_seed_the_same_again(graph_mode):
    make, call = speakers("flax")[1], nnx.jit(lambda model: model(IDS[0]))
    one, same, other = (make(jax.random.key(seed)) for seed in (0, 0, 1))
    weights = to_torch(one)
    for model in (one, same, other):
        from_torch(weights, model).train()
    first, second = call(one), call(one)
    np.testing.assert_array_equal(first, call(same))
    np.testing.assert_array_equal(second, call(same))
    assert not np.allclose(first, second) and not np.allclose(first, call(other))


def test_a_view_sets_the_mode_of_every_part():
    model = speakers("flax")[1](jax.random.key(0))
    view = nnx.view(model, deterministic=True, use_running_average=True)
    assert not model.deterministic and not model.body[1].deterministic
    assert view.deterministic and view.body[1].deterministic and view.norm.use_running_average
    before = to_torch(model)
    np.testing.assert_array_equal(view(IDS[0]), view(IDS[0]))
    assert all((value == before[name]).all() for name, value in to_torch(model).items() if name != "calls")


def test_a_checkpoint_of_flax_by_orbax(tmp_path):
    make = speakers("flax")[1]
    kept, other = make(jax.random.key(0)), make(jax.random.key(1))
    kept(IDS[0])
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "model", nnx.state(kept))
        checkpointer.wait_until_finished()
        nnx.update(other, checkpointer.restore(tmp_path / "model", nnx.state(other)))
    np.testing.assert_array_equal(kept(IDS[0]), other(IDS[0]))  # with its random streams
    assert other.norm.num_batches_tracked[...] == 2


def test_leaves_of_equinox_with_their_state(tmp_path):
    make = speakers("equinox")[1]
    kept, other = (eqx.nn.make_with_state(make)(jax.random.key(seed)) for seed in (0, 1))
    kept = kept[0], kept[0](IDS[0], state=kept[1], key=jax.random.key(2))[1]
    eqx.tree_serialise_leaves(tmp_path / "model.eqx", kept)
    model, state = eqx.tree_deserialise_leaves(tmp_path / "model.eqx", other)
    assert eqx.tree_equal(model.head, kept[0].head) and state.get(model.norm.num_batches_tracked) == 1
