"""Tests of types that JAX's arrays do not have: by dtype, numbers that are arrays under jit, and
parameters.

isinstance(x, torch.LongTensor)     ->  isinstance(x, jax.Array) and x.dtype == jnp.result_type(int)
isinstance(x.sum().item(), float)   ->  jnp.issubdtype(jnp.result_type(x.sum()), jnp.floating)
"""

from ...facts.values.lattice import External, Tensor, Torch, Value, is_anything
from ...model.copy import clone
from ...model.effects import Read
from ...model.expressions import Attribute, Call, Constant, Display, Name, Starred
from ...model.node import Expression, Node
from ...model.operators import Boolean, Compare, Unary
from ...model.statements import Assign
from ...source.lower_ast import expression
from ...source.splice import show
from . import dtypes, promotion
from .asked_attributes import attribute_asked
from .conversion import Conversion
from .literals import known, simple
from .specialise import Refused

_NUMBERS = {
    "builtins.float": "jnp.floating",
    "numpy.floating": "jnp.floating",
    "builtins.int": "jnp.integer",
    "numpy.integer": "jnp.integer",
}
_ANY_NUMBER = frozenset({"numbers.Number", "numbers.Real"})
_TENSORS = ("torch.Tensor", "torch.autograd.Variable")
_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
_ARE_ARRAYS = (
    "parameters are arrays like any other here, so that nothing is an instance of nn.Parameter:"
    " see that the other way computes the same values"
)
_NOT_YET = "an array that is handed on is no Parameter here before a module holds it"
_EITHER = "what may be a tensor or a number of Python's is an array here in either case"


def compared(c: Conversion, node: Node) -> bool:
    """A comparison; of dtypes and of types by what holds in JAX."""
    assert isinstance(node, Compare)
    try:
        if not _of_type(c, node) and not dtypes.compared(c, node):
            promotion.mark(c, node)
            c.visit_compared(node.children())
    except Refused as refused:
        c.unconverted("unsupported", node, f"{show(node)}: {refused}")
    return True


def asked(c: Conversion, node: Call) -> bool:
    """A call that tests a type; False for any other."""
    try:
        return dtypes.asked(c, node) or _isinstance(c, node) or attribute_asked(c, node)
    except Refused as refused:
        c.unconverted("unsupported", node, f"{show(node)}: {refused}")
        return True


def _isinstance(c: Conversion, node: Call) -> bool:
    if known(node.function) != External("builtins.isinstance") or node.keywords != [None, None]:
        return False
    if any(isinstance(argument, Starred) for argument in node.arguments):
        return False
    subject, kinds = node.arguments
    parts = parts_of(kinds)
    if any(_torch_name(part) in _PARAMETERS for part in parts):
        made = _of_parameter if c.may_be_traced else _of_parameter_while_building
        return made(c, node, subject, parts)
    return _of_dtype(c, node, subject, parts) or _of_number(c, node, subject, parts)


def _of_type(c: Conversion, node: Compare) -> bool:
    """`type(n) == int` where n is an array under jit. Raises Refused."""
    left = node.operands[0]
    if not isinstance(left, Call) or known(left.function) != External("builtins.type"):
        return False
    if len(left.arguments) != 1 or len(node.operators) != 1:
        return False
    word = node.operators[0]
    if word not in ("is", "==", "in", "is not", "!=", "not in"):
        return False
    negated = word in ("is not", "!=", "not in")
    subject, parts = left.arguments[0], parts_of(node.operands[1])
    return _of_array(c, node, parts, negated) or _of_number(c, node, subject, parts, negated)


def parts_of(kinds: Expression) -> list[Expression]:
    return kinds.elements if isinstance(kinds, Display) else [kinds]


def _torch_name(node: Expression) -> str:
    value = known(node)
    return value.name if isinstance(value, Torch) else ""


def _of_array(c: Conversion, node: Compare, parts: list[Expression], negated: bool) -> bool:
    """`type(x) is torch.Tensor`: an array is of a type of its own in a traced function, so that it
    is asked whether it is an instance. Raises Refused."""
    arrays = [part for part in parts if _torch_name(part) in (*_TENSORS, *_PARAMETERS)]
    if not arrays:
        return False
    others = [part for part in parts if part not in arrays]
    subject, _ = _tested(node)
    if others and not simple(subject):
        raise Refused("tests of a tensor's type are of names here")
    if any(_torch_name(part) in _PARAMETERS for part in arrays):
        _tell_parameter(c, subject)

    def make(n: Compare) -> Expression:
        inner, kinds = _tested(n)
        test: Expression = Call(Name("isinstance"), [clone(inner), expression("jax.Array")])
        left = [k for part, k in zip(parts, parts_of(kinds)) if part in others]
        if left:
            rest = Compare([n.operands[0], Display("tuple", left)], ["in"])
            test = Boolean(test, "or", rest)
        return Unary("not", test) if negated else test

    c.changes.replace(node, make)
    c.visit_all([subject, *others])
    return True


# --- types of tensors -----------------------------------------------------------------------------


def _of_dtype(c: Conversion, node: Call, subject: Expression, parts: list[Expression]) -> bool:
    """`isinstance(x, (torch.FloatTensor, torch.cuda.FloatTensor))`: torch has one type for each
    dtype and device.
    """
    names = [_torch_name(part) for part in parts]
    asked = [name for name in names if name and c.rulebook.constant(f"{name}[dtype]")]
    if not asked or any(name in _TENSORS for name in names):
        return False
    if not simple(subject):
        raise Refused("tests of a tensor's type are of names here")
    wanted, value = dtypes.dtypes_named(c, asked), known(subject)
    others = [part for part, name in zip(parts, names) if name not in asked]
    sure = isinstance(value, Tensor) and not (value.assumed or value.none or value.number)
    sure = sure and not others

    def make(n: Call) -> Expression:
        first, kinds = n.arguments
        by_dtype = dtypes.one_of(Attribute(clone(first), "dtype"), wanted, "in")
        if sure:
            return by_dtype
        is_array = Call(Name("isinstance"), [clone(first), expression("jax.Array")])
        both = Boolean(is_array, "and", by_dtype)
        left = [k for part, k in zip(parts, parts_of(kinds)) if part in others]
        if not left:
            return both
        kind = left[0] if len(left) == 1 else Display("tuple", left)
        return Boolean(Call(Name("isinstance"), [first, kind]), "or", both)

    c.changes.replace(node, make)
    c.visit_all([subject, *others])
    return True


# --- numbers --------------------------------------------------------------------------------------


def _of_number(
    c: Conversion,
    node: Expression,
    subject: Expression,
    parts: list[Expression],
    negated: bool = False,
) -> bool:
    """Whether a number that is an array here has one of these types; False where it is no such
    number.
    """
    value = known(subject)
    values = [known(part) for part in parts]
    names = [v.name if isinstance(v, External) else "" for v in values]
    wanted = sorted({_NUMBERS[name] for name in names if name in _NUMBERS})
    every = len(wanted) == 2 or bool(_ANY_NUMBER & set(names))
    if not c.may_be_traced or not _is_number(c, subject, value):
        return False
    tensors = any(_torch_name(part) in _TENSORS for part in parts)
    if not wanted and not every or every and tensors:
        return False
    if isinstance(value, Tensor) and value.number is None:
        raise Refused(_EITHER)
    if not every and not all(name in _NUMBERS for name in names):
        raise Refused("a number that is computed from a tensor is an array here")

    def make(n: Expression) -> Expression:
        inner, kinds = _tested(n)
        if every:
            made = Display("tuple", [*parts_of(kinds), expression("jax.Array")])
            test: Expression = Call(Name("isinstance"), [inner, made])
        else:
            dtype = Call(expression("jnp.result_type"), [inner])
            test = Call(expression("jnp.issubdtype"), [dtype, expression(wanted[0])])
        return Unary("not", test) if negated else test

    c.changes.replace(node, make)
    c.visit_all([subject, *parts])
    return True


def _is_number(c: Conversion, subject: Expression, value: Value) -> bool:
    """Whether a value may be a number that is an array here, or what a name may hold that anything
    else may stand in too: `if torch.is_tensor(v): v = v.item()`.
    """
    if isinstance(value, Tensor):
        return not value.assumed and not value.host and value.number is not False
    if not isinstance(subject, Name) or not is_anything(value):
        return False
    found = c.definitions.of.get(subject, frozenset())
    assigns = [d.parent for d in found if d is not None and isinstance(d.parent, Assign)]
    given = [known(a.expression) for a in assigns if a.expression is not None]
    return any(isinstance(v, Tensor) and v.number and not v.host for v in given)


def _tested(node: Expression) -> tuple[Expression, Expression]:
    """Subject and types of `isinstance(n, int)` and of `type(n) == int`."""
    if isinstance(node, Compare):
        called = node.operands[0]
        assert isinstance(called, Call)
        return called.arguments[0], node.operands[1]
    assert isinstance(node, Call)
    return node.arguments[0], node.arguments[1]


# --- parameters -----------------------------------------------------------------------------------


def _of_parameter(c: Conversion, node: Call, subject: Expression, parts: list[Expression]) -> bool:
    """`isinstance(w, (int, nn.Parameter))`: a param is an array, nothing else is one of them."""
    is_param = isinstance(subject, Read) and subject.kind != "buffer"
    gone = {part for part in parts if _torch_name(part) in _PARAMETERS}
    arrays = any(_torch_name(part) in _TENSORS for part in parts)
    if not arrays:
        _tell_parameter(c, subject)
    others = [part for part in parts if part not in gone]

    def make(n: Call) -> Expression:
        inner, kinds = n.arguments
        left = [k for part, k in zip(parts, parts_of(kinds)) if part not in gone]
        if is_param and not arrays:
            left.append(expression("jax.Array"))
        if not left:
            return Constant(False)
        kind = left[0] if len(left) == 1 else Display("tuple", left)
        return Call(n.function, [inner, kind])

    c.changes.replace(node, make)
    c.visit_all([subject, *others])
    return True


def _of_parameter_while_building(
    c: Conversion, node: Call, subject: Expression, parts: list[Expression]
) -> bool:
    """`isinstance(m.bias, nn.Parameter)`: whether it is there. Raises Refused of what a module does
    not hold: an array that becomes a param is like any other before."""
    if not isinstance(subject, Read) or subject.kind != "param" or len(parts) > 1:
        raise Refused(_NOT_YET)
    c.changes.replace(node, lambda n: Compare([n.arguments[0], Constant(None)], ["is not"]))
    c.visit_all([subject])
    return True


def _tell_parameter(c: Conversion, subject: Expression) -> None:
    """Of what may be a parameter it is reported that parameters are arrays like any other."""
    value = known(subject)
    if not c.may_be_traced or isinstance(subject, Read) and subject.kind == "buffer":
        return
    computed = isinstance(value, Tensor) and not isinstance(subject, (Name, Attribute))
    if not computed and (isinstance(value, Tensor) or is_anything(value)):
        c.changes.report("taken-for-granted", subject, _ARE_ARRAYS)
