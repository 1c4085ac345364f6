"""Which arrays that a constructor makes choose in a forward pass: `s[self.mask]`."""

from collections.abc import Iterator

from ..model.effects import BUFFER, CONSTANT, Declare, Put, Read, Support, Write
from ..model.expressions import Call, Subscript
from ..model.names import dotted, index_parts
from ..model.node import Expression
from ..model.operators import Unary
from ..model.program import Class
from ..model.project import Project
from .modules import Field, Modules
from .values.lattice import Function, Module, Tensor

SELECT = "masked_select"
_CHOOSING = frozenset({"jnp.nonzero", "jnp.argwhere"})
_KINDS = (CONSTANT, BUFFER)
Choosing = frozenset[tuple[Class, str]]


def choosing(project: Project, modules: Modules) -> Choosing:
    """The constants that stand as masks somewhere, with the classes that set them: known when a
    function is traced, if nothing else is put there and nothing asks for an array of JAX's."""
    written, read = set[str](), set[Read]()
    for function in project.functions():
        written |= {w.target.name for w in function.nodes(Write) if isinstance(w.target, Read)}
        written |= {one.name for one in function.nodes(Read) if _is_for_jax(one)}
        for node in function.nodes(Subscript, Put, Call):
            read |= {m for m in map(mask, chooses(node)) if m is not None}
    found = set()
    for one in read:
        family = _lineage(one, modules)
        family += [below for cls in family for below in project.descendants(cls)]
        fields = {cls: modules.own_fields(cls).get(one.name) for cls in family}
        setting = {cls: own for cls, own in fields.items() if own is not None}
        once = all(_is_made_once(own, cls, modules) for cls, own in setting.items())
        again = any(below in setting for cls in setting for below in project.descendants(cls))
        if once and not again and one.name not in written:
            found |= {(cls, one.name) for cls in setting}
    return frozenset(found)


def _is_for_jax(read: Read) -> bool:
    """Whether an array is changed or handed on, or indexed by one that may be traced."""
    around = read.parent
    if isinstance(around, Subscript) and around.object is read:
        parts = index_parts(around.index)
        return any(isinstance(n.value, Tensor) for n in parts)
    handed = isinstance(around, Call) and isinstance(around.function.value, (Function, Module))
    return handed or isinstance(around, Put) and around.index is not read


def chooses(use: Expression) -> Iterator[Expression]:
    """What chooses: the masks of `x[mask]`, `jnp.nonzero(mask)` itself, the mask of a selection,
    and which of its modules a list is asked for: `self.layers[torch.tensor(1)]`."""
    if isinstance(use, Subscript) and isinstance(use.object.value, Module):
        yield from (use.index,) if isinstance(use.index.value, Tensor) else ()
    elif isinstance(use, (Subscript, Put)):
        yield from filter(_is_mask, index_parts(use.index))
    elif isinstance(use, Call) and isinstance(use.function, Support):
        yield from use.arguments[1:] if use.function.name == SELECT else ()
    elif isinstance(use, Call) and dotted(use.function) in _CHOOSING:
        yield use


def _is_mask(node: Expression) -> bool:
    if isinstance(node, Unary) and node.operator == "~":
        return _is_mask(node.operand)
    return isinstance(node.value, Tensor) and node.value.kind == "b"


def mask(part: Expression) -> Read | None:
    """The constant of a module that a part of an index is, or is turned round: `s[~self.mask]`."""
    while isinstance(part, Unary) and part.operator == "~":
        part = part.operand
    if not isinstance(part, Read) or part.kind not in _KINDS:
        return None
    return part if _is_mask(part) or _picks(part) else None


def _picks(index: Expression) -> bool:
    """Whether an array says which module of a list is meant."""
    around = index.parent
    listed = isinstance(around, Subscript) and around.index is index
    return listed and isinstance(around.object.value, Module)  # type: ignore[union-attr]


def is_choosing(read: Read, choosing: Choosing, modules: Modules) -> bool:
    """Whether what is read is one of these constants."""
    return any((cls, read.name) in choosing for cls in _lineage(read, modules))


def _lineage(read: Read, modules: Modules) -> list[Class]:
    classes = modules.classes_of_value(read.object.value)
    return [one for cls in classes for one in modules.lineage(cls)]


def _is_made_once(own: Field, cls: Class, modules: Modules) -> bool:
    declared = [value.parent for value in own.values]
    if len(declared) != 1 or not isinstance(declared[0], Declare) or declared[0].drawn:
        return False
    return own.kind in _KINDS and not modules.is_library(cls)
