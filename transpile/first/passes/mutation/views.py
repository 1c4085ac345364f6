"""Views written out: taken again of another base, and their base with new values at their places."""

from __future__ import annotations

from typing import Any, TypeGuard

import libcst as cst

from ... import tree
from ...emit import call, enclosed
from ...values import Method, Sequence, Static, Tensor
from .frame import Frame
from .histories import kept

# views whose places in what they are views of are each there once
_PLACES = frozenset("narrow select diagonal permute movedim moveaxis".split())


def of_base(frame: Frame, view: Any, name: str) -> Any:
    """The expression of a view, of another base."""
    facts = frame.facts
    if _is_one_of_several(view):
        whole = of_base(frame, view.value, name)
        facts.tell(whole, Sequence(Tensor()))
        part = tree.replace(view, value=whole)
        facts.tell(part, Tensor())
        return part
    base = frame.named(name)
    if isinstance(view, cst.Call):
        new: Any = tree.replace(view, func=tree.replace(view.func, value=base))
        facts.tell(new.func, Method(Tensor(), new.func.attr.value))
    else:
        new = tree.replace(view, value=base)
    facts.carry(view, new)
    return new


def _is_one_of_several(view: Any) -> bool:
    """`z.chunk(2)[0]`"""
    return isinstance(view, cst.Subscript) and isinstance(view.value, cst.Call)


def is_part(frame: Frame, view: Any) -> bool:
    """`z.chunk(2)[0]` of a tensor z."""
    part = _is_one_of_several(view) and isinstance(view.value.func, cst.Attribute) and frame.views.get(view.value.func.attr.value) == "parts"
    return part and frame.is_tensor(view.value.func.value)


def written_back(frame: Frame, view: Any, value: Any) -> Any:
    """The base after a view of it was written; None where that cannot be said."""
    if _is_one_of_several(view):
        return _put_through(frame, view, view.value.func.value, value)
    if isinstance(view, cst.Subscript):
        return at_index(frame, view.value, view, "set", value)
    if isinstance(view, cst.Call):
        return put_back(frame, view, value)
    if is_transposed(view):
        return tree.replace(view, value=value)
    return kept(frame, view.value, value) if isinstance(view, cst.Attribute) else None


def put_back(frame: Frame, view: Any, value: Any) -> Any:
    """The base after a view of it, made by a call, got a new value: `x.view(-1)[i] = v`."""
    facts, base, method = frame.facts, view.func.value, view.func.attr.value
    kind = frame.views.get(method)
    if kind == "same":
        return kept(frame, base, value) if method == "detach" else value
    if kind == "reshape":
        made = tree.expression("a.reshape(b.shape)")
        shape = cst.Attribute(base, cst.Name("shape"))
        made = tree.replace(made, func=tree.replace(made.func, value=tree.fit(made.func, "value", value)), args=[cst.Arg(shape)])
        facts.tell(made.func, Method(Tensor(), "reshape"))
        facts.tell(shape, Static(type="shape"))
        facts.carry(base, made)
        return made
    if kind == "swap":
        made = tree.replace(view, func=tree.replace(view.func, value=tree.fit(view.func, "value", value)))
        facts.tell(made.func, Method(Tensor(), method))
        facts.carry(base, made)
        return made
    if kind == "part" and method in _PLACES and isinstance(frame.value(view.func), Method):
        return _put_through(frame, view, base, value)
    return None


def _put_through(frame: Frame, view: Any, base: Any, value: Any) -> Any:
    """The base with new values at the places that a view of it has: `nn.write_view(z, lambda z: z.diagonal(), value)`."""
    name = base.value if isinstance(base, cst.Name) else "array"
    function = tree.expression(f"lambda {name}: 0")
    made = call(frame.context.name("write_view"), [base, tree.replace(function, body=of_base(frame, view, name)), value])
    frame.facts.carry(base, made)
    return made


def at_index(frame: Frame, base: Any, target: cst.Subscript, method: str, value: Any) -> Any:
    """The base with new values at an index: `base.at[i].set(value)`, or another method in place of `set`."""
    at = cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", base), cst.Name("at"))
    made = cst.Call(cst.Attribute(tree.replace(target, value=at), cst.Name(method)), [cst.Arg(enclosed(value))])
    frame.facts.carry(base, made)
    return made


def is_transposed(node: Any) -> TypeGuard[cst.Attribute]:
    """`x.T` or `x.mT`, which is undone by itself."""
    return isinstance(node, cst.Attribute) and node.attr.value in ("T", "mT")
