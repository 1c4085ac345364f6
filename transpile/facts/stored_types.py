"""Whether what is stored in an array of a module has another dtype than what stood there, or may
have another shape than one that only keeps its place.

self.register_buffer("mean", torch.zeros(4, dtype=torch.long))
self.mean = self.mean + 0.5              in torch a buffer of floats from here on
self.register_buffer("last", torch.zeros(1))
self.last = h.detach()                   one of another shape
"""

from collections.abc import Iterable

from ..model.effects import Read, Write
from ..model.expressions import Attribute, Call, Constant, Display
from ..model.names import dotted
from ..model.node import Expression
from ..model.operators import Binary
from ..model.program import Class
from ..model.statements import If
from .modules import Modules
from .values.lattice import Static, Tensor
from .values.operators import NUMBERS

_HEIGHT = {"": 0, "b": 1, "u": 2, "i": 2, "f": 3, "c": 4}
_PROMOTING = frozenset("+ - * /".split())
_FLOATS = frozenset("jnp.zeros jnp.ones jnp.empty".split())
_REDUCING = frozenset("all any max mean min norm std sum var".split())


def becomes_another(modules: Modules, classes: Iterable[Class | None], write: Write) -> bool:
    """Whether an assignment is certain to change the dtype that an array begins with in some of
    these classes, or may change its shape: what is written in place never does."""
    if not write.bound:
        return False
    fields = [modules.fields(cls).get(write.target.name) for cls in classes if cls is not None]
    begun = [value for field in fields if field is not None for value in field.values]
    if _under_its_shape(write):
        return True
    return any(_is_another(one, write) or _keeps_place(one, write) for one in begun)


def _under_its_shape(write: Write) -> bool:
    """Whether it stands under a test of the shape of the array that it is written to:
    `if self.grid.shape[0] != n: self.grid = torch.arange(n)`."""
    tests = [around.test for around in write.ancestors() if isinstance(around, If)]
    asked = (n.object for t in tests for n in t.walk() if isinstance(n, Attribute))
    target = write.target
    return any(
        isinstance(of, Read)
        and of.name == target.name
        and dotted(of.object) == dotted(target.object)
        and getattr(of.parent, "name", "") in ("shape", "size")
        for of in asked
    )


def _keeps_place(begun: Expression, write: Write) -> bool:
    """Whether an array begins with one number, or none, and is given what may have more."""
    if not isinstance(begun, Call) or not begun.arguments or begun.keywords[0]:
        return False
    word, first = dotted(begun.function), begun.arguments[0]
    if word == "jnp.array":
        small = isinstance(first, Display) and not first.elements
    else:
        sizes = first.elements if isinstance(first, Display) else [first]
        small = word in _FLOATS and bool(sizes) and _is_one(sizes[0])
        if small and not all(map(_is_one, sizes)):  # `torch.zeros(1, width)`, of one example
            small = not isinstance(write.value, Binary)
    return small and not _has_its_shape(write.value, write.target)


def _is_one(size: Expression) -> bool:
    return isinstance(size, Constant) and size.constant in (0, 1)


def _has_its_shape(value: Expression, target: Read) -> bool:
    """Whether a value has no more dims than the array that is written: `self.n + x.mean()`."""
    if isinstance(value, Binary):
        return _has_its_shape(value.left, target) and _has_its_shape(value.right, target)
    if isinstance(value, Read) and value.name == target.name:
        return True
    if isinstance(value, Call) and isinstance(value.function, Attribute):
        return not value.arguments and value.function.name in _REDUCING
    return isinstance(value, Constant) or isinstance(value.value, Static)


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
