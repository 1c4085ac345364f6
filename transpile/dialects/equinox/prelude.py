"""Containers and helpers of the Equinox output: read as text, and copied where they are used."""

import dataclasses
import inspect
from collections import OrderedDict

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Sequential(eqx.nn.StatefulLayer):
    """One layer after the other. With a state, which stateful layers take, it returns
    ``(x, state)``."""

    layers: tuple | dict

    def __init__(self, *layers):
        named = len(layers) == 1 and isinstance(layers[0], dict)
        self.layers = OrderedDict(layers[0]) if named else layers

    def is_stateful(self):
        return any(is_stateful(layer) for layer in self)

    def __call__(self, x, state=None, *, key=None):
        for layer, k in zip(self, split(key, len(self))):
            if is_stateful(layer):
                x, state = layer(x, state, key=k)
            else:
                x = layer(x, key=k)
        return x if state is None else (x, state)

    def __iter__(self):
        given = self.layers.values() if isinstance(self.layers, dict) else self.layers
        # what a subclass sets as attributes comes after what it hands on
        fields = [getattr(self, f.name, None) for f in dataclasses.fields(self)]
        return iter([*given, *(f for f in fields if isinstance(f, eqx.Module))])

    def __len__(self):
        return sum(1 for _ in self)

    def __getitem__(self, index):
        if isinstance(self.layers, dict) and isinstance(index, slice):
            return Sequential(OrderedDict(list(self.layers.items())[index]))
        return Sequential(*tuple(self)[index]) if isinstance(index, slice) else tuple(self)[index]

    def __getattr__(self, name):
        layers = self.__dict__.get("layers")
        if isinstance(layers, dict) and name in layers:
            return layers[name]
        raise AttributeError(name)


def is_stateful(layer):
    return isinstance(layer, eqx.nn.StatefulLayer) and layer.is_stateful()


def call(function, *args, state, key=None, **kwargs):
    """Call what may be any module or function, with what it takes: ``(result, state)``."""
    called = function.__call__ if isinstance(function, eqx.Module) else function
    try:
        takes_key = "key" in inspect.signature(called).parameters
    except ValueError:
        takes_key = False
    if takes_key:
        kwargs["key"] = key
    if is_stateful(function):
        return function(*args, state=state, **kwargs)
    return function(*args, **kwargs), state


def build(cls, *args, key, **kwargs):
    """Build a module of any class: it gets the key where it draws its first values."""
    takes_key = "key" in inspect.signature(cls).parameters
    return cls(*args, **kwargs, key=key) if takes_key else cls(*args, **kwargs)


def scan_layers(layers, x, state=None, *args, key=None, **kwargs):
    """Equal layers one after the other, compiled once. With a state, it returns ``(x, state)``."""
    arrays, rest = eqx.partition(list(layers), eqx.is_array)
    states = None if state is None else [state.substate(layer) for layer in layers]
    keys = None if key is None else jax.random.split(key, len(layers))

    def step(x, inputs):
        arrays, state, key = inputs
        layer = eqx.combine(arrays, rest[0])
        given = kwargs if key is None else {**kwargs, "key": key}
        if state is None:
            return layer(x, *args, **given), None
        return layer(x, *args, state=state, **given)

    x, new = lax.scan(step, x, (_stack(arrays), states and _stack(states), keys))
    if state is None:
        return x
    for i, old in enumerate(states):
        leaves = [leaf[i] for leaf in jax.tree.leaves(new)]
        state = state.update(jax.tree.unflatten(jax.tree.structure(old), leaves))
    return x, state


def _stack(trees):
    """One tree, built as the first: equal layers differ in the markers of their StateIndex."""
    leaves = zip(*map(jax.tree.leaves, trees), strict=True)
    return jax.tree.unflatten(jax.tree.structure(trees[0]), [jnp.stack(same) for same in leaves])


class Constant:
    """An array for a static field, which is not trained; equal ones share a compilation."""

    def __init__(self, array):
        self.array = np.asarray(array)
        self._id = self.array.dtype, self.array.shape, self.array.tobytes()

    def __getitem__(self, index):
        return jnp.asarray(self.array)[index]

    def __eq__(self, other):
        return isinstance(other, Constant) and self._id == other._id

    def __hash__(self):
        return hash(self._id)


class Buffer(Constant):
    """A constant that checkpoints hold."""


def split(key, n):
    """``n`` keys, or ``n`` Nones where no key was given."""
    return [None] * n if key is None else jax.random.split(key, n)


def split_rows(key, n):
    """``n`` keys as rows for a scan, or None where no key was given."""
    return None if key is None else jax.random.split(key, n)


def key_stream(key):
    """Keys without end, or Nones where no key was given."""
    i = 0
    while True:
        yield None if key is None else jax.random.fold_in(key, i)
        i += 1


def get(state, index):
    """The value of a buffer; None for one that is not there."""
    return None if index is None else state.get(index)


def value(constant):
    """The array of a constant; None for one that is not there."""
    return None if constant is None else constant[...]


def with_array(layer, name, array):
    """A layer with an array that another one owns."""
    is_none = lambda leaf: leaf is None
    return eqx.tree_at(lambda m: getattr(m, name), layer, array, is_leaf=is_none)


def with_field(module, name, value):
    """The module with another value in a field, which may be a static one."""
    new = copied(module)
    object.__setattr__(new, name, value)
    return new


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


def copied(module):
    """Another module with the same values."""
    new = object.__new__(type(module))
    for name, value in vars(module).items():
        object.__setattr__(new, name, value)
    return new


def update(module, new):
    """Give a module that is being built the values of another one."""
    for name, value in vars(new).items():
        setattr(module, name, value)


def is_module(value):
    """Whether torch has a module for it: a list and a dict of modules are modules there."""
    if isinstance(value, dict):
        return any(map(is_module, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(is_module, value))
    return isinstance(value, eqx.Module) and not isinstance(value, eqx.nn.StateIndex)


def named_children(module):
    """The modules right below one by name, in the order in which they were set."""
    if isinstance(module, (list, tuple)):
        found = ((str(i), value) for i, value in enumerate(module))
    else:
        found = module.items() if isinstance(module, dict) else vars(module).items()
    for name, value in found:
        if isinstance(module, Sequential) and name == "layers":
            yield from named_children(value)
        elif is_module(value):
            yield name, value


def children(module):
    return (child for _, child in named_children(module))


def named_modules(module, prefix=""):
    """The module and all below it by name, outer before inner, each once."""
    seen = []

    def walk(node, path):
        if not any(node is other for other in seen):
            seen.append(node)
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
    for name, value in vars(module).items():
        if isinstance(module, Sequential) and name == "layers":
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
        for name, value in vars(node).items():
            if not is_module(value):
                # torch has what these hold under its own names
                inner = type(node).__name__ in ("ParameterList", "ParameterDict")
                below = path if inner or name == "arrays" else f"{path}.{name}" if path else name
                object.__setattr__(new, name, mapped(below, value))
        return new

    return map_modules(visit, module, named=True)


def unconverted(id, source):
    """What could not be converted: it raises where its value is needed."""
    raise NotImplementedError(f"[{id}] not converted: {source}")


class ParameterList(eqx.Module):
    """A list of params, under numbers."""

    values: list

    def __init__(self, values=()):
        self.values = list(values)

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]

    def append(self, value):
        self.values.append(value)
        return self

    def extend(self, values):
        self.values.extend(values)
        return self


class ParameterDict(eqx.Module):
    """A dict of params."""

    params: dict

    def __init__(self, parameters=()):
        self.params = dict(parameters)

    def __getitem__(self, name):
        return self.params[name]

    def __setitem__(self, name, value):
        self.params[name] = value

    def __contains__(self, name):
        return name in self.params

    def __iter__(self):
        return iter(self.params)

    def __len__(self):
        return len(self.params)

    def keys(self):
        return self.params.keys()

    def values(self):
        return self.params.values()

    def items(self):
        return self.params.items()
