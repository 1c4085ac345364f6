"""Headers of functions and classes, annotations, and what is assigned to."""

from __future__ import annotations

from ...facts.values.lattice import Tensor, Torch
from ...model.expressions import Attribute, Constant, Name, Subscript
from ...model.node import Expression, Node
from ...model.program import Class, Function, Parameter
from ...model.statements import Assign, Delete, For, OpaqueStatement
from ...source.splice import show
from .conversion import Conversion
from .literals import known


def function(c: Conversion, node: Node) -> bool:
    """What runs where a function is defined; its body is a scope of its own."""
    assert isinstance(node, Function)
    c.visit_all(node.decorators)
    for parameter in node.parameters:
        if parameter.annotation is not None and not annotation_fits(c, parameter.annotation):
            c.changes.replace(parameter, lambda p: Parameter(p.name, p.kind, None, p.default))
        elif parameter.annotation is not None:
            c.visit(parameter.annotation)
        if parameter.default is not None:
            c.visit(parameter.default)
    if node.returns is not None:
        annotation(c, node.returns)
    return True


def class_(c: Conversion, node: Node) -> bool:
    """A base class of torch's that has no counterpart is reported."""
    assert isinstance(node, Class)
    c.visit_all(node.decorators)
    for base in node.bases:
        plain = base.object if isinstance(base, Subscript) else base  # `Dataset[int]`
        name = c.torch_name(plain)
        if name is None or c.rulebook.find(name) or c.rulebook.constant(name) is not None:
            c.visit(base)
            continue
        c.changes.report("no-rule", base, f"the base class {name} has no JAX equivalent here")
        c.put(base, Name("object"))
    return True


def annotation(c: Conversion, node: Expression) -> None:
    """An annotation; one that names what has no equivalent is quoted, since nobody needs it."""
    if annotation_fits(c, node):
        c.visit(node)
    else:
        c.put(node, Constant(show(node).replace('"', "'")))


def annotation_fits(c: Conversion, node: Expression) -> bool:
    """Whether all that an annotation names has an equivalent."""
    for part in node.walk():
        value = known(part) if isinstance(part, (Name, Attribute)) else None
        outer = isinstance(part.parent, Attribute) and isinstance(known(part.parent), Torch)
        if isinstance(value, Torch) and not outer:
            if not c.rulebook.find(value.name) and c.rulebook.constant(value.name) is None:
                return False
    return True


# --- what is assigned to --------------------------------------------------------------------------


def assign(c: Conversion, node: Node) -> bool:
    """An assignment: a name that is bound refers to nothing of torch's."""
    assert isinstance(node, Assign)
    for target in node.targets:
        _target(c, target)
    if node.annotation is not None:
        annotation(c, node.annotation)
    if node.expression is not None:
        c.visit(node.expression)
    return True


def loop(c: Conversion, node: Node) -> bool:
    assert isinstance(node, For)
    _target(c, node.target)
    c.visit_all(child for child in node.children() if child is not node.target)
    return True


def delete(c: Conversion, node: Node) -> bool:
    """`del x`: what is unbound is no reference either."""
    assert isinstance(node, Delete)
    for target in node.targets:
        _target(c, target)
    return True


def matched(c: Conversion, node: Node) -> bool:
    """A `match`, in whose patterns only names can stand: one without equivalent is reported, and
    left.
    """
    assert isinstance(node, OpaqueStatement)
    for part in node.inside:
        name = c.torch_name(part)
        if name is None or c.rulebook.find(name) or c.rulebook.constant(name) is not None:
            c.visit(part)
        else:
            c.changes.report("no-rule", part, f"{name} has no JAX equivalent here")
    return True


def _target(c: Conversion, target: Expression) -> None:
    """Of what is written to, the parts that are read."""
    if isinstance(target, Attribute):
        c.visit(target.object)
    elif isinstance(target, Subscript):
        if isinstance(known(target.object), Tensor):
            c.visit_all(target.children())
        else:
            c.visit(target)
    elif not isinstance(target, Name):
        for child in target.children():
            if isinstance(child, Expression):
                _target(c, child)
