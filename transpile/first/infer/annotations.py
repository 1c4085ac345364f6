"""Annotations: what one says of the value that it stands at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from .. import tree
from ..project import PLAIN_MODULE, ClassInfo, ModuleInfo
from ..values import (
    GENERATORS,
    MISSING,
    NONE,
    NUMPY,
    UNKNOWN,
    External,
    Instance,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    Value,
    join,
    sequence,
)
from .frame import Frame

_PLAIN = frozenset({"int", "float", "bool", "str"})
_TENSORS = frozenset({"torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.BoolTensor", "torch.tensor"})
_SEQUENCES = frozenset({"List", "list", "Sequence", "Iterable", "Tuple", "tuple"})
_MAPPINGS = frozenset({"Dict", "dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict", "defaultdict"})


def annotated(frame: Frame, node: cst.BaseExpression) -> Value | None:
    """What an annotation says, or None where it does not settle what the value is."""
    reader = _READERS.get(node.__class__)
    return reader(frame, node) if reader is not None else None


def _of_name(frame: Frame, node: cst.Name | cst.Attribute) -> Value | None:
    name = tree.dotted(node) or ""
    if name in _PLAIN:
        return Static(MISSING, name)
    resolved = frame.facts.project.resolve(frame.module, name)
    if isinstance(resolved, str):
        if resolved in _TENSORS:
            return Tensor()
        if resolved in ("torch.dtype", "torch.device"):
            return Static(MISSING, resolved.removeprefix("torch."))
        if resolved == "numpy.ndarray":
            return NUMPY
        if resolved in GENERATORS:
            return External(resolved)
        if resolved in PLAIN_MODULE:
            return Module(open=True)
        if resolved.startswith("torch.distributions.") and frame.facts.rulebook.layer(resolved):
            return Instance()
    if isinstance(resolved, ClassInfo) and resolved.is_module:
        return Module(frozenset([resolved]), open=True)
    if isinstance(resolved, cst.Subscript) and (found := _where_assigned(frame, name)) is not None:
        return annotated(frame.of_module(found), resolved)  # `ArrayDict = Dict[str, np.ndarray]`
    return None


def _where_assigned(frame: Frame, name: str) -> ModuleInfo | None:
    """The file that gives an expression the name by which another one may import it; None where it is its own part."""
    expression = frame.facts.project.resolve(frame.module, name)
    modules = (m for m in frame.facts.project.modules.values() if any(e is expression for e in m.assigned.values()))
    return None if name in tree.names_read(expression) else next(modules, None)


def _of_subscript(frame: Frame, node: cst.Subscript) -> Value | None:
    """`Optional[Tensor]`, `List[Tensor]`, `Tuple[Tensor, int]`."""
    head = (tree.dotted(node.value) or "").rpartition(".")[2]
    if head in _MAPPINGS and len(node.slice) == 2:
        return _of_mapping(frame, node.slice[1].slice)
    inner = node.slice[0].slice
    element = annotated(frame, inner.value) if isinstance(inner, cst.Index) else None
    if element is None:
        return None
    if head == "Optional":
        if isinstance(element, (Tensor, Module)):
            return join(element, NONE)
        if isinstance(element, Mapping):
            return element
        return Static() if isinstance(element, Static) else None
    if head not in _SEQUENCES:
        return None
    if head.lower() == "tuple" and len(node.slice) > 1:
        items = [annotated(frame, s.slice.value) or UNKNOWN for s in node.slice if isinstance(s.slice, cst.Index)]
        return sequence(items, True)
    return Sequence(element, None, head.lower() == "tuple")


def _of_mapping(frame: Frame, held: cst.BaseSlice) -> Value | None:
    """`Dict[str, np.ndarray]`: of other dicts what calls give says more."""
    element = annotated(frame, held.value) if isinstance(held, cst.Index) else None
    return Mapping(element) if element is not None and holds_numpy(element) else None


def holds_numpy(value: Value) -> bool:
    """Whether a value is an array of NumPy's, or a list or dict of such."""
    return value == NUMPY or isinstance(value, (Mapping, Sequence)) and holds_numpy(value.element)


def _of_union(frame: Frame, node: cst.BinaryOperation) -> Value | None:
    """`Tensor | None`."""
    if not isinstance(node.operator, cst.BitOr):
        return None
    left, right = annotated(frame, node.left), annotated(frame, node.right)
    optional = tree.code(node.right) == "None"
    if optional and isinstance(left, (Tensor, Module)):
        return join(left, NONE)
    if isinstance(left, Static) and (isinstance(right, Static) or optional):
        return Static()
    return None


def _of_string(frame: Frame, node: cst.SimpleString) -> Value | None:
    """`model: "Whisper"` is what the name in it is, which a file may import for its annotations alone."""
    text = tree.code(node).strip("\"'")
    try:
        declared = annotated(frame, tree.expression(text))
    except cst.ParserSyntaxError:
        declared = None
    return Tensor() if declared is None and text.endswith("Tensor") else declared


_READERS: dict[type, Callable[[Frame, Any], Value | None]] = {
    cst.Name: _of_name,
    cst.Attribute: _of_name,
    cst.Subscript: _of_subscript,
    cst.BinaryOperation: _of_union,
    cst.SimpleString: _of_string,
}
