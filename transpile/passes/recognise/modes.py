"""Code that sets the mode: `self.backbone.eval()`, `self.bn.training = False`, `def train(self)`.

The mode is one flag from outside: what constructors set of it is left out, and what runs is told.
Scripts, and what trains, keep theirs.
"""

from ...facts.values import lattice
from ...facts.values.calls import is_super
from ...facts.values.lattice import Module, Torch
from ...model.classes import PLAIN_MODULE
from ...model.effects import Unconverted
from ...model.expressions import Attribute, Call, Name
from ...model.names import in_scope, is_docstring, text
from ...model.node import Node, Statement
from ...model.program import Class, Function
from ...model.statements import Assign, ExpressionStatement, Pass, Return
from ..pass_ import source_of
from .scene import Scene

_MODES = frozenset({"train", "eval"})
_MODE = "the mode of a module is the argument training of its calls"


def mode_call(scene: Scene, call: Call) -> bool:
    """`self.net.eval()`; whether it was seen to."""
    function = call.function
    if scene.stage not in ("building", "traced") or not _sets_mode(scene, call):
        return False
    assert isinstance(function, Attribute)
    receiver = scene.of(function.object)
    assert isinstance(receiver, Module)
    alone, own = isinstance(call.parent, ExpressionStatement), receiver.is_self
    if own and not scene.building and alone:
        scene.changes.unconverted("module-mode", call, _MODE)
        return True
    if own and not alone:
        return False
    if not scene.building:
        scene.changes.report("module-mode", call, f"{text(function)}() is left out: {_MODE}")
    if alone and isinstance(call.parent, Statement):
        scene.changes.remove(call.parent)
    else:
        scene.changes.replace(call, lambda c: c.function.object)
    return True


def _sets_mode(scene: Scene, call: Call) -> bool:
    function = call.function
    if not isinstance(function, Attribute) or function.name not in _MODES:
        return False
    own = isinstance(scene.of(function), lattice.Function)
    return not own and isinstance(scene.of(function.object), Module)


def mode_store(scene: Scene, assign: Assign) -> None:
    """`self.bn.training = False`"""
    target = assign.targets[0]
    if scene.stage not in ("building", "traced") or not isinstance(target, Attribute):
        return
    if target.name != "training" or not isinstance(scene.of(target.object), Module):
        return
    if scene.building:
        scene.changes.report("module-mode", assign, f"{text(target)} is not set: {_MODE}")
        scene.changes.remove(assign)
        return
    scene.changes.report("module-mode", target, _MODE)
    raised = ExpressionStatement(Unconverted("module-mode", source_of(assign)))
    scene.changes.replace(assign, raised)


def overridden(scene: Scene, cls: Class) -> None:
    """`def train(self, mode=True)` that calls torch's: nothing calls it here."""
    project = scene.project
    if not project.is_module(cls):
        return
    for name in sorted(_MODES & project.methods(cls).keys()):
        function = project.methods(cls)[name]
        body = [s for s in function.body.body if not is_docstring(s)]
        above = [s for s in body if any(_is_above(scene, c) for c in in_scope(s, Call))]
        if not above:
            continue
        if not all(s in above or _is_nothing(s) for s in body):
            message = f"{name}() is left out with what it does beside: {_MODE}"
            scene.changes.report("module-mode", function, message)
        scene.changes.change(function, lambda f: _drop(scene, cls, f))


def _drop(scene: Scene, cls: Class, function: Function) -> None:
    del scene.project.methods(cls)[function.name]
    function.parent.remove(function)  # type: ignore[union-attr]


def _is_above(scene: Scene, call: Call) -> bool:
    """`super().train(mode)`, `nn.Module.train(self, mode)`"""
    function = call.function
    if not isinstance(function, Attribute) or function.name not in _MODES:
        return False
    base = scene.of(function.object)
    return is_super(function.object) or isinstance(base, Torch) and base.name in PLAIN_MODULE


def _is_nothing(statement: Node) -> bool:
    """`return self`, `pass`"""
    if isinstance(statement, Return):
        return statement.expression is None or isinstance(statement.expression, Name)
    return isinstance(statement, Pass)
