"""Sizes that are handed on in a tensor, as TorchScript once asked for, are handed on in a list; on
syntax, before facts are gathered.

    def fused(a, b, n_channels):                          acts = fused(x, g, [self.channels])
        n = n_channels[0]                           →
        return torch.tanh(a[:, :n]) * b[:, n:]
    …
    acts = fused(x, g, torch.IntTensor([self.channels]))

An element of a tensor is no size under jax.jit, whatever it was made of. Tensors of one size that
only say how far to pad are numbers:

    d = torch.tensor([y.size(2) - x.size(2)])             d = y.size(2) - x.size(2)
    x = F.pad(x, [d // 2, d - d // 2])             →      x = F.pad(x, [d // 2, d - d // 2])
"""

from collections import Counter
from typing import Any

from ..facts.memory.indices import number
from ..model.expressions import Call, Comprehension, Display, Name, Slice, Starred, Subscript
from ..model.names import bound_once, dotted, everywhere, is_target
from ..model.node import Expression, Node
from ..model.operators import Binary, Unary
from ..model.program import Function, Scope
from ..model.project import Project
from ..model.statements import Assign
from .pass_ import Changes, Pass

_TENSORS = frozenset({"torch.IntTensor", "torch.LongTensor", "torch.tensor"})
_PADDING = frozenset({"torch.nn.functional.pad", "torch.constant_pad_nd"})
_COUNTING = frozenset({"+", "-", "*", "//", "%"})
_Taking = dict[Function, frozenset[str]]  # the parameters that hold sizes


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The lists of a project."""
    taking: _Taking = {}
    for function in project.functions():
        if project.owner(function) is None:
            named = (p.name for p in project.parameters(function))
            held = frozenset(name for name in named if _holds_sizes(function, name))
            if held:
                taking[function] = held
    scopes = [scope for file in project.ordered for scope in file.scopes()]
    numbers = [_as_numbers(project, scope) for scope in scopes if isinstance(scope, Function)]
    return [*numbers, *(_in_scope(project, scope, taking) for scope in scopes if taking)]


def _holds_sizes(function: Function, name: str) -> bool:
    """Whether a function takes nothing but elements of a parameter, and those only to slice by."""
    subscripts = [s for s in everywhere(function, Subscript) if dotted(s.object) == name]
    elements = [s for s in subscripts if (at := number(s.index)) is not None and at >= 0]
    reads = [n for n in everywhere(function, Name) if n.id == name]
    if not elements or len(reads) != len(elements):
        return False
    named = {}
    for assign in everywhere(function, Assign):
        target = assign.targets[0]
        if assign.expression in elements and isinstance(target, Name):
            named[target.id] = assign
    bounds = {part for s in everywhere(function, Slice) for part in s.walk()}
    uses = [n for n in everywhere(function, Name) if n.id in named and not is_target(n)]
    kept = {assign.expression for assign in named.values()}
    sliced = all(n in bounds for n in uses) and all(e in bounds or e in kept for e in elements)
    return sliced and named.keys() <= bound_once(function) and (bool(uses) or not named)


def _in_scope(project: Project, scope: Scope, taking: _Taking) -> Changes:
    """Lists in the place of the tensors of sizes that a scope hands on."""
    changes = Changes(scope)
    handed: Counter[str] = Counter()  # how often a local is handed on as sizes
    for call in scope.nodes(Call):
        for value in _handed(project, scope, call, taking):
            if isinstance(value, Name):
                handed[value.id] += 1
            elif _is_list(project, scope, value):
                changes.replace(value, _list)
    for name, count in handed.items():
        found = [a for a in scope.nodes(Assign) if [dotted(t) for t in a.targets] == [name]]
        reads = [n for n in everywhere(scope, Name) if n.id == name]
        made = found[0].expression if len(found) == 1 else None
        if made is not None and len(reads) == count + 1 and _is_list(project, scope, made):
            changes.replace(made, _list)
    return changes


def _handed(project: Project, scope: Scope, call: Call, taking: _Taking) -> list[Expression]:
    """What a call gives for parameters that hold sizes."""
    file = scope.file or call.file
    target = project.resolve(file, dotted(call.function) or "?") if file is not None else None
    if not isinstance(target, Function) or target not in taking:
        return []
    if any(isinstance(a, Starred) for a in call.arguments):
        return []
    names = iter([p.name for p in project.parameters(target) if p.kind != "="])
    pairs = [(w or next(names, ""), a) for w, a in zip(call.keywords, call.arguments)]
    return [argument for name, argument in pairs if name in taking[target]]


def _is_list(project: Project, scope: Scope, node: Expression) -> bool:
    """Whether it makes a tensor of a list: `torch.IntTensor([n])`."""
    file = scope.file or node.file
    if file is None or not isinstance(node, Call) or node.keywords != [None]:
        return False
    made = node.arguments[0]
    listed = isinstance(made, Display) and made.kind == "list"
    return listed and project.resolve(file, dotted(node.function) or "?") in _TENSORS


def _list(node: Node) -> Node:
    assert isinstance(node, Call)
    return node.arguments[0]


# --- numbers --------------------------------------------------------------------------------------


def _as_numbers(project: Project, function: Function) -> Changes:
    """Numbers in the place of the tensors of one size that only say how far a function pads."""
    changes, once = Changes(function), bound_once(function)
    made = {
        target.id: assign
        for assign in function.nodes(Assign)
        if isinstance(target := assign.targets[0], Name) and target.id in once
        if len(assign.targets) == 1 and not assign.operator
    }
    boxed = {n for n, a in made.items() if _is_boxed(project, function, a.expression)}
    if not boxed:
        return changes
    reads = [n for n in everywhere(function, Name) if not is_target(n)]
    unread = {n: [r for r in reads if r.id == n] for n in made}
    kept = set(made)
    while wrong := {n for n in kept if not _pads(project, function, unread[n], kept)}:
        kept -= wrong
    for name in sorted(boxed & kept):
        call = made[name].expression
        assert isinstance(call, Call)
        changes.replace(call, _element)
    return changes


def _is_boxed(project: Project, function: Function, node: Node | None) -> bool:
    """Whether it makes a tensor of one size: `torch.tensor([n])`, `torch.tensor(n)`."""
    file = function.file
    if file is None or not isinstance(node, Call) or node.keywords != [None]:
        return False
    made = _element(node)
    one = not isinstance(made, (Display, Starred, Comprehension))
    return one and project.resolve(file, dotted(node.function) or "?") == "torch.tensor"


def _element(call: Call) -> Expression:
    made = call.arguments[0]
    return made.elements[0] if isinstance(made, Display) and len(made.elements) == 1 else made


def _pads(project: Project, function: Function, reads: list[Name], kept: set[str]) -> bool:
    """Whether all that a name is read for is how far to pad, by way of these names."""
    return bool(reads) and all(_is_width(project, function, read, kept) for read in reads)


def _is_width(project: Project, function: Function, node: Expression, kept: set[str]) -> bool:
    while isinstance(node.parent, (Binary, Unary)) and node.parent.operator in _COUNTING:
        node = node.parent
    around = node.parent
    if isinstance(around, Assign) and around.expression is node:
        return dotted(around.targets[0]) in kept
    call = around.parent if isinstance(around, Display) else None
    if not isinstance(call, Call) or function.file is None:
        return False
    name = project.resolve(function.file, dotted(call.function) or "?")
    return name in _PADDING and around is not call.arguments[0]


PASS = Pass("boxed_sizes", (), run, of_project=True)
