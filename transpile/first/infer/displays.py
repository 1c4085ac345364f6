"""Literals, displays and comprehensions: what writes a value out."""

from __future__ import annotations

import dataclasses
from typing import Any

import libcst as cst

from .. import tree
from ..values import MISSING, PLACED, UNKNOWN, Mapping, Sequence, Static, Value, element_of, join, sequence
from . import narrowing
from .assignments import bind
from .frame import Env, Frame, Handlers


def _integer(frame: Frame, node: cst.Integer, env: Env) -> Value:
    return Static(tree.literal(node), "int")


def _float(frame: Frame, node: cst.Float, env: Env) -> Value:
    return Static(tree.literal(node), "float")


def _string(frame: Frame, node: cst.SimpleString | cst.ConcatenatedString, env: Env) -> Value:
    return Static(tree.literal(node), "str")


def _formatted(frame: Frame, node: cst.FormattedString, env: Env) -> Value:
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            frame.expression(part.expression, env)
    return Static(MISSING, "str")


def _sequence(frame: Frame, node: cst.Tuple | cst.List, env: Env) -> Value:
    items: list[Value] = []
    exact = True
    for element in node.elements:
        value = frame.expression(element.value, env)
        if not isinstance(element, cst.StarredElement):
            items.append(value)
        elif isinstance(value, Sequence) and value.items is not None:
            items.extend(value.items)
        else:
            items.append(element_of(value))
            exact = False
    found = sequence(items, isinstance(node, cst.Tuple))
    return found if exact else dataclasses.replace(found, items=None)


def _set(frame: Frame, node: cst.Set, env: Env) -> Value:
    for element in node.elements:
        frame.expression(element.value, env)
    return UNKNOWN


def _dict(frame: Frame, node: cst.Dict, env: Env) -> Value:
    element: Value | None = None
    placed = False
    for item in node.elements:
        if isinstance(item, cst.DictElement):
            key = frame.expression(item.key, env)
            placed = placed or isinstance(key, Static) and isinstance(key.const, str) and key.const in PLACED
            element = join(element, frame.expression(item.value, env))
        else:
            value = frame.expression(item.value, env)
            placed = placed or isinstance(value, Mapping) and value.placed
            element = join(element, value.element if isinstance(value, Mapping) else UNKNOWN)
    return Mapping(element or UNKNOWN, placed)


def _comprehension(frame: Frame, node: Any, env: Env) -> Value:
    inner = dict(env)
    clause = node.for_in
    while clause is not None:
        bind(frame, clause.target, element_of(frame.expression(clause.iter, inner)), inner)
        for condition in clause.ifs:
            frame.expression(condition.test, inner)
            narrowing.narrow(frame, condition.test, inner, dict(inner))
        clause = clause.inner_for_in
    if isinstance(node, cst.DictComp):
        frame.expression(node.key, inner)
        return Mapping(frame.expression(node.value, inner))
    return Sequence(frame.expression(node.elt, inner))


HANDLERS: Handlers = {
    cst.Integer: _integer,
    cst.Float: _float,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _string,
    cst.FormattedString: _formatted,
    cst.Tuple: _sequence,
    cst.List: _sequence,
    cst.Set: _set,
    cst.Dict: _dict,
    cst.ListComp: _comprehension,
    cst.GeneratorExp: _comprehension,
    cst.SetComp: _comprehension,
    cst.DictComp: _comprehension,
}
