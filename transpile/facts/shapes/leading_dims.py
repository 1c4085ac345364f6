"""Values that may have dims of size 1 in front, which torch leaves out in a store.

out, (h, c) = self.lstm(x[:, t].unsqueeze(0), (h, c))
code[:, t] = h                      h has a dim for the layers in front
"""

import math
from collections.abc import Iterator

from ...model.effects import BUFFER, PARAM, Declare, Put, Read
from ...model.expressions import Attribute, Call, Constant, Display, Name, Slice, Starred, Subscript
from ...model.names import dotted, index_parts
from ...model.node import Expression, Node
from ...model.operators import Binary, Unary
from ...model.program import Class, Scope
from ...model.statements import Assign, Return
from ..bindings import Definitions
from ..memory.access_paths import of, spelled
from ..memory.indices import number
from ..modules import Modules
from ..values.lattice import Module, Static, Torch, least_dims

_RECURRENT = frozenset(f"torch.nn.{name}" for name in ("RNN", "LSTM", "GRU"))
_PIECES = frozenset("chunk split tensor_split unsafe_chunk unsafe_split".split())
# What takes each size of what it makes as an argument, or all as a tuple.
_MADE = frozenset("empty ones rand randn zeros".split())
# What gives as many dims as it takes, element by element or along the last.
_ALIKE = frozenset(
    "abs clamp clone contiguous detach dropout elu exp float leaky_relu log log_softmax masked_fill"
    " relu sigmoid softmax sqrt tanh to type type_as cuda cpu".split()
)


class Leading:
    """The question for one scope."""

    def __init__(self, scope: Scope, modules: Modules) -> None:
        self.definitions, self.modules = Definitions(scope), modules

    def may_lead(self, put: Put) -> bool:
        """Whether what is stored may have dims of size 1 more than its place."""
        if self._may(put.new, set()):
            return True
        return least_dims(of(put.new)) > self._most(put.base, set()) - _taken(put.index)

    def _may(self, node: Expression, seen: set[Node]) -> bool:
        if isinstance(node, Name):
            return any(
                _is_recurrent(value) if apart else self._may(value, seen)
                for value, apart in self._given(node, seen)
            )
        if isinstance(node, Binary):
            return self._may(node.left, seen) or self._may(node.right, seen)
        if isinstance(node, Unary):
            return self._may(node.operand, seen)
        if isinstance(node, Subscript):
            return _is_new(index_parts(node.index)[0]) or self._is_held(node.object, seen)
        return isinstance(node, Call) and self._call(node, seen)

    def _call(self, node: Call, seen: set[Node]) -> bool:
        value, function = of(node.function), node.function
        if isinstance(value, Module):
            return not _is_recurrent(node) and any(self._may(a, seen) for a in node.arguments)
        if not isinstance(function, Attribute):
            return False
        if function.name == "unsqueeze":
            return bool(node.arguments) and number(node.arguments[-1]) == 0
        if function.name not in _ALIKE:
            return False
        own = [] if isinstance(value, Torch) else [function.object]
        return any(self._may(part, seen) for part in [*own, *node.arguments])

    def _is_held(self, node: Expression, seen: set[Node]) -> bool:
        """The pieces of `parts[t]`, the states of `_, states = self.lstm(x)`."""
        pairs = self._given(node, seen) if isinstance(node, Name) else [(node, False)]
        for value, apart in pairs:
            if apart and _is_recurrent(value, frozenset({"torch.nn.LSTM"})):
                return True
            if isinstance(value, Call) and isinstance(value.function, Attribute):
                if not apart and value.function.name in _PIECES:
                    return True
        return False

    def _most(self, node: Expression, seen: set[Node]) -> float:
        """How many dims an array has at most: two by `torch.zeros(n, m)`; infinitely many where
        that is not known."""
        if isinstance(node, Put):
            return self._most(node.base, seen)
        if isinstance(node, Name):
            given = list(self._given(node, seen))
            found = [math.inf if apart else self._most(value, seen) for value, apart in given]
            return max(found, default=math.inf if node not in self.definitions.of else 0)
        if isinstance(node, Attribute):
            return max(map(_sizes, self._begun(node)), default=math.inf)
        return _sizes(node)

    def _begun(self, node: Attribute) -> list[Expression]:
        """What an array of `self`, or the one that a property of its gives, begins as."""
        cls = node.nearest(Class)
        if cls is None or not isinstance(node.object, Name):
            return []
        getter = self.modules.home(cls).methods(cls).get(node.name)
        given = getter.nodes(Return) if getter is not None else ()
        names = [r.expression.name for r in given if isinstance(r.expression, Read)] or [node.name]
        own = self.modules.fields(cls).get(names[0]) if len(names) == 1 else None
        kept = own.values if own is not None and own.kind in (BUFFER, PARAM) else []
        return [v for v in kept if isinstance(v.parent, Declare)] if len(kept) == 1 else []

    def _given(self, name: Name, seen: set[Node]) -> Iterator[tuple[Expression, bool]]:
        """The values that a name may have, each once; of `out, (h, c) = f(x)` the whole, and
        True."""
        for definition in self.definitions.of.get(name, ()):
            if definition is None or definition in seen:
                continue
            seen.add(definition)
            assign = definition.nearest(Assign)
            if assign is None or assign.expression is None or assign.operator:
                yield name, True
                continue
            yield _part(assign, definition)


def _part(assign: Assign, definition: Node) -> tuple[Expression, bool]:
    value, target = assign.expression, assign.targets[0]
    assert value is not None
    if any(target is definition for target in assign.targets):
        return value, False
    alike = isinstance(target, Display) and isinstance(value, Display)
    if alike and len(target.elements) == len(value.elements):  # type: ignore[attr-defined]
        for one, given in zip(target.elements, value.elements):  # type: ignore[attr-defined]
            if one is definition:
                return given, False
    return value, True


def _is_recurrent(node: Expression, names: frozenset[str] = _RECURRENT) -> bool:
    value = of(node.function) if isinstance(node, Call) else None
    return isinstance(value, Module) and not names.isdisjoint(value.classes)


def _is_new(place: Expression) -> bool:
    """The first part of `x[None]`, or of `x[i : i + 1]`."""
    if not isinstance(place, Slice):
        return isinstance(place, Constant) and place.constant is None
    low, high = place.lower, place.upper
    if low is None or not isinstance(high, Binary) or high.operator != "+":
        return False
    return (
        spelled(low) is not None and spelled(high.left) == spelled(low) and number(high.right) == 1
    )


def _taken(index: Expression) -> int:
    """How many dims an index takes away, less those that it adds."""
    change = 0
    for place in index_parts(index):
        if isinstance(place, Constant) and place.constant is None:
            change -= 1
        elif isinstance(of(place), Static) and not isinstance(place, Slice):
            change += not (isinstance(place, Constant) and place.constant is ...)
    return change


def _sizes(node: Expression) -> float:
    """How many sizes a call is given that makes a tensor: two by `x.new_zeros((n, m))`."""
    function = node.function if isinstance(node, Call) else None
    name = str(dotted(function) or getattr(function, "name", "")).rpartition(".")[2]
    if name.removeprefix("new_") not in _MADE or not isinstance(node, Call):
        return math.inf
    given = node.positional
    if len(given) == 1 and isinstance(given[0], Display):
        given = given[0].elements
    known = [isinstance(v := of(n), Static) and v.type == "int" for n in given]
    starred = any(isinstance(n, Starred) for n in given)
    return len(given) if given and all(known) and not starred else math.inf
