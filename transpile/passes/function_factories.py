"""A function that another one makes around modules stands where it is used.

def factory(norm, conv):                       def f(*inputs):
    def f(*inputs):                                return self.conv(self.norm(cat(inputs)))
        return conv(norm(cat(inputs)))   →     y = checkpoint(f, *xs)
    return f

y = checkpoint(factory(self.norm, self.conv), *xs)

A closure over modules has none of their params and state; one in the method itself has.
"""

from typing import Any

from ..model.copy import clone, moved_copy
from ..model.expressions import Call, Comprehension, Constant, Lambda, Name
from ..model.fresh_names import free, taken
from ..model.functions import called_by
from ..model.names import (
    bound_once,
    dotted,
    imported,
    is_called,
    is_docstring,
    is_name,
    last_word,
    own_names,
    rebound,
)
from ..model.node import Expression, Node, Statement
from ..model.program import Function, Parameter, Scope
from ..model.statements import Assign, Return
from .pass_ import Changes, Pass


def run(scope: Scope, facts: Any = None) -> Changes:
    """Put the functions that one method has made into it."""
    changes = Changes(scope)
    if not isinstance(scope, Function) or scope.owner is None or scope.file is None:
        return changes
    names = set[str]()  # of those that were made
    done: dict[Function, set[Node]] = {}
    for call in scope.nodes(Call):
        known = (*scope.nodes(Function), *scope.file.nodes(Function))
        named = [f for f in known if is_name(call.function, f.name)]
        made = _made(named[0], call) if len(named) == 1 else None
        if made is None or not _stands(scope, call, named[0], made):
            continue
        statement = next(n for n in call.ancestors() if isinstance(n, Statement))
        kept = statement is call.parent
        target = last_word(statement.targets[0]) if kept else None  # type: ignore[attr-defined]
        name = target or free(made.name, names | _outside(scope, named[0]))
        if name != made.name and any(is_name(n, made.name) for n in made.walk()):
            continue  # it calls itself
        made.rename(name)
        names.add(name)
        if kept:
            changes.substitute(statement, [made])
        else:
            changes.insert_before(statement, [made])
            changes.replace(call, Name(name))
        done.setdefault(named[0], set()).add(call.function)
    for factory, asked in done.items():
        if factory.nearest(Function) is scope:
            if asked == {n for n in scope.walk() if is_name(n, factory.name)}:
                changes.remove(factory)
    return changes


def _made(factory: Function, call: Call) -> Function | None:
    """What a factory makes of the names that it is given, where it calls any."""
    inner, *rest = [s for s in factory.body.body if not is_docstring(s)]
    given = dict(zip((p.name for p in factory.parameters), call.arguments))
    if not isinstance(inner, Function) or not rest or inner.decorators or factory.decorators:
        return None
    returned = isinstance(rest[0], Return) and is_name(rest[0].expression, inner.name)
    plain = not any(p.kind or p.default for p in factory.parameters) and not any(call.keywords)
    fits = len(given) == len(call.arguments) == len(factory.parameters) and not rest[1:]
    if not (returned and plain and fits and all(map(_is_said, call.arguments))):
        return None
    made = moved_copy(inner)
    used = [n for n in made.walk() if isinstance(n, Name) and n.id in given]
    if given.keys() & own_names(inner) or not any(map(is_called, used)):
        return None
    for name in used:
        argument, around = given[name.id], name.parent
        if isinstance(argument, Call) and isinstance(around, Call) and is_called(name):
            around.replace(called_by(argument, around))
        else:
            name.replace(clone(argument))
    return made


def _is_said(argument: Expression) -> bool:
    """`self.norm`, `partial(nn.init.normal_, std=0.1)`: the same wherever it stands."""
    if not isinstance(argument, Call):
        return dotted(argument) is not None
    if not argument.file or imported(argument.file, argument.function) != "functools.partial":
        return False
    words = argument.keywords[1:]
    return all(map(_is_fixed, argument.arguments)) and None not in words and bool(words)


def _is_fixed(node: Expression) -> bool:
    """`nn.init.normal_`, `0.1`, `math.sqrt(5)`"""
    if isinstance(node, Call):
        return (dotted(node.function) or "").startswith("math.") and all(
            map(_is_fixed, node.arguments)
        )
    return isinstance(node, Constant) or dotted(node) is not None


def _stands(scope: Function, call: Call, factory: Function, made: Function) -> bool:
    """Whether the function means the same in the method, which calls it, or hands it to what does,
    while all that it is made of is what it was."""
    kept, uses = call.parent, list[Node]([call])
    if isinstance(kept, Assign):
        name = dotted(kept.targets[0]) if len(kept.targets) == 1 else None
        if name not in bound_once(scope):
            return False
        uses = [n for n in scope.walk() if is_name(n, name) and n is not kept.targets[0]]
        if any(use.start < call.start for use in uses):
            return False  # what an earlier turn of a loop has made
    statement = next(n for n in call.ancestors() if isinstance(n, Statement))
    for around in call.ancestors():
        if around is statement:
            break
        if isinstance(around, (Comprehension, Lambda)):
            return False  # of its own names
    parts = {dotted(n) or "" for a in call.arguments for n in (a, *a.walk())}
    roots = {part.partition(".")[0] for part in parts}
    read = taken(made) - own_names(made) - roots - {made.name}
    if not isinstance(kept, Assign):
        read.add(made.name)
    if factory.nearest(Function) is None and read & own_names(scope):
        return False  # what the factory reads has another meaning here
    stored = {dotted(target) for a in scope.nodes(Assign) for target in a.targets}
    changed = roots & (own_names(made) | rebound(scope)) or parts & stored
    return not changed and all(map(_is_run, uses))


def _outside(scope: Function, factory: Function) -> set[str]:
    """The names of a method, without those in the factory."""
    inside = set(factory.walk())
    nodes = [n for n in scope.walk() if n not in inside]
    names = {n.id for n in nodes if isinstance(n, Name)}
    return names | {n.name for n in nodes if isinstance(n, (Function, Parameter))}


def _is_run(use: Node) -> bool:
    """`f(x)`, `checkpoint(f, x)`"""
    call: Any = use.parent
    return is_called(use) or isinstance(call, Call) and "checkpoint" in last_word(call.function)


PASS = Pass("function_factories", (), run)
