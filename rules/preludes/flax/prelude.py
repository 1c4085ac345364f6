"""What the output in Flax NNX needs beside torch's layers: kinds of arrays, containers, scans."""
# mypy: ignore-errors

import copy
import functools
import inspect

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax


class Buffer(nnx.Variable):
    """An array that is saved with the model and not trained."""


class Constant(nnx.Variable):
    """An array that is neither trained nor saved."""


def array_of(variable):
    """What a Variable holds, an array or a size, or None where there is none."""
    return variable.get_value() if isinstance(variable, nnx.Variable) else variable


def checkpointed(function):
    """``nnx.remat`` of a function, of its arrays and modules alone: flags and sizes stay Python's."""
    is_module = lambda leaf: isinstance(leaf, nnx.Module)

    def run(*args, **kwargs):
        leaves, tree = jax.tree.flatten((args, kwargs), is_leaf=is_module)
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, (jax.Array, nnx.Module))]

        def again(*given):
            filled = dict(enumerate(leaves)) | dict(zip(places, given))
            args, kwargs = jax.tree.unflatten(tree, filled.values())
            return function(*args, **kwargs)

        return nnx.remat(again)(*(leaves[i] for i in places))

    return run


def build(make, *args, rngs, **kwargs):
    """A module of a class that may draw its initial values, or what else is called."""
    cls = make.func if isinstance(make, functools.partial) else make
    made_by = [c.__init__ for c in cls.__mro__] if isinstance(cls, type) else [cls]
    for function in made_by:
        try:
            takes = inspect.signature(function).parameters
        except ValueError:  # of one of Python's own
            break
        if "rngs" in takes:
            return make(*args, rngs=rngs, **kwargs)
        if not any(p.kind is p.VAR_KEYWORD for p in takes.values()):
            break
    return make(*args, **kwargs)


Dropout = nnx.Dropout


class HandedDropout(nnx.Dropout):
    """A dropout with torch's arguments, of which a class is given to what builds it."""

    def __init__(self, p=0.5, inplace=False, *, rngs):
        super().__init__(p, rngs=rngs)


class ModuleDict(nnx.Dict):
    """An `nnx.Dict` that keeps the order in which it was filled, as torch's does: after a split
    and a merge a plain one is sorted by name."""

    def __init__(self, *modules, **named):
        object.__setattr__(self, "_order", ())
        super().__init__(*modules, **named)

    def __setattr__(self, name, module):
        super().__setattr__(name, module)
        if name not in self._order and isinstance(module, nnx.Module):
            super().__setattr__("_order", (*self._order, name))

    def __delattr__(self, name):
        super().__delattr__(name)
        super().__setattr__("_order", tuple(other for other in self._order if other != name))

    def __iter__(self):
        return iter(self._order)

    def __len__(self):
        return len(self._order)


def noting_order(init):
    @functools.wraps(init)
    def noted(self, *args, **kwargs):
        init(self, *args, **kwargs)
        self._order = tuple(vars(self))

    return noted


class OrderedModule(nnx.Module):
    """A module that knows in which order its parts were set, in which torch walks over them: after
    a split and a merge Flax has them by the alphabet."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = noting_order(cls.__init__)


class Sequential(nnx.Module):
    """Each layer on the result of the one before; layers that a subclass sets as attributes come
    after those that it hands on."""

    _added = ()

    def __init__(self, *layers):
        named = len(layers) == 1 and isinstance(layers[0], dict)
        self.layers = ModuleDict(layers[0]) if named else nnx.List(layers)

    def __getattr__(self, name):
        layers, key = vars(self).get("layers"), self._key(name)
        if key is not None:
            return layers[key]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __setattr__(self, name, value):
        layers, key = vars(self).get("layers"), self._key(name)
        if key is not None:
            layers[key] = value
            return
        super().__setattr__(name, value)
        if name != "layers" and isinstance(value, nnx.Module) and name not in self._added:
            super().__setattr__("_added", (*self._added, name))

    def _key(self, name):
        """Under what `layers` holds what torch has under a name, a number too; None of others."""
        layers = vars(self).get("layers", ())
        if isinstance(layers, nnx.Dict):
            return name if name in layers else None
        return int(name) if name.isdigit() and int(name) < len(layers) else None

    def __iter__(self):
        given = self.layers.values() if isinstance(self.layers, nnx.Dict) else self.layers
        return iter([*given, *(getattr(self, name) for name in self._added)])

    def __len__(self):
        return len(self.layers) + len(self._added)

    def __getitem__(self, index):
        found = list(self)[index]
        return Sequential(*found) if isinstance(index, slice) else found

    def __setitem__(self, index, layer):
        key = list(self.layers)[index] if isinstance(self.layers, nnx.Dict) else index
        self.layers[key] = layer

    def __delitem__(self, index):
        layers = list(self)
        del layers[index]
        self._number(layers)

    def insert(self, index, layer):
        layers = list(self)
        layers.insert(index, layer)
        self._number(layers)
        return self

    def _number(self, layers):
        """Hold these alone, numbered anew as in torch."""
        for name in self._added:
            delattr(self, name)
        self.layers, self._added = nnx.List(layers), ()

    def append(self, layer):
        if isinstance(self.layers, nnx.Dict):
            self.layers[str(len(self))] = layer
        else:
            self.layers.append(layer)
        return self

    def extend(self, layers):
        for layer in list(layers):
            self.append(layer)
        return self

    def __iadd__(self, layers):
        return self.extend(layers)

    def __add__(self, layers):
        return Sequential(*self, *layers)

    def add_module(self, name, layer):
        if not isinstance(self.layers, nnx.Dict):
            self.layers = ModuleDict({str(i): given for i, given in enumerate(self.layers)})
        self.layers[name] = layer

    def __call__(self, input):
        for layer in self:
            input = layer(input)
        return input


class ParameterList(nnx.Module):
    """A list of parameters, or Nones, read as arrays, or of such lists."""

    def __init__(self, values=None):
        self.values = nnx.List()
        self.extend(values or [])

    def append(self, value):
        held = value is None or isinstance(value, (nnx.Variable, nnx.Module))
        self.values.append(value if held else nnx.Param(value))
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __iter__(self):
        return iter(self[:])

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        found = self.values[index]
        return found[...] if isinstance(found, nnx.Variable) else found

    def __setitem__(self, index, value):
        self.values[index][...] = value


class ParameterDict(nnx.Module):
    """A dict of parameters, read as arrays."""

    def __init__(self, parameters=None):
        self.parameters = nnx.Dict()
        self.update(parameters or {})

    def update(self, parameters):
        for name, value in dict(parameters).items():
            self[name] = value

    def keys(self):
        return list(self.parameters)

    def values(self):
        return [self[name] for name in self.parameters]

    def items(self):
        return [(name, self[name]) for name in self.parameters]

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.parameters)

    def __contains__(self, name):
        return name in self.parameters

    def __getitem__(self, name):
        return self.parameters[name][...]

    def __setitem__(self, name, value):
        if name in self.parameters:
            self.parameters[name][...] = value
        else:
            param = value if isinstance(value, nnx.Variable) else nnx.Param(value)
            self.parameters[name] = param


def copied(module):
    """A copy of a module that draws other numbers than the module does."""
    made = copy.deepcopy(module)
    if isinstance(module, nnx.Module):
        pairs = zip(nnx.iter_graph(module), nnx.iter_graph(made), strict=True)
        for (_, own), (_, other) in pairs:
            if isinstance(own, nnx.RngStream):
                other.key[...] = own()
            if isinstance(own, nnx.Module):  # Flax's copy has its attributes by the alphabet
                held = vars(other)
                for name in vars(own):
                    held[name] = held.pop(name)
    return made


def scan_layers(layers, x, *args, **kwargs):
    """Equal layers one after the other, compiled once.

    The layers keep their weights and get the state that they write: an evaluated one writes none.
    """
    kinds = {jax.tree.structure(layer) for layer in layers}
    if len(kinds) != 1 or not jax.tree.leaves(list(layers)):  # somebody changed one, or no arrays
        return functools.reduce(lambda x, layer: layer(x, *args, **kwargs), layers, x)
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers)
    graph, params, rest = nnx.split(stacked, nnx.Param, ...)

    def raw(leaf):
        return leaf.get_raw_value() if isinstance(leaf, nnx.Variable) else leaf

    def step(x, states):
        given = {path: raw(leaf) for path, leaf in nnx.to_flat_state(states[1])}
        layer = nnx.merge(graph, *states)
        x = layer(x, *args, **kwargs)
        state = nnx.to_flat_state(nnx.state(layer, nnx.Not(nnx.Param)))
        return x, nnx.from_flat_state((p, v) for p, v in state if raw(v) is not given.get(p))

    # not nnx.scan, which hands back the params too: a copy of them, and as much again backwards
    x, written = lax.scan(step, x, (params, rest))
    for i, layer in enumerate(layers):
        nnx.update(layer, jax.tree.map(lambda leaf, i=i: leaf[i], written))
    return x


def tied(module, **variables):
    """The module with Variables, or whole modules, of another one in the place of those that it,
    or one below it, gave up: as they are, or by a function where it may have given up none."""
    other = object.__new__(type(module))
    vars(other).update(vars(module))
    for path, variable in variables.items():
        name, _, below = path.partition(".")
        own = getattr(other, name, None)
        if below and own is not None:
            vars(other)[name] = tied(own, **{below: variable})
        elif own is None:
            vars(other)[name] = variable() if inspect.isfunction(variable) else variable
    return other


def named_modules(module, prefix=""):
    """The module and all below it by name, outer before inner, each once, as they were set."""
    seen = []

    def walk(node, path):
        if any(node is other for other in seen):
            return
        seen.append(node)
        yield path, node
        for name, child in named_children(node):
            yield from walk(child, f"{path}.{name}" if path else name)

    yield from walk(module, prefix)


def modules(module):
    return (found for _, found in named_modules(module))


def in_order(module):
    """What a module has by name, as it was set: after a split and a merge Flax has it by the
    alphabet."""
    if isinstance(module, nnx.List):
        return {str(i): value for i, value in enumerate(module)}
    held = vars(module)
    order = [name for name in getattr(module, "_order", ()) if name in held]
    return {**{name: held[name] for name in order}, **held}


def named_children(module):
    holder = module.layers if isinstance(module, Sequential) else module
    for name, child in in_order(holder).items():
        if isinstance(child, nnx.Module):
            yield name, child


def taken_out(layers, index=-1):
    """A layer that is taken out of a list: those behind it are numbered anew."""
    layer = layers.pop(index)
    last = str(len(layers))
    if hasattr(layers, last):  # Flax has left it there a second time
        delattr(layers, last)
    return layer


def children(module):
    return (child for _, child in named_children(module))


def named_parameters(module, prefix="", recurse=True):
    """The Variables of the trained arrays by name, in torch's order."""
    for path, node in named_modules(module, prefix) if recurse else [(prefix, module)]:
        for name, variable in in_order(node).items():
            if isinstance(variable, nnx.Param):
                yield f"{path}.{name}" if path else name, variable


def apply(module, function):
    """Call a function with all modules below and the module itself, inner before outer."""
    for child in children(module):
        apply(child, function)
    function(module)
    return module


def parameters(module, recurse=True):
    return (value for _, value in named_parameters(module, recurse=recurse))


def arrays(variables):
    """The arrays of Variables, or of pairs of a name and one."""
    for one in variables:
        yield (one[0], one[1][...]) if isinstance(one, tuple) else one[...]


def assign(module, name, value):
    """Give an array of a module another value."""
    getattr(module, name)[...] = value


def cond(pred, then, otherwise, *modules):
    """``nnx.cond`` whose sides may differ as those of ``choose`` may; a bool takes one of them."""
    if isinstance(pred, bool):
        return (then if pred else otherwise)(*modules)
    like = _joined(*(nnx.eval_shape(side, *modules) for side in (then, otherwise)))
    sides = (lambda *given, side=side: _fitted(side(*given), like) for side in (then, otherwise))
    return nnx.cond(pred, *sides, *modules)


def bounded_loop(condition, body, carry, bound):
    """`nnx.while_loop` of at most `bound` turns, as a scan: it has a gradient backwards too."""

    def turn(carry, _):
        return nnx.cond(condition(carry), body, lambda carry: carry, carry), None

    return nnx.scan(turn, length=bound)(carry, None)[0]


def unconverted(id, source):
    """Raises: the source could not be converted, for the reason that the id names."""
    raise NotImplementedError(f"{source} was not converted: {id}")
