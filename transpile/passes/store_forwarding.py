"""An array that is made and then filled begins as what fills it: one of a module in its
constructor, and a local one.

    self.w = Parameter(zeros(n, d))        self.w = Parameter(normal(key, (n, d)))
    self.fc = Linear(d, d)            →    self.fc = Linear(d, d)
    normal_(self.w)

    noise = zeros(n, d)               →    noise = normal(key, (n, d))
    noise = normal(key, noise.shape)

What stands between the two must not see the first value, nor change what the second is made of;
nothing does of a local one.
"""

from collections.abc import Sequence, Set
from typing import Any, NamedTuple

from ..model.copy import Change, clone, rebuilt
from ..model.effects import BUFFER, PARAM, Declare, Read, Tie, Walk, Write
from ..model.expressions import Attribute, Call, Display, Name, Subscript
from ..model.names import dotted, is_called, names_assigned, names_in
from ..model.node import Expression, Node, Statement
from ..model.program import Function, Scope
from ..model.statements import Assign, Block, ExpressionStatement
from .pass_ import Changes, Pass

_MADE = frozenset(
    "jnp.zeros jnp.ones jnp.empty jnp.full jax.random.normal jax.random.uniform".split()
)
_LIKE = {"jnp.zeros_like": "zeros", "jnp.ones_like": "ones", "jnp.full_like": "full"}


def run(scope: Scope, facts: Any) -> Changes:
    """Forward what arrays of one function are filled with to where they are made."""
    changes = Changes(scope)
    if not isinstance(scope, Function):
        return changes
    for assign in (*scope.nodes(Declare), *scope.nodes(Assign)):
        if not _is_made(assign.expression):
            continue
        filled = _of_module(assign) if isinstance(assign, Declare) else _of_local(assign)
        if assign.expression is not None and filled is not None:
            changes.replace(assign.expression, filled.value)
            changes.remove(filled.by)
    return changes


class _Filled(NamedTuple):
    """What fills an array, and the value that it begins as by that."""

    by: Statement
    value: Expression


def _of_module(declare: Declare) -> _Filled | None:
    write = _next(declare) if declare.kind in (PARAM, BUFFER) else None
    value = _forwarded(write.value, declare) if write is not None else None
    return _Filled(write, value) if write is not None and value is not None else None


def _of_local(first: Assign) -> _Filled | None:
    """A name that is set anew, by what asks for no more than the shape and dtype of the array."""
    second, made, name = _again(first), first.expression, _plain_name(first)
    if second is None or second.expression is None or not isinstance(made, Call):
        return None
    reads = [n for n in second.expression.walk() if isinstance(n, Name) and n.id == name]
    value = _asking_shape(second.expression, reads, made) if reads else None
    return _Filled(second, value) if value is not None else None


def _again(assign: Assign) -> Assign | None:
    """The assignment right below one of a name, to the same name."""
    block, names = assign.parent, [_plain_name(assign)]
    at = block.body.index(assign) + 1 if isinstance(block, Block) else 0
    following = block.body[at] if isinstance(block, Block) and at < len(block.body) else None
    again = isinstance(following, Assign) and [_plain_name(following)] == names != [None]
    return following if again and isinstance(following, Assign) else None


def _plain_name(assign: Assign) -> str | None:
    plain = not assign.operator and not assign.targets[1:] and assign.annotation is None
    target = assign.targets[0]
    return target.id if plain and isinstance(target, Name) else None


def _is_made(value: Expression | None) -> bool:
    """Whether a value is a new array of a shape, of which nothing else knows, or a copy of another
    one of the module: `self.mask = self.weight.data.clone()`, of which the shape alone is kept."""
    if isinstance(value, Read):
        return True
    if not isinstance(value, Call) or dotted(value.function) not in _MADE:
        return False
    return value.keywords[: _place(value) + 1] == [None] * (_place(value) + 1)


def _next(declare: Declare) -> Write | None:
    """The write below that fills all of an array, before anything can have seen it."""
    block = declare.parent
    if not isinstance(block, Block):
        return None
    between: list[Statement] = []
    for statement in block.body[block.body.index(declare) + 1 :]:
        if _fills(statement, declare):
            assert isinstance(statement, Write)
            return None if _is_changed(statement.value, between) else statement
        if not _is_blind(statement, declare.name):
            return None
        between.append(statement)
    return None


def _fills(statement: Statement, declare: Declare) -> bool:
    if not isinstance(statement, Write) or statement.target.name != declare.name:
        return False
    return dotted(statement.target.object) == dotted(declare.targets[0].object)  # type: ignore[attr-defined]


def _is_blind(statement: Statement, name: str) -> bool:
    """Whether a statement of a constructor cannot see an array of the module: it sets fields."""
    if not isinstance(statement, (Assign, ExpressionStatement, Write)):
        return False
    if isinstance(statement, (Tie, Walk)):
        return False
    return not any(_sees(node, name) for node in statement.walk())


def _sees(node: Node, name: str) -> bool:
    """Whether a node names the array, or hands the module on: `init(self)`, `self.reset()`."""
    if isinstance(node, Attribute):
        method = is_called(node)
        return (
            node.name == name or method and isinstance(node.object, Name) and _is_self(node.object)
        )
    if isinstance(node, Name) and node.id == "super":
        return True
    return isinstance(node, Name) and _is_self(node) and not isinstance(node.parent, Attribute)


def _is_self(name: Name) -> bool:
    around = name.nearest(Function)
    return around is not None and around.receiver == name.id


def _is_changed(value: Expression, between: list[Statement]) -> bool:
    """Whether something that a value is made of is set between its new place and its old one."""
    names = names_in(value)
    fields = {n.name for n in value.walk() if isinstance(n, Attribute)}
    for statement in between:
        if names & set(names_assigned(statement)):
            return True
        targets: Sequence[Expression] = ()
        if isinstance(statement, (Assign, Write)):
            targets = [statement.target] if isinstance(statement, Write) else statement.targets
        if any(isinstance(t, Attribute) and t.name in fields for t in targets):
            return True
    return False


def _forwarded(value: Expression, declare: Declare) -> Expression | None:
    """The second value with the first in the place of what it reads of it; None where that is more
    than its shape, in more places than one."""
    first = declare.expression
    reads = [n for n in value.walk() if isinstance(n, Read) and n.name == declare.name]
    if not reads:
        return clone(value)
    whole = [n for n in reads if _asked(n) is None]
    if len(whole) > 1 or whole and len(reads) > 1:
        return None
    if isinstance(first, Read):
        return _of_copy(value, reads, whole, first)
    assert isinstance(first, Call)
    if whole:
        return _of_whole(value, whole[0], first)
    return _asking_shape(value, reads, first)


def _asking_shape(value: Expression, reads: Sequence[Expression], first: Call) -> Expression | None:
    """A value that reads nothing but the shape and dtype of a new array, with those themselves."""
    shape = _shape(first)
    if shape is None or any(_asked(n) not in ("shape", "dtype") for n in reads):
        return None
    if any(isinstance(n.parent.parent, Subscript) for n in reads if n.parent is not None):
        return None  # `(n, d)[0]`
    if sum(_asked(n) == "shape" for n in reads) > 1 and not _is_cheap(shape):
        return None
    return _of_shape(value, set(reads), shape, first.keyword("dtype"))


def _asked(read: Expression) -> str | None:
    """What alone is asked of an array that is read."""
    parent = read.parent
    return parent.name if isinstance(parent, Attribute) and parent.object is read else None


def _asked_of(node: Expression, reads: Set[Node]) -> str | None:
    return node.name if isinstance(node, Attribute) and node.object in reads else None


def _shape(first: Call) -> Expression | None:
    """The shape that an array is made with, where that is a tuple."""
    shape = first.arguments[_place(first)]
    return shape if isinstance(shape, Display) and shape.kind == "tuple" else None


def _place(first: Call) -> int:
    """Where the shape stands among the arguments: a key is before it."""
    return int((dotted(first.function) or "").startswith("jax.random."))


def _is_cheap(shape: Expression) -> bool:
    return not any(isinstance(n, Call) for n in shape.walk())


def _of_whole(value: Expression, read: Read, first: Call) -> Expression | None:
    like = _LIKE.get(dotted(value.function) or "") if isinstance(value, Call) else None
    if like is None or not isinstance(value, Call) or value.arguments[0] is not read:
        return _with(value, {read: first})
    size = first.arguments[_place(first)]
    given = [clone(size), *map(clone, value.arguments[1:])]
    keywords: list[str | None] = [None] * len(given)
    if (dtype := first.keyword("dtype")) is not None:
        given, keywords = [*given, clone(dtype)], [*keywords, "dtype"]
    return Call(Attribute(Name("jnp"), like), given, keywords)


def _of_copy(
    value: Expression, reads: list[Read], whole: list[Read], first: Read
) -> Expression | None:
    """What asks for no more than the shape and dtype of a copy asks the array that was copied."""
    like = dotted(value.function) in _LIKE if isinstance(value, Call) else False
    if whole and not (like and isinstance(value, Call) and value.arguments[0] is whole[0]):
        return None
    if any(_asked(n) not in ("shape", "dtype") for n in reads if n not in whole):
        return None
    return _with(value, {read: first for read in reads})


def _of_shape(
    value: Expression, reads: Set[Node], shape: Expression, dtype: Expression | None
) -> Expression | None:
    """`normal(key, self.w.shape, self.w.dtype)` as `normal(key, (n, d))`."""
    standing: dict[Node, Expression] = {}
    for read in reads:
        assert isinstance(read.parent, Attribute)
        if read.parent.name == "shape":
            standing[read.parent] = shape
        elif dtype is not None:
            standing[read.parent] = dtype
        elif not _is_last(read.parent, reads):
            return None
    return _with(value, standing, reads)


def _is_last(node: Expression, reads: Set[Node]) -> bool:
    """Whether a dtype may be left out: nothing is counted after it."""
    call = node.parent
    if not isinstance(call, Call) or call.function is node:
        return False
    at = next(i for i, a in enumerate(call.arguments) if a is node)
    rest = call.keywords[at + 1 :]
    shaped = (
        at > 0 and _asked_of(call.arguments[at - 1], reads) == "shape"
    )  # not `x.astype(w.dtype)`
    return shaped and all(word is not None for word in rest)


def _with(
    value: Expression, standing: dict[Node, Expression], reads: Set[Node] = frozenset()
) -> Expression:
    """A copy of a value with others in the place of some parts; the dtype of a read goes."""

    def change(node: Node) -> Change:
        if node in standing:
            return clone(standing[node])
        if isinstance(node, Call):
            given = zip(node.arguments, node.keywords)
            kept = [(a, k) for a, k in given if a in standing or not _is_part(a, reads)]
            if len(kept) < len(node.arguments):
                arguments = [rebuilt(a, change) for a, _ in kept]
                return Call(rebuilt(node.function, change), arguments, [k for _, k in kept])
        return None

    return rebuilt(value, change)


def _is_part(node: Expression, reads: Set[Node]) -> bool:
    return isinstance(node, Attribute) and node.object in reads


PASS = Pass("store_forwarding", (), run)
