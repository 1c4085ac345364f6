"""Classes with several bases that have arrays: each says how its own begin.

class M(nn.Linear, Normed):    →    def init_state(self, key):
                                        return {**nn.Linear.init_state(self, key), …}

What Python finds first, `super().init(key)`, knows nothing of the base beside it.
"""

from ....facts.values.lattice import Class as ClassValue
from ....model.copy import clone
from ....model.effects import BUFFER, PARAM, Key, Support
from ....model.expressions import Attribute, Call, Dictionary, Name
from ....model.node import Expression
from ....model.program import Class
from ..plan import Plan


def beginnings_above(cls: Class, kind: str, me: str, name: str, plan: Plan) -> Expression | None:
    """What the bases of a class make, where it is more than what Python finds first does."""
    held = [base for base in cls.bases if _lineage(base, plan)]
    having = [base for base in held if _begins(base, kind, plan)]
    if len(held) < 2 or not having or _is_found(having, held, plan):
        return None
    made = [Call(Attribute(clone(base), name), [Name(me), Key()]) for base in having]
    if len(made) == 1:
        return made[0]
    return Dictionary([part for call in made for part in (None, call)])


def _lineage(base: Expression, plan: Plan) -> list[Class]:
    cls: Class | None = None
    if isinstance(base, Support):
        cls = plan.modules.library.named(base.name)
    elif isinstance(base.value, ClassValue) and isinstance(base.value.ref, Class):
        cls = base.value.ref
    return [] if cls is None else plan.modules.lineage(cls)


def _begins(base: Expression, kind: str, plan: Plan) -> bool:
    """Whether a base has arrays of a kind."""
    for cls in _lineage(base, plan):
        for name, own in plan.fields(cls).items():
            if own.kind == kind and (kind == PARAM or plan.holds(cls, name) == BUFFER):
                return True
    return False


def _is_found(having: list[Expression], held: list[Expression], plan: Plan) -> bool:
    """Whether what Python finds first is all there is: what is no module has no such method, and a
    base may go on with the others."""
    classes = [_lineage(base, plan) for base in having]
    if len(classes) > 1:
        one = any(all(other[0] in lineage for other in classes) for lineage in classes)
        return one or all(_go_on(a, b, plan) for a, b in zip(classes, classes[1:]))
    before = held[: held.index(having[0])]
    return not any(plan.modules.is_module(_lineage(base, plan)[0]) for base in before)


def _go_on(first: list[Class], then: list[Class], plan: Plan) -> bool:
    """Whether `super().init(key)` in one base comes to the other: both extend a third."""
    shared = [cls for cls in first if cls in then and plan.fields(cls)]
    return bool(shared) and plan.begins_elsewhere(first[0])
