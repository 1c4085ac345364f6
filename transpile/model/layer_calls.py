"""The calls in a layer's definition: its methods, those of its bases, what it builds and runs."""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from .layer_expressions import Env, Expressions
from .layer_values import (
    NONE,
    UNKNOWN,
    Array,
    Constant,
    Given,
    Held,
    Keys,
    Part,
    Self,
    Tuple,
    Value,
    element_of,
    name_of,
)
from .rulebook import Definition, parameters

if TYPE_CHECKING:
    from .layers import Layer

Args = list[Value] | None
Words = Env | None
_ARRAYS = {"Parameter": "param", "Buffer": "buffer"}
_CASTS = {"float": float, "int": int, "bool": bool, "str": str}
_SAME = ("deepcopy", "list", "tuple", "with_array", "reversed")  # what they give is what they get


class Calls(Expressions):
    """One layer while it is built and called: its calls."""

    def method(self, name: str, after: str = "") -> tuple[ast.FunctionDef, str] | None:
        """A method and the class that has it; `after`: as super() finds it in that class."""
        return self.rulebook.inherited(self.name, name, after)

    def run(self, node: ast.FunctionDef, owner: str, given: Env) -> Value:
        raise NotImplementedError

    def set(self, name: str, value: Value) -> None:
        raise NotImplementedError

    def called(self, node: ast.Call, env: Env) -> Value:
        if isinstance(node.func, ast.Name):
            return self._named(node, node.func.id, env)
        args, words = self.spread(node.args, env), self._words(node, env)
        if not isinstance(node.func, ast.Attribute):
            return self._run_value(self.expression(node.func, env))
        base, name = self._receiver(node.func.value, env), node.func.attr
        if base is None:
            return self._inherited(name, args, words, env)
        if isinstance(base, Self):
            return self._own(name, args, words)
        if isinstance(base, Part) and name in ("append", "extend") and args:
            self._grow(node.func.value, args[0] if name == "append" else element_of(args[0]))
        if isinstance(base, Keys) and name in ("items", "keys"):
            return base
        return args[0] if name in _SAME and args else UNKNOWN

    def _receiver(self, node: ast.expr, env: Env) -> Value | None:
        """What a method is of; None for `super()`."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "super":
                return None
        return self.expression(node, env)

    def _named(self, node: ast.Call, name: str, env: Env) -> Value:
        if name == "draw_key":
            self.effects.draws = True
            return UNKNOWN
        args = self.spread(node.args, env) or []
        self._words(node, env)
        if name in env:
            return self._run_value(env[name])
        if name in ("setattr", "getattr") and len(args) > 1 and isinstance(args[0], Self):
            return self._by_name(args)
        if name in _ARRAYS:
            return Array(_ARRAYS[name])
        if name == "Flat":
            inner = args[0]
            return dataclasses.replace(inner if isinstance(inner, Part) else Part(None), flat=True)
        if name == "enumerate" and args:
            return Held(Tuple((UNKNOWN, element_of(args[0]))))
        if name in _SAME and args:
            return args[0]
        if name in _CASTS and args and isinstance(args[0], Constant):
            return Constant(_CASTS[name](args[0].constant))
        definition = self.rulebook.definitions.get(name)
        if definition is not None and self.rulebook.is_module(definition):
            return self._make(definition, args)
        return UNKNOWN

    def _by_name(self, args: list[Value]) -> Value:
        """`setattr(self, name, value)`, `getattr(self, name)`."""
        name = name_of(args[1])
        if len(args) > 2 and name is not None and isinstance(args[2], Array):
            self.set(name, args[2])
        found = self.fields.get(name) if name is not None else None
        if isinstance(found, Array) and len(args) > 2 and args[2] not in (NONE, found):
            self.set(name or "", args[2])
        return Part(None) if found is None and name is None else found or UNKNOWN

    def _make(self, definition: Definition, args: list[Value]) -> Value:
        """A layer that this one builds, with what it is given to hold."""
        layer = self.layer_of(definition.name)
        if layer is not None and layer.first_values:
            self.effects.draws = True
        held = [element_of(a) if isinstance(a, (Tuple, Held)) else a for a in args]
        return Part(definition.name, tuple(v for v in held if isinstance(v, (Part, Given))))

    def _grow(self, node: ast.expr, value: Value) -> None:
        """`self.tail.append(layer)`."""
        if isinstance(node, ast.Attribute):
            old = self.fields.get(node.attr)
            if isinstance(old, Part):
                grown = dataclasses.replace(old, elements=(*old.elements, value))
                self.fields[node.attr] = grown

    def _inherited(self, name: str, args: Args, words: Words, env: Env) -> Value:
        """`super().__init__(…)`, `super().__call__(x)`."""
        owner = env["super()"]
        assert isinstance(owner, Constant)
        found = self.method(name, owner.constant)
        return UNKNOWN if found is None else self._enter(found, name, args, words)

    def _own(self, name: str, args: Args, words: Words) -> Value:
        found = self.method(name)
        if found is None:
            return self._run_value(self.field(name))
        return self._enter(found, name, args, words)

    def _enter(
        self, found: tuple[ast.FunctionDef, str], name: str, args: Args, words: Words
    ) -> Value:
        """A method of the layer, with these arguments; of none where they are not all known."""
        if name == "__init__" and not self.building:
            self.lazy = True
            return UNKNOWN
        method, owner = found
        known = tuple(parameters(method.args))[1:]
        given: Env = {}
        if args is not None and words is not None:
            usual = {p.name: p.default for p in known if p.default is not None}
            given = {word: self.expression(value, {}) for word, value in usual.items()}
            given |= dict(zip([p.name for p in known if p.kind == "positional"], args))
            given |= words
        return self.run(method, owner, given)

    def _words(self, node: ast.Call, env: Env) -> Words:
        """The arguments by name; None where they are not all known."""
        found: Env = {}
        whole = True
        for keyword in node.keywords:
            value = self.expression(keyword.value, env)
            if keyword.arg is not None:
                found[keyword.arg] = value
            elif isinstance(value, Keys) and all(certain for _, certain, _ in value.keys):
                found |= {key: inner for key, _, inner in value.keys}
            else:
                whole = False
        return found if whole else None

    def _run_value(self, value: Value) -> Value:
        """A call of what a layer holds, or was given."""
        if isinstance(value, Given):
            self.effects.open = True
        elif isinstance(value, Part):
            layer = self.layer_of(value.layer) if value.layer is not None else None
            if layer is None or value.other:
                self.effects.open = True
            if layer is not None:
                self._run_layer(layer, value)
        return UNKNOWN

    def _run_layer(self, layer: Layer, value: Part) -> None:
        self.effects.draws |= layer.draws
        self.effects.mode |= layer.mode
        self.effects.writes |= layer.writes
        if layer.open and not value.elements:
            self.effects.open = True
        for element in value.elements if layer.open else ():
            self._run_value(element)
