"""Helpers of the Equinox output for constructors: modules with other parts, walks over modules."""

import dataclasses
import functools
from collections import OrderedDict
from typing import Any

import equinox as eqx
import jax

from .prelude import key_stream


def with_field(module, name, value):
    """The module with another value in a field, which may be a static one, or new to its class."""
    new, cls = copied(module), type(module)
    if name not in (field.name for field in dataclasses.fields(cls)):
        object.__setattr__(new, "__class__", with_static_field(cls, name))
    object.__setattr__(new, name, value)
    return new


@functools.cache
def with_static_field(cls, name):
    """The class with one more field, which is static."""
    field = eqx.field(static=True, default=None)
    return type(cls.__name__, (cls,), {"__annotations__": {name: Any}, name: field})


def with_layer(sequential, layer, name=None):
    """A Sequential with one more layer."""
    layers, new = sequential.layers, copied(sequential)
    if name is None and not isinstance(layers, dict):
        object.__setattr__(new, "layers", (*layers, layer))
        return new
    named = layers if isinstance(layers, dict) else {str(i): m for i, m in enumerate(layers)}
    name = str(len(named)) if name is None else name
    object.__setattr__(new, "layers", OrderedDict({**named, name: layer}))
    return new


def with_layers(sequential, layers):
    """A Sequential with more layers."""
    for layer in layers:
        sequential = with_layer(sequential, layer)
    return sequential


def without_layer(sequential, index):
    """A Sequential without one of its layers: in torch too, those that are left are numbered."""
    left = list(sequential)
    del left[index]
    return type(sequential)(*left)


def changed(method):
    """A method that sets what its module has, as a function that gives a module with that."""
    module = method.__self__

    def change(*args, **kwargs):
        class Changing(type(module)):  # a module is frozen but for its constructor
            def __init__(self):
                for name, value in vars(module).items():
                    object.__setattr__(self, name, value)
                method.__func__(self, *args, **kwargs)

        new = object.__new__(type(module))
        for name, value in vars(Changing()).items():
            object.__setattr__(new, name, value)
        return new

    return change


def copied(module):
    """Another module with the same values."""
    new = object.__new__(type(module))
    for name, value in vars(module).items():
        object.__setattr__(new, name, value)
    return new


def assign_fields(module, new):
    """Give a module that is being built the values of another one."""
    for name, value in vars(new).items():
        setattr(module, name, value)


def assign_named(module, names, new):
    """Give a module that is being built others under some of its names; a dict has its keys beside them."""
    for name, child in [(name, new[key]) for key, name in names] if isinstance(new, dict) else zip(names, new):
        computed = vars(module).get("submodules", {})
        if name in computed:
            computed[name] = child
        else:
            setattr(module, name, child)


def is_module(value):
    """Whether torch has a module for it: a list and a dict of modules are modules there."""
    if isinstance(value, dict):
        return any(map(is_module, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(is_module, value))
    return isinstance(value, eqx.Module) and not isinstance(value, eqx.nn.StateIndex)


def in_order(module):
    """What a module has by name, as it was set: once it is traced it has it by its fields."""
    held = vars(module)
    order = [name for name in held.get("_order") or () if name in held]
    return {**{name: held[name] for name in order}, **held}


def named_children(module):
    """The modules right below one by name, in the order in which they were set."""
    if isinstance(module, (list, tuple)):
        found = ((str(i), value) for i, value in enumerate(module))
    else:
        found = module.items() if isinstance(module, dict) else in_order(module).items()
    for name, value in found:
        if holds_children(module, name):
            yield from named_children(value)
        elif is_module(value):
            yield name, value


def holds_children(module, name):
    """Whether what a field holds are children of the module under names of their own."""
    holder = {"layers": "Sequential", "submodules": "Submodules"}.get(name)
    return any(cls.__name__ == holder for cls in type(module).__mro__)


def is_reparametrized(module):
    """Whether it stands for a layer of which it computes an array: ``WeightNorm(conv)``."""
    return hasattr(type(module), "visited")


def children(module):
    return (child for _, child in named_children(module))


def named_modules(module, prefix=""):
    """The module and all below it by name, outer before inner, each once."""
    seen = []

    def walk(node, path):
        if not any(node is other for other in seen):
            seen.append(node)
            node = node.whole() if is_reparametrized(node) else node
            yield path, node
            for name, child in named_children(node):
                yield from walk(child, f"{path}.{name}" if path else name)

    yield from walk(module, prefix)


def modules(module):
    return (found for _, found in named_modules(module))


def map_children(function, module, key=None, named=False):
    """The module with ``function(m)``, or ``function(name, m)``, in the place of each module
    right below it."""
    keys = key_stream(key)

    def visit(name, value):
        given = (name, value) if named else (value,)
        return function(*given) if key is None else function(*given, key=next(keys))

    def mapped(node, items):
        return {n: visit(n, value) if is_module(value) else value for n, value in items}

    if isinstance(module, dict):
        return type(module)(mapped(module, module.items()))
    if isinstance(module, (list, tuple)):
        names = map(str, range(len(module)))
        return type(module)(mapped(module, zip(names, module)).values())
    new = copied(module)
    for name, value in in_order(module).items():
        if holds_children(module, name):
            object.__setattr__(new, name, map_children(visit, value, named=True))
        elif is_module(value):
            object.__setattr__(new, name, visit(name, value))
    return new


def map_modules(function, module, key=None, named=False):
    """The module with ``function(m)``, or ``function(name, m)``, in the place of itself and of all
    below it, outer before inner, as torch's ``modules()`` goes."""
    keys, done = key_stream(key), []

    def visit(path, node):
        for old, new in done:  # what stands in two places stays one
            if old is node:
                return new
        if is_reparametrized(node):
            return node.visited(lambda layer: visit(path, layer))
        given = (path, node) if named else (node,)
        new = function(*given) if key is None else function(*given, key=next(keys))
        below = f"{path}." if path else ""
        new = map_children(lambda name, child: visit(below + name, child), new, named=True)
        done.append((node, new))
        return new

    return visit("", module)


def apply(module, function, key=None):
    """The module with ``function(m)`` in the place of itself and of all below it, inner before
    outer, as torch's ``apply()`` goes."""
    keys = key_stream(key)

    def visit(node):
        if is_reparametrized(node):
            return node.visited(visit)
        new = map_children(visit, node)
        return function(new) if key is None else function(new, key=next(keys))

    return visit(module)


def map_parameters(function, module, key=None, named=False):
    """The module with ``function(p)``, or ``function(name, p)``, in the place of each trained
    array."""
    keys = key_stream(key)

    def mapped(path, value):
        below = f"{path}." if path else ""
        if isinstance(value, dict):
            return type(value)((n, mapped(f"{below}{n}", v)) for n, v in value.items())
        if type(value) in (list, tuple):
            return type(value)(mapped(f"{below}{i}", v) for i, v in enumerate(value))
        if not eqx.is_array(value):
            return value
        given = (path, value) if named else (value,)
        return function(*given) if key is None else function(*given, key=next(keys))

    def visit(path, node):
        if isinstance(node, (dict, list, tuple)):
            return node
        new = copied(node)
        for name, value in in_order(node).items():
            if not is_module(value):
                # torch has what these hold under its own names
                inner = type(node).__name__ in ("ParameterList", "ParameterDict")
                below = path if inner or name == "arrays" else f"{path}.{name}" if path else name
                object.__setattr__(new, name, mapped(below, value))
        return new

    return map_modules(visit, module, named=True)


def named_parameters(module):
    """The trained arrays of a module and of all below it by name, as torch's has them."""
    found = []
    map_parameters(lambda name, value: found.append((name, value)) or value, module, named=True)
    return iter(found)


def trained_leaves(module):
    """The arrays of ``parameters``, in no order of torch's: they are added up."""
    leaves = jax.tree.leaves(module, is_leaf=lambda node: isinstance(node, eqx.nn.StateIndex))
    return {id(leaf): leaf for leaf in leaves if eqx.is_array(leaf)}.values()


def parameters(module):
    return (value for _, value in named_parameters(module))
