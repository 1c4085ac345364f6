"""How many turns a loop has, as far as that can be asked before it; parts of what gives keys."""

from ...model.copy import clone
from ...model.expressions import Attribute, Call, Comprehension, Constant, Display, Name, Starred
from ...model.names import dotted, text
from ...model.node import Expression, Statement
from ...model.operators import Binary, Unary
from ...model.program import Function
from ...model.statements import Assign, Block

_WALKS = "children modules parameters buffers"
_ITERATORS = {
    *"zip map filter enumerate reversed iter".split(),
    *(f"{kind}{walk}" for walk in _WALKS.split() for kind in ("", "named_")),
}


def pair(target: Expression, name: str) -> Expression:
    return Display("tuple", [target, Name(name)])


def word(iterable: Expression) -> str:
    if isinstance(iterable, Call) and isinstance(iterable.function, Name):
        return iterable.function.id
    return ""


def length(iterable: Expression) -> Expression | None:
    """How many turns there are at least, where that can be asked without evaluating anything."""
    if isinstance(iterable, (Name, Attribute)):
        if any(map(_is_iterator, _values(iterable))):
            return None
        return Call(Name("len"), [clone(iterable)])
    if isinstance(iterable, Display) and not any(isinstance(e, Starred) for e in iterable.elements):
        return Constant(len(iterable.elements))
    if not isinstance(iterable, Call) or not iterable.arguments or any(iterable.keywords):
        return None
    kind, first = word(iterable), iterable.arguments[0]
    if kind == "range":
        return _turns(iterable.arguments)
    return length(first) if kind in ("enumerate", "reversed", "zip", "list") else None


def _turns(arguments: list[Expression]) -> Expression:
    """`n` of `range(0, n)`, `max(n - 1, 0)` of `range(1, n)`."""
    first, end, *step = arguments if len(arguments) > 1 else (Constant(0), *arguments)
    if step or not isinstance(first, (Attribute, Binary, Constant, Name)):
        return Call(Name("len"), [Call(Name("range"), [clone(a) for a in arguments])])
    number, last = getattr(first, "constant", None), getattr(end, "constant", None)
    if isinstance(number, int) and isinstance(last, int):
        return Constant(max(last - number, 0))
    if number == 0 and not _may_be_negative(end):
        return clone(end)
    count = clone(end) if number == 0 else Binary(clone(end), "-", clone(first))
    return Call(Name("max"), [count, Constant(0)])


def beginning(iterable: Expression) -> list[Expression] | None:
    """What `enumerate` is given of a range beside the keys: `1` of `range(1, n)`."""
    if not isinstance(iterable, Call) or word(iterable) != "range" or len(iterable.arguments) > 2:
        return None
    first = iterable.arguments[0] if len(iterable.arguments) > 1 else Constant(0)
    if not isinstance(first, Constant):
        return None
    return [clone(first)] if first.constant else []


def _is_iterator(value: Expression) -> bool:
    """Whether what a name stands for has no length: `pairs = zip(self.convs, self.norms)`."""
    if isinstance(value, Comprehension):
        return value.kind == "generator"
    kind = word(value) or getattr(getattr(value, "function", None), "name", "")
    return isinstance(value, Call) and kind in _ITERATORS


def _may_be_negative(count: Expression) -> bool:
    """`len(sizes) - 1`, which is -1 of no sizes, `depth - 5`, `-1`: a range has no turns then."""
    parts = [n for v in _values(count) for n in v.walk() if isinstance(n, (Binary, Unary))]
    less = [n for n in parts if n.operator == "-"]
    if any(isinstance(n, Unary) for n in less):
        return True
    return any(
        text(n.right) != "1" or "len" in map(word, _values(n.left))
        for n in less
        if isinstance(n, Binary)
    )


def _values(count: Expression) -> list[Expression]:
    """It, and what the function around sets a name, or an attribute, to."""
    path = dotted(count)
    function = next((n for n in count.ancestors() if isinstance(n, Function)), None)
    if path is None or function is None:
        return [count]
    assigns = [a for a in function.nodes(Assign) if path in map(dotted, a.targets)]
    return [count, *(a.expression for a in assigns if a.expression is not None)]


def at_start(block: Block, statement: Statement) -> None:
    """Put a statement at the beginning of a block, behind its docstring."""
    first = block.body[0] if block.body else None
    inner = getattr(first, "expression", None)
    if first is None:
        block.append([statement])
    elif isinstance(inner, Constant) and isinstance(inner.constant, str):
        block.insert_after(first, [statement])
    else:
        block.insert_before(first, [statement])
