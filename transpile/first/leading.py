"""Values that may have dims of size 1 in front, which torch leaves out in a store: `out[:, t] = h` of the hidden state of an LSTM."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .values import Module, Static, Tensor, least_dims

_RECURRENT = frozenset(f"torch.nn.{name}" for name in ("RNN", "LSTM", "GRU"))
_PIECES = frozenset({"chunk", "split", "tensor_split", "unsafe_chunk", "unsafe_split"})
_MADE = frozenset("empty ones rand randn zeros".split())  # what takes each size of what it makes as an argument, or all as a tuple
# what gives as many dims as it takes, element by element or along the last
_ALIKE = frozenset("abs clamp clone contiguous detach dropout elu exp float leaky_relu log log_softmax masked_fill relu sigmoid softmax sqrt tanh to type type_as cuda cpu".split())


def may_lead(context: Context, function: Any, target: cst.Subscript, value: Any) -> bool:
    """Whether what is stored in a function may have dims of size 1 in front, as what recurrent layers return, and pieces of length 1."""
    leading, known = _Leading(context, function), context.value(value)
    return leading.may(value) or isinstance(known, Tensor) and least_dims(known) > leading.most(target)


class _Leading:
    def __init__(self, context: Context, function: Any) -> None:
        self.context, self.function = context, function
        self.seen: set[str] = set()

    def may(self, node: Any) -> bool:
        if isinstance(node, cst.Name):
            return self._name(node.value)
        if isinstance(node, cst.BinaryOperation):
            return self.may(node.left) or self.may(node.right)
        if isinstance(node, cst.UnaryOperation):
            return self.may(node.expression)
        if isinstance(node, cst.Subscript):
            return _is_new(node.slice[0].slice) or self._is_piece(node) or isinstance(node.value, cst.Name) and self._holds_states(node.value.value)
        return isinstance(node, cst.Call) and self._call(node)

    def most(self, place: cst.Subscript) -> float:
        """How many dims a place has at most: one for `seen[t]` of `seen = torch.zeros(n, m)`; infinitely many where that is not known."""
        made = [value for value, _ in self._assigned(place.value.value)] if isinstance(place.value, cst.Name) else []
        taken = sum(isinstance(self.context.value(part.value), Static) for e in place.slice if isinstance(part := e.slice, cst.Index) and tree.code(part.value) not in ("None", "..."))
        new = sum(tree.code(e.slice) == "None" for e in place.slice)
        return max(map(self._sizes, made), default=math.inf) - taken + new

    def _sizes(self, node: Any) -> float:
        """How many sizes a call is given that makes a tensor: two by `torch.zeros(n, m)` and by `x.new_zeros((n, m))`."""
        name = node.func.attr.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else ""
        if name not in _MADE and name.removeprefix("new_") not in _MADE:
            return math.inf
        given = [a for a in node.args if a.keyword is None]
        sizes = [e.value for e in given[0].value.elements] if len(given) == 1 and isinstance(given[0].value, (cst.Tuple, cst.List)) else [a.value for a in given]
        known = all(isinstance(value := self.context.value(n), Static) and value.type == "int" for n in sizes) and not any(a.star for a in given)
        return len(sizes) if known and not any(isinstance(n, cst.StarredElement) for n in sizes) else math.inf

    def _name(self, name: str) -> bool:
        """A name is what any of its assignments make it."""
        if name in self.seen:
            return False
        self.seen.add(name)
        return any(self._is_recurrent(value) if apart else self.may(value) for value, apart in self._assigned(name))

    def _assigned(self, name: str) -> Iterator[tuple[Any, bool]]:
        """The values that a name is assigned; for `out, (h, c) = f(x)` that of all of them, and True."""
        for node in tree.nodes(self.function.body, cst.Assign):
            for target in (t.target for t in node.targets):
                if isinstance(target, cst.Name) and target.value == name:
                    yield node.value, False
                elif isinstance(target, (cst.Tuple, cst.List)) and name in tree.target_names(target):
                    if isinstance(node.value, cst.Tuple) and len(node.value.elements) == len(target.elements):
                        yield from ((v.value, False) for t, v in zip(target.elements, node.value.elements) if tree.code(t.value) == name)
                    else:
                        yield node.value, True

    def _call(self, node: cst.Call) -> bool:
        name = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
        if name == "unsqueeze":
            return tree.code(node.args[-1].value) == "0" if node.args else False
        if name in _ALIKE:
            return any(map(self.may, [node.func.value, *(a.value for a in node.args)]))  # type: ignore[attr-defined]
        return isinstance(self.context.value(node.func), Module) and not self._is_recurrent(node) and any(self.may(a.value) for a in node.args)

    def _is_recurrent(self, node: Any) -> bool:
        known = self.context.value(node.func) if isinstance(node, cst.Call) else None
        return isinstance(known, Module) and not _RECURRENT.isdisjoint(known.classes)

    def _holds_states(self, name: str) -> bool:
        """`_, states = self.lstm(x)`, whose parts are the states; with `_, h = self.gru(x)` those of h are of one layer."""
        for node in tree.nodes(self.function.body, cst.Assign):
            last: Any = node.targets[0].target
            if isinstance(last, cst.Tuple) and len(last.elements) == 2 and tree.code(last.elements[1].value) == name and isinstance(node.value, cst.Call):
                known = self.context.value(node.value.func)
                if isinstance(known, Module) and "torch.nn.LSTM" in known.classes:
                    return True
        return False

    def _is_piece(self, node: cst.Subscript) -> bool:
        """`parts[t]` of `parts = x.chunk(n)`."""
        values = [v for v, apart in self._assigned(node.value.value) if not apart] if isinstance(node.value, cst.Name) else [node.value]
        return any(isinstance(v, cst.Call) and isinstance(v.func, cst.Attribute) and v.func.attr.value in _PIECES for v in values)


def _is_new(part: Any) -> bool:
    """The first part of `x[None]`, or of `x[i : i + 1]`."""
    if isinstance(part, cst.Index):
        return tree.code(part.value) == "None"
    return part.lower is not None and part.upper is not None and tree.code(part.upper).replace(" ", "") == f"{tree.code(part.lower)}+1".replace(" ", "")
