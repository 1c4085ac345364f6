"""Lists of Python's with modules in them, and what makes one grow: `self.fcs.append(fc)`."""

import keyword
from collections.abc import Iterator
from typing import NamedTuple

from ...facts.modules import SUBMODULE, Modules
from ...facts.values.lattice import Mapping, Module, Sequence, Value, is_param, is_traced
from ...model.copy import clone
from ...model.edits import block_of, leave_out
from ...model.effects import Declare, New, NewArray
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    Name,
    Slice,
    Subscript,
)
from ...model.names import dotted, is_name
from ...model.node import Expression, Statement
from ...model.program import Function
from ...model.project import Project
from ...model.statements import Assign, ExpressionStatement

MAKING = frozenset("dict list tuple OrderedDict collections.OrderedDict".split())
_GROWING = frozenset("append insert extend pop remove update setdefault clear".split())


def holds_modules(value: Value | None) -> bool:
    """Whether a list or dict has modules, or params."""
    return any(is_trained(part) or holds_modules(part) for part in _parts(value))


def holds_arrays(value: Value | None) -> bool:
    """Whether a list or dict is certain to have arrays of JAX's that are no params."""
    return any(is_array(part) or holds_arrays(part) for part in _parts(value))


def is_array(value: Value | None) -> bool:
    """Whether it is certain to be an array of JAX's, and no param."""
    traced = value is not None and is_traced(value)
    return traced and not is_param(value) and not value.host  # type: ignore[union-attr]


def _parts(value: Value | None) -> tuple[Value, ...]:
    if not isinstance(value, (Sequence, Mapping)):
        return ()
    return value.element, *(getattr(value, "items", None) or ())


def is_trained(value: Value | None) -> bool:
    """Whether it is a module, or a param."""
    return isinstance(value, Module) or is_param(value)


def added(statement: Statement) -> list[Expression]:
    """What a statement puts into a list."""
    value: Expression | None = None
    if isinstance(statement, Assign):
        value = statement.expression
    elif isinstance(statement, ExpressionStatement) and isinstance(statement.expression, Call):
        value = statement.expression.arguments[-1] if statement.expression.arguments else None
        if getattr(statement.expression.function, "name", "") in ("append", "insert"):
            return [value] if value is not None else []
    if isinstance(value, Display):
        return value.elements
    return [value] if value is not None else []


class Entry(NamedTuple):
    """What is put into a list, or under a key into a dict."""

    key: Expression | None
    value: Expression


def entries(statement: Statement) -> list[Entry] | None:
    """What a statement puts into a list or dict, as far as it says so itself."""
    if not isinstance(statement, Assign) or statement.operator:
        return [Entry(None, value) for value in added(statement)]
    target, value = statement.targets[0], statement.expression
    if value is not None and isinstance(target, Subscript):
        return [Entry(target.index, value)]
    if value is None or not is_dict(value):
        return [Entry(None, value) for value in added(statement)]
    if isinstance(value, Call):
        return None if value.arguments else []
    pairs = value.pairs if isinstance(value, Dictionary) else [(None, value)]
    found = [Entry(key, value) for key, value in pairs]
    return None if any(entry.key is None for entry in found) else found


def is_dict(value: Expression) -> bool:
    """Whether what is written out is a dict."""
    if isinstance(value, Call):
        return (dotted(value.function) or "").rpartition(".")[2] in ("dict", "OrderedDict")
    return (
        isinstance(value, Dictionary) or isinstance(value, Comprehension) and value.kind == "dict"
    )


def leaves(statement: Statement) -> Iterator[Expression]:
    """All that a statement puts into a list, out of the lists and dicts in it."""
    inside = [*added(statement)]
    while inside:
        value = inside.pop(0)
        if isinstance(value, (Display, Dictionary)) or is_list(value) and isinstance(value, Call):
            inside[:0] = [n for n in value.children() if isinstance(n, Expression)]
        else:
            yield value


def is_first(statement: Statement) -> bool:
    """`fcs.insert(0, fc)`"""
    call = statement.expression if isinstance(statement, ExpressionStatement) else None
    return isinstance(call, Call) and getattr(call.function, "name", "") == "insert"


def is_plain(statement: Statement) -> bool:
    """Whether what a statement puts into a list is written out: `append(fc)`, `+= [a, b]`."""
    if isinstance(statement, Assign):
        item = any(isinstance(t, Subscript) for t in statement.targets)
        single = len(statement.targets) == 1 and not statement.operator
        return single if item else statement.operator in ("", "+")
    call = statement.expression if isinstance(statement, ExpressionStatement) else None
    if not isinstance(call, Call) or any(call.keywords):
        return False
    word, given = getattr(call.function, "name", ""), call.arguments
    if word == "insert":
        return len(given) == 2 and isinstance(given[0], Constant) and given[0].constant == 0
    return word == "append" or word == "extend" and isinstance(given[0], Display)


def grown(method: Function, path: str) -> Iterator[Statement]:
    """The statements of a method that change a list."""
    for node in method.body.walk():
        if isinstance(node, Assign):
            items = [t.object for t in node.targets if isinstance(t, Subscript)]
            changed = items if not node.operator else [*items, *node.targets]
            if path in map(dotted, changed):
                yield node
        elif isinstance(node, ExpressionStatement) and isinstance(node.expression, Call):
            function = node.expression.function
            if isinstance(function, Attribute) and function.name in _GROWING:
                if dotted(function.object) == path:
                    yield node


def is_list(value: Expression | None) -> bool:
    """Whether a list or dict is written out."""
    made = isinstance(value, Call) and dotted(value.function) in MAKING
    return made or isinstance(value, (Display, Dictionary, Comprehension))


def kept_list(value: Expression) -> str | None:
    """The list that is kept: `fcs`, or turned around, `fcs[::-1]`."""
    if isinstance(value, Subscript) and isinstance(value.index, Slice):
        value = value.object
    return value.id if isinstance(value, Name) else None


def register_first(project: Project, modules: Modules) -> None:
    """Let a list that becomes a ModuleList of itself, once it is full, be one from the start."""
    for cls, constructor in modules.constructors():
        for declare in list(constructor.nodes(Declare)):
            new, path = declare.expression, dotted(declare.targets[0])
            if not isinstance(new, New) or [*map(dotted, new.arguments)] != [path]:
                continue
            if getattr(new.function, "name", "") != "ModuleList" or path is None:
                continue
            values = modules.own_fields(cls)[declare.name].values
            empty = [v for v in values if isinstance(v, Display) and not v.elements]
            first = empty[0].parent if len(values) == 2 and empty else None
            if isinstance(first, Assign) and first.parent is declare.parent:
                new.remove(new.arguments[0])
                leave_out(declare)
                made = Declare(clone(declare.targets[0]), new, SUBMODULE, declare.name)
                block_of(first).substitute(first, [made])


# --- under computed names -------------------------------------------------------------------------


def sets(method: Function) -> list[tuple[ExpressionStatement, Call]]:
    """The calls of a method that set a module under a computed name on self."""
    me = method.receiver
    found = []
    for statement in method.nodes(ExpressionStatement):
        call = statement.expression
        if not isinstance(call, Call) or not is_name(call.function, "setattr"):
            continue
        if len(call.arguments) != 3 or not is_name(call.arguments[0], me):
            continue
        name = call.arguments[1]
        array = any(isinstance(n, NewArray) for n in call.arguments[2].walk())
        if not array and not (isinstance(name, Constant) and _is_identifier(str(name.constant))):
            found.append((statement, call))
    return found


def _is_identifier(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def is_fixed(name: Expression) -> bool:
    """Whether an expression for a name is the same text when it is evaluated again."""
    calls = [n for n in name.walk() if isinstance(n, Call)]
    return all(getattr(c.function, "name", dotted(c.function)) in ("format", "str") for c in calls)


def is_part_of_list(node: Expression) -> bool:
    """`self.layers[1:]` of a ModuleList: in torch a list of its own, which is numbered anew."""
    held = node.object.value if isinstance(node, Subscript) else None
    listed = isinstance(held, Module) and held.classes == {"torch.nn.ModuleList"}
    return listed and isinstance(node.index, Slice)  # type: ignore[attr-defined]
