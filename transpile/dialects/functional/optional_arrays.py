"""Arrays that a submodule may not have, as it was built: `bias` of `Linear(n, n, bias=use)`, and a
list of params in which None stands."""

from collections.abc import Iterator

from ...model.constants import is_constant, is_none
from ...model.effects import New
from ...model.expressions import Attribute, Call, Comprehension, Display, Subscript
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import sides
from ...model.program import Class, Function
from ..sharing.list_growth import added, grown
from .plan import Plan

_SWITCHED = frozenset(("weight", "bias"))  # there, unless a flag is False


def may_lack(plan: Plan, cls: Class | None, module: Expression, name: str) -> bool:
    """Whether a submodule of a class may not have an array."""
    known = module.value
    refs = plan.modules.classes_of_value(known)
    if not any(plan.is_optional(one, name) for one in refs):
        return False
    named = isinstance(module, Attribute) and cls is not None
    held = plan.fields(cls).get(module.name) if named else None  # type: ignore[arg-type, attr-defined]
    made = held.values if held is not None else []
    return name not in _SWITCHED or not made or not all(_has_all(plan, value) for value in made)


def listed_entry(
    plan: Plan, cls: Class | None, held: Expression, entries: Expression, key: Expression
) -> Expression:
    """`params["ps"]["0"]`; `params["ps"].get("0")` of a list in which None may stand."""
    put = _put(plan, cls, held) if cls is not None else ()
    if any(is_none(side) for value in put for side in sides(value)):
        return Call(Attribute(entries, "get"), [key])
    return Subscript(entries, key)


def _put(plan: Plan, cls: Class, held: Expression) -> Iterator[Expression]:
    """What is put into a list of params: `self.ps = ParameterList([v])`, `self.ps.append(v)`."""
    path, name = dotted(held) or "", getattr(held, "name", "")
    for one in plan.modules.lineage(cls):
        for method in one.nodes(Function):
            for statement in grown(method, path):
                yield from added(statement)
        field = plan.fields(one).get(name)
        for made in field.values if field is not None else ():
            for given in made.arguments if isinstance(made, Call) else ():
                yield from given.elements if isinstance(given, Display) else ()
                yield from [given.element] if isinstance(given, Comprehension) else ()


def _has_all(plan: Plan, value: Expression) -> bool:
    """Whether a layer is built with what its flags may leave out: they are True."""
    known = value.value
    classes = plan.modules.classes_of_value(known)
    init = plan.modules.find(classes[0], "__init__") if len(classes) == 1 else None
    if init is None or not isinstance(value, New) or not plan.modules.is_library(classes[0]):
        return False
    names = [p.name for p in init.parameters[1:]]
    given = {w or names[i]: a for i, (w, a) in enumerate(zip(value.keywords, value.arguments))}
    flags = {p.name for p in init.parameters if _is_true(p.default)}
    return all(_is_true(a) for name, a in given.items() if name in flags)


def _is_true(node: Expression | None) -> bool:
    return is_constant(node, True)
