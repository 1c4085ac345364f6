"""What calls of the user's functions and modules do to memory: what a result may be, and what they leave on self and in what they are given."""

from __future__ import annotations

import dataclasses
import functools
import operator
from typing import TYPE_CHECKING, Any

import libcst as cst

from .. import tree
from ..callables import Target, is_of_object
from ..project import ClassInfo, FunctionInfo
from ..values import UNKNOWN, Function, Method, Module, Tensor, Torch
from .places import Env, Passed, Place, Result, union

if TYPE_CHECKING:
    from .memory import Memory


def keep(memory: Memory, call: cst.Call) -> None:
    """Move past what a call of the user's leaves on its self, and in lists and dicts that it is given."""
    called = functions_called(memory, call)
    certain = is_certain(memory, call, called)
    for target in called:
        for name, held in passes(memory, target).kept:
            shared = handed(memory, target, call, held)
            if not name.startswith("self."):
                for _, argument in (bound for bound in target.bound(call) if bound[0] == name):
                    if (holder := root(memory, argument.value)) is not None:
                        added(memory, holder, shared)
            elif (path := here(memory, target, call, name)) is not None:
                memory.before.setdefault(path, memory.places(path))
                same = exactly(memory, target, call, held) if certain and path.startswith("self.") else None  # another name may be that of several modules
                memory.env[path] = same or frozenset([Place(shared if certain else shared | memory.before[path])])
            elif (holder := root(memory, receiver_of(memory, call))) is not None:
                added(memory, holder, shared)


def receiver_of(memory: Memory, call: cst.Call) -> Any:
    """What a method or module is called on: `self.b` of `self.b.step(x)` and of `self.b(x)`."""
    value = memory.context.value(call.func)
    if isinstance(value, Module) and not (isinstance(call.func, cst.Attribute) and call.func.attr.value == "forward"):
        return call.func
    if not isinstance(call.func, cst.Attribute):
        return None
    if isinstance(value, Function) and value.base:
        return cst.Name(memory.info.self_name or "self")
    return call.func.value


def here(memory: Memory, target: Target, call: cst.Call, name: str) -> str | None:
    """What a name around a function, or `self.h` of a method, is called where it is called: `self.b.h`; None where there is no name for it."""
    if not isinstance(target.function, FunctionInfo) or target.function.owner is None:
        return name if is_inside(memory, target) else None
    receiver = receiver_of(memory, call)
    if not name.startswith("self.") or receiver is None:
        return None
    if tree.dotted(receiver) == memory.info.self_name and memory.info.self_name is not None:
        return name
    if not isinstance(memory.context.value(receiver), Module) or not tree.dotted(receiver):
        return None
    path = memory.from_self(tree.code(receiver) + name.removeprefix("self"))
    if path not in memory.paths and (found := below(memory, receiver, name.split(".")[1:])) is not None:
        memory.paths[path] = found
    return path if path in memory.paths else None


def below(memory: Memory, node: Any, names: list[str]) -> Any:
    """`self.b.fc.weight` of `self.b` and the names below it; None where that is no array of a module that is known."""
    for i, name in enumerate(names):
        held = memory.context.value(node)
        if not isinstance(held, Module) or not name.isidentifier():
            return None
        values = [value for ref in held.refs if isinstance(ref, ClassInfo) and (value := memory.context.facts.attribute(ref, name)) is not None]
        node = cst.Attribute(node, cst.Name(name))
        memory.context.facts.tell(node, Tensor() if i == len(names) - 1 else values[0] if len(values) == 1 else UNKNOWN)
    return node


def root(memory: Memory, node: Any) -> str | None:
    """The name of what holds an expression: d of `d["k"]`, h of `h.items`."""
    while isinstance(node, (cst.Subscript, cst.Attribute)) and memory.name(node) is None:
        node = node.value
    return memory.name(node)


def hold(memory: Memory, holder: str, value: Any) -> None:
    added(memory, holder, memory.shares(value))


def added(memory: Memory, holder: str, shared: frozenset[Place]) -> None:
    """Move past what puts something into a list, dict or object: all names for that hold it."""
    if not shared:
        return
    holders = {p for place in memory.places(holder) for p in place.holders()}
    for parameter in {p.parameter for p in holders if p.parameter is not None}:
        memory.stored[parameter] = memory.stored.get(parameter, frozenset()) | shared
    grown: dict[frozenset[Place], frozenset[Place]] = {}  # names that were the same stay the same
    for name, places in list(memory.env.items()):
        if places & holders:
            if places not in grown:
                grown[places] = frozenset([Place(places | shared, grown=places)])
            memory.env[name] = grown[places]


def is_open(memory: Memory, call: cst.Call) -> bool:
    """Whether a call may run modules that are not known."""
    value = memory.context.value(call.func)
    return isinstance(value, Module) and value.open


def functions_called(memory: Memory, call: cst.Call) -> list[Target]:
    """The functions of the user's that a call may run, those of modules among them."""
    value = memory.context.value(call.func)
    if isinstance(value, Module):
        return [*forwards(memory, value), *(targets(memory, call.func) if value.open else ())]
    if is_of_object(value) and isinstance(call.func, cst.Attribute):
        return [Target(f, memory.scope) for f in memory.context.facts.callables.methods(call.func, memory.scope)]
    return [] if isinstance(value, (Torch, Method)) else targets(memory, call.func)


def forwards(memory: Memory, value: Module) -> list[Target]:
    """The forwards of the user's classes that a module may be of, also of those below them: `block: Block` may be any."""
    found = [f for ref in value.refs if (f := memory.context.facts.forward_of(ref)) is not None]
    below = [f for ref in value.refs if isinstance(ref, ClassInfo) for f in ref.overriding("forward")]
    return [Target(f, memory.scope) for f in dict.fromkeys([*found, *below])]


def given_back(memory: Memory, node: Any) -> frozenset[Place] | None:
    """The places of what a function gives back as it is: `self.keep(y)` that returns y, `self.pool.last()` that returns `self.h`."""
    if not isinstance(node, cst.Call):
        return None
    called = functions_called(memory, node)
    return exactly(memory, called[0], node, passes(memory, called[0])) if is_certain(memory, node, called) else None


def is_certain(memory: Memory, call: cst.Call, called: list[Target]) -> bool:
    """Whether a call is certain to run this one function."""
    value = memory.context.value(call.func)
    if isinstance(value, Module):
        return len(called) == 1 and len(value.classes) == 1 and not value.open
    return len(called) == 1 and isinstance(value, Function) and (tree.dotted(call.func) or "").rpartition(".")[2] == value.info.name


def exactly(memory: Memory, target: Target, call: cst.Call, passed: Passed) -> frozenset[Place] | None:
    """The places of the argument, or of the attribute, that a function gives back or keeps, where that is certain."""
    if not passed.exact:
        return None
    given = [argument for name, argument in target.bound(call) if name in passed.parameters]
    if len(given) == 1 and not given[0].star:
        return memory.made(given[0].value)
    path = here(memory, target, call, next(iter(passed.free | passed.left))) if passed.free | passed.left else None
    return None if path is None else memory.places(path) if passed.left else memory.before.get(path, memory.places(path))


def targets(memory: Memory, function: Any) -> list[Target]:
    return memory.context.facts.callables.targets(function, memory.scope)


def handed(memory: Memory, target: Target, node: cst.Call, passed: Passed) -> frozenset[Place]:
    """The arguments of a call that its result may be, or be a view of, and what the function finds around it."""
    return found_around(memory, target, node, passed) | union(memory.shares(a.value) for name, a in target.bound(node) if name in passed.parameters)


def found_around(memory: Memory, target: Target, node: cst.Call, passed: Passed) -> frozenset[Place]:
    """What a function finds around it, or on its self, by the names that this has here."""
    before, after = ([here(memory, target, node, name) for name in sorted(names)] for names in (passed.free, passed.left))
    return union(memory.before.get(path, memory.places(path)) for path in before if path is not None) | union(memory.places(path) for path in after if path is not None)


def is_inside(memory: Memory, target: Target) -> bool:
    """Whether what a function finds around it goes by the same name here: of one inside of this, or of a method of the same object."""
    if not isinstance(target.function, FunctionInfo):
        return target.scope.info is memory.info
    owner = target.function.owner
    return target.function.outer is memory.info or owner is not None and memory.info.owner in owner.family()


def around(memory: Memory, passed: Passed) -> frozenset[Place]:
    return union(memory.places(name) for name in sorted(passed.free))


def given_out(memory: Memory, value: Any) -> Passed:
    """What a function hands on by giving out a value."""
    return passed_on(memory, memory.shares(value), memory.made(value), {})


def result_of(memory: Memory, value: Any) -> Result:
    """What a function gives out, and the parts of it, where they are written there."""
    apart = isinstance(value, cst.Tuple) and not any(isinstance(e, cst.StarredElement) for e in value.elements)
    return Result(memory.shares(value), memory.made(value), tuple(result_of(memory, e.value) for e in value.elements) if apart else ())


def of_result(memory: Memory, result: Result, left: Env) -> Passed:
    found = passed_on(memory, result.shared, result.places, left)
    return dataclasses.replace(found, items=tuple(of_result(memory, part, left) for part in result.parts))


def passed_on(memory: Memory, shared: frozenset[Place], places: frozenset[Place], left: Env) -> Passed:
    """What may be the memory of a value: that which it shares, and which it is, where that is certain; `left` is what the call leaves on self."""
    found = {p for place in shared for p in place.closure()}
    parameters, free = frozenset(p.parameter for p in found if p.parameter is not None), frozenset(p.free for p in found if p.free is not None)
    own = frozenset(p for p in found if p.parameter is None and p.free is None)
    kept = frozenset(name for name, its in left.items() if any(place.closure() & own for place in its))
    only = next(iter(places)) if len(places) == 1 else None
    exact = only is not None and ((only.parameter or only.free) is not None or any(left[name] == places for name in kept)) and len(parameters | free | kept) == 1
    return Passed(parameters, free, any(p.repeated for place in places for p in place.closure()), kept, exact)


def passes(memory: Memory, target: Target) -> Passed:
    """What the result of a function may share memory with, and what a call of it leaves in other hands."""
    function = target.function
    if function not in memory.passed:
        memory.passed[function] = Passed()  # while it is being found out: recursion
        inner = memory.of_another(function if isinstance(function, FunctionInfo) else target.scope.info or memory.info)
        if isinstance(function, cst.Lambda):
            inner.env = {name: frozenset([Place(parameter=name)]) for name in target.parameters()}
            memory.passed[function] = given_out(inner, function.body)
        else:
            memory.passed[function] = summary(inner, function.node)
    return memory.passed[function]


def summary(memory: Memory, node: cst.FunctionDef) -> Passed:
    """What a function does to memory, found by going through it."""
    memory.returned = []
    memory.block(tree.body_statements(node))
    kept = {name: passed_on(memory, places, frozenset(), {}) for name, places in memory.stored.items()}
    left = {name: places for name, places in memory.env.items() if name.startswith("self.") and name.count(".") == 1 and any(p.free != name for p in places)}
    for name, places in left.items():
        kept[name] = passed_on(memory, places, places, {})
        if _returns_early(node):
            kept[name] = dataclasses.replace(kept[name], free=kept[name].free | {name}, exact=False)
    given = [of_result(memory, result, left) for result in memory.returned]
    found = functools.reduce(operator.or_, given) if given else Passed()
    later = bool(node.decorators or node.asynchronous) or cst.Yield in tree.kinds(node.body)
    return dataclasses.replace(found, exact=found.exact and not later, items=() if later else found.items, kept=tuple(sorted(kept.items())))


def _returns_early(node: cst.FunctionDef) -> bool:
    """Whether a function may end before its last statement."""
    body = tree.body_statements(node)
    last = tree.only_small(body[-1]) if body else None
    return any(n is not last for n in tree.walk_scope(node.body) if isinstance(n, cst.Return))
