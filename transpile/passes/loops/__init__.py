"""Loops that data end become `Loop`s and `Repeat`s, with what they carry from turn to turn.

while n < 10 and x.norm() > 1:      Loop n < 10 and x.norm() > 1        carried x, n; at most 10
    x = x * 0.5                         x = x * 0.5
    n += 1                              n += 1

Breaks have become a flag in the test before. A bound, where a counter has one, makes the loop a
scan of turns that may do nothing: that has a gradient backwards.
"""

from ...facts.bindings.activity import bound
from ...facts.carried import Carrying, Obstacles
from ...facts.carried.dict_order import in_order
from ...facts.carried.written_places import certain, written
from ...facts.program import ProgramFacts
from ...facts.values.lattice import Tensor
from ...model.carry import Carry
from ...model.control_flow import Loop, Repeat
from ...model.expressions import Constant, Name
from ...model.fallthrough import own_jumps
from ...model.names import in_scope, target_names
from ...model.node import Node
from ...model.program import Function, Scope
from ...model.statements import Assign, Block, For, If, Raise, Return, While
from ...passes.truth import is_loop_on_data
from ..outlining import Refused, bound_by, nested, refuse, refuse_first, refuse_sorted
from ..pass_ import Changes, Pass
from ..truth import traced
from .bounds import bound_of
from .flags import Flagged

ID = "traced-loop"
WHERE = "inside a loop on a tensor's value"
UNBOUNDED = (
    "JAX has no gradient backwards through a loop whose turns only the data count: where it is "
    "trained, bound them by a counter in the test, `while i < n and …`"
)


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """Make every loop that data end, of one function, a node that says so, or refuse it."""
    changes = Changes(scope)
    if isinstance(scope, Function) and any(is_loop_on_data(n) for n in scope.nodes(For, While)):
        _Loops(scope, facts, changes).visit(scope.body)
    return changes


class _Loops:
    def __init__(self, scope: Function, facts: ProgramFacts, changes: Changes) -> None:
        self.facts, self.changes = facts, changes
        self.trained = facts.in_forward(scope)
        self.carrying = Carrying(scope)
        self.obstacles = Obstacles(self.carrying, WHERE, (Tensor,), facts.effects)
        self.ordered = in_order(scope)
        self.kept: set[Node] = set()  # loops on data that are left to Python

    def visit(self, node: Node) -> None:
        """See to all loops below a node, inner ones first."""
        for child in nested(node):
            self.visit(child)
        kind = node.__class__
        if kind is not While and kind is not For or not is_loop_on_data(node):
            return
        assert isinstance(node, (While, For))
        try:
            self._lower(node)
        except Refused as why:
            made = [*bound_by(node), *written(node.body)]
            refuse(self.changes, self.carrying, ID, node, why, made)
            if why.keep:
                self.kept.add(node)

    def _lower(self, node: While | For) -> None:
        made = {*written(node.body), *bound_by(node)}
        refuse_first(self.obstacles.changed(node, made))
        if isinstance(node, While):
            self._while(node)
        else:
            self._repeat(node)

    def _while(self, node: While) -> None:
        if node.orelse is not None:
            raise Refused("a while with an else, whose test is a tensor's value")
        carry = self._carry(node)
        turns = [bound_of(node.test, node)]
        flagged = Flagged.of(node, self.carrying)
        if flagged is not None:
            turns.append(bound_of(flagged.asked, node))
            flagged.edit(self.changes, carry)
        known = [turn for turn in turns if turn is not None]
        bound = Constant(min(known)) if known else None
        if bound is None:
            self._tell_gradient(node, carry)
        self.changes.become(node, lambda n: Loop(n.test, n.body, carry, bound))

    def _repeat(self, node: For) -> None:
        arguments = node.iterable.arguments  # type: ignore[attr-defined]
        if not isinstance(node.target, Name) or len(arguments) > 2 or node.orelse is not None:
            raise Refused("a loop over range with a step, whose bound is a tensor's value")
        index = node.target.id
        if index in self.carrying.liveness.after.get(node, frozenset()):
            raise Refused(f"{index} is read after a loop whose number of turns follows from data")
        carry = self._carry(node)
        self._tell_gradient(node, carry)
        self.changes.become(node, lambda n: Repeat(n.target, n.iterable, n.body, carry))

    def _carry(self, node: While | For) -> Carry:
        """What a turn binds and the next one, the test, or what comes after reads."""
        self._check(node.body)
        live = self.carrying.liveness
        seen = live.after.get(node, frozenset()) | live.before[node.body]
        refuse_first(self.obstacles.functions(node.body, seen))
        effects = self.facts.effects.of_block(node.body)
        if isinstance(node, While):
            for name in sorted(seen & set(bound(node.test))):
                raise Refused(f"{name} is bound in the test of a loop on data: bind it in the loop")
            asked = self.facts.effects.of_block(node.test)
            if asked.writes or asked.draws:  # lax and nnx drop what a condition does
                does = "writes state" if asked.writes else "draws"
                raise Refused(f"the test of a loop on a tensor's value {does}: do it in the loop")
            effects |= asked
        names = self.carrying.carried(node)
        refuse_sorted(self.ordered, names)
        if not names and not effects.writes:
            raise Refused("a loop on a tensor's value that changes nothing")
        for name in names:
            start = self.carrying.start(name, node)
            if start in ("missing", "unset"):
                raise Refused(f"{name} is set only inside a loop that may have no turn")
            if start == "none":
                raise Refused(f"{name} is None before a loop on a tensor's value", keep=True)
        return self.carrying.loop(node, effects)

    def _tell_gradient(self, node: While | For, carry: Carry) -> None:
        """Report a loop that what is trained goes through, whose turns are not bounded."""
        made = in_scope(node.body, Assign)
        names = {n: a.expression for a in made for t in a.targets for n in target_names(t)}
        given = [e for n in carry.outputs if (e := names.get(n)) is not None]
        if self.trained and any(map(self.facts.activity.carries, given)):
            self.changes.report("taken-for-granted", node, UNBOUNDED)

    def _check(self, body: Block) -> None:
        leaves = [*in_scope(body, Return), *in_scope(body, Raise)]
        if leaves:
            raise Refused(f"a return or raise {WHERE}")
        left = any(traced(n.test) for n in in_scope(body, If))
        if left or any(n in self.kept for n in in_scope(body, For, While)):
            raise Refused(f"another branch or loop is left to Python {WHERE}", keep=True)
        if own_jumps(body):
            raise Refused(f"a break or continue {WHERE}")
        refuse_first(self.obstacles.of_block(body, certain(body)))


PASS = Pass("loops", ("activity", "bindings", "effects", "values"), run)
