"""What a field of a module that is set from outside holds: a leaf of its tree, or what is static.

conv.bias = b                    an array, in the place of the other one
model.config = old.config        static: no class has a field of the name
"""

from collections.abc import Sequence

from ...facts.modules import Modules
from ...facts.values.lattice import Module, Tensor
from ...model.constants import is_none
from ...model.expressions import Attribute
from ...model.node import Expression
from ...model.program import Class


def is_leaf(target: Attribute, given: Expression, modules: Modules) -> bool:
    """Whether it is an array or a module. What is only taken for one, since any attribute of a
    module that is not known may be, is that where a class has such a field."""
    value = given.value
    if isinstance(value, Tensor) and value.assumed:
        return _is_field(target.name, modules.classes_of_value(target.object.value), modules)
    if isinstance(value, Module) and value.open and isinstance(given, Attribute):
        return any(_is_field(read.name, (), modules) for read in (target, given))
    return isinstance(value, (Tensor, Module))


def may_be_none(target: Attribute, modules: Modules) -> bool:
    """Whether it is None until it is set, and no node of a tree."""
    fields = map(modules.fields, modules.classes_of_value(target.object.value))
    found = [own for held in fields if (own := held.get(target.name)) is not None]
    return target.name == "bias" or any(is_none(v) for own in found for v in own.values)


def _is_field(name: str, classes: Sequence[Class], modules: Modules) -> bool:
    """Whether one of these classes sets a field of a name, or, if there are none, any class."""
    return any(name in modules.fields(c) for c in classes or modules.project.classes())
