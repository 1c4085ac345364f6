"""What the files of a program ask of objects that are none of a support file's, by the values at
the receivers: `append` of `found = []`, `+` of two arrays."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ...facts.shapes.layer_sizes import is_layer_size
from ...facts.values.lattice import (
    GENERATORS,
    MISSING,
    External,
    Mapping,
    Package,
    Sequence,
    Static,
    Tensor,
    Value,
    holds_module,
)
from ...model.expressions import Attribute, Subscript
from ...model.node import Expression, Node
from ...model.operators import Binary, Compare
from ...model.program import File
from ...model.statements import Assign, Delete

_PYTHONS = (External, Mapping, Package, Sequence)  # but for lists and dicts of modules
_PLAIN = frozenset("int float bool str dtype device shape range numpy None".split())  # of a Static


def asked_of_others(files: Iterable[File]) -> Counter[str]:
    """How often each word is asked of what is no object of a class of the support file."""
    asked = ((node, pair) for file in files for node in file.walk() for pair in _asked(node))
    return Counter(word for node, (word, to) in asked if _is_other(to, word) or _adds(node))


def _asked(node: Node) -> Iterator[tuple[str, Expression]]:
    """The methods that a node asks for, each with the object that is asked."""
    if isinstance(node, Attribute):
        yield node.name, node.object
    elif isinstance(node, Binary):
        if node.operator == "+":
            yield "__add__", node.left
    elif isinstance(node, Compare):
        for operator, container in zip(node.operators, node.operands[1:]):
            if operator in ("in", "not in"):
                yield "__contains__", container
    elif isinstance(node, (Assign, Delete)):
        if isinstance(node, Assign) and node.operator.rstrip("=") == "+":
            yield from (("__iadd__", node.targets[0]), ("__add__", node.targets[0]))
        word = "__setitem__" if isinstance(node, Assign) else "__delitem__"
        for target in node.targets:
            if isinstance(target, Subscript):
                yield word, target.object


def _adds(node: Node) -> bool:
    """Whether it is the sum of an array or a number, `config.n + 1`: a list adds lists alone."""
    if not isinstance(node, Binary):
        return False
    right = node.right.value
    number = isinstance(right, Static) and right.type in ("int", "float", "bool")
    return number or isinstance(right, Tensor) and not right.assumed or is_layer_size(node)


def _is_other(receiver: Expression, word: str) -> bool:
    """Whether what is asked is certain to be an array, or an object of Python's."""
    value: Value | None = receiver.value
    operator = word.startswith("__")
    if value is None:  # what is made asks containers by name: `params["start"] = …`, of a dict
        return operator and receiver.start < 0
    if isinstance(value, Tensor):
        return operator or not value.assumed
    if isinstance(value, (Static, Sequence)) and value.loose:  # others may be given
        return isinstance(value, Static) and value.type not in ("", "None")
    if isinstance(value, Static):  # the ctx of an autograd Function is one of ours
        return value.type in _PLAIN or value.const is not MISSING
    if isinstance(value, External) and value.name in GENERATORS:
        return False
    return isinstance(value, _PYTHONS) and not holds_module(value)
