"""Attributes of tensors, and torch's names where they are not called: constants, classes, functions passed on."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...apply import Argument, Refused, bind, inline
from ...infer import ORDINARY, PROPERTIES, SHARED, is_differentiable
from ...project import ClassInfo
from ...rulebook import Definition
from ...values import Instance, Module, Static, Tensor
from . import foreign_arrays, methods, subscripts
from .walk import Walk

_OF_TENSORS = frozenset({"shape", "ndim", "dtype", "device"})


def _is_given(walk: Walk, node: Any) -> bool:
    """A parameter of which nothing says that it is a tensor: `cfg.H` is a height rather than a conjugate transpose."""
    given = {name for function in walk.functions for name in tree.parameter_names(function)}
    return isinstance(node, cst.Name) and node.value in given and walk.context.value(node) == Tensor(assumed=True)


def _is_object(walk: Walk, node: Any) -> bool:
    """A parameter of which something is asked that no tensor has: `batch.data` beside `batch.edge_index`."""
    if not _is_given(walk, node):
        return False
    body, find = walk.functions[-1].body, walk.context.rulebook.find
    if any(tree.dotted(c.func) == "isinstance" and c.args and tree.dotted(c.args[0].value) == node.value for c in tree.nodes(body, cst.Call)):
        return False  # it may be either
    writes: list[Any] = list(tree.nodes(body, cst.AssignTarget, cst.AugAssign, cst.AnnAssign))
    attributes: list[Any] = list(tree.nodes(body, cst.Attribute))
    given = {w.target.attr.value for w in writes if isinstance(w.target, cst.Attribute)}  # a tensor may be tagged: `p.decay = 0.1`
    asked = {a.attr.value for a in attributes if tree.dotted(a.value) == node.value}
    of_tensors = {name for name in asked if name in _OF_TENSORS or find(f"torch.Tensor.{name}")}
    both = (PROPERTIES - _OF_TENSORS) | ORDINARY
    return bool(asked - of_tensors - given - PROPERTIES - ORDINARY - SHARED) and of_tensors <= both


def _is_out_of_place(walk: Walk, ref: Any) -> bool:
    """Whether a class extends a layer of torch's whose `inplace` nothing sets: it has no such attribute here."""
    if not isinstance(ref, ClassInfo) or ref.torch_base() is None or walk.context.facts.attribute(ref, "inplace") is not None:
        return False
    made = ref.find("__init__")
    return made is None or not any(n.value == "inplace" for n in tree.nodes(made.node, cst.Name))


def attribute(walk: Walk, node: cst.Attribute) -> Any:
    """A property of a tensor, a device or a dtype, or a torch name."""
    name_ = walk.torch_name(node)
    if name_ is not None:
        return reference(walk, node, name_)
    picked = subscripts.picked_attribute(walk, node)
    if picked is not None:
        return picked
    if (foreign := foreign_arrays.table(walk, node)) is not None:
        return foreign
    base = walk.context.value(node.value)
    name = node.attr.value
    if isinstance(base, Instance) and any(walk.context.rulebook.draws(cls, name) for cls in base.classes):
        return walk.unconverted("unsupported", node, f"{name} draws random numbers: call it directly")
    if name == "inplace" and isinstance(base, Module) and base.is_self and all(_is_out_of_place(walk, ref) for ref in base.refs):
        return walk.done(node, cst.Name("False"))
    if isinstance(base, Static) and base.type == "device":
        definitions = walk.context.rulebook.find("torch.device." + name)
        if definitions:
            return walk.apply(node, definitions, "torch.device." + name, [Argument(node.value, base)])
    if name in ("is_floating_point", "is_complex") and isinstance(base, Static) and base.type in ("dtype", ""):
        definitions = walk.context.rulebook.find("torch.dtype." + name)
        return walk.apply(node, definitions, "torch.dtype." + name, [Argument(walk.convert(node.value), base)])
    if isinstance(base, Tensor) and name in PROPERTIES and not (name == "H" and _is_given(walk, node.value) or _is_object(walk, node.value)):
        definitions = walk.context.rulebook.find("torch.Tensor." + name)
        if name == "requires_grad" and not is_differentiable(base):
            return walk.done(node, cst.Name("False"))
        if definitions:
            receiver = Argument(walk.convert(methods.asked(walk, node.value, name)), base)
            return walk.apply(node, definitions, "torch.Tensor." + name, [receiver])
    return walk.only(node, "value")


def reference(walk: Walk, node: Any, name: str) -> Any:
    """A torch name that is not called: a constant, a class, or a function passed on."""
    constant = walk.context.rulebook.constant(name)
    if constant is not None:
        return walk.done(node, tree.expression(constant))
    definitions = walk.context.rulebook.find(name)
    if not definitions:
        return walk.no_rule(node, name)
    definition = definitions[0]
    if not definition.is_class:
        if any(p.name == "key" and p.kind == "keyword" for p in definition.parameters):
            if name.startswith("torch.nn.init."):
                return walk.done(node, tree.expression(walk.context.name(definition.name)))  # for `nn.initial`, which gives it a key
            return walk.unconverted("unsupported", node, f"{name} draws random numbers: call it directly")
        direct = _direct(walk, definition)
        if direct is not None:
            return walk.done(node, direct)
    return walk.done(node, tree.expression(walk.context.name(definition.name)))


def _direct(walk: Walk, definition: Definition) -> Any:
    """`jax.nn.relu` for a rule that only calls it with its own parameters."""
    names = [p.name for p in definition.parameters if p.name not in definition.unused]
    if len(names) != 1:
        return None
    binding = bind(definition, [Argument(cst.Name(names[0]), Tensor())])
    if binding is None:
        return None
    try:
        result = inline(walk.context, binding)
    except Refused:
        return None
    if isinstance(result, cst.Call) and len(result.args) == 1 and result.args[0].keyword is None:
        argument = result.args[0].value
        if isinstance(argument, cst.Name) and argument.value == names[0] and tree.dotted(result.func):
            return result.func
    return None
