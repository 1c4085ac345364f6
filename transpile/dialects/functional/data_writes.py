"""Params whose data `forward` writes: they have the new value for the rest of the call.

self.w.data.clamp_(-1, 1)   →   params = nn.with_data(params, ("w",), params["w"].clip(-1, 1))

The caller's params stay as they are, which is said. In other methods a write is refused: who calls
them has the params from before.
"""

from __future__ import annotations

from ...model.copy import clone
from ...model.effects import PARAM, Support, Write
from ...model.expressions import Call, Constant, Display, Name
from ...model.names import dotted
from ...model.program import Function
from ...model.statements import Assign, Block
from .paths import Paths
from .plan import Plan, Words
from .report import Reports

FOR_THE_CALL = (
    "forward writes the data of a parameter: here that holds for the call; write it in params "
    "after each step to keep it"
)


def write_for_the_call(
    function: Function, plan: Plan, paths: Paths, words: Words, reports: Reports
) -> bool:
    """Let the params of a call hold what it writes; whether there was such a write."""
    found = False
    for write in function.nodes(Write) if function.name == "__call__" else ():
        path, target = paths.of(write.target.object), write.target
        tied = plan.tied(function.owner).get((dotted(target.object) or "").partition(".")[2])
        if target.kind != PARAM or path is None or tied is not None and tied.array == target.name:
            continue
        keys = [*map(clone, path.keys), Constant(target.name)]
        value = Call(
            Support("with_data"), [Name(words.params), Display("tuple", keys), write.value]
        )
        reports.report("parameter-write", write, FOR_THE_CALL)
        assert isinstance(write.parent, Block)
        write.parent.substitute(write, [Assign([Name(words.params)], value)])
        found = True
    return found
