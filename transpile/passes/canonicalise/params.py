"""Params that a call is put around, or behind, are made by `nn.Parameter` at last; buffers that
torch has a class for are registered.

    self.h = nn.Buffer(h, persistent=False)  self.register_buffer("h", h, persistent=False)
init.zeros_(nn.Parameter(w))             nn.Parameter(init.zeros_(w))
nn.Parameter(w).requires_grad_(b)        nn.Parameter(w, requires_grad=b)
nn.Parameter(w).to(device)               nn.Parameter(w), which it is where it is there
nn.Parameter()                           nn.Parameter(torch.empty(0))
self.ws += ws, of a ParameterList        self.ws.extend(ws)
"""

from collections.abc import Callable
from typing import Any

from ...facts.values.attribute_names import MOVES
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted, everywhere, imported
from ...model.node import Expression
from ...model.program import Scope
from ...model.statements import Assign, ExpressionStatement
from .context import Site

_BUFFERS = ("torch.nn.Buffer", "torch.nn.parameter.Buffer")
_LISTS = ("torch.nn.ParameterList", "torch.nn.parameter.ParameterList")
_DATA = (None, "data")
_PLACES = MOVES | {"float"}


def parameter(scope: Scope, call: Call) -> Callable[[Call], Expression] | None:
    """What is made of a call around a param, or behind one."""
    if not call.arguments and (dotted(call.function) or "").endswith("Parameter"):
        named = imported(scope, call.function).startswith("torch.nn.")
        return _empty if named and imported(scope, Name("torch")) == "torch" else None
    inner = call.arguments[0] if call.arguments else None
    behind = call.function.object if isinstance(call.function, Attribute) else None
    if not isinstance(inner, Call) and not isinstance(behind, Call):
        return None  # of nearly all calls: what it names is not asked
    if _initialises(scope, call):
        return _initialised
    if not isinstance(call.function, Attribute) or not _goes_on(call):
        return None
    made = call.function.object
    while _goes_on(made):
        made = made.function.object  # type: ignore[attr-defined]
    if not _makes(scope, made):
        return None
    return _asked if call.function.name == "requires_grad_" else _put


def makes_buffer(scope: Scope, assign: Assign, own: str | None) -> bool:
    """`self.h = nn.Buffer(h)`"""
    made, target = assign.expression, assign.targets[0]
    if not isinstance(made, Call) or not isinstance(target, Attribute) or own is None:
        return False
    named = imported(scope, made.function) in _BUFFERS and len(assign.targets) == 1
    return named and dotted(target.object) == own and made.keywords[:1] in ([None], ["data"])


def registered(assign: Assign) -> ExpressionStatement:
    """The same as a call."""
    made: Any = assign.expression
    target: Any = assign.targets[0]
    register = Attribute(target.object, "register_buffer")
    words = [None, None, *made.keywords[1:]]
    return ExpressionStatement(Call(register, [Constant(target.name), *made.arguments], words))


def grows(at: Site, assign: Assign) -> bool:
    """`self.ws += ws` of what the class, or else the function, makes a ParameterList."""
    path = dotted(assign.targets[0])
    if not assign.operator.startswith("+") or path is None or at.method is None:
        return False
    own = bool(at.own) and path.startswith(f"{at.own}.")
    around = at.method.owner if own and at.method.owner is not None else at.scope
    made = [
        a for a in everywhere(around, Assign) if path in map(dotted, a.targets) and not a.operator
    ]
    return bool(made) and all(_is_list(at.scope, a.expression) for a in made)


def _is_list(scope: Scope, made: Expression | None) -> bool:
    return isinstance(made, Call) and imported(scope, made.function) in _LISTS


def extended(assign: Assign) -> ExpressionStatement:
    assert assign.expression is not None
    extend = Attribute(assign.targets[0], "extend")
    return ExpressionStatement(Call(extend, [assign.expression]))


def _makes(scope: Scope, node: Expression) -> bool:
    """`nn.Parameter(w)`, `init.zeros_(nn.Parameter(w))`"""
    if not isinstance(node, Call):
        return False
    if _initialises(scope, node):
        return True
    named = imported(scope, node.function) or dotted(node.function) or ""
    made = named.rpartition(".")[2] == "Parameter"
    return made and bool(node.arguments) and node.keywords[0] in _DATA


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


def _empty(call: Call) -> Expression:
    return Call(call.function, [Call(Attribute(Name("torch"), "empty"), [Constant(0)])])


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


def _initialises(scope: Scope, call: Call) -> bool:
    """`init.kaiming_uniform_(nn.Parameter(w), a=1)`"""
    named = imported(scope, call.function) or dotted(call.function) or ""
    holder, _, name = named.rpartition(".")
    if holder.rpartition(".")[2] != "init" or not name.endswith("_") or not call.arguments:
        return False
    return call.keywords[0] in (None, "tensor") and _makes(scope, call.arguments[0])


def _initialised(call: Call) -> Call:
    """`nn.Parameter(init.kaiming_uniform_(w, a=1))`"""
    made = call.arguments[0]
    assert isinstance(made, Call)
    filled = Call(call.function, [made.arguments[0], *call.arguments[1:]], call.keywords)
    return Call(made.function, [filled, *made.arguments[1:]], [None, *made.keywords[1:]])
