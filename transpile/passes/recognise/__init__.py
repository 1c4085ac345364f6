"""Torch's structure becomes nodes: params, buffers, submodules, module calls, modes, ties, walks.

Two steps, each over the whole project: what constructors declare, then all uses, for which the
classes are asked what they have. The changes of all scopes of a step are looked at together, and
committed together (`commit_all`).
"""

from ...facts.program import ProgramFacts
from ...model.expressions import Attribute, Call
from ...model.program import Class, Scope
from ...model.project import Project
from ...model.statements import Assign, Delete, For
from ..pass_ import Changes, Pass
from . import calls, forward, modes, outside_changes, reads
from .attribute_kinds import Kinds
from .calls import Effectful
from .context import Scene
from .declare import declare


def run_declare(project: Project, facts: ProgramFacts) -> list[Changes]:
    """The declarations of all classes."""
    kinds, found = Kinds(facts), []
    for scope in _scopes(project):
        scene = Scene(scope, facts)
        declare(scene, kinds)
        found.append(scene.changes)
    return found


def run(project: Project, facts: ProgramFacts) -> list[Changes]:
    """All uses of what is declared; the names of forward passes."""
    effectful, found = Effectful(facts), []
    for scope in _scopes(project):
        scene = Scene(scope, facts)
        _scope(scene, effectful)
        found.append(scene.changes)
    return found


def _scope(scene: Scene, effectful: Effectful) -> None:
    scope = scene.scope
    if isinstance(scope, Class):
        modes.overridden(scene, scope)
    flow = modes.follow(scene)
    if flow is not None:
        scene.modes = flow.calls
    for node in scope.nodes(Attribute):
        if flow is not None and node in flow.reads:
            continue
        if not outside_changes.table(scene, node):
            reads.attribute(scene, node)
    for one in scope.nodes(Call):
        outside_changes.walked(scene, one)
        if flow is not None and one.parent in flow.statements:
            continue
        if not modes.mode_call(scene, one) and not outside_changes.given(scene, one):
            calls.call(scene, one, effectful)
    for deleted in scope.nodes(Delete):
        outside_changes.taken_away(scene, deleted)
    for assign in scope.nodes(Assign):
        outside_changes.taken_away(scene, assign)
        if flow is None or assign not in flow.statements:
            modes.mode_store(scene, assign)
        reads.tie(scene, assign)
    for loop in scope.nodes(For):
        outside_changes.walk(scene, loop)
    forward.rename(scene)


def _scopes(project: Project) -> list[Scope]:
    return [scope for file in project.ordered for scope in file.scopes()]


DECLARE = Pass("declare", ("values", "stages", "modules"), run_declare, of_project=True)
PASS = Pass("recognise", ("values", "stages", "modules", "calls"), run, of_project=True)
PASSES = (DECLARE, PASS)
