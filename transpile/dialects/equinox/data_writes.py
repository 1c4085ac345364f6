"""Params whose data `forward` writes: they have the new value for the rest of the call.

self.w.data.clamp_(-1, 1)   →   self = nn.with_data(self, "w", self.w.clip(-1, 1))

The caller's module stays as it is, which is said.
"""

from ...model.copy import clone
from ...model.edits import block_of
from ...model.effects import PARAM, Read, Support, Write
from ...model.expressions import Call, Constant, Name
from ...model.program import Function
from ...model.statements import Assign, Block, For, If
from ..reports import Reports
from ..ties import below
from .plan import Plan

FOR_THE_CALL = (
    "forward writes the data of a parameter: here that holds for the call; write it in the model "
    "after each step to keep it"
)


def write_for_the_call(function: Function, plan: Plan, reports: Reports) -> None:
    """Let the module of a call have the params that it writes."""
    if function.name != "__call__" or function.owner is None or not function.parameters:
        return
    me = function.receiver
    for write in list(function.nodes(Write)):
        path = _path(write, function, plan)
        if path is None or not _is_plain(write, function):
            continue
        reports.report("parameter-write", write, FOR_THE_CALL)
        made = Call(Support("with_data"), [Name(me), Constant(path), clone(write.value)])
        block_of(write).substitute(write, [Assign([Name(me)], made)])


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


def _is_plain(write: Write, function: Function) -> bool:
    """Whether it stands where a name can be bound again: not in what becomes a closure."""
    around = list(write.ancestors())
    return all(type(a) in (Block, If, For) for a in around[: around.index(function)])
