"""One function on its way through the pass: what is known of it, where its modules are, what was taken out of the statement at hand."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from ... import dataflow, tree
from ...arrays import Arrays
from ...context import Context
from ...effects import ALL, Effects, runs
from ...infer.supers import through_super
from ...liveness import Liveness
from ...paths import Names, Path, Paths
from ...project import FunctionInfo
from ...regions import settled
from ...values import Function, Method, Module


@dataclass(frozen=True)
class LayerLists:
    """The lists of layers of one function: names, the containers that stand in them, and what loops go over with the place of its params."""

    names: frozenset[str] = frozenset()
    leaves: frozenset[int] = frozenset()
    heads: dict[int, Path] = field(default_factory=dict)


class Scope:
    """What the parts of the pass share while they go through one function."""

    def __init__(
        self,
        context: Context,
        node: cst.FunctionDef,
        info: FunctionInfo,
        effects: Effects,
        arrays: Arrays,
        visit: Callable[[Scope, Any], Any],
        *,
        renames: dict[str, str] | None = None,
        certain: bool = False,
    ) -> None:
        """`visit` converts a node, or gives None to go on below; `certain`: every optional param is there."""
        self.context, self.facts, self.effects, self.arrays = context, context.facts, effects, arrays
        self._visit = visit
        method = _method(info)
        self.cls = method.owner if method is not None else None
        self.self_name = (method or info).self_name
        self.runs = (method or info) in arrays.forward
        self.computes = (method or info) in arrays.running  # once the model is built, whoever calls it
        self.sets_params = False  # whether it is reported that it does, where no forward calls it
        self.is_forward = info.name == "forward"
        self.paths = Paths(context.facts, arrays, effects, self.cls, self.self_name, context.name, renames or {})
        self.names: Names = {}  # where the modules are that local names stand for
        self.needs = effects.functions.get(info, frozenset())
        self.stateful = "state" in self.needs
        self.certain = certain
        self.renames = renames or {}
        self.used = tree.names_read(node) | ALL | {"keys"} | set(self.renames.values())
        self.parameters = {p.name.value for p in info.parameters()}
        self._node, self._single = node, tree.bound_once(node.body)
        loops: list[Any] = list(tree.nodes(node.body, cst.For, cst.CompFor))
        assigned = {n for a in tree.nodes(node.body, cst.Assign, cst.NamedExpr) for n in tree.names_assigned(a)}
        self.looped = {n for loop in loops for n in tree.target_names(loop.target)} - assigned  # that loops alone set
        always = {n for s in tree.body_statements(node) if isinstance(s, cst.SimpleStatementLine) for n in tree.names_assigned(s)}
        self.given = self.parameters - always - {self.self_name}  # what a caller may give, whatever branches assign
        self.aliases = _aliases(context, node)
        self._held = self.parameters | set(tree.times_bound(node.body)) - self.aliases - {f.name.value for f in tree.nodes(node.body, cst.FunctionDef)}
        self.nested = 0  # how many functions deep the current statement stands in this one
        self.threaded = _threaded(context, node, effects) if self.stateful else frozenset()
        self.statement: Any = None  # the current one
        self.prelude: list[Any] = []  # statements that go before the current one
        self.hint: str | None = None  # the name that the current statement assigns
        self.lists = LayerLists()
        self.early: tuple[frozenset[int], frozenset[int]] = frozenset(), frozenset()  # `early_reads` of the current statement
        self.storing = False  # what is converted is assigned to
        self.writes: set[int] = set()  # depths of the state paths written: 1 for state["bn"]
        self.present: set[str] = set()  # optional params that a test has found

    def lives_on(self, name: str, comprehension: Any) -> bool:
        """Whether a name that a comprehension in the current statement binds is read outside of it from there on."""
        after = self._liveness.after.get(id(self.statement))  # None of a function inside
        if after is not None and name not in after and name not in dataflow.reads(_without(self.statement, comprehension)):
            return False
        return name in dataflow.reads(_without(self._node.body, comprehension))

    @functools.cached_property
    def _liveness(self) -> Liveness:
        return Liveness(self._node, self.self_name)

    @functools.cached_property
    def _settled(self) -> set[str]:
        return settled(self._node)

    def is_certain(self, name: str) -> bool:
        """Whether what a name is bound to at the current statement is what it stands for where it is read after it."""
        return name in self._single or name in self._settled

    def expression(self, node: Any) -> Any:
        """A node with all that is in it converted."""
        return tree.rewrite(node, functools.partial(self._visit, self))

    def target(self, node: Any) -> Any:
        """What is assigned to."""
        self.storing = True
        new = self.expression(node)
        self.storing = False
        return new

    @contextmanager
    def apart(self) -> Iterator[list[Any]]:
        """What is taken out meanwhile goes before another statement than the current one: the list of it."""
        before, self.prelude = self.prelude, []
        try:
            yield self.prelude
        finally:
            self.prelude = before

    @contextmanager
    def inside(self, node: Any) -> Iterator[None]:
        """What is converted meanwhile stands in a function, lambda or comprehension, whose own names are other things than those out here."""
        names, parameters = self.names, self.parameters
        own = tree.local_names(node) if isinstance(node, cst.FunctionDef) else tree.parameter_names(node) if isinstance(node, cst.Lambda) else set()
        self.names = {name: path for name, path in names.items() if name not in own}
        self.parameters = parameters | (tree.parameter_names(node) if own else set())
        try:
            yield
        finally:
            self.names, self.parameters = names, parameters

    def callee(self, func: Any) -> Any:
        """The expression of a callee: its own attributes stay, what it is indexed with is converted."""
        if isinstance(func, cst.Attribute):
            value = self.callee(func.value)
            return func if value is func.value else tree.replace(func, value=value)
        if isinstance(func, cst.Name) and isinstance(self.facts.of(func), Function):
            return self.renamed(func)
        return self.expression(func)

    def renamed(self, name: cst.Name) -> cst.Name:
        """A name as the output has it."""
        if name.value not in self.renames:
            return name
        new: cst.Name = tree.replace(name, value=self.renames[name.value])
        self.facts.carry(name, new)
        return new

    # ------------------------------------------------------------------ where modules are

    def path(self, node: cst.BaseExpression) -> Path | None:
        """Where the params and state of a module-valued expression are."""
        return self.paths.of(node, self.names)

    def bindings(self, name: str) -> list[Any]:
        """What branches assign to a name that both sides of them set."""
        found: list[Any] = []
        for branch in tree.scope_nodes(self._node.body, cst.If):
            sides = [[n.value for n in tree.scope_nodes(side, cst.Assign) if tree.code(n.targets[0].target) == name] for side in (branch.body, branch.orelse) if side is not None]
            found += [value for side in sides for value in side] if len(sides) == 2 and all(sides) else []
        return found

    def unfollowed(self, node: cst.BaseExpression) -> Any:
        """What stands for a use of a module that has no path."""
        return self.context.unconverted("module-value", node, "the params of this module could not be followed to here")

    def is_bound(self, func: cst.BaseExpression) -> bool:
        """A module passed in as an argument comes with its params bound."""
        return isinstance(func, cst.Name) and func.value in self.parameters and func.value not in self.names and func.value != self.self_name

    def holds_bound(self, func: cst.BaseExpression) -> bool:
        """Whether a function that is called comes with what it needs, as a value: `fn = self.up if flag else self.down`."""
        if isinstance(func, cst.Name):
            return func.value in self._held
        return not isinstance(func, cst.Attribute)

    # ------------------------------------------------------------------ which calls return state

    def needs_of(self, value: Function) -> frozenset[str]:
        """The effects of a function, where it runs while a model does, as those inside a function do."""
        runs = value.info in self.effects.running or value.info.outer is not None
        return self.effects.functions.get(value.info, frozenset()) if runs else frozenset()

    def stateful_call(self, node: cst.BaseExpression) -> bool:
        """Whether a call returns new state beside its result."""
        if not isinstance(node, cst.Call) or not self.stateful:
            return False
        func = checkpointed(node) or node.func
        value = self.facts.of(func)
        if isinstance(value, Module):
            return "state" in self.effects.module(value) and not self.is_bound(func)
        if isinstance(value, Function):
            return "state" in self.needs_of(value) and not self.holds_bound(func)
        if isinstance(value, Method) and isinstance(value.receiver, Module):
            if value.name == "forward":
                holds_any = through_super(node) and (not value.receiver.classes or self.effects.is_container(value.receiver.refs[0]))
                return holds_any or "state" in self.effects.module(value.receiver)
            if isinstance(value, Method) and self.effects.of_any(value):
                return bool(self.effects.method_of_any(value.name))
            return runs(self.facts, value) and not value.receiver.is_self
        return False

    def stateful_calls(self, node: cst.CSTNode) -> list[cst.Call]:
        """The calls in a node that return new state."""
        return [n for n in tree.nodes(node, cst.Call) if self.stateful_call(n)] if self.stateful else []


def _without(node: Any, expression: Any) -> Any:
    return tree.rewrite(node, lambda n: cst.Name("None") if n is expression else None)


def checkpointed(node: cst.Call) -> Any:
    """The function in `jax.checkpoint(f)(x)`; None for any other call."""
    made = node.func
    if not isinstance(made, cst.Call) or tree.dotted(made.func) != "jax.checkpoint" or len(made.args) != 1:
        return None
    return made.args[0].value


def _threaded(context: Context, node: cst.FunctionDef, effects: Effects) -> frozenset[FunctionInfo]:
    """The functions inside a function that take the state and return it: those that are only called, at places that can keep it."""
    inner = [f for f in tree.nodes(node.body, cst.FunctionDef) if "state" in effects.functions.get(context.facts.by_node.get(id(f)), ())]  # type: ignore[arg-type]
    deeper = {id(n) for f in tree.nodes(node.body, cst.FunctionDef, cst.Lambda) for n in tree.nodes(f, cst.Name)}
    called = {id(checkpointed(c) or c.func) for c in tree.nodes(node.body, cst.Call)}
    found = set()
    for function in inner:
        info = context.facts.by_node[id(function)]
        used = [n for n in tree.nodes(node.body, cst.Name) if n.value == info.name and n is not function.name]
        certain = all(isinstance(value := context.value(n), Function) and value.info is info for n in used)
        if certain and "state" not in tree.parameter_names(function) and all(id(n) in called and id(n) not in deeper for n in used):
            found.add(info)
    return frozenset(found)


def _aliases(context: Context, node: cst.FunctionDef) -> set[str]:
    """The local names that stand for one method or function all through: `block = self.block`."""
    times, found = tree.times_bound(node.body), dict[str, list[FunctionInfo]]()
    for assignment in tree.nodes(node.body, cst.Assign):
        if (value := _aliased(context, assignment)) is not None:
            found.setdefault(tree.code(assignment.targets[0].target), []).append(value.info)
    return {name for name, infos in found.items() if len(infos) == times[name] and len(set(infos)) == 1} - tree.parameter_names(node)


def _aliased(context: Context, node: Any) -> Function | None:
    """What `block = self.block` gives another name."""
    value = context.value(node.value) if isinstance(node.value, (cst.Name, cst.Attribute)) else None
    return value if isinstance(value, Function) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name) else None


def _method(info: FunctionInfo) -> FunctionInfo | None:
    """The method that a function is, or stands in."""
    found: FunctionInfo | None = info
    while found is not None and found.owner is None:
        found = found.outer
    return found
