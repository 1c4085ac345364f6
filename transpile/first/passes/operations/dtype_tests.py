"""Tests of dtypes: torch has one object for each and a name for it, where JAX has several that are equal and other names.

    x.dtype is torch.bool               ->  x.dtype == bool
    x.type() == "torch.DoubleTensor"    ->  x.dtype == jnp.float64
    str(x.dtype).startswith("torch.f")  ->  x.dtype in (jnp.float16, …)
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...apply import Refused
from ...context import Context
from ...emit import display
from ...values import NONE, External, Static, Tensor, Torch, Value

_IS: dict[type, Any] = {cst.Is: cst.Equal, cst.IsNot: cst.NotEqual}
_SAME: dict[type, Any] = {cst.Equal: cst.Equal, cst.NotEqual: cst.NotEqual, cst.In: cst.Equal, cst.NotIn: cst.NotEqual}
_AMONG: dict[type, Any] = {cst.Equal: cst.In, cst.NotEqual: cst.NotIn, cst.In: cst.In, cst.NotIn: cst.NotIn}
_DISPLAYS = (cst.Tuple, cst.List, cst.Set)
_INT = "jnp.result_type(int)"  # `int` alone is int64 to NumPy, also where arrays have 32 bits


def compared(context: Context, node: cst.Comparison) -> cst.Comparison | cst.Name:
    """A comparison with what holds of JAX's dtypes in the place of identity and of torch's names. Raises Refused."""
    new = _equal(context, node)
    if len(new.comparisons) != 1:
        return new
    return _by_name(context, new) or _by_dtype(context, new)


def asked(context: Context, node: cst.Call) -> Any:
    """`x.type().startswith("torch.cuda")`, or None for any other call."""
    func = node.func
    if not isinstance(func, cst.Attribute) or func.attr.value not in ("startswith", "endswith") or len(node.args) != 1:
        return None
    subject, text = _Subject.of(context, func.value), node.args[0].value
    if subject is None or subject.form == "dtype" or not isinstance(text, cst.SimpleString):
        return None
    wanted = str(text.evaluated_value)
    if subject.form == "str" and "torch" not in wanted:
        return None  # torch.float32 and float32 end alike
    return _one_of(subject.node, _dtypes(context, [n for n in subject.names(context) if getattr(n, func.attr.value)(wanted)]), cst.In())


class _Subject:
    """What is compared: an expression of a dtype, and whether by itself, by `str(…)`, or by `.type()` of a tensor."""

    def __init__(self, node: Any, form: str) -> None:
        self.node, self.form = node, form

    @staticmethod
    def of(context: Context, node: Any) -> _Subject | None:
        if isinstance(node, cst.Call) and context.value(node.func) in (External("builtins.str"), External("builtins.repr")) and len(node.args) == 1:
            inner = node.args[0].value
            return _Subject(inner, "str") if is_dtype(context, context.value(inner)) else None
        if not is_dtype(context, context.value(node)):
            return None
        by_type = isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "type" and not node.args
        return _Subject(node, "type" if by_type else "dtype")

    def may_be(self, texts: list[str]) -> bool:
        """Whether it is compared with names of torch's: `config.dtype == "torch.float16"` asks for a string of the user's."""
        if self.form == "dtype":
            return isinstance(self.node, cst.Name) and all(t.startswith("torch.") and t.endswith("Tensor") for t in texts)  # of an earlier `x.type()`
        return any(t.startswith("torch.") for t in texts)

    def names(self, context: Context) -> list[str]:
        """All that torch may call it, on a CPU."""
        if self.form == "type":
            return [name.removesuffix("[dtype]") for name in context.rulebook.constants if name.endswith("Tensor[dtype]") and ".cuda." not in name]
        return [name for name in context.rulebook.constants if _constant(context, name) is not None and name[-1:].isdigit()] + ["torch.bool"]


def is_one_of(context: Context, subject: Any, types: list[str]) -> cst.Comparison | cst.Name:
    """Whether a dtype is that of one of these types of tensors: torch.LongTensor, torch.cuda.ByteTensor."""
    return _one_of(subject, _dtypes(context, types), cst.In())


def is_dtype(context: Context, value: Value) -> bool:
    """Whether a value is a dtype, torch's own or one that only the run tells."""
    return isinstance(value, Static) and value.type == "dtype" or isinstance(value, Torch) and _constant(context, value.name) is not None


def _constant(context: Context, name: str) -> str | None:
    """`jnp.float32` for torch.float32."""
    found = context.rulebook.constant(name)
    return found if found in ("int", "bool") or found is not None and found.startswith("jnp.") and found != "jnp.dtype" else None


def _equal(context: Context, node: cst.Comparison) -> cst.Comparison:
    """`==` for the `is` between dtypes."""
    before, targets = node.left, []
    for target in node.comparisons:
        values = [context.value(before), context.value(target.comparator)]
        other = _IS.get(type(target.operator))
        if other is not None and NONE not in values and any(is_dtype(context, v) for v in values) and not any(isinstance(v, External) for v in values):
            target = tree.replace(target, operator=other())
        before = target.comparator
        targets.append(target)
    if tree.same(targets, node.comparisons):
        return node
    new = tree.replace(node, comparisons=targets)
    context.facts.carry(node, new)
    return new


def _by_name(context: Context, node: cst.Comparison) -> cst.Comparison | cst.Name | None:
    """The comparison of a dtype's name; None where it is none, or one that holds in JAX as it does in torch."""
    operator, right = node.comparisons[0].operator, node.comparisons[0].comparator
    if type(operator) not in _SAME:
        return None
    first, second = _Subject.of(context, node.left), _Subject.of(context, right)
    if first is not None and second is not None and "str" not in (first.form, second.form):
        return None
    if first is not None and second is not None and first.form == second.form:
        return _of(node, first.node, operator, second.node)
    subject, other = (first, right) if first is not None else (second, node.left)
    if subject is None:
        return None
    texts = _texts(other)
    if texts is not None and second is not None and isinstance(operator, (cst.In, cst.NotIn)):
        return _holding(context, subject, texts[0], operator)
    if texts is not None:
        return _one_of(subject.node, _dtypes(context, texts), operator) if subject.may_be(texts) else None
    if subject.form == "type" or subject.form == "str" and _of_tensor(context, subject.node):
        raise Refused("the name of a dtype is another here: compare dtypes")
    return None


def _holding(context: Context, subject: _Subject, text: str, operator: Any) -> cst.Comparison | cst.Name | None:
    """`"cuda" in x.type()`"""
    if subject.form == "dtype" or subject.form == "str" and "torch" not in text:
        return None
    return _one_of(subject.node, _dtypes(context, [n for n in subject.names(context) if text in n]), operator)


def _texts(node: Any) -> list[str] | None:
    """The strings that are written out in a literal or a display of such."""
    parts: list[Any] = [e.value for e in node.elements] if isinstance(node, _DISPLAYS) else [node]
    return [str(p.evaluated_value) for p in parts] if parts and all(isinstance(p, cst.SimpleString) for p in parts) else None


def _dtypes(context: Context, names: list[str]) -> list[str]:
    """The dtypes by these names of torch's, each once."""
    found = [_constant(context, f"{name}[dtype]") or _constant(context, name) for name in names]
    if None in found:
        raise Refused(f"no dtype here is called {names[found.index(None)]}")
    return list(dict.fromkeys(_INT if f == "int" else str(f) for f in found))


def _one_of(subject: Any, dtypes: list[str], operator: Any) -> cst.Comparison | cst.Name:
    """`subject == dtype`, or `subject in (…)`; of no dtypes it is never one."""
    if not dtypes:
        return cst.Name("False" if isinstance(operator, (cst.In, cst.Equal)) else "True")
    if len(dtypes) == 1:
        return _of(None, subject, _SAME[type(operator)](), tree.expression(dtypes[0]))
    return _of(None, subject, _AMONG[type(operator)](), tree.parenthesised(display([tree.expression(d) for d in dtypes])))


def _of(node: cst.Comparison | None, left: Any, operator: Any, right: Any) -> cst.Comparison:
    made = node if node is not None else tree.expression("a == b")
    target = tree.replace(made.comparisons[0], operator=operator, comparator=tree.fit(made.comparisons[0], "comparator", right))
    return tree.replace(made, left=tree.fit(made, "left", left), comparisons=[target])


def _by_dtype(context: Context, node: cst.Comparison) -> cst.Comparison:
    """`x.dtype == torch.long` and `x.dtype in {torch.half, torch.float}`, whose hashes are not equal where they are."""
    target = node.comparisons[0]
    if type(target.operator) not in _SAME or not _of_tensor(context, node.left):
        return node
    parts = target.comparator.elements if isinstance(target.comparator, _DISPLAYS) else [target.comparator]
    if any(isinstance(p, cst.StarredElement) for p in parts):
        return node
    values = [p.value if isinstance(p, cst.Element) else p for p in parts]
    found = [_following(context, v) for v in values]
    if isinstance(target.comparator, cst.Set):
        right: Any = tree.replace(tree.expression("[]"), elements=[cst.Element(f) for f in found])
    elif isinstance(target.comparator, _DISPLAYS):
        right = tree.replace(target.comparator, elements=[tree.replace(p, value=f) for p, f in zip(parts, found)])
    else:
        right = found[0]
    changed = isinstance(target.comparator, cst.Set) or not tree.same(found, values)
    return _of(node, node.left, target.operator, right) if changed else node


def _following(context: Context, node: Any) -> Any:
    """torch.int64 as what arrays of it are: of 32 bits where jax_enable_x64 is off."""
    value = context.value(node)
    return tree.expression(_INT) if isinstance(value, Torch) and _constant(context, value.name) == "int" else node


def _of_tensor(context: Context, node: Any) -> bool:
    """`x.dtype` of a tensor, or its `x.type()`."""
    inner = node.func if isinstance(node, cst.Call) and not node.args else node
    return isinstance(inner, cst.Attribute) and inner.attr.value in ("dtype", "type") and isinstance(context.value(inner.value), Tensor)
