"""Writes by index whose form is known only when the index is: masks, arrays and plain indices alike."""

import jax.numpy as jnp
from jax import lax


def store(input, index, value):
    """``input[index] = value`` as torch does it: masks of any rank, extra leading ones in the value, input's dtype."""
    value = jnp.asarray(value).astype(input.dtype)
    if hasattr(index, "dtype") and index.dtype == bool:
        return where_masked(input, index, value)
    target = input[index]
    if value.ndim > target.ndim:
        value = value.reshape(value.shape[value.ndim - target.ndim :])
    return input.at[index].set(value)


def store_window(input, start, length, value, axis):
    """``input[start : start + length] = value`` along an axis, where only the data tell the start."""
    part = list(input.shape)
    part[axis] = length
    value = jnp.broadcast_to(value, part).astype(input.dtype)
    return lax.dynamic_update_slice_in_dim(input, value, start, axis)


def store_number(input, index, value):
    """``input[index] = value`` of a number, or of an array like input, at numbers and slices of which only the data may tell the ends."""
    index = index if isinstance(index, tuple) else (index,)
    dots = [i for i, part in enumerate(index) if part is ...]
    if dots:
        whole = (slice(None),) * (input.ndim - len(index) + 1)
        index = index[: dots[0]] + whole + index[dots[0] + 1 :]
    over = True
    for axis, part in enumerate(index):
        size = input.shape[axis]
        start, stop = (part.start, part.stop) if isinstance(part, slice) else (part, None)
        places = jnp.arange(size).reshape((size,) + (1,) * (input.ndim - axis - 1))
        if start is not None:
            start = jnp.where(start < 0, start + size, start)
            over = over & ((places >= start) if isinstance(part, slice) else (places == start))
        if stop is not None:
            over = over & (places < jnp.where(stop < 0, stop + size, stop))
    return jnp.where(over, value, input).astype(input.dtype)


def where_masked(input, mask, value):
    """``input[mask] = value``: the mask lines up with the leading dims; a value that varies fills the places in order."""
    over = mask.reshape(mask.shape + (1,) * (input.ndim - mask.ndim))
    if value.ndim <= input.ndim - mask.ndim:
        return jnp.where(over, value, input)
    place = jnp.cumsum(mask.ravel()) - 1
    kept = input.shape[mask.ndim :]
    rows = value.reshape(value.shape[value.ndim - len(kept) - 1 :])
    rows = jnp.broadcast_to(rows, (len(rows), *kept))
    return jnp.where(over, rows[jnp.clip(place, 0, len(rows) - 1)].reshape(input.shape), input)


def fill_masked(input, axis, mask, value):
    """``input[:, mask] = value`` of a mask that lines up with the dims from ``axis`` on."""
    over = mask.reshape(mask.shape + (1,) * (input.ndim - axis - mask.ndim))
    return jnp.where(over, value, input).astype(input.dtype)


def update(input, index, function, *values):
    """``input[index] = function(input[index], *values)`` for an elementwise function; a mask keeps the shape."""
    if hasattr(index, "dtype") and index.dtype == bool:
        over = index.reshape(index.shape + (1,) * (input.ndim - index.ndim))
        spread = [jnp.asarray(value) for value in values]
        spread = [where_masked(jnp.ones(input.shape, value.dtype), index, value) for value in spread]
        return jnp.where(over, function(jnp.where(over, input, 1), *spread), input).astype(input.dtype)
    return input.at[index].set(function(input[index], *values).astype(input.dtype))


def assign_where(array, mask, values):
    """``array[mask] = values[mask]``: the mask stands over the leading dims of both."""
    mask = mask.reshape(mask.shape + (1,) * (array.ndim - mask.ndim))
    return jnp.where(mask, values, array).astype(array.dtype)


def write_view(input, view, value):
    """``input`` with new values where its view has them: ``view(input)[...] = value``. No place may be in the view twice."""
    places = view(jnp.arange(input.size).reshape(input.shape))
    value = jnp.broadcast_to(value, places.shape).astype(input.dtype)
    return input.ravel().at[places].set(value).reshape(input.shape)


def write_item(input, index, value):
    """``input[index].copy_(value)``: numbers and slices select a view, which is written; of lists, arrays and masks torch makes a copy."""
    if isinstance(input, (dict, list)):
        input[index] = value
        return input
    parts = index if isinstance(index, tuple) else (index,)
    copied = any(isinstance(p, (bool, list)) or hasattr(p, "dtype") and (p.ndim > 0 or p.dtype == bool) for p in parts)
    return input if copied else input.at[index].set(value)


def with_entry(held, key, value):
    """A list or dict of arrays with another one at ``key``; the old one stays as it is."""
    made = held.copy()
    made[key] = value
    return made
