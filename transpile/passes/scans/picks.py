"""Uses of a loop's index: `x[t]` and `x[:, t]` become rows of what the scan goes over."""

from ...facts.bindings import Definitions, read
from ...facts.values.lattice import Tensor
from ...model.copy import clone
from ...model.effects import Put, Write
from ...model.expressions import Attribute, Call, Constant, Display, Name, Slice, Subscript
from ...model.fresh_names import Names
from ...model.iteration import Turns
from ...model.names import dotted, index_parts, target_names
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign, For
from ...passes.truth import traced
from ..pass_ import Changes

Kind = tuple[str, int, int]  # the array, the axis of the index, and how many there are


class Picks:
    """What one loop picks by its index."""

    def __init__(
        self, loop: For, over: Turns, scope: Function, definitions: Definitions, changed: set[str]
    ) -> None:
        self.loop, self.over, self.scope = loop, over, scope
        self.definitions, self.changed = definitions, changed
        self.index = over.index
        self.picked: dict[Kind, list[Subscript]] = {}
        if self.index is not None:
            for node in loop.body.walk():
                if isinstance(node, Subscript):
                    self._note(node)

    def _note(self, node: Subscript) -> None:
        """Note what picks a whole row of an array that the loop does not change."""
        place, array = self._place(node), dotted(node.object)
        whole = array is not None and traced(node.object)
        if place is not None and whole and not self.changed & set(read(node.object)):
            self.picked.setdefault((array, *place), []).append(node)  # type: ignore[arg-type]

    def _place(self, node: Subscript) -> tuple[int, int] | None:
        """The axis along which a subscript picks by the index: 0 for `x[t]`, 1 for `x[:, t, :]`."""
        parts = index_parts(node.index)
        found = [i for i, p in enumerate(parts) if not isinstance(p, Slice)]
        full = (p for p in parts if isinstance(p, Slice))
        if any(p.lower or p.upper or p.step for p in full) or len(found) != 1 or found[0] > 1:
            return None
        index = parts[found[0]]
        plain = isinstance(index, Name) and index.id == self.index
        return (found[0], len(parts)) if plain else None

    # --- the index -------------------------------------------------------------------------------

    def only_arrays(self) -> bool:
        """Whether all uses of the index pick from arrays: it may be traced then."""
        if self.index is None:
            return True
        good, total = 0, 0
        for node in self.loop.body.walk():
            if isinstance(node, Name) and node.id == self.index:
                total += 1
            elif isinstance(node, Subscript) and traced(_indexed(node)):
                good += sum(self._is_index(p) for p in index_parts(node.index))
            elif isinstance(node, Put) and traced(node.base):
                parts = node.index.elements if isinstance(node.index, Display) else [node.index]
                good += sum(self._is_index(p) for p in parts)
        return good == total

    def _is_index(self, node: Expression) -> bool:
        return isinstance(node, Name) and node.id == self.index

    # --- the rows --------------------------------------------------------------------------------

    def edit(self, changes: Changes) -> None:
        """Let the loop go over the rows that it picks, where these are all rows of the arrays."""
        count = self.over.count
        if count is None or not self.picked:
            return
        if not all(self._is_whole(count, kind, of[0]) for kind, of in self.picked.items()):
            return  # not all of the rows: each turn picks its own
        uses = sum(isinstance(n, Name) and n.id == self.index for n in self.loop.body.walk())
        counted = uses > sum(map(len, self.picked.values()))
        if counted and self.over.reverse:
            return
        names, used = list[str](), Names(self.scope)
        arrays: list[Expression] = []
        for kind, found in self.picked.items():
            last = kind[0].rpartition(".")[2]
            names.append(used.fresh(f"{last}_{self.index}"))
            arrays.append(_rows(found[0].object, kind[1]))
            for node in found:
                changes.replace(node, Name(names[-1]))
        target, iterable = _head(names, arrays)
        if counted:
            index = Name(self.index or "")
            index.value = Tensor(kind="i")
            target = Display("tuple", [index, target])
            iterable = Call(Name("enumerate"), [iterable])
        if self.over.reverse:
            iterable = Call(Name("reversed"), [iterable])
        changes.replace(self.loop.target, target)
        changes.replace(self.loop.iterable, iterable)

    # --- lengths ---------------------------------------------------------------------------------

    def _is_whole(self, count: Expression, kind: Kind, pick: Subscript) -> bool:
        """Whether the number of turns is the length of an array: `range(x.shape[1])`, or T of
        `B, T, D = x.shape`."""
        found = self._length(count)
        if found is None or (dotted(found[0]), found[1]) != kind[:2]:
            return False
        return self._same(found[0], pick.object)

    def _same(self, a: Expression, b: Expression) -> bool:
        """Whether two expressions of the same text are the same array."""
        while isinstance(a, Attribute) and isinstance(b, Attribute):
            if self._is_stored(dotted(a)):
                return False
            a, b = a.object, b.object
        if not isinstance(a, Name) or not isinstance(b, Name):
            return False
        first, second = self.definitions.of.get(a), self.definitions.of.get(b)
        return first is not None and len(first) == 1 and first == second and None not in first

    def _is_stored(self, place: str | None) -> bool:
        targets = [n.target for n in self.scope.nodes(Write)]
        stores = [t for n in self.scope.nodes(Assign) for t in n.targets]
        return any(dotted(t) == place for t in [*targets, *stores])

    def _length(self, count: Expression) -> tuple[Expression, int] | None:
        """The array and axis whose length an expression is."""
        if isinstance(count, Name):
            return self._named_length(count)
        if (
            isinstance(count, Call)
            and dotted(count.function) == "len"
            and len(count.arguments) == 1
        ):
            return count.arguments[0], 0
        return _size(count)

    def _named_length(self, count: Name) -> tuple[Expression, int] | None:
        """That of a name which is bound once."""
        definition = self.definitions.definition(count)
        if definition is None or definition is not self.definitions.unique(count.id):
            return None
        assign = definition.nearest(Assign)
        if assign is None or len(assign.targets) != 1 or assign.expression is None:
            return None
        target, value = assign.targets[0], assign.expression
        if isinstance(target, Name):
            return _size(value)
        of_shape = isinstance(value, Attribute) and value.name == "shape"
        names = target_names(target)
        plain = isinstance(target, Display) and len(names) == len(target.elements)
        if not of_shape or not plain:
            return None
        if not all(isinstance(e, Name) for e in target.elements):  # type: ignore[attr-defined]
            return None
        return value.object, names.index(count.id)  # type: ignore[attr-defined]


def _size(node: Expression) -> tuple[Expression, int] | None:
    """`x.shape[1]`"""
    shape = node.object if isinstance(node, Subscript) else None
    axis = node.index if isinstance(node, Subscript) else None
    if not isinstance(shape, Attribute) or shape.name != "shape":
        return None
    plain = isinstance(axis, Constant) and type(axis.constant) is int
    return (shape.object, axis.constant) if plain else None  # type: ignore[union-attr]


def _indexed(node: Subscript) -> Expression:
    """What a subscript picks from: x of `x.at[t]` too."""
    base = node.object
    return base.object if isinstance(base, Attribute) and base.name == "at" else base


def _rows(array: Expression, axis: int) -> Expression:
    """An array whose first axis is the one that is gone along."""
    made = clone(array)
    if axis:
        made = Call(Attribute(made, "swapaxes"), [Constant(0), Constant(1)])
    made.value = array.value
    return made


def _head(names: list[str], arrays: list[Expression]) -> tuple[Expression, Expression]:
    targets: list[Expression] = [Name(name) for name in names]
    for target in targets:
        target.value = Tensor()
    if len(names) == 1:
        return targets[0], arrays[0]
    return Display("tuple", targets), Call(Name("zip"), arrays)
