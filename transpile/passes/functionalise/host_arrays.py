"""Writes to arrays of NumPy's: tensors that share their memory cannot follow, and what stands for
them where they are traced cannot be written.

a = y.numpy()               a = np.array(y)
a[0] = 7.0          ->      a[0] = 7.0
return y                    return nn.unconverted("aliased-write", …)
"""

from ...facts.memory.access_paths import of
from ...facts.memory.numpy_writes import written, written_by
from ...facts.values.lattice import NUMPY, Tensor, is_traced
from ...model.expressions import Call, Name
from ...model.names import everywhere, root
from ...model.node import Statement
from ...model.statements import ExpressionStatement
from .aliases import refuse
from .frame import Frame

_TRACED = "NumPy writes this array in place: here it is one of JAX's, which cannot be written"


def refused(frame: Frame, node: Statement) -> Statement | None:
    """What stands for a statement that writes by NumPy's ways what is no array of NumPy's; None
    where that is not so."""
    call = node.expression if isinstance(node, ExpressionStatement) else None
    if not isinstance(call, Call) or not any(is_traced(of(one)) for one in written_by(call)):
        return None
    return ExpressionStatement(frame.unconverted("aliased-write", call, _TRACED))


def follow(frame: Frame, node: Statement) -> None:
    """Tensors that share the memory of what a statement writes, and are read later, raise there."""
    for subject in written(node):
        array = root(subject)
        path = frame.state.path(array) if array is not None else None
        if array is None or path is None or of(array) != NUMPY:
            continue
        tensors = {n.id for n in everywhere(frame.scope, Name) if isinstance(of(n), Tensor)}
        for other in frame.reached(path):
            if other in tensors:
                message = f"{path} is written in place, and {other} may be the same memory"
                refuse(frame, other, node, message)
        given = sorted(frame.state.parameters(path) - {path})
        if given:
            message = (
                f"{path} is written in place, and shares the memory of {', '.join(given)} in torch:"
                " here the caller still has the old one"
            )
            frame.changes.report("mutated-argument", array, message)
