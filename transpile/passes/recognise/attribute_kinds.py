"""Which attributes of the user's classes are arrays: params, buffers, or constants.

    self.w = nn.Parameter(v)                 a param, on all ways, if it is one on some
    self.register_buffer("h", v)             a buffer
    self.scale = torch.ones(3)               a constant
    self.hits += 1, in a forward pass        a buffer that torch does not save

Constructors, and what is set while the model runs, decide it for a family of classes together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...facts.borrowed_params import is_lent
from ...facts.definite_assignment import is_set_again
from ...facts.program import ProgramFacts
from ...facts.values.computed_names import HOLE, pattern
from ...facts.values.lattice import NONE, NUMPY, Function, Module, Tensor, is_param
from ...model.effects import BUFFER, CONSTANT, MIXED, PARAM
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import dotted, everywhere
from ...model.node import Expression, Node
from ...model.operators import sides
from ...model.program import Class
from ...model.program import Function as Method
from ...model.statements import Assign
from . import decision_fields, stores
from .random_arrays import drawn_arrays
from .stores import REGISTERS, assigned, is_tie, registration, without_gradient, written_in_place

_ORDER = (MIXED, PARAM, BUFFER, CONSTANT)


@dataclass
class Held:
    """An attribute that holds an array."""

    kind: str
    registered: bool = False  # by nn.Parameter, register_parameter or register_buffer
    plain: bool = False  # something else on some way: `self.p = p if fixed else nn.Parameter(…)`
    absent: bool = False  # registered as None alone, which says of no buffer that it is a param


@dataclass
class Own:
    """The arrays that the methods of one class set, by name or pattern."""

    arrays: dict[str, Held] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)  # set to what is no array on some way
    frozen: set[str] = field(default_factory=set)  # made with requires_grad=False
    branching: set[str] = field(default_factory=set)  # params that are made on some ways
    # by name, whether only in place; None of what is only set to None
    set_running: dict[str, bool | None] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)  # all that is set while building
    functions: set[str] = field(default_factory=set)  # of that, what holds functions
    drawn: set[str] = field(default_factory=set)  # what comes of a draw


class Kinds:
    """The kinds of the arrays of all classes."""

    def __init__(self, facts: ProgramFacts) -> None:
        self.facts, self.project, self.values = facts, facts.project, facts.values
        self.stages = facts.stages
        modules = [cls for cls in self.project.classes() if self.project.is_module(cls)]
        self.own: dict[Class, Own] = {cls: self._scan(cls) for cls in modules}
        for cls in modules:
            self._set_while_running(cls)
        self._set_on_submodules()
        for cls in modules:
            self._given_again(cls)

    # --- queries ---------------------------------------------------------------------------------

    def of(self, cls: Class, name: str) -> str | None:
        """The kind of an attribute, own, of a base or of a class below; None if it is no array."""
        found = self.held(cls, name)
        if not found:
            return None
        if any(h.plain for h in found) and any(h.kind == PARAM for h in found):
            return MIXED
        return next(kind for kind in _ORDER if any(h.kind == kind for h in found))

    def held(self, cls: Class, name: str) -> list[Held]:
        found = [own.arrays[name] for own in self._family(cls) if name in own.arrays]
        return [held for held in found if not held.absent] or found

    def undeclared(self, cls: Class) -> list[str]:
        """The buffers of a class that nothing makes while it is built."""
        own = self.own.get(cls)
        names = own.arrays if own is not None else {}
        left = [n for n in names if HOLE not in n and self.inherited(cls, n) is None]
        return [n for n in left if not any(n in o.declared for o in self._family(cls))]

    def _family(self, cls: Class) -> list[Own]:
        return [self.own[c] for c in self.project.family(cls) if c in self.own]

    def is_drawn(self, cls: Class, name: str) -> bool:
        """Whether what a class sets comes of a draw."""
        return any(name in own.drawn for own in self._family(cls))

    # --- what methods set ------------------------------------------------------------------------

    def _scan(self, cls: Class) -> Own:
        found = Own()
        for method in self.project.methods(cls).values():
            own, runs = self.project.self_name(method), method in self.stages.running
            found.drawn |= drawn_arrays(self.facts, method)
            for node in everywhere(method, Assign):
                for name, value in assigned(node, own):
                    if not decision_fields.chooses(self.facts, cls, method, name, value):
                        self._assigned(found, cls, name, value, method, node)
            for call in everywhere(method, Call):
                self._registered(found, call, own, runs)
                written = written_in_place(call, own) if runs else None
                if written and stores.holds_arrays(self.values.attribute(cls, written)):
                    found.set_running.setdefault(written, True)
        return found

    def _assigned(
        self,
        found: Own,
        cls: Class,
        name: str,
        value: Expression | None,
        method: Method,
        node: Assign,
    ) -> None:
        own = self.project.self_name(method)
        runs, known = method in self.stages.running, self._value(cls, name, value)
        attribute = self.values.attribute(cls, name)
        if runs and (method in self.stages.forward or not self.makes_parameter(value)):
            if isinstance(known, Module) or isinstance(attribute, Module):
                return  # another module from now on: no array
            if any(map(stores.holds_text, (known, attribute))) or name in found.functions:
                return
            if not self.is_wrapped(cls, name):
                known_so_far = found.set_running.get(name)
                in_place = value is None and known_so_far is not False
                emptied = known == NONE and value is not None
                found.set_running[name] = known_so_far if emptied else in_place
            return
        found.declared.add(name)
        if stores.holds_functions(value):
            found.functions.add(name)
        is_parameter = self.makes_parameter(value) or self.is_local_param(value)
        inherited = None if isinstance(known, Module) else self.inherited(cls, name)
        if inherited is not None:  # `nn.init.zeros_(self.weight)` in a class that extends nn.Linear
            found.arrays.setdefault(name, Held(inherited, registered=True))
            return
        if is_tie(self.values, value, own):
            return
        if is_parameter and without_gradient(value):
            found.frozen.add(name)
        if is_parameter and node.parent is not method.body:
            found.branching.add(name)
        for side in sides(value):
            if self.makes_parameter(side) or not stores.is_plain(self.values, side, method):
                continue
            if self.values.of(side) != NUMPY or not is_set_again(node, name, own or ""):
                found.plain.add(name)
        if is_parameter or isinstance(known, Tensor) and not known.assumed:
            kind = BUFFER if name in found.drawn else CONSTANT
            self._hold(found, name, PARAM if is_parameter else kind, is_parameter)
        elif known == NONE and not isinstance(value, Call):
            if is_param(attribute):
                found.arrays.setdefault(name, Held(PARAM, absent=True))

    def _hold(self, found: Own, name: str, kind: str, registered: bool, none: bool = False) -> None:
        held = found.arrays.setdefault(name, Held(kind, absent=none))
        if not none:
            held.kind = kind if held.absent else min(held.kind, kind, key=_ORDER.index)
            held.absent = False
        held.registered = held.registered or registered

    def _registered(self, found: Own, call: Call, own: str | None, runs: bool) -> None:
        made = registration(call, own)
        if made is None:
            return
        value = self.values.of(made.value)
        name = made.text or pattern(made.name)
        kind: str | None = REGISTERS.get(made.method)
        if kind is None:  # `setattr(self, f"u{i}", u)`
            is_array = isinstance(value, Tensor) and not value.assumed
            if runs or made.method != "setattr" or HOLE not in name or not is_array:
                return
            kind = PARAM if self.makes_parameter(made.value) or value.param else CONSTANT  # type: ignore[attr-defined]
        if name == HOLE and kind != PARAM:
            return  # nothing tells which attributes they are
        if runs and made.text and kind == BUFFER:  # set as by `self.h = v`
            found.set_running[name] = False
            return
        found.declared.add(name)
        self._hold(found, name, kind, True, value == NONE)

    # --- what is set while the model runs --------------------------------------------------------

    def _set_while_running(self, cls: Class) -> None:
        """It is a buffer, but for a param whose data is written in place: that stays one."""
        found = self.own[cls]
        for name, in_place in found.set_running.items():
            if self.project.find(cls, name) is not None:
                continue  # of a property: `self.us[i][:] = u`
            held, inherited = self.held(cls, name), self.inherited(cls, name)
            param = any(h.kind == PARAM and h.registered for h in held)
            if not held and inherited is not None:
                found.arrays[name] = Held(inherited, registered=True)
            elif param and self._stays_param(cls, name, in_place):
                continue
            else:
                mine = found.arrays.setdefault(name, Held(BUFFER))
                for one in (mine, *held):
                    one.kind, one.plain = BUFFER, False
        for name, one in found.arrays.items():
            one.plain = one.kind == PARAM and name in found.plain

    def _stays_param(self, cls: Class, name: str, in_place: bool | None) -> bool:
        """Whether what forward sets is the data of a param, or None, which torch takes for one:
        others would be computed anew. A frozen one, which no optimizer trains, is as good as a
        buffer."""
        found = self.own[cls]
        kept = (in_place is not False or name in found.branching) and name not in found.plain
        return kept and not any(name in own.frozen for own in self._family(cls))

    def _set_on_submodules(self) -> None:
        """What is set on a submodule, `self.attn.mask = mask`, is an array of that: a buffer where
        a forward pass sets it, or a constant."""
        running = self.stages.running & self.stages.forward
        methods = [m for cls in self.own for m in self.project.methods(cls).values()]
        building = {m for m in methods if m.name == "__init__"}
        for method in sorted(running | building, key=lambda f: f.qualified):
            given = {p.name for p in method.parameters} - {self.project.self_name(method)}
            for node in everywhere(method, Assign):
                for target in node.targets:
                    root = (dotted(target) or "").partition(".")[0]
                    if isinstance(target, Attribute) and root not in given:
                        self._set_on(target, root, node, BUFFER if method in running else CONSTANT)

    def _set_on(self, target: Attribute, root: str, node: Assign, kind: str) -> None:
        base = self.values.of(target.object)
        if node.expression is None or not isinstance(base, Module) or base.is_self or base.open:
            return
        begun = kind == BUFFER and stores.begins_arrays(self.values, base, node, target.name)
        if not begun and not isinstance(self.values.of(node.expression), Tensor):
            return
        if kind == CONSTANT and is_tie(self.values, node.expression, root):
            kind = PARAM  # of another module, which stands where this one has none
        for ref in base.refs:
            if ref in self.own:
                held = self.held(ref, target.name)
                if not held:
                    self.own[ref].arrays[target.name] = Held(kind, absent=kind == PARAM)
                for one in held:
                    one.kind = kind if one.kind == CONSTANT else one.kind

    def _given_again(self, cls: Class) -> None:
        """`nn.init.zeros_(self.weight)` after `super().__init__()` is for the inherited array."""
        for name, held in self.own[cls].arrays.items():
            above = [c for c in self.project.ancestors(cls) if c is not cls and c in self.own]
            kinds = [o.arrays[name] for c in above if name in (o := self.own[c]).arrays]
            inherited = next((h for h in kinds if h.kind != CONSTANT), None)
            if held.kind == CONSTANT and inherited is not None:
                held.kind, held.registered = inherited.kind, inherited.registered

    # --- values ----------------------------------------------------------------------------------

    def _value(self, cls: Class, name: str, value: Expression | None) -> object:
        if value is not None:
            return self.values.of(value)
        return self.values.attribute(cls, name) or Tensor(assumed=True)

    def inherited(self, cls: Class, name: str) -> str | None:
        """The kind of an array of the torch layer that a class extends."""
        for base in self.project.foreign_bases(cls):
            layer = self.facts.modules.class_of(base)
            found = self.facts.modules.arrays(layer).get(name) if layer is not None else None
            if found is not None:
                return found.kind
        return None

    def is_wrapped(self, cls: Class, name: str) -> bool:
        """Whether an attribute of unknown make is called, so that it is a module."""
        return any(self.values.facts.read("wrapped", c, name) for c in self.project.family(cls))

    def makes_parameter(self, value: Node | None) -> bool:
        """Whether an expression makes an nn.Parameter, on some way."""
        for side in sides(value):
            if self.stages.is_parameter(side) or is_lent(self.values, side):
                return True
            made = self.values.of(side.function) if isinstance(side, Call) else None
            if isinstance(made, Function) and self.stages.hands_out_parameter(made.function):
                return True
        return False

    def is_local_param(self, value: Node | None) -> bool:
        """`self.w = w`, of a local that is one, and `self.w = ws[0]`, of a local list of such."""
        local = value.object if isinstance(value, Subscript) else value
        held = self.values.of(value) if isinstance(local, Name) else None  # type: ignore[arg-type]
        return isinstance(held, Tensor) and held.param and not held.buffer
