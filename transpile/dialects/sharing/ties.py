"""Arrays that are others' in a module: `self.head.weight = self.tokens.weight`, `self.w = self.p`.

The owner has the array, the other side is built without it, and what runs with it is given the
owner's: where a tie is under a condition, what lacks the array when the model is called is tied.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ...facts.memory.indices import number
from ...facts.modules import Modules
from ...facts.values.lattice import BOOL, Module, Tensor
from ...model.constants import is_none
from ...model.copy import clone
from ...model.effects import PARAM, BoundMethod, Declare, Read, Tie, Write
from ...model.expressions import Attribute, Call, Constant, Subscript
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Compare
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Block, If
from ...source.lower_ast import expression

UNSEEN = (
    "whether, or to what, this array is tied is not seen from the model when it is called: tie it "
    "on all ways, and by plain paths"
)


def guard(project: Project) -> None:
    """Let what goes over modules, as `self.apply(begin)`, leave out the arrays that are tied by
    then: `if m.weight is not None: m.weight = …`. Their owner has been given its values."""
    functions = list(project.functions())
    ties = [tie for f in functions for tie in f.nodes(Tie)]
    names = {tie.target.name for tie in ties}
    for function in functions if names else ():
        if _runs_before(function, ties, functions):
            continue
        me = function.receiver if function.owner else ""
        for write in list(function.nodes(Write)):
            target, block = write.target, write.parent
            if not isinstance(target, Read) or target.kind != PARAM or target.name not in names:
                continue
            if below(target.object, me) is not None or dotted(target.object) is None:
                continue
            assert isinstance(block, Block)
            asked = Read(clone(target.object), target.name, PARAM)
            asked.value = Tensor(param=True, none=True)
            test = Compare([asked, Constant(None)], ["is not"])
            test.value = BOOL
            block.substitute(write, [If(test, Block([clone(write)]))])


def _runs_before(function: Function, ties: list[Tie], functions: list[Function]) -> bool:
    """Whether only the constructor that ties all arrays runs a method, and before it does:
    `self.apply(self.begin)`, and then `self.head.weight = self.tokens.weight`."""
    tying = {tie.nearest(Function) for tie in ties}
    init = tying.pop() if len(tying) == 1 else None
    if init is None or function.owner is None or init.owner is not function.owner:
        return False
    order = {node: i for i, node in enumerate(init.walk())}
    first = min(order[tie] for tie in ties)
    named = (n for f in functions for n in f.nodes(Attribute, BoundMethod))
    uses = [n for n in named if n.name == function.name]
    return bool(uses) and all(order.get(use, first) < first for use in uses)


class Tied(NamedTuple):
    """An array that is another's, by paths below `self`; `always`, or under some configuration."""

    holder: str
    array: str
    source: str  # as it was written; the owner's own array may be tied itself
    owner: str
    always: bool

    @property
    def path(self) -> str:
        return f"{self.holder}.{self.array}" if self.holder else self.array

    @property
    def container(self) -> str | None:
        """The path of what holds one under a number."""
        found = re.search(r"(.*?)\.\d+\b", self.holder)
        return found and found[1]

    def owned(self, me: str) -> Expression:
        """The owner's, as an attribute: `self.blocks[0].weight`."""
        return expression(re.sub(r"\.(\d+)\b", r"[\1]", f"{me}.{self.owner}"))


class Ties:
    """Those of one class, and of those that it inherits from, the last tie last."""

    def __init__(self, found: Iterable[Tied] = ()) -> None:
        self._found = list({tied.path: tied for tied in found}.values())

    def of(self, holder: str | None) -> list[Tied]:
        """The tied arrays that the module at a path has itself."""
        return [tied for tied in self._found if tied.holder == holder]

    def below(self, path: str) -> list[Tied]:
        """Those of the modules below a path."""
        return [tied for tied in self._found if tied.holder.startswith(f"{path}.")]

    def within(self, path: str) -> bool:
        """Whether the module at a path, or one below it, has a tied array."""
        return any(f"{tied.holder}.".startswith(path and f"{path}.") for tied in self._found)

    def array(self, holder: str | None, name: str) -> Tied | None:
        """Whose an array of a module is."""
        return next((tied for tied in self.of(holder) if tied.array == name), None)


class ProgramTies:
    """Those of a program's classes."""

    def __init__(
        self, methods: Mapping[Class, Iterable[Function]], modules: Modules, items: bool = True
    ) -> None:
        """`items`: whether what stands in a container under a number may be without its array."""
        self.modules = modules
        self._own: dict[Class, list[Tied]] = {}
        self._met: dict[Class, Ties] = {}
        owners: dict[tuple[Class, str], str] = {}
        everywhere = [m for several in methods.values() for m in several]
        for cls in sorted(methods, key=lambda cls: len(modules.lineage(cls))):
            self._own[cls] = []
            for tied in _ties(methods[cls], modules):
                if tied.container and not (items and _by_number(tied.container, everywhere)):
                    continue
                above = {owners.get((c, tied.path), tied.owner) for c in modules.lineage(cls)[1:]}
                if above <= {tied.owner}:  # else it is another's in what the classes above run
                    self._own[cls].append(tied)
                    owners[cls, tied.path] = tied.owner

    def knows(self, tie: Tie, cls: Class | None, me: str | None) -> bool:
        """Whether both sides of one are known when the model is called."""
        said = _plain(tie, me, False)
        own = self._own.get(cls, ()) if cls is not None else ()
        return said is not None and (said.path, said.source) in {(t.path, t.source) for t in own}

    def of(self, cls: Class | None) -> Ties:
        """What a method of a class may meet: `self` may be of a class below."""
        if cls is None:
            return Ties()
        if cls not in self._met:
            lineage, below = reversed(self.modules.lineage(cls)), self.modules.below(cls)
            self._met[cls] = Ties(
                [t._replace(always=False) for one in below for t in self._own.get(one, ())]
                + [t for one in lineage for t in self._own.get(one, ())]
            )
        return self._met[cls]


def _ties(methods: Iterable[Function], modules: Modules) -> Iterator[Tied]:
    """The ties of a class's methods whose both sides are known when the model is called."""
    found = [(tie, tied) for m in methods for tie in m.nodes(Tie) if (tied := _said(tie, m))]
    owners: dict[str, set[str]] = {}
    for _, tied in found:
        owners.setdefault(tied.path, set()).add(tied.owner)
    settled: dict[str, str] = {}
    for tie, tied in found:
        untied = may_lack(tie, modules) and not _is_handed(tie, modules)
        if not tied.always and (len(owners[tied.path]) > 1 or untied):
            continue  # it is not seen from the model what it was tied to, or that it was
        if tied.owner in owners and tied.owner not in settled:
            continue  # the owner has another one on some ways
        if tied.always:
            settled[tied.path] = settled.get(tied.owner, tied.owner)
        yield tied._replace(owner=settled.get(tied.owner, tied.owner))


def _by_number(container: str, methods: Iterable[Function]) -> bool:
    """Whether no loop goes over a container: it is called, or asked for an item by its number."""
    name = container.rpartition(".")[2]
    for node in (n for m in methods for n in m.nodes(Attribute) if n.name == name):
        around = node.parent
        called = isinstance(around, Call) and around.function is node
        if not called and not (isinstance(around, Subscript) and number(around.index) is not None):
            if not (isinstance(around, Declare) and node in around.targets):
                return False
    return True


def _said(tie: Tie, method: Function) -> Tied | None:
    me = method.receiver
    return _plain(tie, me, method.name == "__init__" and tie.parent is method.body)


def _plain(tie: Tie, me: str | None, always: bool) -> Tied | None:
    holder, owner = below(tie.target.object, me), below(tie.source.object, me)
    if holder is None or owner is None:
        return None
    path = f"{owner}.{tie.source.name}" if owner else tie.source.name
    return Tied(holder, tie.target.name, path, path, always)


def may_lack(tie: Tie, modules: Modules) -> bool:
    """Whether a module may be without the array if not tied, as `Linear(d, d, bias=False)`."""
    value = tie.target.object.value
    if not isinstance(value, Module):
        return True
    classes = [] if value.open and not value.is_self else modules.classes_of(value.refs)
    if isinstance(tie.source.value, Module):
        return False  # all arrays of one that it was given
    arrays = [modules.arrays(cls).get(tie.target.name) for cls in classes]
    # what `self` alone gets by the tie is read only where it was tied
    return not classes or any(not value.is_self if a is None else a.optional for a in arrays)


def _is_handed(tie: Tie, modules: Modules) -> bool:
    """Whether all constructions of a module hand it the array, in the place of which a pass has
    left None (`shared_weights`): `self.head = Head(self.embed.weight)`."""
    classes = modules.classes_of_value(tie.target.object.value)
    fields = [modules.fields(cls).get(tie.target.name) for cls in classes]
    handed = (f is not None and all(is_none(v) and v.start < 0 for v in f.values) for f in fields)
    return bool(fields) and all(handed)


def below(module: Node | None, me: str | None) -> str | None:
    """`blocks.head` of `self.blocks.head`, `logits.1` of `self.logits[-1]` where its items are
    known, nothing of `self`; None for what is no such path."""
    if isinstance(module, Subscript):
        held, index, value = below(module.object, me), number(module.index), module.object.value
        names = [name for name, _ in value.items or ()] if isinstance(value, Module) else []
        if not held or index is None or not -len(names) <= index < len(names):
            return None
        return f"{held}.{names[index]}" if names[index] == str(index % len(names)) else None
    first, _, rest = (dotted(module) or "").partition(".")
    return rest if first and first == me else None


def run_by(call: Call) -> Expression:
    """The module that a call runs, or whose method it runs."""
    function = call.function
    is_method = isinstance(function, Attribute) and not isinstance(function.value, Module)
    return function.object if is_method else function  # type: ignore[attr-defined]
