"""What the bodies of rules return, by abstract interpretation: tensors, tuples of them, or what Python knows."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable
from collections.abc import Sequence as TypingSequence
from dataclasses import dataclass
from typing import Any

from .joins import join
from .lattice import (
    MISSING,
    NONE,
    UNKNOWN,
    Sequence,
    Static,
    Tensor,
    Value,
    least_dims,
    sequence,
)
from .rules import Definition, Parameter, Rulebook

Flags = frozenset[
    tuple[str, bool | None]
]  # arguments that are not what they are by default, None where only the run tells
Env = dict[str, Value]


@dataclass(frozen=True)
class _Inner(Value):
    """A function inside a rule."""

    node: Any = None


@dataclass(frozen=True)
class Layer(Tensor):
    """The layer that a method is of."""

    name: str = ""
    flags: Flags = frozenset()


_STATIC_JAX = {
    "finfo",
    "iinfo",
    "dtype",
    "shape",
    "ndim",
    "issubdtype",
    "iscomplexobj",
    "result_type",
    "promote_types",
    "broadcast_shapes",
    "default_backend",
}
_SEQUENCE_JAX = {
    "split",
    "array_split",
    "meshgrid",
    "broadcast_arrays",
    "nonzero",
    "unravel_index",
    "top_k",
    "svd",
    "qr",
    "eigh",
    "eig",
    "slogdet",
    "frexp",
    "modf",
    "divmod",
    "tril_indices",
    "triu_indices",
    "unstack",
}
_STATIC_BUILTINS = {
    "len": "int",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "isinstance": "bool",
    "range": "range",
    "str": "str",
    "getattr": "",
    "hasattr": "bool",
    "callable": "bool",
}
_STATIC_ATTRIBUTES = {
    "shape": "shape",
    "ndim": "int",
    "size": "int",
    "dtype": "dtype",
    "itemsize": "int",
    "nbytes": "int",
}
_KINDS = {
    "zeros": "f",
    "ones": "f",
    "normal": "f",
    "uniform": "f",
    "argmax": "i",
    "argmin": "i",
    "argsort": "i",
    "count_nonzero": "i",
} | {
    name: "b"
    for name in (
        "isnan",
        "isinf",
        "isfinite",
        "isclose",
        "logical_and",
        "logical_or",
        "logical_not",
        "logical_xor",
        "isin",
        "signbit",
        "any",
        "all",
        "array_equal",
    )
}

_MORE_DIMS = {"expand_dims", "stack"}  # which give one dim more than they are given
_DIMS = {
    "arange": 1,
    "concatenate": 1,
    "eye": 2,
    "linspace": 1,
    "ravel": 1,
    "reshape": 1,
}  # which give at least so many, whatever they are given
_WITHOUT = {
    "det",
    "trace",
    "squeeze",
    "zeros",
    "ones",
    "full",
    "normal",
    "uniform",
    "array",
    "asarray",
    "dot",
    "vdot",
}  # which may give none
_REDUCTIONS = {
    "sum",
    "mean",
    "max",
    "min",
    "prod",
    "any",
    "all",
    "std",
    "var",
    "median",
    "argmax",
    "argmin",
    "count_nonzero",
    "nansum",
    "nanmean",
    "logsumexp",
}


class Bodies:
    """Interprets the functions of the rule files."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self.known: dict[tuple[Any, ...], Value] = {}

    def of(
        self, definition: Definition, flags: Flags = frozenset(), dims: int = 0, along: bool = False
    ) -> Value:
        """The value that a rule returns when its first argument is a tensor, and its flags are these, or as they are by default.

        `dims`: a tensor among the arguments has at least so many; `along`: one dim is given to reduce.
        """
        return self.once(
            (definition.name, flags, dims, along), lambda: self._of(definition, flags, dims, along)
        )

    def once(self, key: tuple[Any, ...], compute: Callable[[], Value]) -> Value:
        """What is computed once; while it is being computed, a tensor: recursion."""
        if key not in self.known:
            self.known[key] = Tensor()
            self.known[key] = compute()
        return self.known[key]

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
        env: dict[str, Value] = {}
        defaults = [
            *([None] * (len(node.args.args) - len(node.args.defaults))),
            *node.args.defaults,
            *node.args.kw_defaults,
        ]
        given = dict(flags)
        for i, (arg, default) in enumerate(zip([*node.args.args, *node.args.kwonlyargs], defaults)):
            words = ast.dump(arg.annotation) if arg.annotation is not None else ""
            constant = default.value if isinstance(default, ast.Constant) else None
            static = default is not None and not (
                isinstance(default, ast.Constant) and constant is None
            )
            if isinstance(constant, bool):
                env[arg.arg] = _flag(given.get(arg.arg, constant))
            elif arg.arg in DIM and along:
                env[arg.arg] = Static(type="int")
            elif arg in node.args.kwonlyargs:
                env[arg.arg] = Static()
            else:
                env[arg.arg] = (
                    Static()
                    if (static or words and "Tensor" not in words or arg.arg == "dim")
                    and i
                    or not tensor
                    else Tensor(dims=dims if layer is None else 2)
                )
        if node.args.vararg:
            env[node.args.vararg.arg] = Static()
        if layer is not None:
            env["self"] = layer
        return self._block(node.body, env)[0] or UNKNOWN

    # ------------------------------------------------------------------ statements

    def _block(self, body: list[ast.stmt], env: Env) -> tuple[Value | None, bool]:
        """What statements return, and whether they do so for certain; `env` is changed to what holds after them."""
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
            env[node.name] = _Inner(node)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            env[node.target.id] = self.expression(ast.BinOp(node.target, node.op, node.value), env)
        elif isinstance(node, ast.If):
            return self._branches(node, env)
        elif isinstance(node, (ast.For, ast.While, ast.With)):
            before = dict(env)
            found, left = self._block(node.body, env)
            if not isinstance(node, ast.With):
                _meet(env, before)
                left = False
            return found, left
        return None, False

    def _branches(self, node: ast.If, env: Env) -> tuple[Value | None, bool]:
        test = _decided(self.expression(node.test, env))
        if test is not None:
            return self._block(node.body if test else node.orelse, env)
        other = dict(env)
        (first, left), (second, right) = (
            self._block(node.body, env),
            self._block(node.orelse, other),
        )
        if left:
            env.clear()
            env.update(other)
        elif not right:
            _meet(env, other)
        return join(
            first, second
        ) if first is not None or second is not None else None, left and right

    # ------------------------------------------------------------------ expressions

    def expression(self, node: ast.expr, env: Env) -> Value:
        if isinstance(node, ast.Constant):
            return Static(
                node.value, type(node.value).__name__ if node.value is not None else "None"
            )
        if isinstance(node, ast.Name):
            return env.get(node.id, Static())
        if isinstance(node, ast.Attribute):
            if node.attr in _STATIC_ATTRIBUTES:
                return Static(type=_STATIC_ATTRIBUTES[node.attr])
            base = self.expression(node.value, env)
            if isinstance(base, Layer) and node.attr in dict(base.flags):
                return _flag(dict(base.flags)[node.attr])
            return Tensor(dims=base.dims) if isinstance(base, Tensor) else Static()
        if isinstance(node, ast.Call):
            return self._call(node, env)
        if isinstance(node, ast.Lambda):
            return _Inner(node)
        if isinstance(node, ast.BinOp):
            left, right = self.expression(node.left, env), self.expression(node.right, env)
            if isinstance(left, Tensor) or isinstance(right, Tensor):
                return Tensor(dims=max(least_dims(left), least_dims(right)))
            return (
                _joined(left, right)
                if isinstance(node.op, ast.Add)
                and isinstance(left, Sequence)
                and isinstance(right, Sequence)
                else left
                if isinstance(left, Sequence)
                else right
            )
        if isinstance(node, ast.UnaryOp):
            operand = self.expression(node.operand, env)
            known = _decided(operand) if isinstance(node.op, ast.Not) else None
            return operand if known is None else _flag(not known)
        if isinstance(node, ast.Compare):
            if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                return Static(type="bool")
            if (
                isinstance(node.left, ast.Attribute)
                and node.left.attr == "ndim"
                and least_dims(self.expression(node.left.value, env))
            ):
                if ast.unparse(node.comparators[0]) == "0":
                    return _flag(not isinstance(node.ops[0], ast.Eq))
            sides = [self.expression(e, env) for e in [node.left, *node.comparators]]
            counts = [s.const for s in sides if isinstance(s, Static) and isinstance(s.const, int)]
            if isinstance(node.ops[0], ast.Gt) and len(counts) == 2:
                return _flag(counts[0] > counts[1])  # `len(result) > 1`
            return (
                Tensor(kind="b", dims=max(map(least_dims, sides)))
                if any(isinstance(s, Tensor) for s in sides)
                else Static(type="bool")
            )
        if isinstance(node, ast.BoolOp):
            ends = isinstance(node.op, ast.Or)
            if ends in [_decided(self.expression(e, env)) for e in node.values]:
                return _flag(ends)
            return join(self.expression(node.values[0], env), self.expression(node.values[-1], env))
        if isinstance(node, ast.IfExp):
            test = _decided(self.expression(node.test, env))
            if test is not None:
                return self.expression(node.body if test else node.orelse, env)
            return join(self.expression(node.body, env), self.expression(node.orelse, env))
        if isinstance(node, (ast.Tuple, ast.List)):
            items = [self.expression(e, env) for e in node.elts if not isinstance(e, ast.Starred)]
            whole = len(items) == len(node.elts)
            element: Value | None = None
            for item in items:
                element = join(element, item)
            return Sequence(
                element or UNKNOWN, tuple(items) if whole else None, isinstance(node, ast.Tuple)
            )
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return Sequence(Tensor())
        if isinstance(node, ast.Subscript):
            base = self.expression(node.value, env)
            if isinstance(base, Sequence):
                if (
                    base.items
                    and isinstance(node.slice, ast.Constant)
                    and isinstance(node.slice.value, int)
                    and node.slice.value < len(base.items)
                ):
                    return base.items[node.slice.value]
                return base if isinstance(node.slice, ast.Slice) else base.element
            if (
                isinstance(base, Static)
                and base.type == "shape"
                and not isinstance(node.slice, ast.Slice)
            ):
                return Static(type="int")
            return (
                dataclasses.replace(base, dims=self._kept_dims(base, node.slice))
                if isinstance(base, Tensor)
                else base
            )
        return Static()

    def _inner(self, node: ast.Lambda | ast.FunctionDef, env: Env) -> Value:
        """What a function inside a rule returns."""
        inside = {
            name: value
            for name, value in env.items()
            if not (isinstance(value, _Inner) and value.node is node)
        }  # recursion
        inside.update({a.arg: Tensor() for a in [*node.args.args, *node.args.kwonlyargs]})
        if isinstance(node, ast.Lambda):
            return self.expression(node.body, inside)
        return self._block(node.body, inside)[0] or UNKNOWN

    def _dims(self, node: ast.Call, env: Env) -> int:
        """How many dims a function of JAX's, or a method of an array, gives at least: most give as many as they are given."""
        assert isinstance(node.func, ast.Attribute)
        name, words = node.func.attr, {k.arg: self.expression(k.value, env) for k in node.keywords}
        given = max(
            least_dims(self.expression(part, env)) for part in [node.func.value, *node.args]
        )
        if name in _REDUCTIONS and words.get("keepdims") != Static(True, "bool"):
            axis = words.get("axis")
            return max(given - 1, 0) if isinstance(axis, Static) and axis.type == "int" else 0
        if (
            name in _WITHOUT
            or name == "reshape"
            and node.args
            and ast.unparse(node.args[-1]) == "()"
        ):
            return 0
        return (
            given + 1
            if name in _MORE_DIMS
            else max(given, _DIMS[name])
            if name == "concatenate"
            else _DIMS.get(name, given)
        )

    def _kept_dims(self, base: Tensor, index: ast.expr) -> int:
        """How many dims an index leaves at least: `x[..., None, :]`."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        made = sum(
            isinstance(p, ast.Slice) or isinstance(p, ast.Constant) and p.value is None
            for p in parts
        )
        taken = sum(
            not isinstance(p, ast.Slice)
            and not (isinstance(p, ast.Constant) and p.value in (None, ...))
            for p in parts
        )
        return max(made, base.dims - taken)

    def _method(self, node: ast.FunctionDef, layer: Layer) -> Value:
        return self.once((node, layer), lambda: self.function(node, layer=layer))

    def _flags(self, definition: Definition, node: ast.Call, env: Env) -> Flags:
        """The flags that one rule hands to another."""
        if definition.is_class:
            return frozenset()
        given = [
            (k.arg, "" if k.arg else "**", self.expression(k.value, env), None)
            for k in node.keywords
        ]
        return flags(
            definition.parameters,
            [
                *(
                    (None, "*" if isinstance(a, ast.Starred) else "", self.expression(a, env), None)
                    for a in node.args
                ),
                *given,
            ],
        )

    def _call(self, node: ast.Call, env: Env) -> Value:
        function = node.func
        if isinstance(function, ast.Name):
            name = function.id
            if name in ("tuple", "list") and node.args:
                inner = self.expression(node.args[0], env)
                element = (
                    inner.element
                    if isinstance(inner, Sequence)
                    else Static()
                    if isinstance(inner, Static)
                    else Tensor()
                )
                return Sequence(element, None, name == "tuple")
            if (
                name == "len"
                and isinstance(counted := self.expression(node.args[0], env), Sequence)
                and counted.items is not None
            ):
                return Static(len(counted.items), "int")
            if (
                name == "isinstance"
                and self.expression(node.args[0], env) == Static(type="int")
                and ast.unparse(node.args[1]) == "(tuple, list)"
            ):
                return _flag(False)
            if name == "known":  # of both forms the value is the same
                return _flag(_decided(self.expression(node.args[0], env)) is True)
            if name in _STATIC_BUILTINS:
                return Static(type=_STATIC_BUILTINS[name])
            if name in (
                "min",
                "max",
                "sum",
                "any",
                "all",
                "sorted",
                "zip",
                "enumerate",
                "reversed",
            ):
                return Static()
            held = env.get(name)
            if isinstance(held, _Inner):
                return self._inner(held.node, env)
            if name in self.rulebook.definitions:
                called, parts = (
                    self.rulebook.definitions[name],
                    [
                        *((None, a.value if isinstance(a, ast.Starred) else a) for a in node.args),
                        *((k.arg, k.value) for k in node.keywords),
                    ],
                )
                dims = max((least_dims(self.expression(part, env)) for _, part in parts), default=0)
                return self.of(
                    called,
                    self._flags(called, node, env),
                    dims,
                    gives_dim(
                        called.parameters,
                        [(word, self.expression(part, env)) for word, part in parts],
                    ),
                )
            given = any(isinstance(self.expression(a, env), Tensor) for a in node.args)
            return Tensor() if isinstance(held, Tensor) or held == Static() and given else UNKNOWN
        if isinstance(function, ast.Attribute):
            path = ast.unparse(function)
            head = path.split(".")[0]
            if head in ("jnp", "jax", "lax"):
                if function.attr in _STATIC_JAX:
                    return Static(type="finfo" if function.attr in ("finfo", "iinfo") else "")
                several = [
                    self.expression(k.value, env)
                    for k in node.keywords
                    if k.arg is not None and k.arg.startswith("return_")
                ]
                if Static(MISSING, "bool") in several:
                    return UNKNOWN
                if function.attr in _SEQUENCE_JAX or Static(True, "bool") in several:
                    return Sequence(Tensor(dims=1))
                dtypes = [ast.unparse(k.value) for k in node.keywords if k.arg == "dtype"]
                return Tensor(
                    kind=cast_kind(dtypes[0]) if dtypes else _KINDS.get(function.attr),
                    dims=self._dims(node, env),
                )
            if head in ("math", "np", "functools"):
                return Static()
            base = self.expression(function.value, env)
            if function.attr == "item" and isinstance(base, Tensor):
                return Tensor()
            if (
                isinstance(base, Layer)
                and (method := self.rulebook.method(base.name, function.attr)) is not None
            ):
                return self._method(method, base)
            if not isinstance(base, Tensor):
                foreign = (
                    head.isidentifier()
                    and head not in env
                    and head not in self.rulebook.definitions
                    and any(isinstance(self.expression(a, env), Tensor) for a in node.args)
                )
                return Tensor() if foreign else Static()  # `einops.rearrange(x, pattern)`
            if function.attr == "astype" and node.args:
                return Tensor(kind=cast_kind(ast.unparse(node.args[0])), dims=base.dims)
            return Tensor(kind=_KINDS.get(function.attr), dims=self._dims(node, env))
        return Tensor()


DIM = ("dim", "axis")


def gives_dim(
    parameters: TypingSequence[Parameter], arguments: TypingSequence[tuple[str | None, Value]]
) -> bool:
    """Whether a call gives one dim to reduce, by arguments (keyword, value)."""
    named = [
        (keyword or parameters[i].name, value)
        for i, (keyword, value) in enumerate(arguments)
        if keyword or i < len(parameters)
    ]
    return any(
        name in DIM and isinstance(value, Static) and value.type == "int" for name, value in named
    )


def flags(parameters: TypingSequence[Parameter], arguments: Iterable[Any]) -> Flags:
    """The flags that a call gives by arguments (keyword, star, value, node), where they are not what they are by default."""
    usual, found = usual_flags(parameters), dict[str, bool | None]()
    for i, (keyword, star, value, _) in enumerate(arguments):
        names = (
            list(usual)
            if star == "**"
            else [keyword]
            if keyword
            else [p.name for p in (parameters[i:] if star else parameters[i : i + 1])]
        )
        found.update({name: None if star else _decided(value) for name in names if name in usual})
    return frozenset((name, value) for name, value in found.items() if value is not usual[name])


def usual_flags(parameters: Iterable[Parameter]) -> dict[str, bool | None]:
    """The parameters that are True or False by default: `return_indices=False`."""
    constants = {p.name: p.default.value for p in parameters if isinstance(p.default, ast.Constant)}
    return {name: value for name, value in constants.items() if isinstance(value, bool)}


def _decided(value: Value) -> bool | None:
    """The truth of a condition, None where only the run tells."""
    return value.const if isinstance(value, Static) and isinstance(value.const, bool) else None


def _flag(value: bool | None) -> Static:
    return Static(MISSING, "bool") if value is None else Static(value, "bool")


def _bind(target: ast.expr, value: Value, env: Env) -> None:
    if isinstance(target, ast.Name):
        env[target.id] = value
    elif isinstance(target, ast.Tuple):
        items = (
            value.items
            if isinstance(value, Sequence)
            and not any(isinstance(e, ast.Starred) for e in target.elts)
            else None
        )
        for i, element in enumerate(target.elts):
            part = (
                items[i]
                if items and i < len(items)
                else value.element
                if isinstance(value, Sequence)
                else value
                if isinstance(value, Static)
                else Tensor()
            )
            _bind(
                element.value if isinstance(element, ast.Starred) else element,
                Sequence(part) if isinstance(element, ast.Starred) else part,
                env,
            )


def _meet(env: Env, other: Env) -> None:
    """What holds where two ways meet."""
    for name, value in other.items():
        env[name] = join(env.get(name), value)


def _joined(a: Sequence, b: Sequence) -> Sequence:
    """`(values,) + (places,)`"""
    items = (*a.items, *b.items) if a.items is not None and b.items is not None else None
    return Sequence(
        join(a.element if a.items != () else None, b.element if b.items != () else None),
        items,
        a.tuple,
    )


def cast_kind(dtype: str) -> str | None:
    """The kind of a dtype as a rule writes it: `int`, `jnp.int32`, `bool`; None where it is a parameter."""
    name = dtype.removeprefix("jnp.")
    if name == "uint8":
        return "u"
    for kind, stems in {
        "b": ("bool",),
        "i": ("int", "uint"),
        "f": ("float", "bfloat"),
        "c": ("complex",),
    }.items():
        if name.startswith(stems) and name.rstrip("_0123456789").endswith(stems):
            return kind
    return None


def _returned(before: Value | None, found: Value) -> Value:
    """The value of a rule that returns either; a bool beside an array of bools is one of Python's on some way."""
    values = [v for v in (before, found) if v is not None]
    python = [v for v in values if isinstance(v, Static) and v.type == "bool"]
    if (
        len(values) == 2
        and len(python) == 1
        and any(isinstance(v, Tensor) and v.kind == "b" for v in values)
    ):
        return Tensor(kind="b", python=True)
    return join(before, found)
