"""Params whose data `forward` writes: they have the new value for the rest of the call.

self.w.data.clamp_(-1, 1)   →   self = nn.with_data(self, "w", self.w.clip(-1, 1))
self.initialize(x)          →   self = self.initialize(x)

The caller's module stays as it is, which is said. A method that gives nothing and that only
`forward` calls, on `self`, gives the module; in others a write is refused.
"""

from ...model.copy import clone
from ...model.edits import block_of
from ...model.effects import PARAM, Read, Support, Write
from ...model.endings import completes
from ...model.expressions import Call, Constant, Name
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, Return
from ..reports import Reports
from ..threading.param_writers import is_plain
from ..threading.threads import calls_of
from ..ties import below
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
        path = _path(write, function, plan)
        if path is None or not is_plain(write, function):
            continue
        reports.report("parameter-write", write, FOR_THE_CALL)
        made = Call(Support("with_data"), [Name(me), Constant(path), clone(write.value)])
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


def _path(write: Write, function: Function, plan: Plan) -> str | None:
    """`conv.weight`, where a param of the module, or of one below it, gets other data, and is not
    another's."""
    target = write.target
    if write.bound or not isinstance(target, Read) or target.kind != PARAM:
        return None
    holder = below(target.object, function.receiver)
    if holder is None or plan.ties.of(function.owner).array(holder, target.name) is not None:
        return None
    return f"{holder}.{target.name}" if holder else target.name
