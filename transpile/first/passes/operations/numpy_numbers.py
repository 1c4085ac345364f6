"""Numbers of NumPy's: torch takes np.float64 for Python's float, JAX for an array that widens bfloat16, and float32 under x64."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...emit import bare, call
from ...values import NUMPY, External, Static, Tensor, is_anything, is_traced
from .walk import Walk

_ARITHMETIC = (cst.Call, cst.BinaryOperation, cst.UnaryOperation)
_HOSTS = ("builtins.", "numpy.", "math.", "scipy.")  # whose functions take NumPy's numbers as they are: `int(np.sqrt(n))`


PLACES = frozenset({*_ARITHMETIC, cst.Attribute, cst.Assign, cst.AugAssign, cst.Comparison, cst.FormattedStringExpression, cst.Index})


def converted(walk: Walk, node: Any) -> Any:
    """A number of NumPy's, or an operation with one, where it may meet an array; None elsewhere."""
    value = walk.context.value(node)
    if isinstance(node, _ARITHMETIC) and isinstance(value, Static) and value.wide and value.type == "float":
        return _number(walk, node)
    if value == NUMPY or not isinstance(node, (cst.BinaryOperation, cst.UnaryOperation, cst.AugAssign)):  # beside an array of NumPy's it is as wide
        _keep(walk, node)
    return _met(walk, node) if isinstance(node, (cst.BinaryOperation, cst.AugAssign)) else None


def _keep(walk: Walk, node: Any) -> None:
    """Note what stands in an expression that computes with no array."""
    if isinstance(node, cst.Call):
        value = walk.context.value(node.func)
        inner = [e for a in node.args for e in _elements(a.value)] if isinstance(value, External) and value.name.startswith(_HOSTS) else []
    elif isinstance(node, cst.Assign):  # into an array of NumPy's: `table[i, 0] = np.sin(i)`
        target = node.targets[0].target
        inner = [node.value] if isinstance(target, cst.Subscript) and walk.context.value(target.value) == NUMPY else []
    elif isinstance(node, cst.Comparison):
        inner = [node.left, *(t.comparator for t in node.comparisons)]
    elif isinstance(node, cst.FormattedStringExpression):
        inner = [node.expression]
    elif isinstance(node, (cst.Index, cst.Attribute)):  # `np.ceil(n).astype(int)`
        inner = [node.value]
    else:
        inner = [node.left, node.right] if isinstance(node, cst.BinaryOperation) else [node.expression] if isinstance(node, cst.UnaryOperation) else []
    walk.kept |= {id(n): n for n in inner}


def _elements(node: Any) -> list[Any]:
    """An argument, or what stands in a list that is written out there: `np.array([np.sin(i) for i in range(n)])`."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return [e for element in node.elements for e in _elements(element.value)]
    return _elements(node.elt) if isinstance(node, (cst.ListComp, cst.GeneratorExp)) else [node]


def _number(walk: Walk, node: Any) -> Any:
    """`float(np.sqrt(5))` for what NumPy makes of Python's numbers, where it may meet an array; None elsewhere."""
    if id(node) in walk.kept:
        _keep(walk, node)
        return None
    if not _may_meet_arrays(walk):
        return None
    _keep(walk, node)
    walk.kept[id(node)] = node
    return _python(walk, node)


def _met(walk: Walk, node: Any) -> Any:
    """`x * float(self.scale)` in a forward pass, for what is NumPy's number if it is one; None for other operations."""
    if not walk.context.facts.in_forward(walk.info):
        return None
    sides = ["left", "right"] if isinstance(node, cst.BinaryOperation) else ["target", "value"]
    for one, other in (sides, sides[::-1]):
        value, array = walk.context.value(getattr(node, one)), walk.context.value(getattr(node, other))
        if one != "target" and isinstance(array, Tensor) and not array.host and _computes_with_argument(walk, getattr(node, one)):
            made = walk.done(getattr(node, one), _of_jax(walk, getattr(node, one)))
            changes = {one: made, other: walk.convert(getattr(node, other))}
            return walk.done(node, tree.replace(node, **{field: tree.fit(node, field, new) for field, new in changes.items()}))
        if one != "target" and isinstance(value, Static) and value == NUMPY and value.wide and is_traced(array) and not array.host:  # type: ignore[attr-defined]
            changes = {one: _python(walk, getattr(node, one)), other: walk.convert(getattr(node, other))}
            return walk.done(node, tree.replace(node, **{field: tree.fit(node, field, new) for field, new in changes.items()}))
    return None


def _computes_with_argument(walk: Walk, node: Any) -> bool:
    """Whether NumPy computes with what a forward pass is given, and nothing says to be anything else: `np.sqrt(length)`."""
    function = walk.context.value(node.func) if isinstance(node, cst.Call) else None
    if not isinstance(function, External) or not walk.info or walk.info.name != "forward" or not walk.context.facts.numpy_on_arrays(function.name, [Tensor()]):
        return False
    names = {p.name.value for p in walk.info.parameters()}
    return all(isinstance(a.value, cst.Name) and a.value.value in names and is_anything(walk.context.value(a.value)) for a in node.args)


def _of_jax(walk: Walk, node: cst.Call) -> Any:
    """`jnp.sqrt(length)`, which takes a number too."""
    function = walk.context.value(node.func)
    assert isinstance(function, External)
    return call(function.name.replace("numpy.", "jnp."), [a.value for a in node.args])


def _python(walk: Walk, node: Any) -> Any:
    """Python's float of a number, which does not widen what it meets."""
    return walk.done(node, call("float", [bare(walk.convert(node))]))


def _may_meet_arrays(walk: Walk) -> bool:
    """Whether code computes with arrays under jit, or makes what such code may read: a constructor, a file."""
    if walk.foreign() or walk.script:
        return False
    info = walk.info
    return info is None or info.name == "__init__" or walk.runs and not walk.context.facts.on_host(info)
