"""Methods that do no more than to fill attributes, written where they are called.

What they give may only be what they fill: `self.cos, self.sin = self._update(n)` of a method that
ends in `return self.cos, self.sin`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ...model.constants import is_none
from ...model.copy import clone
from ...model.edits import block_of
from ...model.expressions import Attribute, Call, Name
from ...model.fresh_names import Names
from ...model.names import dotted, everywhere, is_docstring, last_word, leaves, names_assigned
from ...model.node import Expression, Node, Statement
from ...model.program import Function, Parameter
from ...model.statements import Assign, Block, ExpressionStatement, Return
from .stores import written

if TYPE_CHECKING:
    from . import _Caches


class Fills:
    """Those that one method calls as statements: `self._update(n, x.device)`."""

    def __init__(self, caches: _Caches, method: Function) -> None:
        self.method, self.me = method, method.receiver
        self.own = {
            name: m
            for name, m in caches.project.methods(caches.cls).items()
            if m is not method and m.name != "__init__" and any(written(m))
            if _is_filling(m, caches.names.attributes.get(name, []))
        }
        self.methods = {m for m in self.called(method) if caches.is_plain(m)}

    def called(self, function: Function | None) -> set[Function]:
        """The filling methods that a function calls."""
        if function is None or not function.parameters:
            return set()
        me = function.receiver
        names = {dotted(c.function) for c in everywhere(function, Call)}
        return {m for name, m in self.own.items() if f"{me}.{name}" in names}

    @functools.cached_property
    def body(self) -> Block:
        """The body of the method, a copy where something is written out in it."""
        if not self.methods:
            return self.method.body
        body, names = clone(self.method.body), Names(self.method)
        for statement in [s for s in body.walk() if isinstance(s, (ExpressionStatement, Assign))]:
            call = statement.expression
            name = dotted(call.function) if isinstance(call, Call) else None
            target = self.own.get(name.removeprefix(f"{self.me}.")) if name is not None else None
            if target in self.methods and isinstance(call, Call):
                made = self._written(target, call, names)
                if made is not None:
                    block_of(statement).substitute(statement, made)
        return body

    def _written(self, target: Function, call: Call, names: Names) -> list[Statement] | None:
        """The statements of a method with what a call gives in the place of its parameters."""
        given = _bound(target.parameters[1:], call)
        if given is None:
            return None
        body = clone(target.body)
        local = {n: names.fresh(n) for n in names_assigned(target)}
        if set(local) & set(given):
            return None
        for name in [n for n in body.walk() if isinstance(n, Name)]:
            if name.id in given:
                name.replace(clone(given[name.id]))
            elif name.id in local:
                name.replace(Name(local[name.id]))
            elif name.id == target.receiver != self.me:
                name.replace(Name(self.me))
        return [s for s in body.body if not is_docstring(s) and not isinstance(s, Return)]


def _bound(parameters: list[Parameter], call: Call) -> dict[str, Expression] | None:
    """What each parameter of a method is given, where that may be written in its place."""
    if any(p.kind not in ("", "/") for p in parameters):
        return None
    found: dict[str, Expression] = {}
    for i, (word, argument) in enumerate(zip(call.keywords, call.arguments)):
        name = word or (parameters[i].name if i < len(parameters) else "")
        found[name] = argument
    for parameter in parameters:
        default = parameter.default
        if parameter.name not in found and default is not None:
            found[parameter.name] = default
    names = {p.name for p in parameters}
    return found if set(found) == names and all(map(_is_simple, found.values())) else None


def _is_simple(node: Node) -> bool:
    """`n`, `x.device`, `x.shape[1]`, `x.size(0)`: what may be said more than once."""
    called = [n for n in node.walk() if isinstance(n, Call)]
    words = [
        c.function.name if isinstance(c.function, Attribute) else dotted(c.function) for c in called
    ]
    return all(word in ("size", "dim", "len", "max") for word in words)


def _is_filling(method: Function, named: list[Attribute]) -> bool:
    """Whether a method is left by its end alone, and gives nothing or what each call sets anew;
    `named` are the attributes of its name."""
    marks = [last_word(getattr(d, "function", d)) for d in method.decorators]
    if set(marks) - {"no_grad"}:
        return False
    returns = everywhere(method, Return)
    last = method.body.body[-1]
    given = last.expression if isinstance(last, Return) else None
    if given is None or is_none(given):
        return all(r is last for r in returns)
    return all(r is last for r in returns) and all(_is_set_anew(n, given) for n in named)


def _is_set_anew(name: Attribute, given: Expression) -> bool:
    """Whether this calls a method and sets the attributes that it gives."""
    names = [dotted(n) or "" for n in leaves(given)]
    call = name.parent
    statement = call.parent if isinstance(call, Call) and call.function is name else None
    if not isinstance(statement, Assign) or statement.operator or not all("." in n for n in names):
        return False
    return [[dotted(n) for n in leaves(t)] for t in statement.targets] == [names]
