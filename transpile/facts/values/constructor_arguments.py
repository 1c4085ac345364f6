"""What a constructor says itself of the classes and functions that it is given."""

from collections.abc import Callable
from typing import Any

from ...model.constants import is_none
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.names import dotted, everywhere
from ...model.node import Expression, Node
from ...model.operators import Boolean, Compare, Conditional, Unary, sides
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, If
from ...model.unpacking import each_pair
from .frame import Frame

# Methods of modules that give the module.
_PLACES = frozenset("cuda cpu to half bfloat16 double float eval train requires_grad_".split())


def gives_values(function: Function | None, name: str) -> bool:
    """Whether a parameter is called on a weight and nothing is made of the result:
    `init(fc.weight)` can only be one of torch.nn.init, or what is like one."""
    for statement in function.nodes(ExpressionStatement) if function is not None else ():
        call = statement.expression
        if isinstance(call, Call) and dotted(call.function) == name and call.arguments:
            first = (dotted(call.arguments[0]) or "").removesuffix(".data")
            if first.rpartition(".")[2] in ("weight", "bias") and "." in first:
                return True
    return False


def is_taken_once(function: Function | None, name: str) -> bool:
    """Whether a list that a constructor is given goes to one place, but for what asks for its
    length, whether it is there, or an attribute of an item, `layers[0].width`: what two places hold
    would be one module with two names."""
    found = function.body.walk() if function is not None else ()
    reads = [n.parent for n in found if isinstance(n, Name) and n.id == name]
    asking = (Compare, Conditional, If)
    taken = [r for r in reads if not isinstance(r, asking) and not _is_asked(r)]
    return sum(not isinstance(r, Call) or dotted(r.function) != "len" for r in taken) == 1


def _is_asked(item: Node | None) -> bool:
    number = isinstance(item, Subscript) and isinstance(item.index, (Constant, Unary))
    return number and isinstance(item.parent, Attribute)  # type: ignore[union-attr]


def stood_for(function: Function | None, name: str) -> Expression | None:
    """What a parameter becomes where it is given None: `if norm is None: norm = nn.BatchNorm2d`,
    `act = act or nn.GELU`."""
    for assign in function.nodes(Assign) if function is not None else ():
        made = assign.expression
        if [dotted(t) for t in assign.targets] == [name] and isinstance(made, Boolean):
            if made.operator == "or" and dotted(made.left) == name:
                return made.right
    for branch in function.nodes(If) if function is not None else ():
        test, body = branch.test, branch.body.body
        if not isinstance(test, Compare) or test.operators != ["is"]:
            continue
        if dotted(test.operands[0]) == name and is_none(test.operands[1]):
            for statement in body:
                if isinstance(statement, Assign) and not statement.operator:
                    if [dotted(t) for t in statement.targets] == [name]:
                        return statement.expression
    return None


def makes_called(frame: Frame, name: str) -> bool:
    """Whether a constructor keeps what a parameter makes, and a method calls that:
    `self.norm = norm(dim) if norm else None`."""
    return _calls_kept(frame, lambda s: isinstance(s, Call) and dotted(s.function) == name)


def is_called(frame: Frame, name: str) -> bool:
    """Whether a constructor keeps a parameter, and a method calls that: `self.norm = norm`."""
    return _calls_kept(frame, lambda side: dotted(side) == name)


def _calls_kept(frame: Frame, is_kept: Callable[[Expression], bool]) -> bool:
    """Whether a method calls what a constructor keeps of this."""
    function, cls, project = frame.function, frame.cls, frame.facts.project
    if function is None or cls is None or not project.is_module(cls):
        return False
    kept = {
        target.name
        for assign in everywhere(function, Assign)
        for target, value in each_pair(assign)
        if isinstance(target, Attribute) and dotted(target.object) == project.self_name(function)
        if any(map(is_kept, sides(value)))
    }
    methods = project.methods(cls).values() if kept else ()
    called = (c.function for m in methods for c in everywhere(m, Call))
    return any(isinstance(f, Attribute) and f.name in kept for f in called)


# --- modules that are handed in ------------------------------------------------------------------


def is_cast_and_called(frame: Frame, name: str) -> bool:
    """Whether a constructor keeps a cast of what it is given, `net.to(device)`, to call it.

    A function has no such methods.
    """
    function, cls, project = frame.function, frame.cls, frame.facts.project
    if function is None or cls is None or not project.is_module(cls):
        return False
    own = project.self_name(function)
    for call in everywhere(function, Call):
        if len(call.arguments) == 2 and dotted(call.function) == f"{own}.add_module":
            if _is_cast_of(call.arguments[1], name):
                return True
    kept, cast = set(), False
    for node in everywhere(function, Assign):
        whole = _is_cast_of(node.expression, name)
        if not whole and (node.expression is None or dotted(node.expression) != name):
            continue
        for target in map(dotted, node.targets):
            if target is not None and target.startswith(f"{own}."):
                if frame.facts.read("wrapped", cls, target.partition(".")[2]):
                    kept.add(target)
                    cast = cast or whole
    if not kept or cast:
        return cast
    # `net.eval()` as a statement: what is no module gives another here, which nobody takes
    alone = [s.expression for s in everywhere(function, ExpressionStatement)]
    return any(_is_cast_of(e, one) for e in alone for one in {name, *kept})


def _is_cast_of(value: Any, name: str) -> bool:
    """`net.to(device).eval()` of this name."""
    asked = isinstance(value, Call)
    while isinstance(value, Call) and isinstance(value.function, Attribute):
        if value.function.name not in _PLACES:
            break
        value = value.function.object
    return asked and value is not None and dotted(value) == name
