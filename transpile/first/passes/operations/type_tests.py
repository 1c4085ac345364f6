"""Tests of types that JAX's arrays do not have: by dtype, numbers that are arrays under jit, and parameters.

isinstance(x, torch.LongTensor)     ->  isinstance(x, jax.Array) and x.dtype == jnp.result_type(int)
isinstance(x.sum().item(), float)   ->  jnp.issubdtype(jnp.result_type(x.sum()), jnp.floating)
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...apply import Refused, simple
from ...arrays import PARAMETER
from ...emit import call, display
from ...values import External, Module, Tensor, Torch, is_anything
from . import dtype_tests
from .walk import Walk

_NUMBERS = {
    "builtins.float": "jnp.floating",
    "numpy.floating": "jnp.floating",
    "builtins.int": "jnp.integer",
    "numpy.integer": "jnp.integer",
}
_ANY_NUMBER = frozenset({"numbers.Number", "numbers.Real"})
_ANSWERS: dict[type, bool] = {
    cst.Is: True,
    cst.Equal: True,
    cst.In: True,
    cst.IsNot: False,
    cst.NotEqual: False,
    cst.NotIn: False,
}


def asked(walk: Walk, node: cst.Call) -> Any:
    """What stands for `isinstance(subject, kinds)`; None where it holds as it is. Raises Refused."""
    if (
        walk.context.value(node.func) != External("builtins.isinstance")
        or len(node.args) != 2
        or any(a.keyword is not None or a.star for a in node.args)
    ):
        return None
    subject, kinds = (a.value for a in node.args)
    parts = _parts(kinds)
    if any(_torch_name(walk, p) in PARAMETER for p in parts):
        _of_parameter(walk, subject)
    return _of_dtype(walk, node, subject, parts) or _of_number(walk, subject, parts)


def compared(walk: Walk, node: cst.Comparison) -> Any:
    """What stands for `type(n) == int` where n is an array under jit; None for any other comparison. Raises Refused."""
    left, target = node.left, node.comparisons[0]
    if (
        not isinstance(left, cst.Call)
        or walk.context.value(left.func) != External("builtins.type")
        or len(left.args) != 1
        or len(node.comparisons) != 1
    ):
        return None
    made = (
        _of_number(walk, left.args[0].value, _parts(target.comparator)) if type(target.operator) in _ANSWERS else None
    )
    if made is None or _ANSWERS[type(target.operator)]:
        return made
    return tree.parenthesised(cst.UnaryOperation(cst.Not(), made))


def _parts(kinds: Any) -> list[Any]:
    return [e.value for e in kinds.elements] if isinstance(kinds, (cst.Tuple, cst.List)) else [kinds]


def _torch_name(walk: Walk, node: Any) -> str | None:
    value = walk.context.value(node)
    return value.name if isinstance(value, Torch) else None


def _is_tensor_type(walk: Walk, node: Any) -> bool:
    """Whether a type is that of all tensors."""
    return _torch_name(walk, node) in ("torch.Tensor", "torch.autograd.Variable")


# ------------------------------------------------------------------ types of tensors


def _of_dtype(walk: Walk, node: cst.Call, subject: Any, parts: list[Any]) -> Any:
    """`isinstance(x, (torch.FloatTensor, torch.cuda.FloatTensor))`: one type where torch has one for each dtype and device."""
    names = [_torch_name(walk, p) for p in parts]
    dtypes = [name for name in names if name is not None and walk.context.rulebook.constant(f"{name}[dtype]")]
    if not dtypes or any(_is_tensor_type(walk, p) for p in parts):
        return None
    if not simple(subject):
        raise Refused("tests of a tensor's type are of names here")
    test = dtype_tests.is_one_of(walk.context, cst.Attribute(subject, cst.Name("dtype")), dtypes)
    known = walk.context.value(subject)
    others = [p for p, name in zip(parts, names) if name not in dtypes]
    if isinstance(known, Tensor) and not known.assumed and not known.none and not known.number and not others:
        return test
    both = tree.parenthesised(
        cst.BooleanOperation(call("isinstance", [subject, tree.expression("jax.Array")]), cst.And(), test)
    )
    if not others:
        return both
    other = call("isinstance", [subject, others[0] if len(others) == 1 else display(others)])
    return tree.parenthesised(cst.BooleanOperation(other, cst.Or(), both))


# ------------------------------------------------------------------ numbers


def _of_number(walk: Walk, subject: Any, parts: list[Any]) -> Any:
    """Whether a number that is an array here has one of these types; None where it is no such number, or no such type is asked for."""
    known = walk.context.value(subject)
    names = [v.name if isinstance(v := walk.context.value(p), External) else "" for p in parts]
    asked = {_NUMBERS[n] for n in names if n in _NUMBERS}
    every = len(asked) == 2 or bool(_ANY_NUMBER & set(names))
    if is_anything(known) and (asked or every) and _is_set_to_number(walk, subject) and not any(_is_tensor_type(walk, p) for p in parts):
        known = Tensor(number=True)
    if (
        not walk.runs
        or not isinstance(known, Tensor)
        or known.assumed
        or known.number is False
        or not asked
        and not every
    ):
        return None
    if every and any(_is_tensor_type(walk, p) for p in parts):
        return None
    if known.number is None:
        raise Refused("what may be a tensor or a number of Python's is an array here in either case")
    if every:
        return call("isinstance", [subject, display([*map(walk.convert, parts), tree.expression("jax.Array")])])
    if not all(n in _NUMBERS for n in names):
        raise Refused("a number that is computed from a tensor is an array here")
    return call("jnp.issubdtype", [call("jnp.result_type", [subject]), tree.expression(asked.pop())])


def _is_set_to_number(walk: Walk, subject: Any) -> bool:
    """Whether a name of any value becomes one that torch takes out of a tensor: `if torch.is_tensor(v): v = v.item()`."""
    body = walk.functions[-1].body if walk.functions and isinstance(subject, cst.Name) else None
    made = [n.value for n in tree.nodes(body, cst.Assign) for t in n.targets if tree.target_names(t.target) == [subject.value]] if body is not None else []
    values = [walk.context.value(walk.context.facts.origin.get(id(m), m)) for m in made]
    return any(isinstance(v, Tensor) and v.number is not False for v in values)


# ------------------------------------------------------------------ parameters


def _of_parameter(walk: Walk, subject: Any) -> None:
    """Of what may be a parameter it is reported that parameters are arrays like any other."""
    known = walk.context.value(subject)
    if isinstance(subject, cst.Attribute) and isinstance(walk.context.value(subject.value), Module) and isinstance(known, Tensor) and known.param:
        return  # the params tell whether it is one
    computed = isinstance(known, Tensor) and not known.assumed and not known.param and not _is_given(walk, subject)
    if walk.runs and not computed and (isinstance(known, Tensor) or is_anything(known)):
        walk.context.report(
            "taken-for-granted",
            subject,
            "parameters are arrays like any other here, so that nothing is an instance of nn.Parameter: see that the other way computes the same values",
        )


def _is_given(walk: Walk, subject: Any) -> bool:
    """Whether a name is a parameter of the function around."""
    return (
        isinstance(subject, cst.Name)
        and bool(walk.functions)
        and subject.value in tree.parameter_names(walk.functions[-1])
    )
