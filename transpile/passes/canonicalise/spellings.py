"""The spellings of one node, by its kind: which one it is, and what is written for it."""

from collections.abc import Callable, Iterator
from typing import Any

from ...model.expressions import Attribute, Call, Dictionary, Display, Subscript
from ...model.names import dotted, imported, is_target, own_names, root
from ...model.node import Node
from ...model.operators import Binary, Compare
from ...model.statements import Assign, Delete, ExpressionStatement, For
from .by_name import (
    absent,
    asked,
    by_function,
    is_cast,
    of_pair,
    plain_call,
    set_by_name,
    sets_by_method,
    spreads_name,
    stored,
    taken,
    takes_away,
    wrapped,
    wraps,
    written,
)
from .choices import (
    branch,
    by_identity,
    chooses_parameter,
    chooses_writes,
    takes_written,
    tests_none,
)
from .context import Site
from .contexts import imported_context, renames_context
from .counts import counted, counts_places, listed_range, lists_range
from .maps import listed, mapped, maps_calls
from .params import extended, grows, makes_buffer, parameter, registered
from .reductions import identity, is_left_empty, nested, nests
from .super_calls import is_long_super, names_base, short_super, through_super
from .tables import WALKS, data, is_entry, over_children, over_modules, placed, put, saved, walk

Make = Callable[[Any], Node]
Spelling = Callable[[Site, Any], Make | None]


def spelled(at: Site) -> Iterator[tuple[Node, Make]]:
    """The nodes of a scope that have such a spelling, and what each becomes."""
    for kind, spellings in _SPELLINGS.items():
        for node in at.scope.nodes(kind):
            for spelling in spellings:
                if (make := spelling(at, node)) is not None:
                    yield node, make
                    break


def _of(is_such: Callable[[Site, Any], bool], make: Make) -> Spelling:
    return lambda at, node: make if is_such(at, node) else None


def _is_alone(at: Site, statement: ExpressionStatement) -> bool:
    """A call with a comma behind it, which makes a tuple of it that nothing takes."""
    node = statement.expression
    lone = isinstance(node, Display) and node.kind == "tuple" and len(node.elements) == 1
    return lone and isinstance(node.elements[0], Call)  # type: ignore[attr-defined]


def _alone(statement: ExpressionStatement) -> ExpressionStatement:
    node = statement.expression
    node.replace(node.elements[0])  # type: ignore[attr-defined]
    return statement


def _asks_own(at: Site, call: Call) -> bool:
    """`getattr(self, "a")`"""
    named = dotted(call.function) == "getattr" and plain_call(call, 2)
    return named and dotted(call.arguments[0]) == at.own and written(call.arguments[1]) is not None


def _is_call_of(at: Site, asked: Attribute) -> bool:
    """`layer.__call__` of an object that the function has, which is what the object does."""
    first = root(asked.object) if asked.name == "__call__" and at.function is not None else None
    if first is None or dotted(asked.object) == at.own or is_target(asked):
        return False
    return first.id == at.own or first.id in own_names(at.function)  # type: ignore[arg-type]


def _is_method(call: Call, name: str) -> bool:
    return isinstance(call.function, Attribute) and call.function.name == name


def _walks_table(call: Call) -> bool:
    """`m._modules.items()`"""
    function = call.function
    if not isinstance(function, Attribute) or call.arguments or function.name not in WALKS:
        return False
    return isinstance(function.object, Attribute) and function.object.name == "_modules"


def _lists_calls(at: Site, call: Call) -> bool:
    """`list(map(self.encode, images))`"""
    listing = dotted(call.function) == "list" and plain_call(call, 1)
    return listing and maps_calls(call.arguments[0], at.own)


def _lists_operands(at: Site, call: Call) -> bool:
    """`torch.einsum("ij,ij->i", [x, y])`, which torch takes as `torch.einsum("ij,ij->i", x, y)`"""
    if not plain_call(call, 2) or not isinstance(listed := call.arguments[1], Display):
        return False
    named = imported(at.scope, call.function) in _OF_OPERANDS
    return named and listed.kind in ("list", "tuple") and bool(listed.elements)


def _loose_operands(call: Call) -> Call:
    equation, listed = call.arguments
    assert isinstance(listed, Display)
    return Call(call.function, [equation, *listed.elements])


def _joins_dicts(at: Site, node: Binary) -> bool:
    """`{"a": self.a} | {"b": self.b}`"""
    both = isinstance(node.left, Dictionary) and isinstance(node.right, Dictionary)
    return both and node.operator == "|"


def _one_dict(node: Binary) -> Dictionary:
    return Dictionary([*node.left.entries, *node.right.entries])  # type: ignore[attr-defined]


_OF_OPERANDS = ("torch.einsum", "torch.functional.einsum")

# The first that a node is, of each kind.
_SPELLINGS: dict[type[Node], tuple[Spelling, ...]] = {
    ExpressionStatement: (
        _of(lambda at, s: set_by_name(s.expression) is not None, stored),
        _of(lambda at, s: absent(s.expression) is not None, stored),
        _of(lambda at, s: wraps(at.scope, s.expression, at.own), wrapped),
        _of(lambda at, s: chooses_writes(s.expression), branch),
        _of(_is_alone, _alone),
    ),
    Compare: (_of(lambda at, c: at.function is not None and tests_none(c), by_identity),),
    Binary: (_of(_joins_dicts, _one_dict),),
    Delete: (_of(lambda at, d: at.cls is not None and takes_away(at.function, d), taken),),
    For: (_of(lambda at, loop: over_modules(loop), over_children),),
    Assign: (
        _of(lambda at, a: placed(a), put),
        _of(lambda at, a: makes_buffer(at.scope, a, at.own), registered),
        _of(lambda at, a: chooses_parameter(at.scope, a) or takes_written(a), branch),
        _of(lambda at, a: renames_context(at.scope, a), imported_context),
        _of(grows, extended),
    ),
    Subscript: (
        _of(lambda at, s: is_entry(at.scope, s), lambda s: asked(s.object.object, s.index)),
        _of(lambda at, s: saved(s) is not None, data),
        _of(lambda at, s: counts_places(at.scope, s), counted),
    ),
    Attribute: (_of(_is_call_of, lambda asked: asked.object),),
    Call: (
        _of(lambda at, c: counts_places(at.scope, c), counted),
        _of(lambda at, c: lists_range(at.scope, c), listed_range),
        _of(lambda at, c: is_cast(at.scope, c), lambda c: c.arguments[1]),
        _of(lambda at, c: nests(at.scope, c), nested),
        _of(lambda at, c: is_left_empty(at.method, c), identity),
        lambda at, c: parameter(at.scope, c),
        _of(is_long_super, short_super),
        _of(names_base, through_super),
        _of(_asks_own, lambda c: asked(c.arguments[0], c.arguments[1])),
        _of(lambda at, c: maps_calls(c, at.own), mapped),
        _of(_lists_calls, listed),
        _of(_lists_operands, _loose_operands),
        _of(
            lambda at, c: _is_method(c, "__getattr__") and plain_call(c, 1),
            lambda c: asked(c.function.object, c.arguments[0]),
        ),
        _of(lambda at, c: sets_by_method(c), by_function),
        _of(lambda at, c: _is_method(c, "add_module") and spreads_name(c), of_pair),
        _of(lambda at, c: _walks_table(c), walk),
    ),
}
