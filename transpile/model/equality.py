"""Whether two expressions say the same."""

from .node import Expression, Node

_APART = frozenset([*Node.__slots__, *Expression.__slots__, "text"])


def equal(a: Node | None, b: Node | None) -> bool:
    """Whether two expressions are of the same nodes, whatever their layout."""
    if a is None or b is None or a.__class__ is not b.__class__:
        return a is b
    apart = _APART.union(a.parts)
    fields = [n for base in a.__class__.__mro__ for n in getattr(base, "__slots__", ())]
    if any(getattr(a, name) != getattr(b, name) for name in fields if name not in apart):
        return False
    mine, others = a.children(), b.children()
    return len(mine) == len(others) and all(map(equal, mine, others))
