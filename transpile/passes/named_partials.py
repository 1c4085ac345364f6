"""A partial of torch's that writes in place and that a file gives a name to is written out where it
is called: what it writes would be hidden behind the name. So is one of checkpoint, by which modules
are run.

activate = partial(F.relu, inplace=True)

x = activate(self.conv(x))                    →    x = F.relu(self.conv(x), inplace=True)

So is one that a method makes with self, `step = partial(block, self, k=2)`, which has params and
state, and a field of a class that keeps it, `self.act = activate`. What hands it on is refused; but
what is always written in place, a start, is handed on as a function that says so:

build(partial(nn.init.normal_, std=0.1))      →    build(lambda w: nn.init.normal_(w, std=0.1))
"""

import functools
from typing import Any

from ..model.constants import is_constant
from ..model.edits import leave_out
from ..model.expressions import Attribute, Call, Constant, Lambda, Name
from ..model.fresh_names import free
from ..model.functions import called_by
from ..model.names import (
    bound_name,
    bound_once,
    calls_of,
    dotted,
    everywhere,
    imported,
    is_called,
    is_inplace,
    is_name,
    is_own,
    last_word,
    names_in,
    reads_of,
    rebound,
)
from ..model.node import Expression, Node
from ..model.operators import Binary, Unary
from ..model.program import Class, File, Function, Parameter
from ..model.project import Project
from ..model.statements import Assign, Import
from .pass_ import Changes, Pass


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The calls of such names, in all functions of a project."""
    found = []
    for file in project.ordered:
        changes = Changes(file)
        for statement in [s for s in file.nodes(Assign) if _is_partial(s, file)]:
            _write_out(statement, file, project, changes)
        for statement in everywhere(file, Assign):
            if (calls := _calls_with_self(statement, file)) is not None:
                for call in calls:
                    assert statement.expression is not None
                    changes.replace(call, functools.partial(called_by, statement.expression))
                changes.remove(statement)
        for call in everywhere(file, Call):
            if _is_start(call, file):
                changes.replace(call, _as_function)
        if changes:
            found.append(changes)
    return found


def _calls_with_self(statement: Assign, file: File) -> list[Call] | None:
    """The calls of a name of a method's for a partial that has self, where nothing else asks for
    it; None of other statements."""
    name, value, function = bound_name(statement), statement.expression, statement.nearest(Function)
    if name is None or function is None or name not in bound_once(function):
        return None
    if not isinstance(value, Call) or imported(file, value.function) != "functools.partial":
        return None
    given = value.arguments[1:]
    if function.owner is None or not any(is_name(a, function.receiver) for a in given):
        return None
    if not all(_stays(n, [function], file) for a in given for n in a.walk()):
        return None
    uses = reads_of(function, name)
    return calls_of(uses) if all(map(is_called, uses)) else None


def _is_start(call: Call, file: File) -> bool:
    """`partial(nn.init.normal_, std=0.1)`, whose arguments are the same when it is called."""
    if not _is_of_torch(call, file) or not is_inplace(last_word(call.arguments[0])):
        return False
    around = [a for a in call.ancestors() if isinstance(a, Function)]
    return all(_stays(n, around, file) for a in call.arguments[1:] for n in a.walk())


def _stays(node: Node, around: list[Function], file: File) -> bool:
    """Whether a part of an expression is the same at any time: `math.sqrt(5)`, a parameter."""
    if isinstance(node, Call):
        return imported(file, node.function).startswith("math.")
    if not isinstance(node, Name):
        return isinstance(node, (Constant, Attribute, Unary, Binary))
    if imported(file, node):
        return True
    given = {p.name for function in around[:1] for p in function.parameters}
    return node.id in given - rebound(around[0]) and not isinstance(node.parent, Attribute)


def _as_function(call: Call) -> Expression:
    name = free("w", set().union(*map(names_in, call.arguments)))
    return Lambda([Parameter(name)], called_by(call, Call(Name(name), [Name(name)], [None])))


def _write_out(statement: Assign, file: File, project: Project, changes: Changes) -> None:
    name, value = statement.targets[0], statement.expression
    assert value is not None
    uses = [n for n in everywhere(file, Name) if n is not name and n.id == name.id]  # type: ignore[attr-defined]
    called = calls_of(uses)
    calls, kept = [c for c in called if _is_of_file(c, uses[0].id)], list[Assign]()
    others = len(uses) - len(calls)  # kept, handed on, or called as the file is imported
    for store in [n.parent for n in uses if isinstance(n.parent, Assign)]:
        if (fields := _calls_of_field(store)) is not None:
            kept.append(store)
            calls += fields
    for call in calls:
        changes.replace(call, functools.partial(called_by, value))
    for store in kept:
        changes.change(store, leave_out)
    if others == len(kept) and not _is_imported(name, file, project):
        changes.remove(statement)
        _without_import(statement, file, changes)


def _is_imported(name: Expression, file: File, project: Project) -> bool:
    others = (i for f in project.ordered if f is not file for i in everywhere(f, Import))
    return any(n.name in (dotted(name), "*") for i in others for n in i.names)


def _calls_of_field(store: Assign) -> list[Call] | None:
    """The calls of `self.act`, where a class keeps the name as that and does nothing else with it;
    None where it may be asked for elsewhere."""
    field, cls, method = store.targets[0], store.nearest(Class), store.nearest(Function)
    me = method.receiver if method is not None else ""
    if cls is None or store.targets[1:] or not is_own(field, me) or cls.file is None:
        return None
    named = [n for n in everywhere(cls.file, Attribute) if n.name == field.name and n is not field]
    own = [n for n in named if cls in n.ancestors()]
    calls = calls_of(own)
    plain = all(isinstance(n.object, Name) for n in named)  # none asks a part for it
    return calls if plain and len(calls) == len(own) else None


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


def _is_partial(statement: Assign, file: File) -> bool:
    target = statement.targets[0]
    if statement.targets[1:] or statement.operator or not isinstance(target, Name):
        return False
    return _writes(statement.expression, file) and target.id in bound_once(file)


def _writes(value: Expression | None, file: File) -> bool:
    """`partial(F.relu, inplace=True)`, `partial(checkpoint, use_reentrant=False)`, which is told
    nothing else than constants."""
    if not isinstance(value, Call) or not _is_of_torch(value, file):
        return False
    word = last_word(value.arguments[0])
    inplace = is_constant(value.keyword("inplace"), True) or is_inplace(word)
    return (inplace or word == "checkpoint") and all(
        isinstance(a, Constant) for a in value.arguments[1:]
    )


def _is_of_torch(value: Call, file: File) -> bool:
    """`partial(torch.f, word=1)`, which says all by its words."""
    if imported(file, value.function) != "functools.partial":
        return False
    if not value.arguments or value.keywords[0] is not None or None in value.keywords[1:]:
        return False
    return imported(file, value.arguments[0]).startswith("torch.")


PASS = Pass("named_partials", (), run, of_project=True)
