"""Runs the constructor and the call of a layer's definition, on what is known of the arguments.

    self.weight = Parameter(...) if affine else None

is an array, for certain where `affine` is True, and none where it is False. Nothing is found by the
names of layers: what they hold and do is what their definitions say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from .layer_calls import Calls
from .layer_expressions import Effects, Env
from .layer_values import (
    NONE,
    UNKNOWN,
    Array,
    Constant,
    Keys,
    Part,
    Self,
    Tuple,
    Value,
    element_of,
    join,
    truth,
)


class Body(Calls):
    """One layer while it is built and called."""

    def build(self, given: Mapping[str, Value]) -> None:
        """Run the constructor."""
        found = self.method("__init__")
        if found is not None:
            self.run(*found, {**given})

    def call(self) -> None:
        """Run the call, with effects of its own."""
        self.effects, self.building = Effects(), False
        found = self.method("__call__")
        if found is not None:
            self.run(*found, {})

    # --- functions -------------------------------------------------------------------------------

    def run(self, node: ast.FunctionDef, owner: str, given: Env) -> Value:
        """What a method returns; what it sets stays set."""
        if node in self.active:
            return UNKNOWN
        args = node.args
        env: Env = {a.arg: UNKNOWN for a in [*args.args, *args.kwonlyargs]}
        if args.vararg:
            env[args.vararg.arg] = UNKNOWN
        if args.kwarg:
            env[args.kwarg.arg] = UNKNOWN
        env.update({name: value for name, value in given.items() if name in env})
        env[args.args[0].arg], env["super()"] = Self(), Constant(owner)
        self.active.append(node)
        result, _ = self.block(node.body, env)
        self.active.pop()
        return UNKNOWN if result is None else result

    # --- statements ------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt], env: Env) -> tuple[Value | None, bool]:
        """What statements return, and whether they leave for certain."""
        result: Value | None = None
        for statement in body:
            found, left = self.statement(statement, env)
            if found is not None:
                result = found if result is None else join(result, found)
            if left:
                return result, True
        return result, False

    def statement(self, node: ast.stmt, env: Env) -> tuple[Value | None, bool]:
        match node:
            case ast.Return():
                return NONE if node.value is None else self.expression(node.value, env), True
            case ast.Raise():
                return None, True
            case ast.Assign():
                value = self.expression(node.value, env)
                for target in node.targets:
                    self.bind(target, value, env)
            case ast.AugAssign():
                self.augment(node, env)
            case ast.Expr():
                self.expression(node.value, env)
            case ast.If():
                return self.branches(node, env)
            case ast.For():
                return self.loop(node, env)
            case ast.Try():
                return self.block(node.body, env)
        return None, False

    def branches(self, node: ast.If, env: Env) -> tuple[Value | None, bool]:
        test = truth(self.expression(node.test, env))
        if test is not None:
            return self.block(node.body if test else node.orelse, env)
        before, fields = dict(env), dict(self.fields)
        first, left = self.block(node.body, env)
        then, self.fields = (dict(env), self.fields), fields
        env.clear()
        env.update(before)
        second, right = self.block(node.orelse, env)
        if right:
            env.clear()
            env.update(then[0])
            self.fields = then[1]
        elif not left:
            _meet(env, then[0])
            _meet(self.fields, then[1])
            self.fields = {name: self.fields[name] for name in {**then[1], **self.fields}}
        returned = [value for value in (first, second) if value is not None]
        result = returned[0] if len(returned) == 1 else None
        return join(*returned) if len(returned) == 2 else result, left and right

    def loop(self, node: ast.For, env: Env) -> tuple[Value | None, bool]:
        """A loop is taken to run at least once; over keys that are known, once for each."""
        iterated = self.expression(node.iter, env)
        if isinstance(iterated, Keys):
            result: Value | None = None
            for key, certain, value in iterated.keys:
                before = dict(self.fields)
                pair = isinstance(node.target, ast.Tuple)
                bound = Tuple((Constant(key), value)) if pair else Constant(key)
                self.bind(node.target, bound, env)
                result, _ = self.block(node.body, env)
                if not certain:
                    _meet(self.fields, before)
            return result, False
        self.bind(node.target, element_of(iterated), env)
        return self.block(node.body, env)[0], False

    def augment(self, node: ast.AugAssign, env: Env) -> None:
        old, value = self.expression(node.target, env), self.expression(node.value, env)
        if isinstance(old, Keys) and isinstance(value, Keys):
            self.bind(node.target, Keys((*old.keys, *value.keys)), env)
        else:
            self.bind(node.target, UNKNOWN, env)

    # --- stores ----------------------------------------------------------------------------------

    def bind(self, target: ast.expr, value: Value, env: Env) -> None:
        if isinstance(target, ast.Name):
            env[target.id] = value
        elif isinstance(target, ast.Attribute):
            if isinstance(self.expression(target.value, env), Self):
                self.set(target.attr, value)
        elif isinstance(target, ast.Tuple):
            fits = isinstance(value, Tuple) and len(value.items) == len(target.elts)
            for i, inner in enumerate(target.elts):
                self.bind(inner, value.items[i] if fits else UNKNOWN, env)  # type: ignore[attr-defined]

    def set(self, name: str, value: Value) -> None:
        """An attribute gets a value: what holds an array goes on to hold it."""
        old = self.fields.get(name)
        if isinstance(old, Array) and not isinstance(value, Array):
            if value == NONE and self.building:
                self.fields[name] = value
            elif old.kind == "buffer" and not self.building:
                self.effects.writes = True
        else:
            self.fields[name] = value

    def arrays(self) -> Iterator[tuple[str, Array]]:
        return ((name, v) for name, v in self.fields.items() if isinstance(v, Array))

    def parts(self) -> Iterator[tuple[str, Part]]:
        return ((name, v) for name, v in self.fields.items() if isinstance(v, Part))


def _meet(known: Env, other: Env) -> None:
    """What holds where two ways meet: an array that one of them has is there under some."""
    for name in {**known, **other}:
        a, b = known.get(name), other.get(name)
        if a is not None and b is not None:
            known[name] = join(a, b)
        else:
            only = a if b is None else b
            assert only is not None
            known[name] = join(only, NONE) if isinstance(only, (Array, Part)) else UNKNOWN
