"""Params that a call is put around, or behind, are made by `nn.Parameter` at last.

init.zeros_(nn.Parameter(w))             nn.Parameter(init.zeros_(w))
nn.Parameter(w).requires_grad_(b)        nn.Parameter(w, requires_grad=b)
nn.Parameter(w).to(device)               nn.Parameter(w), which it is where it is there
"""

from collections.abc import Callable

from ...model.expressions import Attribute, Call, Constant
from ...model.names import dotted
from ...model.node import Expression

_DATA = (None, "data")
_PLACES = frozenset("to cuda cpu".split())


def parameter(call: Call) -> Callable[[Call], Expression] | None:
    """What is made of a call around a param, or behind one."""
    if _initialises(call):
        return _initialised
    assert isinstance(call.function, Attribute)
    made = call.function.object
    while _goes_on(made):
        made = made.function.object  # type: ignore[attr-defined]
    if not _makes(made) or not _goes_on(call):
        return None
    return _asked if call.function.name == "requires_grad_" else _put


def _makes(node: Expression) -> bool:
    """`nn.Parameter(w)`, `init.zeros_(nn.Parameter(w))`"""
    if not isinstance(node, Call):
        return False
    if isinstance(node.function, Attribute) and _initialises(node):
        return True
    named = (dotted(node.function) or "").rpartition(".")[2] == "Parameter"
    return named and bool(node.arguments) and node.keywords[0] in _DATA


def _goes_on(node: Expression) -> bool:
    """Whether a call asks for a gradient, or for a place, of what is in front of it."""
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return False
    if node.function.name == "requires_grad_":
        return len(node.arguments) < 2
    if node.function.name not in _PLACES:
        return False
    words = [dotted(a) or "" for a in node.arguments]
    casts = any(w.startswith("torch.") or w.endswith("dtype") for w in words)
    return not casts and "dtype" not in node.keywords and "other" not in node.keywords


def _asked(call: Call) -> Expression:
    made = call.function.object  # type: ignore[attr-defined]
    given = [(w, a) for w, a in zip(made.keywords, made.arguments) if w in _DATA][:1]
    told = len(made.arguments) > 1
    if call.arguments or told:
        given.append(("requires_grad", call.arguments[0] if call.arguments else Constant(True)))
    return Call(made.function, [a for _, a in given], [w for w, _ in given])


def _put(call: Call) -> Expression:
    made: Expression = call.function.object  # type: ignore[attr-defined]
    return made


def _initialises(call: Call) -> bool:
    """`init.kaiming_uniform_(nn.Parameter(w), a=1)`"""
    assert isinstance(call.function, Attribute)
    holder = (dotted(call.function.object) or "").rpartition(".")[2]
    if holder != "init" or not call.function.name.endswith("_") or not call.arguments:
        return False
    made = call.arguments[0]
    if call.keywords[0] is not None or not isinstance(made, Call) or not made.arguments:
        return False
    named = (dotted(made.function) or "").rpartition(".")[2] == "Parameter"
    return named and made.keywords[0] in (None, "data")


def _initialised(call: Call) -> Call:
    """`nn.Parameter(init.kaiming_uniform_(w, a=1))`"""
    made = call.arguments[0]
    assert isinstance(made, Call)
    filled = Call(call.function, [made.arguments[0], *call.arguments[1:]], call.keywords)
    return Call(made.function, [filled, *made.arguments[1:]], [None, *made.keywords[1:]])
