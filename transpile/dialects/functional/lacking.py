"""Arrays that a submodule may not have, as it was built: `bias` of `Linear(n, n, bias=use)`."""

from ...facts.values.lattice import Module
from ...model.constants import is_constant
from ...model.effects import New
from ...model.expressions import Attribute
from ...model.node import Expression
from ...model.program import Class
from .plan import Plan

_SWITCHED = frozenset(("weight", "bias"))  # there, unless a flag is False


def may_lack(plan: Plan, cls: Class | None, module: Expression, name: str) -> bool:
    """Whether a submodule of a class may not have an array."""
    known = module.value
    refs = plan.modules.classes_of(known.refs) if isinstance(known, Module) else []
    if not any(plan.is_optional(one, name) for one in refs):
        return False
    named = isinstance(module, Attribute) and cls is not None
    held = plan.fields(cls).get(module.name) if named else None  # type: ignore[arg-type, attr-defined]
    made = held.values if held is not None else []
    return name not in _SWITCHED or not made or not all(_has_all(plan, value) for value in made)


def _has_all(plan: Plan, value: Expression) -> bool:
    """Whether a layer is built with what its flags may leave out: they are True."""
    known = value.value
    classes = plan.modules.classes_of(known.refs) if isinstance(known, Module) else []
    init = plan.modules.find(classes[0], "__init__") if len(classes) == 1 else None
    if init is None or not isinstance(value, New) or not plan.modules.is_library(classes[0]):
        return False
    names = [p.name for p in init.parameters[1:]]
    given = {w or names[i]: a for i, (w, a) in enumerate(zip(value.keywords, value.arguments))}
    flags = {p.name for p in init.parameters if _is_true(p.default)}
    return all(_is_true(a) for name, a in given.items() if name in flags)


def _is_true(node: Expression | None) -> bool:
    return is_constant(node, True)
