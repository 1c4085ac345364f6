"""Methods of tensors, and of what may be one."""

from ...facts.bindings import bound
from ...facts.memory.numpy_writes import written
from ...facts.values.attribute_names import NUMPY_METHODS, ORDINARY, SHARED, computes, plausible
from ...facts.values.lattice import (
    MISSING,
    NONE,
    NUMPY,
    SHAPE,
    UNKNOWN,
    Method,
    Sequence,
    Static,
    Tensor,
    is_anything,
)
from ...model.expressions import Attribute, Call, Name, Starred, Subscript
from ...model.names import root
from ...model.node import Expression
from ...model.program import Function
from ...model.rulebook import Definition
from ...model.statements import Assign, ExpressionStatement
from . import numpy_methods
from .bind import Argument, argument_of, arguments_of, choose
from .conversion import Conversion, is_dropped
from .literals import known

# What is asked of an array that its gradient has no part in.
_SHAPES = frozenset("size dim shape ndim numel nelement ndimension dtype device".split())


def method_of(call: Call) -> Method | None:
    """The method that a call may run: where its function says nothing, by what its object is."""
    function = call.function
    if not isinstance(function, Attribute):
        return None
    value = known(function)
    if isinstance(value, Method):
        return value
    receiver = known(function.object)
    open_ = value == UNKNOWN and (receiver == UNKNOWN or isinstance(receiver, (Tensor, Static)))
    return Method(receiver, function.name) if open_ else None


def method(c: Conversion, node: Call, found: Method) -> bool:
    """A call of a method; False where that is no tensor's."""
    function, name, receiver = node.function, found.name, found.receiver
    assert isinstance(function, Attribute)
    if name == "item" and receiver == Static(MISSING, "int"):
        c.changes.replace(node, lambda call: call.function.object)
        c.visit(function.object)
        return True
    if name == "numel" and receiver == SHAPE:
        rules = c.rulebook.find("torch.Size.numel")
        c.apply(node, rules, "torch.Size.numel", [argument_of(function, "object")])
        return True
    if isinstance(receiver, Tensor):
        if receiver.host and name not in ("item", "tolist"):
            return False  # JAX's arrays have NumPy's methods
    elif not _may_be_tensor(c, node, found):
        return False
    return _of_tensor(c, node, function, found)


def _of_tensor(c: Conversion, node: Call, function: Attribute, found: Method) -> bool:
    name, receiver = found.name, found.receiver
    rules = _rules(c, node, name)
    certain = isinstance(receiver, Tensor) and not receiver.assumed
    if not certain:
        if c.facts.calls.methods(function):  # `Gaussian(mean, std).sum(2)`, of the user's
            return False
        if is_dropped(node) and computes(name):
            return False  # `seen.add(n)`, `values.sort()`: it writes what is no tensor
        plain = node.positional
        if not plausible(name, [known(argument) for argument in plain]):
            return False
        rules = tuple(rule for rule in rules if not rule.deprecated)
    if not rules:
        if not certain or name in ORDINARY | NUMPY_METHODS:
            return False
        c.no_rule(node, f"torch.Tensor.{name}")
        return True
    arguments = [asked(function, name), *arguments_of(node)]
    if not certain and choose(rules, arguments) is None:
        return False  # not a tensor, then
    numpy_methods.told(c, node, function, found)
    c.apply(node, rules, f"torch.Tensor.{name}", arguments)
    return True


def _rules(c: Conversion, node: Call, name: str) -> tuple[Definition, ...]:
    """The rules of a method: where the code may be traced, one for that goes before the plain one.

    `x.mean().item()` of what a caller outside of the project gives: a call under jit is as likely.
    """
    rules, made = c.rules(f"torch.Tensor.{name}", node), known(node)
    host = made in (NUMPY, Sequence(UNKNOWN)) or name == "item" and isinstance(made, Static)
    if name == "numpy" and made == NUMPY and _is_written(c, node):
        rules = c.rulebook.find("torch.Tensor.numpy[written]") or rules
    if c.may_be_traced and not host:
        rules = c.rulebook.find(f"torch.Tensor.{name}[traced]") or rules
    if name == "to" and _may_be_none(c, node):
        rules = (*c.rulebook.find("torch.Tensor.to[optional]"), *rules)
    if name == "to" and any(isinstance(a, Starred) and a.double for a in node.arguments):
        rules = c.rulebook.find("torch.Tensor.to[spread]")
    return rules


def _is_written(c: Conversion, node: Call) -> bool:
    """Whether a statement writes the array of NumPy's that a call makes, by the name that it has:
    `a = x.numpy(); a[0] = 1`.
    """
    assigns = c.scope.nodes(Assign)
    held = {n for a in assigns if _is_view(a.expression, node) for n in bound(a)}
    statements = [*assigns, *c.scope.nodes(ExpressionStatement)]
    roots = (root(one) for s in statements for one in written(s)) if held else ()
    return any(one is not None and one.id in held for one in roots)


def _is_view(value: Expression | None, node: Call) -> bool:
    """Whether a value is what a call makes, or a view of it: `x.numpy()[0].T`, but no
    `x.numpy().copy()`.
    """
    while value is not node:
        if isinstance(value, Call) and isinstance(value.function, Attribute):
            value = value.function if value.function.name not in ("copy", "astype") else None
        elif isinstance(value, (Attribute, Subscript)):
            value = value.object
        else:
            return False
    return True


def _may_be_none(c: Conversion, node: Call) -> bool:
    """Whether the dtype of a cast is a parameter that is None by default: `def f(x, dtype=None):
    x.to(dtype)`, and `x.to(device, dtype)`.
    """
    if not isinstance(c.scope, Function):
        return False
    defaults = {p.name: p.default for p in c.scope.parameters if p.default is not None}
    named = [a.id for a in node.arguments if isinstance(a, Name) and "dtype" in a.id.lower()]
    found = [defaults[name] for name in named if name in defaults]
    return any(known(default) == NONE for default in found)


def asked(function: Attribute, name: str) -> Argument:
    """The tensor of `x.data.size(0)` and `x.detach().shape`: with or without a gradient it has one
    shape.
    """
    receiver = argument_of(function, "object")
    inner: Expression = receiver.node
    if name in _SHAPES:
        called = isinstance(inner, Call) and not inner.arguments
        target = inner.function if isinstance(inner, Call) and called else inner
        word = "detach" if called else "data"
        if isinstance(target, Attribute) and target.name == word:
            if isinstance(known(target.object), Tensor):
                return argument_of(target, "object")
    return receiver if isinstance(receiver.value, Tensor) else _as_tensor(receiver)


def _as_tensor(receiver: Argument) -> Argument:
    return Argument(receiver.node, Tensor(), place=receiver.place)


def _may_be_tensor(c: Conversion, node: Call, found: Method) -> bool:
    """Whether the method of an unknown object is taken for a tensor's."""
    receiver, name = found.receiver, found.name
    if not is_anything(receiver) and not isinstance(receiver, Method):
        return False
    if name in ("split", "sort", "index"):
        first = known(node.arguments[0]) if node.arguments else UNKNOWN
        return "dim" in node.keywords or isinstance(first, Static) and first.type == "int"
    building = c.facts.stage(c.scope) in ("building", "import")
    return name not in ORDINARY and not (name in SHARED and building)
