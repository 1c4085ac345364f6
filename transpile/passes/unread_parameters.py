"""A parameter of devices goes that conversion has left unread, with what the calls give for it.

def grid(n, device):                              def grid(n):
    return torch.arange(n, device=device)    →        return jnp.arange(n)

grid(8, x.device)                                 grid(8)

All calls have to be known (facts/references.py). A module is made as in torch, and what the user
left unread stays, as does what something else than a place was read for: a seed.
"""

import ast
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from ..facts.calls import Calls, Target
from ..facts.references import References
from ..facts.values.lattice import Static
from ..model.effects import Unconverted
from ..model.expressions import Call, Name, Starred
from ..model.functions import can_leave_out, leave_out
from ..model.names import everywhere
from ..model.node import Expression
from ..model.operators import only_chooses
from ..model.program import Function, Parameter
from ..model.project import Project
from .pass_ import Changes, Pass

_HEADER = re.compile(r"^[ \t]*((?:async\s+)?def\s)", re.M)
_BY_NAME = frozenset({"locals", "vars", "exec", "eval"})  # what may read any name


class Handed(NamedTuple):
    """What a call gives for a parameter."""

    call: Call
    argument: Expression


Found = dict[tuple[Function, Parameter], list[Handed]]


def run(project: Project, facts: Any) -> list[Changes]:
    """Take them out of all functions of a project, and out of all calls."""
    changes = {file: Changes(file) for file in project.ordered}
    for (function, parameter), handed in _unread(project, facts.calls).items():
        assert function.file is not None
        edits = changes[function.file]
        edits.change(function, partial(_leave_out, project, parameter))
        for call, argument in handed:
            assert call.file is not None
            changes[call.file].change(call, partial(_take_back, argument))
    return [edits for edits in changes.values() if edits]


def _leave_out(project: Project, parameter: Parameter, function: Function) -> None:
    leave_out(function, parameter)
    project.add_function(function, project.owner(function))


def _take_back(argument: Expression, call: Call) -> None:
    call.remove(argument)


def _unread(project: Project, calls: Calls) -> Found:
    """The greatest set of them: what is read for another that goes is no read."""
    asked = {f: own for f in project.functions() if (own := [*_of_devices(f, calls)])}
    if not asked:
        return {}
    references, found = References(project), Found()
    for function, parameters in asked.items():
        sites = references.calls(function)
        for parameter in parameters if sites else ():
            handed = _handed(function, parameter, sites or [], calls)
            if handed is not None:
                found[function, parameter] = handed
    while True:
        going = {argument for handed in found.values() for _, argument in handed}
        read = [(f, p) for f, p in found if _is_read(f, p, going)]
        if not read:
            return found
        found = {known: handed for known, handed in found.items() if known not in read}


def _is_read(function: Function, parameter: Parameter, going: set[Expression]) -> bool:
    named = (n for n in everywhere(function, Name) if n.id == parameter.name)
    return any(going.isdisjoint([n, *n.ancestors()]) for n in named)


# --- of a function --------------------------------------------------------------------------------


def _of_devices(function: Function, calls: Calls) -> Iterator[Parameter]:
    """The parameters that stand for devices, and that can be left out of the text."""
    if any(p.kind == "*" for p in function.parameters) or function.file is None:
        return
    known = calls.values.parameters(function)
    own = function.parameters[1 if function.owner is not None else 0 :]
    plain = [p for p in own if p.kind in ("", "=") and can_leave_out(function, p)]
    if not plain or any(n.id in _BY_NAME for n in everywhere(function, Name)):
        return
    text = function.file.text[function.start : function.end]
    devices = {n for n, v in known.items() if isinstance(v, Static) and v.type == "device"}
    if "device" not in text and devices.isdisjoint(p.name for p in plain):
        return
    texts = [u.source for u in everywhere(function, Unconverted)]  # the user still has to see to it
    read, placing = _reads(text)
    for parameter in plain:
        placed = parameter.name in devices & read
        if (placed or parameter.name in placing) and not any(parameter.name in t for t in texts):
            yield parameter


def _reads(text: str) -> tuple[set[str], set[str]]:
    """The names that the text of a function reads, and those that it reads as `device=`."""
    header = _HEADER.search(text)  # decorators may stand before it
    try:
        nodes = list(ast.walk(ast.parse(text[header.start(1) :] if header is not None else "")))
    except SyntaxError:
        return set(), set()
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    words = (k.value for k in nodes if isinstance(k, ast.keyword) and k.arg == "device")
    return read, {value.id for value in words if isinstance(value, ast.Name)}


# --- of its calls ---------------------------------------------------------------------------------


def _handed(
    function: Function, parameter: Parameter, sites: list[Call], calls: Calls
) -> list[Handed] | None:
    """What calls give for a parameter; None where one does more than to name it."""
    found = []
    for call in sites:
        targets = calls.targets(call) or [Target(function)]
        if len(targets) > 1 or targets[0].function is not function:
            return None
        if any(isinstance(a, Starred) for a in call.arguments):
            return None
        given = [a for name, a in calls.arguments(call, targets[0]) if name == parameter.name]
        if not all(map(only_chooses, given)):
            return None
        found += [Handed(call, argument) for argument in given]
    return found


PASS = Pass("unread_parameters", ("values", "calls"), run, of_project=True)
