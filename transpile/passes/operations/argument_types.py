"""Whether an argument fits the annotation of a rule's parameter: yes, no, or not known."""

import ast

from ...facts.values.lattice import (
    NONE,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_anything,
)
from ...model.expressions import Name
from ...model.names import own_word
from ...model.node import Node
from ...model.rulebook import Parameter
from .literals import UNDECIDED, literal

_STATIC = {
    "int": {"int", "float", "Number"},
    "float": {"float", "Number"},
    "bool": {"bool", "Number"},
    "str": {"str", "Device"},
    "dtype": {"Dtype"},
    "device": {"Device"},
    "shape": {"tuple", "list", "Size"},
    "range": {"tuple", "list"},
}
# Names that arrays do not have.
_OTHERS = frozenset("dim axis dims size sizes n shape".split())
_NUMBERED = frozenset("gpu cuda rank gpu_id cuda_id".split())  # devices, and numbers as such
_DTYPES = ("float", "int", "uint", "bool", "bfloat", "long", "double", "half", "complex", "short")


def fits(node: Node, value: Value, parameter: Parameter) -> bool | None:
    accepts = parameter.accepts
    if not accepts:
        return True
    if "Unsure" in accepts:
        return is_anything(value) and literal(node) is UNDECIDED
    if value == NONE:
        optional = isinstance(parameter.default, ast.Constant) and parameter.default.value is None
        return optional or bool(accepts & {"None", "Device"})
    if isinstance(value, Tensor):
        return _tensor(node, value, parameter)
    if isinstance(value, Sequence):
        return bool(accepts & {"tuple", "list"})
    if isinstance(value, Static):
        if value.type in _STATIC:
            return bool(accepts & _STATIC[value.type])
        return None if accepts - {"Tensor"} else False
    if isinstance(value, Torch):
        last = value.name.rpartition(".")[2]
        dtype = last.startswith(_DTYPES) or last.endswith("Tensor")
        return "Dtype" in accepts if dtype else None
    if isinstance(value, Module):
        return False
    named = by_name(node)
    if named is not None:
        return named in accepts or "int" in accepts and own_word(node) in _NUMBERED
    return True if own_word(node) == parameter.name else None


def _tensor(node: Node, value: Tensor, parameter: Parameter) -> bool | None:
    """Of what is an array, or only assumed to be one."""
    accepts = parameter.accepts
    if "Tensor" in accepts:
        return True if not value.assumed else None
    if not value.assumed:
        return False
    named = by_name(node)
    if named is not None:
        return named in accepts or "int" in accepts and own_word(node) in _NUMBERED
    name = node.id if isinstance(node, Name) else ""
    if name == parameter.name:
        return True
    placed = accepts <= {"Dtype", "Device"}
    if name in _OTHERS:
        return not placed
    return None if placed else False


def by_name(node: Node) -> str | None:
    """What a name says of an argument that nothing else is known of: `self.device` is a Device,
    `mask_dtype` a Dtype.
    """
    last = own_word(node)
    if "device" in last.lower() or last in _NUMBERED:
        return "Device"
    return "Dtype" if "dtype" in last.lower() else None
