"""The names that a file reads, and those of them that a conversion has made.

What is only set is not read, nor what a string says: `if norm == "weight_norm"`, but in an
annotation and in `__all__`.
"""

import ast
import re
from collections.abc import Iterator, Sequence

from ..model.expressions import Constant, Name
from ..model.names import is_target, names_in
from ..model.node import Node, Statement
from ..model.program import Function, Parameter
from ..model.statements import Assign, ExpressionStatement


def used(nodes: Sequence[Node], made: bool) -> set[str]:
    """The names that are read: those that were made, or else the user's own."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Name) and (node.start < 0 or node.touched) is made:
            if not _is_only_set(node):
                found.add(node.id)
        elif isinstance(node, Constant) and isinstance(node.constant, str) and not made:
            if node.start >= 0 and len(node.constant) < 200 and _is_of_names(node):
                found.update(_names_in(node.constant))
    return found


def _is_only_set(name: Name) -> bool:
    around = name.parent
    return is_target(name) and not (isinstance(around, Assign) and around.operator)


def _is_of_names(text: Constant) -> bool:
    """Whether a string says what there is in the file: `x: "Tensor"`, `__all__ = ["Tensor"]`."""
    below: Node = text
    for around in text.ancestors():
        if isinstance(around, (Parameter, Assign)) and around.annotation is below:
            return True
        if isinstance(around, Function):
            return around.returns is below
        if isinstance(around, (Assign, ExpressionStatement)):
            return "__all__" in names_in(around)
        if isinstance(around, (Parameter, Statement)):
            return False
        below = around
    return False


def _names_in(text: str) -> Iterator[str]:
    """The names in a string that may be an annotation; nothing in what is no expression."""
    if re.fullmatch(r"[\w.\[\], |'\"]+", text):
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError:
            return
        yield from (n.id for n in ast.walk(tree) if isinstance(n, ast.Name))
