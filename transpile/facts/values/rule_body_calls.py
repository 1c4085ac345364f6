"""Calls, attributes and subscripts in the bodies of rules."""

import ast
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...model.rulebook import Definition, Rulebook
from .call_flags import Flags, Layer, cast_kind, decided, flag, flags, gives_dim, width_of
from .lattice import MISSING, UNKNOWN, Sequence, Static, Tensor, Value, least_dims

Env = dict[str, Value]


@dataclass(frozen=True)
class Inner(Value):
    """A function inside a rule."""

    node: Any = None


# --- what JAX's functions give -------------------------------------------------------------------

_STATIC_JAX = frozenset(
    "finfo iinfo dtype shape ndim issubdtype iscomplexobj result_type promote_types"
    " broadcast_shapes default_backend".split()
)
_OF_TREES = {
    "tree.leaves": Sequence(),
    "tree.flatten": Sequence(items=(Sequence(), UNKNOWN), tuple=True),
}
_LISTS_JAX = frozenset("split array_split meshgrid broadcast_arrays top_k".split())
_TUPLES_JAX = frozenset(
    "nonzero unravel_index svd qr eigh eig slogdet frexp modf divmod tril_indices triu_indices"
    " unstack".split()
)
_STATIC_BUILTINS = {
    **dict.fromkeys(("len", "int"), "int"),
    **dict.fromkeys(("bool", "isinstance", "hasattr", "callable"), "bool"),
    **{name: name for name in ("float", "range", "str")},
    "getattr": "",
}
_OF_STATICS = frozenset("min max sum any all sorted zip enumerate reversed".split())
_STATIC_ATTRIBUTES = {
    **dict.fromkeys(("ndim", "size", "itemsize", "nbytes"), "int"),
    "shape": "shape",
    "dtype": "dtype",
}
_KINDS = {
    **dict.fromkeys("zeros ones normal uniform".split(), "f"),
    **dict.fromkeys("argmax argmin argsort count_nonzero".split(), "i"),
    **dict.fromkeys(
        "isnan isinf isfinite isclose logical_and logical_or logical_not logical_xor isin"
        " signbit any all array_equal".split(),
        "b",
    ),
}
_MORE_DIMS = frozenset({"expand_dims", "stack"})  # one dim more than they are given
_DIMS = {
    "arange": 1,
    "concatenate": 1,
    "eye": 2,
    "linspace": 1,
    "ravel": 1,
    "reshape": 1,
}  # at least
_WITHOUT = frozenset(  # which may give none
    "det trace squeeze zeros ones full normal uniform array asarray dot vdot".split()
)
_REDUCTIONS = frozenset(
    "sum mean max min prod any all std var median argmax argmin count_nonzero nansum nanmean"
    " logsumexp".split()
)


class Calling:
    """The part of the interpretation of rules that goes from one function to another."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self.known: dict[tuple[Any, ...], Value] = {}

    def expression(self, node: ast.expr, env: Env) -> Value:
        raise NotImplementedError

    def block(self, body: list[ast.stmt], env: Env) -> tuple[Value | None, bool]:
        raise NotImplementedError

    def of(
        self, definition: Definition, flags: Flags = frozenset(), dims: int = 0, along: bool = False
    ) -> Value:
        raise NotImplementedError

    def function(
        self, node: ast.FunctionDef, tensor: bool = True, *, layer: Layer | None = None
    ) -> Value:
        raise NotImplementedError

    def once(self, key: tuple[Any, ...], compute: Callable[[], Value]) -> Value:
        """What is computed once; while it is being computed, an array: recursion."""
        if key not in self.known:
            self.known[key] = Tensor()
            self.known[key] = compute()
        return self.known[key]

    # --- calls -----------------------------------------------------------------------------------

    def called(self, node: ast.Call, env: Env) -> Value:
        if isinstance(node.func, ast.Name):
            return self._named(node, node.func.id, env)
        if not isinstance(node.func, ast.Attribute):
            return Tensor()
        head, _, tail = ast.unparse(node.func).partition(".")
        if head == "jax" and tail.startswith("tree."):
            mapped = self.expression(node.args[1], env) if tail == "tree.map" else UNKNOWN
            return _OF_TREES.get(tail, mapped)
        if head in ("jnp", "jax", "lax"):
            return self._of_jax(node, node.func.attr, env)
        if head in ("math", "np", "functools"):
            return Static()
        return self._method(node, node.func, head, env)

    def _named(self, node: ast.Call, name: str, env: Env) -> Value:
        """A call of a builtin, of a function inside the rule, or of another rule."""
        first = self.expression(node.args[0], env) if node.args else UNKNOWN
        if name in ("tuple", "list") and node.args:
            other = Static() if isinstance(first, Static) else Tensor()
            element = first.element if isinstance(first, Sequence) else other
            return Sequence(element, None, name == "tuple")
        if name == "super":
            return env.get("super()", UNKNOWN)
        if name == "len" and isinstance(first, Sequence) and first.items is not None:
            return Static(len(first.items), "int")
        if name == "isinstance" and first == Static(type="int"):
            if ast.unparse(node.args[1]) == "(tuple, list)":
                return flag(False)
        if name == "known":  # of both forms the value is the same
            return flag(decided(first) is True)
        if name in _STATIC_BUILTINS:
            return Static(type=_STATIC_BUILTINS[name])
        if name in _OF_STATICS:
            return Static()
        held = env.get(name)
        if isinstance(held, Inner):
            return self._inner(held.node, env)
        if name in self.rulebook.definitions:
            return self._rule(self.rulebook.definitions[name], node, env)
        given = any(isinstance(self.expression(a, env), Tensor) for a in node.args)
        return Tensor() if isinstance(held, Tensor) or held == Static() and given else UNKNOWN

    def _rule(self, called: Definition, node: ast.Call, env: Env) -> Value:
        """A call of another rule."""
        given: list[tuple[str | None, str, Value, None]] = []
        for a in node.args:
            inner = a.value if isinstance(a, ast.Starred) else a
            star = "*" if isinstance(a, ast.Starred) else ""
            given.append((None, star, self.expression(inner, env), None))
        for k in node.keywords:
            given.append((k.arg, "" if k.arg else "**", self.expression(k.value, env), None))
        dims = max((least_dims(value) for _, _, value, _ in given), default=0)
        told = frozenset() if called.is_class else flags(called.parameters, given)
        along = gives_dim(called.parameters, [(word, value) for word, _, value, _ in given])
        return self.of(called, told, dims, along)

    def _inner(self, node: ast.Lambda | ast.FunctionDef, env: Env) -> Value:
        """What a function inside a rule returns; it does not find itself: recursion."""
        inside = {n: v for n, v in env.items() if not (isinstance(v, Inner) and v.node is node)}
        inside.update({a.arg: Tensor() for a in [*node.args.args, *node.args.kwonlyargs]})
        if isinstance(node, ast.Lambda):
            return self.expression(node.body, inside)
        return self.block(node.body, inside)[0] or UNKNOWN

    def _of_jax(self, node: ast.Call, name: str, env: Env) -> Value:
        if name in _STATIC_JAX:
            return Static(type="finfo" if name in ("finfo", "iinfo") else "")
        words = [k for k in node.keywords if k.arg is not None and k.arg.startswith("return_")]
        several = [self.expression(k.value, env) for k in words]
        if Static(MISSING, "bool") in several:
            return UNKNOWN
        if name in _LISTS_JAX | _TUPLES_JAX or Static(True, "bool") in several:
            return Sequence(Tensor(dims=1), tuple=name in _TUPLES_JAX)
        dtypes = [ast.unparse(k.value) for k in node.keywords if k.arg == "dtype"]
        kind = cast_kind(dtypes[0]) if dtypes else _KINDS.get(name)
        return Tensor(kind=kind, dims=self._dims(node, env))

    def _method(self, node: ast.Call, func: ast.Attribute, head: str, env: Env) -> Value:
        base, name = self.expression(func.value, env), func.attr
        if name == "item" and isinstance(base, Tensor):
            return Tensor()
        if isinstance(base, Layer):
            method = self.rulebook.method(base.name, name, base.after)
            if method is not None:
                layer = base
                return self.once((method, base), lambda: self.function(method, layer=layer))
        if not isinstance(base, Tensor):
            local = head in env or head in self.rulebook.definitions or not head.isidentifier()
            arrays = any(isinstance(self.expression(a, env), Tensor) for a in node.args)
            # `einops.rearrange(x, pattern)`
            return Tensor() if arrays and not local else Static()
        if name == "astype" and node.args:
            dtype = ast.unparse(node.args[0])
            return Tensor(kind=cast_kind(dtype), dims=base.dims, width=width_of(dtype))
        return Tensor(kind=_KINDS.get(name), dims=self._dims(node, env))

    def _dims(self, node: ast.Call, env: Env) -> int:
        """How many dims a function of JAX's, or a method of an array, gives at least."""
        assert isinstance(node.func, ast.Attribute)
        name, words = node.func.attr, {k.arg: k.value for k in node.keywords}
        parts = [node.func.value, *node.args]
        given = max(least_dims(self.expression(part, env)) for part in parts)
        if name in _REDUCTIONS:
            kept, axis = words.get("keepdims"), words.get("axis")
            if kept is None or self.expression(kept, env) != Static(True, "bool"):
                along = self.expression(axis, env) if axis is not None else None
                one = isinstance(along, Static) and along.type == "int"
                return max(given - 1, 0) if one else 0
        if name == "reshape" and node.args and ast.unparse(node.args[-1]) == "()":
            return 0
        if name in _WITHOUT:
            return 0
        if name in _MORE_DIMS:
            return given + 1
        return max(given, 1) if name == "concatenate" else _DIMS.get(name, given)

    # --- attributes and subscripts ---------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, env: Env) -> Value:
        if node.attr in _STATIC_ATTRIBUTES:
            return Static(type=_STATIC_ATTRIBUTES[node.attr])
        base = self.expression(node.value, env)
        if isinstance(base, Layer) and node.attr in dict(base.flags):
            return flag(dict(base.flags)[node.attr])
        return Tensor(dims=base.dims) if isinstance(base, Tensor) else Static()

    def _subscript(self, node: ast.Subscript, env: Env) -> Value:
        base, index = self.expression(node.value, env), node.slice
        if isinstance(base, Sequence):
            constant = index.value if isinstance(index, ast.Constant) else None
            if base.items and isinstance(constant, int) and constant < len(base.items):
                return base.items[constant]
            return base if isinstance(index, ast.Slice) else base.element
        if isinstance(base, Tensor):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            arrays = any(least_dims(self.expression(part, env)) for part in parts)
            return dataclasses.replace(base, dims=max(_kept_dims(base, parts), int(arrays)))
        shape = isinstance(base, Static) and base.type == "shape"
        return Static(type="int") if shape and not isinstance(index, ast.Slice) else base


def _kept_dims(base: Tensor, parts: list[ast.expr]) -> int:
    """How many dims an index leaves at least: `x[..., None, :]`."""
    made = taken = 0
    for part in parts:
        constant = part.value if isinstance(part, ast.Constant) else MISSING
        made += isinstance(part, ast.Slice) or constant is None
        taken += not isinstance(part, ast.Slice) and constant not in (None, ...)
    return max(made, base.dims - taken)
