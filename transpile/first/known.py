"""What is known of a function's locals when it is traced, and how it can be had: by NumPy, or by computing it there and then.

Sizes, settings and constants are known, and what follows from them; params, state, inputs and draws are not. NumPy computes
whole numbers and bools as JAX does; where something is rounded, `0.1 * n`, it may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any

import libcst as cst

from . import tree
from .arrays import Arrays
from .context import KEY, Context
from .effects import Effects
from .project import ClassInfo, FunctionInfo
from .values import UNKNOWN, Function, Module, Static, Tensor

Properties = Mapping[ClassInfo, dict[str, list[Any]]]  # by class and name, the body that computes a constant

# names that NumPy and jax.numpy share, with the same arguments and, of whole numbers and bools, the same results
SAME = frozenset(
    "abs all any arange argwhere array asarray atleast_1d block broadcast_to concatenate cumsum diag diagonal expand_dims eye flip full full_like identity "
    "kron logical_and logical_not logical_or logical_xor maximum meshgrid minimum moveaxis nonzero ones ones_like outer ravel repeat reshape roll squeeze "
    "stack sum swapaxes tile transpose tri tril tril_indices triu triu_indices where zeros zeros_like".split()
)
_SIZED = frozenset({"jnp.eye", "jnp.identity", "jnp.ones", "jnp.tri", "jnp.tril_indices", "jnp.triu_indices", "jnp.zeros"})  # they take sizes and diagonals alone
TYPES = frozenset("bool_ float16 float32 float64 int8 int16 int32 int64 uint8".split())
_METHODS = frozenset("all any astype cumsum diagonal flatten nonzero ravel repeat reshape squeeze sum swapaxes transpose".split())
_ATTRIBUTES = frozenset({"T", "shape", "dtype", "ndim", "size"})
_JAX_ALONE = frozenset({"total_repeat_length", "size", "fill_value", "promote_integers", "inplace", "mode"})
_EXACT = (cst.Add, cst.Subtract, cst.Multiply, cst.MatrixMultiply, cst.BitAnd, cst.BitOr, cst.BitXor, cst.FloorDivide, cst.Modulo)
_PLAIN = frozenset({"True", "False", "None", "bool", "int", "float"})


class How(IntEnum):
    """How something can be had when a function is traced."""

    SAME = 0  # NumPy's words are jax.numpy's
    AT_ONCE = 1  # by computing it there
    NOT = 2


class Known:
    """What is known in one function; `bound` has the locals that are, with the values that they get."""

    def __init__(self, context: Context, info: FunctionInfo, effects: Effects, arrays: Arrays, properties: Properties) -> None:
        self.context, self.info, self.effects, self.arrays, self.properties = context, info, effects, arrays, properties
        self.bound, apart = _bindings(info.node)
        tests = _tests(info.node)
        changed = True
        while changed:
            unknown = [name for name, values in self.bound.items() if not self._is_known(values, tests) or name in apart and any(self.how(v) != How.SAME for v in values)]
            changed = bool(unknown)
            for name in unknown:
                del self.bound[name]

    def _is_known(self, values: list[Any], tests: dict[int, list[Any]]) -> bool:
        return all(self.how(v) != How.NOT and all(map(self._is_decided, tests.get(id(v), ()))) for v in values)

    def _is_decided(self, test: Any) -> bool:
        """Whether Python can take a branch or a turn when the function is traced."""
        if isinstance(test, cst.BooleanOperation):
            return self._is_decided(test.left) and self._is_decided(test.right)
        if isinstance(test, cst.UnaryOperation):
            return self._is_decided(test.expression)
        if isinstance(test, cst.Comparison) and all(isinstance(c.operator, (cst.Is, cst.IsNot)) for c in test.comparisons):
            return True
        return tree.dotted(getattr(test, "func", test)) in ("isinstance", "hasattr") or not isinstance(self.context.value(test), Tensor) and self.how(test) != How.NOT

    def needed(self, nodes: list[Any]) -> set[str]:
        """The arrays among the locals that these follow from."""
        found: set[str] = set()
        rest = list(nodes)
        while rest:
            new = {n.value for n in tree.nodes(rest.pop(), cst.Name) if n.value in self.bound and not isinstance(self.context.value(n), Static)} - found
            found |= new
            rest += [value for name in new for value in self.bound[name]]
        return found

    def is_for_jax(self, path: str, function: cst.FunctionDef | None = None) -> bool:
        """Whether a local or `self.mask` is used as only an array of JAX's can be, or handed to what may use it so: `mask.at[0]`, `mask[labels]`, `store(mask)`."""
        for node in tree.nodes((function or self.info.node).body, cst.Attribute, cst.Call, cst.Subscript):
            if isinstance(node, cst.Attribute) and node.attr.value == "at" and tree.code(node.value) == path:
                return True
            if isinstance(node, cst.Subscript) and tree.code(node.value) == path and any(isinstance(e.slice, cst.Index) and self._is_traced(e.slice.value, function) for e in node.slice):
                return True
            if isinstance(node, cst.Call) and _takes_any(self.context, node) and any(tree.code(a.value) == path for a in node.args):
                return True
        return False

    def _is_traced(self, index: Any, function: cst.FunctionDef | None) -> bool:
        return isinstance(self.context.value(index), Tensor) and (function is not None or self.how(index) == How.NOT)

    # ------------------------------------------------------------------ expressions

    def how(self, node: Any) -> How:
        """How an expression can be had when the function is traced."""
        kind = node.__class__
        if kind is cst.Name and node.value == KEY:
            return How.NOT
        if kind in (cst.Integer, cst.SimpleString) or kind is cst.Name and (node.value in _PLAIN or node.value in self.bound):
            return How.SAME
        if kind is cst.Float:
            return How.SAME if float(node.value).is_integer() else How.AT_ONCE
        value = self.context.value(node)
        if isinstance(value, Static):
            return How.AT_ONCE if value.type == "float" else How.SAME
        if kind is cst.Attribute:
            return self._attribute(node)
        if kind is cst.UnaryOperation:
            return How.NOT if isinstance(node.operator, cst.Not) else self.how(node.expression)
        if kind is cst.BinaryOperation:
            return max(self.how(node.left), self.how(node.right), How.SAME if isinstance(node.operator, _EXACT) else How.AT_ONCE)
        if kind is cst.Comparison:
            return max(self.how(node.left), *(self.how(c.comparator) for c in node.comparisons))
        if kind is cst.Subscript:
            return max(self.how(node.value), *(self._part(e.slice) for e in node.slice))
        if kind in (cst.List, cst.Tuple):
            return max((How.NOT if isinstance(e, cst.StarredElement) else self.how(e.value) for e in node.elements), default=How.SAME)
        if kind is cst.ListComp and node.for_in.inner_for_in is None and not node.for_in.ifs:
            return max(self.how(node.elt), self.how(node.for_in.iter))
        return self._call(node) if kind is cst.Call else How.NOT

    def _part(self, part: Any) -> How:
        if isinstance(part, cst.Index):
            return self.how(part.value) if tree.code(part.value) != "..." else How.SAME
        return max(self.how(n) if n is not None else How.SAME for n in (part.lower, part.upper, part.step))

    def _attribute(self, node: cst.Attribute) -> How:
        if tree.code(node.value) == "jnp":
            return How.SAME if node.attr.value in TYPES else How.NOT
        if self.constant(node) is not None:
            return How.SAME
        if self._is_setting(node):
            return How.AT_ONCE  # it may be a number with a fraction
        return self.how(node.value) if node.attr.value in _ATTRIBUTES else How.NOT

    def _is_setting(self, node: Any) -> bool:
        """`self.n`, of which no more is known than that it is no array and no module."""
        if not isinstance(node, cst.Attribute) or self.info.owner is None or tree.code(node.value) != (self.info.self_name or "self"):
            return False
        return self.context.value(node) == UNKNOWN and self.arrays.find(self.info.owner, node.attr.value) is None

    def _given(self, node: Any, sizes: bool) -> How:
        """How an argument can be had: settings are whole numbers where sizes are asked for."""
        if isinstance(node, cst.Tuple):
            return max((self._given(e.value, sizes) for e in node.elements), default=How.SAME)
        return How.SAME if sizes and self._is_setting(node) else self.how(node)

    def constant(self, node: Any) -> tuple[ClassInfo, str] | None:
        """The class and name of a constant that is a property of self: `self.mask`."""
        owner = self.info.owner
        if owner is None or not isinstance(node, cst.Attribute) or not isinstance(value := self.context.value(node.value), Module) or not value.is_self:
            return None
        name = node.attr.value
        having = [c for c in owner.family() if name in self.properties.get(c, ())]
        held = [self.arrays.own[c].arrays[name] for c in owner.family() if c in self.arrays.own and name in self.arrays.own[c].arrays]
        if len(having) != 1 or any(array.where != "constant" for array in held) or self.returned((having[0], name)) is None:
            return None
        return None if any(self._is_written(m.node, tree.code(node)) for c in owner.family() for m in c.methods.values()) else (having[0], name)

    def returned(self, constant: tuple[ClassInfo, str]) -> Any:
        """What the property of a constant returns; None where that is not one expression."""
        cls, name = constant
        made = self.properties[cls][name]
        last = tree.only_small((tree.body_statements(made[0]) if isinstance(made[0], cst.With) else made)[-1])
        return last.value if isinstance(last, cst.Return) else None

    def _is_written(self, function: cst.FunctionDef, path: str) -> bool:
        """Whether a method takes `self.mask` for an array that it makes another of: `mask = self.mask`, then `mask.at[0].set(1)`."""
        names = {t.target.value for n in tree.nodes(function.body, cst.Assign) for t in n.targets if isinstance(t.target, cst.Name) and tree.code(n.value) == path}
        return any(self.is_for_jax(name, function) for name in {path, *names})

    def _call(self, node: cst.Call) -> How:
        if any(a.star for a in node.args):
            return How.NOT
        function, dotted = self.context.value(node.func), tree.dotted(node.func) or ""
        start, _, name = dotted.rpartition(".")
        given = max((self._given(a.value, dotted in _SIZED) for a in node.args), default=How.SAME)
        if isinstance(function, Function):
            return max(given, How.AT_ONCE) if self._is_pure(function.info) else How.NOT
        if dotted == "lax.stop_gradient":
            return given
        if start == "jnp":
            alike = name in SAME and not any(a.keyword is not None and a.keyword.value in _JAX_ALONE for a in node.args)
            return given if alike else max(given, How.AT_ONCE)
        if start in ("nn", "lax"):
            return max(given, How.AT_ONCE) if isinstance(self.context.value(node), Tensor) else How.NOT
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _METHODS:
            return max(given, self.how(node.func.value))
        at: Any = node.func.value if isinstance(node.func, cst.Attribute) else None  # `mask.at[0].set(1)`
        if isinstance(at, cst.Subscript) and isinstance(at.value, cst.Attribute) and at.value.attr.value == "at":
            return max(given, How.AT_ONCE, self.how(at.value.value), *(self._part(e.slice) for e in at.slice))
        return How.NOT

    def _is_pure(self, info: FunctionInfo, above: tuple[FunctionInfo, ...] = ()) -> bool:
        """Whether a function follows from what it is given and from constants: no params, state, draw or attribute that is set."""
        if info in above:
            return True
        if self.effects.functions.get(info) or info.outer is not None or any(tree.nodes(info.node, cst.Yield, cst.Global)):
            return False
        called = [v for n in tree.nodes(info.node.body, cst.Call) if isinstance(v := self.context.facts.of(n.func), Function)]
        return all(self._is_pure(v.info, (*above, info)) for v in called)


def _takes_any(context: Context, call: cst.Call) -> bool:
    """Whether a call is of a helper, a function or a module: what it does with an array is its own affair."""
    name = tree.dotted(call.func) or ""
    return isinstance(context.value(call.func), (Function, Module)) or name.startswith("nn.") and name != "nn.masked_select"


def _bindings(function: cst.FunctionDef) -> tuple[dict[str, list[Any]], set[str]]:
    """The values of the locals that are given values by plain assignments alone, one or several; and which of them are one of several results."""
    plain: dict[str, list[Any]] = {}
    apart = set()
    for node in tree.scope_nodes(function.body, cst.Assign):
        target: Any = node.targets[0].target
        if len(node.targets) == 1 and isinstance(target, cst.Name):
            plain.setdefault(target.value, []).append(node.value)
        elif len(node.targets) == 1 and isinstance(target, cst.Tuple) and isinstance(node.value, cst.Call):  # `i, j = jnp.nonzero(mask)`
            for name in (e.value.value for e in target.elements if isinstance(e.value, cst.Name)):
                plain.setdefault(name, []).append(node.value)
                apart.add(name)
    other = {n.name.value for n in tree.nodes(function, cst.Param)}
    other |= {item.name.value for n in tree.nodes(function.body, cst.Global, cst.Nonlocal) for item in n.names}  # type: ignore[attr-defined]
    other |= {name for n in tree.nodes(function.body, cst.Del) for name in tree.target_names(n.target)}
    times = tree.times_bound(function.body)
    return {name: values for name, values in plain.items() if times[name] == len(values) and name not in other}, apart


def _tests(function: cst.FunctionDef) -> dict[int, list[Any]]:
    """What decides whether the assignment of a value is run, by the identity of the value."""
    found: dict[int, list[Any]] = {}

    def below(node: Any, tests: list[Any]) -> None:
        if isinstance(node, cst.Assign):
            found[id(node.value)] = tests
        inner = [*tests, *_deciding(node)]
        for child in tree.children(node):
            below(child, inner)

    below(function.body, [])
    return found


def _deciding(node: Any) -> Iterator[Any]:
    if isinstance(node, (cst.If, cst.While)):
        yield node.test
    elif isinstance(node, cst.For):
        yield node.iter
