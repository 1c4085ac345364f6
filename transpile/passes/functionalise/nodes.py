"""The nodes that the pass makes, with what is known of their values."""

from collections.abc import Iterable

from ...facts.memory import View
from ...facts.memory.inplace_names import is_tensor
from ...facts.values.lattice import (
    MISSING,
    NARROW,
    SHAPE,
    WIDE,
    External,
    Method,
    Static,
    Tensor,
    Torch,
    Value,
)
from ...facts.values.zero_dim import keeps
from ...model.copy import clone
from ...model.effects import NewArray, Put, Read, Unconverted, Write
from ...model.expressions import Attribute, Call, Constant, Display, Lambda, Name, Subscript
from ...model.names import text
from ...model.node import Expression, Node, Statement
from ...model.operators import Binary, Compare
from ...model.program import Parameter
from ...model.statements import Assign, ExpressionStatement

DTYPE = Static(MISSING, "dtype")


def name(id: str, value: Value | None = None) -> Name:
    made = Name(id)
    made.value = value if value is not None else Tensor()
    return made


def method(base: Expression, word: str, arguments: Iterable[Expression] = ()) -> Call:
    """`base.word(arguments)`, of a tensor."""
    function = Attribute(base, word)
    function.value = Method(Tensor(), word)
    made = Call(function, arguments)
    made.value = base.value or Tensor()
    return made


def attribute(base: Expression, word: str, value: Value) -> Attribute:
    made = Attribute(base, word)
    made.value = value
    return made


def call(builtin: str, arguments: Iterable[Expression]) -> Call:
    """`range(n)`"""
    made = Call(name(builtin, External(f"builtins.{builtin}")), arguments)
    made.value = Static(MISSING, "range")
    return made


def called_by(node: Node) -> Node | None:
    return node.expression if isinstance(node, (ExpressionStatement, Assign)) else node


def number(value: int) -> Constant:
    made = Constant(value)
    made.value = Static(value, "int")
    return made


def binary(left: Expression, operator: str, right: Expression) -> Binary:
    """`left + right`, of any operator, with the value of the left side."""
    made = Binary(left, operator, right)
    made.value = left.value
    return made


def in_dtype(target: Expression, new: Expression) -> Expression:
    """The new value of what is written in place, which keeps its dtype: `half += x`."""
    value = target.value
    given = [new.right] if isinstance(new, Binary) else []
    if isinstance(new, Call) and getattr(new.function, "name", "") not in ("copy", "copy_"):
        given = new.arguments  # a copy is of the dtype as it is
    if not isinstance(value, Tensor) or not any(_widens(g.value, value) for g in given):
        return new
    return method(new, "to", [attribute(clone(target), "dtype", DTYPE)])


def _widens(given: Value | None, value: Tensor) -> bool:
    """Whether something of this value may widen an array; what has no dims does not in torch."""
    if not isinstance(given, Tensor) or keeps(value, given):
        return False
    return given.width >= WIDE or value.width - given.width >= NARROW


def fits(target: Expression, new: Expression) -> bool:
    """Whether what is put into a place is of its kind, as far as that is known."""
    old, given = target.value, new.value
    if not isinstance(old, Tensor) or not isinstance(given, Tensor) or old.width >= NARROW:
        return False
    return old.kind == given.kind or old.kind in (None, "f")


def put(base: Expression, index: Expression, how: str, new: Expression) -> Put:
    made = Put(base, index, how, new)
    made.value = base.value or Tensor()
    return made


def with_data(base: Expression, new: Expression) -> Put:
    """`base` with other numbers, and the gradient that it has."""
    dots = Constant(...)
    dots.value = Static(..., "")
    return put(base, dots, "data", new)


def equal_dtypes(one: Expression, other: Expression) -> Compare:
    made = Compare([one, other], ["=="])
    made.value = Static(MISSING, "bool")
    return made


def float64() -> Attribute:
    return attribute(name("torch", Torch("torch")), "float64", Torch("torch.float64"))


def tuple_of(elements: Iterable[Expression]) -> Expression:
    """One expression as it is, several as a tuple."""
    made = list(elements)
    return made[0] if len(made) == 1 else Display("tuple", made)


def store(target: Expression, value: Expression, detached: bool = False) -> Statement:
    """`target = value`; of an array of a module a Write."""
    if isinstance(target, Read):
        return Write(target, value, detached)
    return Assign([target], value)


def registered(asked: Call, value: Expression) -> Statement:
    """`setattr(self, name, Parameter(value))`, of what was `getattr(self, name)`."""
    kind = "param" if getattr(asked.value, "param", False) else "buffer"
    made = NewArray(Name("Parameter" if kind == "param" else "Buffer"), [value], None, kind)
    made.value = asked.value
    return ExpressionStatement(Call(Name("setattr"), [*map(clone, asked.arguments), made]))


def source(node: Expression | Statement) -> str:
    """The user's text of a node, on one line."""
    return " ".join(text(node).split())


def poison(id: str, node: Expression | Statement) -> Unconverted:
    return Unconverted(id, source(node))


# --- views ----------------------------------------------------------------------------------------


def rebased(view: Expression, base: Expression, steps: int = 1) -> Expression:
    """A view, taken of another base; of a view of views the one so many steps inside."""
    made = clone(view)
    inner = holder(made)
    for _ in range(steps - 1):
        inner = holder(inner.object)
    inner.object.replace(base)
    return made


def holder(view: Expression) -> Subscript | Attribute:
    """The part of a view that has what it is a view of as its object."""
    inner = view
    while True:
        if (
            isinstance(inner, Subscript)
            and isinstance(inner.object, Call)
            and not is_tensor(inner.object)
        ):
            inner = inner.object  # `z.chunk(2)[0]`
        elif isinstance(inner, Call) and isinstance(inner.function, Attribute):
            inner = inner.function
        else:
            break
    assert isinstance(inner, (Subscript, Attribute))
    return inner


def put_back(node: Expression, view: View, value: Expression) -> Expression | None:
    """The base of a view with the view's new value in it; None where that cannot be written."""
    base = clone(view.base)
    if view.kind == "same":
        return value
    if view.kind == "index" and view.index is not None:
        return put(base, clone(view.index), "set", value)
    if view.kind == "reshape":
        return method(value, "reshape", [attribute(base, "shape", SHAPE)])
    if view.kind == "swap":
        return rebased(node, value)
    if view.kind == "permute":
        return method(value, "permute", [number(dim) for dim in view.order])
    if view.kind == "through":
        given = view.base.id if isinstance(view.base, Name) else "array"
        through = Lambda([Parameter(given)], rebased(node, name(given)))
        return put(base, through, "set", value)
    return None
