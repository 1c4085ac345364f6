"""A class of modules: its bases, its constructor with `init`, its methods."""

from __future__ import annotations

from ...model.effects import Support
from ...model.names import dotted
from ...model.program import Class, Function
from .constructor import Constructor
from .functions import Running
from .plan import Plan
from .report import Reports

PLAIN = ("torch.nn.Module", "torch.nn.modules.module.Module", "transpile.layer.Module")


class ClassWriter:
    """Writes classes and functions."""

    def __init__(self, plan: Plan, reports: Reports) -> None:
        self.plan, self.reports = plan, reports

    def write(self, cls: Class) -> None:
        methods = list(self.plan.modules.home(cls).methods(cls).values())
        for method in methods:
            if method in self.plan.conventions.functions:
                with self.reports.faults.within(method):
                    self._method(method, cls)
        self._bases(cls)

    def function(self, function: Function, cls: Class | None = None) -> None:
        """One that is no method of a module."""
        if function not in self.plan.conventions.functions:
            return
        for inner in function.nodes(Function):
            self.function(inner, cls)
        with self.reports.faults.within(function):
            if self.plan.conventions.is_builder(function):
                Constructor(cls, self.plan, self.reports).write(function)
            else:
                Running(function, self.plan, self.reports).write()

    def _method(self, method: Function, cls: Class) -> None:
        for inner in method.nodes(Function):
            self.function(inner, cls)
        building = self.plan.conventions.is_builder(method)
        if building or method in self.plan.conventions.initialisers:
            Constructor(cls, self.plan, self.reports).write(method)
        else:
            Running(method, self.plan, self.reports).write()

    def _bases(self, cls: Class) -> None:
        home, file = self.plan.modules.home(cls), cls.file
        for base in list(cls.bases):
            name = dotted(base)
            found = home.resolve(file, name) if file is not None and name else None
            if found in PLAIN:
                base.replace(Support("Module"))
            elif isinstance(found, str) and found.startswith("torch.nn."):
                base.replace(Support(found.rpartition(".")[2]))
