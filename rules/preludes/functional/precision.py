"""What modules of pure functions are to constants in float64."""

import jax


def is_model(value):
    return isinstance(value, Module)


def is_traced(value):
    return isinstance(value, jax.core.Tracer)


def narrow_parts(made):
    """Give an object, and all that is below a module, the dtypes that JAX has."""
    for part in modules(made) if isinstance(made, Module) else [made]:
        if hasattr(part, "__dict__"):
            vars(part).update({name: narrowed(value) for name, value in vars(part).items()})
