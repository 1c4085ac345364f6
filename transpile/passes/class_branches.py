"""Methods that a class has one way or the other are one method, which asks when it runs.

    if "a" in MODE:                            def forward(self, x):
        def forward(self, x):                      if "a" in MODE:
            return self.l(x)             →             return self.l(x)
    else:                                          else:
        def forward(self, x):                          return self.l(x) * 2
            return self.l(x) * 2

A class has one method of a name, for all that asks. Left as they are: sides with other methods,
parameters, or statements, and tests of what the class or the method binds.

    def with_state(cls):                       class Decoder(State, nn.Module):
        cls.__bases__ = (State,) + …
        return cls

    @with_state                          →
    class Decoder(nn.Module):

A base that a decorator puts first is one that the class names: those of a library allow no others.
"""

import functools
from typing import Any

from ..model.copy import clone
from ..model.expressions import Display
from ..model.names import dotted, names_assigned, names_in, text
from ..model.node import Expression
from ..model.operators import Binary
from ..model.program import Class, File, Function, Scope
from ..model.statements import Assign, Block, If, Return
from .pass_ import Changes, Pass


def run(scope: Scope, facts: Any = None) -> Changes:
    """Join the methods of one class."""
    changes = Changes(scope)
    if isinstance(scope, Class):
        for branch in scope.body.body:
            if isinstance(branch, If) and _are_alike(branch, scope):
                changes.change(branch, _join)
        for decorator in scope.decorators:
            if (base := _put_first(scope, decorator)) is not None:
                changes.change(decorator, functools.partial(_extend, cls=scope, base=base))
    return changes


def _put_first(cls: Class, decorator: Expression) -> Expression | None:
    """The base that a decorator of the same file puts first."""
    around = next(n for n in cls.ancestors() if isinstance(n, File))
    defined = (f for f in around.body.body if isinstance(f, Function))
    found = next((f for f in defined if f.name == dotted(decorator)), None)
    if found is None or len(found.parameters) != 1 or len(found.body.body) != 2:
        return None
    given, (assign, last) = found.parameters[0].name, found.body.body
    if not isinstance(assign, Assign) or not isinstance(last, Return):
        return None
    value = assign.expression
    bases = value.left if isinstance(value, Binary) and value.operator == "+" else None
    sets = [dotted(t) for t in assign.targets] == [f"{given}.__bases__"]
    if not sets or dotted(last.expression) != given or not isinstance(bases, Display):
        return None
    return bases.elements[0] if len(bases.elements) == 1 else None


def _extend(decorator: Expression, cls: Class, base: Expression) -> None:
    cls.undecorate(decorator)
    cls.bases.insert(0, clone(base))
    cls.keywords.insert(0, None)
    cls.adopt()
    cls.restate()


def _are_alike(branch: If, cls: Class) -> bool:
    """Whether both sides are methods of the same names and parameters."""
    if branch.orelse is None:
        return False
    sides = [_methods(side) for side in (branch.body, branch.orelse)]
    if sides[0] is None or sides[1] is None or sides[0].keys() != sides[1].keys():
        return False
    pairs = [(method, sides[1][name]) for name, method in sides[0].items()]
    bound = set(names_assigned(cls))
    for method in (m for pair in pairs for m in pair):
        bound |= {*names_assigned(method), *(p.name for p in method.parameters)}
    alike = all(_parameters(a) == _parameters(b) for a, b in pairs)
    return alike and not bound & names_in(branch.test)


def _methods(side: Block) -> dict[str, Function] | None:
    """The methods of a side by name; None where it has something else, or decorators."""
    found = {s.name: s for s in side.body if isinstance(s, Function) and not s.decorators}
    return found if len(found) == len(side.body) else None


def _parameters(method: Function) -> list[tuple[str, str, str | None]]:
    found = method.parameters
    return [(p.name, p.kind, text(p.default) if p.default else None) for p in found]


def _join(branch: If) -> None:
    assert branch.orelse is not None and isinstance(branch.parent, Block)
    others = _methods(branch.orelse) or {}
    made = []
    for method in list(branch.body.body):
        assert isinstance(method, Function)
        sides = [_taken(m.body) for m in (method, others[method.name])]
        branch.body.take(method)
        method.body.append([If(clone(branch.test), *sides)])
        made.append(method)
    branch.parent.substitute(branch, made)


def _taken(body: Block) -> Block:
    """The statements of a block in one of their own."""
    statements = list(body.body)
    for statement in statements:
        body.take(statement)
    return Block(statements)


PASS = Pass("class_branches", (), run)
