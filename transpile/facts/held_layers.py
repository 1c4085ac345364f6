"""What torch's layers hold that are given modules: by all that a project gives to them.

nn.TransformerEncoder(nn.TransformerEncoderLayer(d, h), n)      its `block` is such a layer

So what a call of it takes and gives is known, as it is of the user's classes.
"""

from collections.abc import Collection, Iterator

from ..model.effects import Declare
from ..model.expressions import Attribute, Call, Comprehension, Name, Starred
from ..model.names import dotted
from ..model.node import Expression
from ..model.program import Class, Function
from ..model.statements import For
from .modules import Modules
from .values import Values
from .values.lattice import Module, Static

# What stands for a parameter that nobody gives: a support file that another program has brought
# along is written for what is usual.
_USUAL = {
    "encoder_layer": frozenset({"torch.nn.TransformerEncoderLayer"}),
    "decoder_layer": frozenset({"torch.nn.TransformerDecoderLayer"}),
    "norm": frozenset({"torch.nn.LayerNorm"}),
    "custom_encoder": frozenset({"torch.nn.TransformerEncoder"}),
    "custom_decoder": frozenset({"torch.nn.TransformerDecoder"}),
}
_MADE = frozenset({"custom_encoder", "custom_decoder"})  # the usual one, where none is given
_COPIES = frozenset({"copy.deepcopy", "deepcopy"})


def tell(modules: Modules, values: Values) -> None:
    """Give the reads of such modules in the layers of a project the classes that they may have."""
    layers = {
        cls: init for cls in modules.library.classes.values() if (init := _init(modules, cls))
    }
    built = _constructions(modules, layers.keys())
    for cls, init in layers.items():
        if not all(map(modules.is_library, modules.below(cls))):
            continue  # a class of the user's extends it
        reads = list(_open_reads(cls))
        for field, parameter in _kept(init):
            usual = _USUAL[parameter]
            held = _join(_given(init, parameter, built.get(cls, []), values), usual)
            if held is not None and parameter in _MADE:
                held = Module(held.classes | usual)
            for read in reads if held is not None else ():
                if _is_of(read, field):
                    read.value = held


def _init(modules: Modules, cls: Class) -> Function | None:
    """The constructor of a layer that is given modules."""
    init = modules.library.project.methods(cls).get("__init__")
    given = {p.name for p in init.parameters} if init is not None else set()
    return None if given.isdisjoint(_USUAL) else init


def _open_reads(cls: Class) -> Iterator[Expression]:
    for node in cls.walk():
        if isinstance(node, (Name, Attribute)) and isinstance(node.value, Module):
            if node.value.open and not node.value.is_self:
                yield node


def _constructions(modules: Modules, layers: Collection[Class]) -> dict[Class, list[Call]]:
    """The calls of a project that build these layers."""
    found: dict[Class, list[Call]] = {}
    for scope in (s for file in modules.project.ordered for s in file.scopes()):
        for call in scope.nodes(Call):
            refs = call.value.classes if isinstance(call.value, Module) else ()
            for ref in refs:
                layer = modules.library.find(ref) if isinstance(ref, str) else None
                if layer is not None and layer in layers:
                    found.setdefault(layer, []).append(call)
    return found


def _kept(init: Function) -> Iterator[tuple[str, str]]:
    """The fields in which a constructor keeps modules that it is given, or copies of them."""
    names = {p.name for p in init.parameters} & _USUAL.keys()
    for declare in init.nodes(Declare):
        value = declare.expression
        if isinstance(value, Call) and value.arguments:  # ModuleList([…])
            value = value.arguments[0]
        if isinstance(value, Comprehension):
            value = value.element
        if isinstance(value, Call) and dotted(value.function) in _COPIES:
            value = value.arguments[0]
        if isinstance(value, Name) and value.id in names:
            yield declare.name, value.id


def _given(
    init: Function, parameter: str, calls: list[Call], values: Values
) -> Iterator[object | None]:
    """What is given for a parameter; nothing where it is left out, None where that is not known."""
    at = next(i for i, p in enumerate(init.parameters[1:]) if p.name == parameter)
    for call in calls:
        if any(isinstance(argument, Starred) for argument in call.arguments):
            yield None
        elif parameter in call.keywords:
            yield values.of(call.arguments[call.keywords.index(parameter)])
        elif at < len(call.arguments) and call.keywords[at] is None:
            yield values.of(call.arguments[at])


def _join(given: Iterator[object | None], usual: frozenset[str]) -> Module | None:
    """The classes that all these may have, or the usual ones where there are none; None where one
    may have any."""
    classes: frozenset[object] = frozenset()
    for value in given:
        if isinstance(value, Static) and value.type == "None":
            continue
        if not isinstance(value, Module) or value.open or not value.classes:
            return None
        if value.items is not None or value.element is not None or value.is_self:
            return None  # a container runs what it holds
        classes |= value.classes
    return Module(classes or usual)


def _is_of(read: Expression, field: str) -> bool:
    """Whether a read is of a field, or of what a loop over one binds."""
    if isinstance(read, Attribute):
        return isinstance(read.object, Name) and read.name == field
    assert isinstance(read, Name)
    loops = (n for n in read.ancestors() if isinstance(n, For) and dotted(n.target) == read.id)
    return any(isinstance(n.iterable, Attribute) and n.iterable.name == field for n in loops)
