"""Which initialisers must be made in place, since another that walks over modules comes after them.

Writes to params by a path from self run in `init`, after the submodules have made theirs. What walks, `self.apply(f)` or
`for m in self.modules(): …`, gives submodules another `init`, which runs before those. So what torch overwrites by a walk
cannot move to `init`; nor can a method that walks: it runs once, while the model is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Protocol

import libcst as cst

from . import tree
from .arrays import Arrays
from .callgraph import reachable, with_callers
from .effects import PARAMETERS
from .infer import Inference
from .project import ClassInfo, FunctionInfo
from .sharing import is_copy
from .values import Function, Module, Tensor, is_anything

_ALL = frozenset({"nn.apply", "nn.modules", "nn.named_modules", "nn.reinitialise_all"})  # they reach everything below a module
_COPY = frozenset({"copy.deepcopy", "deepcopy"})
_ONE = frozenset({"nn.reinitialise", "nn.reset_parameters"})


class Settings(Protocol):
    """What is known of the attributes that constructors set."""

    def set_while_built(self, cls: ClassInfo) -> Mapping[str, int]: ...

    def set_elsewhere(self) -> Set[str]: ...


class Walks:
    """The functions that give modules other initial values while models are built."""

    def __init__(self, facts: Inference, arrays: Arrays, names: Settings, functions: list[FunctionInfo]) -> None:
        self.facts, self.arrays, self.names, self.functions = facts, arrays, names, functions
        self.walking = walking(facts, functions)
        self.copying = with_callers(facts.calls, (f for f in functions if f.name != "__init__" and _calls(f.node, _COPY)), functions)
        self.by_name = {name for f in functions for name in self._asked_of_any(f)}
        self.reached = [(f, self._reached(f)) for f in functions if _calls(f.node, _ALL)]

    def _replaced_later(self, info: FunctionInfo) -> list[Any]:
        """The statements that write params of a submodule in whose place another comes later, here or in a class below: that one keeps its own."""
        assert info.owner is not None
        below = {name for c in info.owner.descendants() for name in self.names.set_while_built(c)} | self.names.set_elsewhere()
        statements = tree.body_statements(info.node)
        inits = [c.methods["__init__"] for c in info.owner.family() if "__init__" in c.methods] if info.name != "__init__" else []
        for body, init in ((tree.body_statements(init.node), init) for init in inits):
            called = next((i for i, s in enumerate(body) if info in self._all_called_by(s)), len(body))
            below |= {name for s in body[called + 1 :] for name in _set_here(s, init.self_name)}
        found = []
        for i, statement in enumerate(statements):
            written = {path.split(".")[1] for path in _paths(statement) if path.startswith(f"{info.self_name}.") and path.count(".") > 1}
            if written & (below | {name for s in statements[i + 1 :] for name in _set_here(s, info.self_name)} if written else written):
                found.append(statement)
        return found

    def overtaken(self, info: FunctionInfo) -> tuple[list[Any], list[Any]]:
        """The statements of a constructor or of its methods whose writes to params of submodules, and to its own, stay in place."""
        if info.owner is None or not info.owner.is_module:
            return [], []
        below, own = self._walked_over(info, info.owner)
        replaced = self._replaced_later(info) if len(below) < len(tree.body_statements(info.node)) else []
        if replaced and info.name != "__init__":
            return (tree.body_statements(info.node),) * 2
        return [*below, *(s for s in replaced if not any(s is other for other in below))], own

    def _walked_over(self, info: FunctionInfo, owner: ClassInfo) -> tuple[list[Any], list[Any]]:
        """Those that a walk over modules overtakes."""
        body, family = tree.body_statements(info.node), set(owner.family())
        constructors = [c.methods["__init__"] for c in family if "__init__" in c.methods]
        outside = any(owner in classes for f, classes in self.reached if f.owner not in family)
        below = any(owner in self._below(f.owner) for f, _ in self.reached if f.owner in family and f.owner is not None)
        if info.name == "__init__":
            last, first = self._ends(info)
            heir_walks = any(c is not info and c in self.walking and owner in (c.owner.ancestors() if c.owner else ()) for c in constructors)
            return body if outside or below or heir_walks else body[: last + 1], body[first + 1 :] if first >= 0 else []
        must = info in self.walking or info.name in self.by_name or any(f in self.walking and f.name != "__init__" and info in self._all_called(f) for c in family for f in c.methods.values())
        overtaken = outside or below or self._called_before(info, constructors)
        return (body, body) if must or overtaken and uses_below(self.facts, info) else ([], [])

    def _asked_of_any(self, info: FunctionInfo) -> set[str]:
        """The methods that a function calls of modules whose class is not known: `m.init_weights()`."""
        calls = [n.func for n in tree.nodes(info.node.body, cst.Call) if isinstance(n.func, cst.Attribute) and not isinstance(self.facts.of(n.func), Function)]
        return {f.attr.value for f in calls if _any_module(self.facts.of(f.value))} & {f.name for f in self.functions if f.owner is not None}

    def _called_before(self, info: FunctionInfo, constructors: list[FunctionInfo]) -> bool:
        """Whether a constructor calls a method before something that walks."""
        before = [s for init in constructors for s in tree.body_statements(init.node)[: max(self._ends(init)[0], 0)]]
        return any(info in self._all_called_by(statement) for statement in before)

    def _ends(self, init: FunctionInfo) -> tuple[int, int]:
        """The places of the last statement of a constructor that walks, copies or stays, and of the first that walks from self; -1 where none does."""
        statements = list(enumerate(tree.body_statements(init.node)))
        places = [(i, s) for i, s in statements if walks(s) or self._all_called_by(s) & self.walking]
        first = next((i for i, s in places if self._from_self(s, init.self_name)), -1)
        return max([-1, *(i for i, _ in places), *(i for i, s in statements if self._copies(s, init) or self._stays(s, init))]), first

    def _copies(self, statement: Any, init: FunctionInfo) -> bool:
        """Whether a statement copies submodules with the values that they have by then; `self.k = copy.deepcopy(self.q)` is seen to by `init`."""
        small = tree.only_small(statement)
        if isinstance(small, cst.Assign) and is_copy(small.value) and all((tree.dotted(n) or "").count(".") == 1 for n in (small.targets[0].target, small.value.args[0].value)):  # type: ignore[attr-defined]
            return False
        return _calls(statement, _COPY) or not self._all_called_by(statement).isdisjoint(self.copying)

    def _stays(self, statement: Any, init: FunctionInfo) -> bool:
        """Whether a loop gives params of submodules values and does more than that, so that it cannot run in `init`."""
        if not isinstance(statement, (cst.For, cst.While, cst.Try)):
            return False
        smalls = [small for line in tree.nodes(statement, cst.SimpleStatementLine) for small in line.body if not isinstance(small, cst.Pass)]
        below = [self._gives_below(small, init) for small in smalls]
        return any(below) and not all(below)

    def _gives_below(self, small: Any, init: FunctionInfo) -> bool:
        """`self.fc.bias = …`"""
        target: Any = small.target if isinstance(small, cst.AugAssign) else small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
        own = isinstance(target, cst.Attribute) and (tree.dotted(target.value) or "").startswith(f"{init.self_name}.")
        return own and self.arrays.held(target) in ("params", "state")

    def _from_self(self, node: cst.CSTNode, self_name: str | None, seen: frozenset[FunctionInfo] = frozenset()) -> bool:
        """Whether a walk may give a module's own params other values: it starts at self, or self is passed on to it."""
        for call in tree.nodes(node, cst.Call):
            if any(tree.dotted(a.value) == self_name for a in call.args) and tree.dotted(call.func) != "isinstance":
                return True
            info = getattr(self.facts.of(call.func), "info", None)
            if info in self.walking - seen and info.name != "__init__" and self._from_self(info.node.body, info.self_name, seen | {info}):
                return True
        return False

    def _all_called(self, info: FunctionInfo) -> set[FunctionInfo]:
        return reachable(self.facts.calls, self.facts.calls.get(info, ()))

    def _all_called_by(self, statement: Any) -> set[FunctionInfo]:
        called = {info for n in tree.nodes(statement, cst.Call) if (info := getattr(self.facts.of(n.func), "info", None)) is not None}
        return called | {f for c in called for f in self._all_called(c)}

    def _reached(self, info: FunctionInfo) -> set[ClassInfo]:
        """The classes over whose modules a function walks, with all that is below them; all classes where that is not known."""
        found: set[ClassInfo] = set()
        for call in tree.nodes(info.node, cst.Call):
            if tree.dotted(call.func) in _ALL and call.args:
                value = self.facts.of(call.args[0].value)
                if not isinstance(value, Module) or value.open or not value.classes:
                    return {f.owner for f in self.functions if f.owner is not None}
                for cls in (ref for ref in value.refs if isinstance(ref, ClassInfo)):
                    found |= {cls} | self._below(cls)
        return found

    def _below(self, cls: ClassInfo) -> set[ClassInfo]:
        """The classes of the submodules of a class, and theirs."""
        found: set[ClassInfo] = set()
        todo = [cls]
        while todo:
            for c in todo.pop().family():
                for value in self.facts.attribute_values(c).values():
                    for held in _held(value):
                        if held not in found:
                            found.add(held)
                            todo.append(held)
        return found


def _paths(statement: Any) -> set[str]:
    """The dotted names that a statement assigns."""
    targets = [n.target for n in tree.nodes(statement, cst.AssignTarget, cst.AugAssign)]  # type: ignore[attr-defined]
    return {tree.dotted(t) or "" for t in targets if isinstance(t, cst.Attribute)}


def _set_here(statement: Any, self_name: str | None) -> set[str]:
    """The attributes of self that a statement sets."""
    return {path.partition(".")[2] for path in _paths(statement) if path.startswith(f"{self_name}.") and path.count(".") == 1}


def _any_module(value: Any) -> bool:
    """Whether a value may be a module of any class."""
    return isinstance(value, Module) and value.open or is_anything(value)


def uses_below(facts: Inference, info: FunctionInfo) -> bool:
    """Whether a method uses params of submodules by a path from self: `self.head.bias`."""
    for node in tree.nodes(info.node.body, cst.Attribute):
        if isinstance(node.value, cst.Attribute):
            value = facts.of(node)
            if isinstance(value, Tensor) and value.param and (tree.dotted(node) or "").split(".")[0] == info.self_name:
                return True
    return False


def _held(value: Any) -> list[ClassInfo]:
    """The classes of the user's that a value may be an instance of, or hold instances of."""
    if value is None:
        return []
    if isinstance(value, Module) and value.is_self:
        return []
    inner = [getattr(value, "element", None), *(v for _, v in value.items or ())] if isinstance(value, Module) else [getattr(value, "element", None)]
    own = [ref for ref in value.refs if isinstance(ref, ClassInfo)] if isinstance(value, Module) else []
    return [*own, *(c for v in inner for c in _held(v))]


def walking(facts: Inference, functions: list[FunctionInfo]) -> set[FunctionInfo]:
    """The functions that give modules other initial values, themselves or through others."""
    return with_callers(facts.calls, (f for f in functions if walks(f.node)), functions)


def over_parameters(loop: cst.For) -> bool:
    """Whether a loop goes over the params of modules: `for p, q in zip(source.parameters(), target.parameters())`."""
    return any(isinstance(c.func, cst.Attribute) and c.func.attr.value in PARAMETERS for c in tree.nodes(loop.iter, cst.Call))


def walks(node: cst.CSTNode) -> bool:
    """Whether modules get other initial values right here."""
    return _calls(node, _ALL | _ONE)


def _calls(node: cst.CSTNode, names: frozenset[str]) -> bool:
    return any(tree.dotted(n.func) in names for n in tree.nodes(node, cst.Call))
