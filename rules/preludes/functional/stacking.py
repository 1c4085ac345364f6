"""Equal layers one after another, compiled once."""

import jax
import jax.numpy as jnp
from jax import lax


def scan_layers(layers, params, x, *args, key=None, training=False, **kwargs):
    """Apply a list of layers one after another: ``lax.scan`` over their stacked params, or a loop where they differ."""
    named = layers.layers()
    keys = split(key, len(named))
    trees = [params[name] for name, _ in named]

    def turn(layer, x, params, key):
        return layer.apply(params, {}, x, *args, key=key, training=training, **kwargs)[0]

    if (
        len(named) > 1
        and all(_same_layer(named[0][1], layer) for _, layer in named)
        and _keeps_type(turn, named[0][1], x, trees, keys)
    ):
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
        return lax.scan(
            lambda x, each: (turn(named[0][1], x, *each), None),
            x,
            (stacked, None if key is None else keys),
            len(named),
        )[0]
    for (_, layer), tree, layer_key in zip(named, trees, keys):
        x = turn(layer, x, tree, layer_key)
    return x


def _same_layer(a, b):
    """Whether two layers are the same function: of one class, with equal hyperparameters and submodules."""
    if isinstance(a, Module):
        names = vars(a).keys()
        return (
            type(a) is type(b)
            and names == vars(b).keys()
            and all(_same_layer(getattr(a, n), getattr(b, n)) for n in names)
        )
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_same_layer, a, b))
    if isinstance(a, dict):
        return (
            isinstance(b, dict) and a.keys() == b.keys() and all(_same_layer(a[n], b[n]) for n in a)
        )
    if a is b:
        return True
    return type(a) is type(b) and isinstance(a, (bool, int, float, str, jnp.dtype)) and a == b


def _keeps_type(turn, layer, x, trees, keys):
    """Whether all params have one structure, and a turn gives back what it got: arrays of the same shapes and dtypes."""
    shapes = [
        jax.tree.map(lambda leaf: (jnp.shape(leaf), jnp.result_type(leaf)), tree) for tree in trees
    ]
    if any(other != shapes[0] for other in shapes) or not all(
        isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(x)
    ):
        return False
    after = jax.eval_shape(lambda x: turn(layer, x, trees[0], keys[0]), x)
    before = jax.eval_shape(lambda x: x, x)
    return jax.tree.map(lambda a: (a.shape, a.dtype), after) == jax.tree.map(
        lambda a: (a.shape, a.dtype), before
    )
