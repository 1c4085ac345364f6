"""`init` and `init_state`: the slices of a constructor as methods that return what they make."""

from collections.abc import Callable

from ....facts.modules import SUBMODULE
from ....facts.shapes.asked_shapes import is_measured
from ....model.constants import is_none
from ....model.copy import clone
from ....model.edits import block_of
from ....model.effects import MIXED, PARAM, Declare, Key, Mode, Read, Tie, Write
from ....model.expressions import Attribute, Call, Constant, Dictionary, Display, Name, Subscript
from ....model.fresh_names import taken
from ....model.layout import comments
from ....model.names import dotted, names_in
from ....model.node import Expression, Node, Statement
from ....model.operators import Compare, Conditional, Unary, asks_for_none
from ....model.program import Class, Function, Parameter
from ....model.statements import Assign, Block, ExpressionStatement, If, Return
from ....source.lower_ast import expression
from ...fresh_names import fresh
from ...reports import Reports
from ...sharing.ties import UNSEEN, below, may_lack
from ...threading.function_body import without_rows, write_blocks
from ...threading.keys import Form, Keys
from ...threading.probes import run_dry
from ..initialisers import entry_by_name
from ..leaf_nodes import Leaves
from ..path_resolution import Paths
from ..plan import Plan, Words
from ..tied_params import TiedParams, given_up
from .events import copied, declares_none
from .shape_only import measure

METHODS = {PARAM: "init", "buffer": "init_state"}


class Beginning(Form):
    """Writes one function that makes arrays: `init`, or a method that `init` calls."""

    def __init__(self, function: Function, kind: str, plan: Plan, reports: Reports) -> None:
        self.function, self.plan, self.reports = function, plan, reports
        self.kind, self.words = kind, Words()
        self.whole = self.words.params if kind == PARAM else self.words.state
        self._taken = taken(function) | set(self.words)

    def fresh(self, word: str) -> str:
        name = fresh(word, self._taken)
        self._taken.add(name)
        return name

    def write(self) -> None:
        paths = Paths(self.function, self.fresh, self.plan)
        for statement in [n for n in self.function.body.walk() if isinstance(n, Statement)]:
            self._statement(statement, paths)
        for mode in self.function.nodes(Mode):
            mode.replace(Constant(True))  # a module that is built is in training
        self._without_others()
        run_dry(self.function, self.plan.conventions, self.reports)
        without_rows(self.function)
        keys = Keys(self, self.fresh)
        keys.function(self.function, self.words.key)
        keys.place()
        write_blocks(self.function, self.fresh, keys, lambda node: [])
        Leaves(self.function, self.plan, paths, self.words, self.reports, self._tied()).write()

    def _tied(self) -> TiedParams:
        return TiedParams(self.plan.ties.of(self.function.owner), self.words.params, building=True)

    def _without_others(self) -> None:
        """`init` has no state, and `init_state` no params."""
        conventions = self.plan.conventions
        for read in [n for n in self.function.body.walk() if isinstance(n, Read)]:
            is_state = conventions.is_state(read)
            if self.kind != PARAM and read.kind == PARAM and is_measured(read):
                measure(read)
            elif is_state == (self.kind == PARAM) and (is_state or read.kind in (PARAM, MIXED)):
                why = "a param begins with what is in the state, or the other way around"
                self.reports.raises("module-value", read, why)

    def _statement(self, statement: Statement, paths: Paths) -> None:
        if isinstance(statement, Declare) and declares_none(statement):
            pop = Call(Attribute(Name(self.whole), "pop"), [Constant(statement.name)])
            pop.append(Constant(None))
            block = statement.parent
            assert isinstance(block, Block)
            block.substitute(statement, [ExpressionStatement(pop)])
        elif isinstance(statement, Declare) and statement.kind == SUBMODULE:
            self._copy(statement, paths)
        elif isinstance(statement, Declare):
            assert statement.expression is not None
            self._set(statement, Name(self.whole), statement.name, statement.expression)
        elif isinstance(statement, Write) and is_none(statement.value):
            self._take_away(statement, [statement.target], paths)
        elif isinstance(statement, Assign) and declares_none(statement):
            self._take_away(statement, statement.targets, paths)
        elif isinstance(statement, Write) and isinstance(statement.target, Read):
            array, path = statement.target, paths.of(statement.target.object)
            if path is None:
                why = "it is not known where this array is"
                self.reports.refuse("module-value", statement, why)
                return
            place = below(array.object, paths.self_name)
            entries = self._tied().kept(place, array.name, path.of(self.whole), self.function)
            if entries is None:
                self.reports.refuse("tied-weight", statement, UNSEEN)
                return
            self._set(statement, entries, array.name, statement.value)
        elif isinstance(statement, Tie):
            self._tie(statement, paths)
        elif isinstance(statement, ExpressionStatement) and isinstance(statement.expression, Call):
            if (entry := entry_by_name(statement, self.whole, self.function.receiver)) is not None:
                block_of(statement).substitute(statement, [entry])
                return
            call, function = statement.expression, statement.expression.function
            filled = self.plan.conventions.of_copy(call).gives
            if filled or self.plan.conventions.initialised(call):
                path = paths.of(function.object) if isinstance(function, Attribute) else None
                if path is None:
                    why = "it is not known where the arrays are that this begins with"
                    self.reports.refuse("module-value", statement, why)
                    return
                call.prepend(path.of(self.whole))
            if filled:
                block = statement.parent
                assert isinstance(block, Block)
                given = [] if self.plan.gives_state_alone(call) else [Name("_")]
                target = Display("tuple", [*given, Name(self.whole)]) if given else Name(self.whole)
                block.substitute(statement, [Assign([target], call)])

    def _set(self, old: Statement, whole: Expression, name: str, value: Expression) -> None:
        made = self._setting(whole, name, value)
        if self.function.start < 0:  # in the user's own method they stand where they stood
            made.comments = comments(old)
        block_of(old).substitute(old, [made])

    def _copy(self, declare: Declare, paths: Paths) -> None:
        """`self.target = copy.deepcopy(self.net)`: arrays of its own, equal to the other ones."""
        source = copied(declare.expression)
        path = paths.of(source) if source is not None else None
        if path is None:
            self.reports.refuse("module-value", declare, "it is not known where these arrays are")
            return
        tree = expression("jax.tree.map")
        copies = Call(tree, [Attribute(Name("jnp"), "copy"), path.of(self.whole)])
        self._set(declare, Name(self.whole), declare.name, copies)

    def _setting(self, whole: Expression, name: str, value: Expression) -> Statement:
        """`params["bias"] = v`, under the condition that it has."""
        if isinstance(value, Conditional):
            if is_none(value.orelse):
                return If(value.test, Block([self._setting(whole, name, value.body)]))
            if is_none(value.body):
                test = Unary("not", value.test)
                return If(test, Block([self._setting(whole, name, value.orelse)]))
        asked = any(_asks(around, value) for around in value.ancestors())
        made = Assign([Subscript(whole, Constant(name))], value)
        given = isinstance(value, Attribute) and not asked
        if given and self.plan.facts.values.may_be_none(value) is not False:
            # `self.alpha = alpha`: what is None has no entry, by which others ask
            return If(Compare([clone(value), Constant(None)], ["is not"]), Block([made]))
        return made

    def _take_away(self, given: Statement, targets: list[Expression], paths: Paths) -> None:
        """`self.fc.bias = None`"""
        made: list[Statement] = []
        for target in targets:
            path = paths.of(target.object) if isinstance(target, Read) else None
            if path is None or not isinstance(target, Read):
                self.reports.refuse("module-value", given, "it is not known where this array is")
                return
            pop = Call(Attribute(path.of(self.whole), "pop"), [Constant(target.name)])
            pop.append(Constant(None))
            made.append(ExpressionStatement(pop))
        given.parent.substitute(given, made)  # type: ignore[union-attr]

    def _tie(self, tie: Tie, paths: Paths) -> None:
        path = paths.of(tie.target.object)
        block = tie.parent
        assert isinstance(block, Block)
        if path is None or not self.plan.ties.knows(tie, self.function.owner, paths.self_name):
            self.reports.refuse("tied-weight", tie, UNSEEN)
            return
        always = self.function.name == "init" and tie.parent is self.function.body
        always = always and not may_lack(tie, self.plan.modules)
        block.substitute(tie, [given_up(tie, path.of(self.whole), always)])

    # --- the form of keys -------------------------------------------------------------------------

    def draws(self, node: Node) -> bool:
        return draws(node, self.plan)

    def split(self, key: Expression, count: Expression) -> Expression:
        return Call(expression("jax.random.split"), [key, count])

    def rows(self, key: Expression, count: Expression) -> Expression:
        return self.split(key, count)


def method(
    cls: Class,
    kind: str,
    me: str,
    statements: list[Statement],
    elsewhere: bool | Expression,
    write: Callable[[Function], None],
) -> Function:
    """`init` of a class, put behind its constructor. `elsewhere`: whether there is something below
    it, or above it, that begins in its own way, or what begins so."""
    whole, name = ("params", "init") if kind == PARAM else ("state", "init_state")
    first: Statement
    if isinstance(elsewhere, Expression):
        first = Assign([Name(whole)], elsewhere)
    elif elsewhere:
        base = Call(Attribute(Call(Name("super")), name), [Key()])
        first = Assign([Name(whole)], base)
    else:
        first = Assign([Name(whole)], Dictionary([]))
    body = Block([first, *statements, Return(Name(whole))])
    if isinstance(elsewhere, Expression) and not statements:
        body = Block([Return(elsewhere)])
    made = Function(name, [Parameter(me), Parameter("key")], body)
    _behind_constructor(cls, made)
    write(made)
    _as_display(made, whole)
    return made


def give_property(cls: Class, me: str, declare: Statement) -> None:
    """A constant that one expression gives."""
    assert isinstance(declare, Declare) and declare.expression is not None
    body = Block([Return(declare.expression)])
    made = Function(declare.name, [Parameter(me)], body, [Name("property")])
    body.body[0].comments = comments(declare)
    _behind_constructor(cls, made)


def _behind_constructor(cls: Class, made: Function) -> None:
    made.comments = "\n", ""
    constructor = next(s for s in cls.body.body if isinstance(s, Function) and s.name == "__init__")
    cls.body.insert_after(constructor, [made])


def _as_display(function: Function, whole: str) -> None:
    """`return {"a": …, "b": …}`, where nothing else is done."""
    begin = next((s for s in function.body.body if _begins(s, whole)), None)
    if begin is None:
        return
    block, entries = function.body, list[Expression | None]()
    *rest, last = block.body[block.body.index(begin) + 1 :]
    for statement in list(rest):
        entry = _entry(statement, whole)
        if entry is None:
            break
        entries += entry
        rest.remove(statement)
        block.remove(statement)
    if rest:
        block.substitute(begin, [Assign([Name(whole)], Dictionary(entries))])
    else:
        block.substitute(last, [Return(Dictionary(entries))])
        block.remove(begin)


def _begins(statement: Statement, whole: str) -> bool:
    if not isinstance(statement, Assign) or not isinstance(statement.expression, Dictionary):
        return False
    target = statement.targets[0]
    return isinstance(target, Name) and target.id == whole and not statement.expression.entries


def _entry(statement: Statement, whole: str) -> list[Expression] | None:
    """Name and value of `params["a"] = v`, where v reads no other."""
    if not isinstance(statement, Assign) or any(statement.comments or ()):
        return None
    target, value = statement.targets[0], statement.expression
    if not isinstance(target, Subscript) or value is None:
        return None
    held = target.object
    if not isinstance(held, Name) or held.id != whole:
        return None
    if whole in names_in(value):
        return None
    return [target.index, value]


def _asks(around: Node, value: Expression) -> bool:
    """Whether a branch asks whether a value is None."""
    tests = around.test.walk() if isinstance(around, If) else ()
    compared = filter(asks_for_none, tests)
    return any(dotted(n.operands[0]) == dotted(value) for n in compared)


def draws(node: Node, plan: Plan) -> bool:
    """Whether a node needs a key while arrays are made."""
    if isinstance(node, Key):
        return True
    return isinstance(node, Call) and plan.conventions.of_copy(node).draws
