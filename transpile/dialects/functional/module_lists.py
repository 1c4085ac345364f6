"""Plain lists of modules, and what registers the modules in them.

self.lines.append(line)            self.lines has what self.net has: params["net"]
self.net.append(line)
"""

from collections.abc import Iterator

from ...facts.modules import SUBMODULE
from ...facts.values.lattice import Module
from ...model.effects import Declare, New
from ...model.expressions import Attribute, Call, Dictionary, Display, Name, Starred, Subscript
from ...model.names import dotted, leaves, target_names
from ...model.node import Expression, Node
from ...model.program import Function
from ...model.statements import Assign, For
from ..sharing.placement import ADDING
from .indirect_modules import gives_list
from .loop_containers import ZIPS

_THROUGH = frozenset(("enumerate", "list", "tuple", "reversed")) | ZIPS

Key = tuple[str, Node | None]  # a path, or a name with the loop whose turns bind it


def registered(init: Function) -> dict[str, str]:
    """The lists that a constructor keeps, with the path of what registers the modules in them:
    nothing for the module itself. Those of which that is not known are left out."""
    me = init.receiver or "self"
    search = _Search(init, me)
    kept = {
        target.name
        for assign in init.nodes(Assign)
        for whole in assign.targets
        for target in leaves(whole)
        if isinstance(target, Attribute) and dotted(target.object) == me
    }
    found = {}
    for name in sorted(kept):
        holders = set(search.holders(search.group((f"{me}.{name}", None))))
        if len(holders) == 1:
            found[name] = holders.pop()
    return found


class _Search:
    def __init__(self, init: Function, me: str) -> None:
        self.init, self.me = init, me
        nodes = list(init.body.walk())
        self._loops = [n for n in nodes if isinstance(n, For)]
        self._links = list(self._linked(nodes))
        self._puts = list(self._put(nodes))

    def group(self, start: Key) -> set[Key]:
        """The names under which the constructor has a list, or the modules in it."""
        found = {start}
        while True:
            more = {b for a, b in self._links if a in found} | {
                a for a, b in self._links if b in found
            }
            if more <= found:
                return found
            found |= more

    def holders(self, group: set[Key]) -> Iterator[str]:
        """What these modules are put into."""
        yield from (holder for key, holder in self._puts if key in group)

    def _key(self, node: Expression) -> Key | None:
        """What says which list, or which module, an expression is."""
        if isinstance(node, Starred):
            return self._key(node.expression)
        if isinstance(node, Subscript) and self._holder(node.object) is None:
            return self._key(node.object)  # `self.ops[k]`, of a plain list or dict
        if isinstance(node, Name):
            for loop in self._loops[::-1]:
                inside = any(n is node for n in loop.walk())
                if inside and node.id in {*target_names(loop.target), *_bound(loop)}:
                    return node.id, loop
            return node.id, None
        path = dotted(node)
        return (path, None) if path is not None and path.startswith(f"{self.me}.") else None

    def _linked(self, nodes: list[Node]) -> Iterator[tuple[Key, Key]]:
        for node in nodes:
            for one, other in self._pairs(node):
                keys = self._key(one), self._key(other)
                if keys[0] is not None and keys[1] is not None:
                    yield keys[0], keys[1]

    def _pairs(self, node: Node) -> Iterator[tuple[Expression, Expression]]:
        if isinstance(node, Declare):
            return
        if isinstance(node, Assign) and node.expression is not None:
            value = node.expression
            target = node.targets[0]
            if (parts := parts_of(value)) is not None:
                yield from ((target, part) for part in parts)
            elif isinstance(target, Subscript):  # `self.by_name[k] = layer`
                if self._holder(target.object) is None:
                    yield target.object, value
            else:
                yield from ((target, value) for target in node.targets)
        elif isinstance(node, For):
            over = node.iterable
            if isinstance(over, Call) and dotted(over.function) in _THROUGH and over.arguments:
                over = over.arguments[0]
            over = listed_dict(over) or over
            for name in (t for t in leaves(node.target) if isinstance(t, Name)):
                yield name, over
        elif isinstance(node, Call) and isinstance(node.function, Attribute) and node.arguments:
            if node.function.name in ("append", "extend", "insert"):
                if self._holder(node.function.object) is None:
                    yield node.function.object, node.arguments[-1]

    def _holder(self, node: Expression) -> str | None:
        """The submodule that a path is, or nothing for the module itself."""
        path = dotted(node)
        if path == self.me:
            return ""
        known = {d.name for d in self.init.nodes(Declare) if d.kind == SUBMODULE}
        name = path.partition(".")[2] if path is not None and path.startswith(self.me) else ""
        return name if name in known else None

    def _put(self, nodes: list[Node]) -> Iterator[tuple[Key, str]]:
        for node in nodes:
            for value, holder in self._putting(node):
                key = self._key(value)
                if key is not None:
                    yield key, holder
            written = isinstance(node, Call) or isinstance(node, Assign) and node.expression
            for target, part in self._pairs(node) if written else ():
                key, above = self._key(target), self._above(part)
                if key is not None and part is not written and above is not None:
                    yield key, above

    def _above(self, part: Expression) -> str | None:
        """The submodule that holds `self.net[0]` or `self.net.head`, which stands in a list."""
        if not isinstance(part, (Subscript, Attribute)) or not isinstance(part.value, Module):
            return None
        path = dotted(part.object)
        if path is None or not path.startswith(f"{self.me}."):
            return None
        return path.partition(".")[2] if isinstance(part.object.value, Module) else None

    def _putting(self, node: Node) -> Iterator[tuple[Expression, str]]:
        if isinstance(node, Declare) and node.kind == SUBMODULE:
            made = node.expression
            yield node.targets[0], ""
            if isinstance(made, New):
                yield from ((argument, node.name) for argument in made.arguments)
            elif made is not None:
                yield made, ""
        elif isinstance(node, Call) and len(node.arguments) > 0:
            word = node.function
            if isinstance(word, Attribute) and word.name in ADDING:
                holder = self._holder(word.object)
                if holder is not None:
                    yield node.arguments[-1], holder
            elif dotted(word) == "setattr" and dotted(node.arguments[0]) == self.me:
                yield node.arguments[-1], ""


def parts_of(value: Expression) -> list[Expression] | None:
    """What is put into a list or dict that is written out, `dict(a=layer)` too."""
    if isinstance(value, Display):
        return value.elements
    if isinstance(value, Dictionary):
        return [part for _, part in value.pairs]
    return value.arguments if isinstance(value, Call) and dotted(value.function) == "dict" else None


def listed_dict(over: Expression) -> Expression | None:
    """`layers` of `layers.items()` and `layers.values()`."""
    word = over.function if isinstance(over, Call) else None
    listed = isinstance(word, Attribute) and word.name in ("items", "values")
    return word.object if listed else None  # type: ignore[union-attr]


def _bound(loop: For) -> Iterator[str]:
    for node in loop.body.walk():
        for target in node.targets if isinstance(node, Assign) else ():
            yield from target_names(target)


def grows_list(call: Call) -> bool:
    """`self.ws.append(w)` of a list of params, each of which is made later."""
    method = call.function
    growing = isinstance(method, Attribute) and method.name in ADDING
    return growing and gives_list(method.object)  # type: ignore[attr-defined]
