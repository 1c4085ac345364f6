"""Constants in float64, also where JAX has no 64 bit types: the part that all dialects share.

Each has an `is_model`, an `is_traced` and a `narrow_parts` of its own.
"""

import functools

import jax

NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}


def in_float64(function):
    """Compute constants with 64 bit types, which are rounded once, at the end, where JAX has none.

    What is given traced arrays is computed as the rest of the model is."""

    @functools.wraps(function)
    def compute(*args, **kwargs):
        given = jax.tree.leaves((args, kwargs), is_leaf=is_model)
        if jax.config.jax_enable_x64 or any(map(is_traced, given)):
            return function(*args, **kwargs)
        with jax.enable_x64(True), jax.ensure_compile_time_eval():
            made = function(*args, **kwargs)
            built = args[:1] if made is None else jax.tree.leaves(made, is_leaf=is_model)
            for part in built:
                if made is None or is_model(part):  # what is constructed
                    narrow_parts(part)
            return jax.tree.map(narrowed, made, is_leaf=is_model)

    return compute


def narrowed(value):
    """An array in the dtype that JAX has for it without 64 bit types."""
    narrow = NARROW.get(value.dtype.name) if isinstance(value, jax.Array) else None
    return value if narrow is None else value.astype(narrow)
