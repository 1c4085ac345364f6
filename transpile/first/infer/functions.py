"""Calls between the user's functions: what they give for parameters is noted, and what they return is found."""

from __future__ import annotations

import dataclasses

import libcst as cst

from .. import tree
from ..project import FunctionInfo
from ..values import (
    MISSING,
    NONE,
    PLACED,
    UNKNOWN,
    Class,
    External,
    Function,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    element_of,
    is_traced,
    join,
    sequence,
)
from . import parameters
from .frame import Argument, Env, Frame, Handlers

# ------------------------------------------------------------------ bodies


def interpret(frame: Frame) -> None:
    """Interpret the body of a function with what is known of its parameters now."""
    frame.facts.note(frame.facts.returns, frame.info, _returned(frame, {}))


def interpret_once(frame: Frame) -> None:
    """Interpret a function that calls of it, while it is at work, must not begin again."""
    frame.facts.note(frame.facts.returns, frame.info, _returned_once(frame, {}))


def _returned_once(frame: Frame, given: Env) -> Value:
    assert frame.info is not None
    frame.facts.running.add(frame.info)
    found = _returned(frame, given)
    frame.facts.running.discard(frame.info)
    return found


def _returned(frame: Frame, given: Env) -> Value:
    """What the body of a function returns, where its parameters are what is known of them, or what is given here."""
    assert frame.info is not None
    frame.block(tree.body_statements(frame.info.node), parameters.bound(frame) | given)
    if frame.yields is not None:
        return Sequence(frame.yields)
    return frame.result if frame.result is not None else NONE


def result(frame: Frame, info: FunctionInfo) -> Value:
    """What a function returns; it is interpreted on demand, so that a first look does not count as unknown."""
    facts = frame.facts
    if info not in facts.returns and info not in facts.running and info.outer is None:
        interpret_once(frame.of_function(info))
    return facts.result(info)


def _result_for(frame: Frame, info: FunctionInfo, given: Env) -> Value:
    """What a function returns that gets these modules and classes: `clones(nn.BatchNorm1d(n), 3)` holds no other layer."""
    facts = frame.facts
    known = facts.known_parameters(info)
    declared = {p.name.value for p in info.parameters() if p.annotation is not None and not facts.makes_modules(given.get(p.name.value, UNKNOWN))}
    others = tuple((name, given[name]) for name in sorted(given.keys() - declared) if known.get(name) != given[name])
    if not others or info in facts.running or info.outer is not None:
        return result(frame, info)
    if (info, others) not in facts.returns_for:
        facts.returns_for[info, others] = _returned_once(frame.of_function(info), dict(others))
    return facts.returns_for[info, others]


def _yield(frame: Frame, node: cst.Yield, env: Env) -> Value:
    if isinstance(node.value, cst.BaseExpression):
        frame.yields = join(frame.yields, frame.expression(node.value, env))
    elif isinstance(node.value, cst.From):
        frame.yields = join(frame.yields, element_of(frame.expression(node.value.item, env)))
    return UNKNOWN


def _lambda(frame: Frame, node: cst.Lambda, env: Env) -> Value:
    of_lambda(frame, node, env, [])
    return External("lambda")


def of_lambda(frame: Frame, node: cst.Lambda, env: Env, given: list[Value]) -> Value:
    """What a lambda returns, where its first parameters get these tensors."""
    inner, params = dict(env), node.params
    for parameter in [*params.posonly_params, *params.params, *params.kwonly_params]:
        inner[parameter.name.value] = _of_lambda(frame, parameter, env)
    if isinstance(params.star_arg, cst.Param):
        inner[params.star_arg.name.value] = Sequence(Tensor(assumed=True))
    inner |= {p.name.value: value for p, value in zip([*params.posonly_params, *params.params], given) if isinstance(value, Tensor)}
    return frame.expression(node.body, inner)


def _of_lambda(frame: Frame, parameter: cst.Param, env: Env) -> Value:
    """A parameter of a lambda. `i=i` keeps what i is now; any other default is one of many that a call may give."""
    if parameter.default is None:
        return UNKNOWN if frame.foreign else Tensor(assumed=True)
    default = frame.expression(parameter.default, env)
    kept = isinstance(parameter.default, cst.Name) and parameter.default.value == parameter.name.value
    return parameters.of_kind(frame, default) if isinstance(default, (Static, Torch, Class, Function)) and not kept else default


HANDLERS: Handlers = {cst.Lambda: _lambda, cst.Yield: _yield}


# ------------------------------------------------------------------ calls


def call(frame: Frame, function: Function, args: list[Argument]) -> Value:
    """The result of a call, joined over all functions that it may mean."""
    found: Value | None = None
    for target in _overrides(function):
        found = join(found, call_one(frame, target, args))
    return found or UNKNOWN


def call_one(frame: Frame, info: FunctionInfo, args: list[Argument]) -> Value:
    given = bind_arguments(frame, info, args)
    note_call(frame, info)
    if any(isinstance(a.value, Tensor) for a in args):
        return result(frame, info)  # it runs a module, `checkpoint(block, x)`, and makes none
    return _result_for(frame, info, given)


def _overrides(function: Function) -> list[FunctionInfo]:
    """The method, and those of subclasses that may be meant by the same call on self."""
    info = function.info
    if function.base or function.owner is None or info.owner is None or info.is_static:
        return [info]
    return [info, *(o for o in function.owner.overriding(info.name) if o is not info)]


def note_call(frame: Frame, info: FunctionInfo) -> None:
    if frame.info is not None:
        frame.facts.calls.setdefault(frame.info, set()).add(info)


def bind_arguments(frame: Frame, info: FunctionInfo, args: list[Argument]) -> Env:
    """Note what a call gives for the parameters of a function: also of `*args` as "*", and of `**kwargs` as "**name".

    Returns the modules and classes of modules among it, by parameter, and all that `*layers` gets, if there are any.
    """
    given: Env = {}
    rest: list[Value] | None = []
    table = frame.facts.parameters.setdefault(info, {})
    names = [p.name.value for p in info.parameters()]
    params = info.node.params
    positional = names[: len(names) - len(params.kwonly_params)]
    i = 0
    for keyword, star, value, _ in [*args, *_handed_on(frame, args)]:
        if star == "*":
            for name in positional[i:]:
                _note(frame, table, name, element_of(value))
            i, rest = len(positional), None
        elif star == "**":
            if isinstance(value, Mapping) and value.placed and params.star_kwarg is not None:
                for word in PLACED - set(names):
                    _note(frame, table, f"**{word}", Static())
        elif keyword is not None:
            if keyword in names:
                given[keyword] = value
                _note(frame, table, keyword, value)
            elif params.star_kwarg is not None:
                _note(frame, table, f"**{keyword}", value)
        elif i < len(positional):
            given[positional[i]] = value
            _note(frame, table, positional[i], value)
            i += 1
        elif isinstance(params.star_arg, cst.Param):
            _note(frame, table, "*", value)
            rest = [*rest, value] if rest is not None else None
    if frame.facts.in_forward(frame.info):
        frame.facts.given_data |= {(info, name) for name, value in given.items() if is_traced(value)}
    starred = {params.star_arg.name.value: sequence(rest, True)} if isinstance(params.star_arg, cst.Param) and rest and any(isinstance(v, Module) for v in rest) else {}
    return starred | {name: value for name, value in given.items() if frame.facts.makes_modules(value) or isinstance(value, Module) and not value.is_self}


def _handed_on(frame: Frame, args: list[Argument]) -> list[Argument]:
    """What is known of the keywords in `**kwargs`, where a function passes its own on."""
    info = frame.info
    if info is None or (mine := info.node.params.star_kwarg) is None:
        return []
    if not any(a.star == "**" and isinstance(a.node, cst.Name) and a.node.value == mine.name.value for a in args):
        return []
    known = frame.facts.known_parameters(info)
    return [Argument(name[2:], "", value) for name, value in known.items() if name.startswith("**")]


def _note(frame: Frame, table: dict[str, Value], name: str, value: Value) -> None:
    """Note what of an argument holds in the function: there it is no constant, no self, and of no certain dtype."""
    if isinstance(value, Static) and value.const is not None:
        value = Static(MISSING, value.type, value.loose)
    if isinstance(value, Module):
        value = dataclasses.replace(value, is_self=False)
    if isinstance(value, Tensor):
        value = Tensor(value.assumed, value.none, number=value.number and None, dims=value.dims)
    frame.facts.note(table, name, value)
