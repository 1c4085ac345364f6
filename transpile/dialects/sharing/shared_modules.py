"""Modules that stand in several places of another: torch trains one, and here each place would have
params of its own.

layer = nn.Linear(4, 4)
self.a, self.b = layer, layer                one set of params: children() knows the object again
self.s = nn.Sequential(layer, nn.ReLU())     reported: params["s"]["0"] is another set

Where all places are in one module it is one set of params in the functional output; what stands in
two modules is reported. In Equinox each place has arrays of its own: all of it is reported.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...facts.bindings.activity import free
from ...facts.modules import SUBMODULE
from ...facts.values.lattice import UNKNOWN, External, Mapping, Module, Sequence, is_param
from ...facts.values.lattice import Function as FunctionValue
from ...model.effects import PARAM, Declare, New
from ...model.expressions import Attribute, Call, Name, Starred, Subscript
from ...model.names import dotted, is_target, last_word, text
from ...model.node import Expression, Node
from ...model.program import Class, Function
from ...model.statements import Assign, Declaration, Delete, Return
from ..reports import Reports
from .handed_modules import Owners
from .name_sources import Names, whole
from .placement import CONTAINERS, Placed, Plan, Use
from .repeated_items import APART, TWO, is_held_param
from .submodule_paths import holds_modules

_ONCE = (
    "is one module in all objects of the class: each has params of its own here, so that training "
    "makes them differ; make it in the constructor"
)
_SHALLOW = External("copy.copy")
_CACHES = frozenset(("cache", "lru_cache"))


class Shared:
    """The modules of one class that have several places."""

    def __init__(self, cls: Class, init: Function, plan: Plan, together: bool) -> None:
        self.cls, self.init, self.plan, self.together = cls, init, plan, together
        self.me = init.receiver
        self.placed = Placed(self.me, plan)
        nodes = list(init.body.walk())
        self.names = Names(nodes)
        self._opened = set[New]()
        stores = [t for n in nodes if isinstance(n, (Assign, Delete)) for t in n.targets]
        names = (n for n in nodes if isinstance(n, Name) and n.value in (None, UNKNOWN))
        self._lists = {n.id for n in names if _fills(n)}
        self._replaced = {text(t) for t in stores if isinstance(t, Attribute) and not self._own(t)}

    def report(self, reports: Reports, used: set[str], owners: Owners) -> None:
        """`used`: the attributes that are read while models run."""
        for call in (n for n in self.init.body.walk() if isinstance(n, Call)):
            if isinstance(call.value, Module) or call.value in (None, UNKNOWN):
                if any(map(_keeps, self._run(call))):
                    why = f"{text(call.function)} may give one module several times: each {APART}"
                    reports.report("shared-module", call, why)
            if call.function.value == _SHALLOW and isinstance(call.value, Module):
                why = f"{text(call)} has the params of what it is a copy of in torch: each {APART}"
                reports.report("shared-module", call, why)
        sources: dict[object, list[Use]] = {}  # the places of one module
        for use in self._uses():
            if use.node in owners:
                parent, attribute = owners[use.node]
                use = replace(use, parent=parent, attribute=attribute, turning=False)
            sources.setdefault(self.names.source(use.node), []).append(use)
        for uses in sources.values():
            node, found = uses[0].node, {u.attribute for u in uses}
            if any(u.turning for u in uses):
                why = f"{text(node)} is one module in what every turn makes: each {APART}"
                reports.report("shared-module", node, why)
            elif self._is_apart(uses) and self._counts(node, found, used):
                places, param = " and ".join(sorted(found)), _is_one_param(node)
                kind, apart = ("param", TWO) if param else ("module", APART)
                why = f"{text(node)} is one {kind} in {places}: each {apart}"
                reports.report("shared-module", node, why)

    def _run(self, call: Call) -> Iterator[Function]:
        """What a call may run; else what is inside of the functions that its name is bound by:
        `get, other = map(cached, (f, g))`."""
        targets = self.plan.conventions.targets(call)
        yield from targets or ()
        if targets or not isinstance(call.function, Name):
            return
        for assign in self.names.bindings.get(call.function.id, ()):
            for node in assign.expression.walk() if assign.expression is not None else ():
                if isinstance(node.value if isinstance(node, Name) else None, FunctionValue):
                    made = node.value.function  # type: ignore[attr-defined]
                    yield from (n for n in made.body.walk() if isinstance(n, Function))

    def _is_apart(self, uses: list[Use]) -> bool:
        """Whether the places have params of their own."""
        if self.together:
            return len({u.parent for u in uses}) > 1
        return len({(u.parent, u.attribute) for u in uses}) > 1

    def _counts(self, node: Expression, found: set[str], used: set[str]) -> bool:
        """Whether more than one of the places can be trained."""
        plain = isinstance(node, Name) or self._own(node) is not None
        return len(found) == 1 or len(found & used) > 1 or plain and bool(found & used)

    # --- where modules are put --------------------------------------------------------------------

    def _uses(self) -> Iterator[Use]:
        for node in self.init.body.walk():
            for attribute, value, parent in (*self.placed.held(node), *self._param(node)):
                for use in self._listed(self.placed.given(value, attribute, parent)):
                    if text(use.node) not in self._replaced and self._has_params(use):
                        yield use
                        yield from self._implied(replace(use, node=self.names.taken(use.node)))

    def _param(self, node: Node) -> Iterator[tuple[str, Expression, str]]:
        """A param that is declared by its name, `self.p = p`, or a list that fills a container."""
        made = node.expression if isinstance(node, Assign) else None
        if not isinstance(made, Name):
            return
        if isinstance(node, Declare) and node.kind == PARAM:
            yield node.name, made, self.me
        elif made.id in self._lists and (own := self._own(node.targets[0])) is not None:  # type: ignore[attr-defined]
            yield own, made, f"{self.me}.{own}"

    def _listed(
        self, uses: Iterable[Use], around: frozenset[Expression] = frozenset()
    ) -> Iterator[Use]:
        """Those of a list, and of a container, with what the constructor puts into it."""
        for use in uses:
            yield use
            for value in self._behind(use.node, around):
                inside = self.placed.given(value, use.attribute, use.parent)
                if value is self.names.origin(use.node):  # a turn takes one of what it goes over
                    inside = (replace(u, turning=use.turning) for u in inside)
                yield from self._listed(inside, around | {value})

    def _behind(self, node: Expression, around: frozenset[Expression]) -> Iterator[Expression]:
        """What the module, or the list, of a name holds, or was taken from."""
        origin = self.names.origin(node)
        if origin is not None and origin not in around and self._may_be_trained(node):
            yield origin
        made = self.names.made(node)
        if made is not None and made not in self._opened:
            self._opened.add(made)
            yield made
        if isinstance(node, Name) and self._is_list(node):
            put = [a.expression for a in self.names.bindings.get(node.id, ()) if a.expression]
            for call in self.init.nodes(Call):
                if dotted(call.function) in (f"{node.id}.append", f"{node.id}.extend"):
                    put += call.arguments
            yield from (value for value in put if value not in around)

    def _may_be_trained(self, node: Expression) -> bool:
        """Whether it may be a module with params, or a list of such: no name of a module."""
        value = node.value
        if isinstance(value, (Module, Sequence)):
            return self.plan.may_have(node)
        return value in (None, UNKNOWN) or isinstance(value, Mapping)

    def _is_list(self, node: Name) -> bool:
        """Whether a name is that of a list of params, or of the one list of modules that it is."""
        if is_held_param(node):
            return not _is_one_param(node)
        return isinstance(node.value, Sequence) and len(self.names.bindings.get(node.id, ())) == 1

    def _implied(self, use: Use) -> Iterator[Use]:
        """What is taken from an attribute stands there too."""
        node = whole(use.node)
        own = self._own(node)
        if own is not None:
            if getattr(node.nearest(Declare), "name", "") != own:  # `self.g = Sequential(self.g)`
                yield Use(node, own, self.me)
        elif isinstance(node, (Attribute, Subscript)):
            path = node.object
            while not isinstance(path, Name) and self._own(path) is None:
                if not isinstance(path, (Attribute, Subscript)):
                    return
                path = path.object
            owns = [self._own(path)]
            if isinstance(path, Name):  # `sub.out`, where `self.sub = sub`
                made = [d for d in self.init.nodes(Declare) if d.kind == SUBMODULE]
                owns = [d.name for d in made if self._is_given(d.expression, path)]
            yield from (Use(node, own, text(node.object)) for own in owns if own is not None)

    def _has_params(self, use: Use) -> bool:
        """Whether it is a module that has arrays."""
        node = whole(use.node)
        value = node.value
        if isinstance(value, Module):
            if value.is_self:
                return False
            known = bool(value.classes) or isinstance(node, Subscript)
            return known and self.plan.may_have(node) or self._is_held(use)
        if _is_one_param(node):
            return not self.together
        if isinstance(value, Sequence):
            return isinstance(node, Name) and self.plan.may_have(node)
        return value in (None, UNKNOWN) and (self._is_held(use) or text(node) in self._lists)

    def _is_held(self, use: Use) -> bool:
        """Whether a container is filled with an attribute of any class."""
        new = use.node.nearest(Call, Declare)  # not `nn.Sequential(make(self.size))`
        if not isinstance(new, New) or self._own(use.node) is None:
            return False
        word = (dotted(new.function) or str(getattr(new.function, "name", ""))).rpartition(".")[2]
        return word in CONTAINERS

    def _is_given(self, made: Expression | None, name: Name) -> bool:
        """Whether a submodule is what a name is, or holds all of it: `nn.Sequential(*blocks)`."""
        given = made.arguments if isinstance(made, New) and holds_modules(made) else [made]
        whole_ones = (g.expression if isinstance(g, Starred) else g for g in given)
        named = [n for n in whole_ones if isinstance(n, Name) and n.id == name.id]
        return any(self.names.source(n) == self.names.source(name) for n in named)

    def _own(self, node: Node) -> str | None:
        own = isinstance(node, Attribute) and dotted(node.object) == self.me
        return node.name if own else None  # type: ignore[attr-defined]


def _keeps(function: Function) -> bool:
    """Whether a function gives what an earlier call of it has made: by a cache, or by a name
    around it."""
    marks = [d.function if isinstance(d, Call) else d for d in function.decorators]
    if any(last_word(d) in _CACHES for d in marks):
        return True
    kept = {name for d in function.nodes(Declaration) for name in d.names}
    returned = (r.expression for r in function.nodes(Return))
    if any(isinstance(value, Name) and value.id in kept for value in returned):
        return True
    # `made[key]` of a dict that is around, which stays from call to call
    items = [(n, n.object.id) for n in function.nodes(Subscript) if isinstance(n.object, Name)]
    stored = {name for item, name in items if is_target(item)}
    asked = {name for item, name in items if not is_target(item)}
    return not (stored & asked).isdisjoint(free(function))


def report_shared(plan: Plan, reports: Reports, owners: Owners, together: bool = True) -> None:
    """Report the modules that have several places, of all classes, but for those whose arrays are
    their `owners`'; `together`: those of one module have one set of params."""
    functions = plan.conventions.functions
    running = [f for f in functions if f not in plan.conventions.building]
    used = {n.name for f in running for n in f.nodes(Attribute)}
    for cls in plan.project.classes():
        if not plan.modules.is_module(cls):
            continue
        init = plan.modules.constructor(cls)
        made = [p.default for p in init.parameters if p.default is not None] if init else []
        made += [a.expression for a in cls.nodes(Assign) if a.expression is not None]
        for value in made:
            if isinstance(value, New) and isinstance(value.value, Module) and plan.may_have(value):
                reports.report("shared-module", value, f"{text(value)} {_ONCE}")
        if init is not None and init.parameters:
            Shared(cls, init, plan, together).report(reports, used, owners)


def _is_one_param(node: Node) -> bool:
    return isinstance(node, Expression) and is_param(node.value)


def report_doubled(lists: Iterable[tuple[str, Node]], reports: Reports) -> None:
    """Report lists of Python's that have more of what stands elsewhere."""
    for name, node in lists:
        why = f"{name} has modules that stand elsewhere too: each {APART}"
        reports.report("shared-module", node, why)


def _fills(node: Name) -> bool:
    """Whether a container is filled with all of a list: `ModuleList(heads)`,
    `Sequential(*heads)`."""
    around = node.parent
    starred = isinstance(around, Starred)
    if starred or isinstance(around, Call) and dotted(around.function) == "list":
        around = around.parent if around is not None else None
    word = getattr(around.function, "name", "") if isinstance(around, New) else ""
    return word == "ModuleList" or starred and word == "Sequential"
