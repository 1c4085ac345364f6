"""A branch that is total as `jnp.where`: both sides are computed, and the test picks.

if running: x = f(x); running = x > 0
→   new_x = f(x); running = running & (new_x > 0); x = jnp.where(…)
"""

from collections.abc import Callable, Sequence

from ..model.control_flow import Cond
from ..model.expressions import Attribute, Call, Display, Name
from ..model.names import target_names
from ..model.node import Expression, Node, Statement
from ..model.operators import Binary, Compare
from ..model.statements import Assign


def chosen(node: Cond, fresh: Callable[[str], str]) -> list[Statement]:
    """The statements in the place of a branch with one side; nothing where it has another form."""
    if node.returns or node.orelse is not None and node.orelse.body:
        return []
    body = node.body.body
    if not all(isinstance(s, Assign) and not s.operator and _plain(s) for s in body):
        return []
    if len(body) == 1 and (short := _single(node, body[0])) is not None:
        return [short]
    renamed: dict[str, str] = {}
    for statement in body:
        assert isinstance(statement, Assign)
        if statement.expression is not None:
            _rename(statement.expression, renamed)
        for name in (n for target in statement.targets for n in target_names(target)):
            if name in node.carry.inputs or name in node.carry.outputs:
                renamed.setdefault(name, fresh(f"new_{name}"))
        for target in statement.targets:
            _rename(target, renamed)
    made: list[Statement] = list(body)
    outputs = node.carry.outputs
    test = node.test.id if isinstance(node.test, Name) else None
    if test is None and len(outputs) > 1:
        test = fresh("chosen")
        made.insert(0, Assign([Name(test)], node.test))
    for name in sorted(outputs, key=lambda n: n == test):  # the test is asked until the last
        if name == test and _is_bool(body, renamed[name]):
            made.append(Assign([Name(name)], Binary(Name(name), "&", Name(renamed[name]))))
            continue
        picked = Name(test) if test is not None else node.test
        made.append(Assign([Name(name)], where(picked, Name(renamed[name]), Name(name))))
    for statement in body:
        statement.comments = None
    return made


def where(test: Expression, one: Expression, other: Expression) -> Expression:
    return Call(Attribute(Name("jnp"), "where"), [test, one, other])


def _is_bool(body: Sequence[Statement], name: str) -> bool:
    """Whether all that a name is bound to is certain to be true or false."""
    values = [
        s.expression
        for s in body
        if isinstance(s, Assign) and any(name in target_names(t) for t in s.targets)
    ]
    return all(isinstance(value, Compare) for value in values)


def _single(node: Cond, statement: Statement) -> Statement | None:
    """`x = jnp.where(test, value, x)`, where the one value is all."""
    assert isinstance(statement, Assign)
    target, value = statement.targets[0], statement.expression
    if not isinstance(target, Name) or value is None or node.carry.outputs != [target.id]:
        return None
    return Assign([Name(target.id)], where(node.test, value, Name(target.id)))


def _plain(statement: Assign) -> bool:
    targets = statement.targets
    return len(targets) == 1 and isinstance(targets[0], (Name, Display))


def _rename(node: Node, names: dict[str, str]) -> None:
    for inner in list(node.walk()):
        if isinstance(inner, Name) and inner.id in names:
            inner.rename(names[inner.id])
