"""Constants in float64, also where JAX has no 64 bit types."""

import functools

import jax

NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}


def in_float64(function):
    """Compute constants with 64 bit types, which are rounded once, at the end, where JAX has none.

    What is given traced arrays is computed as the rest of the model is."""

    @functools.wraps(function)
    def compute(*args, **kwargs):
        traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((args, kwargs)))
        if jax.config.jax_enable_x64 or traced:
            return function(*args, **kwargs)
        with jax.enable_x64(True), jax.ensure_compile_time_eval():
            made = jax.tree.map(rounded, function(*args, **kwargs))
            for part in built(args[0]) if args and made is None else ():  # a constructor
                vars(part).update({name: rounded(value) for name, value in vars(part).items()})
        return made

    return compute


def built(made):
    """An object and, of a module, all that is below it."""
    return (
        modules(made) if isinstance(made, Module) else [made] if hasattr(made, "__dict__") else []
    )


def rounded(value):
    """An array in the dtype that JAX has for it without 64 bit types."""
    narrow = NARROW.get(value.dtype.name) if isinstance(value, jax.Array) else None
    return value if narrow is None else value.astype(narrow)
