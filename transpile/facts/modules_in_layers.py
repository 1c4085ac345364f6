"""What torch's layers hold that are given modules: by all that a project gives to them.

nn.TransformerEncoder(nn.TransformerEncoderLayer(d, h), n)      its `block` is such a layer
Block(dim, heads, norm_layer=partial(nn.LayerNorm, eps=1e-6))   its `norm1` is a LayerNorm

So what a call of it takes and gives is known, as it is of the user's classes.
"""

import functools
from collections.abc import Iterable, Iterator

from ..model.effects import Declare, New
from ..model.expressions import Attribute, Call, Comprehension, Name, Starred
from ..model.names import dotted
from ..model.node import Expression
from ..model.operators import sides
from ..model.program import Class, Function
from ..model.statements import For
from .modules import Modules
from .values import Values
from .values.lattice import Module, Static, classes_of

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
    """Give the reads of such modules in the layers of a project the classes that they may have;
    later, in those that a dialect asks for."""
    built = _constructions(modules)
    _tell(modules, values, built, modules.library.classes.values())
    modules.library.on_arrival = functools.partial(_tell, modules, values, built)


def _tell(
    modules: Modules, values: Values, built: dict[Class, list[Call]], classes: Iterable[Class]
) -> None:
    methods, here = modules.library.project.methods, modules.library.classes.values()
    inits = {cls: init for cls in here if (init := methods(cls).get("__init__"))}
    given = _GivenClasses(modules, values, inits, built)
    for cls, init in ((cls, inits[cls]) for cls in dict.fromkeys(classes) if cls in inits):
        reads = modules.library.open.get(cls)
        if not reads or not all(map(modules.is_library, modules.below(cls))):
            continue  # a class of the user's extends it
        for declare in init.nodes(Declare):
            made = given.made(cls, declare)
            for read in reads if made is not None else ():
                if _is_of(read, declare.name):
                    read.value = made
        for field, parameter in _kept(init):
            usual = _USUAL[parameter]
            held = _join(_given(init, parameter, built.get(cls, []), values), usual)
            if held is not None and parameter in _MADE:
                held = Module(held.classes | usual)
            for read in reads if held is not None else ():
                if _is_of(read, field):
                    read.value = held


class _GivenClasses:
    """What classes of layers are given to those that make layers of them: `norm_layer`."""

    def __init__(
        self,
        modules: Modules,
        values: Values,
        inits: dict[Class, Function],
        built: dict[Class, list[Call]],
    ) -> None:
        self.modules, self.values, self.inits, self.built = modules, values, inits, built
        self.inside: dict[Class, list[tuple[Class, New]]] = {}  # which of them build which
        for cls, init in inits.items():
            for new in init.nodes(New):
                for ref in new.value.classes if isinstance(new.value, Module) else ():
                    self.inside.setdefault(ref, []).append((cls, new))

    def made(self, cls: Class, declare: Declare) -> Module | None:
        """The classes that a field may have: `norm_layer(dim) if norm else Identity()`."""
        found: set[object] = set()
        for side in sides(declare.expression) if declare.expression is not None else ():
            value = side.value
            if not isinstance(side, New) or not isinstance(value, Module):
                return None
            name = dotted(side.function) or ""
            asked = any(p.name == name for p in self.inits[cls].parameters)
            classes = self.given(cls, name, value.classes) if asked else value.classes
            if classes is None or value.open and not asked:
                return None
            found |= classes
        return Module(frozenset(found)) if found else None

    def given(
        self, cls: Class, parameter: str, usual: frozenset[object]
    ) -> frozenset[object] | None:
        """The classes that a project gives for a parameter, by way of other layers too; None where
        one may be any."""
        init, found = self.inits[cls], set[object]()
        calls = [(None, call) for call in self.built.get(cls, [])] + self.inside.get(cls, [])
        for around, call in calls:
            if around is not None and not self._is_built(around):
                continue
            argument = _argument(init, parameter, call)
            if argument is None:
                found |= usual
            elif around is not None and isinstance(argument, Name):
                classes = self.given(around, argument.id, usual)
                if classes is None:
                    return None
                found |= classes
            else:
                classes = classes_of(self.values.of(argument))
                if not classes or isinstance(argument, Starred):
                    return None
                found |= classes
        return frozenset(found) or usual

    def _is_built(self, cls: Class) -> bool:
        inside = (around for around, _ in self.inside.get(cls, []))
        return cls in self.built or any(map(self._is_built, inside))


def open_reads(cls: Class) -> Iterator[Expression]:
    """The reads in a class of modules that may be others than those known."""
    for node in cls.walk():
        if isinstance(node, (Name, Attribute)) and isinstance(node.value, Module):
            if node.value.open and not node.value.is_self:
                yield node


def _constructions(modules: Modules) -> dict[Class, list[Call]]:
    """The calls of a project that build layers."""
    found: dict[Class, list[Call]] = {}
    for scope in (s for file in modules.project.ordered for s in file.scopes()):
        for call in scope.nodes(Call):
            refs = call.value.classes if isinstance(call.value, Module) else ()
            for ref in refs:
                layer = modules.library.find(ref) if isinstance(ref, str) else None
                if layer is not None:
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
    for call in calls:
        argument = _argument(init, parameter, call)
        if argument is not None:
            yield None if isinstance(argument, Starred) else values.of(argument)


def _argument(init: Function, parameter: str, call: Call) -> Expression | None:
    """What a call gives for a parameter; a starred one may be it."""
    at = next(i for i, p in enumerate(init.parameters[1:]) if p.name == parameter)
    starred = next((a for a in call.arguments if isinstance(a, Starred)), None)
    if starred is not None or parameter in call.keywords:
        return starred or call.keyword(parameter)
    places = call.arguments[at : at + 1] if at < len(call.arguments) else []
    return next((a for a in places if call.keywords[at] is None), None)


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
