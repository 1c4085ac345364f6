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

import builtins
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..model.copy import clone
from ..model.expressions import Attribute, Call, Name, Starred
from ..model.names import dotted, everywhere, names_assigned
from ..model.node import Expression
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Return
from .pass_ import Changes, Pass

_MODE = frozenset({"eval", "train", "training"})
_BESIDE = frozenset({"no_grad", "inference_mode", "enable_grad"})  # may stand at the method itself


class Wrapper(NamedTuple):
    """The function that a decorator puts around another: `fn` is what the other is called."""

    inner: Function
    fn: str


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The methods of a project without such decorators."""
    found = []
    for file in project.ordered:
        for cls in [c for c in file.classes() if project.is_module(c)]:
            changes = Changes(cls)
            for method in list(project.methods(cls).values()):
                _method(project, cls, method, changes)
            found.append(changes)
    return found


def _method(project: Project, cls: Class, method: Function, changes: Changes) -> None:
    name = f"_{method.name}"
    last = method.decorators[-1] if method.decorators else None
    wrapper = _wrapper(project, method, last) if last is not None else None
    if last is None or wrapper is None or project.find(cls, name) or method.scope is not cls:
        return
    if any(_word(d) not in _BESIDE for d in method.decorators[:-1]):
        return
    made = _written_out(wrapper, method, name)

    def rename(function: Function) -> None:
        function.undecorate(last)
        function.rename(name)

    changes.insert_after(method, [made])
    changes.change(method, rename)


def _word(decorator: Expression) -> str:
    called = decorator.function if isinstance(decorator, Call) else decorator
    return (dotted(called) or "").rpartition(".")[2]


def _wrapper(project: Project, method: Function, decorator: Expression) -> Wrapper | None:
    """What a decorator makes of a method, if that sets a mode, and calls the method as one."""
    found = project.resolve(method.file, dotted(decorator) or "") if method.file else None
    if not isinstance(found, Function) or len(found.parameters) != 1 or not method.parameters:
        return None
    inside, given = found.nodes(Function), found.nodes(Return)
    fn, named = found.parameters[0].name, given[0].expression if len(given) == 1 else None
    inner = next((f for f in inside if isinstance(named, Name) and f.name == named.id), None)
    if inner is None or not inner.parameters or inner.asynchronous:
        return None
    me = inner.parameters[0].name
    reads = [n for n in everywhere(inner, Name) if n.id == fn and n.nearest(Function) is inner]
    called = [n.parent for n in reads if isinstance(n.parent, Call) and n.parent.function is n]
    whole = [
        n for n in reads if n.parent is not None and any(n in c.arguments for c in _marks(inner))
    ]
    plain = all(c.arguments and dotted(c.arguments[0]) == me for c in called)
    asked = {a.name for a in everywhere(inner, Attribute) if dotted(a.object) == me}
    if _MODE.isdisjoint(asked) or not called or not plain or len(called) + len(whole) != len(reads):
        return None
    return Wrapper(inner, fn) if _is_at_home(inner, fn, found, method) else None


def _marks(inner: Function) -> Iterator[Call]:
    """`@wraps(fn)`"""
    return (d for d in inner.decorators if isinstance(d, Call))


def _is_at_home(inner: Function, fn: str, decorator: Function, method: Function) -> bool:
    """Whether the names in a function mean the same where a method stands."""
    own = {fn, *names_assigned(inner.body), *(p.name for p in inner.parameters)}
    read = {n.id for n in inner.body.walk() if isinstance(n, Name)} - own
    return decorator.file is method.file or all(hasattr(builtins, name) for name in read)


def _written_out(wrapper: Wrapper, method: Function, name: str) -> Function:
    """A method that does what a decorator did around it, by the parameters that the method has."""
    inner, fn = wrapper
    me, self = inner.parameters[0].name, method.parameters[0].name
    parameters, body = [clone(p) for p in inner.parameters], clone(inner.body)
    for call in [n for n in body.walk() if isinstance(n, Call) and dotted(n.function) == fn]:
        del call.arguments[0], call.keywords[0]
        call.function = Attribute(Name(self), name)
        if _hands_all_on(inner, call) and _names(method).isdisjoint(names_assigned(inner.body)):
            parameters = [clone(p) for p in method.parameters]
            given = [(p.name if p.kind == "=" else None, _given(p)) for p in method.parameters[1:]]
            call.keywords, call.arguments = [w for w, _ in given], [a for _, a in given]
        call.adopt()
        call.restate()
    for read in [n for n in body.walk() if isinstance(n, Name) and n.id == me]:
        read.replace(Name(self))
    parameters[0] = clone(method.parameters[0])
    made = Function(method.name, parameters, body)
    made.file = method.file
    return made


def _names(method: Function) -> set[str]:
    return {p.name for p in method.parameters}


def _given(parameter: Any) -> Expression:
    read = Name(parameter.name)
    return Starred(read, parameter.kind == "**") if parameter.kind in ("*", "**") else read


def _hands_all_on(inner: Function, call: Call) -> bool:
    """Whether a function has only `*args, **kwargs` of its own, which it hands on."""
    rest = [p.name for p in inner.parameters[1:] if p.kind in ("*", "**")]
    stars = [dotted(a.expression) for a in call.arguments if isinstance(a, Starred)]
    read = [n.id for n in inner.body.walk() if isinstance(n, Name) and n.id in rest]
    whole = len(rest) == len(inner.parameters) - 1 == len(call.arguments) == 2
    return whole and stars == rest == read


PASS = Pass("mode_decorators", (), run, of_project=True)
