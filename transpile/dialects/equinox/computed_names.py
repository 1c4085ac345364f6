"""Submodules under names that are computed, or no identifiers: attributes of a dataclass have to be
declared.

setattr(self, f"conv{i}", m)      self.submodules[f"conv{i}"] = m, in a class that is nn.Submodules
setattr(self, "pool-norm", m)     self.submodules["pool-norm"] = m
in a Sequential                   self.add_module(f"conv{i}", m), as what it has under plain names
"""

from ...facts.modules import SUBMODULE
from ...model.edits import block_of
from ...model.effects import Declare, Support
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.names import below
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.statements import Assign, ExpressionStatement
from ..sharing.list_growth import sets
from .plan import Plan

FIELD = "submodules"


class Computed:
    """What is asked of classes before anything is edited, and written after that."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._having = {
            cls
            for cls in {f.owner for f in plan.signatures.functions if f.owner is not None}
            if any(sets(m) for m in self._building(cls)) and not self._declares(cls)
        }
        self._shared = {
            cls
            for one in self._having
            for cls in plan.modules.lineage(one)
            if cls is not one or any(sets(m) and m.name != "__init__" for m in self._building(one))
        }

    def has(self, cls: Class) -> bool:
        """Whether a class, or one that it inherits from, has modules under computed names."""
        return not self._having.isdisjoint(self.plan.modules.lineage(cls))

    def begins(self, cls: Class) -> bool:
        """Whether it is this class that has the field for them."""
        above = self.plan.modules.lineage(cls)[1:]
        inherits = self.is_sequential(cls) or not self._having.isdisjoint(above)
        return cls in self._having and not inherits

    def is_sequential(self, cls: Class) -> bool:
        names = {c.name for c in self.plan.modules.lineage(cls) if self.plan.modules.is_library(c)}
        return "Sequential" in names

    def in_sequence(self, cls: Class) -> bool:
        """Whether all modules of a class are layers of a Sequential, in the order of setting."""
        return self.is_sequential(cls) and self.has(cls)

    def write(self, method: Function, cls: Class) -> None:
        """Write what a method sets; `cls`: the class that it is written for."""
        if not self.has(cls) or not self.plan.is_building(method) or not method.parameters:
            return
        me = method.receiver
        for statement, call in sets(method):
            _, name, value = call.arguments
            block_of(statement).substitute(statement, [self._set(me, name, value, cls)])
        if self.in_sequence(cls):
            for declare in method.nodes(Declare):
                if declare.kind == SUBMODULE and declare.expression is not None:
                    made = self._set(me, Constant(declare.name), declare.expression, cls)
                    block_of(declare).substitute(declare, [made])

    def _set(
        self, me: str, name: Expression, value: Expression, cls: Class
    ) -> ExpressionStatement | Assign:
        if self.is_sequential(cls):
            return ExpressionStatement(Call(Attribute(Name(me), "add_module"), [name, value]))
        return Assign([Subscript(Attribute(Name(me), FIELD), name)], value)

    def begin(self, init: Function, cls: Class) -> None:
        """The constructor makes them where it sets the first, which is their place in the order of
        all parts; it begins with none where others set some too."""
        body, alone = init.body.body, cls not in self._shared
        setting = (s for s in body if any(a.name == FIELD for a in below(s, Attribute)) and alone)
        made = Assign([Attribute(Name(init.receiver), FIELD)], Call(Name("OrderedDict")))
        init.body.insert_before(next(setting, body[0]), [made])

    def base(self, cls: Class) -> None:
        """What is no other class's is an nn.Submodules instead of a plain module."""
        made = Support("Submodules")
        plain = [b for b in cls.bases if isinstance(b, Attribute) and b.name == "Module"]
        if plain:
            plain[0].replace(made)
        else:
            cls.bases.insert(0, made)
            cls.keywords.insert(0, None)
            cls.adopt()
            cls.restate()

    def _building(self, cls: Class) -> list[Function]:
        methods = self.plan.modules.home(cls).methods(cls).values()
        return [m for m in methods if self.plan.is_building(m)]

    def _declares(self, cls: Class) -> bool:
        """Whether the user has the name of the field, or it is a class of the library's."""
        return self.plan.modules.is_library(cls) or FIELD in self.plan.modules.fields(cls)
