"""The expressions of a layer's definition: what they are, and what they draw, ask for and run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .layer_values import (
    NONE,
    UNKNOWN,
    Constant,
    Function,
    Given,
    Held,
    Keys,
    Part,
    Pattern,
    Self,
    Tuple,
    Value,
    element_of,
    is_none,
    join,
    joined,
    truth,
)
from .rulebook import Rulebook

if TYPE_CHECKING:
    from .layers import Layer

Env = dict[str, Value]


@dataclass
class Effects:
    """What running a layer has done."""

    draws: bool = False
    mode: bool = False  # it asked for the mode
    writes: bool = False  # a buffer got another value
    open: bool = False  # a module ran that the layer was given


class Expressions:
    """One layer while it is built and called: its expressions."""

    def __init__(
        self, rulebook: Rulebook, name: str, layer_of: Callable[[str], Layer | None]
    ) -> None:
        self.rulebook, self.name, self.layer_of = rulebook, name, layer_of
        self.bases = list(rulebook.bases(name))
        self.fields: Env = {}
        self.effects = Effects()
        self.building = True
        self.lazy = False  # a call builds it anew
        self.active: list[ast.FunctionDef] = []

    def called(self, node: ast.Call, env: Env) -> Value:
        raise NotImplementedError

    def bind(self, target: ast.expr, value: Value, env: Env) -> None:
        raise NotImplementedError

    def expression(self, node: ast.expr, env: Env) -> Value:
        match node:
            case ast.Constant():
                return Constant(node.value)
            case ast.Name():
                return env[node.id] if node.id in env else self._global(node.id)
            case ast.Attribute():
                return self._attribute(node, env)
            case ast.Call():
                return self.called(node, env)
            case ast.BoolOp():
                return self._boolean(node, env)
            case ast.UnaryOp():
                value = truth(self.expression(node.operand, env))
                negated = isinstance(node.op, ast.Not) and value is not None
                return Constant(not value) if negated else UNKNOWN
            case ast.Compare():
                return self._compare(node, env)
            case ast.IfExp():
                test = truth(self.expression(node.test, env))
                if test is not None:
                    return self.expression(node.body if test else node.orelse, env)
                return join(self.expression(node.body, env), self.expression(node.orelse, env))
            case ast.Tuple() | ast.List():
                items = self.spread(node.elts, env)
                return UNKNOWN if items is None else Tuple(tuple(items))
            case ast.Dict():
                return self._dict(node, env)
            case ast.JoinedStr():
                return self._string(node, env)
            case ast.ListComp() | ast.GeneratorExp():
                for made in node.generators:
                    self.bind(made.target, element_of(self.expression(made.iter, env)), env)
                return Held(self.expression(node.elt, env))
            case ast.Subscript():
                self.expression(node.slice, env)
                base = self.expression(node.value, env)
                return element_of(base) if isinstance(base, (Part, Held)) else UNKNOWN
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child, env)
        return UNKNOWN

    def _global(self, name: str) -> Value:
        definition = self.rulebook.definitions.get(name)
        return Function() if definition is not None else UNKNOWN

    def _attribute(self, node: ast.Attribute, env: Env) -> Value:
        base = self.expression(node.value, env)
        if not isinstance(base, Self):
            return UNKNOWN
        if node.attr == "training":
            self.effects.mode = True
            return UNKNOWN
        return self.field(node.attr)

    def field(self, name: str) -> Value:
        """What an attribute of the layer is, as it was set, or as its class has it."""
        if name in self.fields:
            return self.fields[name]
        for definition in self.bases:
            for s in getattr(definition.node, "body", ()):
                if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == name:
                    return self.expression(s.value, {})
        return UNKNOWN

    def _boolean(self, node: ast.BoolOp, env: Env) -> Value:
        """What stands behind what decides is not run."""
        ends, found = isinstance(node.op, ast.Or), []
        for operand in node.values:
            value = self.expression(operand, env)
            found.append(value)
            if truth(value) is ends:
                return value if len(found) == 1 else Constant(ends)
        decided = [truth(value) for value in found]
        return joined(found) or UNKNOWN if None in decided else found[-1]

    def _compare(self, node: ast.Compare, env: Env) -> Value:
        values = [self.expression(e, env) for e in (node.left, *node.comparators)]
        operator, right = node.ops[0], values[-1]
        if isinstance(operator, (ast.Is, ast.IsNot)) and right == NONE:
            none = is_none(values[0])
            return UNKNOWN if none is None else Constant(none is isinstance(operator, ast.Is))
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            if all(isinstance(v, Constant) for v in values):
                return Constant((len(set(values)) == 1) is isinstance(operator, ast.Eq))
            same = isinstance(values[0], Given) and len(set(values)) == 1
            return Constant(isinstance(operator, ast.Eq)) if same else UNKNOWN
        return UNKNOWN

    def _dict(self, node: ast.Dict, env: Env) -> Value:
        values = [self.expression(value, env) for value in node.values]
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if all(isinstance(key, str) for key in keys):
            return Keys(tuple((str(key), True, value) for key, value in zip(keys, values)))
        return Held(joined(values) or UNKNOWN)

    def spread(self, nodes: list[ast.expr], env: Env) -> list[Value] | None:
        """The values of these, `*sizes` as what is in it; None where that is not known."""
        found: list[Value] = []
        whole = True
        for node in nodes:
            value = self.expression(node.value if isinstance(node, ast.Starred) else node, env)
            if isinstance(node, ast.Starred):
                whole = whole and isinstance(value, Tuple)
                found += value.items if isinstance(value, Tuple) else ()
            else:
                found.append(value)
        return found if whole else None

    def _string(self, node: ast.JoinedStr, env: Env) -> Value:
        """The text of an f-string, with what is not known as holes."""
        text, whole = "", True
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.expression(part.value, env)
                known = isinstance(value, Constant)
                hole = value.name if isinstance(value, Given) else ast.unparse(part.value)
                text += str(value.constant) if isinstance(value, Constant) else f"{{{hole}}}"
                whole = whole and known
            elif isinstance(part, ast.Constant):
                text += str(part.value)
        return Constant(text) if whole else Pattern(text)
