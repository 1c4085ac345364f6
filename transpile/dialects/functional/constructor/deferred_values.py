"""Arrays whose first value is made later, by a function that stands where torch made it.

setattr(self, f"w{i}", Parameter(v))  setattr(self, f"w{i}", nn.Parameter(lambda key: v))
nn.init.zeros_(m.bias)                nn.set_initializer(m, "bias", jax.nn.initializers.zeros)
"""

from collections.abc import Callable

from ....facts.values.lattice import Mapping, Module, Sequence, Tensor
from ....model.constants import is_none
from ....model.copy import clone
from ....model.effects import BUFFER, PARAM, Declare, Key, New, NewArray, Read, Support, Walk, Write
from ....model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    Lambda,
    Name,
    Subscript,
)
from ....model.fresh_names import taken
from ....model.names import below, dotted, is_own, names_in, text
from ....model.node import Expression, Node
from ....model.operators import Conditional
from ....model.program import Function, Parameter
from ....model.statements import Assign, Block, ExpressionStatement, For
from ...fresh_names import fresh
from ...reports import Reports
from ...sharing.ties import UNSEEN
from ...threading.keys import Form, Keys
from ..plan import Plan
from .arrays import LISTS, filling, holds_params, is_of_list, join_rebound, made_once, take_out
from .captured_defaults import Kept
from .events import Events, declares_none
from .init_methods import draws
from .initializers import beginning
from .walks import begin

_LIST_IN_LIST = "a list of params in another one: put it into a ModuleList"
_FILLED = "a list of params whose elements are not known: write it where the ParameterList is made"


class PutOff(Form):
    """Writes the events of one function that stay in it."""

    def __init__(self, function: Function, events: Events, plan: Plan, reports: Reports) -> None:
        self.function, self.events = function, events
        self.plan, self.reports = plan, reports
        self._taken = taken(function)
        if events.put_off:
            join_rebound(function)
        self._made = dict(made_once(function))  # arrays under names of their own
        self.kept = Kept(function, events.self_name, plan)
        self._drawn: dict[str, list[Name]] = {}

    def write(self) -> None:
        for declare in self.function.nodes(Declare):
            if declare in self.events.put_off and declare.expression is not None:
                kind = self.events.kind(declare)
                self._sides(declare.expression, "Parameter" if kind == PARAM else "Buffer")
        for made in self.function.nodes(NewArray):
            if self._is_again(made):
                continue
            word = "Buffer" if made.kind == BUFFER else "Parameter"
            value = made.arguments[0]
            made.replace(Call(Support(word), [self._later(value, made)]))
        for new in self.function.nodes(New):
            if isinstance(new.function, Support) and new.function.name in LISTS and new.arguments:
                self._listed(new.arguments[0])
        for call in self.function.nodes(Call):
            if is_of_list(call.function) and call.arguments:
                extended = call.function.name in ("extend", "update")  # type: ignore[attr-defined]
                put = self._listed if extended else self._appended
                put(call.arguments[-1])
        for assign in self.function.nodes(Assign):
            targets = [t for t in assign.targets if isinstance(t, Subscript)]
            if assign.expression is not None and any(holds_params(t.object) for t in targets):
                self._sides(assign.expression, "Parameter")
        for walk in [*self.function.nodes(Walk), *self.function.nodes(For)]:
            function = begin(walk, lambda word: fresh(word, self._taken))
            if function is not None:
                self.kept.by_walk(function, walk)
                keys = Keys(self, lambda word: fresh(word, self._taken))
                keys.function(function, "key")
                keys.place()
        for write in self.function.nodes(Write):
            if write in self.events.put_off:
                self._write(write)
        for assign in self.function.nodes(Assign):
            if assign in self.events.put_off and declares_none(assign):
                self._absent(assign)
        for statement in self.function.nodes(ExpressionStatement):
            if statement in self.events.put_off and isinstance(statement.expression, Call):
                self._run_later(statement.expression)
        self._clean()

    def _run_later(self, call: Call) -> None:
        """`layer.init_weights()`, which is given the arrays of that layer once they are made."""
        kind, function = self.plan.conventions.initialised(call), call.function
        if kind is None or not isinstance(function, Attribute):
            return
        names = names_in(call)
        whole = fresh("params" if kind == PARAM else "state", names)
        key, standing = fresh("key", names), Constant(None)
        defaults, module = self.kept.defaults(call, call), clone(function.object)
        call.replace(standing)
        call.prepend(Name(whole))
        value, kept = self.kept.fields(call, (whole, key))
        made = Lambda([Parameter(whole), Parameter(key), *defaults, *kept], value)
        self._give_keys(made, key)
        method = Constant("init" if kind == PARAM else "init_state")
        standing.replace(Call(Support("initialise"), [module, method, made]))

    def _absent(self, assign: Assign) -> None:
        """`self.bias = None`, where a method says so; of another module it would take it away."""
        if all(is_own(t, self.events.self_name) for t in assign.targets):
            take_out(assign)
        else:
            why = "an array is taken from a module under a name that only a run knows"
            self.reports.refuse("parameter-write", assign, why)

    def _listed(self, given: Expression) -> None:
        """`ParameterList([v for _ in range(n)])`: each element is made later."""
        if isinstance(given, Display):
            elements = given.elements
        elif isinstance(given, Dictionary):
            elements = [value for _, value in given.pairs]
        elif isinstance(given, Comprehension):
            elements = [given.element]
        elif isinstance(given, Name):
            self._filled(given)
            return
        else:
            return
        for element in list(elements):
            self._sides(element, "Parameter")

    def _filled(self, given: Name) -> None:
        """`values = []`, `values.append(v)` in a loop, and `ParameterList(values)`: what the list,
        or dict, is filled with is made later."""
        held = given.value.element if isinstance(given.value, (Sequence, Mapping)) else None
        if not isinstance(held, Tensor):
            return
        names = [n for n in self.function.body.walk() if isinstance(n, Name) and n.id == given.id]
        fills = [filling(n) for n in names if n is not given]
        if not all(fills) or len(fills) == len(names):
            self.reports.raises("unsupported", given, _FILLED)
            return
        for fill in fills:
            around = fill.parent if fill is not None else None
            if isinstance(around, Assign) and isinstance(around.targets[0], Subscript):
                self._appended(around.expression)  # type: ignore[arg-type]
            elif isinstance(fill, Call) and fill.function.name == "append":  # type: ignore[attr-defined]
                self._appended(fill.arguments[0])
            elif fill is not None:
                self._listed(fill.arguments[0] if isinstance(fill, Call) else fill)

    def _appended(self, element: Expression) -> None:
        """`self.scales.append(v)` of a list of params."""
        self._sides(element, "Parameter")

    def _sides(self, value: Expression, word: str) -> None:
        if isinstance(value, Conditional):
            self._sides(value.body, word)
            self._sides(value.orelse, word)
        elif isinstance(value, Subscript) and holds_params(value.object):
            self.reports.unconverted("tied-weight", value, UNSEEN)
        elif isinstance(value, New) and isinstance(value.value, Module):
            self.reports.raises("unsupported", value, _LIST_IN_LIST)
        elif not is_none(value) and not _is_made(value):
            at = value.parent
            assert at is not None
            value.replace(standing := Constant(None))
            standing.replace(Call(Support(word), [self._later(value, at)]))

    def _later(self, value: Expression, at: Node) -> Lambda:
        """A function of a key; what is another thing by the time it runs is a default."""
        value = self._whole(value)
        key = fresh("key", names_in(value))
        value, kept = self.kept.fields(value, (key,))
        made = Lambda([Parameter(key), *self.kept.defaults(value, at), *kept], value)
        self._give_keys(made, key)
        return made

    def _whole(self, value: Expression) -> Expression:
        """A value with the arrays in it that were made before, under names of their own."""
        for name in [n for n in value.walk() if isinstance(n, Name)]:
            made = self._made.get(name.id)
            if made is None or made.expression is None:
                continue
            whole = self._whole(clone(made.expression))
            if any(isinstance(n, Key) for n in whole.walk()):
                self._drawn.setdefault(name.id, []).append(name)
            if name is value:
                value = whole
            else:
                name.replace(whole)
        return value

    def _clean(self) -> None:
        """Arrays that are written where they are used need no names; one that is drawn and used
        twice would be two."""
        for name, uses in self._drawn.items():
            if len(uses) > 1:
                why = "two arrays begin with the same random values, which are made apart here"
                self.reports.report("random-in-init", self._made[name], why)
        for name, made in self._made.items():
            inside = set(made.walk())
            names = (n for n in self.function.body.walk() if isinstance(n, Name))
            if not any(n.id == name and n not in inside for n in names):
                if made.expression is None or not self._acts(made.expression):
                    take_out(made)

    def _acts(self, value: Expression) -> bool:
        """Whether a value does more than to be one: `bound = fill(self.fc)`, `d.pop("kind")`."""
        conventions = self.plan.conventions
        calls = (n for n in value.walk() if isinstance(n, Call) and not isinstance(n, New))
        builds = (conventions.is_builder(t) for c in calls for t in conventions.targets(c) or ())
        return any(builds) or conventions.effects.acts(value)

    def _write(self, write: Write) -> None:
        target = write.target
        if not isinstance(target, Read):
            why = "params that a walk goes over begin with values of their own"
            self.reports.refuse("module-walk", write, why)
            return
        block = write.parent
        assert isinstance(block, Block)
        name, holder = target.name, text(target.object)

        def is_again(node: Node) -> bool:
            return isinstance(node, Read) and node.name == name and text(node.object) == holder

        begun = self._begun(write, write.value, is_again, target.object, Constant(name))
        block.substitute(write, [ExpressionStatement(begun)])

    def _is_again(self, made: NewArray) -> bool:
        """`setattr(self, name, NewArray(v))` where v is made of what that was, or of its shape: it
        begins with v, which is written here."""
        call, statement = made.parent, None if made.parent is None else made.parent.parent
        if not isinstance(call, Call) or not isinstance(statement, ExpressionStatement):
            return False
        asked = [text(a) for a in call.arguments[:2]]

        def is_again(node: Node) -> bool:
            asks = isinstance(node, Call) and dotted(node.function) == "getattr"
            return asks and [text(a) for a in node.arguments] == asked  # type: ignore[attr-defined]

        if not any(map(is_again, below(made.arguments[0], Call))):
            return False
        holder, name = call.arguments[:2]
        begun = self._begun(statement, made.arguments[0], is_again, holder, clone(name))
        statement.expression.replace(begun)
        return True

    def _begun(
        self,
        at: Node,
        value: Expression,
        is_again: Callable[[Node], bool],
        holder: Expression,
        name: Expression,
    ) -> Call:
        """An array begins with a value; where that asks for the array, it has the first one."""
        value = self._whole(value)
        names, asked = names_in(value), name.constant if isinstance(name, Constant) else ""
        word = fresh(asked if asked.isidentifier() else "value", names)
        for read in [n for n in value.walk() if is_again(n)]:
            if read is value:
                value = Name(word)
            else:
                read.replace(Name(word))
        key = fresh("key", names | {word})
        value, kept = self.kept.fields(value, (word, key))
        defaults = [*self.kept.defaults(value, at), *kept]
        defaults = [p for p in defaults if p.name != word]
        made = Lambda([Parameter(word), Parameter(key), *defaults], value)
        self._give_keys(made, key)
        return beginning(holder, name, made)

    # --- keys -------------------------------------------------------------------------------------

    def _give_keys(self, made: Lambda, key: str) -> None:
        keys = Keys(self, lambda word: fresh(word, self._taken))
        keys.expression(made.body, Name(key))

    def draws(self, node: Node) -> bool:
        return draws(node, self.plan)

    def rows(self, key: Expression, count: Expression) -> Expression:
        return self.split(key, count)


def _is_made(value: Expression) -> bool:
    """Whether it is written as made later already."""
    made = value.function if isinstance(value, Call) else None
    return isinstance(made, Support) and made.name in ("Parameter", "Buffer")
