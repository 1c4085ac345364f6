"""The transfer function of each class of expressions: names, literals, displays, and the others."""

import dataclasses
from typing import Any

from ...model import expressions as nodes
from ...model import operators as operator_nodes
from ...model.expressions import Starred
from . import assignments, attributes, calls, functions, narrowing, operators, subscripts
from .container_aliases import at_site, whole
from .frame import Env, Frame, Handlers
from .joins import join, sequence
from .lattice import PLACED, STRING, UNKNOWN, External, Mapping, Sequence, Static, Value, element_of

# --- names ---------------------------------------------------------------------------------------


def name(frame: Frame, node: nodes.Name, env: Env) -> Value:
    found = env.get(node.id)
    if found is None:
        found = frame.closure.get(node.id)
    return whole(frame, node, _global(frame, node.id) if found is None else found)


def _global(frame: Frame, name: str) -> Value:
    facts, file = frame.facts, frame.file
    imports = facts.project.names[file].imports
    if frame.function is None and name in imports:  # what the file defines below is not there yet
        found: Any = facts.project.meaning(imports[name])
    else:
        found = facts.project.definition(file, name)
    if isinstance(found, str):
        known = found == "torch" or found.startswith("torch.") or found in facts.rulebook.by_torch
        return attributes.torch_name(frame, found) if known else External(found)
    value = frame.defined(found)
    if value is None:
        value = facts.read("global", file, name)
    if value is not None:
        return value
    for star in facts.project.names[file].stars:
        if star.startswith("torch") and facts.rulebook.find(f"{star}.{name}"):
            return attributes.torch_name(frame, f"{star}.{name}")
    return External("builtins." + name)


# --- literals and displays -----------------------------------------------------------------------


def constant(frame: Frame, node: nodes.Constant, env: Env) -> Value:
    kind = _TYPES.get(node.constant.__class__)
    return UNKNOWN if kind is None else Static(node.constant, kind)


_TYPES: dict[type, str] = {
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
    bytes: "str",
    type(None): "None",
}


def formatted(frame: Frame, node: nodes.FormattedString, env: Env) -> Value:
    for part in node.insertions:
        frame.expression(part, env)
    return STRING


def display(frame: Frame, node: nodes.Display, env: Env) -> Value:
    items: list[Value] = []
    exact = node.kind != "set"
    for element in node.elements:
        if not isinstance(element, Starred):
            items.append(frame.expression(element, env))
            continue
        value = frame.expression(element.expression, env)
        if isinstance(value, Sequence) and value.items is not None:
            items.extend(value.items)
        else:
            items.append(element_of(value))
            exact = False
    if node.kind == "set":
        return UNKNOWN
    found = sequence(items, node.kind == "tuple")
    return at_site(node, found if exact else dataclasses.replace(found, items=None))


def dictionary(frame: Frame, node: nodes.Dictionary, env: Env) -> Value:
    element: Value | None = None
    placed = False
    for key, value in node.pairs:
        if key is not None:
            word = frame.expression(key, env)
            named = word.const if isinstance(word, Static) else None
            placed = placed or isinstance(named, str) and named in PLACED
            element = join(element, frame.expression(value, env))
        else:
            other = frame.expression(value, env)
            placed = placed or isinstance(other, Mapping) and other.placed
            element = join(element, other.element if isinstance(other, Mapping) else UNKNOWN)
    return at_site(node, Mapping(element or UNKNOWN, placed))


def comprehension(frame: Frame, node: nodes.Comprehension, env: Env) -> Value:
    inner = dict(env)
    for clause in node.clauses:
        iterated = element_of(frame.expression(clause.iterable, inner))
        assignments.bind(frame, clause.target, iterated, inner)
        for condition in clause.conditions:
            frame.expression(condition, inner)
            narrowing.narrow(frame, condition, inner, dict(inner))
    if node.key is not None:
        frame.expression(node.key, inner)
        return at_site(node, Mapping(frame.expression(node.element, inner)))
    return at_site(node, Sequence(frame.expression(node.element, inner)))


# --- what may be a container under several names --------------------------------------------------


def attribute(frame: Frame, node: nodes.Attribute, env: Env) -> Value:
    return whole(frame, node, attributes.attribute(frame, node, env))


def subscript(frame: Frame, node: nodes.Subscript, env: Env) -> Value:
    return whole(frame, node, subscripts.subscript(frame, node, env))


def call(frame: Frame, node: nodes.Call, env: Env) -> Value:
    found = at_site(node, calls.call(frame, node, env))
    made_here = node in getattr(found, "sites", ())
    return found if made_here else whole(frame, node, found)


# --- others --------------------------------------------------------------------------------------


def named(frame: Frame, node: nodes.NamedExpression, env: Env) -> Value:
    value = frame.expression(node.expression, env)
    assignments.bind(frame, node.target, value, env)
    return value


def opaque(frame: Frame, node: nodes.OpaqueExpression, env: Env) -> Value:
    values = [frame.expression(inner, env) for inner in node.inside]
    if node.word == "yield" and values:
        frame.yields = join(frame.yields, values[0])
    elif node.word == "yield from":
        frame.yields = join(frame.yields, element_of(values[0]))
    return UNKNOWN


def starred(frame: Frame, node: nodes.Starred, env: Env) -> Value:
    return frame.expression(node.expression, env)


TRANSFER: Handlers = {
    nodes.Name: name,
    nodes.Constant: constant,
    nodes.FormattedString: formatted,
    nodes.Display: display,
    nodes.Dictionary: dictionary,
    nodes.Comprehension: comprehension,
    nodes.NamedExpression: named,
    nodes.OpaqueExpression: opaque,
    nodes.Starred: starred,
    nodes.Lambda: functions.lambda_,
    nodes.Attribute: attribute,
    nodes.Subscript: subscript,
    nodes.Call: call,
    operator_nodes.Unary: operators.unary,
    operator_nodes.Binary: operators.binary_expression,
    operator_nodes.Compare: operators.compare,
    operator_nodes.Boolean: operators.boolean,
    operator_nodes.Conditional: operators.conditional,
}
