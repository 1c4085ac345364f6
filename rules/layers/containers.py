"""Containers: submodules and parameters under numbers, or under names of their own."""

from collections import OrderedDict

from transpile.layer import Module, Parameter, layer


class Container(Module):
    """Holds what it is given, under numbers or names."""


class Numbered(Container):
    """Submodules under "0", "1", "2" and so on; None may stand in the place of one."""

    def __iter__(self):
        return iter([module for _, module in self.places()])

    def __len__(self):
        return len(list(self.places()))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._part(list(self.places())[index])
        return list(self)[index]

    def __setitem__(self, index, module):
        name, _ = list(self.places())[index]
        self.add_module(name, module)

    def __delitem__(self, index):
        modules = list(self)
        del modules[index]
        for name, _ in list(self.places()):
            delattr(self, name)
        self.extend(modules)

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def insert(self, index, module):
        modules = list(self)
        modules.insert(index, module)
        for i, value in enumerate(modules):
            self.add_module(str(i), value)

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, modules):
        return type(self)().extend(self).extend(modules)


@layer("torch.nn.Sequential")
class Sequential(Numbered):
    """Each layer on the result of the one before."""

    def __init__(self, *layers):
        if len(layers) == 1 and isinstance(layers[0], dict):
            for name, module in layers[0].items():
                self.add_module(name, module)
        else:
            self.extend(layers)

    def _part(self, places):
        return type(self)(OrderedDict(places))

    def __call__(self, input):
        for module in self:
            input = module(input)
        return input


@layer("torch.nn.ModuleList")
class ModuleList(Numbered):
    """A list of submodules."""

    def __init__(self, modules=None):
        self.extend(modules or [])

    def _part(self, places):
        return type(self)([module for _, module in places])


@layer("torch.nn.ModuleDict")
class ModuleDict(Container):
    """A dict of submodules."""

    def __init__(self, modules=None):
        self.update(modules or {})

    def update(self, modules):
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self.add_module(name, module)

    def keys(self):
        return [name for name, _ in self.places()]

    def values(self):
        return [module for _, module in self.places()]

    def items(self):
        return list(self.places())

    def pop(self, name):
        module = self[name]
        delattr(self, name)
        return module

    def clear(self):
        for name in self.keys():
            delattr(self, name)

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __delitem__(self, name):
        delattr(self, name)

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def __contains__(self, name):
        return name in self.keys()


@layer("torch.nn.ParameterList")
class ParameterList(Container):
    """A list of parameters, "0", "1", "2" and so on; plain arrays become parameters."""

    def __init__(self, values=None):
        self.size = 0
        self.extend(values or [])

    def append(self, value):
        setattr(self, str(self.size), as_parameter(value))
        self.size += 1
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [getattr(self, str(i)) for i in range(self.size)[index]]
        return getattr(self, str(range(self.size)[index]))

    def __setitem__(self, index, value):
        setattr(self, str(range(self.size)[index]), value)

    def __iter__(self):
        return iter(self[:])

    def __len__(self):
        return self.size

    def __iadd__(self, values):
        return self.extend(values)


@layer("torch.nn.ParameterDict")
class ParameterDict(Container):
    """A dict of parameters; torch sorts the names of a plain dict that it is built from."""

    def __init__(self, parameters=None):
        self.names = []
        self.update(parameters or {})

    def update(self, parameters):
        if isinstance(parameters, OrderedDict | ParameterDict):
            pairs = parameters.items()
        elif isinstance(parameters, dict):
            pairs = sorted(parameters.items())
        else:
            pairs = parameters
        for name, value in pairs:
            self[name] = value

    def keys(self):
        return self.names

    def values(self):
        return [self[name] for name in self.names]

    def items(self):
        return [(name, self[name]) for name in self.names]

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, value):
        setattr(self, name, value if name in self.names else as_parameter(value))
        if name not in self.names:
            self.names.append(name)

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.names)

    def __contains__(self, name):
        return name in self.names


def as_parameter(value):
    """Arrays as parameters; what is one already as it is."""
    return Parameter(value) if hasattr(value, "dtype") else value
