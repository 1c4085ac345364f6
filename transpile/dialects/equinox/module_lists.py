"""Initialisers that are given a list of modules, or one module of which they make a list.

def init(net_l):                                 …
    if not isinstance(net_l, list):
        net_l = [net_l]
    for net in net_l:                            net_l = nn.map_children(init_, net_l)
        zeros_(net.weight)                       return net_l
init([self.a, self.b])                           self.a, self.b = init([self.a, self.b])
init(self.a)                                     self.a = init(self.a)[0]
"""

from ...facts.values.container_aliases import container_classes
from ...facts.values.lattice import Method, Module, Value
from ...model.copy import clone
from ...model.effects import New, Support
from ...model.expressions import Attribute, Call, Constant, Display, Name, Slice, Starred, Subscript
from ...model.names import dotted
from ...model.node import Expression, Statement
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign, Delete
from .module_paths import Places, Unplaced

_ADDING = ("add_module", "register_module", "append")
_FILLING = ("extend", "insert")
_FILLED = "a module that is filled has been built: append layer by layer"
_HIDDEN = "a function changes modules that it is given in a way not known"


def makes_list(function: Function, name: str | None) -> bool:
    """Whether a function makes a list of a module that it is given: `nets = [nets]`."""
    for assign in function.nodes(Assign):
        value = assign.expression
        if isinstance(value, Display) and value.kind == "list" and len(value.elements) == 1:
            inner = value.elements[0]
            if isinstance(inner, Name) and inner.id == name:
                return any(isinstance(t, Name) and t.id == name for t in assign.targets)
    return False


def of_list(call: Call, value: Expression) -> Expression:
    """What such a call gives for the one module that it is given."""
    known = isinstance(value.value, Module) and not value.value.open and value.value.refs
    containers = ("torch.nn.ModuleList", "torch.nn.ModuleDict")
    if not known or any(ref in containers for ref in value.value.refs):
        raise Unplaced(_HIDDEN)  # a list here is none in torch
    return Subscript(call, Constant(0))


def stored(places: Places, given: Display, call: Call) -> list[Statement]:
    """The statements that put the modules of a list back where they stand."""
    elements = given.elements
    plain = all(places.is_own_attribute(e) or isinstance(e, Name) for e in elements)
    if not plain or not elements or not all(map(places.has, elements)):
        raise Unplaced(_HIDDEN)
    targets: list[Expression] = []
    for element in elements:
        if isinstance(element, Attribute):
            targets.append(Attribute(clone(element.object), element.name))
        else:
            targets.append(clone(element))
    if len(targets) == 1:
        return [Assign(targets, Subscript(call, Constant(0)))]
    return [Assign([Display("tuple", targets)], call)]


def with_layer(places: Places, call: Call, project: Project) -> list[Statement] | None:
    """`net.add_module("conv", conv)`: a Sequential, or list of a class of its own, with one more
    layer."""
    function, value = call.function, call.function.value
    if dotted(function) == "setattr" and is_list(project, call.arguments[0].value):
        holder, name, layer = call.arguments
        return _named(places, holder, layer, name)
    if not isinstance(function, Attribute) or not isinstance(value, Method):
        return None
    if not is_list(project, value.receiver):
        return None
    if value.name == "extend" and len(call.arguments) == 1:
        return with_layers(places, function.object, call.arguments[0])
    if value.name in _FILLING:
        raise Unplaced(_FILLED)
    if value.name not in _ADDING or any(call.keywords):
        return None
    if not places.has(function.object) or len(call.arguments) not in (1, 2):
        return None
    made = Call(Support("with_layer"), [clone(function.object), *reversed(call.arguments)])
    return places.store(function.object, made)


def named_layer(places: Places, target: Attribute, layer: Expression) -> list[Statement] | None:
    """`self.net.act = nn.Tanh()`: a Sequential with a layer of that name."""
    return _named(places, target.object, layer, Constant(target.name))


def _named(
    places: Places, holder: Expression, layer: Expression, name: Expression
) -> list[Statement] | None:
    known = isinstance(holder.value, Module) and not holder.value.open
    if not known or not isinstance(layer.value, Module) or not places.has(holder):
        return None
    made = Call(Support("with_layer"), [clone(holder), layer, name])
    return places.store(holder, made)


def with_layers(places: Places, holder: Expression, given: Expression) -> list[Statement]:
    """`self.blocks += [nn.Tanh(), nn.Linear(4, 4)]`: one layer more, and one more."""
    listed = given.elements if isinstance(given, Display) else []
    if _is_sequential(given.value) and isinstance(given, New):
        named = any(given.keywords) or not all(isinstance(a.value, Module) for a in given.arguments)
        listed = [] if named else given.arguments
    if not places.has(holder):
        raise Unplaced(_FILLED)
    if not listed or any(isinstance(e, Starred) for e in listed):
        return places.store(holder, Call(Support("with_layers"), [clone(holder), given]))
    each = [Call(Support("with_layer"), [clone(holder), layer]) for layer in listed]
    return [statement for made in each for statement in places.store(clone(holder), made)]


def without_layer(places: Places, statement: Delete) -> list[Statement] | None:
    """`del self.net[-1]`: a Sequential with one layer less."""
    target = statement.targets[0]
    if isinstance(target, Attribute) and isinstance(target.object.value, Module):
        raise Unplaced("a class has its fields: set it to None, and ask for that")
    if not isinstance(target, Subscript) or not _is_sequential(target.object.value):
        return None
    if len(statement.targets) > 1 or isinstance(target.index, Slice):
        raise Unplaced("layers are deleted together: delete one, and then another")
    if not places.has(target.object):
        return None
    made = Call(Support("without_layer"), [clone(target.object), clone(target.index)])
    return places.store(target.object, made)


def is_list(project: Project, holder: Value | None) -> bool:
    """Whether it is a Sequential, or of a class of the user's below that or ModuleList, and no
    Python list: it is frozen as any module."""
    if not isinstance(holder, Module) or holder.is_self:
        return False
    if _is_sequential(holder):
        return True
    own = all(isinstance(ref, Class) for ref in holder.refs)
    found = container_classes(project, holder) if own else []
    return bool(found) and "torch.nn.ModuleDict" not in found


def _is_sequential(holder: Value | None) -> bool:
    return isinstance(holder, Module) and holder.refs == ["torch.nn.Sequential"]
