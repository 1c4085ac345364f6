"""What goes into a block under control of data, and comes out of it: the names that it binds, how
they begin, and of which type they are."""

from collections.abc import Sequence

from ...model.carry import NO_EFFECTS, Carried, Carry, Effects
from ...model.constants import is_none
from ...model.effects import Unset, Write
from ...model.expressions import Constant, Display, Name
from ...model.names import dotted, in_scope, target_names
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.statements import Assign, Block, For, Handler, If, While, With
from ..bindings import Liveness, bound, read
from ..values.lattice import UNKNOWN, Static, Tensor, Value, is_traced
from . import stable_types
from .written_places import read_through, written

_RANKS = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}
_NUMBERS = {"bool": "b", "int": "i", "float": "f"}
MISSING = "missing"  # nothing has bound it: that it is read would be an error


class Carrying:
    """What the blocks of one version of a function carry."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.liveness = Liveness(function)
        self.local = {p.name for p in function.parameters} | set(written(function.body))
        self.through = read_through(function)
        self.values: dict[str, list[Value]] = {}
        for name in function.nodes(Name):
            if name.value is not None:
                self.values.setdefault(name.id, []).append(name.value)

    # --- what is known of a name -----------------------------------------------------------------

    def value(self, name: str) -> Value:
        """What a name is where it is an array, else anything that it is."""
        found = self.values.get(name, [UNKNOWN])
        return next((v for v in found if isinstance(v, Tensor)), found[-1])

    def is_array(self, name: str) -> bool:
        """Whether a name is an array wherever it stands, and of data somewhere."""
        found = self.values.get(name, [])
        sure = all(isinstance(v, Tensor) and not v.none for v in found)
        return sure and any(map(is_traced, found))

    def kind(self, name: str) -> str | None:
        """The letter of the dtype that holds all that a name may be."""
        kinds = [_kind(v) for v in self.values.get(name, [])]
        known = [k for k in kinds if k is not None]
        if not kinds or len(known) < len(kinds):
            return None
        return max(known, key=lambda k: _RANKS.get(k, 0))

    def start(self, name: str, statement: Statement) -> str:
        """How a name stands before a statement: "bound", "none", "unset" or MISSING."""
        node: Node = statement
        parent = node.parent
        if name in _header(statement):
            return "bound"
        while parent is not None:
            found = _bound_by(parent, node, name)
            if found is not None:
                return found
            if parent is self.function:
                break
            node, parent = parent, parent.parent
        return "bound" if name in {p.name for p in self.function.parameters} else MISSING

    # --- branches --------------------------------------------------------------------------------

    def results(self, node: If) -> list[str]:
        """The names that a branch binds and that are live after it."""
        live = self.liveness.after.get(node, frozenset())
        return [n for n in written(node.body, node.orelse) if n in live]

    def branch(self, node: If, effects: Effects = NO_EFFECTS) -> Carry:
        """What a branch takes and gives back."""
        before = self.liveness.before
        other = before[node.orelse] if node.orelse is not None else self.liveness.after[node]
        live = before[node.body] | other
        made = written(node.body, node.orelse)
        results = self.results(node)
        names = [*read(node.body), *read(node.orelse), *results]
        inputs = [n for n in _once(names) if n in live and n in made and n in self.local]
        inputs = [n for n in inputs if self.start(n, node) != MISSING]
        carry = Carry(inputs, results, effects, self._reads([node.body, node.orelse], made))
        sides = stable_types.after(node.body), stable_types.after(node.orelse)
        for name in results:
            start = self.start(name, node)
            same = self._agree(name, node, sides, start)
            carry.names[name] = self._carried(name, start, same)
        for place in _numbers(node.body) ^ _numbers(node.orelse):
            carry.names[place] = Carried(same=False)  # `self.loss = 0` on one side alone
        return carry

    def _agree(
        self, name: str, node: If, sides: Sequence[stable_types.Types], start: str
    ) -> bool | None:
        """Whether both sides leave a name with one type."""
        likes = {side.get(name, name) for side in sides}
        kinds = {self._left(name, block) for block in (node.body, node.orelse)}
        if start in ("none", "unset") or self._differ(name, kinds):
            return False
        return True if len(likes) == 1 and None not in likes else None

    def _differ(self, name: str, kinds: set[str]) -> bool:
        """Whether one side may leave a number, or an array of another dtype than the other has."""
        named = {v.kind for v in self.values.get(name, []) if isinstance(v, Tensor)}
        arrays = kinds - {"array"}
        small = bool((arrays or named) & {"b", "i"})
        mixed = small and ("array" in kinds or len(named) > 1)
        return "number" in kinds or len(arrays) > 1 or mixed

    def _left(self, name: str, block: Block | None) -> str:
        """What a block leaves a name as: a "number", an array of a known kind, or an "array"."""
        found = _word(self.value(name))
        for node in in_scope(block, Assign) if block is not None else ():
            plain = node.expression is not None and not node.operator
            if plain and any(isinstance(t, Name) and t.id == name for t in node.targets):
                found = _of(node.expression)  # type: ignore[arg-type]
        return found

    # --- loops -----------------------------------------------------------------------------------

    def carried(self, node: While | For) -> list[str]:
        """The names that a turn binds, and that the next turn, the test or what comes after reads.

        A loop may have no turn: what is live after it is live before.
        """
        live = self.liveness.before[node.body] | self.liveness.after[node]
        if isinstance(node, While):
            live |= frozenset(read(node.test))
        targets = set(target_names(node.target)) if isinstance(node, For) else set()
        return [n for n in written(node.body) if n in live and n not in targets]

    def loop(self, node: While | For, effects: Effects = NO_EFFECTS) -> Carry:
        """What a loop carries from turn to turn."""
        names = self.carried(node)
        made = [*written(node.body), *(target_names(node.target) if isinstance(node, For) else ())]
        read_in = [node.test, node.body] if isinstance(node, While) else [node.body]
        carry = Carry(names, list(names), effects, self._reads(read_in, made))
        turn = stable_types.after(node.body)
        for name in names:
            start = self.start(name, node)
            same = True if turn.get(name, name) == name and start == "bound" else None
            same = False if start in ("none", "unset") else same
            carry.names[name] = self._carried(name, start, same)
        return carry

    # --- both ------------------------------------------------------------------------------------

    def _reads(self, nodes: Sequence[Node | None], made: Sequence[str]) -> list[str]:
        """The arrays of the function that are read alone."""
        names = _once([n for node in nodes for n in read(node)])
        own = [n for n in names if n in self.local and n not in made]
        return [n for n in own if is_traced(self.value(n))]

    def _carried(self, name: str, start: str, same: bool | None) -> Carried:
        return Carried("unset" if start == MISSING else start, self.kind(name), same)


def _bound_by(parent: Node, node: Node, name: str) -> str | None:
    """How a name stands where the node around a statement, or what is above it, binds it."""
    if isinstance(parent, Block):
        at = next(i for i, s in enumerate(parent.body) if s is node)
        for statement in reversed(parent.body[:at]):
            if name in written(statement):
                return _start(statement, name)
    return "bound" if node.__class__ is Block and name in _header(parent) else None


def _header(node: Node) -> list[str]:
    """The names that are bound before a block of a statement begins: `if (m := x.mean()) > 0`."""
    if isinstance(node, Handler):
        return [node.name] if node.name is not None else []
    if isinstance(node, With):
        targets = [t for t in node.items[1::2] if t is not None]
        return [name for t in targets for name in target_names(t)]
    if isinstance(node, For):
        return [*target_names(node.target), *bound(node.iterable)]
    return bound(node.test) if isinstance(node, (If, While)) else []


def _start(statement: Statement, name: str) -> str:
    """Whether a statement gives a name None, or leaves it unset."""
    value: Expression | None = statement.expression if isinstance(statement, Assign) else None
    for target in statement.targets if isinstance(statement, Assign) else ():
        if isinstance(target, Display) and isinstance(value, Display):
            pairs = zip(target.elements, value.elements)
            value = next((v for t, v in pairs if isinstance(t, Name) and t.id == name), None)
    if isinstance(value, Unset):
        return "unset"
    return "none" if is_none(value) else "bound"


def _kind(value: Value) -> str | None:
    if isinstance(value, Tensor):
        return value.kind
    return _NUMBERS.get(value.type) if isinstance(value, Static) else None


def _word(value: Value) -> str:
    return value.kind or "array" if isinstance(value, Tensor) else "array"


def _of(node: Expression) -> str:
    """What an expression gives; of a tuple it is a number if one of its parts is."""
    if isinstance(node, Display):
        return "number" if "number" in map(_of, node.elements) else "array"
    if isinstance(node.value, Static) or isinstance(node, Constant):
        return "number"
    return _word(node.value) if node.value is not None else "array"


def _numbers(block: Block | None) -> set[str]:
    """The arrays of modules that a block sets to a number: no bool, which has one dtype."""
    writes = in_scope(block, Write) if block is not None else []
    plain = (w for w in writes if _of(w.value) == "number")
    return {dotted(w.target) or "" for w in plain if getattr(w.value.value, "type", "") != "bool"}


def _once(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))
