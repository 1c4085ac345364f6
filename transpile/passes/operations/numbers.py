"""Numbers of NumPy's, which are Python's floats to torch, and arrays to JAX.

JAX widens bfloat16 beside such an array, and float32 under x64: `x * np.sqrt(5)` is
`x * float(np.sqrt(5))`; what meets no array stays: `int(np.sqrt(n))`. The limits of a dtype are
such numbers in JAX: `x + float(jnp.finfo(jnp.float32).eps)`, but for `jnp.finfo(x.dtype)`.
"""

from collections.abc import Iterator

from ...facts.values.lattice import NUMPY, External, Static, Tensor, Torch, is_anything, is_traced
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Display,
    FormattedString,
    Name,
    Subscript,
)
from ...model.node import Expression, Node
from ...model.operators import Binary, Compare, Unary
from ...model.program import Function
from ...model.statements import Assign
from ...source.lower_ast import expression
from .conversion import Conversion, Handler
from .literals import known

# Whose functions take NumPy's numbers as they are.
_HOSTS = ("builtins.", "numpy.", "math.", "scipy.")
_ARITHMETIC = (Call, Binary, Unary)
_PLACES = (*_ARITHMETIC, Attribute, Assign, Compare, FormattedString, Subscript)


def watched(handlers: dict[type, Handler]) -> dict[type, Handler]:
    """Handlers that see to NumPy's numbers first."""

    def watch(handler: Handler | None) -> Handler:
        def handle(c: Conversion, node: Node) -> bool:
            _look(c, node)
            return handler is not None and handler(c, node)

        return handle

    return {**handlers, **{kind: watch(handlers.get(kind)) for kind in _PLACES}}


def _look(c: Conversion, node: Node) -> None:
    value = known(node)
    if isinstance(node, Attribute) and _is_limit(node):
        _number(c, node)
        return
    wide = isinstance(value, Static) and value.wide
    if isinstance(node, _ARITHMETIC) and wide and getattr(value, "type", "") == "float":
        _number(c, node)
        return
    # beside an array of NumPy's it is as wide as that
    if value == NUMPY or not isinstance(node, (Binary, Unary)):
        c.kept.update(_without_arrays(node))
    if isinstance(node, Binary):
        _met(c, node)


def _is_limit(node: Attribute) -> bool:
    """`torch.finfo(torch.float32).eps`"""
    call = node.object
    if not isinstance(call, Call) or node.name in ("bits", "dtype"):
        return False
    function = known(call.function)
    if not isinstance(function, Torch) or function.name != "torch.finfo":
        return False
    return not any(isinstance(a, Attribute) and a.name == "dtype" for a in call.arguments)


def _number(c: Conversion, node: Expression) -> None:
    """What NumPy makes of Python's numbers, as Python's own where it may meet an array."""
    if node not in c.kept and _may_meet_arrays(c):
        c.changes.wrap(node, _python)
        c.kept.update(_without_arrays(node))
    elif node in c.kept:
        c.kept.update(_without_arrays(node))


def _may_meet_arrays(c: Conversion) -> bool:
    """Whether code computes with arrays under jit, or makes what such code may read."""
    stage = c.facts.stage(c.scope)
    if stage is not None:
        return stage != "host"
    file = c.scope.file
    return file is not None and c.facts.project.names[file].uses_torch


def _met(c: Conversion, node: Binary) -> None:
    """What meets an array where it is traced: `x * float(self.scale)` for what is NumPy's number if
    it is one, `x / jnp.sqrt(length)` for what NumPy computes with what a forward pass is given.
    """
    if not c.traced:
        return
    for one, other in ((node.left, node.right), (node.right, node.left)):
        value, array = known(one), known(other)
        if not isinstance(array, Tensor) or array.host:
            continue
        if _computes_with_argument(c, one):
            assert isinstance(one, Call) and isinstance(of := known(one.function), External)
            c.put(one.function, expression(of.name.replace("numpy.", "jnp.")))
        elif isinstance(value, Static) and value == NUMPY and value.wide and is_traced(array):
            c.changes.wrap(one, _python)


def _computes_with_argument(c: Conversion, node: Expression) -> bool:
    """Whether NumPy computes with what a forward pass is given, and nothing says to be anything
    else: `np.sqrt(length)`. jax.numpy takes a number, too.
    """
    value = known(node.function) if isinstance(node, Call) else None
    if not isinstance(value, External) or not _is_forward(c):
        return False
    if value.name.removeprefix("numpy.") not in c.rulebook.table("TRACEABLE"):
        return False
    assert isinstance(node, Call)
    named = [isinstance(a, Name) and a.id in c.given for a in node.arguments]
    return all(named) and all(is_anything(known(argument)) for argument in node.arguments)


def _is_forward(c: Conversion) -> bool:
    """Whether the scope is a forward pass: what calls it gives arrays alone."""
    return isinstance(c.scope, Function) and c.scope.name in ("forward", "__call__")


def _python(node: Expression) -> Expression:
    """Python's float of a number, which does not widen what it meets."""
    made = Call(Name("float"), [node])
    made.value = Static(type="float")
    return made


def _without_arrays(node: Node) -> Iterator[Node]:
    """What stands in an expression that computes with no array."""
    if isinstance(node, Call):
        value = known(node.function)
        if isinstance(value, External) and value.name.startswith(_HOSTS):
            for argument in node.arguments:
                yield from _elements(argument)
    elif isinstance(node, Assign):  # into an array of NumPy's: `table[i, 0] = np.sin(i)`
        target = node.targets[0]
        if isinstance(target, Subscript) and known(target.object) == NUMPY and node.expression:
            yield node.expression
    elif isinstance(node, Attribute):  # `np.ceil(n).astype(int)`
        yield node.object
    elif isinstance(node, Subscript):
        yield from _elements(node.index)
    else:
        yield from node.children()


def _elements(node: Node) -> Iterator[Node]:
    """An argument, or what stands in a list that is written out there."""
    if isinstance(node, Display):
        for element in node.elements:
            yield from _elements(element)
    elif isinstance(node, Comprehension):
        yield from _elements(node.element)
    else:
        yield node
