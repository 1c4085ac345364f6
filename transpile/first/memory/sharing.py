"""What the value of an expression may share memory with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import libcst as cst

from .. import tree
from ..callables import Target
from ..casts import is_copy
from ..indices import index_kind
from ..inplace import is_handed, is_inplace_name, says_inplace
from ..values import (
    NUMPY,
    UNKNOWN,
    Class,
    External,
    Function,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    is_anything,
)
from .calls import around, forwards, functions_called, handed, is_inside, passes, targets
from .places import COMPUTED, Part, Place, union

if TYPE_CHECKING:
    from .memory import Memory

_HOLDERS = frozenset({"items", "values", "get", "setdefault", "pop"})  # methods of what may be a dict, by which it gives what it holds
# Python's functions that give back what they are given, or what holds it.
HANDING_ON = frozenset("list tuple dict reversed sorted zip enumerate iter next filter max min copy.copy itertools.chain collections.OrderedDict collections.deque".split())


def view_base(memory: Memory, node: Any) -> str | None:
    """The name that an expression is a certain view of: `base[...]`, `base.view(...)`, `base.T`."""
    if isinstance(node, cst.Subscript) and isinstance(memory.context.value(node.value), Tensor):
        return memory.name(node.value) if index_kind(memory.context, node.slice) == "basic" else None
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        value = memory.context.value(node.func)
        if isinstance(value, Method) and memory.views.get(node.func.attr.value) in ("same", "reshape", "swap", "part"):
            return memory.name(node.func.value) if not is_copy(memory.context, node) else None
    if isinstance(node, cst.Attribute) and node.attr.value in ("T", "mT", "data"):
        return memory.name(node.value)
    return None


def shares(memory: Memory, node: Any) -> frozenset[Place]:
    """Places that the value of an expression may lie in."""
    if isinstance(node, Part):
        return frozenset() if isinstance(memory.context.value(node.value), Mapping) else shares(memory, node.value)  # the keys of a dict
    value = memory.context.value(node)
    if isinstance(value, Static) and value != NUMPY:
        return frozenset()
    if isinstance(value, Function) and isinstance(node, (cst.Name, cst.Attribute)):  # as of a lambda
        function = Target(value.info, memory.scope)
        return around(memory, passes(memory, function)) if is_inside(memory, function) else frozenset()
    if isinstance(node, cst.Name):
        return memory.places(node.value) if node.value not in ("None", "True", "False") and not isinstance(value, (Module, External, Torch)) else frozenset()
    if isinstance(node, cst.Attribute):
        name = memory.name(node)
        if name is not None:
            return memory.places(name) if isinstance(value, (Tensor, Sequence, Mapping)) or value in (UNKNOWN, NUMPY) else frozenset()
        if (path := memory.state(node)) is not None:
            return memory.places(path)
        return shares(memory, node.value) if node.attr.value in memory.views or is_kept(memory, node) else frozenset()
    if isinstance(node, cst.Subscript):
        return of_subscript(memory, node)
    if isinstance(node, (cst.Tuple, cst.List)):
        return union(shares(memory, e.value) for e in node.elements)
    if isinstance(node, cst.Dict):
        return union(shares(memory, e.value) for e in node.elements)
    if isinstance(node, cst.IfExp):
        return shares(memory, node.body) | shares(memory, node.orelse)
    if isinstance(node, cst.BooleanOperation):
        return shares(memory, node.left) | shares(memory, node.right)
    if isinstance(node, cst.BinaryOperation):  # of lists: a sum, or one several times
        held = isinstance(value, Sequence) or any(isinstance(side, (cst.List, cst.Tuple)) for side in (node.left, node.right))
        return shares(memory, node.left) | shares(memory, node.right) if held else frozenset()
    if isinstance(node, cst.NamedExpr):
        return shares(memory, node.value)
    if isinstance(node, cst.Lambda):  # what is called with its result has that of it
        return around(memory, passes(memory, Target(node, memory.scope)))
    if isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.DictComp)):
        return of_each(memory, node.for_in, node.value if isinstance(node, cst.DictComp) else node.elt)
    if isinstance(node, cst.Call):
        return of_call(memory, node)
    return frozenset()


def of_subscript(memory: Memory, node: cst.Subscript) -> frozenset[Place]:
    base = memory.context.value(node.value)
    if isinstance(base, Tensor):
        for element in node.slice:
            if isinstance(element.slice, cst.Index):
                index = memory.context.value(element.slice.value)
                if isinstance(element.slice.value, cst.List) or isinstance(index, Tensor) and not index.assumed:
                    return frozenset()  # a copy
    return shares(memory, node.value)


def of_call(memory: Memory, node: cst.Call) -> frozenset[Place]:
    value = memory.context.value(node.func)
    if memory.is_computed(node):
        return memory.places(COMPUTED)
    if isinstance(value, Method) and isinstance(node.func, cst.Attribute):
        if isinstance(value.receiver, Module) or value.name == "keys" or _is_copied(node) or is_copy(memory.context, node):
            return frozenset()
        if value.name in _HOLDERS and node.args:  # `d.get("a", z)`
            return shares(memory, node.func.value) | union(shares(memory, a.value) for a in node.args)
        if value.name in memory.views or value.name in _HOLDERS or is_inplace_name(value.name) or isinstance(value.receiver, (Sequence, Mapping)):
            return shares(memory, node.func.value)
        return frozenset()
    everything = union(shares(memory, a.value) for a in node.args)
    if is_handed(memory.context, node):
        return shares(memory, node.args[0].value) if says_inplace(memory.context, node) else frozenset()
    if isinstance(value, Torch):
        last = value.name.rpartition(".")[2]
        if last in memory.views or last.endswith("_") or says_inplace(memory.context, node):
            return shares(memory, node.args[0].value) if node.args else frozenset()
        return frozenset()
    if isinstance(value, Module):
        if passes_on(memory, value):
            return everything
        if not value.open:
            return union(handed(memory, t, node, passes(memory, t)) for t in functions_called(memory, node))
    if value == External("builtins.map") and node.args:
        return of_map(memory, node)
    if value == External("einops.rearrange"):
        return shares(memory, node.args[0].value) if node.args and not moves_apart(node) else frozenset()
    if makes_object(memory, node.func) or isinstance(value, External) and value.name.removeprefix("builtins.") in HANDING_ON:
        return everything
    return union(handed(memory, t, node, passes(memory, t)) for t in functions_called(memory, node)) | of_parameter(memory, node)


def passes_on(memory: Memory, value: Module) -> bool:
    """Whether a layer of torch's may give back what it is given, or a view of it: nn.Identity, nn.Flatten, an empty nn.Sequential."""
    kinds = {r.rpartition(".")[2].lower() for r in value.classes if isinstance(r, str)}
    if value.inplace is not False or any(memory.views.get(k) == "same" or k in ("identity", "flatten") for k in kinds):
        return True
    held = [v for _, v in value.items] if value.items is not None else [value.element] if value.element is not None else []
    return "sequential" in kinds and all(isinstance(one, Module) and (passes_on(memory, one) or passes_argument(memory, one)) for one in held)


def passes_argument(memory: Memory, value: Module) -> bool:
    """Whether a module of the user's may give back an argument."""
    return any(passes(memory, t).parameters for t in forwards(memory, value))


def of_each(memory: Memory, loop: cst.CompFor, element: Any) -> frozenset[Place]:
    """What the element of a comprehension shares, in any of its turns."""
    inner = loop.inner_for_in
    return with_target(memory, loop.target, Part(loop.iter), element if inner is None else lambda: of_each(memory, inner, element))


def with_target(memory: Memory, target: Any, value: Any, element: Any) -> frozenset[Place]:
    """What an expression shares where a target has a value."""
    before = dict(memory.env)
    memory.bind(target, value)
    found: frozenset[Place] = element() if callable(element) else shares(memory, element)
    memory.env = before
    return found


def of_map(memory: Memory, node: cst.Call) -> frozenset[Place]:
    """What `map(f, xs, ys)` gives: what f returns of each."""
    each = tree.replace(node, args=node.args[1:])
    return union(handed(memory, t, each, passes(memory, t)) for t in targets(memory, node.args[0].value))


def makes_object(memory: Memory, function: Any) -> bool:
    """Whether a call makes an object, which keeps what it is made of: of a class, also of another library's, or of a namedtuple's."""
    value = memory.context.value(function)
    if isinstance(value, Class):
        return not isinstance(value.ref, str)
    if isinstance(value, External):
        return value.name.rpartition(".")[2][:1].isupper()
    if not isinstance(function, cst.Name) or not is_anything(value):
        return False
    made = memory.context.facts.project.definition(memory.info.module, function.value)
    return isinstance(made, cst.Call) and (tree.dotted(made.func) or "").rpartition(".")[2] in ("namedtuple", "NamedTuple", "make_dataclass")


def of_parameter(memory: Memory, node: cst.Call) -> frozenset[Place]:
    """What a function that was passed in may give back of what was around it: `d()` of `default(x, lambda: y)`."""
    if not isinstance(node.func, cst.Name):
        return frozenset()
    return frozenset(p for p in memory.places(node.func.value) if p.parameter == node.func.value)


def is_kept(memory: Memory, node: cst.Attribute) -> bool:
    """Whether an attribute may be a tensor that an object of unknown class keeps: `batch.h`, not `x.T`."""
    known = memory.context.rulebook.find("torch.Tensor." + node.attr.value) or node.attr.value in memory.views
    return is_anything(memory.context.value(node.value)) and not known


def moves_apart(node: cst.Call) -> bool:
    """Whether `rearrange(x, "b n (h d) -> (b h) n d")` is certain to copy: it joins dims that do not lie behind one another in x."""
    given: Any = node.args[1].value if len(node.args) > 1 else None
    pattern = tree.literal(given) if isinstance(given, (cst.SimpleString, cst.ConcatenatedString)) else None
    if not isinstance(pattern, str) or pattern.count("->") != 1:
        return False
    left, right = pattern.split("->")
    order = left.replace("(", " ").replace(")", " ").split()
    for joined in re.findall(r"\(([^()]*)\)", right):
        names = [n for n in joined.split() if n != "1"]
        if any(n not in order for n in names):
            return False
        places = [order.index(n) for n in names]
        if any(b != a + 1 for a, b in zip(places, places[1:])):
            return True
    return False


def _is_copied(node: cst.Call) -> bool:
    """`x.permute(0, 2, 1).contiguous()`: the elements are brought into another order. Only of dims of size 1 it is x itself."""
    func: Any = node.func
    moved: Any = func.value
    if func.attr.value != "contiguous" or node.args:
        return False
    if isinstance(moved, cst.Attribute):
        return moved.attr.value in ("T", "mT")
    if not isinstance(moved, cst.Call) or not isinstance(moved.func, cst.Attribute) or moved.func.attr.value not in ("permute", "transpose", "t", "movedim", "moveaxis", "swapaxes", "swapdims"):
        return False
    if moved.func.attr.value != "permute":
        return True
    texts = [tree.code(a.value) for a in moved.args]
    order = [int(t) % len(texts) for t in texts if t.removeprefix("-").isdecimal()]
    return len(order) == len(texts) and order != sorted(order)
