"""A definition of a support file without parameters that are constants, and without what only they
reach.

What holds nothing that is known stays as it is written.
"""

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from ...model.expressions import Attribute, Call, Constant, FormattedString, Name
from ...model.names import binds, is_docstring, is_name, is_target
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Compare, Conditional, Unary
from ...model.program import Class, Function, Parameter
from ...model.statements import Assign, Block, Break, Continue, If, Raise, Return, While
from ...source.lower import lower
from ...source.splice import Writer

Constants = Mapping[str, object]
# the parameters of functions and classes that are no more, with their places among the arguments
Gone = Mapping[str, Mapping[str, int | None]]
_Typed = tuple[str, type, object]

_ENDS = (Return, Raise, Continue, Break)
_COMPARED: dict[str, Callable[[object, object], object]] = {
    "is": operator.is_,
    "is not": operator.is_not,
    "==": operator.eq,
    "!=": operator.ne,
}


def without(text: str, own: Constants, gone: Gone, fixed: Constants) -> str:
    """The text of a definition, of which a call has no parameters `own` any more; `gone`: what the
    calls in it give no more; `fixed`: the attributes that it loses."""
    less = tuple((name, tuple(places.items())) for name, places in gone.items())
    return _without(text, _typed(own), less, _typed(fixed))


def _typed(known: Constants) -> tuple[_Typed, ...]:
    """Constants as a key: True is not 1 there."""
    return tuple((name, type(value), value) for name, value in known.items())


@functools.lru_cache(maxsize=2048)  # torch's layers, which come out alike of many programs
def _without(
    text: str,
    own_values: tuple[_Typed, ...],
    places: tuple[tuple[str, tuple[tuple[str, int | None], ...]], ...],
    fixed_values: tuple[_Typed, ...],
) -> str:
    own, fixed = ({name: value for name, _, value in known} for known in (own_values, fixed_values))
    gone = {name: dict(lost) for name, lost in places}
    file = lower(text, PurePosixPath("jax_nn.py"))
    definition = file.body.body[0]
    nodes = list(definition.walk())
    function = _made_by(definition)
    inside = set(function.body.walk()) if own and function is not None else set()
    bound = {name for node in inside for name in binds(node) if name in own}
    bound |= {n.name for n in inside if isinstance(n, Parameter) and n.name in own}
    for node in reversed(nodes):  # inner before outer
        if isinstance(node, Assign) and _sets(node, fixed):
            node.parent.remove(node)  # type: ignore[union-attr]
        elif isinstance(node, Name) and node in inside and node.id in own.keys() - bound:
            node.replace(Constant(own[node.id]))
        elif isinstance(node, Attribute) and _of_self(node) in fixed and not is_target(node):
            node.replace(Constant(fixed[node.name]))
        elif isinstance(node, Call):
            _shorten(node, gone)
        elif isinstance(node, Expression) and node.touched:
            _fold(node)
    if own and function is not None:
        _header(function, own, sorted(bound))
    while any(map(_settled, [n for n in definition.walk() if isinstance(n, Block)])):
        pass
    for node in definition.walk():
        if isinstance(node, Statement) and node.touched:
            _join(node)
    return Writer().text(file)  # what is said of what has gone goes with it


def _made_by(definition: Statement) -> Function | None:
    """What a call of a definition runs."""
    if not isinstance(definition, Class):
        return definition if isinstance(definition, Function) else None
    methods = [s for s in definition.body.body if isinstance(s, Function)]
    return next((m for m in methods if m.name == "__init__"), None)


def _of_self(node: Node) -> str | None:
    """The a in `self.a`."""
    own = isinstance(node, Attribute) and isinstance(node.object, Name) and node.object.id == "self"
    return node.name if own else None  # type: ignore[attr-defined]


def _sets(node: Assign, fixed: Constants) -> bool:
    """`self.a = …`, or the field `a: int`."""
    target = node.targets[0]
    field = node.annotation is not None and isinstance(target, Name)
    name = target.id if field else _of_self(target)  # type: ignore[attr-defined]
    return len(node.targets) == 1 and name in fixed


def _header(function: Function, own: Constants, bound: Sequence[str]) -> None:
    """A function without parameters; those that are `bound` anew are so from the beginning."""
    function.parameters = [p for p in function.parameters if p.name not in own]
    function.restate()
    made = [Assign([Name(name)], Constant(own[name])) for name in bound]
    first = function.body.body[0]
    insert = function.body.insert_after if is_docstring(first) else function.body.insert_before
    insert(first, made)


# --- expressions ----------------------------------------------------------------------------------


def _shorten(call: Call, gone: Gone) -> None:
    """A call without the arguments that it gives no more."""
    lost = gone.get(call.function.id, {}) if isinstance(call.function, Name) else {}
    words = list(zip(call.keywords, call.arguments))
    for at, (word, argument) in enumerate(words):
        if word in lost if word is not None else at in lost.values():
            call.remove(argument)
    made = isinstance(call.function, Attribute) and call.function.name in ("ones", "zeros")
    if made and call.touched and isinstance(call.arguments[-1], Constant):
        if call.arguments[-1].constant is None:
            call.remove(call.arguments[-1])  # no dtype


def _fold(node: Expression) -> None:
    """Decide an expression of which something is known."""
    if isinstance(node, Compare) and all(isinstance(o, Constant) for o in node.operands):
        left, right = (o.constant for o in node.operands[:2])  # type: ignore[attr-defined]
        compare = _COMPARED.get(node.operators[0])
        identity = node.operators[0].startswith("is") and right is not None
        if len(node.operators) == 1 and compare is not None and not identity:
            node.replace(Constant(bool(compare(left, right))))
    elif isinstance(node, Unary) and node.operator == "not":
        if isinstance(node.operand, Constant):
            node.replace(Constant(not node.operand.constant))
    elif isinstance(node, Boolean):
        _fold_boolean(node)
    elif isinstance(node, Conditional) and isinstance(node.test, Constant):
        node.replace(node.body if node.test.constant else node.orelse)


def _fold_boolean(node: Boolean) -> None:
    """Less what is neutral, and what comes behind a part that decides; and nothing but a part that
    decides where it is a test, `batched or True`, whose others only read."""
    values, kept, goes_on = list(_operands(node)), list[Expression](), node.operator == "and"
    for value in values:
        known, last = isinstance(value, Constant), value is values[-1]
        neutral = isinstance(value, Constant) and bool(value.constant) is goes_on
        if neutral and (not last or kept and all(map(_is_bool, kept))):
            continue
        kept.append(value)
        if known and not last:
            break
    decides = any(isinstance(v, Constant) and bool(v.constant) is not goes_on for v in kept)
    is_test = isinstance(node.parent, (If, While, Conditional)) and node.parent.test is node
    if is_test and decides and not any(isinstance(n, Call) for v in kept for n in v.walk()):
        node.replace(Constant(not goes_on))
    elif len(kept) < len(values):
        node.replace(
            functools.reduce(lambda left, right: Boolean(left, node.operator, right), kept)
        )


def _operands(node: Boolean) -> Iterator[Expression]:
    """What stands between the operators of `a or b or c`."""
    left = node.left
    same = isinstance(left, Boolean) and left.operator == node.operator
    yield from _operands(left) if same else [left]  # type: ignore[arg-type]
    yield node.right


def _is_bool(node: Expression) -> bool:
    return isinstance(node, Compare) or isinstance(node, Unary) and node.operator == "not"


def _join(statement: Statement) -> None:
    """Put what has become less on one line."""
    parts = [part for part in statement.children() if isinstance(part, Expression)]
    if any(part.touched for part in parts):
        for node in [n for part in parts for n in part.walk()]:
            place, file = node.place(), node.file
            if place is not None and file is not None and "\n" in file.text[slice(*place)]:
                if node.parts and not isinstance(node, FormattedString):
                    node.restate()


# --- statements -----------------------------------------------------------------------------------


def _settled(block: Block) -> bool:
    """Whether something of a block was taken that never runs, or a branch that always does left."""
    for i, statement in enumerate(block.body):
        test = _asked_of(statement, block.body[i + 1 :])
        if test is not None:
            test.replace(Constant(True))
            block.take(statement)
        elif isinstance(statement, _ENDS) and i + 1 < len(block.body):
            for unreached in block.body[i + 1 :]:
                block.take(unreached)
        elif isinstance(statement, If) and isinstance(statement.test, Constant):
            way = bool(statement.test.constant)
            if way or block.form != "elif":
                statement.restate()  # the comment behind its test goes with that
            if way or statement.orelse is not None or block.form == "elif":
                statement.decide(way)
            else:
                block.take(statement)
        else:
            continue
        return True
    return False


def _asked_of(statement: Statement, after: Sequence[Statement]) -> Expression | None:
    """`w is None` of `if w is None: w = …` after `w = None`, and nothing with `w` in between."""
    if not isinstance(statement, Assign) or not isinstance(statement.expression, Constant):
        return None
    target = statement.targets[0]
    if not isinstance(target, Name) or statement.expression.constant is not None:
        return None
    named = (s for s in after if any(is_name(n, target.id) for n in s.walk()))
    first = next(named, None)
    test = first.test if isinstance(first, If) else None
    if not isinstance(first, If) or not isinstance(test, Compare) or test.operators != ["is"]:
        return None
    asked = is_name(test.operands[0], target.id) and isinstance(test.operands[1], Constant)
    binds = any(isinstance(s, Assign) and is_name(s.targets[0], target.id) for s in first.body.body)
    none = asked and test.operands[1].constant is None  # type: ignore[attr-defined]
    return test if none and binds and len(statement.targets) == 1 else None
