"""What a LightningModule has of Lightning's own, in classes that are plain modules from here on.

self.save_hyperparameters()    self.hparams = types.SimpleNamespace(n=n, scale=scale)
self.log("loss", loss)         left out, and reported: what is logged is returned

Lightning reads the arguments from the frame that calls it, which no other code does.
"""

from typing import Any

from ..model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ..model.libraries import is_lightning
from ..model.names import dotted, names_assigned
from ..model.node import Node
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign, ExpressionStatement
from .pass_ import Changes, Pass

_LOGS = ("log", "log_dict")
_SAVES = "save_hyperparameters"


def run(project: Project, facts: Any = None) -> list[Changes]:
    """Write Lightning's statements out in all methods of its classes; the rest of what the trainer
    gives a module is set nowhere here."""
    found = []
    for cls in (c for file in project.ordered for c in file.classes()):
        if _is_lightning(project, cls):
            written = _is_written_out(project, cls)
            for method in (m for m in project.methods(cls).values() if m.parameters):
                changes = Changes(method)
                for statement in method.nodes(ExpressionStatement):
                    _statement(changes, statement, project, cls, method, written)
                found.append(changes)
    return found


def _statement(
    changes: Changes,
    statement: ExpressionStatement,
    project: Project,
    cls: Class,
    method: Function,
    written: bool,
) -> None:
    """`written`: the hyperparameters are, so that `self.hparams` is there."""
    own, call = method.receiver, statement.expression
    name = dotted(call.function) or "" if isinstance(call, Call) else ""
    word = name.removeprefix(f"{own}.")
    if not isinstance(call, Call) or name == word or project.find(cls, word) is not None:
        return
    if word in _LOGS:
        message = f"{name}() is left out: return what is to be logged"
        changes.report("taken-for-granted", call, message)
        changes.remove(statement)
    elif word == _SAVES and written:
        names = _saved(call, method) or []
        space = Attribute(Name("types"), "SimpleNamespace")
        made = Call(space, [Name(n) for n in names], list(names))
        changes.substitute(statement, [Assign([Attribute(Name(own), "hparams")], made)])


def _is_lightning(project: Project, cls: Class) -> bool:
    """Whether a class, or one above it, is made from Lightning's."""
    for one in project.order(cls):
        if isinstance(one, Class) and one.file is not None:
            imports = project.names[one.file].imports
            for base in one.bases:
                head, _, rest = (dotted(base) or "").partition(".")
                if is_lightning(f"{imports.get(head, head)}.{rest}".strip(".")):
                    return True
    return False


def _is_written_out(project: Project, cls: Class) -> bool:
    """Whether it is known what `self.hparams` holds, and it is used as an object."""
    calls, plain = 0, True
    for one in project.family(cls):
        for method in project.methods(one).values():
            if method.parameters:
                own = method.receiver
                for call in method.nodes(Call):
                    if dotted(call.function) == f"{own}.{_SAVES}":
                        calls += 1
                        plain = plain and _saved(call, method) is not None
                for part in method.nodes(Subscript):
                    plain = plain and dotted(part.object) != f"{own}.hparams"
    return plain and calls > 0


def _saved(call: Call, method: Function) -> list[str] | None:
    """The arguments that a call keeps: all, those that are named, or all but those that are to be
    ignored; None where that is not known."""
    rest = method.parameters[1:]
    stars = any(p.kind.startswith("*") for p in rest)
    taken = "types" in {*names_assigned(method), *(p.name for p in rest)}
    if method.name != "__init__" or stars or taken:
        return None
    named = call.positional
    ignored = [a for word, a in zip(call.keywords, call.arguments) if word == "ignore"]
    apart = [n for a in ignored for n in (a.elements if isinstance(a, Display) else [a])]
    kept, left = list(map(_text, named)), list(map(_text, apart))
    known_words = all(word in (None, "ignore", "logger") for word in call.keywords)
    if None in kept or None in left or not known_words:
        return None
    return [p.name for p in rest if (not kept or p.name in kept) and p.name not in left]


def _text(node: Node) -> str | None:
    constant = node.constant if isinstance(node, Constant) else None
    return constant if isinstance(constant, str) else None


PASS = Pass("lightning", (), run, of_project=True)
