"""Other values for the arrays of a module: ties, first values, what a constructor does to them."""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def with_data(params, path, value):
    """``params`` with another value at a path, whose gradient is that of the param: torch's ``param.data = value``."""
    name, *below = path
    if below:
        return {**params, name: with_data(params[name], below, value)}
    old = params[name]
    return {**params, name: lax.stop_gradient(value) + (old - lax.stop_gradient(old))}


def reinitialise(module, name, function):
    """Give an array of a module another initial value: ``function(value, key)``. A module without that array is left."""
    while name in getattr(module, "tied", {}):
        module, name = module.tied[name]
    module.init = _with_value(module.init, name, function)
    module.init_state = _with_value(module.init_state, name, function)


def set_initializer(module, name, initializer):
    """Let an array of a module begin as ``initializer(key, shape, dtype)``, one of ``jax.nn.initializers``."""
    reinitialise(module, name, lambda value, key: initializer(key, value.shape, value.dtype))


def tie(module, name, owner, owners_name):
    """An array of a module is another's from here on: what ``reinitialise`` gives it, that one gets."""
    module.tied = {**getattr(module, "tied", {}), name: (owner, owners_name)}


def tied(params, path, owner):
    """``params`` where an array that was tied is its owner's; as they are where it was not."""
    *modules, name = path.split(".")
    holder, array = _at(params, modules), _at(params, owner.split("."))
    if holder is None or name in holder or array is None:
        return params
    return _with_entry(params, [*modules, name], array)


def _at(params, path):
    for name in path:
        params = params.get(name) if isinstance(params, dict) else None
    return params


def _with_entry(params, path, value):
    name, *below = path
    return {**params, name: _with_entry(params[name], below, value) if below else value}


def _with_value(init, name, function):
    def init_again(key):
        first, again = jax.random.split(key)
        arrays = init(first)
        original = f"{name}_orig"  # of spectral_norm, which shares its memory with the weight until the first call
        for place in {name, original} & arrays.keys():
            if not isinstance(arrays[place], dict):  # a param has no state, a buffer no params
                arrays[place] = function(arrays[place], again)
        return {place: array for place, array in arrays.items() if array is not None or place != name}

    return init_again


def reinitialise_all(module, function):
    """Give every param below a module another initial value: ``function(name, value, key)``."""
    for prefix, part in named_modules(module):
        _reinitialise_own(part, prefix, function)


def _reinitialise_own(module, prefix, function):
    """Each module does it for its own params, so that what is reinitialised later on counts."""
    init = module.init

    def init_again(key):
        first, again = jax.random.split(key)
        params = init(first)
        if not isinstance(params, dict):  # of a Parameter
            return function(prefix, params, again)
        children = dict(module.children())
        own = {name: value for name, value in params.items() if name not in children}
        leaves, tree = jax.tree_util.tree_flatten_with_path(own)
        start = f"{prefix}." if prefix else ""
        names = [start + ".".join(str(entry.key) for entry in path) for path, _ in leaves]
        keys = jax.random.split(again, len(leaves) or 1)
        return params | tree.unflatten(function(name, leaf, k) for name, (_, leaf), k in zip(names, leaves, keys))

    module.init = init_again


def initialise(module, name, function):
    """Let a function change what ``init`` or ``init_state`` of a module gives: ``function(arrays, key)``."""
    init = getattr(module, name)

    def init_again(key):
        first, again = jax.random.split(key)
        arrays = init(first)
        function(arrays, again)
        return arrays

    setattr(module, name, init_again)


def reset_parameters(module):
    """Give a module its own initial values again, in the place of those of ``reinitialise``."""
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()
    else:
        vars(module).pop("init", None)
        vars(module).pop("init_state", None)


def resets(module):
    """Whether a module can give itself initial values: it has a method for that, or is a layer that makes params."""
    layers = (cls for cls in type(module).__mro__ if cls.__module__ == __name__ and cls is not Module)
    return hasattr(module, "reset_parameters") or any("init" in vars(cls) for cls in layers)


def has(module, name):
    """Whether a module has a param of this name, or computes it from others: weight_norm has a weight too."""
    return like(module, name) is not None


def name_of(module, attribute):
    """The name of a submodule among the params: where two attributes hold the same one, the first counts."""
    return next(name for name, child in module.children() if child is getattr(module, attribute))


def place(container, module):
    """The name under which a container has a module."""
    return next(name for name, child in container.children() if child is module)


def like(module, name):
    """The shape and dtype of a param or buffer of a module, or of a param that it computes from others; None where
    there is none."""
    for begin in (module.init, module.init_state):
        # of a function made here: JAX keeps what it has traced, and init may change yet
        arrays = jax.eval_shape(lambda key, begin=begin: begin(key), jax.random.key(0))
        for array in (name, f"{name}_orig", f"{name}_v"):
            if array in arrays:
                return arrays[array]
    return None


def shape(module, name):
    """The shape of a param, a buffer or a constant of a module."""
    found = like(module, name)
    return (getattr(module, name) if found is None else found).shape


def dry_run(function, *args, training=True, **kwargs):
    """Zeros of the shapes that a module, or a method of one, gives: it is traced with params that are not computed."""
    module = function if isinstance(function, Module) else function.__self__
    run = module.apply if function is module else functools.partial(call, function)
    Shape, found = jax.ShapeDtypeStruct, []

    def trace(key):
        output, _ = run(*_beginnings(module, key), *args, key=key, training=training, **kwargs)
        found.append(jax.tree.map(lambda y: Shape(y.shape, y.dtype) if isinstance(y, jax.Array) else y, output))

    jax.eval_shape(trace, jax.random.key(0))
    return jax.tree.map(lambda y: jnp.zeros(y.shape, y.dtype) if isinstance(y, Shape) else y, found[0])


def _beginnings(module, key):
    """The params and state of a module, or of its submodules while it is still being built itself."""
    try:
        return module.init(key), module.init_state(key)
    except (AttributeError, KeyError):  # of what its constructor has yet to set
        return Module.init(module, key), Module.init_state(module, key)
