"""Which piece of memory an expression is certain to be, or a view of, and what is not known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from .. import tree
from ..inplace import is_handed, is_inplace_name, is_undecided, says_inplace
from ..values import (
    NUMPY,
    External,
    Function,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_anything,
)
from .calls import given_back, passes, targets
from .places import COMPUTED, Part, Place
from .sharing import HANDING_ON, is_kept, makes_object, shares, view_base

if TYPE_CHECKING:
    from .memory import Memory


def places_of(memory: Memory, value: Any) -> frozenset[Place]:
    """The places that an expression's value may be."""
    if isinstance(value, Part):
        return frozenset([Place(shares(memory, value), unheld=taken_unheld(memory, value.value), foreign=made_elsewhere(memory, value.value))])
    name = memory.name(value)
    if name is not None and name not in ("None", "True", "False"):
        return memory.places(name)
    if (path := memory.state(value)) is not None:
        return memory.places(path)
    if isinstance(value, cst.NamedExpr):
        return places_of(memory, value.target)
    if isinstance(value, cst.IfExp):
        return places_of(memory, value.body) | places_of(memory, value.orelse)
    if repeats_memory(memory, value):
        return frozenset([Place(shares(memory, value), repeated=True)])
    written = written_by(memory, value)
    if written is not None:
        return places_of(memory, written)  # an in-place call returns what it writes
    if (same := given_back(memory, value)) is not None:
        return same
    base = view_base(memory, value)
    if base is not None:
        other = tuple((n, memory.places(n)) for n in sorted(tree.names_read(value) - {base, "torch", memory.info.self_name or ""}))
        return frozenset([Place(memory.places(base), value, base, other)])
    shared, holder = shares(memory, value), holder_of(memory, value)
    if holder is not None:
        other = tuple((n, memory.places(n)) for n in sorted(tree.names_read(value) - {memory.info.self_name or ""}))
        return frozenset([Place(shared, None, holder, other, entry=value)])
    return frozenset([Place(shared, parts=gives_parts(memory, value), foreign=made_elsewhere(memory, value), computed=computed_by(memory, value))])


def gives_parts(memory: Memory, node: Any) -> bool:
    """Whether an expression is a tuple of different parts of a tensor: `x.chunk(2)`, or a name for that."""
    if (name := memory.name(node)) is not None:
        place = memory.only(name)
        return place is not None and place.parts
    value = memory.context.value(node.func) if isinstance(node, cst.Call) else None
    return isinstance(value, (Method, Torch)) and memory.views.get(value.name.rpartition(".")[2]) == "parts"


def taken_unheld(memory: Memory, node: Any) -> bool:
    """Whether a loop goes over what a dict holds that has no name here, and that others may have: `unwrap(m).state_dict().items()`."""
    if not isinstance(node, cst.Call):
        return False
    if isinstance(function := memory.context.value(node.func), External):
        return function.name.removeprefix("builtins.") in HANDING_ON and any(taken_unheld(memory, a.value) for a in node.args)
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value not in ("items", "values", "buffers", "named_buffers"):
        return False
    held: Any = node.func.value
    if node.func.attr.value.endswith("buffers"):
        return True
    if memory.name(held) is not None or shares(memory, held):
        return False  # the write reaches what that name stands for
    return not is_new(memory, held) if isinstance(held, cst.Call) else isinstance(held, (cst.Attribute, cst.Subscript))


def made_elsewhere(memory: Memory, node: Any) -> bool:
    """Whether an expression is a call of nobody knows what, which may give what others hold."""
    if (name := memory.name(node)) is not None:
        return any(p.foreign for p in memory.env.get(name, ()))
    if not isinstance(node, cst.Call):
        return False
    value = memory.context.value(node.func)
    if isinstance(value, External):
        plain = value.name.removeprefix("builtins.")
        if plain in HANDING_ON:
            return any(made_elsewhere(memory, a.value) for a in node.args)
        return plain == value.name and value.name.partition(".")[0] not in ("numpy", "math", "einops", "random", "itertools", "lambda") and not targets(memory, node.func)
    if isinstance(value, Method):
        return is_anything(value.receiver) and value.name not in memory.views and not memory.context.rulebook.find("torch.Tensor." + value.name) and not targets(memory, node.func)
    return False


def is_new(memory: Memory, node: cst.Call) -> bool:
    """Whether a call makes a dict of its own, as far as can be said: of the user's functions only those that build what they return."""
    value = memory.context.value(node.func)
    if not isinstance(value, Function):
        called = isinstance(value, (Torch, Module)) or memory.name(node.func) is not None  # `model(x)`: outputs
        return called or isinstance(value, External) and value.name.removeprefix("builtins.") not in ("vars", "getattr")
    body = value.info.node.body
    given = [n.value for n in tree.walk_scope(body) if isinstance(n, cst.Return)]
    names = {n.value for n in given if isinstance(n, cst.Name)}
    bound = [n for n in tree.walk_scope(body) if isinstance(n, cst.Assign) and any(memory.name(t.target) in names for t in n.targets)]
    made = [*(n for n in given if not isinstance(n, cst.Name)), *(n.value for n in bound)]
    return names.isdisjoint(tree.parameter_names(value.info.node)) and bool(made) and all(isinstance(n, cst.Dict) or isinstance(n, cst.Call) and tree.dotted(n.func) == "dict" for n in made)


def holder_of(memory: Memory, node: Any) -> str | None:
    """The name of the dict, list or plain object that an expression takes something out of."""
    if isinstance(node, cst.Subscript):
        held = memory.context.value(node.value)
        one = len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index)
        return memory.name(node.value) if one and (isinstance(held, Mapping) or isinstance(held, Sequence) and not held.tuple) else None
    if isinstance(node, cst.Call):
        return COMPUTED if memory.is_computed(node) else None
    return memory.name(node.value) if isinstance(node, cst.Attribute) and is_kept(memory, node) else None


def repeats_memory(memory: Memory, node: Any) -> bool:
    """Whether an expression is a list that may have one tensor, or one list, in two places."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        held = [e.value for side in (node.left, node.right) if isinstance(side, (cst.List, cst.Tuple)) for e in side.elements]
        return any(not isinstance(memory.context.value(e), Static) or memory.context.value(e) == NUMPY for e in held)
    if isinstance(node, cst.Call) and makes_object(memory, node.func):
        return overlap(memory, [a.value for a in node.args])
    if isinstance(node, cst.Call):
        known = isinstance(memory.context.value(node.func), (Torch, Method))
        return not known and any(passes(memory, target).repeated for target in targets(memory, node.func))
    if isinstance(node, cst.ListComp) and isinstance(memory.context.value(node.elt), Tensor):
        bound = set(tree.times_bound(node))  # `[h for _ in range(3)]`: in each turn the same
        return memory.name(node.elt) is not None and not tree.names_read(node.elt) & bound
    if not isinstance(node, (cst.List, cst.Tuple, cst.Dict)):
        return False
    return overlap(memory, [e.value for e in node.elements])


def overlap(memory: Memory, values: list[Any]) -> bool:
    """Whether two of several expressions may be the same memory."""
    held_places = [{p for place in shares(memory, value) for p in place.closure()} for value in values]
    return any(a & b for i, a in enumerate(held_places) for b in held_places[:i])


def written_by(memory: Memory, node: Any) -> Any:
    """What `x.add_(1)` or `torch.relu_(x)` writes."""
    if not isinstance(node, cst.Call):
        return None
    value = memory.context.value(node.func)
    if isinstance(value, Method) and isinstance(node.func, cst.Attribute) and is_inplace_name(value.name):
        return node.func.value
    if isinstance(value, Torch) and (is_inplace_name(value.name) or says_inplace(memory.context, node) and not is_undecided(memory.context, node)) and node.args:
        return node.args[0].value
    if isinstance(value, Module) and value.inplace is True and len(value.classes) <= 1 and len(node.args) == 1 or is_handed(memory.context, node) and says_inplace(memory.context, node):
        return node.args[0].value
    return None


def computed_by(memory: Memory, node: Any) -> Value | None:
    made = memory.context.value(node)
    return made if isinstance(node, (cst.BinaryOperation, cst.UnaryOperation)) and is_anything(made) else None
