"""A class of modules as an `eqx.Module`: its bases, its fields, its methods."""

from __future__ import annotations

from ...model.effects import Support
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted
from ...model.node import Expression, Statement
from ...model.program import Class, Function
from ...model.statements import Assign
from ...source.lower_ast import expression
from .constructors import Building, eqx
from .fields import Declared, Fields
from .functions import Running
from .plan import Plan
from .report import Reports

BLANK = ("\n", "")
PLAIN = ("torch.nn.Module", "torch.nn.modules.module.Module", "transpile.layer.Module")


class ClassWriter:
    """Writes classes; `prefix` is how the support file is spelled: "nn." or nothing in itself."""

    def __init__(self, plan: Plan, reports: Reports, prefix: str) -> None:
        self.plan, self.reports, self.prefix = plan, reports, prefix

    def write(self, cls: Class) -> None:
        fields = Fields(cls, self.plan, self.prefix).all()
        late = self._late(cls)
        made = any(f.name == "arrays" for f in fields)
        methods = list(self.plan.modules.home(cls).methods(cls).values())
        for method in methods:
            self._method(method, cls, made and method.name == "__init__")
        self._bases(cls)
        self._fields(cls, [_statement(f, late) for f in fields])

    def function(self, function: Function) -> None:
        """One that is no method of a module."""
        if function in self.plan.signatures.functions:
            for inner in function.nodes(Function):
                self.function(inner)
            Running(function, self.plan, self.reports).write()

    def _method(self, method: Function, cls: Class, begins_arrays: bool) -> None:
        if method not in self.plan.signatures.functions:
            return
        for inner in method.nodes(Function):
            self.function(inner)
        if self.plan.is_building(method):
            Building(method, cls, self.plan, self.reports).write()
        self._computed(method)
        Running(method, self.plan, self.reports).write()
        if begins_arrays:
            self._begin(method)

    # --- bases --------------------------------------------------------------------------------------

    def _bases(self, cls: Class) -> None:
        home, file = self.plan.modules.home(cls), cls.file
        word = "nn.StatefulLayer" if self.plan.is_stateful(cls) else "Module"
        for base in list(cls.bases):
            name = dotted(base)
            found = home.resolve(file, name) if file is not None and name else None
            if found in PLAIN:
                base.replace(eqx(*word.split(".")))
            elif isinstance(found, str) and found.startswith("torch.nn."):
                base.replace(Support(found.rpartition(".")[2]))

    # --- fields -------------------------------------------------------------------------------------

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
        if before is not None and not _is_pass(before):
            body.insert_after(before, fields)
        elif before is not None:
            body.substitute(before, fields)
        else:
            fields[0].comments = None
            body.insert_before(body.body[0], fields)

    def _late(self, cls: Class) -> set[str]:
        """The classes that stand further below in the file: their names are quoted in types."""
        file = cls.file
        return (
            {c.name for c in file.classes() if c.start >= cls.start} if file is not None else set()
        )

    # --- arrays under computed names ----------------------------------------------------------------

    def _computed(self, method: Function) -> None:
        """`getattr(self, f"weight_{i}")`: an entry of the dict of arrays."""
        owner = method.owner
        lineage = self.plan.modules.lineage(owner) if owner is not None else []
        if not any(Fields(c, self.plan, "")._has_made() or c in self._made for c in lineage):
            return
        for call in method.nodes(Call):
            if isinstance(call.function, Name) and call.function.id == "getattr":
                if len(call.arguments) < 2 or isinstance(call.arguments[1], Constant):
                    continue
                arrays = Attribute(Name("self"), "arrays")
                if len(call.arguments) == 3:
                    call.replace(Call(Attribute(arrays, "get"), [call.arguments[1]]))
                else:
                    from ...model.expressions import Subscript

                    call.replace(Subscript(arrays, call.arguments[1]))

    _made: set[Class] = set()

    def _begin(self, init: Function) -> None:
        target = Attribute(Name("self"), "arrays")
        first = init.body.body[0]
        from ...model.expressions import Dictionary

        init.body.insert_before(first, [Assign([target], Dictionary([]))])


def _statement(declared: Declared, late: set[str]) -> Statement:
    """`name: type`, with what says that it is static, or may be left unset."""
    words = {n.id for n in expression(declared.type).walk() if isinstance(n, Name)}
    annotation: Expression = expression(declared.type)
    if words & late:
        annotation = Constant(declared.type)
    value: Expression | None = None
    if declared.static:
        value = Call(eqx("field"), [Constant(True)], ["static"])
        if declared.unset:
            value.append(Constant(None), "default")
    elif declared.unset and declared.name != "inference":
        value = Constant(None)
    return Assign([Name(declared.name)], value, annotation=annotation)


def _is_pass(statement: Statement) -> bool:
    from ...model.statements import Pass

    return isinstance(statement, Pass)
