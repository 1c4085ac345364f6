"""Tensors without dims: which results are, and which arrays do not take on their dtype; and those
without elements, which torch.cat leaves out whatever dims the others have."""

import dataclasses
from collections.abc import Sequence as TypingSequence

from ...model.rulebook import Rulebook
from .frame import Argument
from .lattice import NARROW, UNKNOWN, WIDE, Sequence, Static, Tensor, Value, least_dims

_SHAPES = frozenset({"empty", "full", "ones", "rand", "randn", "zeros"})
_MAKING = frozenset({"as_tensor", "scalar_tensor", "tensor"})
_FILLED = frozenset("empty ones zeros new_empty new_ones new_zeros".split())
_TYPES = frozenset("tensor new_tensor new Tensor FloatTensor LongTensor DoubleTensor".split())
_CASTS = frozenset("clone contiguous cpu cuda detach double float half long to type".split())
_SUMS = frozenset({"sum", "prod"})  # which widen whole numbers
_REDUCTIONS = _SUMS | {"amax", "amin", "max", "mean", "median", "min"}
_BELOW = {"f": (None, "f"), "i": ("i", "u"), "u": ("i", "u")}


def is_single(value: Value) -> bool:
    """Whether it is a number of Python's, or has no dims for certain."""
    if isinstance(value, Static):
        return value.type in ("int", "float", "bool")
    return isinstance(value, Tensor) and (value.single or value.number is True)


def of_call(rulebook: Rulebook, name: str, args: TypingSequence[Argument], result: Value) -> Value:
    """What a function or method gives, with whether it has no dims, `x.mean()`, or no elements."""
    if not isinstance(result, Tensor):
        return result
    if _may_be_empty(name, [a.value for a in args if a.keyword is None]):
        return dataclasses.replace(result, empty=True)
    if not args:
        return result
    first, others = args[0].value, [a for a in args[1:] if a.keyword not in ("device", "dtype")]
    if not isinstance(first, Tensor):
        made = name in _MAKING and isinstance(first, Static) and is_single(first)
        made = made or name in _SHAPES and isinstance(first, Sequence) and first.items == ()
        if (
            made
            and result.kind is None
            and isinstance(first, Static)
            and len(others) == len(args) - 1
        ):
            result = dataclasses.replace(result, kind=first.type[0])  # int, float or bool
        return dataclasses.replace(result, single=True) if made else result
    if not others and (name in _REDUCTIONS or _is_in(rulebook, name, "CURVED FILLED ONE_DIM")):
        summed = name in _SUMS and first.kind != "f"
        width = first.width - NARROW if summed else first.width
        widened = "i" if name in _SUMS and first.kind in ("b", "i", "u") else result.kind
        kind = first.kind if width >= NARROW else widened
        return dataclasses.replace(result, single=True, kind=kind, width=width)
    if not first.single or not all(is_single(a.value) or name == "to" for a in others):
        return result
    if _is_in(rulebook, name, "SMOOTH SAFE"):
        return dataclasses.replace(result, single=True, width=first.width)
    return dataclasses.replace(result, single=_is_in(rulebook, name, "LINEAR"))


def _may_be_empty(name: str, given: TypingSequence[Value]) -> bool:
    """Whether a result may be of shape (0,): `torch.empty(0)`, `torch.tensor([])`, `x.new()`."""
    if given and isinstance(given[0], Tensor):
        if given[0].empty and name in _CASTS:
            return True
        given = given[1:] if name.startswith("new") else [UNKNOWN]
    if len(given) == 1 and isinstance(given[0], Sequence):
        if name in _TYPES:
            return given[0].items == ()
        given = given[0].items or ()
    sized = len(given) == 1 and isinstance(given[0], Static) and given[0].const == 0
    return name in _FILLED and sized or name in _TYPES and not given and name != "tensor"


def _is_in(rulebook: Rulebook, name: str, tables: str) -> bool:
    return any(name in rulebook.table(table) for table in tables.split())


def keeps(array: Value, other: Value, operator: str = "") -> bool | None:
    """Whether what is computed from an array and a tensor without dims has the dtype of the array,
    though that is narrower: in torch those of its own kind do not widen it. None where only the run
    tells: `x * t` of an x of which nothing is known."""
    if not isinstance(array, Tensor) or not isinstance(other, Tensor) or is_single(array):
        return False
    narrow, wide = array.width >= NARROW, other.width >= WIDE
    if not is_single(other) or operator == "@" or not (narrow or wide):
        return False
    if operator == "/" and array.kind != "f":
        return False
    if array.kind is None:
        return None if wide else False
    if other.kind not in _BELOW.get(array.kind, ()):
        return False
    return True if narrow or least_dims(array) else None
