"""Walks over the arrays and the parts of a module."""

import functools

import jax


def named_parameters(module, params=None):
    """``(dotted name, array)`` of every param below a module, in torch's order; without ``params`` what is given is
    their shapes and dtypes, since what is not made yet has no values."""
    paths = []

    def first(key):
        made = module.init(key)
        paths.extend(_paths(made))  # here, for a dict that has gone through jit is sorted
        return made

    shapes = jax.eval_shape(first, jax.random.key(0))
    arrays = shapes if params is None else params
    return iter([(".".join(path), functools.reduce(dict.__getitem__, path, arrays)) for path in paths])


def _paths(params):
    """The path of each array: of a module's own before those of its submodules, as torch lists them."""
    own = [(name,) for name, value in params.items() if not isinstance(value, dict)]
    below = [(name, *path) for name, value in params.items() if isinstance(value, dict) for path in _paths(value)]
    return own + below


def parameters(module, params=None):
    """The arrays of ``named_parameters``, without their names."""
    return iter([leaf for _, leaf in named_parameters(module, params)])


def modules(module):
    """The module and everything below it, outer before inner, each once."""
    return iter([m for _, m in named_modules(module)])


def named_modules(module, prefix=""):
    """``(dotted name, module)`` of the module and everything below it, outer before inner."""
    found = [(prefix, module)]
    for name, child in module.children():
        found += named_modules(child, f"{prefix}.{name}" if prefix else name)
    return iter(found)


def children(module):
    """The modules right below a module, each once."""
    return iter([child for _, child in module.children()])


def named_children(module):
    """``(name, module)`` of the modules right below a module, each once."""
    return iter(module.children())


def apply(module, function):
    """Call a function on everything below the module, then on the module itself, as torch's Module.apply does."""
    for _, child in module.children():
        apply(child, function)
    function(module)
    return module
