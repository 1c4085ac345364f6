"""Layers that the functional output has no form for.

register_parametrization(self.fc, "weight", Norm())    a module computes a weight
nn.Transformer(8, 2)                                   goes over its own arrays: they are params
kinds = [nn.LazyLinear]                                so does one that its first input completes
"""

import functools
from collections.abc import Iterator

from ...facts.modules import Modules
from ...model.effects import New, Support, Unconverted, Walk
from ...model.expressions import Call
from ...model.names import dotted
from ...model.positions import source_of
from ...model.program import Class
from ...model.project import Project
from ...model.statements import Assign, Block, ExpressionStatement
from ..reports import Reports

_UNWRITTEN = frozenset({"Parametrized", "ParametrizationList"})
_CALL = "parametrize.register_parametrization(…)"  # of which a declaration was made
_COMPUTED = (
    "a weight that a module of yours computes has no form in this output: compute it where the "
    "layer is called"
)
_WALKS = frozenset({"modules", "named_parameters", "named_buffers", "parameters", "buffers"})
_GOES_OVER = (
    "{}, which goes over its own arrays, has no form in this output: build its parts one by one"
)
_LAZY = "its first input makes its arrays: give the layer its size"


def report_unwritten(project: Project, modules: Modules, reports: Reports) -> None:
    """Report the layers that cannot be built, and let their statements raise."""
    why = functools.cache(lambda name: _why(name, modules))
    for scope in [s for file in project.ordered for s in file.scopes()]:
        for word in list(scope.nodes(Support)):
            new = word.parent
            if isinstance(new, New) and new.function is word:
                if (reason := why(word.name)) is not None:
                    _refuse(new, reason, reports)
            elif word.name not in _UNWRITTEN and not _is_asked(word):
                if (reason := why(word.name)) is not None:
                    reports.unconverted("unsupported", word, reason)


def _why(name: str, modules: Modules) -> str | None:
    """Why a name of the support file is of a layer that cannot be written."""
    if name in _UNWRITTEN:
        return _COMPUTED
    cls = modules.library.named(name)
    if cls is None or not any(_goes_over(one, modules) for one in _lineage(cls, modules)):
        return None
    return _LAZY if name.startswith("Lazy") else _GOES_OVER.format(name)


def _lineage(cls: Class, modules: Modules) -> Iterator[Class]:
    return (one for one in modules.lineage(cls) if modules.is_library(one))


def _goes_over(cls: Class, modules: Modules) -> bool:
    """Whether a layer asks itself for its modules or arrays: `for module in self.modules():`."""
    methods = modules.library.project.methods(cls).values()
    calls = {
        dotted(call.function)
        for method in methods
        for call in method.nodes(Call)
        if not isinstance(call.parent, Walk)  # each param begins as that says
    }
    return not calls.isdisjoint({f"self.{name}" for name in _WALKS})


def _is_asked(word: Support) -> bool:
    """Whether only the class is asked for: `isinstance(m, nn.LazyLinear)`."""
    around = word.parent
    while around is not None and not isinstance(around, Call):
        around = around.parent
    return isinstance(around, Call) and dotted(around.function) in ("isinstance", "issubclass")


def _refuse(new: New, why: str, reports: Reports) -> None:
    reports.report("unsupported", new, why)
    raising = Unconverted("unsupported", source_of(new) or _CALL)
    statement = new.parent
    if isinstance(statement, Assign) and isinstance(statement.parent, Block):
        statement.parent.substitute(statement, [ExpressionStatement(raising)])
    else:
        new.replace(raising)
