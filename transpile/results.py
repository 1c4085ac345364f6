"""What kind of value a rule returns, read off its body, so that the engine need not know operations by name."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable
from typing import Any

from .rulebook import Definition, Rulebook
from .values import NONE, UNKNOWN, Sequence, Static, Tensor, Torch, Value, join

_STATIC_JAX = {"finfo", "iinfo", "dtype", "shape", "ndim", "issubdtype", "iscomplexobj", "result_type", "promote_types", "broadcast_shapes", "default_backend"}
_SEQUENCE_JAX = {"split", "array_split", "meshgrid", "broadcast_arrays", "nonzero", "unravel_index", "top_k", "svd", "qr", "eigh", "eig", "slogdet", "frexp", "modf", "divmod", "tril_indices", "triu_indices"}
_STATIC_BUILTINS = {"len": "int", "int": "int", "float": "float", "bool": "bool", "isinstance": "bool", "range": "range", "str": "str", "getattr": "", "hasattr": "bool", "callable": "bool"}
_STATIC_ATTRIBUTES = {"shape": "shape", "ndim": "int", "size": "int", "dtype": "dtype", "itemsize": "int", "nbytes": "int"}
_KINDS = {"zeros": "f", "ones": "f", "normal": "f", "uniform": "f", "argmax": "i", "argmin": "i", "argsort": "i", "count_nonzero": "i"} | {
    name: "b" for name in ("isnan", "isinf", "isfinite", "isclose", "logical_and", "logical_or", "logical_not", "logical_xor", "isin", "signbit", "any", "all")
}


class Results:
    """Abstract results of rules, computed once for each definition."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self.known: dict[str, Value] = {}
        self.known_plain: dict[str, Value] = {}
        self.methods: dict[ast.FunctionDef, Value] = {}

    def of(self, definition: Definition) -> Value:
        """The value that a rule returns when its first argument is a tensor."""
        if definition.name not in self.known:
            self.known[definition.name] = Tensor()  # while it is being computed: recursion
            node = definition.node
            if isinstance(node, ast.FunctionDef):
                self.known[definition.name] = self._function(node)
            elif isinstance(node, ast.ClassDef):
                call = self.rulebook.method(definition.name, "__call__")
                bases = {b.id for b in node.bases if isinstance(b, ast.Name)}
                if bases & {"NamedTuple"}:
                    self.known[definition.name] = Sequence(Tensor(), None, True)
                else:
                    self.known[definition.name] = UNKNOWN if call is None else self._function(call)
        return self.known[definition.name]

    def plain(self, definition: Definition) -> Value:
        """The value that a rule returns when no argument is a tensor: `_pair(stride)` is two numbers."""
        if definition.name not in self.known_plain:
            node = definition.node
            self.known_plain[definition.name] = self._function(node, tensor=False) if isinstance(node, ast.FunctionDef) else Tensor()
        return self.known_plain[definition.name]

    def cast(self, result: Value, arguments: Iterable[Any]) -> Value:
        """The result of a call with these arguments (keyword, star, value, node): a dtype among them is its kind."""
        for keyword, _, value, _ in arguments:
            if not isinstance(result, Tensor):
                return result
            if isinstance(value, Torch) and (dtype := self.rulebook.constant(value.name)) is not None:
                result = dataclasses.replace(result, kind=_cast(dtype) or result.kind)
            elif keyword == "dtype" and value != NONE:
                result = dataclasses.replace(result, kind=None)
        return result

    def call(self, definition: Definition) -> Value:
        """The value of calling a layer, its new state left out."""
        method = self.rulebook.method(definition.name, "__call__")
        if method is None:
            return Tensor()
        result = self.method(method)
        if "state" in self.rulebook.effects(definition.name):
            if isinstance(result, Sequence) and result.items is not None:
                return result.items[0]
            return Tensor()
        return result

    def method(self, node: ast.FunctionDef) -> Value:
        """The value of a method, computed once."""
        if node not in self.methods:
            self.methods[node] = self._function(node)
        return self.methods[node]

    def _function(self, node: ast.FunctionDef, tensor: bool = True) -> Value:
        env: dict[str, Value] = {}
        defaults = [*([None] * (len(node.args.args) - len(node.args.defaults))), *node.args.defaults]
        for i, (arg, default) in enumerate(zip(node.args.args, defaults)):
            words = ast.dump(arg.annotation) if arg.annotation is not None else ""
            static = default is not None and not (isinstance(default, ast.Constant) and default.value is None)
            env[arg.arg] = Static() if (static or words and "Tensor" not in words or arg.arg == "dim") and i or not tensor else Tensor()
        if node.args.vararg:
            env[node.args.vararg.arg] = Static()
        for arg in node.args.kwonlyargs:
            env[arg.arg] = Static()
        result: Value | None = None
        for statement in ast.walk(node):
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
                value = self.expression(statement.value, env)
                if isinstance(target, ast.Name):
                    env[target.id] = join(env[target.id], value) if target.id in env else value
                elif isinstance(target, ast.Tuple):
                    for i, name in enumerate(target.elts):
                        if isinstance(name, ast.Name):
                            items = value.items if isinstance(value, Sequence) else None
                            env[name.id] = items[i] if items and i < len(items) else value.element if isinstance(value, Sequence) else value if isinstance(value, Static) else Tensor()
        for statement in ast.walk(node):
            if isinstance(statement, ast.Return) and statement.value is not None:
                result = join(result, self.expression(statement.value, env))
        return result or UNKNOWN

    def expression(self, node: ast.expr, env: dict[str, Value]) -> Value:
        if isinstance(node, ast.Constant):
            return Static(node.value, type(node.value).__name__ if node.value is not None else "None")
        if isinstance(node, ast.Name):
            return env.get(node.id, Static())
        if isinstance(node, ast.Attribute):
            if node.attr in _STATIC_ATTRIBUTES:
                return Static(type=_STATIC_ATTRIBUTES[node.attr])
            base = self.expression(node.value, env)
            return Tensor() if isinstance(base, Tensor) else Static()
        if isinstance(node, ast.Call):
            return self._call(node, env)
        if isinstance(node, ast.BinOp):
            left, right = self.expression(node.left, env), self.expression(node.right, env)
            if isinstance(left, Tensor) or isinstance(right, Tensor):
                return Tensor()
            return left if isinstance(left, Sequence) else right
        if isinstance(node, ast.UnaryOp):
            return self.expression(node.operand, env)
        if isinstance(node, ast.Compare):
            if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                return Static(type="bool")
            sides = [self.expression(e, env) for e in [node.left, *node.comparators]]
            return Tensor(kind="b") if any(isinstance(s, Tensor) for s in sides) else Static(type="bool")
        if isinstance(node, ast.BoolOp):
            return join(self.expression(node.values[0], env), self.expression(node.values[-1], env))
        if isinstance(node, ast.IfExp):
            return join(self.expression(node.body, env), self.expression(node.orelse, env))
        if isinstance(node, (ast.Tuple, ast.List)):
            items = [self.expression(e, env) for e in node.elts if not isinstance(e, ast.Starred)]
            whole = len(items) == len(node.elts)
            element: Value | None = None
            for item in items:
                element = join(element, item)
            return Sequence(element or UNKNOWN, tuple(items) if whole else None, isinstance(node, ast.Tuple))
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return Sequence(Tensor())
        if isinstance(node, ast.Subscript):
            base = self.expression(node.value, env)
            if isinstance(base, Sequence):
                if base.items and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int) and node.slice.value < len(base.items):
                    return base.items[node.slice.value]
                return base if isinstance(node.slice, ast.Slice) else base.element
            if isinstance(base, Static) and base.type == "shape" and not isinstance(node.slice, ast.Slice):
                return Static(type="int")
            return base
        return Static()

    def _call(self, node: ast.Call, env: dict[str, Value]) -> Value:
        function = node.func
        if isinstance(function, ast.Name):
            name = function.id
            if name in ("tuple", "list") and node.args:
                inner = self.expression(node.args[0], env)
                element = inner.element if isinstance(inner, Sequence) else Static() if isinstance(inner, Static) else Tensor()
                return Sequence(element, None, name == "tuple")
            if name in _STATIC_BUILTINS:
                return Static(type=_STATIC_BUILTINS[name])
            if name in ("min", "max", "sum", "any", "all", "sorted", "zip", "enumerate", "reversed"):
                return Static()
            if name in self.rulebook.definitions:
                return self.of(self.rulebook.definitions[name])
            return Tensor() if isinstance(env.get(name), Tensor) else UNKNOWN
        if isinstance(function, ast.Attribute):
            path = ast.unparse(function)
            head = path.split(".")[0]
            if head in ("jnp", "jax", "lax"):
                if function.attr in _STATIC_JAX:
                    return Static(type="finfo" if function.attr in ("finfo", "iinfo") else "")
                if function.attr in _SEQUENCE_JAX:
                    return Sequence(Tensor())
                dtypes = [ast.unparse(k.value) for k in node.keywords if k.arg == "dtype"]
                return Tensor(kind=_cast(dtypes[0]) if dtypes else _KINDS.get(function.attr))
            if head in ("math", "np", "functools"):
                return Static()
            base = self.expression(function.value, env)
            if function.attr == "item" and isinstance(base, Tensor):
                return Tensor()
            if not isinstance(base, Tensor):
                return Static()
            if function.attr == "astype" and node.args:
                return Tensor(kind=_cast(ast.unparse(node.args[0])))
            return Tensor(kind=_KINDS.get(function.attr))
        return Tensor()


def _cast(dtype: str) -> str | None:
    """The kind of a dtype as a rule writes it: `int`, `jnp.int32`, `bool`; None where it is a parameter."""
    name = dtype.removeprefix("jnp.")
    if name == "uint8":
        return "u"
    for kind, stems in {"b": ("bool",), "i": ("int", "uint"), "f": ("float", "bfloat"), "c": ("complex",)}.items():
        if name.startswith(stems) and name.rstrip("_0123456789").endswith(stems):
            return kind
    return None
