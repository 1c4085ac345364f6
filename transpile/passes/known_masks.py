"""Masks that sizes alone tell are NumPy's, known when a function is traced, so that they can choose.

    mask = torch.eye(n).bool()                   mask = np.eye(n).astype(bool)
    return x[~mask].view(n, -1)          ->      return x[~mask].reshape(n, -1)

What NumPy has no word for, or would round otherwise, is computed at once, `with jax.ensure_compile_time_eval()`, and handed on
as NumPy's; so is a constant of a module, which is a property. A mask that follows from an array, a param, state or a draw
stays what it is, and its report stays too.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Set
from enum import IntEnum
from typing import Any

import libcst as cst

from .. import tree
from ..arrays import Arrays
from ..context import KEY, Context
from ..effects import Effects
from ..project import ClassInfo, FunctionInfo
from ..values import UNKNOWN, Function, Module, Static, Tensor
from .construction import Constructor

Constructors = Mapping[ClassInfo, Constructor]

# names that NumPy and jax.numpy share, with the same arguments and, of whole numbers and bools, the same results
_SAME = frozenset(
    "abs all any arange argwhere array asarray atleast_1d block broadcast_to concatenate cumsum diag diagonal expand_dims eye flip full full_like identity "
    "kron logical_and logical_not logical_or logical_xor maximum meshgrid minimum moveaxis nonzero ones ones_like outer ravel repeat reshape roll squeeze "
    "stack sum swapaxes tile transpose tri tril tril_indices triu triu_indices where zeros zeros_like".split()
)
_SIZED = frozenset({"jnp.eye", "jnp.identity", "jnp.ones", "jnp.tri", "jnp.tril_indices", "jnp.triu_indices", "jnp.zeros"})  # they take sizes and diagonals alone
_TYPES = frozenset("bool_ float16 float32 float64 int8 int16 int32 int64 uint8".split())
_METHODS = frozenset("all any astype cumsum diagonal flatten nonzero ravel repeat reshape squeeze sum swapaxes transpose".split())
_ATTRIBUTES = frozenset({"T", "shape", "dtype", "ndim", "size"})
_JAX_ALONE = frozenset({"total_repeat_length", "size", "fill_value", "promote_integers", "inplace", "mode"})
_EXACT = (cst.Add, cst.Subtract, cst.Multiply, cst.MatrixMultiply, cst.BitAnd, cst.BitOr, cst.BitXor, cst.FloorDivide, cst.Modulo)
_SELECT = "nn.masked_select"
_CHOOSING = frozenset({"jnp.nonzero", "jnp.argwhere", _SELECT})
_PLAIN = frozenset({"True", "False", "None", "bool", "int", "float"})


class How(IntEnum):
    """How something can be had when a function is traced."""

    SAME = 0  # NumPy's words are jax.numpy's
    AT_ONCE = 1  # by computing it there
    NOT = 2


def run(context: Context, info: FunctionInfo, effects: Effects, arrays: Arrays, constructors: Constructors) -> cst.FunctionDef:
    """A function that is traced, with the masks that sizes tell known; the properties that they come from are rewritten."""
    constants = {name for c in (info.owner.family() if info.owner is not None else ()) if c in constructors for name in constructors[c].properties}
    uses = [n for n in tree.nodes(info.node.body, cst.Subscript, cst.Call) if _may_choose(context, n, constants)]
    if not uses or context.module.imports.get("np", "numpy") != "numpy":
        return info.node
    known = _Known(context, info, effects, arrays, constructors)
    chosen = [(use, masks) for use in uses if (masks := known.masks(use))]
    return known.rewritten(chosen) if chosen else info.node


def _may_choose(context: Context, use: Any, constants: Set[str]) -> bool:
    """Whether this is `x[mask]`, also by a constant of self, or `jnp.nonzero(mask)`."""
    if isinstance(use, cst.Call):
        return tree.dotted(use.func) in _CHOOSING
    values = [context.value(e.slice.value) for e in use.slice if isinstance(e.slice, cst.Index)]
    named = constants and any(n.attr.value in constants for e in use.slice for n in tree.nodes(e, cst.Attribute))
    return bool(named) or any(isinstance(v, Tensor) and v.kind == "b" for v in values)


class _Known:
    """What is known of a function's locals."""

    def __init__(self, context: Context, info: FunctionInfo, effects: Effects, arrays: Arrays, constructors: Constructors) -> None:
        self.context, self.info, self.effects, self.arrays, self.constructors = context, info, effects, arrays, constructors
        self.bound = _bindings(info.node)
        changed = True
        while changed:
            unknown = [name for name, values in self.bound.items() if any(self.how(v) == How.NOT for v in values)]
            changed = bool(unknown)
            for name in unknown:
                del self.bound[name]

    def masks(self, use: Any) -> list[Any]:
        """What chooses in `x[mask]` or `jnp.nonzero(mask)`, where NumPy has it all; nothing where it has not."""
        if isinstance(use, cst.Subscript):
            found = [e.slice.value for e in use.slice if isinstance(e.slice, cst.Index) and self._is_mask(e.slice.value)]
        else:
            found = [a.value for a in use.args[1:]] if tree.dotted(use.func) == _SELECT else [use]
        names = self._needed(found)
        plain = all(self.how(n) == How.SAME for n in found) and not any(_is_for_jax(self.info.node, name) for name in names)
        return found if plain else []

    def _is_mask(self, node: Any) -> bool:
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert):
            return self._is_mask(node.expression)
        constant, value = self._constant(node), self.context.value(node)
        if constant is not None and (returned := self._returned(constant)) is not None:
            value = self.context.value(returned)
        return isinstance(value, Tensor) and value.kind == "b"

    def rewritten(self, chosen: list[tuple[Any, list[Any]]]) -> cst.FunctionDef:
        """The function with what is needed for these uses as NumPy has it, and without their reports."""
        places = {self.context.place(use) for use, _ in chosen}
        parts = [mask for _, masks in chosen for mask in masks]
        names = self._needed(parts)
        values = [value for name in names for value in self.bound[name]]
        plain = {id(n) for n in [*parts, *values] if self.how(n) == How.SAME}
        at_once = {id(n) for n in values if self.how(n) == How.AT_ONCE}
        self._properties([*parts, *values])

        def before(node: Any) -> Any:
            if id(node) in plain:
                return _of_numpy(node)
            small = tree.only_small(node)
            if isinstance(small, cst.Assign) and id(small.value) in at_once:
                return _at_once(tree.replace(node, body=[tree.replace(small, value=_as_array(small.value))]))
            return None

        new: cst.FunctionDef = tree.rewrite(self.info.node, before)
        self.context.diagnostics = [d for d in self.context.diagnostics if d.id != "data-dependent-shape" or (d.line, d.column) not in places]
        return new

    def _needed(self, nodes: list[Any]) -> set[str]:
        """The locals that these follow from."""
        found: set[str] = set()
        rest = list(nodes)
        while rest:
            new = {n.value for n in tree.nodes(rest.pop(), cst.Name) if n.value in self.bound and not isinstance(self.context.value(n), Static)} - found
            found |= new
            rest += [value for name in new for value in self.bound[name]]
        return found

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
            return How.SAME if node.attr.value in _TYPES else How.NOT
        if self._constant(node) is not None:
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

    def _constant(self, node: Any) -> tuple[ClassInfo, str] | None:
        """The class and name of a constant that is a property of self: `self.mask`."""
        owner = self.info.owner
        if owner is None or not isinstance(node, cst.Attribute) or not isinstance(value := self.context.value(node.value), Module) or not value.is_self:
            return None
        name = node.attr.value
        having = [c for c in owner.family() if c in self.constructors and name in self.constructors[c].properties]
        held = [self.arrays.own[c].arrays[name] for c in owner.family() if c in self.arrays.own and name in self.arrays.own[c].arrays]
        if len(having) != 1 or any(array.where != "constant" for array in held) or self._returned((having[0], name)) is None:
            return None
        return None if any(_is_written(m.node, tree.code(node)) for c in owner.family() for m in c.methods.values()) else (having[0], name)

    def _returned(self, constant: tuple[ClassInfo, str]) -> Any:
        """What the property of a constant returns; None where that is not one expression."""
        cls, name = constant
        made = self.constructors[cls].properties[name]
        last = tree.only_small((tree.body_statements(made[0]) if isinstance(made[0], cst.With) else made)[-1])
        return last.value if isinstance(last, cst.Return) else None

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
            alike = name in _SAME and not any(a.keyword is not None and a.keyword.value in _JAX_ALONE for a in node.args)
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
        if self.effects.functions.get(info) or info.outer is not None or any(n for n in tree.nodes(info.node, cst.Yield, cst.Global)):
            return False
        if any(isinstance(n, cst.Name) and n.value == KEY for n in tree.nodes(info.node.body, cst.Name)):
            return False
        called = [v for n in tree.nodes(info.node.body, cst.Call) if isinstance(v := self.context.facts.of(n.func), Function)]
        return all(self._is_pure(v.info, (*above, info)) for v in called)

    # ------------------------------------------------------------------ constants of self

    def _properties(self, nodes: list[Any]) -> None:
        """Let the properties that these read give NumPy's arrays."""
        for constant in {found for part in nodes for n in tree.nodes(part, cst.Attribute) if (found := self._constant(n)) is not None}:
            cls, name = constant
            made, value = self.constructors[cls].properties[name], self._returned(constant)
            if isinstance(made[0], cst.With) or any(tree.code(n) == "np" for n in tree.nodes(value, cst.Name)):
                continue  # by another method that chooses by it
            line = functools.partial(tree.replace, made[-1])
            if len(made) == 1 and self.how(value) == How.SAME:
                self.constructors[cls].properties[name] = [line(body=[cst.Return(_of_numpy(value))])]
                self._properties([value])
            else:
                self.constructors[cls].properties[name] = [_at_once(*made[:-1], line(body=[cst.Return(_as_array(value))]))]


def _bindings(function: cst.FunctionDef) -> dict[str, list[Any]]:
    """The values of the locals that are given values by plain assignments alone, one or several."""
    plain: dict[str, list[Any]] = {}
    targets = set()
    for node in tree.scope_nodes(function.body, cst.Assign):
        names = [t.target for t in node.targets]
        if len(names) == 1 and isinstance(names[0], cst.Name):
            plain.setdefault(names[0].value, []).append(node.value)
            targets.add(id(names[0]))
        elif len(names) == 1 and isinstance(names[0], cst.Tuple) and isinstance(node.value, cst.Call):  # `i, j = jnp.nonzero(mask)`
            for element in names[0].elements:
                if isinstance(element.value, cst.Name):
                    plain.setdefault(element.value.value, []).append(node.value)
                    targets.add(id(element.value))
    other = tree.parameter_names(function) | {
        name
        for n in tree.nodes(function.body, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr, cst.WithItem, cst.Del, cst.FunctionDef, cst.Param, cst.Global, cst.Nonlocal)
        for name in _otherwise(n, targets)
    }
    return {name: values for name, values in plain.items() if name not in other}


def _otherwise(node: Any, plain: set[int]) -> set[str]:
    """The names that a node binds in another way than by one of the plain assignments."""
    if isinstance(node, cst.Assign):
        return {n for t in node.targets for n in _unlisted(t.target, plain)}
    if isinstance(node, cst.FunctionDef):
        return {node.name.value}
    if isinstance(node, cst.Param):
        return {node.name.value}
    if isinstance(node, (cst.Global, cst.Nonlocal)):
        return {item.name.value for item in node.names}
    target = node.asname.name if isinstance(node, cst.WithItem) and node.asname is not None else getattr(node, "target", None)
    return set(tree.target_names(target)) if target is not None else set()


def _unlisted(target: Any, plain: set[int]) -> set[str]:
    parts = [e.value for e in target.elements] if isinstance(target, (cst.Tuple, cst.List)) else [target]
    return {name for part in parts if id(part) not in plain and not isinstance(part, (cst.Attribute, cst.Subscript)) for name in tree.target_names(part)}


def _is_for_jax(function: cst.FunctionDef, name: str) -> bool:
    """Whether a local is used as only an array of JAX's can be, or handed to what may use it so: `mask.at[0]`, `nn.store(mask, …)`."""
    for node in tree.nodes(function.body, cst.Attribute, cst.Call):
        if isinstance(node, cst.Attribute) and node.attr.value == "at" and tree.code(node.value) == name:
            return True
        if isinstance(node, cst.Call) and (tree.dotted(node.func) or "").startswith("nn.") and tree.dotted(node.func) != _SELECT and any(tree.code(a.value) == name for a in node.args):
            return True
    return False


def _is_written(function: cst.FunctionDef, path: str) -> bool:
    """Whether a method takes `self.mask` for an array that it makes another of: `mask = self.mask`, then `mask.at[0].set(1)`."""
    names = {t.target.value for n in tree.nodes(function.body, cst.Assign) for t in n.targets if isinstance(t.target, cst.Name) and tree.code(n.value) == path}
    return any(_is_for_jax(function, name) for name in {path, *names})


def _of_numpy(node: Any) -> Any:
    """`np.eye(n)` of `jnp.eye(n)`"""

    def before(n: Any) -> Any:
        if isinstance(n, cst.Attribute) and tree.code(n.value) == "jnp" and n.attr.value in _SAME | _TYPES:
            return tree.replace(n, value=cst.Name("np"))
        if isinstance(n, cst.Call) and tree.dotted(n.func) == "lax.stop_gradient":
            return _of_numpy(n.args[0].value)
        return None

    return tree.rewrite(node, before)


def _as_array(node: Any) -> Any:
    return tree.replace(tree.expression("np.asarray(x)"), args=[cst.Arg(node)])


def _at_once(*lines: Any) -> Any:
    block = tree.statement("with jax.ensure_compile_time_eval():\n    pass\n")
    first = tree.replace(lines[0], leading_lines=[])
    return tree.replace(tree.with_body(block, [first, *lines[1:]]), leading_lines=lines[0].leading_lines)
