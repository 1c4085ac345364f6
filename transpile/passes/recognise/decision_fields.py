"""What code decides by, and no array could stand for: `self.checkpointing = enable`."""

from collections.abc import Iterator

from ...facts.program import ProgramFacts
from ...facts.values.lattice import NONE, UNKNOWN, Module, Sequence, Static, Tensor
from ...facts.values.solve import reachable
from ...model.expressions import Attribute
from ...model.names import dotted, everywhere
from ...model.node import Expression
from ...model.operators import Boolean, Compare, Conditional, Unary
from ...model.program import Class
from ...model.program import Function as Method
from ...model.statements import Assign, If
from .stores import assigned

_CHOICES = frozenset({"bool", "str", "shape"})


def chooses(
    facts: ProgramFacts, cls: Class, method: Method, name: str, value: Expression | None
) -> bool:
    """`self.checkpointing = enable` in a method that no forward calls: no array.

    So is a number that constructors go by, that no forward reads, or by which a forward decides
    what it runs: `if self.layers == 3:`.
    """
    stages, project = facts.stages, facts.project
    if value is None or method in stages.forward or method.name == "__init__":
        return False
    known = facts.values.of(value)
    given = known.element if isinstance(known, Sequence) else known
    if isinstance(given, Module) or isinstance(given, Tensor) and not given.assumed:
        return False
    family = project.family(cls)
    starts = [m for c in family if (m := project.methods(c).get("__init__")) is not None]
    first = [facts.values.of(v) if v else UNKNOWN for v in _starting(facts, starts, name)]
    if not first or any(isinstance(v, (Tensor, Module)) for v in first):
        return False
    if all(map(_is_choice, first)):
        return True
    if isinstance(given, Tensor):
        if not all(isinstance(v, Static) and v != NONE for v in first):
            return False
    methods = {m for c in family for m in project.methods(c).values()}
    if not isinstance(given, Tensor):
        if not any(_reads(facts, m, name) for m in methods & stages.forward):
            return True
    if any(_decides(facts, m, name) for m in methods & stages.forward):
        return True
    built = reachable(facts.values.calls, starts)
    return any(_reads(facts, m, name) for m in methods & built)


def _starting(facts: ProgramFacts, starts: list[Method], name: str) -> Iterator[Expression | None]:
    for method in starts:
        for node in everywhere(method, Assign):
            for known, value in assigned(node, facts.project.self_name(method)):
                if known == name and not node.operator:
                    yield value


def _reads(facts: ProgramFacts, method: Method, name: str) -> bool:
    """Whether a method reads `self.name`."""
    own = facts.project.self_name(method)
    for node in everywhere(method, Attribute):
        if node.name == name and dotted(node.object) == own:
            if not isinstance(node.parent, Assign) or node.parent.expression is node:
                return True
    return False


def _decides(facts: ProgramFacts, method: Method, name: str) -> bool:
    """Whether a test in a method compares `self.name` with something."""
    own = facts.project.self_name(method)
    for node in everywhere(method, Attribute):
        if node.name == name and dotted(node.object) == own and isinstance(node.parent, Compare):
            around = node.parent.parent
            while isinstance(around, (Boolean, Unary)):
                around = around.parent
            if isinstance(around, (If, Conditional)) and any(
                n is around.test for n in node.ancestors()
            ):
                return True
    return False


def _is_choice(value: object) -> bool:
    """What Python decides by, and no array could stand for."""
    if isinstance(value, Sequence):
        return isinstance(value.element, Static) and value.element != NONE
    return isinstance(value, Static) and value.type in _CHOICES
