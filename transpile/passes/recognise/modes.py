"""Code that sets the mode: `self.backbone.eval()`, `self.bn.training = False`, `def train(self)`.

The mode is one flag from outside: what constructors set of it is left out. What runs is followed
(`mode_flow`), or told. Scripts, and what trains, keep theirs.
"""

from ...facts.shapes.size_values import statement_of
from ...facts.values.calls import is_super
from ...facts.values.lattice import Module, Torch
from ...model.classes import MODES, PLAIN_MODULE, mode_set
from ...model.effects import Mode, Unconverted
from ...model.expressions import Attribute, Call, Constant, Name, Starred
from ...model.names import dotted, in_scope, is_docstring, is_target, text
from ...model.node import Node, Statement
from ...model.operators import Unary
from ...model.positions import source_of
from ...model.program import Class, Function
from ...model.statements import Assign, Block, ExpressionStatement, If, Pass, Return
from .context import Scene
from .mode_flow import ModeFlow, Modes
from .mode_paths import sets_mode

_MODE = "the mode of a module is the argument training of its calls"


def follow(scene: Scene) -> ModeFlow | None:
    """The modes in a function that is run; what they hold for besides is told."""
    scope = scene.scope
    if not isinstance(scope, Function) or is_override(scene, scope):
        return None
    if scene.building:
        return _while_building(scene, scope)
    if scene.stage != "traced":
        return None
    found = kept(scene, scene.cls)
    if not found and not any(map(_names_mode, scope.nodes(Attribute))):
        return None
    flow = ModeFlow(scene, scope, found)
    met = {path for path in flow.left if _is_met_elsewhere(scene, scope, path)}
    if met and _is_run_by_others(scene, scope):
        flow.give_up()  # `self.freeze()`, and then `self.bn(x)`
    if not flow.followed and found:
        paths = ", ".join(sorted(found))
        scene.changes.report("module-mode", scope, f"{paths} is in training here: {_MODE}")
    for path, statement in flow.left.items():
        if path in met:
            message = f"the mode of {path} is set for the calls in {scope.name}() alone: {_MODE}"
            scene.changes.report("module-mode", statement, message)
    _leave_out(scene, flow)
    return flow


def _while_building(scene: Scene, scope: Function) -> ModeFlow | None:
    """The modes of what a constructor runs for shapes; all others are left out (`mode_call`)."""
    if not any(map(_names_mode, scope.nodes(Attribute))):
        return None
    flow = ModeFlow(scene, scope, {})
    if not flow.calls:
        return None
    _leave_out(scene, flow)
    return flow


def _leave_out(scene: Scene, flow: ModeFlow) -> None:
    for statement in flow.statements:
        scene.changes.remove(statement)
    for read, mode in flow.reads.items():
        scene.changes.replace(read, Constant(mode))


def _names_mode(node: Attribute) -> bool:
    """`net.eval`, `net.training = …`"""
    return node.name in MODES or node.name == "training" and is_target(node)


def _is_met_elsewhere(scene: Scene, scope: Function, path: str) -> bool:
    """Whether other methods meet a module of self; what is given, or self, is met anywhere."""
    own, _, rest = path.partition(".")
    if own != scene.own or not rest or scene.cls is None:
        return True
    name = rest.partition(".")[0]
    return any(n.name == name for f in _others(scene, scope) for n in f.nodes(Attribute))


def _is_run_by_others(scene: Scene, scope: Function) -> bool:
    """Whether another method runs this one of the same object."""
    called = [c for f in _others(scene, scope) for c in f.nodes(Call)]
    named = (c.function for c in called if isinstance(c.function, Attribute))
    return any(n.name == scope.name and dotted(n.object) == scene.own for n in named)


def _others(scene: Scene, scope: Function) -> list[Function]:
    """The methods beside one, but what builds."""
    below = scene.project.family(scene.cls) if scene.cls is not None else []
    family = {c for one in below for c in scene.project.ancestors(one)}
    methods = [f for one in family for f in scene.project.methods(one).values() if f is not scope]
    return [f for f in methods if scene.stages.stage(f) != "building"]


def is_override(scene: Scene, function: Function) -> bool:
    """Whether a function is a `train` of the user's own, which only sets modes."""
    return function.name in MODES and scene.cls is not None


def kept(scene: Scene, cls: Class | None) -> Modes:
    """The modes that the classes' own `train` sets, whatever mode it is given."""
    found: Modes = {}
    for one in reversed(list(scene.project.ancestors(cls))) if cls is not None else ():
        function = scene.project.methods(one).get("train")
        if function is None or not function.parameters:
            continue
        me, began = function.receiver, False
        for statement in function.body.body:
            call = statement.expression if isinstance(statement, ExpressionStatement) else None
            named = call.function if isinstance(call, Call) else None
            if not isinstance(call, Call) or not isinstance(named, Attribute):
                continue
            path = dotted(named.object) or ""
            if named.name == "train" and not path.startswith(f"{me}."):
                began = True
            elif began and is_kept(scene, one, me, call):
                found[path.replace(me, scene.own or me, 1)] = False
    return found


def is_kept(scene: Scene, cls: Class, me: str, call: Call) -> bool:
    """`self.bn.eval()` in `train`, of what no class above runs: its methods know nothing of it."""
    function = call.function
    path = dotted(function.object) if isinstance(function, Attribute) else None
    if path is None or not path.startswith(f"{me}.") or mode_set(call) is not False:
        return False
    name, above = path.split(".")[1], list(scene.project.ancestors(cls))[1:]
    methods = [f for one in above for f in scene.project.methods(one).values()]
    return not any(n.name == name for f in methods for n in f.nodes(Attribute))


def mode_call(scene: Scene, call: Call) -> bool:
    """`self.net.eval()`; whether it was seen to."""
    function = call.function
    if scene.stage not in ("building", "traced") or not sets_mode(scene, call):
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
    if not scene.building and not _raise_where_it_counts(scene, call):
        scene.changes.unconverted("module-mode", call, _MODE)
    elif alone and isinstance(call.parent, Statement):
        scene.changes.remove(call.parent)
    else:
        scene.changes.replace(call, lambda c: c.function.object)
    return True


def _raise_where_it_counts(scene: Scene, call: Call) -> bool:
    """Report, and raise where the model is in another mode than the one that is set: an `eval()`
    in a model that is evaluated is left out. False where that is not known."""
    scope, on, statement = scene.scope, mode_set(call), statement_of(call)
    if not isinstance(scope, Function) or scope.receiver != scene.own:
        return False
    if statement is None or on is None:
        return False
    scene.changes.report("module-mode", call, f"{text(call.function)}() is left out: {_MODE}")
    raised = ExpressionStatement(Unconverted("module-mode", source_of(call)))
    mode = Mode(Name(scene.own))
    guard = If(Unary("not", mode) if on else mode, Block([raised]))
    scene.changes.insert_before(statement, [guard])
    return True


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
    for name in sorted(MODES.keys() & project.methods(cls).keys()):
        function = project.methods(cls)[name]
        body = [s for s in function.body.body if not is_docstring(s)]
        above = [s for s in body if any(_is_above(scene, c) for c in in_scope(s, Call))]
        if not above:
            continue
        known = [s for s in body if _is_followed(scene, cls, function, s)]
        known += [s for s in above if _is_handed_on(scene, function, s)]
        if not all(s in known or _is_nothing(s) for s in body):
            message = f"{name}() is left out with what it does beside: {_MODE}"
            scene.changes.report("module-mode", function, message)
        scene.changes.change(function, lambda f: _drop(scene, cls, f))


def _is_followed(scene: Scene, cls: Class, function: Function, statement: Node) -> bool:
    call = statement.expression if isinstance(statement, ExpressionStatement) else None
    if not isinstance(call, Call) or function.name != "train":
        return False
    return is_kept(scene, cls, function.receiver, call)


def _drop(scene: Scene, cls: Class, function: Function) -> None:
    del scene.project.methods(cls)[function.name]
    function.parent.remove(function)  # type: ignore[union-attr]


def _is_above(scene: Scene, call: Call) -> bool:
    """`super().train(mode)`, `nn.Module.train(self, mode)`"""
    function = call.function
    if not isinstance(function, Attribute) or function.name not in MODES:
        return False
    base = scene.of(function.object)
    return is_super(function.object) or isinstance(base, Torch) and base.name in PLAIN_MODULE


def _is_handed_on(scene: Scene, function: Function, statement: Node) -> bool:
    """`super().train(mode)`, with the mode as it was given and on all ways; not
    `super().train(False)`, by which a frozen layer knows no training."""
    call = getattr(statement, "expression", None)
    if not isinstance(call, Call) or not _is_above(scene, call):
        return False
    named = call.function
    assert isinstance(named, Attribute)
    first = 0 if is_super(named.object) else 1  # `nn.Module.train(self, mode)`
    given = [a.expression if isinstance(a, Starred) else a for a in call.arguments[first:]]
    own = [p.name for p in function.parameters[1:]]
    return named.name == function.name and list(map(dotted, given)) == own[: max(1, len(given))]


def _is_nothing(statement: Node) -> bool:
    """`return self`, `pass`"""
    if isinstance(statement, Return):
        return statement.expression is None or isinstance(statement.expression, Name)
    return isinstance(statement, Pass)
