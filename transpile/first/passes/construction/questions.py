"""What code that builds a model asks of arrays that are yet to be made, asked of `init`: `nn.has(m, "bias")`, `nn.shape(m, "weight")`.

`init` is traced for the answer, so that nothing is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...emit import call
from ...identities import simplified
from ...truth import asks_for_none
from ...values import Function, Method, Module, Tensor, Value, is_anything
from .constructors import Original
from .initial_values import written_text

NO_ARRAYS = "a module has no arrays of its own here: its params are made by init"
ASKING = frozenset({"nn.has", "nn.like", "nn.shape"})
LIKE = {"jnp.zeros_like": "jnp.zeros", "jnp.ones_like": "jnp.ones", "jnp.full_like": "jnp.zeros"}  # what asks for a shape alone
_FACTS = ("shape", "dtype", "size", "ndim")


@dataclass(frozen=True)
class Asked:
    """The array that a question is about: what holds it, and its name."""

    holder: str
    name: str


Find = Callable[[Any], Asked | None]  # the array that an expression is, where it is one that is asked about


def by_path(node: cst.Attribute) -> Asked:
    """`m.weight`"""
    return Asked(tree.code(node.value), node.attr.value)


def ask(context: Context, function: str, array: Asked) -> Any:
    """`nn.has(m, "weight")`, `nn.shape(m, "weight")`"""
    return tree.expression(f'{context.name(function)}({array.holder}, "{array.name}")')


def presence(context: Context, node: Any, find: Find) -> Any:
    """`m.bias is not None` or `exists(m.bias)`, of an array that is not made yet; None where something else is asked."""
    if isinstance(node, cst.Call):
        return _presence_by_function(context, node, find)
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1 or tree.code(node.comparisons[0].comparator) != "None":
        return None
    operator = node.comparisons[0].operator
    array = find(node.left) if isinstance(operator, (cst.Is, cst.IsNot)) else None
    if array is None:
        return None
    there = ask(context, "has", array)
    return there if isinstance(operator, cst.IsNot) else cst.UnaryOperation(cst.Not(), there)


def _presence_by_function(context: Context, node: cst.Call, find: Find) -> Any:
    """`exists(m.bias)`, with `def exists(value): return value is not None`."""
    value = context.value(node.func)
    if not isinstance(value, Function) or len(node.args) != 1 or node.args[0].star or not asks_for_none(value.info):
        return None
    array = find(node.args[0].value)
    if array is None:
        return None
    there = ask(context, "has", array)
    test = next(tree.nodes(value.info.node.body, cst.Comparison))
    return there if isinstance(test.comparisons[0].operator, cst.IsNot) else cst.UnaryOperation(cst.Not(), there)


def _is_array(context: Context, node: Any, find: Find) -> Any:
    """`isinstance(m.weight, torch.Tensor)`: whether there is one; None where something else is asked."""
    if not isinstance(node, cst.Call) or tree.dotted(node.func) != "isinstance" or len(node.args) != 2 or tree.code(node.args[1].value) != "jax.Array":
        return None
    array = find(node.args[0].value)
    return ask(context, "has", array) if array is not None else None


def fact(context: Context, node: Any, find: Find) -> Any:
    """`m.weight.shape`, `m.weight.dtype`, of an array that is not made yet; None where something else is asked."""
    array = find(node.value) if isinstance(node, cst.Attribute) and node.attr.value in _FACTS else None
    if array is None:
        return None
    return ask(context, "shape", array) if node.attr.value == "shape" else tree.replace(node, value=ask(context, "like", array))


def by_shape(context: Context, node: cst.Call, find: Find) -> Any:
    """`nn.fan_in_and_fan_out(m.weight)`, of a rule that asks for the shape alone, with what stands for the array."""
    definition = context.rulebook.definitions.get((tree.dotted(node.func) or "").removeprefix("nn."))
    if definition is None or definition.is_class or not definition.torch_names or not node.args:
        return None
    array = find(node.args[0].value)
    if array is None or node.args[0].keyword is not None or not definition.asks_shape(definition.parameters[0].name):
        return None
    return tree.replace(node, args=[tree.replace(node.args[0], value=ask(context, "like", array)), *node.args[1:]])


def made_like(context: Context, node: Any, find: Find) -> Any:
    """`jnp.ones_like(self.weight)` of an array that is not made yet: it needs its shape alone. None of other calls."""
    array = find(undetached(node.args[0].value)) if isinstance(node, cst.Call) and tree.dotted(node.func) in LIKE and node.args else None
    if array is None:
        return None
    made = call(LIKE[tree.dotted(node.func) or ""], [ask(context, "shape", array)])
    if tree.dotted(node.func) != "jnp.full_like":
        return made
    return simplified(tree.replace(node, args=[tree.replace(node.args[0], value=made), *node.args[1:]]))


def said_once(node: Any) -> Any:
    """`nn.has(m, "bias")` of `hasattr(m, "bias") and m.bias is not None`, which have become one question asked twice."""
    twice = isinstance(node, cst.BooleanOperation) and isinstance(node.right, cst.Call) and tree.dotted(node.right.func) == "nn.has"
    return node.left if twice and tree.code(node.left) == tree.code(node.right) else node


def undetached(node: Any) -> Any:
    """`m.weight` of `m.weight.data`, which has become `lax.stop_gradient(m.weight)` where the class of m is known."""
    if isinstance(node, cst.Attribute) and node.attr.value == "data":
        return node.value
    return node.args[0].value if isinstance(node, cst.Call) and tree.dotted(node.func) == "lax.stop_gradient" else node


def asked_by_name(node: Any, function: str) -> tuple[Any, str] | None:
    """The object and the name in `getattr(m, "weight", None)` or `hasattr(m, "weight")`, where the name is written out."""
    if not isinstance(node, cst.Call) or tree.dotted(node.func) != function or len(node.args) < 2:
        return None
    name = written_text(node.args[1].value)
    return (node.args[0].value, name) if name is not None else None


# ------------------------------------------------------------------ arrays of other modules


def asked_elsewhere(context: Context, node: Any, own: str | None, filled: Set[str] = frozenset()) -> Any:
    """Questions about the params of another module: `m.bias is not None`, `hasattr(m, "bias")`, `m.weight.shape`.

    What the function gives params values is a module, even where nothing else tells: `filled` has the paths.
    """

    def foreign(n: Any) -> Asked | None:
        return foreign_array(context, n, own)

    if (there := presence(context, node, lambda n: foreign(n) or _foreign_by_name(context, n, own, "getattr", filled))) is not None:
        return there
    if (known := fact(context, node, lambda n: foreign(undetached(n)))) is not None:
        return known
    if (there := _is_array(context, node, foreign)) is not None:
        return there
    if isinstance(node, cst.Attribute) and isinstance(context.value(node.value), Module) and foreign(node) or _foreign_by_name(context, node, own, "getattr", filled):
        return context.unconverted("module-value", node, NO_ARRAYS)
    if isinstance(node, cst.Call) and (shaped := by_shape(context, node, foreign)) is not None:
        return shaped
    named = _foreign_by_name(context, node, own, "hasattr", filled)
    return ask(context, "has", named) if named is not None else None


def truth_asked(context: Context, test: Any, own: str | None) -> Any:
    """`if m.bias:` where torch can say so: of a bias of more than one number it cannot, and None is False."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = truth_asked(context, test.expression, own)
        return None if inner is None else tree.replace(test, expression=inner)
    if isinstance(test, cst.BooleanOperation):
        sides = [truth_asked(context, side, own) or side for side in (test.left, test.right)]
        return tree.replace(test, left=sides[0], right=sides[1]) if any(a is not b for a, b in zip(sides, (test.left, test.right))) else None
    array = foreign_array(context, test, own)
    return ask(context, "has", array) if array is not None and isinstance(context.value(test.value), Module) else None


def foreign_array(context: Context, node: Any, own: str | None) -> Asked | None:
    """`m.weight` of a module that is not self or below it."""
    if not isinstance(node, cst.Attribute) or not (node.attr.value in context.rulebook.array_names or _is_param(context, node)):
        return None
    root: Any = node
    while isinstance(root, (cst.Attribute, cst.Subscript)):  # `vit.to_patch_embedding[2].weight`
        root = root.value
    if not isinstance(root, cst.Name) or root.value == own:
        return None
    base = context.value(node.value)
    return by_path(node) if isinstance(base, Module) or may_be_module(base) else None


def _is_param(context: Context, node: cst.Attribute) -> bool:
    """Whether classes of the user's have a param of such a name, and none has anything but an array: `encoder.pos_embedding`."""
    if not may_be_module(context.value(node.value)):
        return False
    classes = (c for m in context.facts.project.modules.values() for c in m.all_classes)
    found = [value for c in classes if (value := context.facts.attribute(c, node.attr.value)) is not None]
    return all(isinstance(value, Tensor) for value in found) and any(isinstance(value, Tensor) and value.param for value in found)


def below_self(context: Context, node: Any, own: str | None) -> Asked | None:
    """`self.fc.weight`: an array of a submodule that stands already."""
    if not isinstance(node, cst.Attribute) or node.attr.value not in context.rulebook.array_names:
        return None
    dotted = tree.dotted(node.value)
    return by_path(node) if dotted is not None and dotted.startswith(f"{own}.") and isinstance(context.value(node.value), Module) else None


def filled_modules(context: Context, function: cst.FunctionDef, own: str | None) -> set[str]:
    """The paths of the modules whose params a function gives values: m of `m.weight = jnp.zeros_like(m.weight)`."""
    targets = [undetached(n.target) for n in tree.nodes(function.body, cst.AssignTarget, cst.AugAssign)]  # type: ignore[attr-defined]
    return {array.holder for t in targets if (array := foreign_array(context, t, own)) is not None}


def _foreign_by_name(context: Context, node: Any, own: str | None, function: str, filled: Set[str]) -> Asked | None:
    """The array in `getattr(m, "weight", None)` or `hasattr(m, "weight")`, where m is another module."""
    found = asked_by_name(node, function)
    if found is None:
        return None
    subject, name = found
    value, path = context.value(subject), tree.code(subject)
    known = isinstance(value, Module) or path in filled and may_be_module(value)
    return Asked(path, name) if known and name in context.rulebook.array_names and tree.dotted(subject) != own else None


def may_be_module(value: Value) -> bool:
    """Whether a value that is not known for a module may be one: it may be anything, or an attribute of a module of any class."""
    if isinstance(value, Method):
        return isinstance(value.receiver, Module) or may_be_module(value.receiver)
    return is_anything(value)


# ------------------------------------------------------------------ arrays of self


def asked_of_self(original: Original, statement: Any) -> Any:
    """What stays asks for the shape of a param, or whether there is one: the module itself has none of them."""
    context = original.context

    def find(node: Any) -> Asked | None:
        name = original.array(node)
        return Asked(original.holder(name), name) if name is not None else None

    def before(node: Any) -> Any:
        if isinstance(node, (cst.AssignTarget, cst.Del)):
            return node
        if isinstance(node, (cst.AnnAssign, cst.AugAssign)):  # what they assign to is not asked for
            return node if node.value is None else tree.replace(node, value=tree.rewrite(node.value, before, only=_ASKED))
        if isinstance(node, cst.Comparison):
            return presence(context, node, find)
        if isinstance(node, cst.Call):
            there = presence(context, node, find)
            return there if there is not None else made_like(context, node, lambda n: found if (found := find(n)) is not None and found.name in original.inherited else None)
        if (known := fact(context, node, lambda n: find(n) if node.attr.value == "shape" or original.array(n) in original.inherited else None)) is not None:
            return known
        if (row := _size_of_row(context, node, find)) is not None:
            return row
        return context.unconverted("module-value", node, NO_ARRAYS) if _is_missing(original, original.array(node)) else None

    return tree.rewrite(statement, before, only=_ASKED)


_ASKED = {cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Del, cst.Call, cst.Comparison, cst.Attribute}


def _is_missing(original: Original, name: str | None) -> bool:
    """Whether the module itself has nothing of this name: a param or buffer that is never anything else."""
    array = original.own.get(name or "")
    return name in original.inherited or array is not None and array.where in ("params", "state") and not array.plain and not array.optional


def _size_of_row(context: Context, node: Any, find: Find) -> Any:
    """`self.weight[0].numel()`, which has become `self.weight[0].size`."""
    row = node.value if isinstance(node, cst.Attribute) and node.attr.value == "size" else None
    if not isinstance(row, cst.Subscript) or len(row.slice) != 1 or not isinstance(row.slice[0].slice, cst.Index) or not isinstance(row.slice[0].slice.value, cst.Integer):
        return None
    array = find(row.value)
    if array is None:
        return None
    like, shape = (tree.code(ask(context, function, array)) for function in ("like", "shape"))
    return cst.BinaryOperation(tree.expression(f"{like}.size"), cst.FloorDivide(), tree.expression(f"{shape}[0]"), lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
