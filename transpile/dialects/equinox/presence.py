"""Attributes that a constructor does not always set: a field is there in any case, and None.

hasattr(self, "proj")             self.proj is not None
getattr(self, "scale", 1.0)       self.scale if self.scale is not None else 1.0
"""

from ...facts.definite_assignment import sets
from ...facts.modules import ARRAYS, Field
from ...facts.nullness import possibly_none
from ...model.constants import is_none
from ...model.copy import clone
from ...model.effects import Read
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Compare, Conditional
from ...model.program import Class, Function
from ..leaf_nodes import put
from .plan import Plan


class Presence:
    """Which fields may be unset; asked before anything is edited."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        classes = [c for c in plan.project.classes() if plan.modules.is_module(c)]
        self._unset = {cls: dict(self._of(cls)) for cls in classes}
        self._anywhere = {name for found in self._unset.values() for name in found}

    def _of(self, cls: Class) -> list[tuple[str, str]]:
        """The fields with their kinds; those that may be set to None are no help."""
        init = self.plan.modules.constructor(cls)
        return [
            (name, own.kind)
            for name, own in self.plan.modules.own_fields(cls).items()
            if self._is_begun_by_us(name, own, cls)
            or not any(map(possibly_none, own.values))
            and (init is None or not sets(init.body, name))
        ]

    def _is_begun_by_us(self, name: str, own: Field, cls: Class) -> bool:
        """Whether nothing is set while building: the None there is no one's but ours."""
        made = all(is_none(v) and v.start < 0 for v in own.values)
        return made and self.plan.begins_unset(name, cls)

    def write(self, function: Function) -> None:
        for call in function.nodes(Call):
            word, arguments = dotted(call.function), call.arguments
            if word not in ("hasattr", "getattr") or any(call.keywords):
                continue
            name = arguments[1] if len(arguments) == (2 if word == "hasattr" else 3) else None
            if not isinstance(name, Constant) or name.constant not in self._anywhere:
                continue
            field = self._field(arguments[0], str(name.constant), function)
            if word == "hasattr":
                held = field or Call(Name("getattr"), [*arguments, Constant(None)])
                put(call, Compare([held, Constant(None)], ["is not"]))
            elif field is not None and not is_none(arguments[2]):
                there = Compare([clone(field), Constant(None)], ["is not"])
                call.replace(Conditional(field, there, arguments[2]))

    def _field(self, holder: Expression, name: str, function: Function) -> Expression | None:
        """The field of self; None for what may be an attribute of anything."""
        cls = function.owner
        me = function.receiver
        if cls is None or not isinstance(holder, Name) or holder.id != me:
            return None
        for one in self.plan.modules.lineage(cls):
            kind = self._unset.get(one, {}).get(name)
            if kind is not None:
                return Read(holder, name, kind) if kind in ARRAYS else Attribute(holder, name)
        return None
