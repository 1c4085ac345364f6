"""Which names may share memory at each point of a function, and how one is a view of another."""

from __future__ import annotations

import dataclasses
import functools
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import libcst as cst

from . import tree
from .callables import Scope, Target, is_of_object
from .casts import is_copy
from .computed_names import HOLE, pattern
from .context import Context
from .indices import disjoint, index_kind
from .inplace import is_handed, is_inplace_name, is_undecided, reshapes, says_inplace
from .project import ClassInfo, FunctionInfo
from .values import (
    NUMPY,
    UNKNOWN,
    Class,
    External,
    Function,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_anything,
)


@dataclass(frozen=True, eq=False)
class Place:
    """A piece of memory: fresh, or part of others. `view` is the expression that made it from its only parent."""

    parents: frozenset[Place] = frozenset()
    view: Any = None
    base: str | None = None  # the name of the parent in the view expression
    others: tuple[tuple[str, frozenset[Place]], ...] = ()  # other names in it, and what they were
    parameter: str | None = None
    entry: Any = None  # the expression that took it out of what holds it, which goes by `base`: `d["h"]`, `obj.h`
    unheld: bool = False  # taken by a loop out of a dict that has no name: `for v in unwrap(m).state_dict().values()`
    free: str | None = None  # of a function inside, or a lambda: a name of the function around it, or `self.x` of any method
    foreign: bool = False  # an element of what an unknown function gives, or that itself: `for h in helper.hidden()`
    computed: Value | None = None  # what an operator has made of what is not known: a number, where that is a number
    parts: bool = False  # a tuple of different parts of one tensor: `x.chunk(2)`
    part: tuple[Any, int] | None = None  # one of several that are made of different parts: of the expression that makes them, and its number
    repeated: bool = False  # a list two elements of which may be the same memory: `[h, h]`, `[torch.zeros(3)] * 2`
    grown: frozenset[Place] = frozenset()  # what this was, of a list that has got more: `acc.append(t)`

    def closure(self) -> set[Place]:
        found: set[Place] = set()
        todo = [self]
        while todo:
            current = todo.pop()
            if current not in found:
                found.add(current)
                todo.extend(current.parents)
        return found

    def holders(self) -> set[Place]:
        """What gets more where this does: itself, as it was before, and what it was taken out of."""
        found: set[Place] = set()
        todo = [self]
        while todo:
            current = todo.pop()
            if current not in found:
                found.add(current)
                todo.extend([*current.grown, *(current.parents if current.entry is not None else ())])
        return found


Env = dict[str, frozenset[Place]]
COMPUTED = "self.getattr"  # stands for what holds the attributes of self with computed names


@dataclass(frozen=True)
class Passed:
    """What the result of a function may be, or be a view of: parameters, and names around it."""

    parameters: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()  # `self.x` of a method
    repeated: bool = False  # two elements of the result may be the same memory
    left: frozenset[str] = frozenset()  # `self.x` of a method, as it is after the call: `self.h = y * 2; return self.h`
    exact: bool = False  # it is the only one of these, and no view of it
    items: tuple[Passed, ...] = ()  # where it is always a tuple of as many
    kept: tuple[tuple[str, Passed], ...] = ()  # what a call leaves in `self.x`, and adds to what a parameter holds: `self.x = t`, `acc.append(t)`

    def __or__(self, other: Passed) -> Passed:
        return Passed(self.parameters | other.parameters, self.free | other.free, self.repeated or other.repeated, self.left | other.left, self.exact and self == other, self._both_items(other))

    def _both_items(self, other: Passed) -> tuple[Passed, ...]:
        return tuple(a | b for a, b in zip(self.items, other.items)) if len(self.items) == len(other.items) else ()



_HOLDERS = frozenset({"items", "values", "get", "setdefault", "pop"})  # methods of what may be a dict, by which it gives what it holds
_KEEPING = frozenset("append appendleft insert extend extendleft update setdefault add put".split())  # methods of what holds others, by which it gets more
# Python's functions that give back what they are given, or what holds it.
_HANDING_ON = frozenset("list tuple dict reversed sorted zip enumerate iter next filter max min copy.copy itertools.chain collections.OrderedDict collections.deque".split())


@dataclass(frozen=True)
class Result:
    """What a function gives out at one place: what it may share memory with, what it is, and the parts of a tuple."""

    shared: frozenset[Place]
    places: frozenset[Place]
    parts: tuple[Result, ...] = ()


@dataclass(frozen=True)
class Part:
    """One of several values unpacked from, or looped over, an expression."""

    value: Any


class Memory:
    """The flow-sensitive part: an environment of places, moved along by statements."""

    def __init__(self, context: Context, info: FunctionInfo, views: dict[str, str], passed: dict[Any, Passed]) -> None:
        self.context, self.info, self.views = context, info, views
        self.passed = passed  # for each function or lambda asked about
        self.env: Env = {}
        self.returned: list[Result] | None = None  # collects what that which is returned may share memory with
        self.stored: dict[str, frozenset[Place]] = {}  # for each parameter, what has been put into what it holds
        self.before: Env = {}  # attributes to which calls in the current statement have given other memory, as they were
        self.paths: dict[str, Any] = {}  # arrays of submodules that have been met, as expressions: `self.bn.running_mean`
        starred = [p for p in (info.node.params.star_arg, info.node.params.star_kwarg) if isinstance(p, cst.Param)]
        self.starred = {p.name.value for p in starred}
        for parameter in [*info.parameters(), *starred]:
            name = parameter.name.value
            self.env[name] = frozenset([Place(parameter=name)])

    def name(self, node: Any) -> str | None:
        """`x` or `self.x`"""
        if isinstance(node, cst.Name):
            return node.value
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == self.info.self_name:
            return f"self.{node.attr.value}"
        return None

    def is_computed(self, node: Any) -> bool:
        """`getattr(self, f"u{i}")` of an array."""
        if not isinstance(node, cst.Call) or len(node.args) != 2 or self.context.value(node.func) != External("builtins.getattr"):
            return False
        held = isinstance(self.context.value(node), Tensor) and self.info.owner is not None and self.info.owner.is_module
        return held and tree.dotted(node.args[0].value) == self.info.self_name and HOLE in pattern(node.args[1].value)

    def state(self, node: Any) -> str | None:
        """The path of an array of a submodule: `self.bn.running_mean`."""
        value = self.context.value(node) if isinstance(node, cst.Attribute) and self.name(node) is None else None
        held = self.context.value(node.value) if isinstance(value, Tensor) else None
        if not isinstance(held, Module) or any(isinstance(ref, ClassInfo) and ref.find(node.attr.value) is not None for ref in held.refs):
            return None  # a property may make a new one each time
        path, own = tree.code(node), f"{self.info.self_name}."
        path = "self." + path.removeprefix(own) if path.startswith(own) else path
        self.paths.setdefault(path, node)
        return path

    def path(self, node: Any) -> str | None:
        """`x`, `self.x`, or the path of an array of a submodule."""
        return self.name(node) or self.state(node)

    def places(self, name: str) -> frozenset[Place]:
        if name not in self.env:
            self.env[name] = frozenset([Place(free=name)])
        return self.env[name]

    # ------------------------------------------------------------------ transfer

    def transfer(self, node: Any) -> None:
        """Move past a statement, compound ones included."""
        if isinstance(node, cst.SimpleStatementLine):
            for small in node.body:
                self._small(small)
        elif isinstance(node, cst.If):
            self.evaluated(node.test)
            before = dict(self.env)
            self.block(tree.body_statements(node))
            then, self.env = self.env, before
            if isinstance(node.orelse, cst.If):
                self.transfer(node.orelse)
            elif node.orelse is not None:
                self.block(tree.body_statements(node.orelse))
            self.env = merge(then, self.env)
        elif isinstance(node, (cst.For, cst.While)):
            for turn in range(2):
                before = dict(self.env)
                self.evaluated(node.iter if isinstance(node, cst.For) else node.test)
                if isinstance(node, cst.For):
                    self.loop_target(node)
                self.block(tree.body_statements(node))
                if turn or not self._has_turns(node):
                    self.env = merge(before, self.env)
        elif isinstance(node, (cst.With, cst.Try)):
            self.block(tree.body_statements(node))
            if isinstance(node, cst.Try):
                for handler in node.handlers:
                    before = dict(self.env)
                    self.block(tree.body_statements(handler))
                    self.env = merge(before, self.env)

    def _has_turns(self, node: Any) -> bool:
        """Whether what a call comes to may take a loop to have turns: one over layers, or over as many as self says, which a model without any would not have.

            for conv in self.convs: x = conv(x) + x         for i in range(self.depth): x = self.convs[i](x)
        """
        if self.returned is None or not isinstance(node, cst.For):
            return False
        parts = list(tree.nodes(node.iter, cst.Name, cst.Attribute))
        return any(isinstance(self.context.value(n), Module) or isinstance(n, cst.Attribute) and self.name(n) is not None for n in parts)

    def block(self, statements: list[Any]) -> None:
        for statement in statements:
            self.transfer(statement)

    def loop_target(self, node: cst.For) -> None:
        self.bind(node.target, Part(node.iter))

    def evaluated(self, node: Any) -> None:
        """Move past an expression: what its calls keep, and the names that it gives to parts of itself, `(z := x * 2)`."""
        self.before = {}
        for call in tree.nodes(node, cst.Call) if cst.Call in tree.kinds(node) else ():
            self._keep(call)
        for named in tree.nodes(node, cst.NamedExpr) if cst.NamedExpr in tree.kinds(node) else ():
            self.bind(named.target, named.value)

    def _small(self, node: Any) -> None:
        for base in self._given_anew(node):
            self.env[base] = frozenset([Place(self.places(base))])
        self._reshape(node)
        self.evaluated(node)
        if self.returned is not None:
            self.returned += [self._result(value) for value in _given_out(node)]
        if isinstance(node, cst.Assign):
            self._bind_all([t.target for t in node.targets], node.value)
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            self.bind(node.target, node.value)
        elif isinstance(node, cst.AugAssign):
            value = self.context.value(node.target)
            name = self.name(node.target)
            if name is not None and isinstance(value, Sequence):
                self._hold(name, node.value)
            if name is not None and not isinstance(value, (Tensor, Sequence)) and value != UNKNOWN:
                self.env[name] = frozenset([Place()])
        elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and isinstance(node.value.func, cst.Attribute):
            call: Any = node.value
            holder = self._root(call.func.value) if call.func.attr.value in _KEEPING else None
            if holder is not None:
                for argument in call.args:
                    self._hold(holder, argument.value)
        elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and len(node.value.args) == 3 and self.context.value(node.value.func) == External("builtins.setattr"):
            holder = self._root(node.value.args[0].value)
            if holder is not None:
                self._hold(COMPUTED if holder == self.info.self_name else holder, node.value.args[2].value)

    def _reshape(self, node: Any) -> None:
        """Move past what gives tensors another shape in place, `x.t_()`: a view of x that was taken before is none of x any more."""
        for call in tree.nodes(node, cst.Call) if cst.Call in tree.kinds(node) else ():
            name = self.name(call.func.value) if isinstance(call.func, cst.Attribute) and reshapes(self.context, call) else None
            if name is not None:
                before, place = self.places(name), Place(self.places(name))
                self.env.update({other: frozenset([place]) for other in {name, *(o for o, its in self.env.items() if its == before)}})

    def _given_anew(self, node: Any) -> set[str]:
        """The holders of entries, `h` of `h = d["a"]`, to which a statement may give other entries: `d["a"] = x`, `d.update(o)`, `fill(d)`."""
        bases = {p.base for places in self.env.values() for p in places if p.entry is not None and p.base is not None}
        if not bases:
            return set()
        targets = [t.target for t in getattr(node, "targets", ())]
        stored: list[Any] = [target.value for target in targets if isinstance(target, (cst.Subscript, cst.Attribute))]
        found = {self.name(target) for target in stored}
        for call in tree.nodes(node, cst.Call):
            given = [] if isinstance(self.context.value(call.func), Torch) else [a.value for a in call.args]
            if isinstance(call.func, cst.Attribute) and call.func.attr.value not in ("items", "keys", "values", "get"):
                given = [*given, call.func.value]
            found |= {self.name(one) for one in given}
            value = self.context.value(call.func)
            found |= {COMPUTED} if value == External("builtins.setattr") or isinstance(value, Function) and value.info.owner is not None else set()
        return bases & found

    def _root(self, node: Any) -> str | None:
        """The name of what holds an expression: d of `d["k"]`, h of `h.items`."""
        while isinstance(node, (cst.Subscript, cst.Attribute)) and self.name(node) is None:
            node = node.value
        return self.name(node)

    def _hold(self, holder: str, value: Any) -> None:
        self._add(holder, self.shares(value))

    def _add(self, holder: str, shared: frozenset[Place]) -> None:
        """Move past what puts something into a list, dict or object: all names for that hold it."""
        if not shared:
            return
        holders = {p for place in self.places(holder) for p in place.holders()}
        for parameter in {p.parameter for p in holders if p.parameter is not None}:
            self.stored[parameter] = self.stored.get(parameter, frozenset()) | shared
        grown: dict[frozenset[Place], frozenset[Place]] = {}  # names that were the same stay the same
        for name, places in list(self.env.items()):
            if places & holders:
                if places not in grown:
                    grown[places] = frozenset([Place(places | shared, grown=places)])
                self.env[name] = grown[places]

    def _keep(self, call: cst.Call) -> None:
        """Move past what a call of the user's leaves on its self, and in lists and dicts that it is given."""
        called = self._called(call)
        for target in called:
            for name, held in self.passes(target).kept:
                shared = self._handed(target, call, held)
                if not name.startswith("self."):
                    for _, argument in (bound for bound in target.bound(call) if bound[0] == name):
                        if (holder := self._root(argument.value)) is not None:
                            self._add(holder, shared)
                elif (path := self._here(target, call, name)) is not None:
                    self.before.setdefault(path, self.places(path))
                    alone = path.startswith("self.") and self._is_certain(call, called)  # another name may be that of several modules
                    certain = self._exactly(target, call, held) if alone else None
                    self.env[path] = certain or frozenset([Place(shared if self._is_certain(call, called) else shared | self.before[path])])
                elif (holder := self._root(self._receiver(call))) is not None:
                    self._add(holder, shared)

    def _receiver(self, call: cst.Call) -> Any:
        """What a method or module is called on: `self.b` of `self.b.step(x)` and of `self.b(x)`."""
        value = self.context.value(call.func)
        if isinstance(value, Module) and not (isinstance(call.func, cst.Attribute) and call.func.attr.value == "forward"):
            return call.func
        if not isinstance(call.func, cst.Attribute):
            return None
        if isinstance(value, Function) and value.base:
            return cst.Name(self.info.self_name or "self")
        return call.func.value

    def _here(self, target: Target, call: cst.Call, name: str) -> str | None:
        """What a name around a function, or `self.h` of a method, is called where it is called: `self.b.h`; None where there is no name for it."""
        if not isinstance(target.function, FunctionInfo) or target.function.owner is None:
            return name if self._is_inside(target) else None
        receiver = self._receiver(call)
        if not name.startswith("self.") or receiver is None:
            return None
        if tree.dotted(receiver) == self.info.self_name and self.info.self_name is not None:
            return name
        found = self._below(receiver, name.split(".")[1:]) if tree.dotted(receiver) else None
        if found is None:
            return None
        own = f"{self.info.self_name}."
        path = tree.code(found)
        path = "self." + path.removeprefix(own) if path.startswith(own) else path
        self.paths.setdefault(path, found)
        return path

    def _below(self, node: Any, names: list[str]) -> Any:
        """`self.b.fc.weight` of `self.b` and the names below it; None where that is no array of a module that is known."""
        for i, name in enumerate(names):
            held = self.context.value(node)
            if not isinstance(held, Module) or not name.isidentifier():
                return None
            values = [value for ref in held.refs if isinstance(ref, ClassInfo) and (value := self.context.facts.attribute(ref, name)) is not None]
            node = cst.Attribute(node, cst.Name(name))
            self.context.facts.tell(node, Tensor() if i == len(names) - 1 else values[0] if len(values) == 1 else UNKNOWN)
        return node

    def _bind_all(self, targets: list[Any], value: Any) -> None:
        """`residual = out = x * 2`: one tensor, of which the first name is another name, and `h = c = 0`: a number each."""
        static = self.context.value(value)
        names = [] if isinstance(static, Static) and static != NUMPY else [t for t in targets if self.name(t) is not None]
        for target in [*names[:1], *(t for t in targets if t not in names[:1])]:
            self.bind(target, names[0] if names and target is not names[0] else value)

    def bind(self, target: Any, value: Any) -> None:
        """Move past the assignment of a value to a target."""
        if isinstance(target, (cst.Tuple, cst.List)):
            if isinstance(value, Part) and (turn := self._turn(value.value, target)) is not None:
                for element, one in zip(target.elements, turn):
                    self.bind(element.value, one)
                return
            for part, places in list(self._unpacked(target, value)):  # all that is assigned is there before the first name is
                self._set(part, places)
            return
        if isinstance(target, (cst.Subscript, cst.Attribute)) and self.path(target) is None:
            holder = self._root(target.value)
            if holder is not None and not isinstance(self.context.value(target.value), (Tensor, Module)):
                self._hold(holder, value.value if isinstance(value, Part) else value)
            return
        self._set(target, self._made(value))

    def _unpacked(self, target: Any, value: Any) -> Iterator[tuple[Any, frozenset[Place]]]:
        """What the names in `a, (b, c) = value` come to hold: each something of its own, which may be part of the same."""
        if not isinstance(target, (cst.Tuple, cst.List)):
            yield target, self._made(value)
            return
        inner = value.value if isinstance(value, Part) else value
        whole = not isinstance(value, Part)
        if whole and isinstance(inner, (cst.Tuple, cst.List)) and len(inner.elements) == len(target.elements):
            for element, part in zip(target.elements, inner.elements):
                yield from self._unpacked(element.value, part.value)
            return
        several = (self._parts(inner, target) or self._turns(inner, target) or self._results(inner, target)) if whole else None
        if several is None and whole and self._repeats(inner):
            made = self._made(inner)
            several = [frozenset([Place(made)]) for _ in target.elements]
        for i, element in enumerate(target.elements):
            if several is not None and not isinstance(element.value, (cst.Tuple, cst.List)):
                yield element.value, several[i]
            else:
                yield from self._unpacked(element.value, Part(inner))

    def _parts(self, value: Any, target: Any) -> list[frozenset[Place]] | None:
        """The places of `a, b = z.chunk(2)` and of `a, b = z`: each a part of z."""
        if any(isinstance(e, cst.StarredElement) for e in target.elements):
            return None
        base = None
        if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and self.views.get(value.func.attr.value) == "parts" and isinstance(self.context.value(value.func), Method):
            base = self.name(value.func.value)
        elif isinstance(self.context.value(value), Tensor):
            base = self.name(value)
        if base is None:
            return None
        made = []
        for i in range(len(target.elements)):
            part = tree.replace(tree.expression("x[0]"), value=value, slice=[cst.SubscriptElement(cst.Index(cst.Integer(str(i))))])
            other = tuple((n, self.places(n)) for n in sorted(tree.names_read(value) - {base, "torch", self.info.self_name or ""}))
            made.append(frozenset([Place(self.places(base), part, base, other)]))
        return made

    def _turns(self, value: Any, target: Any) -> list[frozenset[Place]] | None:
        """The places of `q, k = map(f, (a, b))` and of `q, k = [f(t) for t in x.chunk(2)]`: each of what f returns of one."""
        if isinstance(value, cst.Call) and tree.dotted(value.func) in ("tuple", "list") and len(value.args) == 1:
            value = value.args[0].value
        if any(isinstance(e, cst.StarredElement) for e in target.elements):
            return None
        one, over = self._repeated(value)
        shown = isinstance(over, (cst.Tuple, cst.List)) and len(over.elements) == len(target.elements)
        if over is None or not shown and not self._gives_parts(over):
            return None
        count = range(len(target.elements))
        return [frozenset([Place(one(over.elements[i].value))]) if shown else frozenset([Place(one(over), part=(value, i))]) for i in count]

    def _results(self, value: Any, target: Any) -> list[frozenset[Place]] | None:
        """The places of `y, bias = self.fc(x)`: each of what the function gives in its place."""
        called = self._called(value) if isinstance(value, cst.Call) and not self._is_open(value) else []
        count = len(target.elements)
        starred = any(isinstance(e, cst.StarredElement) for e in target.elements)
        if not called or starred or any(len(self.passes(t).items) != count or self.passes(t).repeated for t in called):
            return None
        made = []
        for i in range(count):
            each = [(t, self.passes(t).items[i]) for t in called]
            certain = self._exactly(each[0][0], value, each[0][1]) if self._is_certain(value, called) else None
            made.append(certain or frozenset([Place(_all(self._handed(t, value, passed) for t, passed in each))]))
        return made

    def _is_open(self, call: cst.Call) -> bool:
        """Whether a call may run modules that are not known."""
        value = self.context.value(call.func)
        return isinstance(value, Module) and value.open

    def _repeated(self, value: Any) -> tuple[Callable[[Any], frozenset[Place]], Any]:
        """What one turn of `map(f, xs)` or `[f(x) for x in xs]` shares, by what it is given, and xs; None for another expression."""
        if isinstance(value, cst.Call) and self.context.value(value.func) == External("builtins.map") and len(value.args) == 2:
            return (lambda given: self._mapped(tree.replace(value, args=[value.args[0], cst.Arg(given)]))), value.args[1].value
        if isinstance(value, (cst.ListComp, cst.GeneratorExp)) and isinstance(value.for_in.target, cst.Name) and not value.for_in.ifs and value.for_in.inner_for_in is None:
            return (lambda given: self._with(value.for_in.target, given, value.elt)), value.for_in.iter
        return (lambda given: frozenset()), None

    def _gives_parts(self, node: Any) -> bool:
        """Whether an expression is a tuple of different parts of a tensor: `x.chunk(2)`, or a name for that."""
        if (name := self.name(node)) is not None:
            place = self.only(name)
            return place is not None and place.parts
        value = self.context.value(node.func) if isinstance(node, cst.Call) else None
        return isinstance(value, (Method, Torch)) and self.views.get(value.name.rpartition(".")[2]) == "parts"

    def _turn(self, value: Any, target: Any) -> list[Any] | None:
        """What each turn of a loop gives its targets, where they are as many as in `zip(xs, ys)`, `enumerate(xs)` or `d.items()`: parts, or entries `d[k]`."""
        if not isinstance(value, cst.Call) or any(a.star or a.keyword for a in value.args):
            return None
        function, count = self.context.value(value.func), len(target.elements)
        number = Part(cst.Tuple([]))  # or a key: it has no memory
        if function == External("builtins.zip") and len(value.args) == count:
            return [Part(a.value) for a in value.args]
        first, last = target.elements[0].value, target.elements[-1].value
        if function == External("builtins.enumerate") and count == 2 and value.args:
            return [number, self._entry(value.args[0].value, first, last) or Part(value.args[0].value)]
        if isinstance(function, Method) and (isinstance(function.receiver, Mapping) or is_anything(function.receiver)) and function.name == "items" and count == 2:
            return [number, self._entry(getattr(value.func, "value", None), first, last) or Part(value)]
        return None

    def _entry(self, holder: Any, key: Any, target: Any) -> Any:
        """`d[k]` as the expression that a name of a loop is taken from."""
        held = self.context.value(holder)
        if not isinstance(key, cst.Name) or not isinstance(target, cst.Name) or not (isinstance(held, Mapping) or isinstance(held, Sequence) and not held.tuple):
            return None
        made = tree.replace(tree.expression("x[0]"), value=holder, slice=[cst.SubscriptElement(cst.Index(key))])
        self.context.facts.carry(target, made)
        return made

    def apart(self, one: str, other: str) -> bool:
        """Whether two names are different parts of one tensor: of `z.chunk(…)`, or `z[:, 0]` and `z[:, 1:]`."""
        a, b = self.only(one), self.only(other)
        if a is not None and b is not None and a.part is not None and b.part is not None and a.part[0] is b.part[0]:
            return a.part[1] != b.part[1]
        if a is None or b is None or a is b or not isinstance(a.view, cst.Subscript) or not isinstance(b.view, cst.Subscript):
            return False
        same = a.view.value is b.view.value or isinstance(a.view.value, (cst.Name, cst.Attribute)) and a.base == b.base and a.others == b.others
        return same and a.parents == b.parents and disjoint(a.view.slice, b.view.slice)

    def _set(self, target: Any, places: frozenset[Place]) -> None:
        name = self.path(target)
        if name is not None:
            self.env[name] = places
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                self._set(element.value, places)

    def _made(self, value: Any) -> frozenset[Place]:
        """The places that an expression's value may be."""
        if isinstance(value, Part):
            return frozenset([Place(self.shares(value), unheld=self._is_unheld(value.value), foreign=self._is_foreign(value.value))])
        name = self.name(value)
        if name is not None and name not in ("None", "True", "False"):
            return self.places(name)
        if (path := self.state(value)) is not None:
            return self.places(path)
        if isinstance(value, cst.NamedExpr):
            return self._made(value.target)
        if isinstance(value, cst.IfExp):
            return self._made(value.body) | self._made(value.orelse)
        if self._repeats(value):
            return frozenset([Place(self.shares(value), repeated=True)])
        written = self._written(value)
        if written is not None:
            return self._made(written)  # an in-place call returns what it writes
        if (same := self.given_back(value)) is not None:
            return same
        base = self.view_base(value)
        if base is not None:
            other = tuple((n, self.places(n)) for n in sorted(tree.names_read(value) - {base, "torch", self.info.self_name or ""}))
            return frozenset([Place(self.places(base), value, base, other)])
        shared, holder = self.shares(value), self._holder(value)
        if holder is not None:
            other = tuple((n, self.places(n)) for n in sorted(tree.names_read(value) - {self.info.self_name or ""}))
            return frozenset([Place(shared, None, holder, other, entry=value)])
        return frozenset([Place(shared, parts=self._gives_parts(value), foreign=self._is_foreign(value), computed=self._computed(value))])

    def _is_unheld(self, node: Any) -> bool:
        """Whether a loop goes over what a dict holds that has no name here, and that others may have: `unwrap(m).state_dict().items()`."""
        if not isinstance(node, cst.Call):
            return False
        if isinstance(function := self.context.value(node.func), External):
            return function.name.removeprefix("builtins.") in _HANDING_ON and any(self._is_unheld(a.value) for a in node.args)
        if not isinstance(node.func, cst.Attribute) or node.func.attr.value not in ("items", "values", "buffers", "named_buffers"):
            return False
        held: Any = node.func.value
        if node.func.attr.value.endswith("buffers"):
            return True
        if self.name(held) is not None or self.shares(held):
            return False  # the write reaches what that name stands for
        return not self._is_new(held) if isinstance(held, cst.Call) else isinstance(held, (cst.Attribute, cst.Subscript))

    def _is_foreign(self, node: Any) -> bool:
        """Whether an expression is a call of nobody knows what, which may give what others hold."""
        if (name := self.name(node)) is not None:
            return any(p.foreign for p in self.env.get(name, ()))
        if not isinstance(node, cst.Call):
            return False
        value = self.context.value(node.func)
        if isinstance(value, External):
            plain = value.name.removeprefix("builtins.")
            if plain in _HANDING_ON:
                return any(self._is_foreign(a.value) for a in node.args)
            return plain == value.name and value.name.partition(".")[0] not in ("numpy", "math", "einops", "random", "itertools", "lambda") and not self._targets(node.func)
        if isinstance(value, Method):
            return is_anything(value.receiver) and value.name not in self.views and not self.context.rulebook.find("torch.Tensor." + value.name) and not self._targets(node.func)
        return False

    def is_foreign(self, name: str) -> bool:
        """Whether a name may be what an unknown function has given: others may hold it."""
        return any(p.foreign for place in self.places(name) for p in place.closure())

    def _is_new(self, node: cst.Call) -> bool:
        """Whether a call makes a dict of its own, as far as can be said: of the user's functions only those that build what they return."""
        value = self.context.value(node.func)
        if not isinstance(value, Function):
            called = isinstance(value, (Torch, Module)) or self.name(node.func) is not None  # `model(x)`: outputs
            return called or isinstance(value, External) and value.name.removeprefix("builtins.") not in ("vars", "getattr")
        body = value.info.node.body
        given = [n.value for n in tree.walk_scope(body) if isinstance(n, cst.Return)]
        names = {n.value for n in given if isinstance(n, cst.Name)}
        bound = [n for n in tree.walk_scope(body) if isinstance(n, cst.Assign) and any(self.name(t.target) in names for t in n.targets)]
        made = [*(n for n in given if not isinstance(n, cst.Name)), *(n.value for n in bound)]
        return names.isdisjoint(tree.parameter_names(value.info.node)) and bool(made) and all(isinstance(n, cst.Dict) or isinstance(n, cst.Call) and tree.dotted(n.func) == "dict" for n in made)

    def _holder(self, node: Any) -> str | None:
        """The name of the dict, list or plain object that an expression takes something out of."""
        if isinstance(node, cst.Subscript):
            held = self.context.value(node.value)
            one = len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index)
            return self.name(node.value) if one and (isinstance(held, Mapping) or isinstance(held, Sequence) and not held.tuple) else None
        if isinstance(node, cst.Call):
            return COMPUTED if self.is_computed(node) else None
        return self.name(node.value) if isinstance(node, cst.Attribute) and self._is_kept(node) else None

    def _is_kept(self, node: cst.Attribute) -> bool:
        """Whether an attribute may be a tensor that an object of unknown class keeps: `batch.h`, not `x.T`."""
        known = self.context.rulebook.find("torch.Tensor." + node.attr.value) or node.attr.value in self.views
        return is_anything(self.context.value(node.value)) and not known

    def _repeats(self, node: Any) -> bool:
        """Whether an expression is a list that may have one tensor, or one list, in two places."""
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
            held = [e.value for side in (node.left, node.right) if isinstance(side, (cst.List, cst.Tuple)) for e in side.elements]
            return any(not isinstance(self.context.value(e), Static) or self.context.value(e) == NUMPY for e in held)
        if isinstance(node, cst.Call) and self._makes_object(node.func):
            return self._overlap([a.value for a in node.args])
        if isinstance(node, cst.Call):
            known = isinstance(self.context.value(node.func), (Torch, Method))
            return not known and any(self.passes(target).repeated for target in self._targets(node.func))
        if isinstance(node, cst.ListComp) and isinstance(self.context.value(node.elt), Tensor):
            bound = set(tree.times_bound(node))  # `[h for _ in range(3)]`: in each turn the same
            return self.name(node.elt) is not None and not tree.names_read(node.elt) & bound
        if not isinstance(node, (cst.List, cst.Tuple, cst.Dict)):
            return False
        return self._overlap([e.value for e in node.elements])

    def _overlap(self, values: list[Any]) -> bool:
        """Whether two of several expressions may be the same memory."""
        held_places = [{p for place in self.shares(value) for p in place.closure()} for value in values]
        return any(a & b for i, a in enumerate(held_places) for b in held_places[:i])

    def _written(self, node: Any) -> Any:
        """What `x.add_(1)` or `torch.relu_(x)` writes."""
        if not isinstance(node, cst.Call):
            return None
        value = self.context.value(node.func)
        if isinstance(value, Method) and isinstance(node.func, cst.Attribute) and is_inplace_name(value.name):
            return node.func.value
        if isinstance(value, Torch) and (is_inplace_name(value.name) or says_inplace(self.context, node) and not is_undecided(self.context, node)) and node.args:
            return node.args[0].value
        if isinstance(value, Module) and value.inplace is True and len(value.classes) <= 1 and len(node.args) == 1 or is_handed(self.context, node) and says_inplace(self.context, node):
            return node.args[0].value
        return None

    # ------------------------------------------------------------------ sharing

    def view_base(self, node: Any) -> str | None:
        """The name that an expression is a certain view of: `base[...]`, `base.view(...)`, `base.T`."""
        if isinstance(node, cst.Subscript) and isinstance(self.context.value(node.value), Tensor):
            return self.name(node.value) if index_kind(self.context, node.slice) == "basic" else None
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            value = self.context.value(node.func)
            if isinstance(value, Method) and self.views.get(node.func.attr.value) in ("same", "reshape", "swap", "part"):
                return self.name(node.func.value) if not is_copy(self.context, node) else None
        if isinstance(node, cst.Attribute) and node.attr.value in ("T", "mT", "data"):
            return self.name(node.value)
        return None

    def shares(self, node: Any) -> frozenset[Place]:
        """Places that the value of an expression may lie in."""
        if isinstance(node, Part):
            return frozenset() if isinstance(self.context.value(node.value), Mapping) else self.shares(node.value)  # the keys of a dict
        value = self.context.value(node)
        if isinstance(value, Static) and value != NUMPY:
            return frozenset()
        if isinstance(value, Function) and isinstance(node, (cst.Name, cst.Attribute)):  # as of a lambda
            function = self._own(value.info)
            return self._around(self.passes(function)) if self._is_inside(function) else frozenset()
        if isinstance(node, cst.Name):
            return self.places(node.value) if node.value not in ("None", "True", "False") and not isinstance(value, (Module, External, Torch)) else frozenset()
        if isinstance(node, cst.Attribute):
            name = self.name(node)
            if name is not None:
                return self.places(name) if isinstance(value, (Tensor, Sequence, Mapping)) or value in (UNKNOWN, NUMPY) else frozenset()
            if (path := self.state(node)) is not None:
                return self.places(path)
            return self.shares(node.value) if node.attr.value in self.views or self._is_kept(node) else frozenset()
        if isinstance(node, cst.Subscript):
            return self._subscript(node)
        if isinstance(node, (cst.Tuple, cst.List)):
            return _all(self.shares(e.value) for e in node.elements)
        if isinstance(node, cst.Dict):
            return _all(self.shares(e.value) for e in node.elements)
        if isinstance(node, cst.IfExp):
            return self.shares(node.body) | self.shares(node.orelse)
        if isinstance(node, cst.BooleanOperation):
            return self.shares(node.left) | self.shares(node.right)
        if isinstance(node, cst.BinaryOperation):  # of lists: a sum, or one several times
            held = isinstance(value, Sequence) or any(isinstance(side, (cst.List, cst.Tuple)) for side in (node.left, node.right))
            return self.shares(node.left) | self.shares(node.right) if held else frozenset()
        if isinstance(node, cst.NamedExpr):
            return self.shares(node.value)
        if isinstance(node, cst.Lambda):  # what is called with its result has that of it
            return self._around(self.passes(self._own(node)))
        if isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.DictComp)):
            return self._each(node.for_in, node.value if isinstance(node, cst.DictComp) else node.elt)
        if isinstance(node, cst.Call):
            return self._call(node)
        return frozenset()

    def _subscript(self, node: cst.Subscript) -> frozenset[Place]:
        base = self.context.value(node.value)
        if isinstance(base, Tensor):
            for element in node.slice:
                if isinstance(element.slice, cst.Index):
                    index = self.context.value(element.slice.value)
                    if isinstance(element.slice.value, cst.List) or isinstance(index, Tensor) and not index.assumed:
                        return frozenset()  # a copy
        return self.shares(node.value)

    def _call(self, node: cst.Call) -> frozenset[Place]:
        value = self.context.value(node.func)
        if self.is_computed(node):
            return self.places(COMPUTED)
        if isinstance(value, Method) and isinstance(node.func, cst.Attribute):
            if isinstance(value.receiver, Module) or value.name == "keys" or _is_copied(node) or is_copy(self.context, node):
                return frozenset()
            if value.name in _HOLDERS and node.args:  # `d.get("a", z)`
                return self.shares(node.func.value) | _all(self.shares(a.value) for a in node.args)
            if value.name in self.views or value.name in _HOLDERS or is_inplace_name(value.name) or isinstance(value.receiver, (Sequence, Mapping)):
                return self.shares(node.func.value)
            return frozenset()
        everything = _all(self.shares(a.value) for a in node.args)
        if is_handed(self.context, node):
            return self.shares(node.args[0].value) if says_inplace(self.context, node) else frozenset()
        if isinstance(value, Torch):
            last = value.name.rpartition(".")[2]
            if last in self.views or last.endswith("_") or says_inplace(self.context, node):
                return self.shares(node.args[0].value) if node.args else frozenset()
            return frozenset()
        if isinstance(value, Module):
            if self._passes_on(value):
                return everything
            if not value.open:
                return _all(self._handed(t, node, self.passes(t)) for t in self._called(node))
        if value == External("builtins.map") and node.args:
            return self._mapped(node)
        if value == External("einops.rearrange"):
            return self.shares(node.args[0].value) if node.args and not moves_apart(node) else frozenset()
        if self._makes_object(node.func) or isinstance(value, External) and value.name.removeprefix("builtins.") in _HANDING_ON:
            return everything
        return _all(self._handed(t, node, self.passes(t)) for t in self._called(node)) | self._of_parameter(node)

    def _passes_on(self, value: Module) -> bool:
        """Whether a layer of torch's may give back what it is given, or a view of it: nn.Identity, nn.Flatten, an empty nn.Sequential."""
        kinds = {r.rpartition(".")[2].lower() for r in value.classes if isinstance(r, str)}
        if value.inplace is not False or any(self.views.get(k) == "same" or k in ("identity", "flatten") for k in kinds):
            return True
        held = [v for _, v in value.items] if value.items is not None else [value.element] if value.element is not None else []
        return "sequential" in kinds and all(isinstance(one, Module) and (self._passes_on(one) or self._passes_argument(one)) for one in held)

    def _passes_argument(self, value: Module) -> bool:
        """Whether a module of the user's may give back an argument."""
        return any(self.passes(t).parameters for t in self._forwards(value))

    def _called(self, call: cst.Call) -> list[Target]:
        """The functions of the user's that a call may run, those of modules among them."""
        value = self.context.value(call.func)
        if isinstance(value, Module):
            return [*self._forwards(value), *(self._targets(call.func) if value.open else ())]
        if is_of_object(value) and isinstance(call.func, cst.Attribute):
            scope = Scope(self.context.module, self.info)
            return [Target(f, scope) for f in self.context.facts.callables.methods(call.func, scope)]
        return [] if isinstance(value, (Torch, Method)) else self._targets(call.func)

    def _forwards(self, value: Module) -> list[Target]:
        forwards = [f for ref in value.refs if (f := self.context.facts.forward_of(ref)) is not None]
        return [Target(f, Scope(self.context.module, self.info)) for f in forwards]

    def given_back(self, node: Any) -> frozenset[Place] | None:
        """The places of what a function gives back as it is: `self.keep(y)` that returns y, `self.pool.last()` that returns `self.h`."""
        if not isinstance(node, cst.Call):
            return None
        called = self._called(node)
        return self._exactly(called[0], node, self.passes(called[0])) if self._is_certain(node, called) else None

    def _is_certain(self, call: cst.Call, called: list[Target]) -> bool:
        """Whether a call is certain to run this one function."""
        value = self.context.value(call.func)
        if isinstance(value, Module):
            return len(called) == 1 and len(value.classes) == 1 and not value.open
        return len(called) == 1 and isinstance(value, Function) and (tree.dotted(call.func) or "").rpartition(".")[2] == value.info.name

    def _exactly(self, target: Target, call: cst.Call, passed: Passed) -> frozenset[Place] | None:
        """The places of the argument, or of the attribute, that a function gives back or keeps, where that is certain."""
        if not passed.exact:
            return None
        given = [argument for name, argument in target.bound(call) if name in passed.parameters]
        if len(given) == 1 and not given[0].star:
            return self._made(given[0].value)
        path = self._here(target, call, next(iter(passed.free | passed.left))) if passed.free | passed.left else None
        return None if path is None else self.places(path) if passed.left else self.before.get(path, self.places(path))

    def _each(self, loop: cst.CompFor, element: Any) -> frozenset[Place]:
        """What the element of a comprehension shares, in any of its turns."""
        inner = loop.inner_for_in
        return self._with(loop.target, Part(loop.iter), element if inner is None else lambda: self._each(inner, element))

    def _with(self, target: Any, value: Any, element: Any) -> frozenset[Place]:
        """What an expression shares where a target has a value."""
        before = dict(self.env)
        self.bind(target, value)
        found: frozenset[Place] = element() if callable(element) else self.shares(element)
        self.env = before
        return found

    def _own(self, function: FunctionInfo | cst.Lambda) -> Target:
        return Target(function, Scope(self.context.module, self.info))

    def _targets(self, function: Any) -> list[Target]:
        return self.context.facts.callables.targets(function, Scope(self.context.module, self.info))

    def _mapped(self, node: cst.Call) -> frozenset[Place]:
        """What `map(f, xs, ys)` gives: what f returns of each."""
        each = tree.replace(node, args=node.args[1:])
        return _all(self._handed(t, each, self.passes(t)) for t in self._targets(node.args[0].value))

    def _makes_object(self, function: Any) -> bool:
        """Whether a call makes an object, which keeps what it is made of: of a class, also of another library's, or of a namedtuple's."""
        value = self.context.value(function)
        if isinstance(value, Class):
            return not isinstance(value.ref, str)
        if isinstance(value, External):
            return value.name.rpartition(".")[2][:1].isupper()
        if not isinstance(function, cst.Name) or not is_anything(value):
            return False
        made = self.context.facts.project.definition(self.info.module, function.value)
        return isinstance(made, cst.Call) and (tree.dotted(made.func) or "").rpartition(".")[2] in ("namedtuple", "NamedTuple", "make_dataclass")

    def _of_parameter(self, node: cst.Call) -> frozenset[Place]:
        """What a function that was passed in may give back of what was around it: `d()` of `default(x, lambda: y)`."""
        if not isinstance(node.func, cst.Name):
            return frozenset()
        return frozenset(p for p in self.places(node.func.value) if p.parameter == node.func.value)

    def _handed(self, target: Target, node: cst.Call, passed: Passed) -> frozenset[Place]:
        """The arguments of a call that its result may be, or be a view of, and what the function finds around it."""
        return self._found(target, node, passed) | _all(self.shares(a.value) for name, a in target.bound(node) if name in passed.parameters)

    def _found(self, target: Target, node: cst.Call, passed: Passed) -> frozenset[Place]:
        """What a function finds around it, or on its self, by the names that this has here."""
        before, after = ([self._here(target, node, name) for name in sorted(names)] for names in (passed.free, passed.left))
        return _all(self.before.get(path, self.places(path)) for path in before if path is not None) | _all(self.places(path) for path in after if path is not None)

    def _is_inside(self, target: Target) -> bool:
        """Whether what a function finds around it goes by the same name here: of one inside of this, or of a method of the same object."""
        if not isinstance(target.function, FunctionInfo):
            return target.scope.info is self.info
        owner = target.function.owner
        return target.function.outer is self.info or owner is not None and self.info.owner in owner.family()

    def _around(self, passed: Passed) -> frozenset[Place]:
        return _all(self.places(name) for name in sorted(passed.free))

    def _given_out(self, value: Any) -> Passed:
        """What a function hands on by giving out a value."""
        return self._passed(self.shares(value), self._made(value), {})

    def _result(self, value: Any) -> Result:
        """What a function gives out, and the parts of it, where they are written there."""
        elements = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else []
        parts = () if any(isinstance(e, cst.StarredElement) for e in getattr(value, "elements", ())) else tuple(self._result(e) for e in elements)
        return Result(self.shares(value), self._made(value), parts)

    def _of_result(self, result: Result, left: Env) -> Passed:
        found = self._passed(result.shared, result.places, left)
        return dataclasses.replace(found, items=tuple(self._of_result(part, left) for part in result.parts))

    def _passed(self, shared: frozenset[Place], places: frozenset[Place], left: Env) -> Passed:
        """What may be the memory of a value: that which it shares, and which it is, where that is certain; `left` is what the call leaves on self."""
        found = {p for place in shared for p in place.closure()}
        parameters, free = frozenset(p.parameter for p in found if p.parameter is not None), frozenset(p.free for p in found if p.free is not None)
        own = frozenset(p for p in found if p.parameter is None and p.free is None)
        kept = frozenset(name for name, its in left.items() if any(place.closure() & own for place in its))
        only = next(iter(places)) if len(places) == 1 else None
        exact = only is not None and ((only.parameter or only.free) is not None or any(left[name] == places for name in kept)) and len(parameters | free | kept) == 1
        return Passed(parameters, free, any(p.repeated for place in places for p in place.closure()), kept, exact)

    def passes(self, target: Target) -> Passed:
        """What the result of a function may share memory with, and what a call of it leaves in other hands."""
        function = target.function
        if function not in self.passed:
            self.passed[function] = Passed()  # while it is being found out: recursion
            inner = Memory(self.context, function if isinstance(function, FunctionInfo) else target.scope.info or self.info, self.views, self.passed)
            if isinstance(function, cst.Lambda):
                inner.env = {name: frozenset([Place(parameter=name)]) for name in target.parameters()}
                self.passed[function] = inner._given_out(function.body)
            else:
                self.passed[function] = inner._summary(function.node)
        return self.passed[function]

    def _summary(self, node: cst.FunctionDef) -> Passed:
        """What a function does to memory, found by going through it."""
        self.returned = []
        self.block(tree.body_statements(node))
        kept = {name: self._passed(places, frozenset(), {}) for name, places in self.stored.items()}
        left = {name: places for name, places in self.env.items() if name.startswith("self.") and name.count(".") == 1 and any(p.free != name for p in places)}
        for name, places in left.items():
            kept[name] = self._passed(places, places, {})
            if _returns_early(node):
                kept[name] = dataclasses.replace(kept[name], free=kept[name].free | {name}, exact=False)
        given = [self._of_result(result, left) for result in self.returned]
        found = functools.reduce(operator.or_, given) if given else Passed()
        later = bool(node.decorators or node.asynchronous) or cst.Yield in tree.kinds(node.body)
        return dataclasses.replace(found, exact=found.exact and not later, items=() if later else found.items, kept=tuple(sorted(kept.items())))

    # ------------------------------------------------------------------ questions

    def sharing(self, name: str, live: frozenset[str]) -> list[str]:
        """Names that are read later and may share memory with this one."""
        mine = {p for place in self.places(name) for p in place.closure()}
        found = []
        for other in sorted(live):
            if other != name and other in self.env and other not in ("None", "True", "False") and any(place.closure() & mine for place in self.env[other]):
                found.append(other)
        return found

    def names_of(self, node: Any) -> list[str]:
        """The names that an expression may give the memory of: x of `x.view(-1)`, x and y of `x if c else y`."""
        mine = {p for place in self.shares(node) for p in place.closure()}
        read = {name for n in tree.nodes(node, cst.Name, cst.Attribute) if (name := self.name(n)) is not None and name in self.env}
        return sorted(name for name in read if any(place in mine for place in self.env[name]))

    def _computed(self, node: Any) -> Value | None:
        made = self.context.value(node)
        return made if isinstance(node, (cst.BinaryOperation, cst.UnaryOperation)) and is_anything(made) else None

    def is_unheld(self, name: str) -> bool:
        """Whether a name may be what a dict without a name holds: a write of it must reach that, and cannot."""
        return any(p.unheld for place in self.places(name) for p in place.closure())

    def repeats(self, name: str) -> bool:
        """Whether what a name stands for may hold one tensor in two places."""
        return any(p.repeated for place in self.places(name) for p in place.closure())

    def holds_one(self, a: Any, b: Any) -> bool:
        """Whether one of two expressions is certain to be the other, or a view of it."""
        if not all(isinstance(self.context.value(node), Tensor) for node in (a, b)):
            return False
        one, other = self._chain(a), self._chain(b)
        return bool(one and other) and (one[0] in other or other[0] in one)

    def _chain(self, node: Any) -> list[Place]:
        """The place of an expression, and what it is certain to be a view of, outwards."""
        places = self._made(node)
        found: list[Place] = []
        while len(places) == 1 and (place := next(iter(places))) not in found:
            found.append(place)
            places = place.parents if place.view is not None else frozenset()
        return found

    def parameters(self, name: str) -> set[str]:
        """Parameters of the function that a write to this name reaches; not those of `*args`, a tuple that is the function's own."""
        return {p.parameter for place in self.places(name) for p in place.closure() if p.parameter is not None} - self.starred

    def only(self, name: str) -> Place | None:
        places = self.places(name)
        return next(iter(places)) if len(places) == 1 else None

    def unchanged(self, place: Place) -> bool:
        """Whether the other names in a view's expression still mean what they did."""
        return all(self.places(n) == before for n, before in place.others)


def merge(a: Env, b: Env) -> Env:
    """The environment where two paths meet.

    A name that is not the same place on both is one place from there on, which may be any of them: what is made a view of
    it later is a view of just that. Names that were the same on either path stay the same.
    """
    met: dict[tuple[frozenset[Place], frozenset[Place]], frozenset[Place]] = {}
    found: Env = {}
    for name in {*a, *b}:
        if name not in a or name not in b:
            found[name] = a[name] if name in a else b[name]
        elif a[name] == b[name]:
            found[name] = a[name]
        else:
            pair = a[name], b[name]
            found[name] = met.setdefault(pair, frozenset([Place(a[name] | b[name])]))
    return found


def _all(sets: Any) -> frozenset[Place]:
    found: frozenset[Place] = frozenset()
    for s in sets:
        found |= s
    return found


def _given_out(node: Any) -> list[Any]:
    """What a statement returns or yields."""
    if isinstance(node, cst.Return):
        return [node.value] if node.value is not None else []
    yielded = [n.value for n in tree.scope_nodes(node, cst.Yield)] if cst.Yield in tree.kinds(node) else []
    return [value.item if isinstance(value, cst.From) else value for value in yielded if value is not None]


def _returns_early(node: cst.FunctionDef) -> bool:
    """Whether a function may end before its last statement."""
    body = tree.body_statements(node)
    last = tree.only_small(body[-1]) if body else None
    return any(n is not last for n in tree.walk_scope(node.body) if isinstance(n, cst.Return))


def moves_apart(node: cst.Call) -> bool:
    """Whether `rearrange(x, "b n (h d) -> (b h) n d")` is certain to copy: it joins dims that do not lie behind one another in x."""
    given: Any = node.args[1].value if len(node.args) > 1 else None
    pattern = tree.literal(given) if isinstance(given, (cst.SimpleString, cst.ConcatenatedString)) else None
    if not isinstance(pattern, str) or pattern.count("->") != 1:
        return False
    left, right = pattern.split("->")
    order = left.replace("(", " ").replace(")", " ").split()
    for joined in re.findall(r"\(([^()]*)\)", right):
        names = [n for n in joined.split() if n != "1"]
        if any(n not in order for n in names):
            return False
        places = [order.index(n) for n in names]
        if any(b != a + 1 for a, b in zip(places, places[1:])):
            return True
    return False


def _is_copied(node: cst.Call) -> bool:
    """`x.permute(0, 2, 1).contiguous()`: the elements are brought into another order. Only of dims of size 1 it is x itself."""
    func: Any = node.func
    moved: Any = func.value
    if func.attr.value != "contiguous" or node.args:
        return False
    if isinstance(moved, cst.Attribute):
        return moved.attr.value in ("T", "mT")
    if not isinstance(moved, cst.Call) or not isinstance(moved.func, cst.Attribute) or moved.func.attr.value not in ("permute", "transpose", "t", "movedim", "moveaxis", "swapaxes", "swapdims"):
        return False
    if moved.func.attr.value != "permute":
        return True
    texts = [tree.code(a.value) for a in moved.args]
    order = [int(t) % len(texts) for t in texts if t.removeprefix("-").isdecimal()]
    return len(order) == len(texts) and order != sorted(order)
