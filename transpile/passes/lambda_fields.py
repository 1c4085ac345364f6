"""Lambdas that a constructor keeps on self, and that use self, become methods.

    m = self.mlp                               def mlpf(self, x):
    self.mlpf = lambda x: m.down(m.up(x))  →       return self.mlp.down(self.mlp.up(x))
    self.f = lambda x, fc=self.fc: fc(x)       def f(self, x):
                                                   return self.fc(x)

Kept as a value it would hold modules that are others once a model is traced. So does a function
with a name, `def run(x): …` and `self.run = run`.

One that writes what it is given in place becomes a function, where it has a name; a write of JAX's
is a statement. So does one that runs parts of self, which may have a state, and one that a
constructor calls, and that hands on what it is given:

    zero = lambda m: zeros_(m.weight)          →  def zero(m):
                                                      zeros_(m.weight)
    init_ = lambda m: init(m, zeros_)          →  def init_(m):
    self.fc = init_(nn.Linear(2, 2))                  return init(m, zeros_)
"""

from collections import Counter
from typing import Any, NamedTuple

from ..model.copy import clone
from ..model.expressions import Attribute, Call, Lambda, Name, Starred
from ..model.names import (
    below,
    bound_name,
    bound_once,
    dotted,
    everywhere,
    imported,
    in_scope,
    is_called,
    is_inplace,
    is_own,
    last_word,
    names_assigned,
    names_in,
    reads_of,
    target_names,
)
from ..model.node import Expression, Node
from ..model.program import Class, File, Function, Parameter, Scope
from ..model.project import Project
from ..model.statements import Assign, Block, ExpressionStatement, Return
from .pass_ import Changes, Pass


class Kept(NamedTuple):
    """`self.name = lambda …`, a statement of a constructor; or `self.name = f`, of one inside."""

    name: str
    statement: Assign
    function: Lambda | Function


def run(project: Project, facts: Any = None) -> list[Changes]:
    """Make the methods of all classes, and the functions."""
    scopes = [scope for file in project.ordered for scope in file.scopes()]
    classes = [_methods(project, scope) for scope in scopes if isinstance(scope, Class)]
    return [*classes, *(_functions(scope) for scope in scopes if not isinstance(scope, Class))]


def _functions(scope: Scope) -> Changes:
    changes = Changes(scope)
    for assign in scope.nodes(Assign):
        if _writes_in_place(assign) or _hands_on(assign, scope) or _runs_own(assign, scope):
            changes.change(assign, lambda assign: _as_function(assign, scope))
    return changes


def _methods(project: Project, cls: Class) -> Changes:
    changes = Changes(cls)
    methods = [s for s in cls.body.body if isinstance(s, Function)]
    init = next((m for m in methods if m.name == "__init__" and m.parameters), None)
    if init is not None:
        stored = _stored(project, cls)
        named = _aliases(init, stored)
        for kept in _kept(cls, init, methods):
            own = {p.name for p in kept.function.parameters}
            plain = {name: part for name, part in named.items() if name not in own}
            parts = {**plain, **_usual(kept, init, cls, stored)}
            if _may_move(kept.function, init, parts):
                changes.change(kept.statement, _moving(kept, init, cls, parts, named))
    return changes


def _stored(project: Project, cls: Class) -> Counter[str]:
    """How often attributes of a name are stored in what an object of a class may be of."""
    stores = (t for c in project.family(cls) for a in below(c, Assign) for t in a.targets)
    return Counter(t.name for t in stores if isinstance(t, Attribute))


def _writes_in_place(assign: Assign) -> bool:
    """Whether it names a lambda that calls `t.add_(1)` or `zeros_(m.weight)`."""
    made, targets = assign.expression, assign.targets
    if len(targets) != 1 or not isinstance(targets[0], Name) or assign.operator:
        return False
    return isinstance(made, Lambda) and any(map(_writes, (made.body, *in_scope(made.body, Call))))


def _writes(call: Node) -> bool:
    word = dotted(call.function) if isinstance(call, Call) else None
    if word is None or not is_inplace(word):
        return False
    file = call.nearest(File)
    assert isinstance(call, Call) and file is not None
    name = imported(file, call.function)
    if name.startswith("torch.nn.init."):  # of a tensor itself it counts what is given back
        return bool(call.arguments) and not isinstance(call.arguments[0], Name)
    return isinstance(call.function, Attribute) or name.startswith("torch.")


def _as_function(assign: Assign, scope: Scope) -> None:
    made, name = assign.expression, assign.targets[0]
    assert isinstance(made, Lambda) and isinstance(name, Name) and isinstance(assign.parent, Block)
    uses = [n for n in everywhere(scope, Name) if n.id == name.id and n is not name]
    last = ExpressionStatement if all(map(_is_run_alone, uses)) else Return
    function = Function(name.id, made.parameters, Block([last(made.body)]))
    function.file = assign.file
    assign.parent.substitute(assign, [function])


def _is_run_alone(use: Name) -> bool:
    """Whether nobody asks for what a function gives back here: `f(m)`, `net.apply(f)`."""
    call = use.parent
    if not isinstance(call, Call):
        return False
    if call.function is not use:
        return isinstance(call.function, Attribute) and call.function.name == "apply"
    return isinstance(call.parent, ExpressionStatement)


def _hands_on(assign: Assign, scope: Scope) -> bool:
    """Whether it names a lambda that a constructor calls, and that hands on what it is given."""
    target, value = assign.targets[0], assign.expression
    if not isinstance(value, Lambda) or not isinstance(target, Name) or assign.targets[1:]:
        return False
    if not isinstance(scope, Function) or scope.name != "__init__":
        return False
    body, own = value.body, {p.name for p in value.parameters}
    if not isinstance(body, Call) or not isinstance(body.function, Name):
        return False
    handed = any(isinstance(a, Name) and a.id in own for a in body.arguments)
    return handed and any(dotted(call.function) == target.id for call in scope.nodes(Call))


def _runs_own(assign: Assign, scope: Scope) -> bool:
    """Whether it names a lambda of a method that runs a part of self, and is called alone."""
    value, name = assign.expression, bound_name(assign)
    if not isinstance(value, Lambda) or name is None or name not in bound_once(scope):
        return False
    method = scope if isinstance(scope, Function) and scope.name != "__init__" else None
    if method is None or method.owner is None or not method.parameters:
        return False
    called = [dotted(call.function) or "" for call in below(value, Call)]
    own = any(word.startswith(f"{method.receiver}.") for word in called)
    # One that is handed on goes with all that it closes over.
    return own and all(map(is_called, reads_of(method, name)))


def _kept(cls: Class, init: Function, methods: list[Function]) -> list[Kept]:
    """The lambdas that are the only thing a class keeps under their names."""
    me = init.receiver
    stores = [t for m in methods for a in m.nodes(Assign) for t in a.targets]
    names = [t.name for t in stores if isinstance(t, Attribute)]
    taken = {m.name for m in methods}
    found = []
    for statement in init.body.body:
        if not isinstance(statement, Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.expression
        function = value if isinstance(value, Lambda) else _only_kept(value, init)
        if is_own(target, me) and function is not None:
            if names.count(target.name) == 1 and target.name not in taken:
                found.append(Kept(target.name, statement, function))
    return found


def _only_kept(value: Expression | None, init: Function) -> Function | None:
    """The function of a constructor that a name stands for, where nothing else reads that."""
    if not isinstance(value, Name) or names_assigned(init.body).count(value.id) != 1:
        return None
    named = [n for n in init.body.walk() if isinstance(n, Name) and n.id == value.id]
    inner = (f for f in init.body.body if isinstance(f, Function) and f.name == value.id)
    function = next(inner, None)
    plain = function is not None and not function.decorators
    return function if plain and named == [value] else None


def _aliases(init: Function, stored: Counter[str]) -> dict[str, Expression]:
    """The names that stand for a part of self: `m = self.mlp`, which nothing sets again."""
    me, assigned = init.receiver, names_assigned(init.body)
    found: dict[str, Expression] = {}
    for assign in init.nodes(Assign):
        path = dotted(assign.expression)
        if path is None or not path.startswith(f"{me}.") or assign.operator:
            continue
        if not _is_once(path, stored):
            continue
        for target in assign.targets:
            if isinstance(target, Name) and assigned.count(target.id) == 1:
                assert assign.expression is not None
                found[target.id] = assign.expression
    return found


def _is_once(path: str, stored: Counter[str]) -> bool:
    """Whether nothing sets a part of `self.net.fc` again: a subclass may, in another file."""
    return all(stored[word] <= 1 for word in path.split(".")[1:])


def _usual(kept: Kept, init: Function, cls: Class, stored: Counter[str]) -> dict[str, Expression]:
    """The parameters that are a part of self for every call: `lambda x, fc=self.fc: fc(x)`."""
    me, found = init.receiver, dict[str, Expression]()
    calls = [c for c in below(cls, Call) if last_word(c.function) == kept.name]
    for at, parameter in enumerate(kept.function.parameters):
        usual = parameter.default
        path = dotted(usual) if usual is not None else None
        if usual is None or not path or not path.startswith(f"{me}."):
            continue
        if not _is_once(path, stored):
            continue
        loose = any(isinstance(a, Starred) for c in calls for a in c.arguments)
        given = any(parameter.name in c.keywords or c.keywords.count(None) > at for c in calls)
        if not loose and not given and parameter.name not in names_assigned(kept.function.body):
            found[parameter.name] = usual
    return found


def _may_move(function: Lambda | Function, init: Function, aliases: dict[str, Expression]) -> bool:
    """Whether all that a lambda reads of its constructor's is self, or a part of it."""
    me = init.receiver
    own = {p.name for p in function.parameters} - aliases.keys()
    own |= set(names_assigned(function.body))
    read = names_in(function.body) - own
    local = {*names_assigned(init.body), *(p.name for p in init.parameters[1:])}
    uses_self = me in read or bool(read & aliases.keys())
    return uses_self and me not in own and not (read & local) - aliases.keys()


def _moving(
    kept: Kept,
    init: Function,
    cls: Class,
    parts: dict[str, Expression],
    named: dict[str, Expression],
) -> Any:
    """`parts`: what names of the function stand for, its own too; `named`: names of `init`."""

    def move(statement: Assign) -> None:
        body = kept.function.body
        for name in [n for n in body.walk() if isinstance(n, Name)]:
            if name.id in parts:
                name.replace(clone(parts[name.id]))
        rest = [p for p in kept.function.parameters if p.name not in parts]
        parameters = [Parameter(init.receiver), *rest]
        block = statement.parent
        assert isinstance(block, Block)
        block.take(statement)
        above, behind = statement.comments or ("", "")
        if isinstance(made := kept.function, Function):
            block.take(made)
            behind = f"{behind.strip()}\n" if behind else ""
            above = (made.comments or ("", ""))[0] + above.lstrip("\n") + behind
            made.rename(kept.name)
            made.parameters = parameters
            made.adopt()
            made.restate()
        else:
            assert isinstance(body, Expression)
            result = Return(body)
            result.comments = "", behind
            made = Function(kept.name, parameters, Block([result]))
            made.file = cls.file  # facts ask what names mean there
        made.comments = f"\n{above.lstrip(chr(10))}", ""
        cls.body.insert_after(init, [made])
        _without_aliases(init, named)

    return move


def _without_aliases(init: Function, aliases: dict[str, Expression]) -> None:
    """Names that nothing reads any more go."""
    for assign in init.nodes(Assign):
        names = [n for target in assign.targets for n in target_names(target)]
        if len(names) == 1 and names[0] in aliases:
            read = [n for n in init.body.walk() if isinstance(n, Name) and n.id == names[0]]
            if len(read) == 1 and isinstance(assign.parent, Block):
                assign.parent.take(assign)


PASS = Pass("lambda_fields", (), run, of_project=True)
