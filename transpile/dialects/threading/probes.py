"""Modules that are run while a model is built, for the shapes that they give.

    n = self.conv(torch.zeros(1, *shape)).flatten(1).shape[1]
→   n = nn.dry_run(self.conv, jnp.zeros((1, *shape))).reshape(1, -1).shape[1]

`nn.dry_run` traces a module with params that are never made, and a state that is dropped, and gives
zeros: nothing but a shape may be asked of them.
"""

from __future__ import annotations

from ...facts.values.lattice import Module, Static
from ...model.effects import Apply, Detached, Support
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    ForClause,
    Name,
    Subscript,
)
from ...model.names import calls_of, dotted, target_names
from ...model.node import Expression, Node
from ...model.operators import Binary, Conditional
from ...model.program import Function, Scope
from ...model.statements import Assign, ExpressionStatement, For, Return
from ..reports import Reports
from .signatures import Signatures

SHAPES = frozenset(("shape", "ndim", "size", "dtype"))


def is_dry(call: Call, function: Function, signatures: Signatures) -> bool:
    """Whether only shapes are asked of a call, and nothing of the user's changes that is kept;
    numbers made of arrays can come of nothing else."""
    if not set(signatures.targets(call) or ()).isdisjoint(signatures.keeping):
        return False
    return _is_number(call) or gives_shapes(call, function)


def dry_run(call: Call) -> Call:
    """The same call without what it takes: `nn.dry_run(self.conv, x)`."""
    words, given = [None, *call.keywords], [call.function, *call.arguments]
    if isinstance(call, Apply) and call.training is False:  # else as a model that is built is
        words.append("training")
        given.append(Constant(False))
    return Call(Support("dry_run"), given, words)


def run_dry(function: Function, signatures: Signatures, reports: Reports) -> None:
    """What `jnp.ones(self.conv(x).shape[1:])` runs has its params made by the same function."""
    for call in function.nodes(Apply):
        threads = signatures.of_outside(call)
        if not isinstance(call.function.value, Module) or not (threads.params or threads.takes):
            continue
        if gives_shapes(call, function):
            call.replace(dry_run(call))
        else:
            why = "a module is run for an array that the model begins with"
            reports.raises("module-value", call, why)


def _is_number(node: Expression) -> bool:
    return isinstance(node.value, Static) and node.value.type in ("int", "shape")


def gives_shapes(node: Expression, function: Function, seen: frozenset[str] = frozenset()) -> bool:
    """Whether only the shape of what an expression gives is asked."""
    around = node.parent
    if isinstance(around, Attribute) and around.object is node:
        if around.name in SHAPES:
            return True
        call = around.parent
        return (
            isinstance(call, Call)
            and call.function is around
            and gives_shapes(call, function, seen)
        )
    if isinstance(around, (Subscript, Detached, Display, Binary)) or (
        isinstance(around, Conditional) and node is not around.test
    ):
        return gives_shapes(around, function, seen)
    if isinstance(around, Call):
        return _is_handed(around, node, function, seen)
    if isinstance(around, ExpressionStatement):
        return True
    if isinstance(around, Return):
        return _is_returned(around, seen)
    if isinstance(around, Assign):
        names = [n for target in around.targets for n in target_names(target)]
        known = seen | set(names)
        return bool(names) and all(
            gives_shapes(use, function, known)
            for name in set(names) - seen
            for use in _uses(name, function, around)
        )
    if isinstance(around, (For, ForClause)):
        names = target_names(around.target)
        known = seen | set(names)
        uses = [u for n in set(names) - seen for u in _uses(n, function, around)]
        return all(gives_shapes(use, function, known) for use in uses)
    return False


def _is_handed(call: Call, node: Expression, function: Function, seen: frozenset[str]) -> bool:
    """Whether a call that is given an array gives another one of which only the shape is asked."""
    if call.function is node:
        return True
    word = call.function.id if isinstance(call.function, Name) else ""
    if word in ("len", "isinstance"):
        return True
    if isinstance(call.parent, ExpressionStatement) and not isinstance(call.function.value, Module):
        return False  # `self.register("d", d)` may keep it
    of_jax = isinstance(call.function, Attribute) and _root(call.function) in ("jnp", "jax", "lax")
    of_jax = of_jax and "debug" not in (dotted(call.function) or "")  # what is printed has values
    if not isinstance(call, Apply) and not isinstance(call.function, Support) and not of_jax:
        return False
    return _is_number(call) or gives_shapes(call, function, seen)


def _is_returned(node: Return, seen: frozenset[str]) -> bool:
    """Whether a function within another one gives an array to calls that only ask its shape."""
    inner = node.nearest(Function)
    outer = inner.nearest(Scope) if inner is not None else None
    if inner is None or not isinstance(outer, Function) or inner.name in seen:
        return False
    uses = [n for n in outer.body.walk() if isinstance(n, Name) and n.id == inner.name]
    calls = calls_of(uses)
    known = seen | {inner.name}
    return len(calls) == len(uses) > 0 and all(gives_shapes(c, outer, known) for c in calls)


def _root(node: Expression) -> str:
    while isinstance(node, Attribute):
        node = node.object
    return node.id if isinstance(node, Name) else ""


def _uses(name: str, function: Function, binding: Node) -> list[Name]:
    targets = {
        n
        for t in getattr(binding, "targets", [getattr(binding, "target", None)])
        if t
        for n in t.walk()
    }
    own = binding.nearest(Comprehension) if isinstance(binding, ForClause) else None
    found = [n for n in (own or function.body).walk() if isinstance(n, Name) and n.id == name]
    return [n for n in found if n not in targets and not _is_target(n)]


def _is_target(name: Name) -> bool:
    around: Node | None = name
    while isinstance(around, (Name, Display)):
        inner, around = around, around.parent
        if isinstance(around, Assign):
            return inner in around.targets
        if isinstance(around, (For, ForClause)):
            return inner is around.target
    return False
