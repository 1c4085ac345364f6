"""Containers and helpers of the Equinox output: read as text, and copied where they are used."""

import dataclasses
import functools
import inspect
from collections import OrderedDict

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Sequential(eqx.nn.StatefulLayer):
    """One layer after the other. Given a state, be it None, it returns ``(x, state)``, as
    `eqx.nn.Sequential` does."""

    layers: tuple | dict

    def __init__(self, *layers):
        named = len(layers) == 1 and isinstance(layers[0], dict)
        self.layers = OrderedDict(layers[0]) if named else layers

    def is_stateful(self):
        own = type(self).__call__  # of a class below, which gives a state whatever it holds
        given = own is not Sequential.__call__ and "state" in inspect.signature(own).parameters
        return given or any(is_stateful(layer) for layer in self)

    def __call__(self, x, state=dataclasses.MISSING, *, key=None):
        for layer, k in zip(self, split(key, len(self))):
            if is_stateful(layer):
                x, state = layer(x, state=state, key=k)
            else:
                x = layer(x, key=k)
        return x if state is dataclasses.MISSING else (x, state)

    def add_module(self, name, layer):
        """One layer more, in the constructor of a class below."""
        given = self.layers.items() if isinstance(self.layers, dict) else enumerate(self.layers)
        self.layers = OrderedDict([(str(n), m) for n, m in given] + [(name, layer)])

    def append(self, layer):
        self.add_module(str(len(self.layers)), layer)
        return self

    def extend(self, layers):
        for layer in list(layers):
            self.append(layer)
        return self

    def __add__(self, layers):
        return Sequential(*self, *layers)

    def fields(self):
        """What a subclass sets as attributes, by name: it comes after what it hands on."""
        held = {f.name: getattr(self, f.name, None) for f in dataclasses.fields(self)}
        return {name: layer for name, layer in held.items() if isinstance(layer, eqx.Module)}

    def __iter__(self):
        given = self.layers.values() if isinstance(self.layers, dict) else self.layers
        return iter([*given, *self.fields().values()])

    def __len__(self):
        return sum(1 for _ in self)

    def __getitem__(self, index):
        if isinstance(self.layers, dict) and isinstance(index, slice):
            return Sequential(OrderedDict(list(self.layers.items())[index]))
        return Sequential(*tuple(self)[index]) if isinstance(index, slice) else tuple(self)[index]

    def __setitem__(self, index, layer):
        """Another layer in the place of one, in the constructor of a class below."""
        given = self.layers if isinstance(self.layers, dict) else dict(enumerate(self.layers))
        name = [*given, *self.fields()][index]
        if name in given:
            new = {n: layer if n == name else old for n, old in given.items()}
            self.layers = OrderedDict(new) if given is self.layers else tuple(new.values())
        else:
            setattr(self, name, layer)

    def __getattr__(self, name):
        layers = self.__dict__.get("layers")
        if isinstance(layers, dict) and name in layers:
            return layers[name]
        raise AttributeError(name)


class ModuleList(Sequential):
    """What a list of layers with methods of its own is made of: jax takes no list but Python's."""

    def __init__(self, layers=()):
        super().__init__(*layers)

    def extend(self, layers):
        self.layers = (*self.layers, *layers)
        return self

    def __iadd__(self, layers):
        return self.extend(layers)

    def append(self, layer):
        return self.extend([layer])


class ModuleDict(Sequential):
    """What a dict of layers with methods of its own is made of; what a subclass sets is in it."""

    def __init__(self, modules=()):
        self.layers = OrderedDict(modules)

    def held(self):
        return {**self.layers, **vars(self).get("submodules", {}), **self.fields()}

    def is_stateful(self):
        return any(map(is_stateful, self.held().values()))

    def __iter__(self):
        return iter(self.held())

    def __contains__(self, name):
        return name in self.held()

    def __getitem__(self, name):
        return self.held()[name]

    def __setitem__(self, name, layer):
        self.layers[name] = layer

    def update(self, modules):
        self.layers.update(modules)

    def keys(self):
        return self.held().keys()

    def values(self):
        return self.held().values()

    def items(self):
        return self.held().items()


def is_stateful(layer):
    return isinstance(layer, eqx.nn.StatefulLayer) and layer.is_stateful()


def call(function, *args, state, key=None, **kwargs):
    """Call what may be any module or function, with what it takes: ``(result, state)``."""
    layer = isinstance(function, eqx.Module) and not hasattr(function, "__func__")  # no method
    called = function.__call__ if layer else function
    try:
        parameters = inspect.signature(called).parameters
    except ValueError:
        parameters = {}
    if "key" in parameters:
        kwargs["key"] = key
    asked = "state" in parameters and parameters["state"].default is inspect.Parameter.empty
    if asked and not layer or is_stateful(function):
        return function(*args, state=state, **kwargs)
    return function(*args, **kwargs), state


def build(cls, *args, key, **kwargs):
    """Build a module of any class: it gets the key where it draws its first values."""
    try:
        takes_key = "key" in inspect.signature(cls).parameters
    except ValueError:  # of one of Python's own
        takes_key = False
    return cls(*args, **kwargs, key=key) if takes_key else cls(*args, **kwargs)


def scan_layers(layers, x, state=None, *args, key=None, **kwargs):
    """Equal layers one after the other, compiled once. With a state, it returns ``(x, state)``."""
    arrays, rest = eqx.partition(list(layers), eqx.is_array)
    if not jax.tree.leaves(arrays) or not _equal_constants(rest):
        for layer, k in zip(layers, split(key, len(layers))):
            given = kwargs if k is None else {**kwargs, "key": k}
            if state is None:
                x = layer(x, *args, **given)
            else:
                x, state = layer(x, *args, state=state, **given)
        return x if state is None else (x, state)
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


def _equal_constants(layers):
    """Whether layers have the same constants: a checkpoint may have changed those of one."""
    is_index = lambda node: isinstance(node, eqx.nn.StateIndex)
    trees = [jax.tree.map(lambda _: None, layer, is_leaf=is_index) for layer in layers]
    return all(jax.tree.structure(t) == jax.tree.structure(trees[0]) for t in trees)


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
        with jax.ensure_compile_time_eval():  # known under jit: `for i in self.order[...].tolist()`
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


def dry_run(function, *args, training=True, **kwargs):
    """Zeros of the shapes that a module, or a method of one, gives; the state that it begins with
    is dropped."""
    module = getattr(function, "__self__", function)
    if not training:
        function = eqx.nn.inference_mode(function)
    takes = inspect.signature(function).parameters
    kwargs |= {"key": jax.random.key(0)} if "key" in takes else {}

    def run():
        return function(*args, state=eqx.nn.State(module), **kwargs)[0]

    shapes = eqx.filter_eval_shape(run)
    zeros = lambda y: jnp.zeros(y.shape, y.dtype) if isinstance(y, jax.ShapeDtypeStruct) else y
    return jax.tree.map(zeros, shapes)


def get(state, index):
    """The value of a buffer; None for one that is not there."""
    return None if index is None else state.get(index)


def unsaved(**options):
    """A field with a state that checkpoints do not hold."""
    return eqx.field(metadata={"unsaved": True}, **options)


def begin(method, *args, **kwargs):
    """Run a method of a module that is being built: what it writes is what the state begins with."""
    module = method.__self__
    state = method(*args, state=eqx.nn.State(module), **kwargs)
    is_index = lambda node: isinstance(node, eqx.nn.StateIndex)
    for index in filter(is_index, jax.tree.leaves(module, is_leaf=is_index)):
        object.__setattr__(index, "init", state.get(index))


def put(state, index, value):
    """A state with another value, which may have another shape than the one before; a size stays a
    number of Python's in the call that sets it."""
    new = eqx.nn.StateIndex(value)
    object.__setattr__(new, "marker", index.marker)
    new = eqx.nn.State(new)
    if type(value) is int:
        new._state[index.marker] = value
    return state.update(new)


def value(constant):
    """The array of a constant; None for one that is not there."""
    return None if constant is None else constant[...]


def with_array(layer, path, array):
    """A layer with an array, or a whole layer, that another one owns in the place of what it, or a
    layer below it, gave up; ``array``: as it is, or a function of nothing where it may have given up
    none."""
    is_none = lambda leaf: leaf is None
    where = lambda layer: functools.reduce(_part, path.split("."), layer)
    if inspect.isfunction(array):
        if where(layer) is not None:
            return layer
        array = array()
    return eqx.tree_at(where, layer, array, is_leaf=is_none)


def _part(layer, name):
    """What a layer has under a name, or a container under a number."""
    layers = getattr(layer, "layers", layer)
    numbered = name.isdigit() and isinstance(layers, (list, tuple))
    return layers[int(name)] if numbered else getattr(layer, name)


def with_data(module, path, value):
    """A module with another value for a param, whose gradient is that of the param: torch's
    ``param.data = value``."""
    where = lambda module: functools.reduce(_part, path.split("."), module)
    old = where(module)
    return eqx.tree_at(where, module, lax.stop_gradient(value) + (old - lax.stop_gradient(old)))


def over_modules(cond):
    """``lax.cond`` for operands that are modules, too: what is no array in one stays as it is."""

    def apart(values):
        def of(value):
            return jax.tree.map(eqx.is_array, value) if isinstance(value, eqx.Module) else True

        arrays = jax.tree.map(of, values, is_leaf=lambda value: isinstance(value, eqx.Module))
        return eqx.partition(values, arrays)

    def call(test, then, otherwise, *operands):
        given, rest = apart(operands)
        kept = []

        def of(side):
            def run(given):
                made, held = apart(side(*eqx.combine(given, rest)))
                kept.append(held)
                return made

            return run

        return eqx.combine(cond(test, of(then), of(otherwise), given), kept[0])

    return call


def unconverted(id, source):
    """What could not be converted: it raises where its value is needed."""
    raise NotImplementedError(f"[{id}] not converted: {source}")


class Submodules(eqx.Module):
    """Modules under names that are computed: they are read as attributes."""

    submodules: dict

    def __init__(self, *given):
        super().__init__(*given)

    def __getattr__(self, name):
        held = self.__dict__.get("submodules", {})
        if name in held:
            return held[name]
        raise AttributeError(name)


class Namespace(Submodules):
    """A module of no class of its own: what is set on it while it is built is read as attributes."""

    def __init__(self):
        self.submodules = OrderedDict()


class ParameterList(eqx.Module):
    """A list of params, under numbers."""

    values: list

    def __init__(self, values=None):
        self.values = list(values or ())

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]

    def __setitem__(self, index, value):
        self.values[index] = value

    def append(self, value):
        self.values.append(value)
        return self

    def extend(self, values):
        self.values.extend(values)
        return self


class ParameterDict(eqx.Module):
    """A dict of params."""

    params: dict

    def __init__(self, parameters=None):
        self.params = dict(parameters or ())

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
