"""What torch alone decides, and what has no meaning in JAX, goes; on torch's program, before
recognise.

    if x.is_cuda:                       with torch.autocast("cuda"):
        return fused(x)                     y = f(x)                        y = f(x)
    return plain(x)         ->          del x                       ->
        return plain(x)

What the user decides by constants of their own stays.
"""

from functools import partial

from ...facts.program import ProgramFacts
from ...facts.values.lattice import (
    BOOL,
    NUMPY,
    External,
    Method,
    Module,
    Tensor,
    Torch,
    is_param,
    is_traced,
)
from ...model.expressions import Attribute, Call, Constant, Display, Name
from ...model.guards import asks_for_truth
from ...model.node import Expression
from ...model.operators import Boolean, Compare, Unary
from ...model.program import Class, Function, Scope
from ...model.statements import Assign, Delete, ExpressionStatement
from ..pass_ import Changes, Pass
from .branches import Branches
from .casts import Casts
from .conditions import Conditions
from .contexts import Contexts
from .devices import Devices
from .trainability import Frozen

__all__ = ["PASS", "run"]

_SENDING = frozenset(
    External(f"flashy.distrib.{name}")
    for name in "all_reduce average_tensors barrier broadcast_model broadcast_tensors".split()
)


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """Branches of which one way is left, blocks and decorators that change no value, `del` of
    locals, settings of torch's kernels.
    """
    changes = Changes(scope)
    conditions = Conditions(changes, facts)
    branches = Branches(conditions)
    branches.run()
    Contexts(conditions, branches.is_gone).run()
    casts = Casts(changes, facts, branches.is_gone)
    casts.run()
    Devices(changes, branches.is_gone, casts.spare).run()
    Frozen(changes, branches.is_gone).run()
    for asked in scope.nodes(Attribute) if facts.stage(scope) == "building" else ():
        if _asks_for_one(asked) and not branches.is_gone(asked):
            changes.wrap(asked, partial(_is_there, tests=_tests(asked)))
    for assign in scope.nodes(Assign):
        if _sets_backend(assign) and not branches.is_gone(assign):
            changes.remove(assign)
    for done in scope.nodes(ExpressionStatement):
        idle = _checks_dims(done.expression, facts) or _is_alone(done.expression)
        if idle and not branches.is_gone(done):
            changes.remove(done)
    if isinstance(scope, Function):
        own = {n.id for a in scope.nodes(Assign) for t in a.targets for n in _names(t)}
        own |= {p.name for p in scope.parameters}
        for statement in scope.nodes(Delete):
            if not branches.is_gone(statement):
                _delete(changes, statement, own)
    return changes


def _asks_for_one(node: Attribute) -> bool:
    """`if m.bias:` of a layer, which may have none: torch gives several numbers no truth."""
    value, owner = node.value, node.object.value
    classes = owner.classes if isinstance(owner, Module) else frozenset()
    optional = isinstance(value, Tensor) and value.none
    if not is_param(value) or not optional and any(isinstance(c, Class) for c in classes):
        return False
    return asks_for_truth(node)


def _is_there(node: Expression, tests: list[Expression]) -> Expression:
    made = Compare([node, Constant(None)], ["is not"])
    for known in (made, *tests):
        known.value = BOOL
    return made


def _tests(node: Expression) -> list[Expression]:
    """What is as static as a test that is part of it: `m.bias and m.affine`."""
    found, around = list[Expression](), node.parent
    while isinstance(around, (Boolean, Unary)):
        beside = [n for n in around.children() if n is not node and isinstance(n, Expression)]
        if any(n.value is not None and is_traced(n.value) for n in beside):
            break
        found.append(around)
        node, around = around, around.parent
    return found


def _names(target: Expression) -> list[Name]:
    return [n for n in target.walk() if isinstance(n, Name)]


def _sets_backend(node: Assign) -> bool:
    """`torch.backends.cudnn.benchmark = True`: how kernels are chosen that are not used here."""
    target = node.targets[0]
    owner = target.object.value if isinstance(target, Attribute) else None
    return isinstance(owner, Torch) and owner.name.startswith("torch.backends.")


def _checks_dims(node: Expression, facts: ProgramFacts) -> bool:
    """`self._check_input_dim(x)` of torch's batch norms: the shapes are checked anyhow."""
    function = node.function if isinstance(node, Call) else None
    if not isinstance(function, Attribute) or function.name != "_check_input_dim":
        return False
    own = function.object.value
    classes = [ref for ref in own.refs if isinstance(ref, Class)] if isinstance(own, Module) else []
    return not any(facts.project.find(cls, function.name) for cls in classes)


def _is_alone(node: Expression) -> bool:
    """`flashy.distrib.broadcast_tensors(self.buffers())`: nothing, where there is one process, as
    long as what is sent is only named."""
    if not isinstance(node, Call) or node.function.value not in _SENDING:
        return False
    sent = [n.function.value for a in node.arguments for n in a.walk() if isinstance(n, Call)]
    return all(isinstance(value, Method) for value in sent)


def _delete(changes: Changes, node: Delete, own: set[str]) -> None:
    """`del x` of a local name: it frees memory early, which jax.jit does by itself, and functions
    made from what follows may read x. What is certainly nothing of torch's stays.
    """
    targets = node.targets
    if len(targets) == 1 and isinstance(targets[0], Display):
        targets = targets[0].elements
    kept = [t for t in targets if not _goes(t, own)]
    if not kept:
        changes.remove(node)
    elif len(kept) < len(targets):
        changes.substitute(node, [Delete(kept)])


def _goes(target: Expression, own: set[str]) -> bool:
    hosts = isinstance(target.value, External) or target.value == NUMPY
    return isinstance(target, Name) and target.id in own and not hosts


PASS = Pass("fold", ("values", "stages"), run)
