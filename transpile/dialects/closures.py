"""Blocks under control of data as nested functions, with what they carry as parameters and results:
`lax.cond`, `lax.while_loop`, `lax.fori_loop`, `lax.scan`.

    if x.sum() > 0: x = f(x)      →   x = lax.cond(x.sum() > 0, lambda x: f(x), lambda x: x, x)

A dialect says which names stand for effects (`threaded`: they go in and come out, as a state does;
`given`: they only go in, as a module does that is written in place), and may spell the primitives
in its own way: it overrides the methods `choose`, `repeat`, `count` and `scan`. Blocks inside of
others are written before those.
"""

from collections.abc import Callable, Iterable, Sequence

from ..facts.carried.written_places import written
from ..model.control_flow import Collect, Cond, Loop, Repeat, Scan
from ..model.copy import clone
from ..model.effects import Support
from ..model.expressions import Attribute, Call, Constant, Display, Lambda, Name
from ..model.iteration import turns
from ..model.layout import comments
from ..model.names import is_name, names_in
from ..model.node import Expression, Statement
from ..model.program import Function, Parameter
from ..model.statements import Assign, Block, ExpressionStatement, Return
from .where_branches import chosen

Names = Sequence[str]
Row = tuple[str, Expression]  # a name, and the array whose rows it is turn by turn


class Closures:
    """Writes the control of one function. `fresh(name)` gives a name that the user has not;
    `module`: that of its module, which holds more than arrays."""

    def __init__(self, fresh: Callable[[str], str], module: str | None = None) -> None:
        self.fresh, self.module = fresh, module

    # --- the primitives, as jax.lax has them --------------------------------------------------

    def choose(
        self, node: Cond, sides: tuple[Expression, Expression], operands: list[Expression]
    ) -> Expression:
        """The call that takes one of two sides."""
        word = lax("cond") if certain(node) else Support("choose")
        if self.module is not None and any(is_name(o, self.module) for o in operands):
            word = Call(Support("over_modules"), [word])
        return Call(word, [node.test, *sides, *operands])

    def repeat(
        self, node: Loop, condition: Expression, body: Expression, start: Expression
    ) -> Expression:
        """The call that goes on while a condition holds."""
        if node.bound is not None:
            return Call(Support("bounded_while"), [condition, body, start, node.bound])
        return Call(lax("while_loop"), [condition, body, start])

    def count(
        self, node: Repeat, limits: list[Expression], body: Expression, start: Expression
    ) -> Expression:
        """The call that goes on for as many turns as the data say."""
        return Call(lax("fori_loop"), [*limits, body, start])

    def scan(
        self,
        node: Scan,
        step: Expression,
        start: Expression,
        rows: Expression | None,
        length: Expression | None,
        reverse: bool,
    ) -> Expression:
        """The call that goes over rows."""
        guarded = not certain(node)
        call = Call(Support("scan") if guarded else lax("scan"), [step, start])
        if rows is not None:
            call.append(rows)
        if length is not None:
            call.append(length, "length")
        if reverse:
            call.append(Constant(True), "reverse")
        return call

    # --- statements -----------------------------------------------------------------------------

    def cond(self, node: Cond, threaded: Names = (), given: Names = ()) -> list[Statement]:
        """What stands in the place of a branch."""
        if node.choosable and not threaded and (made := chosen(node, self.fresh)):
            return made
        names = [*_bound_inside(node, node.carry.inputs), *threaded]
        out = [] if node.returns else [*node.carry.outputs, *threaded]
        parameters = [*(n for n in given if n not in names), *names]
        statements: list[Statement] = []
        sides = []
        for name, block in (("then", node.body), ("otherwise", node.orelse)):
            side = _short(block, parameters, out, node.returns)
            if side is None:
                assert block is not None
                side = Name(self.fresh(name))
                _finish(block, None if node.returns else _tuple(out))
                statements.append(_function(side.id, parameters, block))
            sides.append(side)
        call = self.choose(node, (sides[0], sides[1]), list(map(Name, parameters)))
        if node.returns:
            return [*statements, Return(call)]
        return [*statements, _assigned(_tuple(out), call)]

    def loop(self, node: Loop, threaded: Names = ()) -> list[Statement]:
        """What stands in the place of a loop that data end."""
        names = [*_carried(node), *threaded]
        condition: Expression
        statements: list[Statement] = []
        if len(names) == 1:
            condition = Lambda([Parameter(names[0])], node.test)
        else:
            condition = Name(self.fresh("condition"))
            block = Block([Return(node.test)])
            statements.append(self._taking(condition.id, names, block))
        body = Name(self.fresh("body"))
        _finish(node.body, _tuple(names))
        statements.append(self._taking(body.id, names, node.body))
        call = self.repeat(node, condition, body, _tuple(names) or Constant(None))
        return [*statements, _assigned(_tuple(names), call)]

    def repeated(self, node: Repeat, threaded: Names = ()) -> list[Statement]:
        """What stands in the place of a loop whose number of turns is data."""
        names = [*_carried(node), *threaded]
        index, over = node.target, node.iterable
        assert isinstance(index, Name) and isinstance(over, Call)
        _finish(node.body, _tuple(names))
        body = Name(self.fresh("body"))
        made = self._taking(body.id, names, node.body, before=[index.id])
        limits = over.arguments if len(over.arguments) > 1 else [Constant(0), *over.arguments]
        call = self.count(node, limits, body, _tuple(names) or Constant(None))
        return [made, _assigned(_tuple(names), call)]

    def scanned(
        self, node: Scan, threaded: Names = (), keys: Iterable[Row] = ()
    ) -> list[Statement] | None:
        """What stands in the place of a loop over rows; `keys` are rows that the dialect adds.
        None where what it goes over has no such form."""
        over = turns(node)
        if over is None:
            return None
        names = [*_carried(node), *threaded]
        rows: list[Row] = [*over.rows, *keys]
        counted = over.index is not None and over.index in names_in(node.body)
        length = None
        if counted or not over.rows:
            count = over.count
            if count is None:
                count = Call(Name("len"), [clone(over.rows[0][1])])
            if counted or not certain(node):  # a guarded scan asks the rows how many there are
                index = over.index if counted and over.index is not None else "_"
                rows.insert(0, (index, Call(jnp("arange"), [count])))
            else:
                length = count
        collects = node.collects
        collected = [c.name for c in collects]
        block = node.body
        self._collect(block, names, collects)
        step = Name(self.fresh("step"))
        made = self._step(step.id, names, [name for name, _ in rows], block)
        arrays = _display([array for _, array in rows])
        start = _tuple(names) or Constant(None)
        call = self.scan(node, step, start, arrays, length, over.reverse)
        live = [n if n in node.carry.outputs or n in threaded else "_" for n in names]
        target = Display("tuple", [_tuple(live) or Name("_"), _tuple(collected) or Name("_")])
        return [made, Assign([target], call)]

    # --- functions ------------------------------------------------------------------------------

    def _collect(self, block: Block, names: list[str], collects: list[Collect]) -> None:
        """A turn gives what is carried, and its rows."""
        values: list[Expression] = []
        for collect in collects:
            value = collect.expression
            if collect is block.body[-1] and len(collects) == 1:
                values.append(value)
                block.remove(collect)
                continue
            row = self.fresh(f"{collect.name}_row")
            block.substitute(collect, [Assign([Name(row)], value)])
            values.append(Name(row))
        rows = _display(values) or Constant(None)
        _finish(block, Display("tuple", [_tuple(names) or Constant(None), rows]))

    def _taking(
        self, name: str, carried: list[str], block: Block, before: Sequence[str] = ()
    ) -> Function:
        """A function of what is carried: one parameter, unpacked where it is several."""
        if len(carried) == 1:
            return _function(name, [*before, carried[0]], block)
        parameter = self.fresh("carry")
        if carried:
            _begin(block, [_assigned(_tuple(carried), Name(parameter))])
        return _function(name, [*before, parameter], block)

    def _step(self, name: str, carried: list[str], rows: list[str], block: Block) -> Function:
        """The function of a turn: what is carried, and the rows."""
        first, unpacked = (carried[0] if carried else "_"), list[Statement]()
        if len(carried) > 1:
            first = self.fresh("carry")
            unpacked.append(_assigned(_tuple(carried), Name(first)))
        second = rows[0] if rows else "_"
        if len(rows) > 1:
            second = self.fresh("inputs")
            unpacked.append(_assigned(_tuple(rows), Name(second)))
        if first == second == "_":
            second = "__"
        _begin(block, unpacked)
        return _function(name, [first, second], block)


# --- small parts ----------------------------------------------------------------------------------


def lax(word: str) -> Expression:
    return Attribute(Name("lax"), word)


def jnp(word: str) -> Expression:
    return Attribute(Name("jnp"), word)


def certain(node: Cond | Scan) -> bool:
    """Whether all that comes out is known to keep its shape and dtype."""
    return node.carry.same is True


def _bound_inside(node: Cond, names: list[str]) -> list[str]:
    inside = set(written(node.body, node.orelse))
    return [name for name in names if name in inside]


def _carried(node: Loop | Repeat | Scan) -> list[str]:
    """What a loop carries: what its turns bind, or store into, and somebody reads, in the order of
    binding."""
    inside = set(written(node.body))
    return [n for n in dict.fromkeys([*node.carry.outputs, *node.carry.inputs]) if n in inside]


def _short(
    block: Block | None, parameters: list[str], out: list[str], returns: bool
) -> Expression | None:
    """A side as a lambda: one that does nothing, or gives one expression."""
    made = [Parameter(name) for name in parameters]
    if block is None or block.is_empty:
        return Lambda(made, _tuple(out) or Constant(None))
    only = block.body[0]
    if len(block.body) > 1 or any(comments(only)):
        return None
    if returns:
        value = only.expression if isinstance(only, Return) else None
        return Lambda(made, value) if value is not None else None
    if isinstance(only, Assign) and not only.operator and [*map(_name, only.targets)] == out:
        return Lambda(made, only.expression) if only.expression is not None else None
    return None


def _name(target: Expression) -> str | None:
    return target.id if isinstance(target, Name) else None


def _tuple(names: list[str]) -> Expression | None:
    return _display([Name(name) for name in names])


def _display(values: Sequence[Expression]) -> Expression | None:
    """One value as it is, several as a tuple."""
    if not values:
        return None
    return values[0] if len(values) == 1 else Display("tuple", values)


def _assigned(target: Expression | None, call: Expression) -> Statement:
    return ExpressionStatement(call) if target is None else Assign([target], call)


def _function(name: str, parameters: list[str], block: Block) -> Function:
    return Function(name, [Parameter(p) for p in parameters], block)


def _begin(block: Block, statements: list[Statement]) -> None:
    if statements and block.body:
        block.insert_before(block.body[0], statements)
    elif statements:
        block.append(statements)


def _finish(block: Block, value: Expression | None) -> None:
    if value is not None or not block.body:
        block.append([Return(value)])
