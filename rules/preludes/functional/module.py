"""Module and its containers: a network as a pure function of explicit params."""

import collections
import copy
import functools
import inspect

import jax
import jax.numpy as jnp


class Module:
    """A pure function with fixed hyperparameters: ``y = module(params, x)``.

    ``init(key)`` returns the params, a dict keyed like torch's state_dict; ``init_state(key)`` returns the buffers in
    the same form. A module with buffers takes ``state`` after ``params`` and returns ``(y, state)``; one that draws
    random numbers takes ``key``; one whose behaviour depends on the mode takes ``training``.
    A class names in ``unsaved`` the state that torch's state_dict lacks.
    """

    unsaved = ()

    def init(self, key):
        return {name: child.init(jax.random.fold_in(key, i)) for i, (name, child) in enumerate(self.children())}

    def init_state(self, key):
        return {name: child.init_state(jax.random.fold_in(key, i)) for i, (name, child) in enumerate(self.children())}

    def children(self):
        """The submodules by name, each once: one that has two names has its params under the first."""
        children = {}
        for name, value in vars(self).items():
            if isinstance(value, Module) and not any(value is child for child in children.values()):
                children[name] = value
        return list(children.items())

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{name} is no module: {module!r}")
        setattr(self, name, module)

    def apply(self, params, state, *args, key=None, training=False, **kwargs):
        """Call with every effect spelled out, whatever the module needs; returns ``(y, state)``."""
        return call(self.__call__, params, state, *args, key=key, training=training, **kwargs)


def call(method, params, state, *args, key=None, training=False, **kwargs):
    """Call a module's ``__call__`` with those of the effects that it takes; returns ``(y, state)``."""
    takes = _effects(method.__func__)
    given = {"params": params, "state": state, "key": key, "training": training}
    first = [given[name] for name in ("params", "state") if name in takes]
    words = {name: given[name] for name in ("key", "training") if name in takes}
    output = method(*first, *args, **words, **kwargs)
    return output if "state" in takes else (output, state)


@functools.cache
def _effects(function):
    return frozenset(inspect.signature(function).parameters) & {"params", "state", "key", "training"}


class _Container(Module):
    """Submodules under names of their own, as torch numbers and names them."""

    _empty = ()  # the names under which None was put: it has a place, and no params

    def add_module(self, name, module):
        super().add_module(name, module)
        if module is None:
            self._empty = (*self._empty, name)

    def places(self):
        """``(name, layer or None)`` for each place, in order."""
        empty = self._empty
        return [(name, v) for name, v in vars(self).items() if isinstance(v, Module) or v is None and name in empty]

    def layers(self):
        """The places, but a layer used twice keeps its first name."""
        names = {id(child): name for name, child in self.children()}
        return [(names.get(id(value), name), value) for name, value in self.places()]

    def values(self):
        return [child for _, child in self.layers()]

    def __iter__(self):
        return iter(self.values())

    def __len__(self):
        return len(self.layers())


class _Numbered(_Container):
    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, modules):
        return self[:].extend(modules)

    def insert(self, index, module):
        modules = self.values()
        modules.insert(index, module)
        for i, value in enumerate(modules):
            self.add_module(str(i), value)

    def __getitem__(self, index):
        if isinstance(index, slice):
            chosen = type(self).__new__(type(self))
            for name, value in self.layers()[index]:
                chosen.add_module(name, value)
            return chosen
        return self.values()[index]

    def __setitem__(self, index, module):
        self.add_module(self.name(index), module)

    def __delitem__(self, index):
        """In torch too, those that are left are numbered anew."""
        left = [value for _, value in self.places()]
        del left[index]
        for name, _ in self.places():
            delattr(self, name)
        for i, value in enumerate(left):
            self.add_module(str(i), value)

    def pop(self, index=-1):
        module = self[index]
        del self[index]
        return module

    def name(self, index):
        """The name of the layer at an index, which may be negative."""
        return self.layers()[index][0]


class Sequential(_Numbered):
    """Each layer on the result of the one before."""

    def __init__(self, *layers):
        if len(layers) == 1 and isinstance(layers[0], dict):
            for name, module in layers[0].items():
                self.add_module(name, module)
        else:
            self.extend(layers)

    def apply(self, params, state, *args, key=None, training=False, **kwargs):
        if type(self).__call__ is not Sequential.__call__:  # a subclass with a forward of its own
            return super().apply(params, state, *args, key=key, training=training, **kwargs)
        return self.run(params, state, *args, key=key, training=training)

    def run(self, params, state, x, *, key=None, training=False):
        """The layers one after another; returns ``(y, state)``."""
        state = dict(state)
        layers = self.layers()
        keys = split(key, len(layers))
        for (name, module), layer_key in zip(layers, keys):
            x, state[name] = module.apply(
                params.get(name, {}), state.get(name, {}), x, key=layer_key, training=training
            )
        return x, state

    def __call__(self, params, x, *, key=None, training=False):
        return self.run(params, {}, x, key=key, training=training)[0]


class ModuleList(_Numbered):
    """A list of submodules."""

    def __init__(self, modules=None):
        self.extend(modules or [])


class Copies(ModuleList):
    """Copies of one module, which start equal but for what is given other values later on."""

    def __init__(self, module, count):
        super().__init__([copy.deepcopy(module) for _ in range(count)])
        self.begun = [vars(part).get("init") for part in modules(module)]

    def init(self, key):
        params = super().init(key)
        parts = [pair for child in self.values() for pair in zip(named_modules(child), self.begun)]
        changed = {path for (path, part), begun in parts if vars(part).get("init") is not begun}

        def value(path, own, first):
            name = ".".join(str(entry.key) for entry in path)
            return own if changed & {name, name.rpartition(".")[0]} else jnp.copy(first)

        return {name: jax.tree_util.tree_map_with_path(value, own, params["0"]) for name, own in params.items()}


class ModuleDict(_Container):
    """A dict of submodules."""

    def __init__(self, modules=None):
        self.update(modules or {})

    def update(self, modules):
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self.add_module(name, module)

    def keys(self):
        return [name for name, _ in self.places()]

    def items(self):
        return self.places()

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __delitem__(self, name):
        delattr(self, name)

    def pop(self, name):
        module = self[name]
        del self[name]
        return module

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, name):
        return name in self.keys()


class Parameter(Module):
    """One array of the params, made where the module is built: ``initial(key)`` returns its first value."""

    def __init__(self, initial):
        self.initial = initial

    def init(self, key):
        return self.initial(key)


class ParameterList(ModuleList):
    """A list of parameters."""


class ParameterDict(ModuleDict):
    """A dict of parameters, in the order of their names where a plain dict gives them, as torch has them."""

    def update(self, parameters):
        plain = hasattr(parameters, "items") and not isinstance(parameters, (collections.OrderedDict, ModuleDict))
        super().update(sorted(parameters.items()) if plain else parameters)


class Buffer(Module):
    """One array of the state, made where the module is built: ``initial(key)`` returns its first value."""

    def __init__(self, initial):
        self.initial = initial

    def init_state(self, key):
        return self.initial(key)


class Function(Module):
    """A plain function, or an object of another library, in the place of a module."""

    def __init__(self, function):
        self.function = function

    def __getattr__(self, name):  # `self.patch_embed.num_patches`
        if name == "function":  # of a copy that is not filled yet
            raise AttributeError(name)
        return getattr(self.function, name)

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def split(key, n):
    """``n`` keys, or ``n`` Nones where no key was given."""
    return [None] * n if key is None else jax.random.split(key, n)


def stateful(function, state, *name):
    """``function`` for who knows of no state: what each of its calls gives back is put into ``state``,
    or under a name in it."""

    def call(*args, **kwargs):
        old = state[name[0]] if name else state
        output, new = function(old, *args, **kwargs)
        state.update({name[0]: new} if name else new)
        return output

    return call


def fold_in(key, i):
    """The key of turn ``i``, or None where no key was given."""
    return None if key is None else jax.random.fold_in(key, i)


def unconverted(diagnostic, source):
    """Stands where torch code could not be converted."""
    raise NotImplementedError(f"{diagnostic}: {source}")
