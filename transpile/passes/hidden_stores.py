"""What a forward pass puts where the next call finds it, and no state follows: it is reported.

    setattr(self, name, t)   self.__dict__["t"] = t   vars(self)["t"] = t   self._buffers["t"] = t

set an attribute around its name. Under jit an array is a tracer, of one call alone, and what counts
calls counts the traces:

    CACHE[n] = torch.hann_window(n)    grid.kept = torch.arange(n)    global LAST; LAST = x
    self.seen.append(x)                def trace(x, seen=[]): seen.append(x)    Net.calls += 1
"""

from typing import Any

from ..facts.values.lattice import (
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Value,
    is_traced,
)
from ..model.effects import Apply
from ..model.expressions import Attribute, Call, Dictionary, Display, Name, Subscript
from ..model.names import dotted, names_assigned, text
from ..model.node import Expression
from ..model.program import Function as Method
from ..model.program import Scope
from ..model.statements import Assign, Declaration, ExpressionStatement, For
from .pass_ import Changes, Pass

_TABLES = ("__dict__", "_buffers", "_parameters")
_GROWING = frozenset({"append", "extend", "insert", "setdefault", "update"})
_HIDDEN = "becomes no state here: what is read later is the value from before"
_KEPT = (
    "is kept beyond the call: an array that is made under jax.jit is of that call alone; make it "
    "each time, or before"
)
_MOVED = (
    "moves on only where this is traced: under jax.jit every call has the same; give it as an "
    "argument, or keep it in an attribute of the module"
)


def run(scope: Scope, facts: Any) -> Changes:
    """Report those of one function that forward passes call."""
    changes = Changes(scope)
    if isinstance(scope, Method) and facts.stages.in_forward(scope):
        _Stores(scope, facts, changes).report()
    return changes


class _Stores:
    """The stores of one function."""

    def __init__(self, function: Method, facts: Any, changes: Changes) -> None:
        self.function, self.facts, self.changes = function, facts, changes
        project = facts.project
        method = project.method(function)
        self.owner = project.owner(method) if method is not None else None
        self.me = project.self_name(method) if method is not None else None
        declared = function.nodes(Declaration)
        self.shared = {n for d in declared if d.word == "global" for n in d.names}
        given = {p.name for p in function.parameters}
        self.own = (set(names_assigned(function)) | given) - self.shared
        self.defaults = {p.name for p in function.parameters if _is_list(p.default)}
        self.defaults -= set(names_assigned(function))
        turns = {n for f in function.nodes(For) for n in names_assigned(f)}
        self.handed = (given | turns) - {self.me}

    def of(self, node: Expression) -> Value:
        found: Value = self.facts.values.of(node)
        return found

    def report(self) -> None:
        for call in self.function.nodes(Call):
            self._call(call)
        for assign in self.function.nodes(Assign):
            for target in assign.targets if assign.expression is not None else ():
                self._hidden(target)
                self._by_setter(target)
                if assign.operator:
                    if not is_traced(self.of(target)) and self._outlives(target):
                        self._note("taken-for-granted", target, _MOVED)
                elif is_traced(self.of(assign.expression)) and self._is_kept(target):  # type: ignore[arg-type]
                    self._note("taken-for-granted", target, _KEPT)
        for statement in self.function.nodes(ExpressionStatement):
            if isinstance(statement.expression, Call):
                self._grown(statement.expression)

    def _note(self, id: str, node: Expression, why: str) -> None:
        self.changes.report(id, node, f"{text(node)} {why}")

    # --- around the name of an attribute ----------------------------------------------------------

    def _call(self, call: Call) -> None:
        word, function = dotted(call.function) or "", call.function
        if word.rpartition(".")[2] in ("setattr", "__setattr__") and call.arguments:
            held = call.arguments[0]
            if isinstance(function, Attribute) and len(call.arguments) == 2:
                held = function.object
            if self._is_module(held) and _may_be_array(self.of(call.arguments[-1])):
                self.changes.unconverted("dynamic-attribute", call, f"what {word} sets {_HIDDEN}")
        elif isinstance(function, Attribute) and function.name == "update":
            if (table := self._table(function.object)) is not None:
                why = f"what is set by way of {table} {_HIDDEN}"
                self.changes.unconverted("dynamic-attribute", call, why)

    def _hidden(self, target: Expression) -> None:
        if isinstance(target, Subscript) and (table := self._table(target.object)) is not None:
            why = f"what is set by way of {table} {_HIDDEN}"
            self.changes.report("dynamic-attribute", target, why)

    def _is_module(self, held: Expression) -> bool:
        """Whether it is a module; of what a constructor was given that it is called tells."""
        value = self.of(held)
        called = (c.function for c in self.function.nodes(Call, Apply))
        given = value == UNKNOWN and isinstance(held, Attribute)
        return isinstance(value, Module) or given and any(text(f) == text(held) for f in called)

    def _by_setter(self, target: Expression) -> None:
        held = self.of(target.object) if isinstance(target, Attribute) else None
        refs = held.refs if isinstance(held, Module) and isinstance(target, Attribute) else ()
        found = (self.facts.project.find(r, target.name) for r in refs if not isinstance(r, str))  # type: ignore[attr-defined]
        if any(one is not None and self.facts.project.is_property(one) for one in found):
            self._note("dynamic-attribute", target, f"is set by a property, and {_HIDDEN}")

    def _table(self, node: Expression) -> str | None:
        """`self.__dict__`, `vars(self)`, `self._buffers`"""
        if isinstance(node, Attribute) and node.name in _TABLES:
            return node.name if isinstance(self.of(node.object), Module) else None
        if isinstance(node, Call) and dotted(node.function) == "vars" and len(node.arguments) == 1:
            return "vars" if isinstance(self.of(node.arguments[0]), Module) else None
        return None

    # --- beyond the call --------------------------------------------------------------------------

    def _is_kept(self, target: Expression) -> bool:
        if isinstance(target, Subscript) and dotted(target.object) in self.defaults:
            return True
        return self._outlives(target) or self._is_handed(target)

    def _outlives(self, target: Expression) -> bool:
        if isinstance(target, Name):
            return target.id in self.shared
        if isinstance(target, Subscript) and isinstance(target.object, Name):
            name, file = target.object.id, self.function.file
            if name in self.own or file not in self.facts.project.names:
                return False
            table = isinstance(self.of(target.object), (Mapping, Sequence))
            return table and name in self.facts.project.names[file].assigned
        if not isinstance(target, Attribute) or not isinstance(target.object, Name):
            return False
        return isinstance(self.of(target.object), (Function, Class))

    def _is_handed(self, target: Expression) -> bool:
        """Whether an array is set on a module that was handed over, whose state is elsewhere."""
        if not isinstance(target, Attribute) or not isinstance(target.object, Name):
            return False
        holder = self.of(target.object)
        module = isinstance(holder, Module) and not holder.is_bare
        return module and target.object.id in self.handed

    def _grown(self, call: Call) -> None:
        function = call.function
        if not isinstance(function, Attribute) or function.name not in _GROWING:
            return
        if not any(map(_holds_array, map(self.of, call.arguments))):
            return
        held = function.object
        if dotted(held) in self.defaults or self._lasts(held):
            self._note("taken-for-granted", held, _KEPT)

    def _lasts(self, held: Expression) -> bool:
        """Whether it is a list or dict of self that is no state, for no call begins it anew."""
        if type(held) is not Attribute or dotted(held.object) != self.me or self.me is None:
            return False
        listed = isinstance(self.of(held), (Mapping, Sequence))
        return listed and self.owner is not None and self.facts.project.is_module(self.owner)


def _may_be_array(value: Value) -> bool:
    return isinstance(value, Tensor) or type(value) is Value


def _holds_array(value: Value) -> bool:
    held = value.element if isinstance(value, (Mapping, Sequence)) else value
    return isinstance(held, Tensor)


def _is_list(default: Expression | None) -> bool:
    if isinstance(default, Display):
        return default.kind == "list"
    made = isinstance(default, Call) and dotted(default.function) in ("list", "dict")
    return made or isinstance(default, Dictionary)


PASS = Pass("hidden_stores", ("values", "stages"), run)
