"""How arrays begin that a model sets while it runs, and what they are given then: a Variable keeps
the dtype and shape that it began with.

    self.loss = 0                    self.loss = nn.Buffer(jnp.array(0.0), persistent=False)
    …                                …
    self.loss = y.mean()             self.loss[...] = y.mean()
"""

from collections.abc import Callable
from typing import NamedTuple

from ...facts.shapes.syntactic_sizes import is_size
from ...facts.values.lattice import Mapping, Sequence, Static, Tensor
from ...model.constants import is_none
from ...model.effects import Declare, Write
from ...model.expressions import Attribute, Name
from ...model.node import Expression
from ...model.operators import Binary, Conditional, sides
from ...model.program import Class, Function
from ...model.statements import Assign
from ...model.unpacking import each_pair

_WHOLE = frozenset(("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"))


class Begun(NamedTuple):
    """An array that begins as a number, `self.loss = 0`, or that no constructor sets."""

    number: bool = False
    unmade: bool = False
    fraction: bool = False  # it may be given fractions, which an array of integers would drop
    size: bool = False  # `self.batch = x.shape[0]`: a number of Python's, which may shape arrays
    container: bool = False  # `self.seen = []`: no array, of which `[...]` would be the whole


def begun(cls: Class, given: Callable[[Expression], str]) -> dict[str, Begun]:
    """The arrays that the methods of one class begin or write; `given` says what is a number."""
    methods = cls.nodes(Function)
    made = [d for f in methods for d in f.nodes(Declare) if d.expression is not None]
    writes = [w for f in methods for w in f.nodes(Write) if isinstance(w.target, Attribute)]
    found: dict[str, Begun] = {}
    for declare in made:
        value = declare.expression
        assert value is not None
        unmade = is_none(value) and value.origin is None
        number = "number" in given(value)
        _note(found, declare.name, Begun(number, unmade, container=is_container(value)))
    for write in writes:
        name = write.target.name
        value = assigned(write)
        fraction, contains = not _is_whole(value, name), is_container(value)
        _note(found, name, Begun(fraction=fraction, size=is_size(value), container=contains))
    return found


def is_container(value: Expression) -> bool:
    """Whether an expression is a list or dict."""
    return isinstance(value.value, (Mapping, Sequence))


def _note(found: dict[str, Begun], name: str, more: Begun) -> None:
    found[name] = Begun(*map(any, zip(found.get(name, Begun()), more)))


def assigned(write: Write) -> Expression:
    """What a write gives: of `value_1`, made of `n, self.width = x.shape[0], x.shape[1]`, that."""
    value, function = write.value, write.nearest(Function)
    if not isinstance(value, Name) or function is None:
        return value
    found = [
        made
        for assign in function.nodes(Assign)
        for name, made in each_pair(assign)
        if isinstance(name, Name) and name.id == value.id
    ]
    return found[0] if len(found) == 1 else value


def _is_whole(value: Expression, name: str) -> bool:
    """Whether integers, or what the array of this name holds, are all that a value is made of."""
    if isinstance(value, Conditional):
        return all(_is_whole(side, name) for side in sides(value))
    if isinstance(value, Binary):
        return value.operator in _WHOLE and all(
            _is_whole(side, name) for side in (value.left, value.right)
        )
    if isinstance(value, Attribute) and value.name == name:
        return True
    known = value.value
    if is_size(value):
        return True
    if isinstance(known, Static):
        return known.type in ("int", "bool", "shape")
    return isinstance(known, Tensor) and known.kind is not None and known.kind in "ibu"
