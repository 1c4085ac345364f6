"""Equal layers one after another, compiled once."""

import jax
import jax.numpy as jnp
from jax import lax


def scan_layers(layers, params, x, *args, key=None, training=False, **kwargs):
    """Apply a list of layers one after another: ``lax.scan`` over their stacked params, or a loop where they differ."""
    named = layers.layers()
    keys = split(key, len(named))
    trees = [params[name] for name, _ in named]

    def turn(layer, x, params, layer_key):
        return layer.apply(params, {}, x, *args, key=layer_key, training=training, **kwargs)[0]

    if (
        len(named) > 1
        and all(_same_layer(named[0][1], layer) for _, layer in named)
        and _keeps_type(turn, named[0][1], x, trees, keys)
    ):
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
        return lax.scan(
            lambda x, each: (turn(named[0][1], x, *each), None), x, (stacked, None if key is None else keys), len(named)
        )[0]
    for (_, layer), tree, layer_key in zip(named, trees, keys):
        x = turn(layer, x, tree, layer_key)
    return x


def _same_layer(a, b):
    """Whether two layers are the same function: of one class, with equal hyperparameters and submodules."""
    if type(a) is not type(b):
        return False
    if isinstance(a, Module):
        a, b = vars(a), vars(b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same_layer(a[name], b[name]) for name in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same_layer, a, b))
    return a is b or isinstance(a, (bool, int, float, str, jnp.dtype)) and a == b


def _keeps_type(turn, layer, x, trees, keys):
    """Whether all params have one structure, and a turn gives back what it got: arrays of the same shapes and dtypes."""
    if not all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(x)):
        return False
    before, *types = (jax.tree.map(lambda a: (jnp.shape(a), jnp.result_type(a)), tree) for tree in (x, *trees))
    if any(other != types[0] for other in types):
        return False
    after = jax.eval_shape(lambda x: turn(layer, x, trees[0], keys[0]), x)
    return jax.tree.map(lambda a: (a.shape, a.dtype), after) == before
