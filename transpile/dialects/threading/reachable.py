"""The functions of a project, and those of torch's layers that it comes to."""

from collections.abc import Iterator

from ...facts.modules import Modules
from ...facts.values.class_values import named_classes
from ...model.effects import New, Support
from ...model.expressions import Call
from ...model.names import everywhere
from ...model.program import Class, Function
from ...model.project import Project
from ...model.rulebook import Rulebook
from ..support.definitions import Rules
from ..support.support_file import gather
from .call_targets import Targets
from .threaded import calls_of


def reached(
    project: Project, modules: Modules, targets: Targets, kept: set[str], rulebook: Rulebook
) -> Iterator[Function]:
    """All of them, each once; `kept`: names of the support file that stay, whoever asks."""
    todo = [*project.functions(), *_of_named(project, modules, kept, rulebook)]
    seen: dict[Function, None] = {}
    while todo:
        function = todo.pop()
        if function in seen:
            continue
        seen[function] = None
        todo += function.nodes(Function)
        if function.owner is not None:
            todo += _methods(modules, function.owner)
        for call in calls_of(function):
            todo += targets.of(call) or []
            for cls in _built(modules, call):
                todo += _methods(modules, cls)
    return iter(seen)


def _of_named(
    project: Project, modules: Modules, kept: set[str], rulebook: Rulebook
) -> Iterator[Function]:
    """The methods of the layers that are named and not built, `def f(act=nn.Tanh)`, of those that
    are kept, and that a rule names: that of `getattr(nn, kind)` has a list of them."""
    named = kept.union(n.name for file in project.ordered for n in everywhere(file, Support))
    for entry in gather(named, [Rules(rulebook)]).values():
        named |= entry.uses
    for cls in map(modules.library.definition, sorted(named)):
        if isinstance(cls, Class):
            yield from _methods(modules, cls)


def _built(modules: Modules, call: Call) -> Iterator[Class]:
    value = call.function.value
    for ref in named_classes(value) if isinstance(call, New) and value is not None else ():
        cls = modules.class_of(ref)
        if cls is not None:
            yield cls


def _methods(modules: Modules, cls: Class) -> Iterator[Function]:
    for one in modules.lineage(cls):
        yield from modules.home(one).methods(one).values()
