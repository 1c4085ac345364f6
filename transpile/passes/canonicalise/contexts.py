"""Names of a file's own for context managers of torch's, and what stands in for those where an
older version of torch does not have them; gradients that are switched off and on again by calls.

    try:
        autocast = torch.cuda.amp.autocast          from torch.cuda.amp import autocast
    except AttributeError:                    →
        class autocast: ...

    if self.off: torch.set_grad_enabled(False)
    w = p * y                                    with torch.set_grad_enabled(not self.off):
    if self.off: torch.set_grad_enabled(True)        w = p * y

    try:
        from torch.nn.functional import silu
    except ImportError:                       →     from torch.nn.functional import silu
        def silu(x): ...

Functions of torch's elsewhere are left: which of them there are its version says.
"""

import re

from ...model.copy import clone
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted, imported
from ...model.node import Expression, Statement
from ...model.operators import Unary
from ...model.program import File, Scope
from ...model.statements import Assign, Block, ExpressionStatement, If, Import, Imported, Try, With

_CONTEXTS = frozenset(
    f"torch.{name}"
    for name in "autocast amp.autocast cuda.amp.autocast cpu.amp.autocast cuda.amp.custom_fwd "
    "cuda.amp.custom_bwd inference_mode autograd.inference_mode no_grad set_grad_enabled".split()
)

# These torch does not give up.
_LASTING = re.compile(r"torch\.(nn\.(functional\.)?[A-Za-z]\w*|_assert)")
_SWITCHES = frozenset(("torch.set_grad_enabled", "torch._C.set_grad_enabled"))


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
    """Whether a try only names contexts, layers and functions of torch's that are there today."""
    body = node.body.body
    plain = node.final is None and node.orelse is None and bool(node.handlers)
    return plain and bool(body) and all(_is_there(scope, s) for s in body)


def without_stand_in(node: Try) -> None:
    """Put what the try does in its place."""
    assert isinstance(node.parent, Block)
    node.parent.unfold(node, node.body)


def _is_there(scope: Scope, statement: Statement) -> bool:
    if isinstance(statement, Import):
        meant = [str(statement.meaning(name) or "") for name in statement.names]
        return all(name in _CONTEXTS or _LASTING.fullmatch(name) for name in meant)
    return isinstance(statement, Assign) and renames_context(scope, statement)


# --- gradients that calls switch ------------------------------------------------------------------


def switched_on(scope: Scope, statement: Statement) -> Statement | None:
    """What switches gradients on again that a statement switches off, in the same block and under
    the same condition."""
    block, off = statement.parent, _switch(scope, statement)
    if off is None or off[0] or not isinstance(block, Block):
        return None
    at = next(i for i, s in enumerate(block.body) if s is statement)
    for other in block.body[at + 1 :]:
        on = _switch(scope, other)
        if on is not None:
            return other if on == (True, off[1]) else None
        inner = (s for s in other.walk() if isinstance(s, ExpressionStatement))
        if any(_switch(scope, s) is not None for s in inner) or _sets(other, off[1]):
            return None
    return None


def switch(statement: Statement, on: Statement) -> None:
    """Put a with statement in the place of what stands between."""
    block = statement.parent
    assert isinstance(block, Block)
    first, last = (next(i for i, s in enumerate(block.body) if s is end) for end in (statement, on))
    call, flag = _called(statement), Constant(False)
    assert call is not None
    enabled: Expression = flag
    if isinstance(statement, If):
        enabled = Unary("not", clone(statement.test))
    inside = block.body[first + 1 : last]
    function = clone(call.function)
    if isinstance(function, Attribute) and dotted(function.object) == "torch._C":
        function = Attribute(Name("torch"), function.name)
    context = Call(function, [enabled])
    for moved in [*inside, on]:
        block.remove(moved)
    block.substitute(statement, [With([context, None], Block(inside))] if inside else [])


def _switch(scope: Scope, statement: Statement) -> tuple[bool, str] | None:
    """Whether a statement switches gradients on, and its condition: `if self.off: …`."""
    call = _called(statement)
    if call is None or imported(scope, call.function) not in _SWITCHES:
        return None
    flag = call.arguments[0] if len(call.arguments) == 1 else None
    test = dotted(statement.test) if isinstance(statement, If) else ""
    if not isinstance(flag, Constant) or test is None:
        return None
    return bool(flag.constant), test


def _called(statement: Statement) -> Call | None:
    if isinstance(statement, If) and statement.orelse is None and len(statement.body.body) == 1:
        statement = statement.body.body[0]
    call = statement.expression if isinstance(statement, ExpressionStatement) else None
    return call if isinstance(call, Call) else None


def _sets(statement: Statement, path: str) -> bool:
    assigns = (n for n in statement.walk() if isinstance(n, Assign))
    return any(dotted(target) == path for assign in assigns for target in assign.targets)
