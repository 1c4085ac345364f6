"""Models that a script builds and runs: a file as `__main__`, or a plain function of its own.

    net = Net(8)
    y = net(x)          in training
    net.eval()
    y = net(x)          in evaluation

What a model holds begins below the line that builds it, and those that change it then, where its
calls find it. The lines that set its mode stand in that block too. A name that functions inside
read, or that is bound elsewhere again, is left alone, and what is changed once it has run; in a
function, so is a model that it hands on, gives back or trains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..facts.stages import BUILDING, TRACED, Stages
from ..facts.values.attribute_names import PARAMETERS
from ..facts.values.lattice import Function as FunctionValue
from ..facts.values.lattice import Module
from ..model.classes import MODES, mode_set
from ..model.control_flow import Cond, Loop, Repeat, Scan
from ..model.effects import New
from ..model.expressions import Attribute, Call, Name
from ..model.names import calls_of, dotted, is_name, is_target, own_names
from ..model.node import Expression, Node, Statement
from ..model.program import Class, File, Function, within
from ..model.project import Project
from ..model.statements import Assign, Block, ExpressionStatement
from .import_time import outside


@dataclass(eq=False)
class ScriptModel:
    """One model, from the line that builds it to the next one that binds its name."""

    name: str
    assign: Assign  # `net = Net(8)`
    calls: list[tuple[Call, bool]] = field(default_factory=list)  # with the mode that they are in
    modes: list[tuple[Statement, bool]] = field(default_factory=list)  # `net.eval()`
    walks: list[Call] = field(default_factory=list)  # `net.parameters()`
    others: list[Statement] = field(default_factory=list)  # which may change it: `net.apply(fill)`

    @property
    def made(self) -> Statement:
        """The statement from which on it is as it is run."""
        return self.others[-1] if self.others else self.assign

    @property
    def block(self) -> Block:
        block = self.assign.parent
        assert isinstance(block, Block)
        return block


def spell_out_modes(project: Project) -> None:
    """`net = Net(8).eval()` as two lines: outputs whose modules have a mode set it in place."""
    for file in project.ordered:
        for assign in [n for n in file.walk() if isinstance(n, Assign) and not n.operator]:
            call, target = assign.expression, assign.targets[0]
            function = call.function if isinstance(call, Call) else None
            if not isinstance(call, Call) or not isinstance(function, Attribute):
                continue
            made, block = function.object, assign.parent
            named = len(assign.targets) == 1 and isinstance(target, Name)
            if not named or function.name not in MODES or not isinstance(block, Block):
                continue
            if isinstance(made, Call) and isinstance(made.value, Module):
                assert isinstance(target, Name)
                place = Name(target.id)
                place.value = made.value
                made.replace(place)
                call.replace(made)
                block.insert_after(assign, [ExpressionStatement(call)])


def script_functions(
    functions: Iterable[Function], stages: Stages
) -> dict[Function, list[ScriptModel]]:
    """The plain functions that build models and run them, with these."""
    own = {f: models_of(f) for f in functions if isinstance(f.scope, File)}
    return {f: models for f, models in own.items() if models and _is_script(f, stages)}


def _is_script(function: Function, stages: Stages) -> bool:
    """Whether a function is no part of a model, and trains none."""
    if function.nodes(Cond, Loop, Repeat, Scan) or any(map(_trains, function.nodes(Call))):
        return False
    return stages.stage(function) not in (TRACED, BUILDING)


def models_of(scope: File | Function) -> list[ScriptModel]:
    """The models of a file, or of a function, in the order of its text."""
    nodes = outside(scope) if isinstance(scope, File) else list(within([scope.body]))
    made = [n for n in nodes if isinstance(n, Assign) and _builds(n)]
    if not made:
        return []
    names = dict.fromkeys(a.targets[0].id for a in made)  # type: ignore[attr-defined]
    uses = [n for n in scope.body.walk() if isinstance(n, Name) and n.id in names]
    read = {n.id for n in uses if _is_read_inside(n, scope)}
    found: list[ScriptModel] = []
    for name in [n for n in names if n not in read]:
        own = [a for a in made if a.targets[0].id == name]  # type: ignore[attr-defined]
        reads = [n for n in nodes if isinstance(n, Name) and n.id == name]
        models = list(_of_name(name, own, reads))
        if isinstance(scope, File) or not any(model.others for model in models):
            found += models
    return sorted(found, key=lambda model: nodes.index(model.assign))


def _trains(call: Call) -> bool:
    return isinstance(call.function, Attribute) and call.function.name == "backward"


def _is_read_inside(name: Name, scope: File | Function) -> bool:
    """Whether a function, or a class, inside reads a name of a scope."""
    outer = {scope, *scope.ancestors()}
    around = [n for n in name.ancestors() if isinstance(n, (Function, Class)) and n not in outer]
    own = [f for f in around if isinstance(f, Function)]
    return bool(around) and not any(name.id in own_names(f) for f in own)


def _builds(assign: Assign) -> bool:
    """`net = Net(8)`, `net = resnet50()`"""
    if len(assign.targets) != 1 or not isinstance(assign.targets[0], Name) or assign.operator:
        return False
    made = assign.expression
    if not isinstance(made, Call) or not isinstance(assign.parent, Block):
        return False
    by = made.function.value
    plain = isinstance(by, FunctionValue) and by.owner is None
    return isinstance(made.value, Module) and (isinstance(made, New) or plain)


def _of_name(name: str, made: list[Assign], uses: list[Name]) -> Iterator[ScriptModel]:
    """The models that have a name one after the other; none where it is read out of order."""
    blocks = {a.parent for a in made}
    bound = sum(is_target(use) for use in uses)
    if len(blocks) != 1 or bound != len(made):
        return
    block = made[0].parent
    assert isinstance(block, Block)
    found, known, reading = list[ScriptModel](), {*uses}, 0
    for statement in block.body:
        if statement in made:
            assert isinstance(statement, Assign)
            found.append(ScriptModel(name, statement))
            mode = True
        inside = [n for n in statement.walk() if isinstance(n, Name) and n in known]
        reading += len(inside)
        if found and statement not in made:
            if (set_to := _mode(statement, name)) is not None:
                found[-1].modes.append((statement, set_to))
                mode = set_to
            elif not _uses(found[-1], statement, inside, mode):
                return
    if reading == len(uses):
        yield from found


def _mode(statement: Statement, name: str) -> bool | None:
    """The mode that a statement sets: `net.eval()`, `net.train(False)`."""
    call = statement.expression if isinstance(statement, ExpressionStatement) else None
    function = call.function if isinstance(call, Call) else None
    if not isinstance(function, Attribute) or not is_name(function.object, name):
        return None
    assert isinstance(call, Call)
    own = call.arguments and function.name == "eval"  # of the user's, which torch's has none of
    return None if own else mode_set(call)


def _uses(model: ScriptModel, statement: Statement, names: list[Name], mode: bool) -> bool:
    """Note what one statement does with a model; False where it sets the mode itself, or changes
    what has run."""
    changed = False
    for name in names:
        call = _called(name)
        function = call.function if call is not None else None
        word = function.name if isinstance(function, Attribute) else ""
        if word in MODES:
            return False
        if call is not None and word in PARAMETERS:
            model.walks.append(call)
        elif call is not None and _runs(call) and (not word or statement is not call.parent):
            model.calls.append((call, mode))  # a method whose result nobody wants may change it
        else:
            changed = changed or not _is_looked_at(name)
    if changed:
        model.others.append(statement)
    return not changed or not (model.calls or model.walks)


def _runs(call: Call) -> bool:
    """Whether a call is of a model, or of a method of the user's."""
    return isinstance(call.function.value, (Module, FunctionValue))


def _is_looked_at(name: Name) -> bool:
    """`print(net)`, `net.fc.in_features`"""
    node: Expression = name
    while isinstance(node.parent, Attribute) and node.parent.object is node:
        node = node.parent
    around = node.parent
    if isinstance(around, Call):
        handed = around.function is not node and not isinstance(node.value, Module)
        return handed or dotted(around.function) == "print"
    return node is not name and not is_target(node)


def _called(name: Name) -> Call | None:
    """`net(x)`, `net.encode(x)`"""
    function: Node = name
    if isinstance(name.parent, Attribute) and name.parent.object is name:
        function = name.parent
    return next(iter(calls_of([function])), None)
