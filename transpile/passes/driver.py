"""Runs the passes over a program, one after the other, each over all scopes before the next.

A fault of ours in one function costs that function: it raises where it stood, and is reported as
`internal-error`; everything else goes on.
"""

import os
from collections.abc import Iterable
from typing import Any

from ..model import statements
from ..model.diagnostics import Diagnostic
from ..model.edits import commit_all
from ..model.effects import Unconverted
from ..model.positions import place, source_of
from ..model.program import Function, Scope
from ..model.project import Project
from ..model.statements import ExpressionStatement
from .pass_ import Changes, Pass


def run(project: Project, facts: Any, passes: Iterable[Pass]) -> list[Diagnostic]:
    """Take a program through passes; what the user should know, in the order of the passes."""
    found: list[Diagnostic] = []
    for one in passes:
        if one.of_project:
            if facts is None:  # facts stand on what was collected for them
                project.collect_again()
            together: list[Changes] = one.run(project, facts)
            commit_all(together)
            found += [d for changes in together for d in changes.diagnostics]
        else:
            for scope in [s for file in project.ordered for s in file.scopes()]:
                found += _run_one(one, scope, facts, found)
    return found


def _run_one(one: Pass, scope: Scope, facts: Any, before: list[Diagnostic]) -> list[Diagnostic]:
    """Take one scope through a pass, which may take back what was found `before`."""
    try:
        changes: Changes = one.run(scope, facts)
        changes.commit()
    except Exception as error:
        if os.environ.get("TORCH_TO_JAX_TRACE"):
            raise
        return [give_up(one.name, scope, error)]
    if gone := changes.withdrawn:
        before[:] = [d for d in before if (d.id, d.path, d.line, d.column) not in gone]
    return changes.diagnostics


def give_up(name: str, scope: Scope, error: Exception) -> Diagnostic:
    """Let a function raise in which a pass of ours has failed; its body may be half changed."""
    message = f"{name} failed here, which is a fault of ours: {type(error).__name__}: {error}"
    made = Diagnostic(*place(scope), "internal-error", message)
    if isinstance(scope, Function):
        if not scope.body.body:
            scope.body.append([statements.Pass()])
        first = scope.body.body[0]
        raising = ExpressionStatement(Unconverted("internal-error", source_of(first)))
        for statement in scope.body.body[1:]:
            scope.body.remove(statement)
        scope.body.substitute(first, [raising])
    return made
