"""What names come to stand for, by assignments and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import libcst as cst

from .. import tree
from ..values import NUMPY, External, Mapping, Method, Module, Sequence, Static, Tensor, is_anything
from .calls import exactly, functions_called, handed, hold, is_certain, is_open, passes, root
from .making import gives_parts, places_of, repeats_memory
from .places import Part, Place, union
from .sharing import of_map, with_target

if TYPE_CHECKING:
    from .memory import Memory


def bind_all(memory: Memory, targets: list[Any], value: Any) -> None:
    """`residual = out = x * 2`: one tensor, of which the first name is another name, and `h = c = 0`: a number each."""
    static = memory.context.value(value)
    names = [] if isinstance(static, Static) and static != NUMPY else [t for t in targets if memory.name(t) is not None]
    for target in [*names[:1], *(t for t in targets if t not in names[:1])]:
        bind(memory, target, names[0] if names and target is not names[0] else value)


def bind(memory: Memory, target: Any, value: Any) -> None:
    """Move past the assignment of a value to a target."""
    if isinstance(target, (cst.Tuple, cst.List)):
        if isinstance(value, Part) and (turn := turn_of(memory, value.value, target)) is not None:
            for element, one in zip(target.elements, turn):
                bind(memory, element.value, one)
            return
        for part, places in list(unpacked(memory, target, value)):  # all that is assigned is there before the first name is
            set_places(memory, part, places)
        return
    if isinstance(target, (cst.Subscript, cst.Attribute)) and memory.path(target) is None:
        holder = root(memory, target.value)
        if holder is not None and not isinstance(memory.context.value(target.value), (Tensor, Module)):
            hold(memory, holder, value.value if isinstance(value, Part) else value)
        return
    set_places(memory, target, places_of(memory, value))


def unpacked(memory: Memory, target: Any, value: Any) -> Iterator[tuple[Any, frozenset[Place]]]:
    """What the names in `a, (b, c) = value` come to hold: each something of its own, which may be part of the same."""
    if not isinstance(target, (cst.Tuple, cst.List)):
        yield target, places_of(memory, value)
        return
    inner = value.value if isinstance(value, Part) else value
    whole = not isinstance(value, Part)
    if whole and isinstance(inner, (cst.Tuple, cst.List)) and len(inner.elements) == len(target.elements):
        for element, part in zip(target.elements, inner.elements):
            yield from unpacked(memory, element.value, part.value)
        return
    several = (parts_of(memory, inner, target) or turns_of(memory, inner, target) or results_of(memory, inner, target)) if whole else None
    if several is None and whole and repeats_memory(memory, inner):
        made = places_of(memory, inner)
        several = [frozenset([Place(made)]) for _ in target.elements]
    for i, element in enumerate(target.elements):
        if several is not None and not isinstance(element.value, (cst.Tuple, cst.List)):
            yield element.value, several[i]
        else:
            yield from unpacked(memory, element.value, Part(inner))


def parts_of(memory: Memory, value: Any, target: Any) -> list[frozenset[Place]] | None:
    """The places of `a, b = z.chunk(2)` and of `a, b = z`: each a part of z."""
    if any(isinstance(e, cst.StarredElement) for e in target.elements):
        return None
    base = None
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and memory.views.get(value.func.attr.value) == "parts" and isinstance(memory.context.value(value.func), Method):
        base = memory.name(value.func.value)
    elif isinstance(memory.context.value(value), Tensor):
        base = memory.name(value)
    if base is None:
        return None
    made = []
    for i in range(len(target.elements)):
        part = tree.replace(tree.expression("x[0]"), value=value, slice=[cst.SubscriptElement(cst.Index(cst.Integer(str(i))))])
        other = tuple((n, memory.places(n)) for n in sorted(tree.names_read(value) - {base, "torch", memory.info.self_name or ""}))
        made.append(frozenset([Place(memory.places(base), part, base, other)]))
    return made


def turns_of(memory: Memory, value: Any, target: Any) -> list[frozenset[Place]] | None:
    """The places of `q, k = map(f, (a, b))` and of `q, k = [f(t) for t in x.chunk(2)]`: each of what f returns of one."""
    if isinstance(value, cst.Call) and tree.dotted(value.func) in ("tuple", "list") and len(value.args) == 1:
        value = value.args[0].value
    if any(isinstance(e, cst.StarredElement) for e in target.elements):
        return None
    one, over = repeated_over(memory, value)
    shown = isinstance(over, (cst.Tuple, cst.List)) and len(over.elements) == len(target.elements)
    if over is None or not shown and not gives_parts(memory, over):
        return None
    count = range(len(target.elements))
    return [frozenset([Place(one(over.elements[i].value))]) if shown else frozenset([Place(one(over), part=(value, i))]) for i in count]


def results_of(memory: Memory, value: Any, target: Any) -> list[frozenset[Place]] | None:
    """The places of `y, bias = self.fc(x)`: each of what the function gives in its place."""
    called = functions_called(memory, value) if isinstance(value, cst.Call) and not is_open(memory, value) else []
    count = len(target.elements)
    starred = any(isinstance(e, cst.StarredElement) for e in target.elements)
    if not called or starred or any(len(passes(memory, t).items) != count or passes(memory, t).repeated for t in called):
        return None
    made = []
    for i in range(count):
        each = [(t, passes(memory, t).items[i]) for t in called]
        certain = exactly(memory, each[0][0], value, each[0][1]) if is_certain(memory, value, called) else None
        made.append(certain or frozenset([Place(union(handed(memory, t, value, passed) for t, passed in each))]))
    return made


def repeated_over(memory: Memory, value: Any) -> tuple[Callable[[Any], frozenset[Place]], Any]:
    """What one turn of `map(f, xs)` or `[f(x) for x in xs]` shares, by what it is given, and xs; None for another expression."""
    if isinstance(value, cst.Call) and memory.context.value(value.func) == External("builtins.map") and len(value.args) == 2:
        return (lambda given: of_map(memory, tree.replace(value, args=[value.args[0], cst.Arg(given)]))), value.args[1].value
    if isinstance(value, (cst.ListComp, cst.GeneratorExp)) and isinstance(value.for_in.target, cst.Name) and not value.for_in.ifs and value.for_in.inner_for_in is None:
        return (lambda given: with_target(memory, value.for_in.target, given, value.elt)), value.for_in.iter
    return (lambda given: frozenset()), None


def turn_of(memory: Memory, value: Any, target: Any) -> list[Any] | None:
    """What each turn of a loop gives its targets, where they are as many as in `zip(xs, ys)`, `enumerate(xs)` or `d.items()`: parts, or entries `d[k]`."""
    if not isinstance(value, cst.Call) or any(a.star or a.keyword for a in value.args):
        return None
    function, count = memory.context.value(value.func), len(target.elements)
    number = Part(cst.Tuple([]))  # or a key: it has no memory
    if function == External("builtins.zip") and len(value.args) == count:
        return [Part(a.value) for a in value.args]
    first, last = target.elements[0].value, target.elements[-1].value
    if function == External("builtins.enumerate") and count == 2 and value.args:
        return [number, entry_of(memory, value.args[0].value, first, last) or Part(value.args[0].value)]
    if isinstance(function, Method) and (isinstance(function.receiver, Mapping) or is_anything(function.receiver)) and function.name == "items" and count == 2:
        return [number, entry_of(memory, getattr(value.func, "value", None), first, last) or Part(value)]
    return None


def entry_of(memory: Memory, holder: Any, key: Any, target: Any) -> Any:
    """`d[k]` as the expression that a name of a loop is taken from."""
    held = memory.context.value(holder)
    if not isinstance(key, cst.Name) or not isinstance(target, cst.Name) or not (isinstance(held, Mapping) or isinstance(held, Sequence) and not held.tuple):
        return None
    made = tree.replace(tree.expression("x[0]"), value=holder, slice=[cst.SubscriptElement(cst.Index(key))])
    memory.context.facts.carry(target, made)
    return made


def set_places(memory: Memory, target: Any, places: frozenset[Place]) -> None:
    name = memory.path(target)
    if name is not None:
        memory.env[name] = places
    elif isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            set_places(memory, element.value, places)
