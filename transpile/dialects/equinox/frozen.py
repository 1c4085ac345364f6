"""What a module that has been built cannot do, since it is frozen, nor one without a state yet."""

from ...model.effects import Apply, Declare, Tie, Walk, Write
from ...model.expressions import Call
from ...model.program import Function
from ...model.statements import Assign
from ..reports import Reports
from ..threading.changes import is_part_of_module
from ..threading.probes import dry_run, is_dry
from ..threading.signatures import Signatures

_REFUSED = {
    Write: ("parameter-write", "a param changes where only a buffer can: return what is new"),
    Declare: ("parameter-write", "an attribute is set on a module that has been built"),
    Walk: ("module-walk", "a walk over modules is not written yet"),
    Tie: ("tied-weight", "two arrays become one on a module that has been built"),
}
_BEGUN = (
    "this writes what changes as the model runs, of which there is none yet: set it where it begins"
)


def refuse(function: Function, building: bool, signatures: Signatures, reports: Reports) -> None:
    """Let the statements of a function raise that have no form."""
    for node in list(function.nodes(Write, Walk, Tie, Declare)):
        if isinstance(node, Write) and signatures.is_state_read(node.target):
            continue
        if isinstance(node, Declare) and building:
            continue
        id, why = _REFUSED[type(node)]
        reports.refuse(id, node, why)
    for call in function.nodes(Apply, Call) if building else ():
        runs = set(signatures.targets(call) or (function,))
        if not signatures.of_call(call).takes or runs <= signatures.building - {function}:
            continue
        if is_dry(call, function, signatures):
            call.replace(dry_run(call))
        else:
            reports.unconverted("state-in-constructor", call, _BEGUN)
    for assign in () if building else function.nodes(Assign):
        if any(map(is_part_of_module, assign.targets)):
            reports.refuse("parameter-write", assign, _REFUSED[Declare][1])
