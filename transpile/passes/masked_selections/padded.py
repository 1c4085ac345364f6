"""Rows that are chosen by indices and written back to their places may be as many as there can be.

    rows, nth = torch.where(chosen == i)
    out[rows] += weights[rows, nth, None] * expert(x[rows])

The indices are filled up with places that are none: read there, an array gives some row of its
own, and what is stored there is dropped. Between the two each row must be computed by itself, and
nothing else may be asked of them than whether there are any.
"""

import functools
from typing import Any

from ...facts.bindings import read
from ...facts.memory.access_paths import of
from ...facts.memory.indices import number
from ...facts.program import ProgramFacts
from ...facts.rowwise import Rowwise
from ...facts.values.lattice import External, Method, Module, Static, Torch
from ...model.constants import is_constant, is_none
from ...model.expressions import Attribute, Call, Display, Name, Slice, Subscript
from ...model.names import below, bound_once, index_parts, names_assigned, target_names
from ...model.node import Expression, Statement
from ...model.operators import Compare
from ...model.program import Function, Scope
from ...model.statements import Assign, Block, Continue, ExpressionStatement, If
from ..pass_ import Changes
from .frame import Tables
from .masks import of_torch

_EAGER = ("building", "host", "import")
_STORING = frozenset({"index_add", "index_add_", "index_copy", "index_copy_"})
_ALONG = frozenset({"scatter_", "scatter_add_"})
_MAKING = frozenset({"zeros", "ones"})
_BY_ROWS = "this is taken to compute each row by itself: it is given more rows than are chosen"


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """Fill up the indices of a traced function that serve to choose rows and to write them."""
    changes = Changes(scope)
    if not isinstance(scope, Function) or facts.stage(scope) in _EAGER:
        return changes
    for node in scope.nodes(Assign):
        made = node.expression
        if isinstance(made, Subscript) and number(made.index) is not None:
            made = made.object  # `rows = torch.where(c)[0]`
        elif isinstance(node.targets[0], Name):
            continue  # a tuple under one name
        asked = _asked(made) if len(node.targets) == 1 else None
        if made is None or asked is None:
            continue
        rows = Rows(scope, facts, node)
        if rows.are_written_back():
            for call in rows.given:
                changes.report("taken-for-granted", call, _BY_ROWS)
            changes.replace(made, functools.partial(_padded, asked))
    return changes


def _asked(node: Any) -> Expression | None:
    """The condition of `torch.where(c)`, `torch.nonzero(c, as_tuple=True)`, `c.nonzero(…)`."""
    if not isinstance(node, Call):
        return None
    value, found = of(node.function), node.arguments
    name = value.name.rpartition(".")[2] if isinstance(value, (Torch, Method)) else ""
    if isinstance(value, Torch) and name == "where" and len(found) == 1:
        return found[0]
    as_tuple = node.keyword("as_tuple")
    if name != "nonzero" or getattr(as_tuple, "constant", None) is not True:
        return None
    if isinstance(value, Method) and len(found) == 1:
        return node.function.object  # type: ignore[attr-defined,no-any-return]
    return found[0] if isinstance(value, Torch) and len(found) == 2 else None


def _padded(condition: Expression, _: Expression) -> Expression:
    return of_torch("where", [condition], "[padded]")


class Rows:
    """What is made of the indices that one statement binds."""

    def __init__(self, scope: Function, facts: ProgramFacts, start: Assign) -> None:
        kinds = Tables.of(facts.rulebook).elementwise
        self.rowwise = Rowwise(facts.project, facts.rulebook, kinds)
        self.scope, self.start = scope, start
        self.indices = set(target_names(start.targets[0]))
        self.names: set[str] = set()  # what holds a value for each row, where we are
        self.had: set[str] = set()  # what has done so
        self.others: set[str] = set()  # what was read while it did not
        self.stored = False
        self.given: list[Expression] = []  # modules of any class, which are taken to go by rows

    def are_written_back(self) -> bool:
        """Whether all that comes of the indices is stored at their places."""
        block = self.start.parent
        if not self.indices <= bound_once(self.scope) or not isinstance(block, Block):
            return False
        after = block.body[block.body.index(self.start) + 1 :]
        if not all(map(self._fits, after)) or self.had & self.others:
            return False
        known = self.indices | self.had
        inside = {n for s in (self.start, *after) for n in below(s, Name)}
        return self.stored and all(
            n.id not in known or n in inside for n in below(self.scope, Name)
        )

    def _concerns(self, *nodes: Expression | Statement | None) -> bool:
        return any(not (self.indices | self.names).isdisjoint(read(node)) for node in nodes if node)

    def _fits(self, node: Statement) -> bool:
        """Whether a statement does to the rows that there are what it does to them in torch."""
        if not self._concerns(node):
            self.others |= set(read(node))
            self.names -= set(names_assigned(node))
            return True
        head = node.test if isinstance(node, If) else node
        self.others |= set(read(head)) - self.names - self.indices
        if isinstance(node, If):
            leaves = len(node.body.body) == 1 and isinstance(node.body.body[0], Continue)
            if node.orelse is not None or not self._asks_for_any(node.test, empty=leaves):
                return False
            return leaves or all(self._fits(statement) for statement in node.body.body)
        if isinstance(node, ExpressionStatement):
            return self._is_store(node.expression)
        if not isinstance(node, Assign) or len(node.targets) != 1 or node.expression is None:
            return False
        target = node.targets[0]
        if isinstance(target, Subscript):
            fits = self._is_chosen(target) and self._is_rows(node.expression)
            self.stored |= fits
            return fits
        if not isinstance(target, Name) or node.operator:
            return False
        if self._is_store(node.expression):
            return True
        if not self._is_rows(node.expression):
            return False
        self.names.add(target.id)
        self.had.add(target.id)
        return True

    def _asks_for_any(self, test: Expression, empty: bool) -> bool:
        """`rows.numel() > 0`, or, of what is left out, `len(rows) == 0`."""
        if not isinstance(test, Compare) or len(test.operands) != 2 or number(test.operands[1]):
            return False
        words = ("==",) if empty else (">", "!=")
        return test.operators[0] in words and self._is_count(test.operands[0])

    def _is_count(self, node: Expression) -> bool:
        if isinstance(node, Subscript) and number(node.index) == 0:
            held: Expression = node.object
            if isinstance(held, Call) and not held.arguments:
                held = held.function  # `rows.size()[0]`
            asked = isinstance(held, Attribute) and held.name in ("shape", "size")
            return asked and self._is_index(held.object)  # type: ignore[attr-defined]
        if not isinstance(node, Call):
            return False
        if of(node.function) == External("builtins.len"):
            return self._is_index(node.arguments[0])
        function = node.function
        asked = isinstance(function, Attribute) and function.name in ("numel", "nelement", "size")
        whole = not node.arguments or number(node.arguments[0]) == 0
        return asked and whole and self._is_index(function.object)  # type: ignore[attr-defined]

    def _is_index(self, node: Expression) -> bool:
        return isinstance(node, Name) and node.id in self.indices

    # --- rows ------------------------------------------------------------------------------------

    def _is_store(self, node: Expression) -> bool:
        """`out.index_add_(0, rows, y)`"""
        if not isinstance(node, Call) or not isinstance(node.function, Attribute):
            return False
        value, given = of(node.function), node.arguments
        known = isinstance(value, Method) and value.name in _STORING and len(given) == 3
        if isinstance(value, Method) and value.name in _ALONG and len(given) == 3:
            return self._is_along(node.function, given)
        if not known or any(node.keywords) or number(given[0]) != 0:
            return False
        plain = not self._concerns(node.function.object)
        fits = plain and self._is_index(given[1]) and self._is_rows(given[2])
        self.stored |= fits
        return fits

    def _is_along(self, function: Attribute, given: list[Expression]) -> bool:
        """`hot.scatter_(1, labels[rows, None], 1)`: each row in place, by its own index."""
        held, dim = function.object, number(given[0])
        mine = isinstance(held, Name) and held.id in self.names and dim is not None and dim > 0
        fits = self._is_rows(given[1]) and (not self._concerns(given[2]) or self._is_rows(given[2]))
        return mine and fits

    def _is_made(self, node: Call) -> bool:
        """`torch.zeros(len(rows), width)`: a new row for each."""
        value = of(node.function)
        name = value.name.rpartition(".")[2] if isinstance(value, (Torch, Method)) else ""
        sizes, more = node.positional, [a for w, a in zip(node.keywords, node.arguments) if w]
        if len(sizes) == 1 and isinstance(sizes[0], Display):
            sizes = sizes[0].elements
        if name.removeprefix("new_") not in _MAKING or not sizes or not self._is_count(sizes[0]):
            return False
        return not self._concerns(*sizes[1:], *more)

    def _is_chosen(self, node: Subscript, front: int = 0) -> bool:
        """`x[rows]`, `w[rows, nth, None]`: of a whole array, whole behind the indices."""
        parts = index_parts(node.index)
        chosen = [self._is_index(part) for part in parts]
        count = sum(chosen)
        if not count or chosen[front : front + count] != [True] * count:
            return False
        rest = [*parts[:front], *parts[front + count :]]
        return all(map(_is_whole, rest)) and not self._concerns(node.object)

    def _is_rows(self, node: Expression) -> bool:
        return self.rowwise.rows(node, self._is_leaf)

    def _is_leaf(self, node: Expression) -> bool:
        if isinstance(node, Name):
            return node.id in self.names
        if isinstance(node, Subscript):
            if self._is_chosen(node):
                return True
            return all(map(_is_whole, index_parts(node.index))) and self._is_rows(node.object)
        if isinstance(node, Call) and isinstance(value := of(node.function), Module):
            alone = value.open and not value.refs and node.keywords == [None]
            if alone and self._is_rows(node.arguments[0]):
                self.given.append(node)
                return True
        if isinstance(node, Call) and self._is_made(node):
            return True
        if not isinstance(node, Call) or not isinstance(of(node.function), Method):
            return False
        function, given = node.function, node.arguments
        if not isinstance(function, Attribute) or any(node.keywords):
            return False
        if function.name == "unsqueeze":
            return (
                len(given) == 1 and number(given[0]) in (-1, 1) and self._is_rows(function.object)
            )
        if function.name not in ("reshape", "view") or len(given) != 2 or number(given[0]) != -1:
            return False
        if not isinstance(of(given[1]), Static) or not isinstance(function.object, Subscript):
            return False
        return self._is_chosen(function.object, 1)  # `x[None, rows].reshape(-1, width)`


def _is_whole(place: Expression) -> bool:
    if isinstance(place, Slice):
        return not any(place.children())
    return is_none(place) or is_constant(place, ...)
