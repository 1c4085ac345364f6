"""Methods of tensors, and of what may be one."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...apply import Argument, choose
from ...indices import covers
from ...infer import NUMPY_METHODS, ORDINARY, SHARED, computes, plausible
from ...numpy_writes import root, written
from ...rulebook import Definition
from ...values import MISSING, NUMPY, UNKNOWN, Method, Sequence, Static, Tensor
from . import legacy_sizes, numpy_methods
from .walk import Walk

SHAPES = frozenset({"size", "dim", "shape", "ndim", "numel", "nelement", "ndimension", "dtype", "device"})


def method(walk: Walk, node: cst.Call, func: cst.Attribute, method: Method) -> Any:
    """A call of a method; None where that is no tensor's."""
    name = method.name
    if name == "item" and method.receiver == Static(MISSING, "int"):
        return walk.convert(func.value)
    if name == "numel" and method.receiver == Static(MISSING, "shape"):
        sizes = Argument(walk.convert(func.value), method.receiver)
        return walk.apply(node, walk.context.rulebook.find("torch.Size.numel"), "torch.Size.numel", [sizes])
    if not isinstance(method.receiver, Tensor) and not is_tensor_like(walk, method, node):
        return None
    if isinstance(method.receiver, Tensor) and method.receiver.host and name not in ("item", "tolist"):
        return None  # JAX's arrays have NumPy's methods
    definitions = walk.rules("torch.Tensor." + name)
    made = walk.context.value(node)
    if walk.runs and made not in (NUMPY, Sequence(UNKNOWN)) and not (name == "item" and isinstance(made, Static)):
        definitions = walk.context.rulebook.find(f"torch.Tensor.{name}[traced]") or definitions
    elif name == "numpy" and made == NUMPY and _is_written(walk, node):
        definitions = walk.context.rulebook.find("torch.Tensor.numpy[written]")
    if name == "to" and walk.functions and _may_be_none(node, walk.functions[-1]):
        definitions = (*walk.context.rulebook.find("torch.Tensor.to[optional]"), *definitions)
    certain = isinstance(method.receiver, Tensor) and not method.receiver.assumed
    if not certain:
        if node is walk.dropped and computes(name):
            return None  # `seen.add(n)`, `values.sort()`: it writes what is no tensor
        if not plausible(name, [walk.context.value(a.value) for a in node.args if a.keyword is None]):
            return None
        definitions = tuple(d for d in definitions if not d.deprecated)
    if not definitions:
        if certain and name not in ORDINARY | NUMPY_METHODS:
            return walk.no_rule(node, "torch.Tensor." + name)
        return None
    selected = _selected(walk, func.value, definitions, name, node)
    if selected is not None:
        return selected
    receiver = Argument(walk.convert(asked(walk, func.value, name)), method.receiver if isinstance(method.receiver, Tensor) else Tensor())
    arguments = [receiver, *walk.arguments(node)]
    if not certain and choose(definitions, arguments) is None:
        return None  # not a tensor, then
    numpy_methods.told(walk, node, func, method)
    return walk.apply(node, definitions, "torch.Tensor." + name, legacy_sizes.told(walk.context, walk.functions, definitions, node, arguments))


def _selected(walk: Walk, subject: Any, definitions: tuple[Definition, ...], name: str, node: cst.Call) -> Any:
    """`x[mask].mean()`: what a mask selects has no static shape, its mean has."""
    if node.args or not isinstance(subject, cst.Subscript) or len(subject.slice) != 1:
        return None
    part: Any = subject.slice[0].slice
    form = "mask" if isinstance(part, cst.Index) and covers(_defined(walk, part.value, subject.value), subject.value) else "rows"
    rules = walk.context.rulebook.find(f"torch.Tensor.{name}[{form}]")
    if not rules:
        return None
    mask = walk.context.value(part.value) if isinstance(part, cst.Index) else None
    if not (isinstance(mask, Tensor) and mask.kind == "b") or not isinstance(walk.context.value(subject.value), Tensor):
        return None
    arguments = [Argument(walk.convert(subject.value), Tensor()), Argument(walk.convert(part.value), mask)]
    return walk.apply(node, rules, f"torch.Tensor.{name}", arguments)


def _defined(walk: Walk, mask: Any, subject: Any) -> Any:
    """The expression that a local mask has for its one definition, where the tensor is not bound anew: `m = x > 0; x[m].mean()`."""
    if not walk.functions or not isinstance(mask, cst.Name) or not isinstance(subject, cst.Name):
        return mask
    function = walk.functions[-1]
    times = tree.times_bound(function.body)
    if times[mask.value] != 1 or times[subject.value] + (subject.value in tree.parameter_names(function)) != 1:
        return mask
    values = [n.value for n in tree.nodes(function.body, cst.Assign) if len(n.targets) == 1 and tree.code(n.targets[0].target) == mask.value]
    return values[0] if values else mask


def is_tensor_like(walk: Walk, method: Method, node: cst.Call) -> bool:
    """Whether the method of an unknown object is taken for a tensor's."""
    if method.receiver != UNKNOWN and not isinstance(method.receiver, Method) or walk.foreign():
        return False
    name = method.name
    if name in ("split", "sort", "index"):
        first = walk.context.value(node.args[0].value) if node.args else None
        return any(a.keyword and a.keyword.value == "dim" for a in node.args) or isinstance(first, Static) and first.type == "int"
    in_init = bool(walk.functions) and walk.functions[-1].name.value == "__init__" or not walk.functions
    return name not in ORDINARY and not (name in SHARED and in_init)


def _may_be_none(node: cst.Call, function: Any) -> bool:
    """Whether the dtype of a cast is a parameter that is None by default, and nothing in the function looks whether it is."""
    given = [a.value.value for a in node.args if isinstance(a.value, cst.Name) and "dtype" in a.value.value.lower()]
    if len(given) != 1 or tree.times_bound(function.body)[given[0]]:
        return False
    tests = (t for t in tree.nodes(function.body, cst.Comparison, cst.BooleanOperation, cst.If, cst.IfExp) if given[0] in tree.names_read(getattr(t, "test", t)))
    defaults = {p.name.value: p.default for p in tree.nodes(function.params, cst.Param) if p.default is not None}
    return given[0] in defaults and tree.code(defaults[given[0]]) == "None" and not any(tests)


def _is_written(walk: Walk, node: cst.Call) -> bool:
    """Whether a statement writes the array of NumPy's that a call makes, by the name that it has: `a = x.numpy(); a[0] = 1`."""
    if not walk.functions:
        return False
    body = walk.functions[-1].body
    held = {name for a in tree.nodes(body, cst.Assign) if _is_view(a.value, node) for name in tree.names_assigned(a)}
    writes = (root(one) for s in tree.nodes(body, cst.Assign, cst.AugAssign, cst.Expr) for one in written(walk.context, s))
    return any(isinstance(one, cst.Name) and one.value in held for one in writes)


def _is_view(value: Any, node: cst.Call) -> bool:
    """Whether a value is what a call makes, or a view of it: `x.numpy()[0].T`, but no `x.numpy().copy()`."""
    while value is not node:
        if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and value.func.attr.value not in ("copy", "astype"):
            value = value.func
        elif isinstance(value, (cst.Attribute, cst.Subscript)):
            value = value.value
        else:
            return False
    return True


def asked(walk: Walk, node: Any, name: str) -> Any:
    """The tensor of `x.data.size(0)` and `x.detach().shape`: with or without a gradient it has one shape."""
    inner: Any = node.func if isinstance(node, cst.Call) and not node.args else node
    if name not in SHAPES or not isinstance(inner, cst.Attribute) or inner.attr.value != ("data" if inner is node else "detach"):
        return node
    return inner.value if isinstance(walk.context.value(inner.value), Tensor) else node
