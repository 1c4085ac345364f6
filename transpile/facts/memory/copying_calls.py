"""Which calls are certain to bring elements into another order, and so to copy them."""

import re
from typing import Any

from ...model.expressions import Attribute, Call, Constant
from ...model.node import Expression
from .indices import number

_IN_ORDER = frozenset("contiguous reshape reshape_as flatten ravel unflatten".split())
_MOVING = frozenset("permute transpose t movedim moveaxis swapaxes swapdims".split())


def moves_apart(node: Call) -> bool:
    """Whether `rearrange(x, "b n (h d) -> (b h) n d")` is certain to copy: it joins dims that do
    not lie behind one another in x."""
    given = node.arguments[1] if len(node.arguments) > 1 else None
    pattern = given.constant if isinstance(given, Constant) else None
    if not isinstance(pattern, str) or pattern.count("->") != 1:
        return False
    left, right = pattern.split("->")
    order = left.replace("(", " ").replace(")", " ").split()
    for joined in re.findall(r"\(([^()]*)\)", right):
        names = [n for n in joined.split() if n != "1"]
        if any(n not in order for n in names):
            return False
        places = [order.index(n) for n in names]
        if any(b != a + 1 for a, b in zip(places, places[1:])):
            return True
    return False


def may_be_moved(node: Expression) -> bool:
    """Whether an expression is a view of what lies in order, and a copy of anything else:
    `x.t().reshape(-1)`."""
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return False
    return node.function.name in _IN_ORDER


def is_moved(node: Call, function: Attribute) -> bool:
    """`x.permute(0, 2, 1).contiguous()`: the elements are brought into another order. Only of dims
    of size 1 it is x itself."""
    moved: Any = function.object
    if function.name != "contiguous" or node.arguments:
        return False
    if isinstance(moved, Attribute):
        return moved.name in ("T", "mT")
    if not isinstance(moved, Call) or not isinstance(moved.function, Attribute):
        return False
    if moved.function.name not in _MOVING:
        return False
    if moved.function.name != "permute":
        return True
    numbers = [number(a) for a in moved.arguments]
    order = [n % len(numbers) for n in numbers if n is not None]
    return len(order) == len(numbers) and order != sorted(order)
