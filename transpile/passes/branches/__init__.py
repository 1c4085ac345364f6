"""Branches on data become `Cond`s, with what goes in and comes out.

if x.mean() > 0:            Cond x.mean() > 0           in x y; out y
    t = x * 2                   t = x * 2
    y = y + t                   y = y + t

The blocks stay as they are: a dialect makes functions of them, or `jnp.where` where all is total.
Both sides may end in a return (`Cond.returns`). What both sides append to one list as their last
step is appended after them. Left to Python: what does more than to compute.
"""

from collections.abc import Iterator

from ...facts.bindings import bound
from ...facts.carried import Carrying, Obstacle, Obstacles
from ...facts.carried.data_sizes import sized_by_data
from ...facts.carried.dict_order import in_order, is_sorted
from ...facts.carried.obstacles import SAYS, is_object
from ...facts.carried.written_places import certain, written
from ...facts.program import ProgramFacts
from ...facts.values.lattice import Mapping, Module, Tensor, is_traced
from ...model.carry import Carried, Carry, Effects
from ...model.constants import is_none
from ...model.control_flow import Cond
from ...model.effects import Declare, New
from ...model.expressions import Call
from ...model.fallthrough import always_returns, own_jumps
from ...model.names import dotted, in_scope, target_names
from ...model.node import Node
from ...model.operators import Unary
from ...model.program import Function, Scope
from ...model.statements import Assign, Block, ExpressionStatement, If, Raise, Return
from ...passes.truth import is_branch_on_data
from ..outlining import Refused, nested, refuse, refuse_first, refuse_sorted
from ..pass_ import Changes, Pass
from .appends import Appended, of_branch
from .prints import waiting
from .results import differ, returned, returns_none

ID = "traced-branch"
WHERE = "under a branch on a tensor's value"
_EMPTY = "a mask of nothing stays a mask here: what is made with it must be what None gives"


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """Make every branch on data of one function a `Cond`, or refuse it."""
    changes = Changes(scope)
    if isinstance(scope, Function) and any(is_branch_on_data(n) for n in scope.nodes(If)):
        _Branches(scope, facts, changes).visit(scope.body)
    return changes


class _Branches:
    def __init__(self, scope: Function, facts: ProgramFacts, changes: Changes) -> None:
        self.scope, self.facts, self.changes = scope, facts, changes
        self.building = facts.stage(scope) == "building"
        self.carrying = Carrying(scope)
        self.obstacles = Obstacles(self.carrying, WHERE, (Tensor, Module), facts.effects)
        self.ordered = in_order(scope)
        self.kept: set[Node] = set()  # branches on data that are left to Python
        self.said: set[Node] = set()  # statements that print, when their side is taken
        self.appended: dict[Node, Appended] = {}  # what all sides of a branch append comes out

    def visit(self, node: Node) -> None:
        """See to all branches below a node, inner ones first."""
        if isinstance(node, If) and not isinstance(node, Cond) and is_branch_on_data(node):
            if node not in self.appended:
                self._collect(node)
        for child in nested(node):
            self.visit(child)
        if not isinstance(node, If) or isinstance(node, Cond) or not is_branch_on_data(node):
            return
        if self.building and any(in_scope(node, Declare, New)):
            self.kept.add(node)  # what a model is made of is decided once, with numbers at hand
            return
        if _is_empty(node):
            self.changes.report("taken-for-granted", node.test, _EMPTY)
            self.changes.remove(node)
            return
        try:
            self._lower(node)
        except Refused as why:
            self._give_up(node, why)

    def _give_up(self, node: If, why: Refused) -> None:
        made = written(node.body, node.orelse)
        refuse(self.changes, self.carrying, ID, node, why, made)
        if why.keep:
            self.kept.add(node)
        appended = self.appended.get(node)
        if appended is not None:  # it stays an append, which is an obstacle to those around it
            for inner in appended.branches:
                del self.appended[inner]
            self.obstacles.skipped -= appended.skipped

    # --- one branch ------------------------------------------------------------------------------

    def _lower(self, node: If) -> None:
        made = written(node.body, node.orelse)
        refuse_first(self.obstacles.changed(node, set(made)))
        if any(inner in self.kept for inner in in_scope(node, If)):
            raise Refused(f"another branch is left to Python {WHERE}", keep=True)
        sides = (node.body, node.orelse)
        if always_returns(node.body) and always_returns(node.orelse):
            self._returning(node)
            return
        if any(True for side in sides if side is not None for _ in in_scope(side, Return)):
            if always_returns(node.body) and node.orelse is None:
                raise Refused(f"nothing is returned on one side only {WHERE}", keep=True)
            raise Refused("a return under a branch on a tensor's value, on one side only")
        if any(sized_by_data(side) for side in sides if side is not None):
            why = "what is made under a branch on a tensor's value is as long as the data say"
            raise Refused(why, keep=True)
        self._joined(node)

    def _joined(self, node: If) -> None:
        """Both sides go on behind the branch, with what is read there."""
        self._check(node)
        live = self.carrying.liveness.after.get(node, frozenset())
        for block in _blocks(node):
            refuse_first(self.obstacles.functions(block, live))
        results = self.carrying.results(node)
        refuse_sorted(self.ordered, results)
        self._check_begun(node)
        self._check_starts(node, results)
        effects = self._effects(node)
        if not results and node not in self.appended and not self._does(node, effects):
            self._leave_out(node)
            return
        carry = self.carrying.branch(node, effects)
        total = self._is_total(node, effects)
        self._become(node, carry, total)

    def _returning(self, node: If) -> None:
        """Both sides return: what they give comes out of the function."""
        self._check(node)
        values = [value for block in _blocks(node) for value in returned(block)]
        for value in values:
            mapping = value is not None and isinstance(value.value, Mapping)
            if mapping and not is_sorted(value):
                message = (
                    "lax.cond gives a dict back sorted by its keys: see that nothing goes by their "
                    "order"
                )
                self.changes.report("taken-for-granted", value, message)  # type: ignore[arg-type]
                break
        if len({returns_none(value) for value in values}) > 1:
            raise Refused(f"nothing is returned on one side only {WHERE}", keep=True)
        if any(differ(values[0], value) for value in values[1:]):
            raise Refused(f"results of another structure are returned {WHERE}", keep=True)
        effects = self._effects(node)
        carry = self.carrying.branch(node, effects)
        if isinstance(node.test.value, Tensor) and node.test.value.python:
            carry.names[""] = Carried(same=False)  # a bool of Python's takes one side alone
        total = self._is_total(node, effects)
        self._become(node, carry, total, returns=True)

    def _become(self, node: If, carry: Carry, total: bool, returns: bool = False) -> None:
        def cond(n: If) -> Cond:
            return Cond(n.test, n.body, n.orelse, carry, total, returns)

        appended = self.appended.get(node)
        if appended is None:
            self.changes.become(node, cond)
            return
        appended.carried(carry)
        appended.made.append((node, cond))
        if node is appended.root:
            appended.edit(self.changes)

    def _effects(self, node: If) -> Effects:
        found = Effects()
        for block in _blocks(node):
            found |= self.facts.effects.of_block(block)
        return found

    def _is_total(self, node: If, effects: Effects) -> bool:
        """Whether both sides may be computed, for all that they do."""
        if effects.writes or effects.draws or effects.open or self._says(node):
            return False
        return all(self.facts.total(block) for block in _blocks(node))

    def _does(self, node: If, effects: Effects) -> bool:
        return bool(effects.writes or effects.open or self._says(node))

    def _says(self, node: If) -> bool:
        """Whether a branch prints when it runs."""
        if any(statement in self.said for statement in in_scope(node, ExpressionStatement)):
            return True
        return any(dotted(call.function) in SAYS for call in in_scope(node, Call))

    def _leave_out(self, node: If) -> None:
        """Nothing that a branch makes is read: only what its test does is left."""
        tested = self.facts.effects.of_block(node.test)
        if tested.writes or tested.open:
            self.changes.substitute(node, [ExpressionStatement(node.test)])
        else:
            self.changes.remove(node)

    # --- what cannot be --------------------------------------------------------------------------

    def _check(self, node: If) -> None:
        """What a side does beside binding names cannot be undone when the other is taken."""
        self._wait(node)
        own = {*bound(node.body), *bound(node.orelse)}
        for block in _blocks(node):
            if any(True for _ in in_scope(block, Raise)):
                raise Refused(f"a raise {WHERE}")
            if own_jumps(block):
                raise Refused(f"a break or continue {WHERE}")
            refuse_first(self._objects(node, block))
        for block in _blocks(node):
            refuse_first(self.obstacles.of_block(block, own))

    def _wait(self, node: If) -> None:
        """What a side says waits until the side is taken."""
        for statement in in_scope(node, ExpressionStatement):
            call = statement.expression
            if isinstance(call, Call) and statement not in self.said:
                make = waiting(call, lambda name: is_traced(self.carrying.value(name)))
                if make is not None:
                    self.said.add(statement)
                    self.obstacles.skipped |= {statement, call}
                    self.changes.wrap(call, make)

    def _objects(self, node: If, block: Block) -> Iterator[Obstacle]:
        """`z = None` on one side, where z is an array on the other."""
        for assign in in_scope(block, Assign):
            value = assign.expression.value if assign.expression is not None else None
            names = [n for t in assign.targets for n in target_names(t)]
            for name in names if is_object(value) and assign.start >= 0 else ():
                if self.carrying.start(name, node) != "missing":
                    why = f"{name} becomes something that is no array {WHERE}"
                    yield Obstacle(assign, why)

    def _check_begun(self, node: If) -> None:
        """An array of a module that is None until one side alone sets it."""
        of = self.facts.effects.of_block
        then = of(node.body).writes
        other = of(node.orelse).writes if node.orelse is not None else frozenset()
        block = node.parent
        assert isinstance(block, Block)
        at = block.body.index(node)
        known = {place for s in block.body[:at] for place in of(s).writes}
        for place in sorted((then ^ other) - known):
            if self.facts.modules.may_be_none(self.scope, place):
                raise Refused(
                    f"{place} is None until one side of a branch on a tensor's value sets it", True
                )

    def _check_starts(self, node: If, results: list[str]) -> None:
        """What one side leaves as it was must have been there, as an array."""
        sides = [certain(node.body), certain(node.orelse)]
        for name in results:
            start = self.carrying.start(name, node)
            if start in ("bound", "unset") or all(name in side for side in sides):
                continue
            if start == "none":
                raise Refused(
                    f"{name} is None where one side of a branch on a tensor's value leaves it", True
                )
            raise Refused(f"{name} is set on one side only of a branch on a tensor's value")

    # --- lists that grow -------------------------------------------------------------------------

    def _collect(self, node: If) -> None:
        """What both sides append to one list last is an item that comes out of them."""
        found = of_branch(node, self.scope)
        if found is not None:
            self.appended.update(dict.fromkeys(found.branches, found))
            self.obstacles.skipped |= found.skipped


def _is_empty(node: If) -> bool:
    """Whether a mask without any True becomes None."""
    test = node.test
    asked = test.operand if isinstance(test, Unary) and test.operator in ("not", "~") else None
    body = node.body.body
    one = body[0] if len(body) == 1 and node.orelse is None else None
    if not isinstance(asked, Call) or not isinstance(one, Assign) or one.operator:
        return False
    names = [dotted(t) for t in one.targets]
    asks = not asked.arguments and dotted(asked.function) in [f"{name}.any" for name in names]
    value = one.expression
    return asks and len(names) == 1 and is_none(value)


def _blocks(node: If) -> list[Block]:
    return [b for b in (node.body, node.orelse) if b is not None]


PASS = Pass("branches", ("bindings", "effects", "values"), run)
