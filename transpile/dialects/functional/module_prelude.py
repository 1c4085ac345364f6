"""Module and its containers: a network as a pure function of explicit params."""

import collections
import copy
import functools
import inspect

import jax
import jax.numpy as jnp
from jax import lax


class Module:
    """A pure function with fixed hyperparameters: ``y = module(params, x)``.

    ``init(key)`` returns the params, a dict keyed like torch's state_dict; ``init_state(key)`` returns the buffers in
    the same form. A module with buffers takes ``state`` after ``params`` and returns ``(y, state)``; one that draws
    random numbers takes ``key``; one whose behaviour depends on the mode takes ``training``.
    """

    def init(self, key):
        return {
            name: child.init(jax.random.fold_in(key, i))
            for i, (name, child) in enumerate(self.children())
        }

    def init_state(self, key):
        return {
            name: child.init_state(jax.random.fold_in(key, i))
            for i, (name, child) in enumerate(self.children())
        }

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
    if "params" in takes:
        args = (params, state, *args) if "state" in takes else (params, *args)
    elif "state" in takes:
        args = (state, *args)
    if "key" in takes:
        kwargs["key"] = key
    if "training" in takes:
        kwargs["training"] = training
    output = method(*args, **kwargs)
    return output if "state" in takes else (output, state)


@functools.cache
def _effects(function):
    return frozenset(inspect.signature(function).parameters) & {
        "params",
        "state",
        "key",
        "training",
    }


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
        return [
            (name, v)
            for name, v in vars(self).items()
            if isinstance(v, Module) or v is None and name in empty
        ]

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

        return {
            name: jax.tree_util.tree_map_with_path(value, own, params["0"])
            for name, own in params.items()
        }


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
        plain = hasattr(parameters, "items") and not isinstance(
            parameters, (collections.OrderedDict, ModuleDict)
        )
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


def as_module(function):
    """What can be called like a module: modules and None as they are, other functions wrapped."""
    return (
        Function(function)
        if callable(function) and not isinstance(function, (Module, type))
        else function
    )


def split(key, n):
    """``n`` keys, or ``n`` Nones where no key was given."""
    return [None] * n if key is None else jax.random.split(key, n)


def fold_in(key, i):
    """The key of turn ``i``, or None where no key was given."""
    return None if key is None else jax.random.fold_in(key, i)


def unconverted(diagnostic, source):
    """Stands where torch code could not be converted."""
    raise NotImplementedError(f"{diagnostic}: {source}")


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
            arrays[place] = function(arrays[place], again)
        return {
            place: array for place, array in arrays.items() if array is not None or place != name
        }

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
        return params | tree.unflatten(
            function(name, leaf, k) for name, (_, leaf), k in zip(names, leaves, keys)
        )

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
    layers = (
        cls for cls in type(module).__mro__ if cls.__module__ == __name__ and cls is not Module
    )
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
    """The shape and dtype of a param of a module, or of one that it computes from others; None where there is none."""
    # of a function made here: JAX keeps what it has traced, and init may change yet
    params = jax.eval_shape(lambda key: module.init(key), jax.random.key(0))
    return next(
        (params[param] for param in (name, f"{name}_orig", f"{name}_v") if param in params), None
    )


def shape(module, name):
    """The shape of a param, a buffer or a constant of a module."""
    buffers = jax.eval_shape(lambda key: module.init_state(key), jax.random.key(0))
    found = buffers[name] if name in buffers else like(module, name)
    return (getattr(module, name) if found is None else found).shape


def dry_run(function, *args, **kwargs):
    """Zeros of the shapes that a module, or a method of one, gives: it is traced with params that are not computed."""
    module = function if isinstance(function, Module) else function.__self__
    run = module.apply if function is module else functools.partial(call, function)
    Shape, found = jax.ShapeDtypeStruct, []

    def trace(key):
        output, _ = run(*_beginnings(module, key), *args, key=key, training=True, **kwargs)
        found.append(
            jax.tree.map(
                lambda y: Shape(y.shape, y.dtype) if isinstance(y, jax.Array) else y, output
            )
        )

    jax.eval_shape(trace, jax.random.key(0))
    return jax.tree.map(
        lambda y: jnp.zeros(y.shape, y.dtype) if isinstance(y, Shape) else y, found[0]
    )


def _beginnings(module, key):
    """The params and state of a module, or of its submodules while it is still being built itself."""
    try:
        return module.init(key), module.init_state(key)
    except (AttributeError, KeyError):  # of what its constructor has yet to set
        return Module.init(module, key), Module.init_state(module, key)


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
    return iter(
        [(".".join(path), functools.reduce(dict.__getitem__, path, arrays)) for path in paths]
    )


def _paths(params):
    """The path of each array: of a module's own before those of its submodules, as torch lists them."""
    own = [(name,) for name, value in params.items() if not isinstance(value, dict)]
    below = [
        (name, *path)
        for name, value in params.items()
        if isinstance(value, dict)
        for path in _paths(value)
    ]
    return own + below


def parameters(module, params=None):
    """The arrays of ``named_parameters``, without their names."""
    return iter([leaf for _, leaf in named_parameters(module, params)])


def modules(module):
    """The module and everything below it, outer before inner, each once."""
    return [m for _, m in named_modules(module)]


def named_modules(module, prefix=""):
    """``(dotted name, module)`` of the module and everything below it, outer before inner."""
    found = [(prefix, module)]
    for name, child in module.children():
        found += named_modules(child, f"{prefix}.{name}" if prefix else name)
    return found


def children(module):
    """The modules right below a module, each once."""
    return [child for _, child in module.children()]


def named_children(module):
    """``(name, module)`` of the modules right below a module, each once."""
    return module.children()


def apply(module, function):
    """Call a function on everything below the module, then on the module itself, as torch's Module.apply does."""
    for _, child in module.children():
        apply(child, function)
    function(module)
    return module
