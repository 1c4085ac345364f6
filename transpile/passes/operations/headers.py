"""Headers of functions and classes, and what is assigned to."""

from ...facts.stages import PARAMETER
from ...facts.values.lattice import Tensor
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.node import Expression, Node
from ...model.program import Class, Function
from ...model.statements import Assert, Assign, Delete, ExpressionStatement, For, OpaqueStatement
from ...source.lower_ast import expression
from .conversion import Conversion
from .literals import known
from .subscripts import only_one

DISTRIBUTION = "a module is no distribution too: hold the distribution as an attribute"


def function(c: Conversion, node: Node) -> bool:
    """What runs where a function is defined; its body is a scope of its own."""
    assert isinstance(node, Function)
    c.visit_all(node.decorators)
    for parameter in node.parameters:
        if parameter.default is not None:
            c.visit(parameter.default)
    return True


def class_(c: Conversion, node: Node) -> bool:
    """A base class of torch's that has no counterpart is reported."""
    assert isinstance(node, Class)
    c.visit_all(node.decorators)
    for base in node.bases:
        plain = base.object if isinstance(base, Subscript) else base  # `Dataset[int]`
        name = c.torch_name(plain)
        if name in PARAMETER:  # a param is an array like any other, and its class is that
            c.put(base, expression("jax.Array"))
            continue
        if name is None:
            c.visit(base)
            continue
        both = c.is_module_too(name, node)
        rules = c.rulebook.find(name)
        is_one = any(rule.is_class for rule in rules) or c.rulebook.constant(name) is not None
        if is_one and not both:
            c.visit(base)
            continue
        told = f"the base class {name} has no JAX equivalent here"
        c.changes.report("no-rule", base, DISTRIBUTION if both else told)
        if len(node.bases) > 1:  # before others `object` would be out of order
            c.changes.change(base, lambda base: _drop(node, base))
        else:
            c.put(base, Name("object"))
    return True


def _drop(cls: Class, base: Expression) -> None:
    at = next(i for i, b in enumerate(cls.bases) if b is base)
    del cls.bases[at], cls.keywords[at]
    cls.restate()


def asserted(c: Conversion, node: Node) -> bool:
    """`torch._assert(x.ndim == 2, "flat")`, which is a statement of Python's."""
    assert isinstance(node, ExpressionStatement)
    call = node.expression
    if not isinstance(call, Call) or c.torch_name(call.function) != "torch._assert":
        return False
    if not 1 <= len(call.arguments) <= 2 or any(call.keywords):
        return False
    c.visit_all(call.arguments)
    c.changes.replace(node, lambda _: Assert(*call.arguments))
    return True


# --- what is assigned to --------------------------------------------------------------------------


def assign(c: Conversion, node: Node) -> bool:
    """An assignment: a name that is bound refers to nothing of torch's."""
    assert isinstance(node, Assign)
    if only_one(c, node):
        return True
    for target in node.targets:
        _target(c, target)
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
