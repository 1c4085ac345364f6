"""What the bodies of rules return, by abstract interpretation: arrays, tuples of them, or more."""

import ast
import dataclasses

from ...model.rulebook import Definition
from .call_flags import DIM, Flags, Layer, decided, flag
from .joins import join, sequence
from .lattice import NONE, UNKNOWN, Sequence, Static, Tensor, Value, least_dims
from .rule_body_calls import Calling, Env, Inner


class Bodies(Calling):
    """Interprets the functions of the rule files."""

    def of(
        self, definition: Definition, flags: Flags = frozenset(), dims: int = 0, along: bool = False
    ) -> Value:
        """The value that a rule returns when its first argument is an array, with these flags.

        `dims`: an array among the arguments has at least so many; `along`: one dim is reduced.
        """
        key = definition.name, flags, dims, along
        return self.once(key, lambda: self._of(definition, flags, dims, along))

    def _of(self, definition: Definition, flags: Flags, dims: int, along: bool) -> Value:
        node = definition.node
        if isinstance(node, ast.FunctionDef):
            return self.function(node, flags=flags, dims=dims, along=along)
        if not isinstance(node, ast.ClassDef):
            return Tensor()
        if "NamedTuple" in {b.id for b in node.bases if isinstance(b, ast.Name)}:
            fields = [n for n in node.body if isinstance(n, ast.AnnAssign)]
            return sequence([Tensor(dims=dims)] * len(fields), True)
        call = self.rulebook.method(definition.name, "__call__")
        return UNKNOWN if call is None else self.function(call)

    def method(self, node: ast.FunctionDef) -> Value:
        """The value of a method, computed once."""
        return self.once((node,), lambda: self.function(node))

    def function(
        self,
        node: ast.FunctionDef,
        tensor: bool = True,
        flags: Flags = frozenset(),
        layer: Layer | None = None,
        dims: int = 0,
        along: bool = False,
    ) -> Value:
        """What a function of a rule file returns; its first parameter is an array if `tensor`."""
        args, env, given = node.args, Env(), dict(flags)
        missing = [None] * (len(args.args) - len(args.defaults))
        defaults = [*missing, *args.defaults, *args.kw_defaults]
        for i, (arg, default) in enumerate(zip([*args.args, *args.kwonlyargs], defaults)):
            constant = default.value if isinstance(default, ast.Constant) else None
            if isinstance(constant, bool):
                env[arg.arg] = flag(given.get(arg.arg, constant))
            elif arg.arg in DIM and along:
                env[arg.arg] = Static(type="int")
            elif arg in args.kwonlyargs or not tensor or i and _is_static(arg, default):
                env[arg.arg] = Static()
            else:
                env[arg.arg] = Tensor(dims=dims if layer is None else 2)
        if args.vararg:
            env[args.vararg.arg] = Static()
        if layer is not None:
            env["self"] = layer
            env["super()"] = dataclasses.replace(layer, after=self.owner(layer.name, node))
        return self.block(node.body, env)[0] or UNKNOWN

    def owner(self, name: str, node: ast.FunctionDef) -> str:
        """Which of the classes that a layer is made of has a method."""
        bases = self.rulebook.bases(name)
        return next((d.name for d in bases if d.method(node.name) is node), name)

    # --- statements ------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt], env: Env) -> tuple[Value | None, bool]:
        """What statements return, and whether for certain; `env` becomes what holds after them."""
        result: Value | None = None
        for statement in body:
            found, left = self._statement(statement, env)
            result = _returned(result, found) if found is not None else result
            if left:
                return result, True
        return result, False

    def _statement(self, node: ast.stmt, env: Env) -> tuple[Value | None, bool]:
        if isinstance(node, ast.Return):
            value = self.expression(node.value, env) if node.value is not None else NONE
            return Tensor() if isinstance(value, Layer) else value, True
        if isinstance(node, ast.Raise):
            return None, True
        if isinstance(node, ast.Assign):
            value = self.expression(node.value, env)
            for target in node.targets:
                _bind(target, value, env)
        elif isinstance(node, ast.FunctionDef):
            env[node.name] = Inner(node)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            made = ast.BinOp(node.target, node.op, node.value)
            env[node.target.id] = self.expression(made, env)
        elif isinstance(node, ast.If):
            return self._branches(node, env)
        elif isinstance(node, (ast.For, ast.While, ast.With)):
            before = dict(env)
            if isinstance(node, ast.For):
                _bind(node.target, _each(self.expression(node.iter, env)), env)
            found, left = self.block(node.body, env)
            if not isinstance(node, ast.With):
                _meet(env, before)
                left = False
            return found, left
        return None, False

    def _branches(self, node: ast.If, env: Env) -> tuple[Value | None, bool]:
        test = decided(self.expression(node.test, env))
        if test is not None:
            return self.block(node.body if test else node.orelse, env)
        other = dict(env)
        first, left = self.block(node.body, env)
        second, right = self.block(node.orelse, other)
        if left:
            env.clear()
            env.update(other)
        elif not right:
            _meet(env, other)
        nothing = first is None and second is None
        return None if nothing else join(first, second), left and right

    # --- expressions -----------------------------------------------------------------------------

    def expression(self, node: ast.expr, env: Env) -> Value:
        match node:
            case ast.Constant():
                return Static(node.value, _type(node.value))
            case ast.Name():
                return env.get(node.id, Static())
            case ast.Attribute():
                return self._attribute(node, env)
            case ast.Call():
                return self.called(node, env)
            case ast.Lambda():
                return Inner(node)
            case ast.BinOp():
                return self._binary(node, env)
            case ast.UnaryOp():
                operand = self.expression(node.operand, env)
                known = decided(operand) if isinstance(node.op, ast.Not) else None
                return operand if known is None else flag(not known)
            case ast.Compare():
                return self._compare(node, env)
            case ast.BoolOp():
                return self._boolean(node, env)
            case ast.IfExp():
                return self._conditional(node, env)
            case ast.Tuple() | ast.List():
                return self._display(node, env)
            case ast.ListComp() | ast.GeneratorExp():
                return Sequence(Tensor())
            case ast.Subscript():
                return self._subscript(node, env)
        return Static()

    def _binary(self, node: ast.BinOp, env: Env) -> Value:
        left, right = self.expression(node.left, env), self.expression(node.right, env)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return Tensor(dims=max(least_dims(left), least_dims(right)))
        if isinstance(left, Sequence) and isinstance(right, Sequence):
            return _joined(left, right) if isinstance(node.op, ast.Add) else left
        return left if isinstance(left, Sequence) else right

    def _compare(self, node: ast.Compare, env: Env) -> Value:
        operator, left = node.ops[0], node.left
        if isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return Static(type="bool")
        if isinstance(left, ast.Attribute) and left.attr == "ndim":
            dims = least_dims(self.expression(left.value, env))
            if dims and ast.unparse(node.comparators[0]) == "0":
                return flag(not isinstance(operator, ast.Eq))
        sides = [self.expression(e, env) for e in [left, *node.comparators]]
        statics = [s for s in sides if isinstance(s, Static)]
        counts = [s.const for s in statics if isinstance(s.const, int)]
        if isinstance(operator, ast.Gt) and len(counts) == 2:
            return flag(counts[0] > counts[1])  # `len(result) > 1`
        if any(isinstance(s, Tensor) for s in sides):
            return Tensor(kind="b", dims=max(map(least_dims, sides)))
        return Static(type="bool")

    def _boolean(self, node: ast.BoolOp, env: Env) -> Value:
        ends = isinstance(node.op, ast.Or)
        values = [self.expression(e, env) for e in node.values]
        if ends in map(decided, values):
            return flag(ends)
        return join(values[0], values[-1])

    def _conditional(self, node: ast.IfExp, env: Env) -> Value:
        test = decided(self.expression(node.test, env))
        if test is not None:
            return self.expression(node.body if test else node.orelse, env)
        return join(self.expression(node.body, env), self.expression(node.orelse, env))

    def _display(self, node: ast.Tuple | ast.List, env: Env) -> Value:
        items = [self.expression(e, env) for e in node.elts if not isinstance(e, ast.Starred)]
        found = sequence(items, isinstance(node, ast.Tuple))
        whole = len(items) == len(node.elts)
        return found if whole else Sequence(found.element, None, found.tuple)


def _is_static(arg: ast.arg, default: ast.expr | None) -> bool:
    """Whether a parameter is no array, by its default, its annotation or its name."""
    words = ast.dump(arg.annotation) if arg.annotation is not None else ""
    none = isinstance(default, ast.Constant) and default.value is None
    stated = default is not None and not none
    return stated or bool(words) and "Tensor" not in words or arg.arg == "dim"


def _type(constant: object) -> str:
    return type(constant).__name__ if constant is not None else "None"


def _bind(target: ast.expr, value: Value, env: Env) -> None:
    if isinstance(target, ast.Name):
        env[target.id] = value
    if not isinstance(target, ast.Tuple):
        return
    starred = any(isinstance(e, ast.Starred) for e in target.elts)
    items = value.items if isinstance(value, Sequence) and not starred else None
    other = value if isinstance(value, Static) else Tensor()
    held = value.element if isinstance(value, Sequence) else other
    for i, element in enumerate(target.elts):
        part = items[i] if items and i < len(items) else held
        if isinstance(element, ast.Starred):
            _bind(element.value, Sequence(part), env)
        else:
            _bind(element, part, env)


def _each(value: Value) -> Value:
    """What iterating over a value gives; over the layers of a layer: what gives an array."""
    if isinstance(value, Sequence):
        return value.element
    return Tensor() if isinstance(value, Tensor) else Static()


def _meet(env: Env, other: Env) -> None:
    """What holds where two ways meet."""
    for name, value in other.items():
        env[name] = join(env.get(name), value)


def _joined(a: Sequence, b: Sequence) -> Sequence:
    """`(values,) + (places,)`"""
    known = a.items is not None and b.items is not None
    items = (*a.items, *b.items) if known else None  # type: ignore[misc]
    first = a.element if a.items != () else None
    return Sequence(join(first, b.element if b.items != () else None), items, a.tuple)


def _returned(before: Value | None, found: Value) -> Value:
    """The value of a rule that returns either; a bool beside an array of bools is Python's."""
    values = [v for v in (before, found) if v is not None]
    python = [v for v in values if isinstance(v, Static) and v.type == "bool"]
    arrays = any(isinstance(v, Tensor) and v.kind == "b" for v in values)
    if len(values) == 2 and len(python) == 1 and arrays:
        return Tensor(kind="b", python=True)
    return join(before, found)
