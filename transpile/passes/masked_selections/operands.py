"""What operators make of selections and of what they are taken with."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...facts.memory.access_paths import of
from ...facts.values.lattice import Static, Tensor, Torch
from ...model.expressions import Constant
from ...model.node import Expression
from .domain import FINITE, RAW, Chosen, Count, Info, origins
from .frame import Frame
from .masks import aligned, safe

_NUMBERS = frozenset({"int", "float", "bool", "", "dtype", "device"})


class Part(NamedTuple):
    """An operand, and what is known of it."""

    node: Expression
    info: Info


def compared(frame: Frame, node: Expression, parts: Sequence[Part]) -> Info:
    """A comparison of selections: a selection of bools, which no gradient passes."""
    if not any(isinstance(p.info, Chosen) for p in parts):
        return counted(frame, node, parts, "b")
    found = together(frame, parts)
    return found and replace(found, outside=FINITE, kind="b", binding=None)


def counted(frame: Frame, node: Expression, parts: Iterable[Part], kind: str) -> Info:
    """What is made of counts and Python's numbers is Python's in torch, an array here; what is
    made of counts and arrays is an array in both."""
    parts = list(parts)
    for one in parts:
        if not isinstance(one.info, Count):
            frame.refuse(one.info)
    found = origins(*(p.info for p in parts if isinstance(p.info, Count)))
    others = [of(p.node) for p in parts if not isinstance(p.info, Count)]
    python = all(isinstance(value, Static) for value in others)
    if not found or not python and (kind != "b" or any(isinstance(v, Tensor) for v in others)):
        return None
    if kind == "i" and any(getattr(value, "type", "") == "float" for value in others):
        kind = "f"
    frame.tell(node, Tensor(kind=kind, number=True))
    return Count(found)


def operated(frame: Frame, node: Expression, left: Part, right: Part, operator: str) -> Info:
    """Arithmetic of selections by one mask, and numbers."""
    chosen = [p for p in (left, right) if isinstance(p.info, Chosen)]
    if not chosen:
        return counted(frame, node, (left, right), "f" if operator == "/" else "i")
    found = together(frame, (left, right), arrays=operator in ("+", "-"))
    if found is None:
        return None
    kind = _kind(left, right, operator)
    if operator in ("&", "|", "^"):
        return replace(found, outside=FINITE)
    first = chosen[0] is left
    if (
        operator in ("+", "-")
        or len(chosen) == 1
        and (operator == "*" or operator == "/" and first)
    ):
        return replace(found, outside=folded(operator, left, right), kind=kind)
    needs = _needs(right, operator)
    if needs is None:
        frame.refuse(found)
        return None
    for one, at in zip((left, right), needs):
        if isinstance(one.info, Chosen):
            safe(frame, one.node, one.info, at)
    return replace(found, outside=FINITE, kind=kind)


def _needs(right: Part, operator: str) -> tuple[str | float, str | float] | None:
    """What must be outside of the mask in both operands; None where nothing helps."""
    if operator == "*":
        return FINITE, FINITE
    if operator == "/":
        return FINITE, 1
    if operator == "**" and not isinstance(right.info, Chosen):
        whole = getattr(right.node, "constant", None) in (1, 2, 3, 4)
        return (FINITE if whole else 1), FINITE
    return None


def folded(operator: str, left: Part, right: Part) -> str | float:
    """What is outside of the mask after arithmetic with numbers, or of two selections."""
    sides = [_outside(left), _outside(right)]
    if RAW in sides:
        return RAW
    a, b = sides
    if operator in ("*", "/") and a == 0:
        return 0
    if isinstance(a, str) or isinstance(b, str) or operator == "/":
        return FINITE
    return a + b if operator == "+" else a - b if operator == "-" else a * b


def _outside(one: Part) -> str | float:
    if isinstance(one.info, Chosen):
        return one.info.outside
    constant = getattr(one.node, "constant", None)
    if isinstance(constant, (int, float)) and not isinstance(constant, bool):
        return constant
    return FINITE if isinstance(of(one.node), Static) else RAW


def _kind(left: Part, right: Part, operator: str) -> str | None:
    kinds = [
        p.info.kind
        if isinstance(p.info, Chosen)
        else "i"
        if isinstance(getattr(p.node, "constant", None), int)
        else "f"
        for p in (left, right)
    ]
    if None in kinds:
        return None
    if "f" in kinds or operator == "/":
        return "f"
    return kinds[0] if kinds[0] == kinds[1] else None


def linear(chosen: Chosen) -> Chosen:
    outside = RAW if chosen.outside == RAW else FINITE
    return replace(chosen, outside=outside, binding=None)


def together(frame: Frame, parts: Sequence[Part], arrays: bool = True) -> Chosen | None:
    """One selection for several by the same mask; whatever else there is must be numbers, or,
    where such are allowed, arrays without dims. None where that is not so."""
    chosen = [p.info for p in parts if isinstance(p.info, Chosen)]
    rest = [p for p in parts if not isinstance(p.info, Chosen)]
    fits = all(
        p.info is None and (_is_number(p.node) or arrays and _is_scalar(frame, p.node))
        for p in rest
    )
    found: Chosen | None = chosen[0] if chosen else None
    for other in chosen[1:]:
        found = aligned(frame, found, other) if found is not None else None
    if found is None or not fits:
        frame.refuse(*(p.info for p in parts))
        return None
    return replace(found, origins=origins(*(p.info for p in parts)), binding=None)


def _is_number(node: Expression) -> bool:
    """Whether an operand is a number, or a dtype: known when the function is traced."""
    value = of(node)
    known = isinstance(value, Static) and value.type in _NUMBERS or isinstance(value, Torch)
    plain = isinstance(node, Constant) and isinstance(node.constant, (int, float))
    return known or plain


def _is_scalar(frame: Frame, node: Expression) -> bool:
    return isinstance(of(node), Tensor) and not frame.env.resolve(frame.ranks(node))
