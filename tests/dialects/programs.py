"""Small programs whose control becomes nodes: what is carried is told by liveness alone."""

from pathlib import PurePosixPath

from transpile.facts.bindings import Liveness
from transpile.facts.bindings.activity import bound
from transpile.model.carry import Carried, Carry
from transpile.model.control_flow import Collect, Cond, Loop, Repeat, Scan
from transpile.model.expressions import Attribute, Call, Name
from transpile.model.program import File, Function
from transpile.model.statements import ExpressionStatement, For, If, Return, While
from transpile.source.lower import lower


def program(text: str) -> File:
    return lower(text, PurePosixPath("program.py"))


def controlled(function: Function, same=True, total=False, running=None) -> None:
    """Every branch and loop of a function as one on data, inner ones first."""
    live = Liveness(function)
    for node in reversed(function.nodes(If, While, For)):
        if isinstance(node, If):
            sides = [b for b in (node.body, node.orelse) if b is not None]
            inside = dict.fromkeys(n for b in sides for n in bound(b))
            after = live.after[node]
            starts = set().union(*(live.before[b] for b in sides))
            if node.orelse is None:
                starts |= after
            inputs = [n for n in inside if n in starts]
            outputs = [n for n in inside if n in after]
            returns = all(b.body and isinstance(b.body[-1], Return) for b in sides)
            carry = _carry(inputs, outputs, same)
            node.become(Cond(node.test, node.body, node.orelse, carry, total, returns))
            continue
        names = [n for n in bound(node.body) if n in live.before[node.body] | live.after[node]]
        collected = _collected(node) if isinstance(node, For) else set()
        carry = _carry([n for n in names if n not in collected], names, same)
        carry.outputs = [n for n in names if n in live.after[node] or n in live.before[node.body]]
        if isinstance(node, While):
            node.become(Loop(node.test, node.body, carry))
        elif isinstance(node.iterable, Call) and node.iterable.function.id == "trange":
            node.become(Repeat(node.target, node.iterable, node.body, carry))
        else:
            node.become(Scan(node.target, node.iterable, node.body, carry, running))


def _carry(inputs, outputs, same) -> Carry:
    return Carry(inputs, outputs, names={n: Carried(same=same) for n in outputs})


def _collected(loop: For) -> set[str]:
    """`rows.append(h)` becomes a Collect."""
    found = set()
    for statement in list(loop.body.body):
        call = statement.expression if isinstance(statement, ExpressionStatement) else None
        if isinstance(call, Call) and isinstance(call.function, Attribute):
            if call.function.name == "append" and isinstance(call.function.object, Name):
                found.add(call.function.object.id)
                statement.become(Collect(call.function.object.id, call.arguments[0]))
    return found


def fresh_in(function: Function):
    taken = {n.id for n in function.walk() if isinstance(n, Name)}
    taken |= {p.name for p in function.parameters}

    def fresh(name: str) -> str:
        while name in taken:
            name += "_"
        return name

    return fresh
