"""Whether what is stored in an array of a module has another dtype than what stood there.

self.register_buffer("mean", torch.zeros(4, dtype=torch.long))
self.mean = self.mean + 0.5              in torch a buffer of floats from here on
"""

from collections.abc import Iterable

from ..model.effects import Read, Write
from ..model.expressions import Call
from ..model.names import dotted
from ..model.node import Expression
from ..model.operators import Binary
from ..model.program import Class
from .modules import Modules
from .values.lattice import Static, Tensor
from .values.operators import NUMBERS

_HEIGHT = {"": 0, "b": 1, "u": 2, "i": 2, "f": 3, "c": 4}
_PROMOTING = frozenset("+ - * /".split())
_FLOATS = frozenset("jnp.zeros jnp.ones jnp.empty".split())


def becomes_another(modules: Modules, classes: Iterable[Class | None], write: Write) -> bool:
    """Whether an assignment is certain to change the dtype that an array begins with in some of
    these classes: what is written in place never does."""
    if not write.bound:
        return False
    fields = [modules.fields(cls).get(write.target.name) for cls in classes if cls is not None]
    begun = [value for field in fields if field is not None for value in field.values]
    return any(_is_another(one, write) for one in begun)


def _is_another(begun: Expression, write: Write) -> bool:
    before, after = begun.value, write.value.value
    for value in (before, after):
        if not isinstance(value, Tensor) or value.number is not False or value.none:
            return False
    assert isinstance(before, Tensor) and isinstance(after, Tensor)
    kind = _kind(begun)
    if kind is not None and after.kind not in (None, kind):
        return True
    return kind is not None and _HEIGHT[_least(write.value, write.target, kind)] > _HEIGHT[kind]


def _least(new: Expression, target: Read, before: str) -> str:
    """The kind that a value has at least, if the array is as it began: "" where none is known."""
    if isinstance(new, Binary) and new.operator in _PROMOTING:
        kinds = [_least(side, target, before) for side in (new.left, new.right)]
        return max(*kinds, "f" if new.operator == "/" else "", key=_HEIGHT.__getitem__)
    if isinstance(new, Read) and new.name == target.name:
        return before if dotted(new.object) == dotted(target.object) else ""
    if isinstance(new.value, Static):
        return NUMBERS.get(new.value.type, "")
    return _kind(new) or ""


def _kind(node: Expression) -> str | None:
    if isinstance(node.value, Tensor) and node.value.kind is not None:
        return node.value.kind
    floats = isinstance(node, Call) and dotted(node.function) in _FLOATS
    return "f" if floats and "dtype" not in node.keywords else None  # type: ignore[attr-defined]
