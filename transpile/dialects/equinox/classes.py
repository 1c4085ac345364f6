"""A class of modules as an `eqx.Module`: its bases, its fields, its methods."""

from dataclasses import replace

from ...facts.values.lattice import Module
from ...model.copy import clone
from ...model.edits import leave_out
from ...model.effects import Apply, Read, Support, Write
from ...model.expressions import Attribute, Call, Constant, Dictionary, Name, Subscript
from ...model.names import dotted, in_scope
from ...model.node import Expression, Statement
from ...model.program import Class, Function
from ...model.statements import Assign, Pass
from ...source.lower_ast import expression
from ..reports import Reports
from ..threading.properties import setters
from .class_defaults import move_lists, standing
from .computed_names import Computed
from .constructors import Building, begin
from .data_writes import write_for_the_call
from .fields import ANY, Declared, Fields
from .functions import Running
from .layers import ORDERED
from .param_writes import Changing
from .plan import Plan
from .presence import Presence

BLANK, _WRAPPED = ("\n", ""), 5
PLAIN = ("torch.nn.Module", "torch.nn.modules.module.Module", "transpile.layer.Module")


class ClassWriter:
    """Writes classes; `prefix` is how the support file is spelled: "nn." or nothing in itself."""

    def __init__(self, plan: Plan, reports: Reports, prefix: str) -> None:
        self.plan, self.reports, self.prefix = plan, reports, prefix
        self._made: set[Class] = set()  # the classes with arrays under computed names
        self._mixed_in: dict[Class, list[Declared]] = {}
        self.computed, self.presence = Computed(plan), Presence(plan)

    def write(self, cls: Class) -> None:
        declared = self._declared(cls)
        moved = move_lists({f.name for f in declared}, cls, self.plan.modules.constructor(cls))
        declared = [replace(f, unset=f.unset and f.name not in moved) for f in declared]
        fields, late = self._apart(declared, cls)
        statements = self._statements(fields, cls)
        self._leave_out_hints(cls)
        if fields:
            self._separate(cls)
        made = any(f.name == "arrays" for f in fields)
        if made or any(f.name == "arrays" for f in self._mixed_in.get(cls, ())):
            self._made.add(cls)
        methods = list(self.plan.modules.home(cls).methods(cls).values())
        methods += [f for f in setters(cls) if f.nodes(Apply, Read)]  # others set what they set
        for method in methods:
            with self.reports.faults.within(method):
                begins = method.name == "__init__" and (made or self._begins_above(cls))
                self._method(method, cls, begins)
        if late:
            begin(next(m for m in methods if m.name == "__init__"), late, Constant(None))
        self._bases(cls)
        if self.computed.begins(cls):
            self.computed.base(cls)
        self._fields(cls, statements)

    def function(self, function: Function) -> None:
        """One that is no method of a module."""
        if function in self.plan.signatures.functions:
            for inner in function.nodes(Function):
                self.function(inner)
            with self.reports.faults.within(function):
                self.presence.write(function)
                self._run(function)

    def _method(self, method: Function, cls: Class, begins_arrays: bool) -> None:
        if method not in self.plan.signatures.functions:
            return
        for inner in method.nodes(Function):
            self.function(inner)
        self.presence.write(method)
        self.computed.write(method, cls)
        if self.plan.is_building(method):
            Building(method, cls, self.plan, self.reports).write()
        self._computed(method)
        self._run(method)
        if begins_arrays:
            ordered = cls in self.plan.ordered  # JAX sorts a plain dict
            begin(method, ["arrays"], Call(Name(ORDERED)) if ordered else Dictionary([]))
        if method.name == "__init__" and self.computed.begins(cls):
            self.computed.begin(method, cls)

    def _run(self, function: Function) -> None:
        if not self.plan.is_building(function):
            write_for_the_call(function, self.plan, self.reports)
        made = Changing(function, self.plan, self.reports).write()
        Running(function, self.plan, self.reports, made).write()

    # --- bases ------------------------------------------------------------------------------------

    def _bases(self, cls: Class) -> None:
        home, file = self.plan.modules.home(cls), cls.file
        word = "nn.StatefulLayer" if self.plan.is_stateful(cls) else "Module"
        for base in list(cls.bases):
            name = dotted(base)
            found = home.resolve(file, name) if file is not None and name else None
            plain = isinstance(base, Support) and base.name == "Module"
            if plain or found in PLAIN:
                base.replace(expression(f"eqx.{word}"))
            elif isinstance(found, str) and found.startswith("torch.nn."):
                base.replace(Support(found.rpartition(".")[2]))
        # a mixin that only classes below make a module of is no StatefulLayer itself
        above = self.plan.modules.lineage(cls)[1:]
        bases = [c for c in above if self.plan.modules.home(c).foreign_bases(c)]
        if bases and self.plan.is_stateful(cls) and not any(map(self.plan.is_stateful, bases)):
            cls.bases.append(expression("eqx.nn.StatefulLayer"))
            cls.keywords.append(None)
            cls.adopt()
            cls.restate()

    # --- fields -----------------------------------------------------------------------------------

    def _declared(self, cls: Class) -> list[Declared]:
        """The fields of a class; a mixin is no `eqx.Module`: its fields stand in those below."""
        fields = Fields(cls, self.plan, self.prefix, self.computed)
        if self.plan.is_mixin(cls):
            self._mixin(cls)
            return []
        return fields.all(map(self._mixin, self.plan.mixins(cls)))

    def _apart(self, fields: list[Declared], cls: Class) -> tuple[list[Declared], list[str]]:
        """The fields, and those that the constructor begins with None. Equinox 0.13 takes a module
        without five of its fields, as many as it copies of what it wraps, for one that has all."""
        unset = [f for f in fields if f.unset and f.name != "inference"]
        late = [f for f in unset if standing(f, cls) is None]
        own = "__init__" in self.plan.modules.home(cls).methods(cls)
        begun = late if own and len(late) >= _WRAPPED else []
        kind = "{} | None".format
        typed = {f: kind(f.type.removesuffix(" | None")) for f in late if f.type != ANY}
        found = [
            replace(f, type=typed.get(f, f.type), unset=f.unset and f not in begun) for f in fields
        ]
        return found, [f.name for f in begun]

    def _mixin(self, cls: Class) -> list[Declared]:
        """What a mixin sets, found before it is edited."""
        if cls not in self._mixed_in:
            own = Fields(cls, self.plan, self.prefix, self.computed).own()
            self._mixed_in[cls] = own
        return self._mixed_in[cls]

    def _fields(self, cls: Class, fields: list[Statement]) -> None:
        if not fields:
            return
        body = cls.body
        fields[0].comments = BLANK
        before: Statement | None = None
        for statement in body.body:
            if isinstance(statement, Function):
                break
            before = statement
        if before is not None and not isinstance(before, Pass):
            body.insert_after(before, fields)
        elif before is not None:
            body.substitute(before, fields)
        else:
            fields[0].comments = None
            body.insert_before(body.body[0], fields)

    def _separate(self, cls: Class) -> None:
        """An empty line between the fields and a method that comes first in the class, or right
        below its docstring."""
        body = cls.body.body
        at = next((i for i, s in enumerate(body) if isinstance(s, Function)), None)
        if at is None or at and _has_gap(body[at - 1], body[at]):
            return
        cls.body.set_apart(body[at])

    def _statements(self, fields: list[Declared], cls: Class) -> list[Statement]:
        """The fields as text. Types are quoted whose names mean nothing, or something else, when
        the class is made: classes further below, `networks.Loss` of a file that may be half read,
        fields themselves (`nn: nn.Linear = None`)."""
        there = [standing(f, cls) for f in fields]
        defaults = (None if n is None else n.expression for n in there)
        values = [_value(f, d and clone(d)) for f, d in zip(fields, defaults)]
        if self.plan.modules.find(cls, "__init__") is None:  # which would set it
            values = [
                Constant(False) if f.name == "inference" else v for f, v in zip(fields, values)
            ]
        hidden = {f.name for f, value in zip(fields, values) if value is not None}
        made, names = list[Statement](), [n.id for n in in_scope(cls.body, Name)]
        for field, value, old in zip(fields, values, there):
            kind = expression(field.type)
            words = [word for n in kind.walk() if (word := dotted(n))]
            if any(w in hidden or self._is_late(w, cls) for w in words):
                kind = Constant(field.type)
            if field.type == ANY and old is not None and old.annotation is not None:
                kind = clone(old.annotation)
            new = Assign([Name(field.name)], value, annotation=kind)
            if old is None or names.count(field.name) > 1:
                made.append(new)
            else:
                cls.body.substitute(old, [new])
        return made

    def _leave_out_hints(self, cls: Class) -> None:
        """`fc: nn.Linear` sets nothing in torch, and would be a field here: it stays where classes
        below have that."""
        home = self.plan.modules.home(cls)
        if self.plan.is_mixin(cls) or cls.decorators:
            return
        below = {n for c in home.descendants(cls) for n in self.plan.modules.own_fields(c)}
        if self.plan.modules.find(cls, "__init__") is None:
            below = set()  # its fields are the parameters of a constructor
        for hint in [n for n in cls.body.body if isinstance(n, Assign) and n.expression is None]:
            if dotted(hint.targets[0]) not in below:
                leave_out(hint)

    def _is_late(self, word: str, cls: Class) -> bool:
        file = cls.file
        if file is None:
            return False
        found = self.plan.modules.home(cls).resolve(file, word)
        if not isinstance(found, Class):
            return word in {c.name for c in file.classes() if c.start >= cls.start}
        return found.start >= cls.start if found.file is file else "." in word

    # --- arrays under computed names --------------------------------------------------------------

    def _begins_above(self, cls: Class) -> bool:
        """Whether no class above has a constructor that would begin the arrays which one has."""
        above = self.plan.modules.lineage(cls)[1:]
        if self._made.isdisjoint(above):
            return False
        return not any("__init__" in self.plan.modules.home(c).methods(c) for c in above)

    def _computed(self, method: Function) -> None:
        """`getattr(self, f"weight_{i}")`, `self.weight_0`: an entry of the dict of arrays."""
        owner = method.owner
        lineage = self.plan.modules.lineage(owner) if owner is not None else []
        if owner is None or not self._made.intersection(lineage):
            return
        for call in method.nodes(Call):
            word = call.function.id if isinstance(call.function, Name) else ""
            if word != "getattr" or len(call.arguments) < 2:
                continue
            arrays, name = Attribute(Name("self"), "arrays"), call.arguments[1]
            if isinstance(name, Constant) or isinstance(call.value, Module):
                continue
            if len(call.arguments) == 3:
                call.replace(Call(Attribute(arrays, "get"), [name]))
            else:
                call.replace(Subscript(arrays, name))
        for read in method.nodes(Read):
            own = dotted(read.object) == "self" and not isinstance(read.parent, Write)
            if own and read.name not in self.plan.arrays(owner):
                read.replace(Subscript(Attribute(Name("self"), "arrays"), Constant(read.name)))


def _value(declared: Declared, default: Expression | None) -> Expression | None:
    """What says that a field is static, or may be left unset."""
    if default is None and declared.unset and (declared.static or declared.name != "inference"):
        default = Constant(None)
    if not declared.static and declared.saved:
        return default
    made = Call(expression("eqx.field"), [Constant(True)], ["static"])
    if not declared.static:
        made = Call(Support("unsaved"))
    if default is not None:
        made.append(default, "default")
    return made


def _has_gap(one: Statement, other: Statement) -> bool:
    """Whether an empty line stands between two statements of the user's."""
    if one.file is None or one.end < 0 or other.start < 0:
        return False
    between = one.file.text[one.end : other.start].splitlines()
    return any(not line.strip() for line in between[1:-1])
