"""Names of a file's own for context managers of torch's, and what stands in for those where an
older version of torch does not have them.

    try:
        autocast = torch.cuda.amp.autocast          from torch.cuda.amp import autocast
    except AttributeError:                    →
        class autocast: ...

Functions are left: torch has renamed and dropped some since (torch.irfft), contexts none.
"""

from ...model.expressions import Name
from ...model.names import imported
from ...model.node import Statement
from ...model.program import File, Scope
from ...model.statements import Assign, Block, Import, Imported, Try

_CONTEXTS = frozenset(
    f"torch.{name}"
    for name in "autocast amp.autocast cuda.amp.autocast cpu.amp.autocast cuda.amp.custom_fwd "
    "cuda.amp.custom_bwd inference_mode autograd.inference_mode no_grad set_grad_enabled".split()
)


def renames_context(scope: Scope, node: Assign) -> bool:
    """Whether it gives a context of torch's a name of the file's."""
    named = isinstance(scope, File) and len(node.targets) == 1 and isinstance(node.targets[0], Name)
    if not named or node.operator or node.expression is None or node.annotation is not None:
        return False
    return imported(scope, node.expression) in _CONTEXTS


def imported_context(node: Assign) -> Import:
    """`from torch.cuda.amp import autocast`"""
    assert isinstance(node.targets[0], Name) and node.file is not None
    module, _, name = imported(node.file, node.expression or node).rpartition(".")
    alias = node.targets[0].id
    return Import(module, [Imported(name, None if alias == name else alias)])


def has_stand_in(scope: Scope, node: Try) -> bool:
    """Whether a try only names contexts of torch's, which are there today."""
    body = node.body.body
    plain = node.final is None and node.orelse is None and bool(node.handlers)
    return plain and bool(body) and all(_names_contexts(scope, s) for s in body)


def without_stand_in(node: Try) -> None:
    """Put what the try does in its place."""
    assert isinstance(node.parent, Block)
    node.parent.unfold(node, node.body)


def _names_contexts(scope: Scope, statement: Statement) -> bool:
    if isinstance(statement, Import):
        return all(statement.meaning(name) in _CONTEXTS for name in statement.names)
    return isinstance(statement, Assign) and renames_context(scope, statement)
