"""Names that code computes, `f"u{i}"`, `"u%d" % i`: the text that is certain, with holes."""

import re
from collections.abc import Iterable
from typing import Any

from ...model.expressions import Attribute, Call, Constant, FormattedString
from ...model.operators import Binary

HOLE = "\0"
_PERCENT = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]")
_BRACES = re.compile(r"\{[^{}]*\}")


def pattern(node: Any) -> str:
    """The pattern of a name: "u" and a hole for `f"u{i}"`, a hole alone where nothing is known."""
    return re.sub(f"{HOLE}+", HOLE, _parts(node))


def _parts(node: Any) -> str:
    if isinstance(node, Constant) and isinstance(node.constant, str):
        return node.constant
    if isinstance(node, FormattedString):
        return HOLE.join(node.literals)
    if isinstance(node, Binary):
        left = _parts(node.left)
        if node.operator == "+":
            return left + _parts(node.right)
        if node.operator == "%" and HOLE not in left:
            return _PERCENT.sub(HOLE, left).replace("%%", "%")
    if isinstance(node, Call) and isinstance(node.function, Attribute):
        if node.function.name == "format":
            text = _parts(node.function.object)
            return _BRACES.sub(HOLE, text) if HOLE not in text else HOLE
    return HOLE


def may_be(one: str, other: str) -> bool:
    """Whether two patterns may stand for the same name."""
    if HOLE in one and HOLE in other:
        a, b = one.split(HOLE), other.split(HOLE)
        starts = a[0].startswith(b[0]) or b[0].startswith(a[0])
        return starts and (a[-1].endswith(b[-1]) or b[-1].endswith(a[-1]))
    if HOLE in one:
        one, other = other, one
    wanted = ".*".join(map(re.escape, other.split(HOLE)))
    return re.fullmatch(wanted, one, re.DOTALL) is not None


def fitting(patterns: Iterable[str], name: str) -> list[str]:
    """Those that a name may be of: the very same, else those with most text, for a pattern all."""
    known = list(patterns)
    if name in known and name != HOLE:
        return [name]
    found = [p for p in known if may_be(p, name)]
    most = max((len(p) for p in found), default=0)
    return found if HOLE in name else [p for p in found if len(p) == most]
