"""What `init` can have of what the constructor knew: a field of the module.

def __init__(self, dim, hidden):              def __init__(self, dim, hidden):
    self.dim = dim                                self.dim = dim
    self.w = Parameter(zeros(hidden, dim))  →     self.hidden = hidden

                                              def init(self, key):
                                                  return {"w": jnp.zeros((self.hidden, self.dim))}
"""

from collections.abc import Iterator

from ....facts.bindings.activity import bound
from ....facts.modules import ARRAYS, FIELD
from ....model.constants import is_none
from ....model.copy import clone
from ....model.effects import Apply, Declare
from ....model.expressions import Attribute, Call, Display, Name
from ....model.names import dotted, text
from ....model.node import Expression, Statement
from ....model.program import Class, Function
from ....model.statements import Assign, Block
from ...fresh_names import attributes, fresh
from ..plan import RESERVED, Plan
from .mutated_lists import Changing
from .rebinding import Rebinding


class Available:
    """The names of one constructor, and the fields that hold their values."""

    def __init__(self, init: Function, cls: Class, plan: Plan, arrays: set[str]) -> None:
        self.init, self.cls, self.plan = init, cls, plan
        self.self_name = init.receiver
        parameters = {p.name for p in init.parameters[1:]}
        self._bindings: dict[str, list[int]] = {name: [-1] for name in parameters}
        for at, statement in enumerate(init.body.body):
            for name in set(bound(statement)):
                self._bindings.setdefault(name, []).append(at)
        self._taken = set(_attributes(cls, plan)) - arrays | set(_kept_above(init, cls, plan))
        self._kept: dict[tuple[str, int | Statement], str] = {}
        self._stored: list[tuple[Statement, str, Expression]] = []
        self.rebinding = Rebinding(cls, init, plan)

    def is_local(self, name: str) -> bool:
        """Whether a name is the constructor's own."""
        return name in self._bindings

    def field(self, name: str, statement: Statement) -> str:
        """The field that holds the value that a name has at a statement of the constructor."""
        at = self._index(statement)
        version = max(i for i in self._bindings[name] if i < at)
        known = self._kept.get((name, version))
        if known is None:
            known = self._field(name, version)
            if known is None:
                known = fresh(name, self._taken | RESERVED)
                self._taken.add(known)
                self._stored.append((statement, known, Name(name)))
            self._kept[name, version] = known
        return known

    def changed_by_others(self, name: str) -> bool:
        return not self.plan.unsettled.is_settled(name)

    def snapshot(
        self, attribute: str, value: Expression, outer: Statement, place: Statement
    ) -> str:
        """The field that keeps what another one, or a part of it, is at a statement:
        `self.planes_`. `outer`: the statement of the constructor's own block around it."""
        key: tuple[str, int | Statement] = text(value), self._epoch(attribute, outer)
        if self.rebinding.is_set_in(attribute, outer) or self._runs_methods(outer):
            key, outer = (text(value), place), place
        known = self._kept.get(key)
        if known is None:
            named = (dotted(value) or attribute).removeprefix(f"{self.self_name}.")
            known = fresh(f"{named.replace('.', '_')}_", self._taken | RESERVED)
            self._kept[key] = known
            self._taken.add(known)
            self._stored.append((outer, known, clone(value)))
        return known

    def _epoch(self, attribute: str, outer: Statement) -> int:
        """How often a field may have been set before a statement of the constructor's own."""
        body = self.init.body.body[: self._index(outer)]
        return sum(self.rebinding.is_set_in(attribute, s) or self._runs_methods(s) for s in body)

    def is_made_above(self, name: str) -> bool:
        """Whether a class above makes an array of this name, on one way at least."""
        above = self.plan.modules.lineage(self.cls)[1:]
        found = [own for cls in above if (own := self.plan.fields(cls).get(name)) is not None]
        return any(own.kind in ARRAYS and not all(map(is_none, own.values)) for own in found)

    def is_known(self, name: str, statement: Statement) -> bool:
        """Whether a name has a value for sure where a statement begins."""
        return any(i < self._index(statement) for i in self._bindings[name])

    def is_changed_later(self, name: str, statement: Statement, changing: Changing) -> bool:
        """Whether the list or array that a name has at a statement is changed in place there, or
        behind it: a field would hold what it is in the end."""
        at = self._index(statement)
        end = next((i for i in self._bindings[name] if i >= at), len(self.init.body.body))
        return any(name in changing.in_place(s) for s in self.init.body.body[at : end + 1])

    def stored_behind(self, statement: Statement) -> set[str]:
        """The names whose values are kept in fields of ours behind a statement."""
        at = self._index(statement)
        behind = (value for s, _, value in self._stored if self._index(s) > at)
        return {value.id for value in behind if isinstance(value, Name)}

    def _runs_methods(self, statement: Statement) -> bool:
        """Whether something else may set fields: a method, or what is given the module."""
        for call in (n for n in statement.walk() if isinstance(n, Call)):
            held = [call.function, *call.arguments]
            roots = [h.object if isinstance(h, Attribute) else h for h in held]
            if any(isinstance(r, Name) and r.id == self.self_name for r in roots):
                return True
        return False

    def write(self) -> None:
        """Let the constructor keep what was asked for."""
        for statement, field, value in self._stored:
            target = Attribute(Name(self.self_name), field)
            block = statement.parent
            assert isinstance(block, Block)
            block.insert_before(statement, [Assign([target], value)])

    def _index(self, statement: Statement) -> int:
        around = [statement, *statement.ancestors()]
        return next(i for i, s in enumerate(self.init.body.body) if s in around)

    def _field(self, name: str, version: int) -> str | None:
        """A field that the user gives this value, and no other."""
        later = [i for i in self._bindings[name] if i > version]
        for at, assign in enumerate(self.init.body.body):
            if at <= version or later and at >= later[0]:
                continue
            for target, value in _pairs(assign):
                if isinstance(value, Name) and value.id == name and isinstance(target, Attribute):
                    own = self.plan.fields(self.cls).get(target.name)
                    once = self.rebinding.is_set_once(target.name)
                    if own is not None and own.kind == FIELD and once:
                        return target.name
        return None


def _pairs(assign: Statement) -> Iterator[tuple[Expression, Expression]]:
    """What is set to what: `self.a, self.b = a, b` sets two."""
    if not isinstance(assign, Assign) or isinstance(assign, Declare) or assign.operator:
        return
    value = assign.expression
    for target in assign.targets if value is not None else ():
        if isinstance(target, Display) and isinstance(value, Display):
            if len(target.elements) == len(value.elements):
                yield from zip(target.elements, value.elements)
        elif value is not None:
            yield target, value


def _kept_above(init: Function, cls: Class, plan: Plan) -> Iterator[str]:
    """The names that the constructors above may keep as fields, as this one does, but for those
    that are handed on to them: `super().__init__(d, d, bias=False)` keeps another `bias`."""
    for one in plan.modules.lineage(cls)[1:]:
        above = plan.modules.constructor(one)
        if above is not None:
            names = {p.name for p in above.parameters[1:]} | set(bound(above.body))
            yield from names - set(_handed_on(init, above))


def _handed_on(init: Function, above: Function) -> Iterator[str]:
    """The parameters of the constructor above that are given what has their name here."""
    for call in init.nodes(Call, Apply):
        function = call.function
        if isinstance(function, Attribute) and function.name == "__init__":
            own = not isinstance(function.object, Call)  # `Base.__init__(self, n)`
            names = [p.name for p in above.parameters[0 if own else 1 :]]
            words = [*names, *[None] * len(call.arguments)]
            for i, (given, word) in enumerate(zip(call.arguments, call.keywords)):
                if isinstance(given, Name) and given.id == (word or words[i]):
                    yield given.id


def _attributes(cls: Class, plan: Plan) -> set[str]:
    """The names of what a class, or one above or below it, has; below is also what a decorator
    makes of it."""
    modules = plan.modules
    found = set[str]()
    for one in {*modules.lineage(cls), *modules.below(cls)}:
        found |= plan.fields(one).keys() | modules.home(one).methods(one).keys()
        for statement in one.body.body:
            found |= set(bound(statement))
    made = (one for one in plan.project.classes() if _extends_any(one))
    return found.union(*map(attributes, made))


def _extends_any(cls: Class) -> bool:
    """Whether its base is what a function is given, as a decorator that extends classes is."""
    bases = {dotted(base) for base in cls.bases}
    around = (node for node in cls.ancestors() if isinstance(node, Function))
    return any(p.name in bases for function in around for p in function.parameters)
