"""A call that stays one of the same arguments is changed where it stands, with its layout.

torch.where(          jnp.where(
    x > 0,  # why         x > 0,  # why
    x, y,                 x, y,
)                     )
"""

from typing import NamedTuple

from ...facts.values.lattice import UNKNOWN
from ...model.copy import rebuilt
from ...model.effects import Support
from ...model.expressions import Attribute, Call, Constant, Name, Starred
from ...model.names import dotted
from ...model.node import Expression, Node
from .inline import Use
from .literals import harmless

Worded = tuple[Expression, str | None]


class _Plan(NamedTuple):
    """The user's arguments that stay, with their keywords, and constants behind them."""

    kept: list[Worded]
    behind: list[Worded]


def changed_in_place(use: Use, node: Expression) -> bool:
    """Change a call to what a rule makes of it, where that has the same arguments in the same
    order.
    """
    result = use.result
    if not isinstance(result, Call) or not isinstance(node, Call) or node.start < 0:
        return False
    method = _method(use, result, node)
    if method is None and _names_parameter(use, result.function):
        return False
    receiver = isinstance(node.function, Attribute) and dotted(node.function) is None
    plan = _plan(use, result, node)
    if plan is None or method is None and (receiver or _takes_receiver(use, node)):
        return False
    if isinstance(method, str) and isinstance(node.function, Attribute):
        node.function.rename(method)
    else:
        function = rebuilt(result.function, lambda n: _support(use, n))
        function.value = UNKNOWN
        node.function.replace(function)
    for argument in [a for a in node.arguments if all(a is not k for k, _ in plan.kept)]:
        node.remove(argument)
    for argument, word in plan.kept:
        node.respell(argument, word)
    for argument, word in plan.behind:
        node.append(argument, word)
    return True


def _method(use: Use, result: Call, node: Call) -> str | None:
    """The method of the same object that a method becomes."""
    function, own = result.function, node.function
    if not isinstance(function, Attribute) or not isinstance(function.object, Name):
        return None
    given = use.binding.given.get(function.object.id)
    same = given is not None and isinstance(own, Attribute) and given.now() is own.object
    return function.name if same else None


def _takes_receiver(use: Use, node: Call) -> bool:
    """Whether the object that a method is of is one of the arguments of the rule."""
    own = getattr(node.function, "object", None)
    return any(argument.now() is own for argument in use.binding.given.values())


def _names_parameter(use: Use, node: Node) -> bool:
    names = {p.name for p in use.binding.definition.parameters}
    return any(isinstance(n, Name) and n.id in names for n in node.walk())


def _support(use: Use, node: Node) -> Expression | None:
    known = isinstance(node, Name) and node.id in use.rulebook.definitions
    return Support(node.id) if known and isinstance(node, Name) else None


def _plan(use: Use, result: Call, node: Call) -> _Plan | None:
    """Which arguments stay, and under which keywords; None where more than that changes."""
    kept: list[Worded] = []
    behind: list[Worded] = []
    for word, argument in zip(result.keywords, result.arguments):
        if isinstance(argument, Constant):
            behind.append((Constant(argument.constant), word))
            continue
        found = _users(use, node, argument)
        if found is None or behind or found and word is not None and len(found) > 1:
            return None
        kept += [(one, word) for one in found]
    places = [next(i for i, a in enumerate(node.arguments) if a is one) for one, _ in kept]
    left = [a for i, a in enumerate(node.arguments) if i not in places]
    if places != sorted(set(places)) or not all(map(harmless, left)):
        return None
    return _Plan(kept, behind)


def _users(use: Use, node: Call, argument: Expression) -> list[Expression] | None:
    """The arguments of the user's call that a parameter stands for."""
    loose = isinstance(argument, Starred)
    name = argument.expression if isinstance(argument, Starred) else argument
    if not isinstance(name, Name):
        return None
    given = use.binding.given.get(name.id)
    sizes = any(p.kind == "sizes" and p.name == name.id for p in use.binding.definition.parameters)
    if loose != sizes:
        return None
    taken = use.binding.sizes if sizes else [given] if given is not None else []
    found = [a for a in node.arguments if any(t.now() is a and not t.star for t in taken)]
    return found if taken and len(found) == len(taken) else None
