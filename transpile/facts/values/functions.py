"""Calls between the user's functions: what they give for parameters, and what they return."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from ...model import expressions as nodes
from ...model.expressions import Lambda
from ...model.names import dotted, own_names
from ...model.node import Expression
from ...model.program import Function, Parameter
from ..bindings.activity import free
from . import lattice, parameter_usage, parameters
from .default_kinds import of_kind
from .frame import Argument, Env, Frame
from .joins import join, sequence
from .lattice import (
    CLOSED_LAMBDA,
    INITIALISER,
    LAMBDA,
    MISSING,
    NONE,
    PLACED,
    UNKNOWN,
    Class,
    External,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    element_of,
    is_traced,
)

# --- bodies --------------------------------------------------------------------------------------


def interpret(frame: Frame, function: Function) -> Iterator[tuple[str, Value]]:
    """Interpret a function inside another, where it stands; what it has put into what is around
    it: `layers` of `def add(size): layers.append(nn.Linear(size, size))`."""
    env: Env = {}
    frame.facts.note(returned(frame, env), "result", function)
    for name in sorted(frame.closure.keys() & env.keys() - own_names(function)):
        if isinstance(env[name], (Module, Sequence, Mapping)):
            yield name, env[name]


def returned(frame: Frame, env: Env) -> Value:
    """What the body of a function returns; `env`, what is given, is then as the body leaves it."""
    assert frame.function is not None
    env |= parameters.bound(frame) | env
    frame.block(frame.function.body, env)
    if frame.yields is not None:
        return Sequence(frame.yields)
    return frame.result if frame.result is not None else NONE


def result(frame: Frame, function: Function) -> Value:
    """What a function returns; it is interpreted first, where it was not yet."""
    if frame.facts.project.outer(function) is None:
        frame.facts.demand(function, ())
    return frame.facts.result(function)


def _result_for(frame: Frame, function: Function, given: Env) -> Value:
    """What a function returns that gets these modules: `clones(nn.BatchNorm1d(n), 3)`."""
    facts = frame.facts
    known = facts.parameters(function)
    for parameter in facts.project.parameters(function):
        name = parameter.name
        if parameter.annotation is not None and name in given:
            if not facts.makes_modules(given[name]):
                given = {other: value for other, value in given.items() if other != name}
    others = tuple((n, given[n]) for n in sorted(given) if known.get(n) != given[n])
    if not others or facts.project.outer(function) is not None:
        return result(frame, function)
    if not facts.demand(function, others):
        return result(frame, function)
    return facts.read("result for", function, others) or facts.unseen(function)


# --- lambdas -------------------------------------------------------------------------------------

# Which of its first two arguments a function calls with what came out last and each of the other.
_IN_TURN = {"functools.reduce": 0, "itertools.accumulate": 1}


def lambda_(frame: Frame, node: Lambda, env: Env) -> Value:
    if _over(frame, node) is None:
        of_lambda(frame, node, env, [])
    if _initialises(frame, node, env):
        return INITIALISER
    closed = not free(node) and all(p.default is None for p in node.parameters)
    return CLOSED_LAMBDA if closed else LAMBDA


def _initialises(frame: Frame, node: Lambda, env: Env) -> bool:
    """Whether a lambda is an initialiser with more given: `lambda w: nn.init.constant_(w, 0)`."""
    body, first = node.body, node.parameters[0].name if node.parameters else ""
    if not isinstance(body, nodes.Call) or not body.arguments or body.keywords[0]:
        return False
    given = body.arguments[0]
    if (dotted(body.function) or first).partition(".")[0] in {p.name for p in node.parameters}:
        return False  # `lambda t: t.to(x)`, which nothing is known of here
    called = frame.expression(body.function, env)
    return lattice.is_initialiser(called) and isinstance(given, nodes.Name) and given.id == first


def of_lambda(frame: Frame, node: Lambda, env: Env, given: list[Value]) -> Value:
    """What a lambda returns, where its first parameters get these tensors and modules."""
    inner = dict(env)
    for parameter in node.parameters:
        if parameter.kind == "*":
            inner[parameter.name] = Sequence(Tensor(assumed=True))
        elif parameter.kind != "**":
            inner[parameter.name] = _of_lambda(frame, parameter, env)
    by_place = [p for p in node.parameters if p.kind in ("/", "")]
    known = {p.name: v for p, v in zip(by_place, given) if isinstance(v, (Tensor, Module))}
    return frame.expression(node.body, inner | known)


def _of_lambda(frame: Frame, parameter: Parameter, env: Env) -> Value:
    """A parameter of a lambda. `i=i` keeps what i is; any other default is one of many."""
    node = parameter.default
    if node is None:
        return UNKNOWN if frame.foreign else Tensor(assumed=True)
    default = frame.expression(node, env)
    kept = isinstance(node, nodes.Name) and node.id == parameter.name
    if kept or not isinstance(default, (Static, Torch, Class, lattice.Function)):
        return default
    return of_kind(frame, default)


def of_each(frame: Frame, args: list[Argument], env: Env) -> Value:
    """What `map(f, xs, ys)` gives, where that is a tensor."""
    function, given = args[0], [element_of(a.value) for a in args[1:]]
    found: Value = UNKNOWN
    if isinstance(function.node, Lambda):
        found = of_lambda(frame, function.node, env, given)
    elif isinstance(function.value, lattice.Function) and all(isinstance(v, Tensor) for v in given):
        found = call(frame, function.value, [Argument(None, "", v) for v in given])
    return found if isinstance(found, Tensor) else UNKNOWN


def in_turn(frame: Frame, args: list[Argument], env: Env) -> None:
    """Look at lambdas that are given what something goes over: they may call it."""
    for argument in args:
        node = argument.node
        over = _over(frame, node) if isinstance(node, Lambda) else None
        if over is not None:
            element = element_of(frame.facts.of(over))
            of_lambda(frame, node, env, [UNKNOWN, element])


def _over(frame: Frame, node: Lambda) -> Expression | None:
    """What the parameters of a lambda go over: `fs` of `reduce(lambda x, f: f(x), fs, x)`"""
    call = node.parent
    if not isinstance(call, nodes.Call) or len(call.arguments) < 2:
        return None
    function = frame.facts.of(call.function)
    place = _IN_TURN.get(function.name) if isinstance(function, External) else None
    if place is None or call.arguments[place] is not node:
        return None
    return call.arguments[1 - place]


# --- calls ---------------------------------------------------------------------------------------


def call(frame: Frame, function: lattice.Function, args: list[Argument]) -> Value:
    """The result of a call, joined over all functions that it may mean."""
    found: Value | None = None
    for target in _overrides(frame, function):
        found = join(found, call_one(frame, target, args))
    return found or UNKNOWN


def call_one(frame: Frame, function: Function, args: list[Argument]) -> Value:
    given = bind_arguments(frame, function, args)
    note_call(frame, function)
    if any(isinstance(a.value, Tensor) for a in args):
        found = result(frame, function)  # it runs a module, `checkpoint(block, x)`, and makes none
    else:
        found = _result_for(frame, function, given)
    picked = parameter_usage.given_back(frame.facts, function, args)
    return found if picked is None else picked


def _overrides(frame: Frame, value: lattice.Function) -> list[Function]:
    """The method, and those of subclasses that may be meant by the same call on self."""
    function, project = value.function, frame.facts.project
    if value.base or value.owner is None or project.owner(function) is None:
        return [function]
    if project.is_static(function):
        return [function]
    others = project.overriding(value.owner, function.name)
    return [function, *(o for o in others if o is not function)]


def note_call(frame: Frame, function: Function) -> None:
    run = frame.facts.run
    if frame.function is not None and run is not None:
        run.calls.setdefault(frame.function, set()).add(function)


def bind_arguments(frame: Frame, function: Function, args: list[Argument]) -> Env:
    """Note what a call gives for parameters: also of `*args` as "*", of `**kwargs` as "**name".

    Returns the modules and classes of modules among it, and all that `*layers` gets if any are.
    """
    facts = frame.facts
    signature = facts.project.signature(function)
    positional, names = signature.positional, signature.names
    given: Env = {}
    table: Env = {}
    rest: list[Value] | None = []
    i = 0
    for keyword, star, value, node in [*args, *_handed_on(frame, args)]:
        if star == "*":
            if function.name == "__init__" and signature.star is not None:
                _note(table, "*", element_of(value))
            if _is_from_outside(frame, node):
                _note(table, "**", UNKNOWN)
            else:
                for name in positional[i:]:
                    _note(table, name, element_of(value))
            i, rest = len(positional), None
        elif star == "**":
            _note(table, "**", UNKNOWN)
            if isinstance(value, Mapping) and value.placed and signature.stars is not None:
                for word in PLACED.difference(names):
                    _note(table, f"**{word}", Static())
        elif keyword is not None:
            if keyword in names:
                given[keyword] = value
                _note(table, keyword, value)
            elif signature.stars is not None:
                _note(table, f"**{keyword}", value)
        elif i < len(positional):
            given[positional[i]] = value
            _note(table, positional[i], value)
            i += 1
        elif signature.star is not None:
            _note(table, "*", value)
            rest = None if rest is None else [*rest, value]
    facts.note(table, "parameters", function)
    if facts.run is not None and facts.in_forward(frame.function):
        facts.run.data |= {(function, name) for name, v in given.items() if is_traced(v)}
    found = {name: value for name, value in given.items() if _is_module(frame, value)}
    if signature.star and rest and any(isinstance(v, Module) for v in rest):
        found[signature.star] = sequence(rest, True)
    return found


def _is_from_outside(frame: Frame, node: Any) -> bool:
    """Whether `*args` is what a constructor takes itself, of which the project gives it nothing:
    `super().__init__(dim, *args)` says no more than those say who call the class above."""
    function = frame.function
    if function is None or function.name != "__init__" or "*" in frame.facts.parameters(function):
        return False
    star = frame.facts.project.signature(function).star
    return star is not None and isinstance(node, nodes.Name) and node.id == star


def _is_module(frame: Frame, value: Value) -> bool:
    """Whether an argument is a module or a class of modules, other than self."""
    if isinstance(value, Module):
        return not value.is_self
    return frame.facts.makes_modules(value)


def _handed_on(frame: Frame, args: list[Argument]) -> list[Argument]:
    """What is known of the keywords in `**kwargs`, where a function passes its own on."""
    function = frame.function
    if function is None:
        return []
    mine = frame.facts.project.signature(function).stars
    stars = (a.node for a in args if a.star == "**")
    if mine is None or not any(isinstance(n, nodes.Name) and n.id == mine for n in stars):
        return []
    known = frame.facts.parameters(function)
    words = sorted(name for name in known if name.startswith("**"))
    return [Argument(name[2:], "", known[name]) for name in words]


def _note(table: Env, name: str, value: Value) -> None:
    """Note what of an argument holds in the function: it is no constant, no self, of no dtype."""
    if isinstance(value, Static):
        if value.const is not None:
            value = Static(MISSING, value.type, value.loose)
    elif isinstance(value, Module):
        if value.is_self:
            value = dataclasses.replace(value, is_self=False)
    elif isinstance(value, Tensor):
        number = value.number and None
        value = Tensor(value.assumed, value.none, number=number, dims=value.dims)
    table[name] = join(table.get(name), value)
