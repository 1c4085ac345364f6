"""Control by data: what is pure is `lax`; what writes or draws is `nnx.cond`, `nnx.while_loop`,
`nnx.scan`, with the module that is written, or drawn from, in the carry."""

from collections.abc import Callable, Sequence
from typing import Any

from ...facts.values.lattice import Function, Module
from ...model.control_flow import Cond, Loop, Repeat, Scan, leave_to_python
from ...model.effects import Apply, Key, Support, Write
from ...model.expressions import Call, Constant, Display, Name
from ...model.fresh_names import taken
from ...model.names import target_names
from ...model.node import Expression, Node, Statement
from ...model.program import File
from ...model.statements import Assign, Block, ExpressionStatement, For
from ..closures import Closures, certain
from ..fresh_names import fresh
from .lowering import Lowering, nnx


class Control(Closures):
    """Writes the control of a function; `roots` are the modules that are written in the block."""

    def __init__(self, fresh: Callable[[str], str], roots: Sequence[str]) -> None:
        super().__init__(fresh)
        self.roots = list(roots)

    def choose(
        self, node: Cond, sides: tuple[Expression, Expression], operands: list[Expression]
    ) -> Expression:
        if not self.roots:
            return super().choose(node, sides, operands)
        word = nnx("cond") if certain(node) else Support("cond")
        return Call(word, [node.test, *sides, *operands])

    def repeat(
        self, node: Loop, condition: Expression, body: Expression, start: Expression
    ) -> Expression:
        if not self.roots:
            return super().repeat(node, condition, body, start)
        if node.bound is not None:
            return Call(Support("bounded_loop"), [condition, body, start, node.bound])
        return Call(nnx("while_loop"), [condition, body, start])

    def count(
        self, node: Repeat, limits: list[Expression], body: Expression, start: Expression
    ) -> Expression:
        if not self.roots:
            return super().count(node, limits, body, start)
        return Call(nnx("fori_loop"), [*limits, body, start])

    def scan(
        self,
        node: Scan,
        step: Expression,
        start: Expression,
        rows: Expression | None,
        length: Expression | None,
        reverse: bool,
    ) -> Expression:
        if not self.roots:
            return super().scan(node, step, start, rows, length, reverse)
        over = Constant(None) if rows is None else Constant(0)
        made = Call(nnx("scan"), [step])
        made.append(Display("tuple", [nnx("Carry"), over]), "in_axes")
        made.append(Display("tuple", [nnx("Carry"), Constant(0)]), "out_axes")
        if length is not None:
            made.append(length, "length")
        if reverse:
            made.append(Constant(True), "reverse")
        return Call(made, [start, Constant(None) if rows is None else rows])


def roots_of(low: Lowering, node: Node) -> list[str]:
    """The names of the modules, or of the stream, that a block writes or draws from."""
    unit = low.unit(node)
    if unit is None:
        return []
    found: dict[str, None] = {}
    effects = low.plan.facts.effects
    for inner in node.walk():
        if isinstance(inner, Write):
            found[_head(inner.target)] = None
        elif isinstance(inner, Apply):
            done = effects.of_call(inner)
            if _is_plain(inner):  # it draws from the key that it is given
                handed = [a for a in inner.arguments if isinstance(a.value, Module)]
                found.update((_head(one), None) for one in handed)
            elif done.writes or done.draws or done.open:
                found[_head(inner.function)] = None
        elif isinstance(inner, Key):
            stream = low.stream(inner)
            if stream is not None:
                found[_head(stream)] = None
    bound = _bound_in(node)
    own = low.self_name(node)
    return list(dict.fromkeys(own if name in bound or not name else name for name in found))


def _is_plain(call: Apply) -> bool:
    """Whether it is the call of a function of a file, which has no module of its own."""
    value = call.function.value
    if not isinstance(value, Function) or value.owner is not None:
        return False
    return isinstance(value.function.scope, File)


def _bound_in(node: Node) -> set[str]:
    """The names of loops inside, which stand for parts of what is around."""
    return {name for n in node.walk() if isinstance(n, For) for name in target_names(n.target)}


def _head(node: Any) -> str:
    """The name that a path begins with; nothing for what is no path: `super().f`."""
    while not isinstance(node, Name):
        if isinstance(node, Call):
            node = node.function
            if isinstance(node, Name):
                return ""
        elif hasattr(node, "object"):
            node = node.object
        else:
            return ""
    return node.id


def _fresh(low: Lowering, node: Node) -> Callable[[str], str]:
    unit = low.unit(node)
    scope: Node = unit if unit is not None else low.file
    names = low.taken.setdefault(scope, taken(scope))

    def make(word: str) -> str:
        made = fresh(word, names)
        names.add(made)
        return made

    return make


def control(low: Lowering, node: Cond | Loop | Repeat | Scan) -> None:
    roots, make = roots_of(low, node), _fresh(low, node)

    def edit(node: Any) -> None:
        block = node.parent
        assert isinstance(block, Block)
        writer = Control(make, roots)
        made = _written(writer, node, roots)
        if made is None:
            leave_to_python(node)
        else:
            block.substitute(node, made)

    low.edits.change(node, edit)


def _written(writer: Control, node: Any, roots: list[str]) -> list[Statement] | None:
    if isinstance(node, Cond):
        return writer.cond(node, given=roots)
    if isinstance(node, Loop):
        made: list[Statement] | None = writer.loop(node, threaded=roots)
    elif isinstance(node, Repeat):
        made = writer.repeated(node, threaded=roots)
    else:
        made = writer.scanned(node, threaded=roots)
    if made is not None and roots:
        made[-1] = _without(made[-1], roots)
    return made


def _without(statement: Statement, roots: list[str]) -> Statement:
    """What is written in place is not bound anew."""
    if not isinstance(statement, Assign):
        return statement
    target = statement.targets[0]
    if isinstance(target, Name) and target.id in roots:
        assert statement.expression is not None
        return ExpressionStatement(statement.expression)
    for name in list(target.walk()):
        if isinstance(name, Name) and name.id in roots:
            name.id = "_"
    return statement


def scan_layers(function: Expression) -> Callable[[Call], None]:
    """`nn.scan_layers(self.blocks, x)`"""

    def edit(node: Call) -> None:
        made = Call(function, [node.function, *node.arguments])
        made.keywords = [None, *node.keywords]
        node.replace(made)

    return edit


HANDLERS: dict[type, Callable[[Lowering, Any], None]] = {
    Cond: control,
    Loop: control,
    Repeat: control,
    Scan: control,
}
