"""Places of arrays in modules: dotted, from a name of a function; `*` for what is in a list.

`self.norm.running_mean`, `layer.hits` of a parameter, `self.blocks.*.norm.running_mean`.
"""

from collections.abc import Iterator

from ..model.effects import Read, Write
from ..model.expressions import Attribute, Call, ForClause, Name, Subscript
from ..model.node import Expression, Node
from ..model.program import Class, Function
from ..model.statements import Assign, Delete, For
from .values.lattice import Module, Tensor

WRITING = (Write, Assign, Delete, Call)
# methods of lists and dicts that change what these hold
_CHANGING = frozenset(
    "append appendleft clear extend insert pop popitem popleft remove setdefault update".split()
)


def path_of(node: Expression | None) -> str | None:
    """`self.blocks.*.norm`; None for what is no way through names and attributes."""
    if isinstance(node, Name):
        return node.id
    if isinstance(node, Attribute):
        base = path_of(node.object)
        return None if base is None else f"{base}.{node.name}"
    if isinstance(node, Subscript):
        base = path_of(node.object)
        return None if base is None else f"{base}.*"
    if isinstance(node, Call) and isinstance(node.function, Name) and node.function.id == "super":
        return "self"
    return None


def places_of(node: Node, roots: dict[str, str]) -> frozenset[str]:
    """The place of a node, from what its names stand for; `?` where it is not known."""
    path = path_of(node) if isinstance(node, Expression) else None
    found = None if path is None else rooted(path, roots)
    return frozenset([found or "?"])


def rooted(path: str, roots: dict[str, str]) -> str:
    """A path from a local name as one from what that stands for."""
    head, dot, rest = path.partition(".")
    return roots.get(head, head) + dot + rest


def roots_of(function: Function) -> Iterator[tuple[str, str]]:
    """What local names of modules stand for: the loop's `layer` for `self.layers.*`."""
    for assign in function.nodes(Assign):
        target, given = assign.targets[0], assign.expression
        if isinstance(target, Name) and given is not None and isinstance(given.value, Module):
            path = path_of(given)
            if path is not None:
                yield target.id, path
    loops: list[For | ForClause] = [*function.nodes(For), *function.nodes(ForClause)]
    for loop in loops:
        for name in loop.target.walk():
            if isinstance(name, Name) and isinstance(name.value, Module):
                path = next(filter(None, map(path_of, _ways(loop.iterable))), None)
                yield name.id, f"{path or '?'}.*"


def _ways(iterable: Expression) -> Iterator[Expression]:
    """The modules that a loop may go over: in `zip(self.convs, self.norms)` the first counts."""
    if isinstance(iterable, Call):
        if isinstance(iterable.function, Attribute):  # `self.blocks.values()`
            yield iterable.function.object
        yield from iterable.arguments
    else:
        yield iterable


def path_of_owner(function: Expression) -> str | None:
    """The path of the object whose method is called."""
    return path_of(function.object) if isinstance(function, Attribute) else None


def paths_given(
    call: Call, function: Function, path: str | None
) -> Iterator[tuple[str, str | None]]:
    """The paths that the parameters of a function have at a call."""
    names = [p.name for p in function.parameters if p.kind in ("", "/")]
    if isinstance(function.scope, Class) and path is not None and names:
        yield names.pop(0), path
    elif isinstance(function.scope, Class) and names:
        names.pop(0)
    for word, argument in zip(call.keywords, call.arguments):
        name = word if word is not None else names.pop(0) if names else None
        if name is not None:
            yield name, path_of(argument)


def arrays_written(node: Node) -> Iterator[Read]:
    """The arrays of modules that a node writes, the lists and dicts of such included whose entries
    it sets, `self.sums["b"] = x`, `self.seen.append(x)`. What a walk over params binds is none."""
    targets = node.targets if isinstance(node, (Assign, Delete)) else []
    written: list[Expression] = [t.object for t in targets if isinstance(t, Subscript)]
    if isinstance(node, Write):
        written = [node.target]
    elif (held := container_changed(node)) is not None:
        written = [held]
    for one in written:
        while isinstance(one, Subscript):
            one = one.object
        if isinstance(one, Read):
            yield one


def container_changed(node: Node) -> Expression | None:
    """The list or dict that a call changes by a method of it: `seen` of `seen.append(x)`."""
    function = node.function if isinstance(node, Call) and node.__class__ is Call else None
    if not isinstance(function, Attribute) or function.name not in _CHANGING:
        return None
    return None if isinstance(function.object.value, Tensor) else function.object
