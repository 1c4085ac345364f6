"""A loop that carries arrays from turn to turn becomes a `Scan`: compiled once, however many turns.

outputs = []
for t in range(T):                          Scan x_t over x.swapaxes(0, 1)      carried h
    h = jnp.tanh(x[:, t] @ w + h)               h = jnp.tanh(x_t @ w + h)
    outputs.append(h)                           Collect(outputs, h)
y = jnp.stack(outputs, axis=1)              y = outputs.swapaxes(0, 1)

What it goes over is in the form that `model/iteration.py` reads. Left as it is, and unrolled by
jit: a loop whose index is used in another way than to pick from arrays (`x[:t]`, `self.cells[t]`),
that carries anything but arrays, builds a module, calls what may be another in each turn
(`next(it)`), grows a list whose later use is another than `jnp.stack`, or that has few turns,
written out, and no control by data.
"""

from ...facts.bindings import Definitions, read
from ...facts.carried import Carrying, Obstacles
from ...facts.carried.written_places import certain, written
from ...facts.program import ProgramFacts
from ...facts.values.lattice import Tensor
from ...model.carry import Carry
from ...model.control_flow import Cond, Loop, Repeat, Scan
from ...model.effects import New
from ...model.expressions import Attribute, Constant, Name, OpaqueExpression, Subscript
from ...model.iteration import Turns, turns
from ...model.names import in_scope, names_in, target_names
from ...model.node import Node
from ...model.program import Function, Scope
from ...model.statements import (
    Assert,
    Assign,
    Block,
    Break,
    Continue,
    Declaration,
    Delete,
    For,
    If,
    Import,
    Raise,
    Return,
    Try,
    While,
    With,
)
from ..outlining import nested
from ..pass_ import Changes, Pass
from ..truth import traced
from .lists import Lists
from .picks import Picks

FEW = 8  # turns that are written out in the source: `range(3)`


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """Make every such loop of one function a `Scan`."""
    changes = Changes(scope)
    if isinstance(scope, Function) and scope.nodes(For):
        _Scans(scope, facts, changes).visit(scope.body)
    return changes


class _Scans:
    def __init__(self, scope: Function, facts: ProgramFacts, changes: Changes) -> None:
        self.scope, self.facts, self.changes = scope, facts, changes
        self.carrying = Carrying(scope)
        self.definitions = Definitions(scope)
        self.obstacles = Obstacles(self.carrying, "in a loop", (Tensor,), facts.effects)

    def visit(self, node: Node) -> None:
        """See to all loops below a node, inner ones first."""
        for child in nested(node):
            self.visit(child)
        if node.__class__ is For:
            assert isinstance(node, For)
            self._scan(node)

    def _scan(self, node: For) -> None:
        """Make a scan of a loop; it stays where anything speaks against it."""
        over = turns(node)
        if over is None or node.orelse is not None or not self._has_turns(node, over):
            return
        lists = Lists(node, self.scope)
        appended = lists.found()
        if appended is None or not self._is_plain(node.body, lists):
            return
        carry = self._carry(node, lists)
        if carry is None:
            return
        picks = Picks(node, over, self.scope, self.definitions, set(written(node.body)))
        if not picks.only_arrays():
            return
        running = _flag(node)
        lists.edit(self.changes, over.reverse)
        picks.edit(self.changes)
        self.changes.become(node, lambda n: Scan(n.target, n.iterable, n.body, carry, running))

    def _has_turns(self, node: For, over: Turns) -> bool:
        """Whether what a loop goes over is counted, or arrays; and is worth a scan."""
        if over.count is not None and traced(over.count):
            return False
        if not all(traced(array) for _, array in over.rows):
            return False
        count = over.count.constant if isinstance(over.count, Constant) else None
        few = isinstance(count, int) and count <= FEW
        return not few or isinstance(count, int) and count > 1 and _has_control(node.body)

    # --- what a turn may do ----------------------------------------------------------------------

    def _is_plain(self, body: Block, lists: Lists) -> bool:
        """Whether a body only computes."""
        if any(True for _ in in_scope(body, *_NEVER)):
            return False
        left: list[If | While] = [*in_scope(body, If), *in_scope(body, While)]
        if any(traced(n.test) for n in left):
            return False  # it is left to Python
        stores = (t for n in in_scope(body, Assign) for t in n.targets)
        if any(isinstance(t, (Attribute, Subscript)) for t in stores):
            return False
        self.obstacles.skipped = lists.nodes
        found = self.obstacles.of_block(body, certain(body))
        return next(found, None) is None and "print" not in names_in(body)

    def _carry(self, node: For, lists: Lists) -> Carry | None:
        """What is carried; None where that is anything but arrays."""
        carrying, body = self.carrying, node.body
        made = set(written(body))
        seen = read(body)
        if any(made & carrying.through.get(name, frozenset()) for name in seen):
            return None  # a function that reads what is carried would not see it
        live = carrying.liveness.after.get(node, frozenset())
        targets = set(target_names(node.target))
        if targets & (live | made) or lists.names & (made | lists.read_elsewhere):
            return None
        effects = self.facts.effects.of_block(body)
        carry, flag = carrying.loop(node, effects), _flag(node)
        if effects.open or not carry.outputs and not effects.writes:
            return None
        if effects.writes and self.facts.stage(self.scope) == "building":
            return None  # attributes are set, which would keep what the turns alone have
        carry.reads = [n for n in carry.reads if n not in lists.names]
        for name in carry.outputs:
            known = carry.names[name]
            if known.start != "bound" or carrying.start(name, node) != "bound":
                return None
            if name != flag and not carrying.is_array(name):
                return None
        return carry


_NEVER: tuple[type[Node], ...] = (
    Assert,
    Break,
    Continue,
    Declaration,
    Delete,
    Import,
    New,
    OpaqueExpression,
    Raise,
    Return,
    Try,
    With,
)


def _has_control(body: Block) -> bool:
    """Whether data control what a turn does: unrolled, there would be a branch for each turn."""
    kinds = (Cond, Loop, Repeat, Scan)
    return any(isinstance(s, kinds) for s in body.walk())


def _flag(node: For) -> str | None:
    """The name that says whether turns still count: all of a turn is a branch on it."""
    only = node.body.body[0] if len(node.body.body) == 1 else None
    test = only.test if isinstance(only, If) and only.orelse is None else None
    flag = test.id if isinstance(test, Name) else None
    return flag if flag is not None and flag in written(node.body) else None


PASS = Pass("scans", ("bindings", "effects", "values"), run)
