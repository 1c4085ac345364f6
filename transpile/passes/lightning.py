"""What a LightningModule has of Lightning's own, in classes that are plain modules from here on.

self.save_hyperparameters()    self.hparams = types.SimpleNamespace(n=n, scale=scale)
self.log("loss", loss)         left out, and reported: what is logged is returned

Lightning reads the arguments from the frame that calls it, which no other code does.
"""

from collections.abc import Iterator
from typing import Any

from ..model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ..model.libraries import is_lightning
from ..model.names import dotted, names_assigned
from ..model.node import Expression, Node
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign, ExpressionStatement
from .pass_ import Changes, Pass

_LOGS = ("log", "log_dict")
_SAVES = "save_hyperparameters"
# what the trainer gives a module, and no module has here
_OWN = frozenset(
    "all_gather current_epoch global_rank global_step local_rank logger loggers lr_schedulers "
    "manual_backward optimizers toggle_optimizer trainer untoggle_optimizer".split()
)


def run(project: Project, facts: Any = None) -> list[Changes]:
    """Write Lightning's attributes out in all methods of its classes."""
    found = []
    for file in project.ordered:
        for cls in file.classes():
            if _is_lightning(project, cls):
                written = _is_written_out(project, cls)
                for method in project.methods(cls).values():
                    found.append(_Method(project, cls, method, written).run())
    return found


class _Method:
    """One method. `written`: the hyperparameters are, so that `self.hparams` is there."""

    def __init__(self, project: Project, cls: Class, method: Function, written: bool) -> None:
        self.project, self.cls, self.written = project, cls, written
        self.method, self.changes = method, Changes(method)
        self.own = method.parameters[0].name if method.parameters else ""

    def run(self) -> Changes:
        for statement in self.method.nodes(ExpressionStatement):
            self._statement(statement)
        absent = _OWN if self.written else _OWN | {"hparams", _SAVES}
        set_here = {t.name for c in self.project.family(self.cls) for t in _set(self.project, c)}
        for node in self.method.nodes(Attribute):
            if node.name in absent and node.name not in set_here and self._is_own(node):
                if self.project.find(self.cls, node.name) is None:
                    self._absent(node)
        return self.changes

    def _is_own(self, node: Attribute) -> bool:
        target = isinstance(node.parent, Assign) and node in node.parent.targets
        return isinstance(node.object, Name) and node.object.id == self.own and not target

    def _absent(self, node: Attribute) -> None:
        message = f"self.{node.name} is Lightning's: no module has it here"
        whole = node.parent if isinstance(node.parent, Call) else node
        if isinstance(whole, Call) and whole.function is not node:
            whole = node
        self.changes.unconverted("undefined-name", whole, message)

    def _statement(self, statement: ExpressionStatement) -> None:
        call = statement.expression
        function = call.function if isinstance(call, Call) else None
        if not isinstance(call, Call) or not isinstance(function, Attribute):
            return
        if not self._is_own(function) or self.project.find(self.cls, function.name) is not None:
            return
        if function.name in _LOGS:
            message = f"{dotted(function)}() is left out: return what is to be logged"
            self.changes.report("taken-for-granted", call, message)
            self.changes.remove(statement)
        elif function.name == _SAVES and self.written:
            names = _saved(call, self.method) or []
            space = Attribute(Name("types"), "SimpleNamespace")
            made = Call(space, [Name(n) for n in names], list(names))
            target = Attribute(Name(self.own), "hparams")
            self.changes.substitute(statement, [Assign([target], made)])


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
                own = method.parameters[0].name
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
    named = [a for word, a in zip(call.keywords, call.arguments) if word is None]
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


def _set(project: Project, cls: Class) -> Iterator[Attribute]:
    """What methods of a class set on self."""
    for method in project.methods(cls).values():
        own = method.parameters[0].name if method.parameters else ""
        for assign in method.nodes(Assign):
            for target in assign.targets:
                if isinstance(target, Attribute) and _named(target.object) == own:
                    yield target


def _named(node: Expression) -> str | None:
    return node.id if isinstance(node, Name) else None


PASS = Pass("lightning", (), run, of_project=True)
