"""Params whose data `forward` writes: they have the new value for the rest of the call.

self.w.data.clamp_(-1, 1)   →   self = nn.with_data(self, "w", self.w.clip(-1, 1))
self.initialize(x)          →   self = self.initialize(x)

The caller's module stays as it is, which is said. A method that gives nothing and that only
`forward` calls, on `self`, gives the module; in others a write is refused.
"""

from ...model.copy import clone
from ...model.edits import block_of
from ...model.effects import PARAM, Read, Support, Write
from ...model.expressions import Call, Constant, Name
from ...model.fallthrough import completes
from ...model.fresh_names import free, taken
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, Return
from ...source.lower_ast import expression
from ..reports import Reports
from ..sharing.ties import below
from ..threading.param_writers import is_plain, walk_of
from ..threading.threaded import calls_of
from .plan import Plan

FOR_THE_CALL = (
    "forward writes the data of a parameter: here that holds for the call; write it in the model "
    "after each step to keep it"
)


def write_for_the_call(function: Function, plan: Plan, reports: Reports) -> None:
    """Let the module of a call have the params that it writes."""
    gives = function in plan.param_writers.found
    if not gives and function.name != "__call__" or function.owner is None:
        return
    if not function.parameters:
        return
    me = function.receiver
    for write in list(function.nodes(Write)):
        path = _path(write, function, plan) if is_plain(write, function) else None
        if path is None:
            continue
        reports.report("parameter-write", write, FOR_THE_CALL)
        made = Call(Support("with_data"), [Name(me), path, clone(write.value)])
        block_of(write).substitute(write, [Assign([Name(me)], made)])
    for call in [c for c in calls_of(function) if plan.param_writers.run(c)]:
        statement = call.parent
        assert isinstance(statement, ExpressionStatement)
        block_of(statement).substitute(statement, [Assign([Name(me)], call)])
    if gives:
        for statement in function.nodes(Return):
            statement.replace(Return(Name(me)))
        if completes(function.body):
            function.body.append([Return(Name(me))])


def _path(write: Write, function: Function, plan: Plan) -> Expression | None:
    """`"conv.weight"`, where a param of the module, or of one below it, gets other data, and is not
    another's; `f"conv.{name}"` of what a loop over params binds, by its name from here on."""
    target, me = write.target, function.receiver
    if (walk := walk_of(write)) is not None:
        holder = below(walk.module, me)
        if holder is None or plan.ties.of(function.owner).within(holder):
            return None
        names = taken(function)
        name = walk.name(lambda word: free(word, names))
        return expression(f'f"{holder}.{{{name}}}"') if holder else Name(name)
    if write.bound or not isinstance(target, Read) or target.kind != PARAM:
        return None
    holder = below(target.object, me)
    if holder is None or plan.ties.of(function.owner).array(holder, target.name) is not None:
        return None
    return Constant(f"{holder}.{target.name}" if holder else target.name)
