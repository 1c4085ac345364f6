"""What only reports: submodules that torch doesn't register, and that are params like others here.

self.teacher = [Net()]     self.nets["a"] = Net()     self.__dict__["teacher"] = Net()

torch's optimizers, checkpoints and modes don't reach them; those in a list of their params do, by
other names: self.params = nn.ParameterList(net.parameters())
"""

from collections.abc import Iterator
from typing import Any

from ..facts.escaping_lists import hands_on
from ..facts.modules import SUBMODULE, Modules
from ..facts.values.lattice import Mapping, Module, Sequence
from ..model.effects import PARAM, Declare, New
from ..model.expressions import Attribute, Call, Comprehension, Dictionary, Display, Name, Subscript
from ..model.names import dotted
from ..model.node import Expression, Node
from ..model.operators import Conditional
from ..model.positions import source_of
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign
from .pass_ import Changes, Pass

_GROWING = frozenset({"append", "extend", "insert"})
_WHY = (
    "torch doesn't register this module, and so neither trains nor saves it with the others, nor "
    "sets its mode: leave it out of what the optimizer updates, or hold it in a ModuleList"
)
_SECOND = (
    "these params are those of modules, under other names: hold the modules in a ModuleList "
    "instead; as they stand here, each is there twice"
)


def run(project: Project, facts: Any) -> list[Changes]:
    """The reports for all constructors."""
    found, modules = [], facts.modules
    for cls in filter(modules.is_module, project.classes()):
        for method in project.methods(cls).values():
            if method in facts.stages.building and method.parameters:
                found.append(_of_method(method, modules))
    return found


def _of_method(method: Function, modules: Modules) -> Changes:
    changes, me = Changes(method), method.receiver
    kept = _kept(method, me)
    for assign in method.nodes(Assign, Declare):
        target, value = assign.targets[0], assign.expression
        if isinstance(assign, Declare):
            past = source_of(assign).startswith((f"{me}.__dict__[", "object.__setattr__("))
            held = [value] if past and assign.kind in (SUBMODULE, PARAM) else []
        else:
            place = target.object if isinstance(target, Subscript) else target
            held = list(_new(value)) if dotted(place) in kept else []
        _report(changes, held, modules)
    for call in method.nodes(Call):
        function = call.function
        if isinstance(function, Attribute) and function.name in _GROWING:
            if dotted(function.object) in kept:
                _report(changes, [n for a in call.arguments for n in _new(a)], modules)
    for new in method.nodes(New):
        if getattr(new.function, "name", "") == "ParameterList" and _are_held(new, method):
            changes.report("tied-weight", new, _SECOND)
    return changes


def _are_held(new: New, method: Function) -> bool:
    """Whether a list of params is given those that a module has: at once, or by a list that is
    given them: `params.extend(net.parameters())`."""
    given = new.arguments[0] if new.arguments else None
    if given is None or any(map(_walks, given.walk())):
        return given is not None
    path, around = dotted(given), method.nearest(Class) or method
    return path is not None and any(
        _grows(n, path) and any(map(_walks, n.walk())) for n in around.walk()
    )


def _grows(node: Node, path: str) -> bool:
    """`params.extend(…)`, `params += …`, `params = …`"""
    if isinstance(node, Assign):
        return path in map(dotted, node.targets)
    function = node.function if isinstance(node, Call) else None
    grows = isinstance(function, Attribute) and function.name in _GROWING
    return grows and dotted(function.object) == path  # type: ignore[union-attr]


def _walks(node: Node) -> bool:
    return isinstance(node, Call) and getattr(node.function, "name", "") == "parameters"


def _report(changes: Changes, held: list[Any], modules: Modules) -> None:
    found = next((v for v in held if _has_params(v, modules, set())), None)
    if found is not None:
        changes.report("frozen-param", found, _WHY)


def _kept(method: Function, me: str) -> set[str]:
    """The lists and dicts on self, and local names of such, by which a method registers no module
    that it makes; not `self.blocks` where it is a ModuleList in the end."""
    found = set[str]()
    registered = {d.name for d in method.nodes(Declare) if d.kind == SUBMODULE}
    for assign in method.nodes(Assign):
        target, value = assign.targets[0], assign.expression
        if assign.operator or value is None:
            continue  # what it is added to may be a ModuleList
        if isinstance(target, Attribute) and dotted(target.object) == me:
            if target.name not in registered and isinstance(value.value, (Sequence, Mapping)):
                names = {f"{me}.{target.name}", *([value.id] if isinstance(value, Name) else [])}
                found |= set() if any(hands_on(method, name) for name in names) else names
    return found


def _new(value: Expression | None) -> Iterator[New]:
    """The modules that are made in a value, but those that others hold."""
    if isinstance(value, New):
        yield value
    elif isinstance(value, (Display, Dictionary, Comprehension, Conditional)):
        for part in value.children():
            if isinstance(part, Expression):
                yield from _new(part)


def _has_params(value: Expression | None, modules: Modules, seen: set[Class]) -> bool:
    """Whether a module, or a part of it, is known to have params."""
    held = value.value if value is not None else None
    if isinstance(value, Name) or not isinstance(held, Module):
        return False
    for cls in set(modules.classes_of(held.refs)) - seen:
        seen.add(cls)
        if any(array.kind == PARAM for array in modules.arrays(cls).values()):
            return True
        own = [*(value.arguments if isinstance(value, Call) else ())]
        parts = [v for child in modules.children(cls).values() for v in child.values]
        if any(_has_params(v, modules, seen) for v in (*own, *parts)):
            return True
    return False


PASS = Pass("unregistered", ("values", "stages"), run, of_project=True)
