"""Whether a value is a module, or a list of modules, that is made where it stands."""

from collections.abc import Callable

from ...model.effects import Apply, New, Support
from ...model.expressions import Attribute, Call, Comprehension, Display, Name
from ...model.node import Expression
from ...model.operators import Conditional, sides

_FETCHING = frozenset("getattr next list tuple reversed iter sorted vars".split())


def is_made(value: Expression) -> bool:
    """Whether a value is new, not one that is fetched from where it stands."""
    if isinstance(value, Conditional):
        return all(map(is_made, sides(value)))
    if isinstance(value, Display):
        return all(map(is_made, value.elements))
    if isinstance(value, Comprehension):
        return is_made(value.element)
    if isinstance(value, (New, Support)):  # `[nn.ReLU]`: a class stands nowhere
        return True
    if not isinstance(value, Call):
        return False
    function = value.function
    if isinstance(function, Name):
        return function.id not in _FETCHING
    return not isinstance(value, Apply) or not isinstance(function, Attribute)


def is_new(value: Expression, is_only_here: Callable[[Name], bool]) -> bool:
    """The same of a list, in which names may stand: `[conv, nn.ReLU()]`."""
    if not isinstance(value, Display):
        return is_made(value)
    return all(is_only_here(e) if isinstance(e, Name) else is_made(e) for e in value.elements)
