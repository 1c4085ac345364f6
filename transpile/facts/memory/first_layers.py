"""Whether any Sequential of a project may begin with a layer that writes its argument.

Most of what a Sequential holds is not known where it is called: `self.blocks[i](x)`. Where all that
are built begin with something else, none of them writes what it is given.
"""

from collections.abc import Callable, Collection, Iterable, Iterator

from ...model.effects import Apply, New
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Dictionary,
    Display,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ...model.names import everywhere, target_names
from ...model.node import Expression, Node
from ...model.operators import Conditional
from ...model.program import File, Function
from ...model.project import Project
from ...model.statements import Assign, Block
from ..calls import Calls
from ..origins import Origin
from ..values.lattice import Module, Torch, Value
from .access_paths import of

_CALLS = (Call, Apply, New)
_ADDING = frozenset("add_module append insert".split())


def may_begin_in_place(project: Project, writes: Callable[[Value], bool | None]) -> bool:
    """Whether some Sequential may; `writes` tells it of a layer."""
    sliced = any(_is_slice(n) for file in project.ordered for n in everywhere(file, Subscript))
    for file in project.ordered:
        for call in everywhere(file, *_CALLS):
            if _is_made_of(call, ".Sequential"):
                firsts = list(call.arguments if sliced else _first_of(call))
                if any(one is None or _may(one, writes) for one in firsts):
                    return True
    return False


def may_begin(
    calls: Calls, layer: Expression, scope: Function | File, writes: Callable[[Value], bool | None]
) -> bool:
    """Whether the layer that this expression stands for may: by where it was made."""

    def made_so(origin: Origin) -> bool:
        node, held = origin
        if _is_slice(node):
            return True
        if isinstance(node, _CALLS) and held <= 0:
            return by_call(node)
        if isinstance(node, _CALLS) and _is_made_of(node, ".ModuleList") and node.arguments:
            return any_of([Origin(node.arguments[0], 1)])
        return any_of(
            calls.inside(node, held, scope if node is layer else None), isinstance(node, Constant)
        )

    def by_call(node: Call | Apply | New) -> bool:
        if _is_made_of(node, ".Sequential"):
            return any(one is None or _may(one, writes) for one in _first_of(node))
        results = [r for t in calls.targets(node) for r in calls.results(t)]
        if isinstance(of(node.function), Torch) or not results:
            return not isinstance(of(node), Module) or _may(node, writes)
        return any_of(Origin(result) for result in results)

    seen: set[Origin] = set()

    def any_of(origins: Iterable[Origin], known: bool = False) -> bool:
        origins = list(origins)
        left = [one for one in origins if one not in seen]
        seen.update(left)
        return any(map(made_so, left)) or not (origins or known)

    return made_so(Origin(layer))


def _is_slice(node: Node) -> bool:
    """`body[1:]` of a Sequential, which begins with another layer."""
    if not isinstance(node, Subscript) or not isinstance(node.index, Slice):
        return False
    return isinstance(of(node.object), Module)


def _is_made_of(node: Call | Apply | New, layer: str) -> bool:
    maker = of(node.function)
    return isinstance(maker, Torch) and maker.name.endswith(layer)


def _may(node: Expression, writes: Callable[[Value], bool | None]) -> bool:
    if isinstance(node, Conditional):
        return _may(node.body, writes) or _may(node.orelse, writes)
    value = of(node)
    return isinstance(value, Module) and writes(value) is not False


def _first_of(node: Call | Apply | New) -> Iterator[Expression | None]:
    """What a Sequential may begin with: one that is made empty, with any layer that the function
    around it adds to something."""
    if node.arguments:
        yield from _first(node.arguments[0])
        return
    around = node.nearest(Function, File)
    for call in around.nodes(*_CALLS) if around is not None else ():
        function = call.function
        if isinstance(function, Attribute) and function.name in _ADDING and call.arguments:
            yield call.arguments[-1]


def _first(argument: Expression) -> Iterator[Expression | None]:
    """What a Sequential of this first argument may begin with; None where that is not known."""
    if isinstance(argument, Call) and argument.arguments:  # `OrderedDict([("a", layer), …])`
        last = getattr(of(argument.function), "name", "")
        if last.endswith("OrderedDict"):
            yield from _of_list(argument.arguments[0])
            return
    if not isinstance(argument, Starred):
        yield argument
        return
    yield from _of_list(argument.expression)


def _of_list(node: Expression) -> Iterator[Expression | None]:
    if isinstance(node, Display) and node.elements:
        first = node.elements[0]
        pair = isinstance(first, Display) and len(first.elements) == 2
        if isinstance(first, Starred):
            yield from _of_list(first.expression)
        else:
            yield first.elements[1] if pair and isinstance(first, Display) else first
    elif isinstance(node, Dictionary) and node.entries:
        yield node.pairs[0][1]
    elif isinstance(node, Name):
        yield from _of_name(node)
    elif not isinstance(node, (Call, Attribute)):
        yield None


def _of_name(node: Name) -> Iterator[Expression | None]:
    """`layers = []`, then `layers.append(conv)`: what is put in first, up to the first that is put
    in for certain."""
    scope = next((n for n in node.ancestors() if isinstance(n, (Function, File))), None)
    if scope is None:
        yield None
        return
    for assign in scope.nodes(Assign):
        named = any(node.id in target_names(t) for t in assign.targets)
        if named and assign.expression is not None and not _is_empty(assign.expression):
            yield from _of_list(assign.expression)
            if not assign.operator or assign.parent is scope.body:
                return
    added = {c: word for c in scope.nodes(*_CALLS) if (word := _adding(c, node.id))}
    certain = {c.parent for c, word in added.items() if word == "append"}
    for call, word in added.items():
        if word == "insert" or not _follows(call, certain):
            last = call.arguments[-1]
            yield from _of_list(last) if word == "extend" else [last]


def _is_empty(node: Expression) -> bool:
    return isinstance(node, Display) and not node.elements


def _adding(call: Call | Apply | New, name: str) -> str | None:
    """How a call puts something into the list of this name: `layers.append(conv)`."""
    function = call.function
    if not isinstance(function, Attribute) or not isinstance(function.object, Name):
        return None
    adds = function.object.id == name and function.name in ("append", "extend", "insert")
    return function.name if adds and call.arguments else None


def _follows(call: Node, certain: Collection[Node | None]) -> bool:
    """Whether one of these statements has run before a call: earlier in a block around."""
    for inner in (call, *call.ancestors()):
        if isinstance(inner.parent, Block):
            body = inner.parent.body
            at = next(i for i, one in enumerate(body) if one is inner)
            if any(one in certain for one in body[:at]):
                return True
    return False
