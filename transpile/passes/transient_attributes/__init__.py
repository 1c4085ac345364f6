"""An attribute that a forward pass sets for itself is no state: it is a local name.

    self.freqs = self.freqs.to(x.device)           mask = self.mask.to(x.dtype)
    self.mask = self.mask.to(x.dtype)         →    n, width = x.shape
    n, self.width = x.shape                        return (x * self.freqs + mask).view(-1, width)
    return (x * self.freqs + self.mask).view(-1, self.width)

A cast is one of each call, of the value that the model was built with, and so are a size and what
is counted, `list(range(n))`: under jit Python knows it in that call alone. So is what
`self.outputs = {}` begins anew. Where others read or set the attribute too it stays as it is: they
would not see it.

What a constructor does with them is in constructed.py.
"""

from collections.abc import Iterator
from typing import Any

from ...facts.shapes.syntactic_sizes import is_range, is_size
from ...model.constants import is_none
from ...model.expressions import Attribute, Call, Constant, Dictionary, Display
from ...model.names import dotted, everywhere, is_target, last_word
from ...model.node import Expression, Node
from ...model.operators import Compare, Conditional
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign, Block
from ...model.statements import Pass as PassStatement
from ..attribute_names import Attributes
from ..pass_ import Changes, Pass
from .constructed import as_local, fill, is_written, keep_apart, until_tensor

_CONTAINERS = frozenset("dict list set OrderedDict deque defaultdict Counter".split())
_DEVICES = frozenset(("cuda", "cpu"))
_CASTS = frozenset(("to", "type_as", "float", "double", "half", "bfloat16"))


def run(project: Project, facts: Any = None) -> list[Changes]:
    """Those of the methods of modules."""
    found, named = [], Attributes(project)
    for function in project.functions():
        cls, me = project.owner(function), project.self_name(function)
        if cls is None or me is None or not project.is_module(cls):
            continue
        changes = Changes(function)
        local: set[Node] = set()  # what one of these has given a name, the next leaves alone
        for assign in function.nodes(Assign):
            if places := until_tensor(assign, me, project):
                as_local(places[0], places[1:], changes)
                local.update(places)
        if function.name == "__init__":
            for assign in function.nodes(Assign):
                local.update(fill(assign, me, named, changes, local))
            keep_apart(function, me, named, changes, local)
            found.append(changes)
            continue
        for assign in function.nodes(Assign):
            if not isinstance(assign.parent, Block):
                continue
            moved = _moved(assign, me)
            if moved is not None and _to_device(moved) and assign.expression is moved:
                _remove(assign, changes)
                continue
            for target, given in _own(assign, me):
                if not (moved or is_size(given) or is_range(given) or is_fresh(given)):
                    continue
                reads = _reads(assign, target, function, cls, named, is_fresh(given))
                if reads or reads is not None and moved is None:
                    as_local(target, reads, changes)
        found.append(changes)
    return found


def _own(assign: Assign, me: str) -> Iterator[tuple[Attribute, Expression | None]]:
    """The attributes of self that are set, with what they are set to, or a part of:
    `n, self.width = x.shape`."""
    value = assign.expression
    for target in assign.targets if len(assign.targets) == 1 and not assign.operator else ():
        parts = target.elements if isinstance(target, Display) else [target]
        values = value.elements if isinstance(value, Display) else []
        for i, part in enumerate(parts):
            given = values[i] if len(values) == len(parts) else value
            if isinstance(part, Attribute) and dotted(part.object) == me:
                yield part, given


def is_fresh(value: Expression | None) -> bool:
    """Whether a value is a new and empty container: `{}`, which this call alone fills."""
    if isinstance(value, Call):
        word = last_word(value.function)
        given = value.arguments[word == "defaultdict" :]  # which makes what is not there
        return word in _CONTAINERS and (not given or value.keywords == ["maxlen"])
    elements = getattr(value, "entries" if isinstance(value, Dictionary) else "elements", None)
    return isinstance(value, (Dictionary, Display)) and not elements


def _moved(assign: Assign, me: str) -> Call | None:
    """`self.f.to(x)` of `self.f = self.f.to(x)`, or of `… if self.f is not None else None`."""
    target, value = assign.targets[0], assign.expression
    if len(assign.targets) != 1 or assign.operator or not isinstance(target, Attribute):
        return None
    place = dotted(target)
    if isinstance(value, Conditional) and is_none(value.orelse):
        test = value.test
        if not isinstance(test, Compare) or test.operators != ["is not"]:
            return None
        if dotted(test.operands[0]) != place or not is_none(test.operands[1]):
            return None
        value = value.body
    method = value.function if isinstance(value, Call) else None
    if not isinstance(method, Attribute) or method.name not in _CASTS | _DEVICES:
        return None
    own = place is not None and place == f"{me}.{target.name}" and dotted(method.object) == place
    return value if own else None  # type: ignore[return-value]


def _to_device(call: Call) -> bool:
    """Whether it is only told where the values lie."""
    assert isinstance(call.function, Attribute)
    if call.function.name in _DEVICES:
        return True
    words = [word or "device" for word in call.keywords]
    given = [a for a, word in zip(call.arguments, words) if word == "device"]
    named = given and all(isinstance(a, Attribute) and a.name == "device" for a in given)
    return bool(named) and set(words) <= {"device", "non_blocking"} and call.function.name == "to"


def _remove(assign: Assign, changes: Changes) -> None:
    block = assign.parent
    assert isinstance(block, Block)
    if len(block.body) == 1:
        changes.substitute(assign, [PassStatement()])
    else:
        changes.remove(assign)


def _reads(
    assign: Assign,
    target: Attribute,
    function: Function,
    cls: Class,
    named: Attributes,
    fresh: bool,
) -> list[Attribute] | None:
    """The reads behind an assignment, if they are all that is done with the attribute beside
    making it; of what is `fresh` writes in place too."""
    assert isinstance(assign.parent, Block)
    inside = set(assign.walk())
    behind = assign.parent.body[assign.parent.body.index(assign) + 1 :]
    later = {n for statement in behind for n in statement.walk()}
    here = [n for n in everywhere(function, Attribute) if n.name == target.name]
    reads = [n for n in here if n not in inside]
    if any(n not in later or _is_more(n, target, fresh) for n in reads):
        return None
    if not all(map(_declares, named.texts.get(target.name, ()))):  # `getattr(self, "mask")`
        return None
    others = (n for n in named.attributes[target.name] if n not in inside and n not in reads)
    return reads if all(_is_apart(other, cls, named.project) for other in others) else None


def _declares(name: Constant) -> bool:
    """`self.register_buffer("mask", m)`"""
    call = name.parent
    return isinstance(call, Call) and (dotted(call.function) or "").endswith(".register_buffer")


def _is_more(read: Attribute, target: Attribute, fresh: bool) -> bool:
    """Whether it is another's, is set, or is called, as a module is."""
    around = read.parent
    called = isinstance(around, Call) and around.function is read
    written = is_target(read) if fresh else is_written(read)
    return called or dotted(read) != dotted(target) or written


def _is_apart(other: Attribute, cls: Class, project: Project) -> bool:
    """Whether an attribute of this name is made in a constructor, or another class's own."""
    function: Node | None = other
    while function is not None and not (isinstance(function, Function) and function.owner):
        function = function.parent
    owner = project.owner(function) if isinstance(function, Function) else None
    if owner is None or not isinstance(function, Function):
        return False
    if dotted(other.object) != project.self_name(function):
        return False
    family = [*project.order(cls), *project.descendants(cls)]
    return owner not in family or function.name == "__init__"


PASS = Pass("transient_attributes", (), run, of_project=True)
