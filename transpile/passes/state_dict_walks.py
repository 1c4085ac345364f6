"""A walk over what a module saves that begins its params goes over those, and so does one over the
lists that a recurrent layer of torch's keeps of them; a walk that is taken apart has no turns.

for key in self.state_dict():                      for key, param in self.named_parameters():
    if key.split(".")[-1] == "weight":                 if key.split(".")[-1] == "weight":
        zeros_(self.state_dict()[key])         →           zeros_(param.data)

for names in self.lstm._all_weights:               for name, bias in self.lstm.named_parameters():
    for name in filter(lambda n: "bias" in n, names):  if "bias" in name:
        bias = getattr(self.lstm, name)        →           bias.data.fill_(1.0)
        bias.data.fill_(1.0)

self.c, self.bn = Conv2d(3, 8), BatchNorm2d(8)
conv, bn = self._modules.values()              →   conv, bn = self.c, self.bn

The names of a state have to say that no buffer is meant: what is saved are buffers, too.
"""

import re
from collections.abc import Sequence
from typing import Any

from ..model.copy import rebuilt
from ..model.expressions import Attribute, Call, Constant, Display, Lambda, Name, Starred, Subscript
from ..model.fresh_names import Names
from ..model.names import below, dotted, everywhere, is_own, is_target, text
from ..model.node import Expression, Node
from ..model.operators import Compare, conjuncts
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign, Block, ExpressionStatement, For, If
from ..source.lower_ast import expression
from .pass_ import Changes, Pass

_LISTS = frozenset({"_all_weights", "all_weights"})
_LAST = r"{0}\.r?split\(['\"]\.['\"](, 1)?\)\[-1\]"
_OF_TORCH = frozenset({"running_mean", "running_var", "num_batches_tracked"})


def run(project: Project, facts: Any = None) -> list[Changes]:
    """Let the walks of a project go over params."""
    found, buffers = list[Changes](), _buffers(project)
    stores = (t for file in project.ordered for a in everywhere(file, Assign) for t in a.targets)
    lists = _LISTS - {t.name for t in stores if isinstance(t, Attribute)}
    for function in project.functions():
        changes = Changes(function)
        for assign in function.nodes(Assign):
            _take_apart(changes, function, assign, project)
        for loop in function.nodes(For):
            if buffers is not None:
                _over_params(changes, function, loop, buffers)
            if isinstance(loop.iterable, Attribute) and loop.iterable.name in lists:
                _over_lists(changes, function, loop, loop.iterable)
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


def _take_apart(changes: Changes, function: Function, assign: Assign, project: Project) -> None:
    """Name the layers of `conv, bn = self.children()`: as many as the constructor certainly sets
    are all that there are, or torch could not take them apart."""
    walk, target, cls = assign.expression, assign.targets[0], function.owner
    if not isinstance(cls, Class) or not isinstance(target, Display) or not function.receiver:
        return
    if not isinstance(walk, Call) or dotted(walk.function) != f"{function.receiver}.children":
        return
    if any("__init__" in project.methods(below) for below in project.descendants(cls)):
        return  # which may set them in an order of its own
    names = _certain_layers(project, cls)
    if len(names) == len(target.elements) and not any(
        isinstance(element, Starred) for element in target.elements
    ):
        layers: list[Expression] = [Attribute(Name(function.receiver), n) for n in names]
        changes.replace(walk, Display("tuple", layers))


def _certain_layers(project: Project, cls: Class) -> list[str]:
    """The names of the layers of torch's, and of the user's, that a constructor itself sets."""
    init = project.methods(cls).get("__init__")
    found: dict[str, None] = {}
    made: set[str] = set()  # the names that stand for a layer
    if init is None:
        return []
    for statement in init.body.body:
        if isinstance(statement, Assign):
            is_layer = _is_layer(project, cls, statement.expression, made)
            for target in statement.targets:
                if isinstance(target, Name):
                    (made.add if is_layer else made.discard)(target.id)
                elif is_layer and is_own(target, init.receiver):
                    found[target.name] = None
        elif isinstance(statement, ExpressionStatement):
            call = statement.expression
            if isinstance(call, Call) and dotted(call.function) == f"{init.receiver}.add_module":
                name, layer = call.arguments if len(call.arguments) == 2 else (None, None)
                if isinstance(name, Constant) and _is_layer(project, cls, layer, made):
                    found[str(name.constant)] = None
    return list(found) if all(map(str.isidentifier, found)) else []


def _is_layer(project: Project, cls: Class, made: Expression | None, names: set[str]) -> bool:
    if isinstance(made, Name):
        return made.id in names
    name = dotted(made.function) if isinstance(made, Call) else None
    meant = project.resolve(cls.file, name) if name is not None and cls.file is not None else None
    if isinstance(meant, Class):
        return project.is_module(meant)
    return (
        isinstance(meant, str)
        and re.fullmatch(r"torch\.nn\.(?!Parameter$|Buffer$)[A-Z]\w+", meant) is not None
    )


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


def _over_lists(changes: Changes, function: Function, outer: For, listed: Attribute) -> None:
    """Let the loops over names, or weights, of a recurrent layer be one over its params."""
    inner, module = outer.body.body[0], text(listed.object)
    if not isinstance(inner, For) or len(outer.body.body) > 1 or outer.orelse or inner.orelse:
        return
    over: Expression = inner.iterable
    test: Expression | None = None
    if isinstance(over, Call) and dotted(over.function) == "filter" and len(over.arguments) == 2:
        test, over = over.arguments
    if dotted(over) != getattr(outer.target, "id", "") or not isinstance(inner.target, Name):
        return
    if listed.name == "all_weights" and test is None:
        changes.replace(inner.iterable, Call(expression(f"{module}.parameters")))
        changes.change(outer, For.unwrap)
    elif listed.name == "_all_weights" and (test is None or isinstance(test, Lambda)):
        key = inner.target.id
        asked = [c for c in below(inner.body, Call) if text(c) == f"getattr({module}, {key})"]
        param = _looked_up(changes, function, inner, asked)
        changes.replace(inner.target, lambda _: Display("tuple", [Name(key), Name(param)]))
        changes.replace(inner.iterable, Call(expression(f"{module}.named_parameters")))
        if test is not None:
            changes.change(inner, lambda loop: _guard(loop, test, key))
        changes.change(outer, For.unwrap)


def _looked_up(changes: Changes, function: Function, loop: For, asked: Sequence[Node]) -> str:
    """A name for the param of a turn in the place of what looks it up: `bias = getattr(…)`."""
    assigns = [c.parent for c in asked if isinstance(c.parent, Assign)]
    names = {dotted(t) for a in assigns for t in a.targets}
    inside = [n for n in below(loop.body, Name) if n.id in names]
    whole = [n for n in below(function.body, Name) if n.id in names]
    if inside != whole or sum(map(is_target, whole)) != len(assigns):
        assigns, inside = [], []
    param = names.pop() if len(names) == 1 and assigns else None
    param = param or Names(function).fresh("param")
    for assign in assigns:
        changes.remove(assign)
    for node in [c for c in asked if c.parent not in assigns] + [
        n for n in inside if n.id != param
    ]:
        changes.replace(node, Name(param))
    return param


def _guard(loop: For, test: Lambda, key: str) -> None:
    """`for name in filter(lambda n: "bias" in n, names)` asks in its body."""
    first, moved = test.parameters[0].name, list(loop.body.body)
    for statement in moved:
        loop.body.take(statement)
    asked = rebuilt(
        test.body, lambda n: Name(key) if isinstance(n, Name) and n.id == first else None
    )
    loop.body.append([If(asked, Block(moved))])


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


PASS = Pass("state_dict_walks", (), run, of_project=True)
