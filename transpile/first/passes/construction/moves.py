"""Where a statement of a constructor goes: to `init`, to `init_state`, into a property, or nowhere since it is not needed any more."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree
from ...arrays import is_plain, registered_value, returns_parameter
from ...context import KEY
from ...emit import unaugmented
from ...paths import below
from ...project import FunctionInfo
from ...values import NONE, Module
from .absent_arrays import is_flag
from .constructors import Original
from .given import initial, is_given
from .initial_values import holds_parameter, initial_value, is_none, parameter_call, registered_name
from .local_values import Locals
from .questions import undetached
from .statements import unless


@dataclass(frozen=True)
class Move:
    """Where a statement goes: "params", "state", "property", "dropped", "replaced" by other lines, or "" where it stays."""

    where: str = ""
    lines: tuple[Any, ...] = ()
    name: str = ""  # of what becomes a property
    value: Any = None
    stays: tuple[Any, ...] = ()  # lines that take its place in the constructor


STAYS, DROPPED = Move(), Move("dropped")


class Moves:
    """Where the statements of one constructor go; `initialising` are methods that give params values while a model is built."""

    def __init__(self, original: Original, locals_: Locals, initialising: Set[FunctionInfo], may_walk_later: Callable[[Any], bool]) -> None:
        self.original, self.locals, self.initialising, self.may_walk_later = original, locals_, initialising, may_walk_later
        self.context, self.cls, self.arrays = original.context, original.cls, original.arrays

    def of(self, statement: Any, small: Any) -> Move:
        """Where the one small statement of a line goes."""
        if isinstance(small, cst.AnnAssign) and small.value is not None:
            small = cst.Assign([cst.AssignTarget(small.target)], small.value)
        if isinstance(small, cst.AugAssign) and (self.original.array(small.target) is not None or self._is_held(small.target)):
            small = cst.Assign([cst.AssignTarget(small.target)], unaugmented(small))
        if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Attribute):
            target = small.targets[0].target
            name = self.original.attribute(target)
            return self._own(statement, small, name) if name is not None else self._below(statement, small, target)
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
            return self._called(statement, small.value)
        return STAYS

    def touches_arrays(self, statement: Any) -> bool:
        """Whether something below a branch or loop moves, or makes a parameter."""
        node: Any
        for node in tree.nodes(statement, cst.SimpleStatementLine, cst.Call):
            if isinstance(node, cst.Call):
                if tree.dotted(node.func) == "nn.Parameter" or self.registers_computed(node):
                    return True
            elif any(self.of(node, small).where for small in node.body):
                return True
        return False

    def registers_computed(self, small: Any) -> bool:
        """`self.register_buffer(f"mask{i}", mask)`"""
        call: Any = small.value if isinstance(small, cst.Expr) else small
        registers = isinstance(call, cst.Call) and self.original.attribute(call.func) in ("register_buffer", "register_parameter")
        return registers and bool(call.args) and registered_name(call) is None

    def only_writes(self, statement: Any) -> str | None:
        """What a loop gives values to, "params" or "state", where it does nothing else."""
        smalls = [(line, small) for line in tree.nodes(statement, cst.SimpleStatementLine) for small in line.body if not isinstance(small, cst.Pass)]
        places = {"" if holds_parameter(small) else self.of(line, small).where for line, small in smalls}
        return places.pop() if len(places) == 1 and places <= {"params", "state"} else None

    def unaugmented(self, statement: Any) -> Any:
        """A loop that moves, with `self.fc.bias = self.fc.bias + 2` for `self.fc.bias += 2`."""

        def before(node: Any) -> Any:
            own = self.original.array(node.target) is not None or self._is_held(node.target)
            return cst.Assign([cst.AssignTarget(node.target)], unaugmented(node)) if own else None

        return tree.rewrite(statement, before, only={cst.AugAssign})

    def _below(self, statement: Any, small: cst.Assign, target: cst.Attribute) -> Move:
        """`self.fc.weight = …`: a param of a submodule."""
        dotted = tree.dotted(target)
        if dotted is None or not dotted.startswith(self.original.self_name + "."):
            return STAYS
        path = self.arrays.canonical(self.cls, tuple(dotted.split(".")[1:]))
        ties = self.arrays.ties(self.cls)
        if path in ties:
            deletion = tree.statement(f'{below(path[:-1])}.pop("{path[-1]}")  # tied to {".".join(ties[path].source)}\n')
            return Move("params", (tree.replace(deletion, leading_lines=statement.leading_lines),), stays=self._tie(statement, small, target))
        where = self.arrays.held(target)
        if where in ("params", "state") and not is_none(small.value):
            return Move(where, (tree.replace(statement, body=[tree.replace(small, value=initial_value(small.value))]),))
        return DROPPED if target.attr.value == "requires_grad" else STAYS

    def _tie(self, statement: Any, small: cst.Assign, target: Any) -> tuple[Any, ...]:
        """`nn.tie(self.head, "weight", self.emb, "weight")`, where something may walk over modules later and give them other values.

        `for m in self.modules(): if isinstance(m, nn.Linear): nn.init.normal_(m.weight)` reaches emb.weight by the head.
        """
        source = small.value
        if not isinstance(source, cst.Attribute) or not (tree.dotted(source) or "").startswith(f"{self.original.self_name}."):
            return ()
        if not self.may_walk_later(statement):
            return ()
        sides = ", ".join(f'{tree.code(side.value)}, "{side.attr.value}"' for side in (target, source))
        return (tree.statement(f"{self.context.name('tie')}({sides})"),)

    def _is_held(self, target: Any) -> bool:
        """Whether a target is a param or a buffer of a submodule."""
        return isinstance(target, cst.Attribute) and self.original.attribute(target) is None and self.arrays.held(target) in ("params", "state")

    def _own(self, statement: Any, small: cst.Assign, name: str) -> Move:
        """`self.weight = …`"""
        if (name,) in self.arrays.ties(self.cls):
            tying = self._tie(statement, small, small.targets[0].target)
            return Move("replaced", tying) if tying else DROPPED
        array = self.original.own.get(name)
        if array is None:
            return STAYS
        if array.where == "params" and is_none(small.value):
            return self._without(statement, name)
        if array.plain and not holds_parameter(small) and is_plain(self.context.value(small.value), small.value, self.cls.methods["__init__"]):
            return STAYS  # `self.gamma = 1.0` on the way on which it is no parameter
        if array.where == "params" and isinstance(small.value, cst.IfExp) and not any(map(self._declares, _sides(small.value))):
            return Move("params", (_conditional(statement, small, small.value),))
        if array.where == "params" and any(map(self._declares, _sides(small.value))):
            return STAYS  # `self.w = get_param((n, m))` of a function that makes the declaration
        value = initial_value(small.value)
        if array.where == "constant":
            if self.context.value(small.value) == NONE or is_none(value):
                return STAYS
            if isinstance(value, cst.Name) and value.value in self.original.parameters:
                return STAYS  # given to the constructor: there is nothing to compute
            return self._constant(statement, name, value)
        if array.where == "params" and tree.code(value) == tree.code(small.targets[0].target):
            return DROPPED  # `self.scale = nn.Parameter(self.scale)`
        return Move(array.where, (tree.replace(statement, body=[tree.replace(small, value=value)]),))

    def _declares(self, value: Any) -> bool:
        return returns_parameter(self.context.facts, value)

    def _constant(self, statement: Any, name: str, value: Any) -> Move:
        if self.locals.draws(value):
            self.original.own[name].where = "state"
            return Move("state", (self._assignment(statement, name, value),))
        return Move("property", name=name, value=value)

    def _assignment(self, statement: Any, name: str, value: Any) -> Any:
        made = self.original.setting(name, value)
        target: Any = made.targets[0].target
        self.context.facts.tell(target.value, Module(frozenset([self.cls]), is_self=True))
        return tree.replace(statement, body=[made])

    def _called(self, statement: Any, call: cst.Call) -> Move:
        """A method that gives arrays their first values, or `self.register_buffer("mask", mask)`."""
        name = self.original.attribute(call.func)
        info = getattr(self.context.value(call.func), "info", None)
        if info is not None and name == info.name and self._sets_state(info):
            return Move("state", (statement,))
        if info is not None and name == info.name and info in self.initialising:
            return Move("params", (statement,))
        if name is None:
            return self._filled(statement, call)
        return self._registered(statement, call) if name in ("register_buffer", "register_parameter") else STAYS

    def _filled(self, statement: Any, call: cst.Call) -> Move:
        """`init(self.weight)` with an initialiser that is passed in."""
        first: Any = undetached(call.args[0].value) if call.args else None
        array = self.original.own.get(self.original.attribute(first) or "")
        if array is None or array.where != "params" or not is_given(self.context, call.func, self.cls.methods["__init__"]):
            return STAYS
        value = initial(self.context, call, cst.Name(KEY))
        return Move("params", (tree.replace(statement, body=[cst.Assign([cst.AssignTarget(first)], value)]),))

    def _without(self, statement: Any, name: str) -> Move:
        """`self.bias = None`: nothing for a param that this class makes on another way, and for one that it inherits the end of it."""
        if is_flag(self.context, self.cls, name):
            return STAYS
        above = [self.arrays.own[c].arrays.get(name) for c in self.cls.ancestors() if c is not self.cls and c in self.arrays.own]
        inherited = next((array for array in above if array is not None and array.where == "params"), None)
        layer = self.context.facts.layer_of(self.cls)
        of_layer = layer is not None and self.context.rulebook.arrays(layer.name).get(name) == "params"
        if inherited is None and not of_layer or self.arrays.own[self.cls].assigned[name] > 1:
            return DROPPED
        certain = inherited is not None and not inherited.optional
        deletion = tree.statement(f'{below(())}.pop("{name}"{"" if certain else ", None"})')
        return Move("params", (tree.replace(deletion, leading_lines=statement.leading_lines),))

    def _registered(self, statement: Any, call: cst.Call) -> Move:
        name = registered_name(call)
        if name is None:
            return STAYS
        initial, array = registered_value(call), self.original.own.get(name)
        if array is None or initial is None:
            return DROPPED
        if is_none(initial):
            if array.where == "params":
                return DROPPED
            return Move("state" if array.where == "state" else "replaced", (self._assignment(statement, name, initial),))
        if array.where == "constant":
            return self._constant(statement, name, initial_value(initial))
        if array.where == "params" and any(map(self._declares, _sides(initial))):
            return Move("replaced", (self._assignment(statement, name, initial),))
        if isinstance(initial, cst.IfExp) and array.where == "params":
            line = self._assignment(statement, name, initial)
            return Move("params", (_conditional(line, line.body[0], initial),))
        return Move(array.where, (self._assignment(statement, name, initial_value(initial)),))

    def _sets_state(self, info: FunctionInfo) -> bool:
        """Whether a method that runs later too, `self.extend_pe(x)`, gives buffers their first values; all else it sets is set here too."""
        written = self.arrays.written_by(self.cls, info)
        here = {t.target.attr.value for t in tree.nodes(self.original.node, cst.AssignTarget) if isinstance(t.target, cst.Attribute)}
        return "state" in written.values() and all(where == "state" or not where and name in here for name, where in written.items())


def _conditional(statement: Any, small: Any, choice: cst.IfExp) -> Any:
    """`self.bias = nn.Parameter(…) if bias else None`"""
    sides = _sides(choice)
    made = [side for side in sides if parameter_call(side) is not None or _is_made(side)] or [side for side in sides if not is_none(side)]
    return tree.replace(_choice(small, choice, made), leading_lines=statement.leading_lines)


def _is_made(side: Any) -> bool:
    """`torch.ones(n)`, where it stands beside a parameter."""
    return isinstance(side, cst.Call) and (tree.dotted(side.func) or "").startswith("jnp.")


def _choice(small: Any, value: Any, made: list[Any]) -> Any:
    """What gives a param its initial value, where that is one of these; None where it is none of them."""
    if all(side in made for side in _sides(value)):
        return cst.SimpleStatementLine([tree.replace(small, value=_initial(value))])
    if not isinstance(value, cst.IfExp):
        return None
    then, other = _choice(small, value.body, made), _choice(small, value.orelse, made)
    if then is None:
        return other and cst.If(unless(value.test), cst.IndentedBlock([other]))
    orelse = other if other is None or isinstance(other, cst.If) else cst.Else(cst.IndentedBlock([other]))
    return cst.If(value.test, cst.IndentedBlock([then]), orelse)


def _sides(value: Any) -> list[Any]:
    """What a choice may come to: `a if p else b if q else None` is a, b or None."""
    return [*_sides(value.body), *_sides(value.orelse)] if isinstance(value, cst.IfExp) else [value]


def _initial(value: Any) -> Any:
    """The initial value on each side of a choice."""
    if not isinstance(value, cst.IfExp):
        return initial_value(value)
    return tree.replace(value, body=_initial(value.body), orelse=_initial(value.orelse))
