"""Writes to arrays of NumPy's: tensors that share their memory cannot follow, and what stands for them where they are traced cannot be written."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...numpy_writes import root, written, written_by
from ...values import NUMPY, Tensor, is_traced
from .aliases import refuse
from .frame import Frame


def refused(frame: Frame, node: Any) -> Any:
    """What stands for a statement that writes by NumPy's ways what is no array of NumPy's; None where that is not so."""
    calls = [node.value] if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) else []
    if any(is_traced(frame.value(one)) for call in calls for one in written_by(frame.context, call)):
        message = "NumPy writes this array in place: here it is one of JAX's, which cannot be written"
        return cst.Expr(frame.context.unconverted("aliased-write", calls[0], message))
    return None


def follow(frame: Frame, node: Any) -> None:
    """Tensors that share the memory of what a statement writes, and are read later, raise there."""
    for subject in written(frame.context, node):
        array: Any = root(subject)
        name = frame.memory.name(array)
        if name is None or frame.value(array) != NUMPY:
            continue
        for other in frame.reached(name):
            if any(isinstance(frame.value(n), Tensor) for n in tree.nodes(frame.node, cst.Name) if n.value == other):
                refuse(frame, other, node, f"{name} is written in place, and {other} may be the same memory")
        given = frame.memory.parameters(name) - {name}
        if given:
            frame.context.report("mutated-argument", array, f"{name} is written in place, and shares the memory of {', '.join(sorted(given))} in torch: here the caller still has the old one")
