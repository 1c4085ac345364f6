"""A function that ties weights of the modules that it is given is written out where it is called.

    def tie(self, first, second):
        if self.config.torchscript:
            first.weight = nn.Parameter(second.weight.clone())
        else:
            first.weight = second.weight
                                             self.decoder.weight = …
    self.tie(self.decoder, self.embed)   →   if self.config.torchscript: …

So both sides are paths of one module, by which dialects know what is shared. It is done on syntax
alone; a function that has a name of the caller's for its own, or gives something back, stays, and
so does a method that a class below has anew.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from ..model.copy import moved_copy
from ..model.expressions import Attribute, Call, Name
from ..model.functions import bound_arguments
from ..model.names import (
    bound_once,
    dotted,
    everywhere,
    is_docstring,
    is_name,
    is_own,
    last_word,
    names_assigned,
    own_names,
    root,
)
from ..model.node import Expression, Node, Statement
from ..model.program import Function
from ..model.project import Project
from ..model.statements import Assign, ExpressionStatement, Return
from ..source.lower_ast import expression
from .pass_ import Changes, Pass

_TIED = frozenset(("weight", "bias"))


def run(project: Project, facts: Any = None) -> list[Changes]:
    """Write the calls of such functions out, and leave out those that are called no more."""
    tying = {f for f in project.functions() if _ties(f)}
    found: dict[Node, Changes] = {}
    written: dict[Function, int] = dict.fromkeys(tying, 0)
    for caller in [f for f in project.functions() if f not in tying] if tying else ():
        for statement in caller.nodes(ExpressionStatement):
            function = _called(statement, caller, project)
            if function is None or function not in tying:
                continue
            given = _given(statement.expression, function, caller, project)
            if given is None or not _reads_alike(function, caller, project):
                continue
            changes = found.setdefault(caller, Changes(caller))
            changes.substitute(statement, list(_body(function, given)))
            written[function] += 1
    for function in project.functions():
        for call in [c for c in function.nodes(Call) if _is_side(c)]:
            path = _path(call, function, project)
            if path is not None:
                found.setdefault(function, Changes(function)).replace(call, path)
    for function, count in written.items():
        if count and count == _named(project, function.name):
            scope = function.scope
            found.setdefault(scope, Changes(scope)).remove(function)
    return list(found.values())


def _ties(function: Function) -> bool:
    """Whether a function sets the weight of one parameter to that of another, and does nothing that
    it could do only in a place of its own."""
    names = {p.name for p in function.parameters if p.kind == "" and p.default is None}
    if len(names) < len(function.parameters) or function.decorators:
        return False
    if not any(_is_tie(n, names, _receiver(function)) for n in function.nodes(Assign)):
        return False
    return not function.nodes(Return, Function)


def _is_tie(assign: Assign, names: set[str], me: str) -> bool:
    """`first.weight = second.weight`, `layer.weight = weight`, `self.head.weight = weight`"""
    target, source = assign.targets[0], assign.expression
    if assign.operator or len(assign.targets) != 1 or not isinstance(target, Attribute):
        return False
    shared = source if isinstance(source, Name) or _is_weight(source) else None
    holder, given = root(target), root(shared) if shared is not None else None
    if holder is None or given is None or given.id == me or not {holder.id, given.id} <= names:
        return False
    return _is_weight(target) and not is_own(target, me)


def _is_weight(node: Node | None) -> TypeGuard[Attribute]:
    return isinstance(node, Attribute) and node.name in _TIED


def _is_side(call: Call) -> bool:
    """`self.get_embeddings()` in `self.decoder.weight = self.get_embeddings().weight`"""
    array = call.parent
    around = array.parent if _is_weight(array) else None
    return isinstance(around, Assign) and (around.expression is array or array in around.targets)


def _receiver(function: Function) -> str:
    return function.receiver if function.owner is not None else ""


def _called(statement: ExpressionStatement, caller: Function, project: Project) -> Function | None:
    """The function that `self.tie(a, b)` or `tie(a, b)` runs, for certain."""
    call = statement.expression
    if not isinstance(call, Call) or caller.file is None:
        return None
    if isinstance(call.function, Name):
        found = project.resolve(caller.file, call.function.id)
        return found if isinstance(found, Function) and found.owner is None else None
    return _method(call, caller, project)


def _method(call: Call, caller: Function, project: Project) -> Function | None:
    """The method that a call of one on `self` runs, whatever the class of that is below."""
    cls = caller.owner
    if cls is None or not is_own(call.function, _receiver(caller)):
        return None
    method = project.find(cls, call.function.name)
    return method if {*project.overriding(cls, call.function.name)} <= {method} else None


def _given(
    call: Expression, function: Function, caller: Function, project: Project
) -> Mapping[str, Expression] | None:
    """What a call gives for each parameter, all of it paths; None where that is not so."""
    assert isinstance(call, Call)
    bound = bound_arguments(function.parameters[function.owner is not None :], call)
    paths = {word: _path(a, caller, project) for word, a in bound.items()} if bound else {}
    given = {word: path for word, path in paths.items() if path is not None}
    if bound is None or len(given) < len(bound):
        return None
    if function.owner is not None:
        given[function.receiver] = Name(_receiver(caller))
    return given


def _path(node: Expression, caller: Function, project: Project) -> Expression | None:
    """`self.embed` of itself, of `self.get_embeddings()`, and of a name that is either."""
    if isinstance(node, Name):
        values = [a.expression for a in caller.nodes(Assign) if is_name(a.targets[0], node.id)]
        once = node.id in bound_once(caller) and len(values) == 1
        found = _path(values[0], caller, project) if once and values[0] is not None else None
        return node if found is None or _is_set(found, caller) else found
    if isinstance(node, Call):
        return None if node.arguments else _returned(_method(node, caller, project), caller)
    return node if dotted(node) is not None else None


def _is_set(path: Expression, caller: Function) -> bool:
    """Whether a method puts anything where a path begins: a name for it is of before that."""
    name = (dotted(path) or "").split(".")[1:2]
    targets = (t for a in caller.nodes(Assign) for t in a.targets)
    return any(is_own(t, _receiver(caller)) and [t.name] == name for t in targets)


def _returned(getter: Function | None, caller: Function) -> Expression | None:
    """The path that a method gives and does nothing else, as the caller has it."""
    body = [s for s in getter.body.body if not is_docstring(s)] if getter is not None else []
    if getter is None or len(body) != 1 or not isinstance(body[0], Return):
        return None
    first, _, rest = (dotted(body[0].expression) or "").partition(".")
    return expression(f"{_receiver(caller)}.{rest}") if rest and first == getter.receiver else None


def _reads_alike(function: Function, caller: Function, project: Project) -> bool:
    """Whether the names that a function reads of its file mean the same where it is called."""
    made = set(names_assigned(function.body))
    outside = {n.id for n in everywhere(function, Name)} - own_names(function)
    one, other = function.file, caller.file
    assert one is not None and other is not None
    alike = (project.resolve(one, name) == project.resolve(other, name) for name in outside)
    return own_names(caller).isdisjoint(outside | made) and all(alike)


def _body(function: Function, given: Mapping[str, Expression]) -> Iterator[Statement]:
    """Its statements, of what is given."""
    for statement in function.body.body:
        if is_docstring(statement):
            continue
        made = moved_copy(statement)
        for name in [n for n in made.walk() if isinstance(n, Name) and n.id in given]:
            name.replace(moved_copy(given[name.id]))
        yield made


def _named(project: Project, name: str) -> int:
    """How often something is asked for by a name."""
    nodes = (n for file in project.ordered for n in everywhere(file, Name, Attribute))
    return sum(last_word(n) == name for n in nodes)


PASS = Pass("tying_calls", (), run, of_project=True)
