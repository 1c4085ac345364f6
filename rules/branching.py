"""Choices by a tensor's value."""

import jax
import jax.numpy as jnp
from jax import lax


def choose(pred, if_true, if_false, *operands):
    """``lax.cond`` whose sides may differ in dtype, give a number where the other gives an array, or leave unset (None) what the
    other sets: both become what ``jnp.where`` makes of them. A bool of Python's takes one side, whatever the other gives.
    """
    if isinstance(pred, bool):
        return (if_true if pred else if_false)(*operands)
    like = _joined(*(jax.eval_shape(side, *operands) for side in (if_true, if_false)))
    return lax.cond(
        pred, *(lambda *args, side=side: _fitted(side(*args), like) for side in (if_true, if_false)), *operands
    )


def _joined(a, b):
    """The types that hold the results of both sides."""
    if a is None or b is None:
        return b if a is None else a
    if type(a) in (tuple, list):
        return type(a)(map(_joined, a, b))
    return jax.tree.map(_joined_leaf, a, b)


def _joined_leaf(a, b):
    """One type for two arrays: a number takes the shape of the other side, and of two single elements, () and (1,), the lower
    rank is taken.
    """
    number = a.weak_type and not a.shape
    shape = b.shape if number or a.size == b.size == 1 and b.ndim < a.ndim else a.shape
    return jax.ShapeDtypeStruct(shape, jnp.result_type(a, b))


def _fitted(y, like):
    """A result as one of this type. What is unset becomes NaN, or 0 where there is no NaN."""
    if y is None:
        empty = lambda t: jnp.full(t.shape, jnp.nan if jnp.issubdtype(t.dtype, jnp.inexact) else 0, t.dtype)
        return jax.tree.map(empty, like)
    if type(like) in (tuple, list):
        return type(like)(map(_fitted, y, like))
    return jax.tree.map(_fitted_leaf, y, like)


def _fitted_leaf(y, like):
    y = jnp.asarray(y, like.dtype)
    if y.ndim and y.shape != like.shape and not y.size == like.size == 1:
        raise ValueError(f"the shape of a result would depend on data: {y.shape} on one side of a branch, {like.shape} on the other")
    return y.reshape(like.shape) if y.ndim else jnp.broadcast_to(y, like.shape)


def both(a, b):
    """``a & b``, which stays Python's False where one of them is."""
    return False if a is False or b is False else a & b


def bounded_while(condition, body, carry, bound):
    """``lax.while_loop`` of at most ``bound`` turns, as a scan: it has a gradient backwards too."""

    def turn(carry, _):
        return lax.cond(condition(carry), body, lambda carry: carry, carry), None

    return lax.scan(turn, carry, length=bound)[0]


def python_min(first, *others):
    """Python's ``min``: the first of equals, and of those that do not compare."""
    for other in others:
        first = jnp.where(other < first, other, first)
    return first


def python_max(first, *others):
    """Python's ``max``: the first of equals, and of those that do not compare."""
    for other in others:
        first = jnp.where(other > first, other, first)
    return first


def scan(step, carry, xs, reverse=False):
    """``lax.scan``, or a loop where a turn changes the type of what it carries: an int that becomes a float, a row that grows."""
    length = jax.tree.leaves(xs)[0].shape[0]
    row = jax.tree.map(lambda x: x[0] if length else jax.ShapeDtypeStruct(x.shape[1:], x.dtype), xs)
    before = jax.tree.map(lambda a: (jnp.shape(a), jnp.result_type(a)), carry)
    after, made = jax.eval_shape(step, carry, row)
    if jax.tree.map(lambda a: (a.shape, a.dtype), after) == before:
        return lax.scan(step, carry, xs, reverse=reverse)
    if not length:
        return carry, jax.tree.map(lambda a: jnp.zeros((0, *a.shape), a.dtype), made)
    outputs = []
    for i in reversed(range(length)) if reverse else range(length):
        carry, output = step(carry, jax.tree.map(lambda x, i=i: x[i], xs))
        outputs.append(output)
    return carry, jax.tree.map(lambda *rows: jnp.stack(rows), *(outputs[::-1] if reverse else outputs))
