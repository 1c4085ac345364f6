"""Annotations: what one says of the value that it stands at."""

from collections.abc import Callable
from typing import Any

from ...model import program
from ...model.constants import is_none
from ...model.expressions import Attribute, Constant, Name, Subscript
from ...model.names import below, dotted, last_word
from ...model.node import Expression
from ...model.operators import Binary
from ...model.project import PLAIN_MODULE
from ...source.lower_ast import expression
from .frame import Frame
from .joins import join, sequence
from .lattice import (
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
)
from .subscripts import indices

_PLAIN = frozenset({"int", "float", "bool", "str"})
_TENSORS = frozenset(
    f"torch.{n}" for n in ("Tensor", "FloatTensor", "LongTensor", "BoolTensor", "tensor")
)
_SEQUENCES = frozenset({"List", "list", "Sequence", "Iterable", "Tuple", "tuple"})
_MAPPINGS = frozenset(
    "Dict dict Mapping MutableMapping OrderedDict DefaultDict defaultdict".split()
)


def annotated(frame: Frame, node: Expression) -> Value | None:
    """What an annotation says, or None where it does not settle what the value is."""
    reader = _READERS.get(node.__class__)
    return reader(frame, node) if reader is not None else None


def _of_name(frame: Frame, node: Name | Attribute) -> Value | None:
    name = dotted(node) or ""
    if name in _PLAIN:
        return Static(MISSING, name)
    resolved: Any = frame.facts.project.resolve(frame.file, name)
    if isinstance(resolved, str):
        return _of_foreign(frame, resolved)
    if isinstance(resolved, program.Class) and frame.facts.project.is_module(resolved):
        return Module(frozenset([resolved]), open=True)
    if isinstance(resolved, Subscript) and resolved.file is not None:
        if name not in {n.id for n in below(resolved, Name)}:  # it is not its own part
            return annotated(frame.of_file(resolved.file), resolved)  # `Arrays = Dict[str, Array]`
    return None


def _of_foreign(frame: Frame, name: str) -> Value | None:
    if name in _TENSORS:
        return Tensor()
    if name in ("torch.dtype", "torch.device"):
        return Static(MISSING, name.removeprefix("torch."))
    if name == "numpy.ndarray":
        return NUMPY
    if name in GENERATORS:
        return External(name)
    if name in PLAIN_MODULE:
        return Module(open=True)
    if name.startswith("torch.distributions.") and frame.facts.rulebook.layer(name):
        return Instance()
    return None


def _of_subscript(frame: Frame, node: Subscript) -> Value | None:
    """`Optional[Tensor]`, `List[Tensor]`, `Tuple[Tensor, int]`."""
    head = last_word(node.object)
    parts = indices(node)
    if head in _MAPPINGS and len(parts) == 2:
        held = annotated(frame, parts[1])  # of other dicts what calls give says more
        return Mapping(held) if held is not None and holds_numpy(held) else None
    element = annotated(frame, parts[0])
    if element is None:
        return None
    if head == "Optional":
        return _or_none(element)
    if head not in _SEQUENCES:
        return None
    if head.lower() == "tuple" and len(parts) > 1:
        return sequence([annotated(frame, part) or UNKNOWN for part in parts], True)
    return Sequence(element, None, head.lower() == "tuple")


def _or_none(element: Value) -> Value | None:
    if isinstance(element, (Tensor, Module)):
        return join(element, NONE)
    if isinstance(element, Mapping):
        return element
    return Static() if isinstance(element, Static) else None


def holds_numpy(value: Value) -> bool:
    """Whether a value is an array of NumPy's, or a list or dict of such."""
    if isinstance(value, (Mapping, Sequence)):
        return holds_numpy(value.element)
    return value == NUMPY


def _of_union(frame: Frame, node: Binary) -> Value | None:
    """`Tensor | None`."""
    if node.operator != "|":
        return None
    left, right = annotated(frame, node.left), annotated(frame, node.right)
    optional = is_none(node.right)
    if optional and isinstance(left, (Tensor, Module)):
        return join(left, NONE)
    if isinstance(left, Static) and (isinstance(right, Static) or optional):
        return Static()
    return None


def _of_string(frame: Frame, node: Constant) -> Value | None:
    """`model: "Whisper"` is what the name in it is, which a file may import for this alone."""
    if not isinstance(node.constant, str):
        return None
    try:
        declared = annotated(frame, expression(node.constant.strip()))
    except SyntaxError:
        declared = None
    return Tensor() if declared is None and node.constant.endswith("Tensor") else declared


_READERS: dict[type, Callable[[Frame, Any], Value | None]] = {
    Name: _of_name,
    Attribute: _of_name,
    Subscript: _of_subscript,
    Binary: _of_union,
    Constant: _of_string,
}
