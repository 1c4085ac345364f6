"""The masks of selections: whether they still have the value that they had, their names, and arrays
whose other places are made safe."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from ...facts.bindings import read
from ...facts.memory.access_paths import of, spelled
from ...facts.memory.indices import number
from ...facts.shapes.ranks import Ranks
from ...facts.values.lattice import MISSING, Method, Static, Tensor, Torch
from ...model.constants import is_whole
from ...model.copy import clone
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Lambda,
    Name,
    NamedExpression,
    Starred,
    Subscript,
)
from ...model.names import dotted, index_parts, is_inplace
from ...model.node import Expression, Node
from ...model.operators import Binary, Compare, Unary
from ...model.program import Scope
from ...model.statements import Assert, Assign
from .domain import RAW, Chosen, Mask
from .frame import Frame, told

Make = Callable[[], Expression]
_MASK = Tensor(kind="b")


# --- what selects ---------------------------------------------------------------------------------


def candidates(scope: Scope) -> frozenset[Node]:
    """The subscripts by one mask and the calls of masked_select in a function."""
    by_index = (n for n in scope.nodes(Subscript) if mask_in(n) is not None)
    return frozenset([*by_index, *(n for n in scope.nodes(Call) if _is_call(n))])


def mask_in(node: Subscript) -> Expression | None:
    """The mask of `x[mask]`, `x[mask, :]` and `x[mask, ...]`."""
    if not (parts := index_parts(node.index)):  # `x[()]`
        return None
    first, *rest = parts
    base, value = of(node.object), of(first)
    if not isinstance(base, Tensor) or base.host or not all(map(is_whole, rest)):
        return None
    if not isinstance(value, Tensor) or value.kind not in ("b", "u"):
        return None
    return None if value.number or value.python else first


def _is_call(node: Call) -> bool:
    value, count = of(node.function), len(node.arguments)
    if any(node.keywords) or any(isinstance(a, Starred) for a in node.arguments):
        return False
    if isinstance(value, Method) and isinstance(node.function, Attribute):
        tensor = isinstance(value.receiver, Tensor)
        return value.name == "masked_select" and count == 1 and tensor
    return value == Torch("torch.masked_select") and count == 2


# --- masks ----------------------------------------------------------------------------------------


def mask_of(frame: Frame, node: Expression) -> Mask | None:
    """A mask as it is where it selects; None where it may not keep that value."""
    names = read(node)
    concerned = any(frame.entry(name).info is not None for name in names)
    written = any(part in frame.written for part in [*names, *_attributes(node)])
    if concerned or any(n in frame.candidates for n in node.walk()):
        return None
    if written and not isinstance(node, (Compare, Unary, Binary)):
        return None  # what is computed there does not change with what it is computed from
    versions = tuple((name, frame.entry(name).version) for name in sorted(names))
    text = spelled(node)
    bytes_ = getattr(of(node), "kind", None) == "u"
    if isinstance(node, Name) and not bytes_:
        return Mask((text, versions), node, frame.ranks(node), frame.statement)
    if not frame.open or text is None or not is_pure(node):
        return None
    key = (text, versions, frame.statement if written else None)
    if key not in frame.env.masks:
        made = _not_zero(clone(node)) if bytes_ else node
        mask = Mask(key, made, frame.ranks(node), frame.statement)
        frame.env.masks[key] = mask
        frame.masks.append(mask)
        frame.before(frame.statement, lambda: _binding(mask))
    return frame.env.masks[key]


def _binding(mask: Mask) -> Assign | None:
    """`mask = x > 0`, where that stands at several places."""
    if mask.name is None:
        return None
    return Assign([told(Name(mask.name), _MASK)], clone(mask.node))


def _attributes(node: Expression) -> Iterator[str]:
    return (name for n in node.walk() if isinstance(n, Attribute) and (name := dotted(n)))


def is_pure(node: Expression) -> bool:
    """Whether an expression can be computed before the statement that it stands in."""
    for n in node.walk():
        if isinstance(n, (NamedExpression, Lambda)):
            return False
        if isinstance(n, Call):
            value = of(n.function)
            if not isinstance(value, (Torch, Method)) or is_inplace(value.name):
                return False
    return True


def _not_zero(node: Expression) -> Expression:
    """An index of bytes is a mask in torch."""
    return told(Compare([node, told(Constant(0), Static(0, "int"))], ["!="]), _MASK)


def use(frame: Frame, chosen: Chosen) -> Make:
    """The mask of a selection as an expression, where it still has the value that it had there."""
    mask = chosen.mask
    if isinstance(mask.node, Name):
        if any(frame.entry(name).version != version for name, version in mask.key[1]):
            frame.refuse(chosen)
    mask.uses.append(frame.statement)
    return lambda: clone(mask.node) if mask.name is None else told(Name(mask.name), _MASK)


# --- masks of whole rows --------------------------------------------------------------------------

Rows = tuple[Expression, int | None]  # a mask, and how many dims it has, where that is written


def rows_of(frame: Frame, node: Expression) -> Rows | None:
    """The mask that an expression has once more for each place along a last dim, as
    `mask.unsqueeze(-1).expand_as(x)`."""
    if isinstance(node, Name):
        found, versions = frame.rows.get((node.id, frame.entry(node.id).version), (None, ()))
        return found if all(frame.entry(name).version == v for name, v in versions) else None
    if isinstance(node, Call) and isinstance(node.function, Attribute):
        if isinstance(of(node.function), Method) and not any(node.keywords):
            return _rows_of_call(frame, node, node.function)
    elif isinstance(node, Binary) and node.operator in ("+", "|", "&", "*"):
        left, right = rows_of(frame, node.left), rows_of(frame, node.right)
        if left and right and left[1] == right[1]:
            return told(Binary(left[0], node.operator, right[0]), of(node)), left[1]
    return None


def _rows_of_call(frame: Frame, node: Call, function: Attribute) -> Rows | None:
    inner = function.object
    constant = node.arguments and isinstance(node.arguments[0], Constant)
    if function.name in frame.tables.compared and constant:
        rows = rows_of(frame, inner)
        if rows is None:
            return None
        method = told(Attribute(rows[0], function.name), of(function))
        return told(Call(method, [clone(node.arguments[0])]), of(node)), rows[1]
    if function.name not in ("expand", "expand_as", "repeat") or not isinstance(inner, Call):
        return None
    made = inner.function
    if not isinstance(made, Attribute) or made.name != "unsqueeze" or inner.keywords != [None]:
        return None
    dim, mask = inner.arguments[0], made.object
    last = number(dim) == -1 or spelled(dim) in _lengths(spelled(mask))
    count = number(dim)
    if not last and (count is None or count < 1) or spelled(mask) is None:
        return None
    return clone(mask), None if last else count


def _lengths(text: str | None) -> tuple[str, ...]:
    return tuple(f"{text}.{word}" for word in ("ndim", "dim([], )", "ndimension([], )"))


# --- several selections ---------------------------------------------------------------------------


def aligned(frame: Frame, a: Chosen, b: Chosen) -> Chosen | None:
    """Two selections whose wholes have one rank, as one; None where that is not known, and cannot
    be asserted."""
    if a.mask.key != b.mask.key:
        return None
    env = frame.env
    alike = a.flat == b.flat and (a.flat or env.resolve(a.ranks) == env.resolve(b.ranks))
    if not alike and not (env.covers(a) and env.covers(b)):
        if a.flat != b.flat or not _asserted(frame, a, b):
            return None
    return replace(a, flat=a.flat and b.flat, ranks=a.ranks | b.ranks)


def _asserted(frame: Frame, a: Chosen, b: Chosen) -> bool:
    """Have it asserted that two wholes have one rank, and take that for granted."""
    one, other = _asked(frame, a.ranks), _asked(frame, b.ranks)
    if one is None or other is None or not frame.open:
        return False
    test = Compare([one, other], ["=="])
    test.value = Static(MISSING, "bool")
    frame.before(frame.statement, lambda: Assert(test))
    assume(frame, a.ranks, b.ranks, a.mask.ranks)
    return True


def _asked(frame: Frame, ranks: Ranks) -> Expression | None:
    """`x.ndim`, or `x.ndim + 1`, of a name that has this rank here, or some dims less."""
    names = frame.env.names
    found = {name: 0 for name, entry in names.items() if entry.ranks == ranks}
    for (token, more), *others in [sorted(ranks, key=repr)] if ranks else []:
        if not others and more >= 0:
            alone = frozenset([(token, 0)])
            found |= {name: more for name, entry in names.items() if entry.ranks == alone}
            if isinstance(token, tuple) and frame.entry(token[0]).version == token[1]:
                found[token[0]] = more
    if not found:
        return None
    name, more = next(iter(found.items()))
    made: Expression = told(Attribute(told(Name(name), Tensor()), "ndim"), Static(MISSING, "int"))
    if more:
        made = told(Binary(made, "+", told(Constant(more), Static(more, "int"))), made.value)
    return made


def assume(frame: Frame, one: Ranks, other: Ranks, mask: Ranks) -> None:
    """Take two ranks for the same from here on: that of the mask, if one of them is."""
    left, right = frame.env.resolve(one), frame.env.resolve(other)
    known, new = (left, right) if left <= frame.env.resolve(mask) else (right, left)
    if known != new:
        frame.env.same[new] = known


# --- what is outside ------------------------------------------------------------------------------


def safe(frame: Frame, node: Expression, chosen: Chosen, at: str | float) -> None:
    """Have a number outside of the mask where an operation needs one there: any, or this one."""
    if isinstance(at, str):
        if not is_finite(chosen):
            fill(frame, node, chosen, 0)
        return
    if chosen.binding is not None:
        frame.needs.setdefault(chosen.binding, set()).add(at)
    outside = chosen.outside
    if isinstance(outside, str) or outside != at and not (at == 1 and outside > 0):
        fill(frame, node, chosen, at)


def is_finite(chosen: Chosen) -> bool:
    return chosen.kind == "b" or chosen.outside != RAW


def fill(frame: Frame, node: Expression, chosen: Chosen, at: float) -> None:
    frame.edit(node, filling(frame, chosen, at))


def filling(frame: Frame, chosen: Chosen, at: float) -> Callable[[Expression], Expression]:
    """`torch.where(mask, x, 0)` of x"""
    mask, kind = use(frame, chosen), Tensor(kind=chosen.kind)
    mark = "[rows]" if frame.env.is_loose(chosen) else ""
    number = False if chosen.kind == "b" else int(at) if at == int(at) else at

    def make(whole: Expression) -> Expression:
        other = told(Constant(number), Static(number, type(number).__name__))
        whole.value = whole.value if isinstance(whole.value, Tensor) else kind
        return of_torch("where", [mask(), whole, other], mark, kind)

    return make


def of_torch(
    name: str, arguments: list[Expression], mark: str = "", value: Tensor | None = None
) -> Call:
    """A call of a function of torch's, or of what a rule with a mark makes of it."""
    module, _, last = f"torch.{name}".rpartition(".")
    spelled_ = Name("torch") if module.startswith("torch.Tensor") else Name(module)
    function = told(Attribute(spelled_, last), Torch(f"torch.{name}{mark}"))
    return told(Call(function, arguments), value or Tensor())  # type: ignore[return-value]
