"""Modules of a dict that a ModuleList registers stand in the list; the dict has their places.

    self.convs = OrderedDict()                        self.convs = OrderedDict()
    for i in range(5):                                self.decoder = nn.ModuleList()
        self.convs["up", i] = Conv(i)                 for i in range(5):
    self.decoder = nn.ModuleList(                         self.convs["up", i] = len(self.decoder)
        list(self.convs.values()))             →          self.decoder.append(Conv(i))
    …                                                 …
    x = self.convs["up", 3](x)                        x = self.decoder[self.convs["up", 3]](x)

Torch names their params by the list, and keys that are no strings are none of a ModuleDict. It is
done on syntax alone; a dict that is known elsewhere stays as it is. What goes over its values goes
over the list, `zip(self.convs, self.decoder)` with their names.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..model.copy import clone
from ..model.expressions import (
    Attribute,
    Call,
    Constant,
    Dictionary,
    Display,
    ForClause,
    Name,
    Subscript,
)
from ..model.names import dotted, everywhere, imported, is_target, last_word
from ..model.node import Expression, Node
from ..model.operators import Compare
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign, Block, ExpressionStatement, For
from .pass_ import Changes, Pass

_LIST = frozenset(("torch.nn.ModuleList", "torch.nn.modules.ModuleList"))


@dataclass
class _Held:
    """A dict of modules of one class: where it begins, and the list that registers them."""

    begins: Assign
    registers: Assign

    @property
    def dict(self) -> Attribute:
        return self.begins.targets[0]  # type: ignore[return-value]

    @property
    def list(self) -> Attribute:
        return self.registers.targets[0]  # type: ignore[return-value]


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The dicts of all classes."""
    found: dict[Function, Changes] = {}
    for cls in project.classes():
        constructor = project.methods(cls).get("__init__")
        for held in _found(constructor) if constructor is not None else ():
            uses = _uses(project, cls, held)
            if uses is not None and constructor is not None:
                _begin(found.setdefault(constructor, Changes(constructor)), held)
            for use in uses or ():
                function = next(n for n in use.ancestors() if isinstance(n, Function))
                _change(found.setdefault(function, Changes(function)), held, use)
    return list(found.values())


def _found(constructor: Function) -> Iterator[_Held]:
    assigns = [s for s in constructor.body.body if isinstance(s, Assign) and _is_own(s)]
    begun = {dotted(s.targets[0]): s for s in assigns if _is_dict(s.expression)}
    for statement in assigns:
        value = statement.expression
        if isinstance(value, Call) and imported(constructor, value.function) in _LIST:
            of = _values_of(value.arguments[0]) if len(value.arguments) == 1 else None
            if of in begun and begun[of].start < statement.start:
                yield _Held(begun[of], statement)


def _is_own(assign: Assign) -> bool:
    single = len(assign.targets) == 1 and not assign.operator and isinstance(assign.parent, Block)
    return single and isinstance(assign.targets[0], Attribute)


def _is_dict(value: Expression | None) -> bool:
    """`{}`, `OrderedDict()`, `{"up": Conv(1)}`"""
    if isinstance(value, Call):
        word = last_word(value.function)
        return word in ("dict", "OrderedDict") and not value.arguments
    return isinstance(value, Dictionary) and None not in value.entries


def _values_of(value: Expression) -> str | None:
    """The dict of `list(self.convs.values())`."""
    if isinstance(value, Call) and dotted(value.function) in ("list", "tuple"):
        return _values_of(value.arguments[0]) if len(value.arguments) == 1 else None
    method = value.function if isinstance(value, Call) and not value.arguments else None
    if not isinstance(method, Attribute) or method.name != "values":
        return None
    return dotted(method.object)


def _uses(project: Project, cls: Class, held: _Held) -> list[Node] | None:
    """The reads and stores of entries; None where more is done with the dict."""
    found: list[Node] = []
    for file in project.ordered:
        for node in everywhere(file, Attribute):
            if node.name != held.dict.name or node is held.dict or _is_apart(project, cls, node):
                continue
            if any(around is held.registers for around in node.ancestors()):
                continue
            use = _use(node, held)
            if use is None:
                return None
            found += [use] if isinstance(use, Node) else []
    begun = isinstance(held.begins.expression, Dictionary) and held.begins.expression.entries
    return found if begun or any(isinstance(use, Assign) for use in found) else None


def _is_apart(project: Project, cls: Class, node: Attribute) -> bool:
    """Whether it is the own attribute of a class that has nothing to do with this one."""
    function = node.nearest(Function)
    owner = project.owner(function) if function is not None else None
    if function is None or owner is None or dotted(node.object) != project.self_name(function):
        return False
    return owner not in project.family(cls)


def _use(node: Attribute, held: _Held) -> Node | bool | None:
    """An entry that is read, the statement that sets one, or the call that gives them all; True
    where only its keys are asked; None of other uses."""
    around = node.parent
    if isinstance(around, Subscript) and around.object is node:
        if not is_target(around):
            return around
        assign = around.parent
        built = isinstance(assign, Assign) and assign.start < held.registers.start
        inside = any(n is held.begins.parent for n in node.ancestors())
        plain = isinstance(assign, Assign) and len(assign.targets) == 1 and not assign.operator
        if isinstance(assign, Assign) and built and inside and plain:
            return assign if isinstance(assign.parent, Block) else None
        return None
    counted = isinstance(around, Call) and dotted(around.function) == "len"
    keys = isinstance(around, Attribute) and around.name == "keys"
    asked = isinstance(around, Compare) and around.operators in (["in"], ["not in"])
    asked = asked and around.operands[1] is node  # type: ignore[union-attr]
    turned = isinstance(around, (For, ForClause)) and around.iterable is node
    call = around.parent if isinstance(around, Attribute) else None
    if isinstance(call, Call) and around.name in ("values", "items"):  # type: ignore[union-attr]
        return call
    return True if counted or keys or asked or turned else None


def _begin(changes: Changes, held: _Held) -> None:
    """The list begins beside the dict."""
    assert isinstance(held.registers.expression, Call)
    begun = held.begins.expression
    values = [value for _, value in begun.pairs] if isinstance(begun, Dictionary) else []
    made = [Display("list", map(clone, values))] if values else []
    started = Call(clone(held.registers.expression.function), made)
    changes.insert_after(held.begins, [Assign([clone(held.list)], started)])
    for i, value in enumerate(values):
        changes.replace(value, Constant(i))
    changes.remove(held.registers)


def _change(changes: Changes, held: _Held, use: Node) -> None:
    if isinstance(use, Assign):
        assert use.expression is not None
        grown = Call(Attribute(clone(held.list), "append"), [clone(use.expression)])
        place = Assign([clone(use.targets[0])], Call(Name("len"), [clone(held.list)]))
        changes.substitute(use, [place, ExpressionStatement(grown)])
    elif isinstance(use, Subscript):
        changes.wrap(use, lambda use: Subscript(clone(held.list), use))
    elif isinstance(use, Call) and dotted(use.function) == f"{dotted(held.dict)}.values":
        changes.replace(use, clone(held.list))
    else:
        changes.replace(use, Call(Name("zip"), [clone(held.dict), clone(held.list)]))


PASS = Pass("registered_dicts", (), run, of_project=True)
