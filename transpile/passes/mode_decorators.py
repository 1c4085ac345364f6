"""Decorators of the user's that set the mode of a module while a method runs: what they do is
written out, since the module's mode follows from what its methods do.

    def in_eval(fn):                           def _generate(self, x, n=2):
        def inner(model, *args, **kwargs):         return self.drop(x) * n
            was_training = model.training
            model.eval()                       def generate(self, x, n=2):
            out = fn(model, *args, **kwargs)  →    was_training = self.training
            model.train(was_training)              self.eval()
            return out                             out = self._generate(x, n)
        return inner                               self.train(was_training)
                                                   return out
    @in_eval
    def generate(self, x, n=2):
        return self.drop(x) * n
"""

from typing import Any

from ..model.copy import clone
from ..model.expressions import Attribute, Call, Name, Starred
from ..model.functions import inner_given_back
from ..model.names import calls_of, dotted, everywhere, names_assigned
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Return
from .pass_ import Changes, Pass

_MODE = frozenset({"eval", "train", "training"})
_BESIDE = frozenset({"no_grad", "inference_mode", "enable_grad"})  # may stand at the method itself


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The methods of a project without such decorators."""
    found = []
    for file in project.ordered:
        for cls in [c for c in file.classes() if project.is_module(c)]:
            changes = Changes(cls)
            for method in list(project.methods(cls).values()):
                if method.decorators and method.scope is cls:
                    _method(project, cls, method, changes)
            found.append(changes)
    return found


def _method(project: Project, cls: Class, method: Function, changes: Changes) -> None:
    name, (*others, last) = f"_{method.name}", method.decorators
    beside = {(dotted(d.function if isinstance(d, Call) else d) or "") for d in others}
    if any(word.rpartition(".")[2] not in _BESIDE for word in beside) or project.find(cls, name):
        return
    found = project.resolve(method.file, dotted(last) or "") if method.file else None
    if not isinstance(found, Function) or found.file is not method.file or not method.parameters:
        return
    inner = _around(found)
    if inner is None:
        return
    made = _written_out(inner, found.receiver, method, name)

    def rename(function: Function) -> None:
        function.undecorate(last)
        function.rename(name)

    changes.insert_after(method, [made])
    changes.change(method, rename)


def _around(decorator: Function) -> Function | None:
    """The function that a decorator puts around a method, if that sets a mode, and calls the method
    as one."""
    inner = inner_given_back(decorator) if len(decorator.nodes(Return)) == 1 else None
    if inner is None or len(decorator.parameters) != 1 or not inner.parameters:
        return None
    fn, me = decorator.parameters[0].name, inner.receiver
    reads = [n for n in inner.body.walk() if isinstance(n, Name) and n.id == fn]
    called = calls_of(reads)
    plain = all(c.arguments and dotted(c.arguments[0]) == me for c in called)
    asked = {a.name for a in everywhere(inner, Attribute) if dotted(a.object) == me}
    sets = plain and 0 < len(called) == len(reads) and not _MODE.isdisjoint(asked)
    return inner if sets and not inner.asynchronous else None


def _written_out(inner: Function, fn: str, method: Function, name: str) -> Function:
    """A method that does what a decorator did around it, by the parameters that the method has."""
    me, self = inner.receiver, method.receiver
    parameters, body = [clone(p) for p in inner.parameters], clone(inner.body)
    apart = {p.name for p in method.parameters}.isdisjoint(names_assigned(inner.body))
    for call in [n for n in body.walk() if isinstance(n, Call) and dotted(n.function) == fn]:
        del call.arguments[0], call.keywords[0]
        call.function = Attribute(Name(self), name)
        if apart and _hands_all_on(inner, call):
            parameters, given = [clone(p) for p in method.parameters], method.parameters[1:]
            call.keywords = [p.name if p.kind == "=" else None for p in given]
            call.arguments = [p.handed_on() for p in given]
        call.adopt()
        call.restate()
    for read in [n for n in body.walk() if isinstance(n, Name) and n.id == me]:
        read.replace(Name(self))
    parameters[0] = clone(method.parameters[0])
    made = Function(method.name, parameters, body)
    made.file = method.file
    return made


def _hands_all_on(inner: Function, call: Call) -> bool:
    """Whether a function has only `*args, **kwargs` of its own, which it hands on."""
    rest = [p.name for p in inner.parameters[1:] if p.kind in ("*", "**")]
    stars = [dotted(a.expression) for a in call.arguments if isinstance(a, Starred)]
    read = [n.id for n in inner.body.walk() if isinstance(n, Name) and n.id in rest]
    return len(rest) == len(inner.parameters) - 1 == len(call.arguments) and stars == rest == read


PASS = Pass("mode_decorators", (), run, of_project=True)
