"""A partial of torch's that writes in place and that a file gives a name to is written out where it
is called: what it writes would be hidden behind the name.

activate = partial(F.relu, inplace=True)

x = activate(self.conv(x))                    →    x = F.relu(self.conv(x), inplace=True)

It stays where it is handed on, or imported by another file, and is refused there.
"""

import functools
from typing import Any

from ..model.copy import clone
from ..model.expressions import Call, Constant, Lambda, Name
from ..model.names import bound_once, everywhere, imported
from ..model.node import Expression
from ..model.program import File, Function
from ..model.project import Project
from ..model.statements import Assign, Import
from .pass_ import Changes, Pass


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The calls of such names, in all functions of a project."""
    found = []
    for file in project.ordered:
        changes = Changes(file)
        for statement in file.nodes(Assign):
            calls = _calls(statement, file, project)
            for call in calls:
                changes.replace(call, functools.partial(_written, statement.expression))
            if calls:
                changes.remove(statement)
                _without_import(statement, file, changes)
        if changes:
            found.append(changes)
    return found


def _calls(statement: Assign, file: File, project: Project) -> list[Call]:
    """The calls of a name that stands for such a partial, where it is used for nothing else."""
    target, value = statement.targets[0], statement.expression
    if statement.targets[1:] or statement.operator or not isinstance(target, Name):
        return []
    if not _writes(value, file) or target.id not in bound_once(file):
        return []
    others = (i for f in project.ordered if f is not file for i in everywhere(f, Import))
    if any(name.name in (target.id, "*") for i in others for name in i.names):
        return []
    uses = [n for n in everywhere(file, Name) if n.id == target.id and n is not target]
    calls = [n.parent for n in uses if isinstance(n.parent, Call) and n.parent.function is n]
    called = len(calls) == len(uses) and all(_is_of_file(c, target.id) for c in calls)
    return calls if called else []


def _without_import(statement: Assign, file: File, changes: Changes) -> None:
    """Let the import of `partial` go, where nothing else asks for it."""
    inside = set(statement.walk())
    names = {n.id for n in everywhere(file, Name) if n not in inside}
    for import_ in file.nodes(Import):
        lone = import_.names[0].bound if len(import_.names) == 1 else ""
        partial = {f"{import_.module}.{lone}", lone} & {"functools.partial", "functools"}
        if partial and lone not in names:
            changes.remove(import_)


def _is_of_file(call: Call, name: str) -> bool:
    """Whether a call stands in a function, and no parameter around it has the name."""
    around = [a for a in call.ancestors() if isinstance(a, (Function, Lambda))]
    return bool(around) and all(p.name != name for a in around for p in a.parameters)


def _writes(value: Expression | None, file: File) -> bool:
    """`partial(F.relu, inplace=True)`, which is told nothing else than constants."""
    if not isinstance(value, Call) or imported(file, value.function) != "functools.partial":
        return False
    if not value.arguments or value.keywords[0] is not None or None in value.keywords[1:]:
        return False
    function, *held = value.arguments
    flag = value.keyword("inplace")
    torch = imported(file, function).startswith("torch.")
    plain = all(isinstance(a, Constant) for a in held)
    return torch and plain and isinstance(flag, Constant) and flag.constant is True


def _written(partial: Expression | None, call: Call) -> Call:
    assert isinstance(partial, Call)
    held = [(w, a) for w, a in zip(partial.keywords, partial.arguments) if w is not None]
    held = [(word, clone(a)) for word, a in held if word not in call.keywords]
    given = [(word, clone(a)) for word, a in zip(call.keywords, call.arguments)]
    words, arguments = zip(*given, *held)
    return Call(clone(partial.arguments[0]), list(arguments), list(words))


PASS = Pass("named_partials", (), run, of_project=True)
