"""A walk over what a module saves that begins its params goes over those.

for key in self.state_dict():                      for key, param in self.named_parameters():
    if key.split(".")[-1] == "weight":                 if key.split(".")[-1] == "weight":
        zeros_(self.state_dict()[key])         →           zeros_(param.data)

Its names have to say that no buffer is meant: what is saved are buffers, too.
"""

import re
from typing import Any

from ..model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ..model.fresh import Names
from ..model.names import below, dotted, everywhere, text
from ..model.node import Expression
from ..model.operators import Compare, conjuncts
from ..model.program import Function
from ..model.project import Project
from ..model.statements import For, If
from ..source.lower_ast import expression
from .pass_ import Changes, Pass

_LAST = r"{0}\.r?split\(['\"]\.['\"](, 1)?\)\[-1\]"
_OF_TORCH = frozenset({"running_mean", "running_var", "num_batches_tracked"})


def run(project: Project, facts: Any = None) -> list[Changes]:
    """Let the walks of a project go over params."""
    found, buffers = list[Changes](), _buffers(project)
    for function in project.functions() if buffers is not None else ():
        changes = Changes(function)
        for loop in function.nodes(For):
            _over_params(changes, function, loop, buffers or set())
        if changes:
            found.append(changes)
    return found


def _buffers(project: Project) -> set[str] | None:
    """The names of all buffers; None where one is computed."""
    names = set(_OF_TORCH)
    for call in (call for file in project.ordered for call in everywhere(file, Call)):
        if isinstance(call.function, Attribute) and call.function.name == "register_buffer":
            name = call.keyword("name") or call.arguments[0] if call.arguments else None
            if not isinstance(name, Constant):
                return None
            names.add(str(name.constant))
    return names


def _over_params(changes: Changes, function: Function, loop: For, buffers: set[str]) -> None:
    saved, key = _saved(loop.iterable), loop.target
    if saved is None or not isinstance(key, Name) or loop.orelse is not None:
        return
    asked = [c for c in below(loop.body, Call) if _saved(c) is not None]
    entries = [call.parent for call in asked]
    if not entries or not all(
        isinstance(entry, Subscript)
        and dotted(entry.index) == key.id
        and _saved(entry.object) == saved
        and _is_param(entry, loop, key.id, buffers)
        for entry in entries
    ):
        return
    param = Names(function).fresh("param")
    for entry in (e for e in entries if e is not None):
        changes.replace(entry, Attribute(Name(param), "data"))
    changes.replace(loop.target, lambda key: Display("tuple", [Name(key.id), Name(param)]))
    changes.replace(loop.iterable, Call(expression(f"{saved}.named_parameters")))


def _saved(node: Expression) -> str | None:
    """The module of `m.state_dict()`, or of `m.state_dict().keys()`."""
    if not isinstance(node, Call) or node.arguments or not isinstance(node.function, Attribute):
        return None
    if node.function.name == "keys":
        return _saved(node.function.object)
    return dotted(node.function.object) if node.function.name == "state_dict" else None


def _is_param(entry: Expression, loop: For, key: str, buffers: set[str]) -> bool:
    """Whether an entry is one under a condition that no buffer's name meets."""
    inner: Any = entry
    while inner is not loop.body:
        around = inner.parent
        if isinstance(around, If) and inner is around.body:
            ends = filter(None, (_end(test, key) for test in conjuncts(around.test)))
            if any(not any(name.endswith(end) for name in buffers) for end in ends):
                return True
        inner = around
    return False


def _end(test: Expression, key: str) -> str | None:
    """What a name ends with where a test holds: `key.endswith("bias")`."""
    end: Expression | None = None
    if isinstance(test, Compare) and test.operators == ["=="]:
        if re.fullmatch(_LAST.format(re.escape(key)), text(test.operands[0])):
            end = test.operands[1]
    elif isinstance(test, Call) and dotted(test.function) == f"{key}.endswith":
        end = test.arguments[0]
    return end.constant if isinstance(end, Constant) and isinstance(end.constant, str) else None


PASS = Pass("saved_walks", (), run, of_project=True)
