"""Which attributes of a class are arrays, and where each lives: in the params, in the state, or computed on use."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from . import tree
from .callables import Scope, is_of_object
from .callgraph import reachable
from .computed_names import HOLE, fitting, may_be, pattern
from .holders import holders as holders_of
from .host_draws import HostDraws
from .infer import Inference, used_as_tensors
from .project import ClassInfo, FunctionInfo
from .values import (
    NONE,
    UNKNOWN,
    Class,
    Function,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_anything,
    is_choice,
)

PARAMETER = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


@dataclass
class Array:
    """An attribute that holds an array: `where` is "params", "state" or "constant"."""

    name: str
    where: str
    registered: bool = False  # by nn.Parameter, register_parameter or register_buffer
    optional: bool = False  # None on some path
    plain: bool = False  # something else on some path, which self keeps: `self.p = p if fixed else nn.Parameter(…)`
    written: bool = False  # assigned while the model runs
    removed: bool = False  # a class below sets it to None


@dataclass(frozen=True)
class Tie:
    """A parameter that shares another: the path of that, and whether it always does."""

    source: tuple[str, ...]
    certain: bool


@dataclass
class ClassArrays:
    """The arrays of one class's own methods."""

    arrays: dict[str, Array] = field(default_factory=dict)
    computed: dict[str, Array] = field(default_factory=dict)  # by the patterns of their names: `self.register_buffer(f"u{i}", u)`
    missing: set[str] = field(default_factory=set)  # patterns under which None is set on some way
    aliases: dict[str, str] = field(default_factory=dict)  # self.a = self.b for submodules
    holders: dict[str, str] = field(default_factory=dict)  # a plain list or dict of modules -> the container made of it
    repeating: set[str] = field(default_factory=set)  # containers that may hold one module twice
    perhaps: set[str] = field(default_factory=set)  # aliases of what may be no module
    plain: set[str] = field(default_factory=set)  # attributes that are set to what is no array on some way
    branching: set[str] = field(default_factory=set)  # parameters that a constructor makes on some ways: on others it may be computed
    frozen: set[str] = field(default_factory=set)  # parameters that are made with requires_grad=False
    running: list[tuple[str, Any]] = field(default_factory=list)  # what is assigned while the model runs, and where
    assigned: collections.Counter[str] = field(default_factory=collections.Counter)  # how often an attribute is set
    ties: dict[tuple[str, ...], Tie] = field(default_factory=dict)  # by the path of a tied parameter


class Arrays:
    """The arrays of all classes, with inheritance."""

    def __init__(self, facts: Inference, host: HostDraws, running: set[FunctionInfo], forward: set[FunctionInfo]) -> None:
        self.facts, self.host, self.running, self.forward = facts, host, running, forward
        self.own: dict[ClassInfo, ClassArrays] = {}
        self._absent: dict[ClassInfo, set[str]] = {}
        for module in facts.project.modules.values():
            for cls in module.all_classes:
                if cls.is_module:
                    self.own[cls] = self._scan(cls)
        for cls, found in self.own.items():
            self._overwritten(cls, found)
        self._written_elsewhere()
        self._set_elsewhere()
        self._written_by_computed_names()
        for cls, found in self.own.items():
            self._given_again(cls, found)
            self._removed(cls, found)

    def find(self, cls: ClassInfo, name: str) -> Array | None:
        """An array attribute of a class, of an ancestor or of a descendant."""
        family = [c for c in cls.family() if c in self.own]
        for c in family:
            found = self.own[c].arrays.get(name)
            if found is not None:
                found.plain = found.plain or found.where == "params" and any(name in self.own[other].plain for other in family)
                return found
        if not any(self.own[c].computed for c in family) or self._has_others(cls, name):
            return None
        return next((found for c in family if (found := self.computed(c, name)) is not None), None)

    def absent(self, cls: ClassInfo) -> set[str]:
        """The state of a class that its constructors set to None, and to nothing else."""
        if cls not in self._absent:
            self._absent[cls] = self._begun_later(cls)
        return self._absent[cls]

    def _begun_later(self, cls: ClassInfo) -> set[str]:
        names = {a.name for c in cls.family() if c in self.own for a in self.own[c].arrays.values() if a.where == "state" and not a.registered}
        constructors = [m for c in cls.family() if names for m in tree.nodes(c.node.body, cst.FunctionDef) if m.name.value == "__init__"]
        made: dict[str, set[str]] = collections.defaultdict(set)
        for node in (n for m in constructors for n in tree.nodes(m.body, cst.Assign)):
            for target in node.targets:
                made[tree.code(target.target)].add(tree.code(node.value))
        return {name for name in names if made[f"self.{name}"] == {"None"}}

    def _has_others(self, cls: ClassInfo, name: str) -> bool:
        """Whether a name may be another attribute of a class than those with computed names: a method, or an array of the torch layer that it extends."""
        if any(name in self.own[c].computed for c in cls.family() if c in self.own):
            return False
        layer = self.facts.layer_of(cls)
        attributes = [] if layer is None else [*self.facts.rulebook.arrays(layer.name)]
        for c in cls.family():
            attributes += [*self.facts.attributes.get(c, ())] if HOLE in name else [*c.methods, *c.assigned, *self.facts.attributes.get(c, ())]
        return any(isinstance(self.facts.attribute(cls, a), Tensor) or HOLE not in name for a in attributes if may_be(name, a))

    def computed(self, cls: ClassInfo, name: str) -> Array | None:
        """An array that a class makes under computed names, by a name or a pattern of names; None where these are not all in one place."""
        made = self.own[cls].computed if cls in self.own else {}
        found = [made[fits] for fits in fitting(made, name)] if made else []
        return found[0] if len({array.where for array in found}) == 1 else None

    def asked(self, call: Any) -> Array | None:
        """The array in `getattr(self, f"u{i}")` or `setattr(self, f"u{i}", u)`, also of another module: None where that is not known."""
        base = self.facts.of(call.args[0].value)
        made = [self.find(ref, pattern(call.args[1].value)) for ref in base.refs if isinstance(ref, ClassInfo)] if isinstance(base, Module) else []
        return made[0] if made and None not in made and len({array.where for array in made if array is not None}) == 1 else None

    def places(self, cls: ClassInfo, name: str) -> set[str]:
        """Where arrays live that a name, or a pattern of names, may be: "params", "state" or both."""
        layer = self.facts.layer_of(cls)
        found = {where for a, where in (self.facts.rulebook.arrays(layer.name) if layer is not None else {}).items() if may_be(name, a)}
        for c in cls.family():
            if c in self.own:
                own = self.own[c]
                found |= {array.where for table in (own.arrays, own.computed) for a, array in table.items() if may_be(name, a)}
        return found & {"params", "state"}

    def held(self, node: Any) -> str | None:
        """Where an array of another module lives, `self.norm.running_mean`: "params", "state" or "constant"; None where that is not known."""
        base, value = self.facts.of(node.value), self.facts.of(node)
        if not isinstance(base, Module) or base.is_self:
            return None
        places = {self._place(ref, node.attr.value) for ref in base.refs}
        if len(places) == 1 and not base.open:
            return places.pop()
        return "params" if isinstance(value, Tensor) and value.param else None

    def is_array_name(self, name: str) -> bool:
        """Whether some class of the user's has a param or a buffer of this name."""
        return any(name in found.arrays and found.arrays[name].where != "constant" for found in self.own.values())

    def _place(self, ref: Any, name: str) -> str | None:
        layer = self.facts.layer_of(ref) if isinstance(ref, ClassInfo) else self.facts.rulebook.layer(ref)
        own = self.find(ref, name) if isinstance(ref, ClassInfo) else None
        return own.where if own is not None else self.facts.rulebook.array(layer.name, name) if layer is not None else None

    def alias(self, cls: ClassInfo, name: str, seen: frozenset[str] = frozenset()) -> Tie | None:
        """The submodule that stands under this name too; not certain where either name has another one on some path."""
        for c in cls.ancestors():
            if c in self.own and name in self.own[c].aliases:
                source = self.own[c].aliases[name]
                times = [sum(self.own[a].assigned[n] for a in cls.family() if a in self.own) for n in (name, source)]
                certain = times == [1, 1] and name not in self.own[c].perhaps
                further = self.alias(cls, source, seen | {name}) if source not in seen else None
                if further is not None:  # `self.c = self.b` after `self.b = self.a`
                    return Tie(further.source, certain and further.certain)
                return Tie((source,), certain)
        return None

    def repeats(self, cls: ClassInfo, name: str) -> bool:
        """Whether a container may hold one module twice, which has its params under the first name."""
        return any(name in self.own[c].repeating for c in cls.family() if c in self.own)

    def holder(self, cls: ClassInfo, name: str) -> str | None:
        """The container that registers what a plain list or dict holds, "" for self: `self.net = nn.ModuleList(self.convs.values())`."""
        return next((self.own[c].holders[name] for c in cls.ancestors() if c in self.own and name in self.own[c].holders), None)

    def ties(self, cls: ClassInfo) -> dict[tuple[str, ...], Tie]:
        """Tied parameters of a class, by their paths under self."""
        found: dict[tuple[str, ...], Tie] = {}
        for c in cls.ancestors():
            if c in self.own:
                found.update({self.canonical(cls, path): Tie(self.canonical(cls, tie.source), tie.certain) for path, tie in self.own[c].ties.items()})
        return found

    def written_by(self, cls: ClassInfo, info: FunctionInfo, seen: frozenset[FunctionInfo] = frozenset()) -> dict[str, str]:
        """What a method, or one that it calls, gives values to, `bias` of self and `fc.bias` of a submodule: where each lives, "" for what is no array."""
        targets = [t.target for t in tree.nodes(info.node.body, cst.AssignTarget) if isinstance(t.target, cst.Attribute)]
        names = [t.attr.value for t in targets if tree.dotted(t.value) == info.self_name]
        found = {name: array.where if (array := self.find(cls, name)) is not None else "" for name in names}
        below = [t for t in targets if (tree.dotted(t.value) or "").startswith(f"{info.self_name}.")]
        found |= {tree.code(t).partition(".")[2]: where for t in below if (where := self.held(t)) is not None}
        for call in tree.nodes(info.node.body, cst.Call):
            inner = self.method_called(call, info.self_name)
            if inner is not None and inner not in seen:
                found |= self.written_by(cls, inner, seen | {info})
        return found

    def method_called(self, call: Any, self_name: str | None) -> FunctionInfo | None:
        """The method in `self.reset()`."""
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or tree.dotted(call.func.value) != self_name:
            return None
        value = self.facts.of(call.func)
        return value.info if isinstance(value, Function) and value.info.outer is None else None

    def canonical(self, cls: ClassInfo, path: tuple[str, ...]) -> tuple[str, ...]:
        """A path by the name under which the params of its submodule are."""
        alias = self.alias(cls, path[0])
        return path if alias is None or not alias.certain else (*alias.source, *path[1:])

    def _scan(self, cls: ClassInfo) -> ClassArrays:
        found = ClassArrays()
        for function in cls.methods.values():
            runs = function in self.running
            self_name = function.self_name
            found.holders.update({} if runs else holders_of(self.facts, cls, function))
            holders: dict[str, str] = {}  # local name -> the attribute that holds the same module
            for node in tree.nodes(function.node.body, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Call):
                for local in tree.names_assigned(node) if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign)) else ():
                    holders.pop(local, None)
                for name, value in _assignments(node, self_name):
                    found.assigned[name] += 1
                    if not self._chooses(cls, function, name, value):
                        self._assigned(found, cls, name, value, function, node)
                    first = holders.setdefault(value.value, name) if isinstance(value, cst.Name) else name
                    known = value is not None and isinstance(self.facts.of(value), Module)
                    if first != name and (known or (cls, name) in self.facts.wrapped):
                        found.aliases[name] = first
                        found.perhaps |= set() if known else {name}
                    if value is not None and _repeats(value):
                        found.repeating.add(name)
                if isinstance(node, cst.Call):
                    found.repeating |= _added_again(node, function)
                    self._put(found, node, function, holders)
                    self._registered(found, node, function)
                if isinstance(node, cst.Assign) and not runs:
                    self._tie(found, function, node)
                    self._chained(found, node, self_name)
        for name, array in found.computed.items():
            array.optional = name in found.missing
        return found

    def _overwritten(self, cls: ClassInfo, found: ClassArrays) -> None:
        """What is assigned while the model runs is state, but for a parameter whose data is written in place: it stays one."""
        for name, node in found.running:
            array = self.find(cls, name)
            layer = self.facts.layer_of(cls)
            inherited = layer is not None and self.facts.rulebook.arrays(layer.name).get(name) == "params"
            registered = array is not None and array.where == "params" and array.registered or array is None and inherited
            in_place = isinstance(node, cst.AugAssign) or id(node) in self.facts.in_place
            if registered and (in_place or name in found.branching) and name not in found.plain and not self._is_frozen(cls, name):
                continue
            array = found.arrays.setdefault(name, Array(name, "state"))
            array.where, array.written = "state", True
        for array in found.arrays.values():
            array.plain = array.where == "params" and array.name in found.plain

    def _given_again(self, cls: ClassInfo, found: ClassArrays) -> None:
        """What a constructor gives an inherited parameter or buffer, `nn.init.zeros_(self.weight)` after `super().__init__()`, is for the same array."""
        for name, array in found.arrays.items():
            above = [self.own[c].arrays[name] for c in cls.ancestors() if c is not cls and c in self.own and name in self.own[c].arrays]
            inherited = next((a for a in above if a.where != "constant"), None)
            if array.where == "constant" and inherited is not None:
                array.where, array.registered = inherited.where, inherited.registered

    def _removed(self, cls: ClassInfo, found: ClassArrays) -> None:
        """What a subclass sets to None, `self.bias = None` after `super().__init__()`, the methods that it inherits may not have."""
        for name in (a.name for a in found.arrays.values() if a.optional or a.removed):
            for above in (self.own[c].arrays[name] for c in cls.ancestors() if c is not cls and c in self.own and name in self.own[c].arrays):
                above.removed = True

    def _written_elsewhere(self) -> None:
        """A constant that another module's constructor writes, `self.s.mask.fill_(5)`, is state: what it is hangs on who made the module."""
        for function in (f for f in _functions(self.facts) if f not in self.running):
            for target in (t.target for t in tree.nodes(function.node.body, cst.AssignTarget) if isinstance(t.target, cst.Attribute)):
                base = self.facts.of(target.value)
                anything = (isinstance(base, Module) and base.open or is_anything(base)) and target.attr.value not in self.facts.rulebook.array_names
                refs = [*self.own] if anything else base.refs if isinstance(base, Module) and not base.is_self else ()
                for ref in refs:
                    array = self.find(ref, target.attr.value) if isinstance(ref, ClassInfo) else None
                    if array is not None and array.where == "constant" and array.registered:
                        array.where = "state"

    def _set_elsewhere(self) -> None:
        """What a forward pass sets on a submodule, `self.attn.mask = mask`, is state of that, as if it had set it itself.

        Not on a module that it is given, of whose state nothing comes back.
        """
        for function in sorted(self.running & self.forward, key=lambda f: f.qualname):
            given = tree.parameter_names(function.node) - {function.self_name}
            tensors = (n for n in tree.nodes(function.node.body, cst.Assign) if isinstance(self.facts.of(n.value), Tensor))
            for target in (t.target for n in tensors for t in n.targets if isinstance(t.target, cst.Attribute)):
                base, name = self.facts.of(target.value), target.attr.value
                if not isinstance(base, Module) or base.is_self or base.open or (tree.dotted(target.value) or "").partition(".")[0] in given:
                    continue
                for ref in (ref for ref in base.refs if ref in self.own):
                    array = self.find(ref, name)
                    if array is None:
                        self.own[ref].arrays[name] = Array(name, "state", written=True)
                    elif array.where == "constant":
                        array.where = "state"

    def _is_frozen(self, cls: ClassInfo, name: str) -> bool:
        """Whether no optimizer trains a parameter: one that forward writes is state, as a buffer would be."""
        return any(name in self.own[c].frozen for c in cls.family() if c in self.own)

    def _chooses(self, cls: ClassInfo, function: FunctionInfo, name: str, value: cst.BaseExpression | None) -> bool:
        """`self.checkpointing = enable` in a method that no forward calls, of what the constructor sets to False: no array.

        So is a number that constructors go by, or that no forward reads.
        """
        if value is None or function in self.forward or function.name == "__init__":
            return False
        known = self.facts.of(value)
        given = known.element if isinstance(known, Sequence) else known
        if isinstance(given, Module) or isinstance(given, Tensor) and not given.assumed:
            return False
        starts = [c.methods["__init__"] for c in cls.family() if "__init__" in c.methods]
        first = [self.facts.of(v) if v is not None else UNKNOWN for f in starts for assigned, v in _all_assignments(f) if assigned == name]
        if not first or any(isinstance(v, (Tensor, Module)) for v in first):
            return False
        if all(map(is_choice, first)):
            return True
        if isinstance(given, Tensor) and not all(isinstance(v, Static) and v != NONE for v in first):
            return False
        methods = {f for c in cls.family() for f in c.methods.values()}
        if not isinstance(given, Tensor) and not any(_reads(f, name) for f in methods & self.forward):
            return True
        return any(_reads(f, name) for f in methods & reachable(self.facts.calls, starts))

    def _assigned(self, found: ClassArrays, cls: ClassInfo, name: str, value: cst.BaseExpression | None, function: FunctionInfo, node: Any) -> None:
        facts, runs = self.facts, function in self.running
        known = facts.of(value) if value is not None else facts.attribute(cls, name) or Tensor(assumed=True)
        array = found.arrays.get(name)
        layer = facts.layer_of(cls)
        inherited = facts.rulebook.arrays(layer.name).get(name) if layer is not None and not isinstance(known, Module) else None
        if runs and inherited == "state":  # `F.batch_norm(x, self.running_mean, …)` in a class that extends nn.BatchNorm2d
            found.arrays.setdefault(name, Array(name, inherited, registered=True)).written = True
            return
        if runs and (function in self.forward or not _makes_parameter(facts, value)):
            if isinstance(known, Module) or isinstance(facts.attribute(cls, name), Module) or (cls, name) in facts.wrapped:
                return  # another module from now on: no array
            found.running.append((name, node))
            return
        if inherited is not None:  # `nn.init.zeros_(self.weight)` in a class that extends nn.Linear
            array = found.arrays.setdefault(name, Array(name, inherited, registered=True))
            array.removed = array.removed or known == NONE
            return
        is_parameter = _makes_parameter(facts, value)
        if is_parameter and not _always_runs(function, node):
            found.branching.add(name)
        if is_parameter and _without_gradient(facts, value):
            found.frozen.add(name)
        sides = [value.body, value.orelse] if isinstance(value, cst.IfExp) else [value]
        if any(is_plain(facts.of(side), side, function) for side in sides if side is not None and not _makes_parameter(facts, side)):
            found.plain.add(name)
        if isinstance(known, Tensor) and (not known.assumed or is_parameter) or is_parameter:
            where = "params" if is_parameter else "constant"
            if array is None:
                array = found.arrays[name] = Array(name, where, registered=is_parameter)
            elif is_parameter or array.where != "state":  # a parameter on one way is one, whatever a buffer on another may hold
                array.where = "params" if "params" in (where, array.where) else where
                array.registered = array.registered or is_parameter
            array.optional = array.optional or _has_none(facts, value)
        elif known == NONE and not isinstance(value, cst.Call):  # `self.w = fill_(self.w)`: the function returns what it fills
            attribute = facts.attribute(cls, name)
            if isinstance(attribute, Tensor) and attribute.param:
                if array is None:
                    array = found.arrays[name] = Array(name, "constant")
                array.optional = True
        elif isinstance(known, Module) and isinstance(value, cst.Attribute) and isinstance(value.value, cst.Name) and value.value.value == "self":
            if value.attr.value != name:
                found.aliases[name] = value.attr.value
        elif isinstance(known, Module) and isinstance(value, cst.IfExp):  # `self.b = self.a if share else nn.Linear(3, 3)`
            held = [side.attr.value for side in (value.body, value.orelse) if isinstance(side, cst.Attribute) and tree.dotted(side.value) == function.self_name]
            if held and held[0] != name:
                found.aliases[name] = held[0]
                found.perhaps.add(name)

    def _put(self, found: ClassArrays, node: cst.Call, function: FunctionInfo, holders: dict[str, str]) -> None:
        """`self.add_module("b", layer)` of what `self.add_module("a", layer)` has put there before."""
        if tree.dotted(node.func) not in (f"{function.self_name}.add_module", f"{function.self_name}.register_module") or len(node.args) != 2:
            return
        literal, value = self.facts.of(node.args[0].value), node.args[1].value
        if isinstance(literal, Static) and isinstance(literal.const, str) and isinstance(self.facts.of(value), Module):
            own = value.attr.value if isinstance(value, cst.Attribute) and tree.dotted(value.value) == function.self_name else None
            first = own or (holders.setdefault(value.value, literal.const) if isinstance(value, cst.Name) else literal.const)
            found.assigned[literal.const] += 1
            if first != literal.const:
                found.aliases[literal.const] = first

    def _computed(self, found: ClassArrays, node: cst.Call, name: str, value: Any, function: FunctionInfo) -> None:
        """An array that is registered, or set, under a computed name."""
        if value is None or self.facts.of(value) == NONE:
            found.missing |= {name} if value is not None else set()
            return
        registers, made = tree.dotted(node.func) != "setattr", self.facts.of(value)
        is_parameter = tree.code(node.func).endswith("register_parameter") or _makes_parameter(self.facts, value) or not registers and isinstance(made, Tensor) and made.param
        drawn = self.host.made(value, self.host.names(function)) or registers and only_a_checkpoint_fills(self.facts, value)
        where = "params" if is_parameter else "state" if drawn else "constant"
        if name == HOLE and where != "params":
            return  # of `for name, value in buffers: self.register_buffer(name, value)` nothing tells which attributes they are
        array = found.computed.setdefault(name, Array(name, where, registered=registers or is_parameter))
        array.where = next(place for place in ("params", "state", "constant") if place in (where, array.where))

    def _written_by_computed_names(self) -> None:
        """A buffer or constant that a method sets while the model runs, `setattr(self, f"u{i}", u)`, is state."""
        for function in self.running:
            for call in tree.nodes(function.node.body, cst.Call):
                if tree.dotted(call.func) == "setattr" and len(call.args) == 3:
                    base, name = self.facts.of(call.args[0].value), pattern(call.args[1].value)
                    for cls in (c for ref in base.refs if isinstance(ref, ClassInfo) for c in ref.family() if c in self.own) if isinstance(base, Module) else ():
                        made = self.own[cls]
                        for array in [*(made.computed[p] for p in fitting(made.computed, name)), *(a for a in made.arrays.values() if name != HOLE and may_be(name, a.name))]:
                            array.where = "state" if array.where == "constant" else array.where

    def _registered(self, found: ClassArrays, node: cst.Call, function: FunctionInfo) -> None:
        func = node.func
        if tree.dotted(func) == "setattr" and len(node.args) == 3 and tree.dotted(node.args[0].value) == function.self_name and function not in self.running:
            made, name = self.facts.of(node.args[2].value), pattern(node.args[1].value)
            if HOLE in name and (isinstance(made, Tensor) and not made.assumed or made == NONE):
                self._computed(found, node, name, node.args[2].value, function)
            return
        if not isinstance(func, cst.Attribute) or not isinstance(func.value, cst.Name) or func.value.value != function.self_name:
            return
        if func.attr.value not in ("register_buffer", "register_parameter") or not node.args:
            return
        literal = self.facts.of(node.args[0].value)
        if not isinstance(literal, Static) or not isinstance(literal.const, str):
            return self._computed(found, node, pattern(node.args[0].value), registered_value(node), function)
        where = "params" if func.attr.value == "register_parameter" else "constant"
        value = registered_value(node)
        is_none = value is not None and self.facts.of(value) == NONE
        array = found.arrays.get(literal.const)
        if array is None:
            array = found.arrays[literal.const] = Array(literal.const, where, registered=True)
        elif where == "params" or array.where != "state":
            array.where = "params" if "params" in (where, array.where) else where
        array.registered = True
        array.optional = array.optional or _has_none(self.facts, value)
        if where == "constant" and value is not None and not is_none and array.where == "constant":
            drawn = self.host.made(value, self.host.names(function))
            array.where = "state" if drawn or only_a_checkpoint_fills(self.facts, value) else "constant"

    def _chained(self, found: ClassArrays, node: cst.Assign, self_name: str | None) -> None:
        """`self.a = self.b = nn.Linear(3, 3)`: the first name is the one that counts."""
        paths = [self._path(t.target, self_name) for t in node.targets]
        if len(paths) > 1 and isinstance(node.value, cst.Call) and isinstance(self.facts.of(node.value), Module):
            names = [path[0] for path in paths if path is not None and len(path) == 1]
            found.aliases.update({name: names[0] for name in names[1:]})

    def _tie(self, found: ClassArrays, function: FunctionInfo, node: cst.Assign) -> None:
        """`self.head.weight = self.tokens.weight`"""
        self_name = function.self_name
        source = self._path(node.value, self_name)
        certain = function.name == "__init__" and _always_runs(function, node)
        for target in node.targets:
            path = self._path(target.target, self_name)
            if path is not None and source is not None and len(path) >= 1 and len(source) >= 1 and path != source:
                value = self.facts.of(node.value)
                both = source in found.ties and found.ties[source].source == path  # tied the other way already
                if isinstance(value, Tensor) and value.param and (len(path) > 1 or len(source) > 1) and not both:
                    found.ties[path] = Tie(source, certain and path not in found.ties)

    @staticmethod
    def _path(node: cst.BaseExpression, self_name: str | None) -> tuple[str, ...] | None:
        dotted = tree.dotted(node)
        if dotted is None or not dotted.startswith(f"{self_name}."):
            return None
        return tuple(dotted.split(".")[1:])


def registered_value(node: cst.Call) -> cst.BaseExpression | None:
    """The second argument of register_buffer or register_parameter."""
    for i, argument in enumerate(node.args):
        if i == 1 and argument.keyword is None or argument.keyword is not None and argument.keyword.value in ("tensor", "param"):
            return argument.value
    return None


def only_a_checkpoint_fills(facts: Inference, value: cst.BaseExpression) -> bool:
    """A plain `torch.zeros(n)` or ones that nothing computes from, or `torch.ones(n) - eps`: what a checkpoint has is what counts."""
    original: Any = facts.origin.get(id(value), value)  # the rules have been applied: `jnp.zeros(n)`
    if isinstance(original, cst.BinaryOperation):
        sides = (original.left, original.right)
        return any(only_a_checkpoint_fills(facts, a) and not isinstance(facts.of(b), Tensor) for a, b in (sides, sides[::-1]))
    if not isinstance(original, cst.Call):
        return False
    function = facts.of(original.func)
    return isinstance(function, Torch) and function.name.rpartition(".")[2] in ("zeros", "ones", "empty", "Tensor", "FloatTensor", "rand", "randn")


def _makes_parameter(facts: Inference, value: cst.BaseExpression | None) -> bool:
    """Whether an expression makes an nn.Parameter."""
    if isinstance(value, cst.IfExp):
        return _makes_parameter(facts, value.body) or _makes_parameter(facts, value.orelse)
    return _is_parameter(facts, value) or returns_parameter(facts, value)


def returns_parameter(facts: Inference, value: Any) -> bool:
    """Whether a call of the user's own function gives a new parameter on all ways: `return nn.Parameter(w)`, or a local that is one."""
    function = facts.of(value.func) if isinstance(value, cst.Call) else None
    return isinstance(function, Function) and function.info.name != "__init__" and _hands_out(facts, function.info)


def _hands_out(facts: Inference, info: FunctionInfo) -> bool:
    body = info.node.body
    returned: list[Any] = [n.value for n in tree.scope_nodes(body, cst.Return)]
    made = {t.target.value for n in tree.scope_nodes(body, cst.Assign) if _is_parameter(facts, n.value) for t in n.targets if isinstance(t.target, cst.Name)}
    return bool(returned) and all(_is_parameter(facts, r) or isinstance(r, cst.Name) and r.value in made for r in returned)


def _is_parameter(facts: Inference, value: Any) -> bool:
    """`nn.Parameter(w)`, before the rules have been applied or after."""
    function = facts.of(value.func) if isinstance(value, cst.Call) else None
    return isinstance(function, Torch) and function.name in PARAMETER or function is not None and tree.dotted(value.func) == "nn.Parameter"


def _always_runs(function: FunctionInfo, small: Any) -> bool:
    """Whether a small statement stands in no branch and no loop of a function."""
    return any(isinstance(s, cst.SimpleStatementLine) and small in s.body for s in tree.body_statements(function.node))


def _has_none(facts: Inference, value: Any) -> bool:
    """Whether an expression is None on some side: `nn.Parameter(w) if use else None`."""
    if isinstance(value, cst.IfExp):
        return _has_none(facts, value.body) or _has_none(facts, value.orelse)
    return value is not None and facts.of(value) == NONE


def _without_gradient(facts: Inference, value: Any) -> bool:
    """`nn.Parameter(w, requires_grad=False)`, as the user wrote it."""
    written: Any = facts.origin.get(id(value), value)
    return isinstance(written, cst.Call) and any(a.keyword is not None and a.keyword.value == "requires_grad" and tree.code(a.value) == "False" for a in written.args)


def is_plain(value: Value, node: Any, function: FunctionInfo) -> bool:
    """Whether a value is certain to be no array: a number, or what a constructor is given, of which nothing is known."""
    return isinstance(value, Static) and value != NONE or value == UNKNOWN and isinstance(node, cst.Name) and node.value in tree.parameter_names(function.node)


def _assignments(node: cst.CSTNode, self_name: str | None) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    """Every `self.name = value`, also in tuples and augmented; value is None where it is not one expression."""
    targets: list[tuple[Any, cst.BaseExpression | None]] = []
    if isinstance(node, cst.Assign):
        targets = [(t.target, node.value) for t in node.targets]
    elif isinstance(node, cst.AnnAssign) and node.value is not None:
        targets = [(node.target, node.value)]
    elif isinstance(node, cst.AugAssign):
        targets = [(node.target, None)]
    while targets:
        target, value = targets.pop()
        if isinstance(target, (cst.Tuple, cst.List)):
            for i, element in reversed(list(enumerate(target.elements))):  # the last is taken first
                same = isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(target.elements)
                apart = element.value if value is not None and isinstance(element.value, cst.Attribute) else None  # the target has the value of its part
                targets.append((element.value, value.elements[i].value if same and value is not None else apart))  # type: ignore[attr-defined]
        elif isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name) and target.value.value == self_name:
            yield target.attr.value, value
        elif isinstance(target, cst.Subscript):
            targets.append((target.value, None))


def _repeats(value: Any) -> bool:
    """Whether a display names one thing twice: `[layer, layer]`, `[layer] * 3`, `[layer for _ in range(3)]`."""
    node: Any
    for node in itertools.chain([value], tree.nodes(value, cst.List, cst.Tuple, cst.Dict, cst.BinaryOperation, cst.ListComp, cst.GeneratorExp, cst.Call)):
        if isinstance(node, (cst.List, cst.Tuple, cst.Dict)):
            held = [tree.code(e.value) for e in node.elements if isinstance(e.value, (cst.Name, cst.Attribute, cst.Subscript))]
            if len(held) != len(set(held)):
                return True
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Multiply, cst.Add)):
            if any(isinstance(n, (cst.List, cst.Tuple, cst.ListComp, cst.Name, cst.Attribute)) for n in (node.left, node.right)):
                return True
        elif isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            if isinstance(node.elt, (cst.Name, cst.Attribute)) and not tree.names_read(node.elt) & set(tree.target_names(node.for_in.target)):
                return True
    return False


def _added_again(call: cst.Call, function: FunctionInfo) -> set[str]:
    """The container that a call may put something into that is in it already: `self.layers.append(layer)`, `self.layers.extend(self.layers)`."""
    owner = call.func.value if isinstance(call.func, cst.Attribute) and call.func.attr.value in ("append", "extend", "insert", "update", "add_module") else None
    if not isinstance(owner, cst.Attribute) or tree.dotted(owner.value) != function.self_name:
        return set()
    given = [a.value for a in call.args]
    return {owner.attr.value} if any(isinstance(v, (cst.Name, cst.Attribute, cst.Subscript)) or _repeats(v) for v in given) else set()


def _all_assignments(info: FunctionInfo) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    for node in tree.nodes(info.node.body, cst.Assign, cst.AnnAssign):
        yield from _assignments(node, info.self_name)


def _reads(info: FunctionInfo, name: str) -> bool:
    """Whether a method reads `self.name`."""
    written = {id(t.target) for t in tree.nodes(info.node.body, cst.AssignTarget)}
    return any(n.attr.value == name and id(n) not in written and tree.dotted(n.value) == info.self_name for n in tree.nodes(info.node.body, cst.Attribute))


def forward_functions(facts: Inference) -> set[FunctionInfo]:
    """The functions that a `forward` calls, directly or by way of others. The constructor of a module builds, wherever it is called."""
    calls = {f: called for f, called in facts.calls.items() if f.name != "__init__" or f.owner is None or not f.owner.is_module}
    return reachable(calls, [f for f in _functions(facts) if f.name == "forward"])


def traced_functions(facts: Inference, forward: Set[FunctionInfo]) -> set[FunctionInfo]:
    """The functions of forward passes, with the methods of plain objects that they call: `self.transform.frame(x)`."""
    found, todo = set(forward), list(forward)
    while todo:
        info = todo.pop()
        for func in (c.func for c in tree.nodes(info.node.body, cst.Call)):
            if not isinstance(func, cst.Attribute) or func.attr.value not in facts.owners or not is_of_object(facts.of(func)):
                continue
            new = reachable(facts.calls, facts.callables.methods(func, Scope(info.module, info))) - found
            found |= new
            todo += new
    return found


def running_functions(facts: Inference, forward: Set[FunctionInfo]) -> set[FunctionInfo]:
    """The functions that run in a forward pass: reachable from `forward`, or at least not only from a constructor."""
    functions = _functions(facts)
    built = reachable(facts.calls, [f for f in functions if f.name == "__init__"])
    building = {f for f in functions if _initialises(facts, f) or _rebuilds(facts, f) or _makes_module(facts, f) or _hands_on_classes(facts, f)} | _applied(facts)
    rest = [f for f in functions if f not in forward | built | building]
    others = {f for f in reachable(facts.calls, rest) if f not in built | building}
    return {f for f in forward | others if f.name != "__init__"}


def _applied(facts: Inference) -> set[FunctionInfo]:
    """The functions that a script applies to a model which it has made: `net.apply(fill)`."""
    statements = [s for m in facts.project.modules.values() for s in m.tree.body if not isinstance(s, (cst.FunctionDef, cst.ClassDef))]
    calls = [n for s in statements for n in tree.nodes(s, cst.Call) if isinstance(n.func, cst.Attribute) and n.func.attr.value == "apply" and len(n.args) == 1]
    given = [facts.of(n.args[0].value) for n in calls if isinstance(facts.of(n.func.value), Module)]  # type: ignore[attr-defined]
    return {v.info for v in given if isinstance(v, Function)}


def _functions(facts: Inference) -> list[FunctionInfo]:
    return [f for m in facts.project.modules.values() for f in m.all_functions if f.outer is None]


def filling_functions(facts: Inference, running: Set[FunctionInfo]) -> set[FunctionInfo]:
    """The functions beside those that compute with tensors: they give params their initial values."""
    return {f for m in facts.project.modules.values() for f in m.all_functions if f not in running and f.outer not in running and _fills(facts, f)}


def _fills(facts: Inference, info: FunctionInfo) -> bool:
    """A function or method that is called with tensors, and no modules: `self._init_pos(self.pos.data)` in a constructor."""
    given = facts.parameters.get(info, {})
    if info.name == "__init__" or any(isinstance(v, (Module, Class)) for v in given.values()) or _hands_out(facts, info):
        return False
    evidence = used_as_tensors(facts, info)
    return any(isinstance(v, Tensor) and not v.assumed or name in evidence and (v == UNKNOWN or isinstance(v, Tensor)) for name, v in given.items())


def _rebuilds(facts: Inference, info: FunctionInfo) -> bool:
    """A method that puts other layers in the place of its own: `self.q = prune(self.q, index)` is building again."""
    own = [t.target for t in tree.nodes(info.node.body, cst.AssignTarget) if isinstance(t.target, cst.Attribute)]
    held = [facts.attribute(info.owner, t.attr.value) for t in own if tree.dotted(t.value) == info.self_name] if info.owner is not None else []
    return any(isinstance(value, Module) and not value.is_self for value in held)


def _makes_module(facts: Inference, info: FunctionInfo) -> bool:
    """A function that gives back a model, or several, which it makes: `def resnet18(): return ResNet(…)`, `return model, criterion`."""
    made = facts.result(info)
    parts = [made]
    if isinstance(made, Sequence):
        runs = any(isinstance(facts.of(n.func), Module) for n in tree.nodes(info.node.body, cst.Call)) if made.items else False
        parts = [made.element] if made.items is None else [] if runs else list(made.items)
    of_self = info.owner is not None and info.owner.is_module and not (info.is_static or info.is_classmethod)
    return not of_self and any(isinstance(part, Module) and not part.is_self and part.classes for part in parts) and not used_as_tensors(facts, info)


def _hands_on_classes(facts: Inference, info: FunctionInfo) -> bool:
    """A plain function that gives a class of modules to another: `return build_model(ResNet, variant, **kwargs)`."""
    if info.owner is not None or used_as_tensors(facts, info):
        return False
    given = [facts.of(a.value) for n in tree.nodes(info.node.body, cst.Call) if tree.dotted(n.func) not in ("isinstance", "issubclass") for a in n.args]
    return any(isinstance(v, Class) and isinstance(v.ref, ClassInfo) and v.ref.is_module for v in given)


def _initialises(facts: Inference, info: FunctionInfo) -> bool:
    """A method that nobody calls here and whose name says that it sets initial values, or copies the module; `get_init_hidden` calls modules."""
    name = info.name.lower()
    if name in ("__setstate__", "__getstate__", "__deepcopy__", "__copy__", "__reduce__", "__repr__", "__str__", "extra_repr"):
        return True
    if not any(word in name for word in ("init", "reset_param", "load_", "_load", "pretrained", "tie_")):
        return False
    called = [facts.of(n.func) for n in tree.nodes(info.node.body, cst.Call)] if info.owner is not None and info.owner.is_module else []
    return not any(isinstance(value, Module) and not value.is_self for value in called)
