"""Views of arrays, and their inverses: the base with a new value at the places of a view.

x[:, 0]           put at the index        x.T               turned back
x.view(-1)        reshaped to x's shape   x.permute(1, 0)   permuted back
x.narrow(0, 1, 2) put at x[1:3]           x.diagonal()      put through the view itself
"""

from dataclasses import dataclass
from typing import Any

from ...model.expressions import Attribute, Call, Constant, Display, Slice, Subscript
from ...model.node import Expression
from ..casts import is_cast
from ..values.lattice import Method
from . import indices
from .access_paths import of
from .indices import number
from .inplace_names import is_tensor

# Views whose places in what they are views of are each there once.
_PLACES = frozenset("narrow select diagonal permute movedim moveaxis".split())


@dataclass(frozen=True, eq=False)
class View:
    """An expression as a view of another one.

    `kind`: "same", "index", "reshape", "swap" (undone by itself), "permute" (undone by `order`),
    "through" (only the view itself tells its places), "cast" (perhaps a copy), "copy".
    """

    base: Expression
    kind: str
    index: Expression | None = None  # of "index"
    order: tuple[int, ...] = ()  # of "permute"


def view_of(node: Any, views: dict[str, str]) -> View | None:
    """What an expression is a view of; None where it is none, or that is not known."""
    if isinstance(node, Subscript) and is_tensor(node.object):
        kind = indices.kind(node.index)
        if kind == "basic":
            return View(node.object, "index", node.index)
        return View(node.object, "copy") if indices.copies(node.index) else None
    if isinstance(node, Subscript) and isinstance(node.object, Call):
        return _part(node.object, views)
    if isinstance(node, Attribute) and is_tensor(node.object):
        if node.name in ("T", "mT"):
            return View(node.object, "swap")
        return View(node.object, "same") if node.name == "data" else None
    if isinstance(node, Call) and isinstance(node.function, Attribute):
        known = isinstance(of(node.function), Method) or is_tensor(node.function.object)
        return _of_method(node, node.function, views) if known else None
    return None


def _part(call: Call, views: dict[str, str]) -> View | None:
    """`z.chunk(2)[0]` of a tensor z."""
    function = call.function
    if not isinstance(function, Attribute) or views.get(function.name) != "parts":
        return None
    return View(function.object, "through") if is_tensor(function.object) else None


def _of_method(node: Call, function: Attribute, views: dict[str, str]) -> View | None:
    kind, base = views.get(function.name), function.object
    if is_cast(node):
        return View(base, "cast")
    if kind in ("same", "reshape", "swap"):
        return View(base, kind)
    if kind != "part" or function.name not in _PLACES:
        return None
    if function.name in ("narrow", "select"):
        index = _index(function.name, node)
        return View(base, "through") if index is None else View(base, "index", index)
    if function.name == "permute":
        order = _order(node)
        return View(base, "through") if order is None else View(base, "permute", order=order)
    return View(base, "through")


def _index(name: str, node: Call) -> Expression | None:
    """`x.narrow(1, 2, 3)` as `x[:, 2:5]`, `x.select(0, i)` as `x[i]`; made anew, it stands
    nowhere."""
    numbers = [number(a) for a in node.arguments]
    plain = not any(node.keywords) and len(numbers) == (3 if name == "narrow" else 2)
    if not plain or numbers[0] is None or numbers[0] < 0 or numbers[1] is None:
        return None
    place: Expression = Constant(numbers[1])
    if name == "narrow":
        if numbers[1] < 0 or numbers[2] is None:
            return None
        place = Slice(Constant(numbers[1]), Constant(numbers[1] + numbers[2]))
    before = [Slice(None, None) for _ in range(numbers[0])]
    return Display("tuple", [*before, place]) if before else place


def _order(node: Call) -> tuple[int, ...] | None:
    """What undoes `x.permute(2, 0, 1)`: 1, 2, 0."""
    numbers = [number(a) for a in node.arguments]
    if any(node.keywords) or any(n is None for n in numbers) or not numbers:
        return None
    dims = [n % len(numbers) for n in numbers if n is not None]
    found = sorted(dims) == list(range(len(dims)))
    return tuple(dims.index(i) for i in range(len(dims))) if found else None
