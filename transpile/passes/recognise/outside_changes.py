"""What is done to modules from outside, and walks over them: hooks, `setattr(m, n, w)`, loops."""

from ...facts.values import lattice
from ...facts.values.attribute_names import PARAMETERS, WALKS
from ...facts.values.calls import through_super
from ...facts.values.lattice import NONE, UNKNOWN, External, Method, Module, Tensor, Value, is_param
from ...model.effects import Unconverted, Walk
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import below, target_names
from ...model.node import Node
from ...model.positions import source_of
from ...model.program import Class
from ...model.statements import Assign, Delete, ExpressionStatement, For
from .context import Scene
from .stores import REGISTERS

_OTHER_ARRAYS = frozenset({"buffers", "named_buffers", "state_dict"})
_BY_PATH = frozenset({"get_submodule", "get_parameter", "get_buffer"})
_SEQUENCES = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList"})
_TABLES = frozenset(
    "_parameters _buffers _forward_hooks _forward_pre_hooks _backward_hooks".split()
)
_HOOK = (
    "has nothing to hook into here: call the function where it would run, or see to gradients"
    " by jax.custom_vjp"
)
_OF_CHECKPOINTS = "change what torch holds before it is loaded, or after it is saved"
_NAMED = (
    "setattr() gives a parameter under a computed name to a module that is not self: write the name"
    " out, or do it in the constructor of its class"
)
_COMPUTED = (
    "setattr() gives an array under a computed name to a module that is not self, which keeps none:"
    " call a method of its own with it"
)
_LOOKED_UP = "looks a path up when it runs: write it out, self.block.norm, or getattr(self, name)"
_ARRAY = (
    "gives an array to a module that is not self: register it in the constructor of a class of its"
    " own"
)

_UNMADE = (
    "state_dict() is asked for before there are arrays: give them first values by"
    " named_parameters(), or by the modules that they are of"
)


def given(scene: Scene, call: Call) -> bool:
    """What a call gives a module from outside, which raises; whether it was seen to."""
    function = call.function
    if _gives_parameter(scene, call):
        scene.changes.unconverted("foreign-array", call, _NAMED)
        return True
    if _sets_computed(scene, call):
        scene.changes.unconverted("dynamic-attribute", call, _COMPUTED)
        return True
    if not isinstance(function, Attribute) or isinstance(scene.of(function), lattice.Function):
        return False
    name = function.name
    if name.lstrip("_").startswith("register_") and name.endswith("_hook"):
        if "state_dict" in name and isinstance(call.parent, ExpressionStatement):
            scene.changes.report("hook", call, f"{name}() is left out: {_OF_CHECKPOINTS}")
            scene.changes.remove(call.parent)
            return True
        scene.changes.unconverted("hook", call, f"{name}() {_HOOK}")
        return True
    asked = scene.of(function.object)
    if name in _BY_PATH and isinstance(asked, Module) and scene.stage in ("building", "traced"):
        scene.changes.unconverted("module-value", call, f"{name}() {_LOOKED_UP}")
        return True
    if name == "state_dict" and scene.building and isinstance(asked, Module) and not asked.open:
        around = call.parent
        if isinstance(around, Call) and isinstance(around.function, Attribute):
            loaded = around.function.name == "load_state_dict" and call in around.arguments
            call = around if loaded else call
        scene.changes.unconverted("array-while-building", call, _UNMADE)
        return True
    if name in REGISTERS and _is_foreign(scene.of(function.object)):
        scene.changes.unconverted("foreign-array", call, f"{name}() {_ARRAY}")
        return True
    return False


def _gives_parameter(scene: Scene, call: Call) -> bool:
    """`setattr(self.lin, name, nn.Parameter(w))`"""
    if scene.of(call.function) != External("builtins.setattr") or len(call.arguments) != 3:
        return False
    holder, _, value = map(scene.of, call.arguments)
    return is_param(value) and _is_foreign(holder)


def _sets_computed(scene: Scene, call: Call) -> bool:
    """`setattr(self.module, name, w * 2)` of an array, while the model runs."""
    if scene.stage != "traced" or scene.of(call.function) != External("builtins.setattr"):
        return False
    if len(call.arguments) != 3 or isinstance(call.arguments[1], Constant):
        return False
    holder, _, value = map(scene.of, call.arguments)
    foreign = isinstance(holder, Module) and _is_foreign(holder)
    return foreign and (value == UNKNOWN or isinstance(value, Tensor))


def table(scene: Scene, node: Attribute) -> bool:
    """`layer._parameters["weight"]`: a table that no module has here, which raises."""
    if node.name not in _TABLES or not _is_foreign(scene.of(node.object)):
        return False
    message = f"modules have no {node.name} here: what they hold is declared in their classes"
    statement = node.parent
    if isinstance(statement, Assign) and any(t is node for t in statement.targets):
        scene.changes.report("foreign-array", node, message)  # no target can raise
        raised = ExpressionStatement(Unconverted("foreign-array", source_of(statement)))
        scene.changes.replace(statement, raised)
    else:
        scene.changes.unconverted("foreign-array", node, message)
    return True


def taken_away(scene: Scene, statement: Assign | Delete) -> None:
    """`del self.norm.weight`, `m.bias = None` of a module of a walk, and `del self.kept` of what
    runs, which raise: a class says what it holds."""
    if scene.stage not in ("building", "traced"):
        return
    for target in statement.targets:
        if isinstance(target, Attribute) and _is_taken(scene, statement, target):
            message = f"{target.name} is taken away from a module: give its class a flag without it"
            scene.changes.report("module-value", statement, message)
            raised = Unconverted("module-value", source_of(statement))
            scene.changes.substitute(statement, [ExpressionStatement(raised)])
            return


def _is_taken(scene: Scene, statement: Assign | Delete, target: Attribute) -> bool:
    holder = scene.of(target.object)
    own = isinstance(holder, Module) and holder.is_self
    if isinstance(statement, Delete):
        array = isinstance(scene.of(target), Tensor)
        return own and not scene.building or array and (own or _is_foreign(holder))
    value = statement.expression
    if not scene.building or not _is_foreign(holder) or value is None or scene.of(value) != NONE:
        return False
    return isinstance(target.object, Name) and _is_of_walk(statement, target.object.id)


def _is_of_walk(node: Node, name: str) -> bool:
    """Whether a name is that of a loop over modules: `for m in self.modules()`."""
    loops = (n for n in node.ancestors() if isinstance(n, For))
    for loop in loops:
        called = {getattr(c.function, "name", "") for c in below(loop.iterable, Call)}
        if name in target_names(loop.target) and called & WALKS:
            return True
    return False


def _is_foreign(value: Value) -> bool:
    """Whether this is a module, or may be one, but neither the self of a method nor a bare one."""
    if isinstance(value, Module):
        return not value.is_self and not value.is_bare
    return value == UNKNOWN or isinstance(value, Tensor) and value.assumed


# --- walks ---------------------------------------------------------------------------------------


def walked(scene: Scene, call: Call) -> None:
    """`for m in self.children()` while the model runs: which modules these are, in which order, is
    known of what holds them one after the other alone."""
    value = scene.of(call.function)
    if scene.stage != "traced" or not isinstance(value, Method):
        return
    if not isinstance(value.receiver, Module):
        return
    if value.name in WALKS:
        known = _is_sequence(scene, value.receiver) or _is_computed(scene, value.receiver)
        if not value.name.endswith("children") or not known:
            message = f"which modules {value.name}() means here is not known"
            scene.changes.report("module-value", call, message)
    elif value.name in _OTHER_ARRAYS:
        message = f"which arrays {value.name}() means here is not known"
        # what super() gives is a call of a base's, which is something else already
        tell = scene.changes.report if through_super(call) else scene.changes.unconverted
        tell("module-value", call, message)


def _is_sequence(scene: Scene, module: Module) -> bool:
    """Whether all that a module may be is a Sequential or a list of modules."""
    bases = [c if isinstance(c, str) else scene.project.torch_base(c) for c in module.classes]
    return not module.open and bool(bases) and all(base in _SEQUENCES for base in bases)


def _is_computed(scene: Scene, module: Module) -> bool:
    """Whether all modules that a class holds are set one after the other, under computed names:
    `self.add_module(f"layer{i}", layer)`."""
    if module.open or not module.classes or not all(isinstance(c, Class) for c in module.classes):
        return False
    lineages = (scene.modules.lineage(c) for c in module.classes if isinstance(c, Class))
    fields = (
        own for lineage in lineages for c in lineage for own in scene.modules.fields(c).values()
    )
    return not any(isinstance(v.value, Module) for own in fields for v in own.values)


def walk(scene: Scene, loop: For) -> None:
    """`for m in self.modules(): …` while a model is built."""
    if loop.__class__ is not For or not scene.building:
        return
    wanted = WALKS | PARAMETERS | {"buffers", "named_buffers"}
    for call in below(loop.iterable, Call):
        value = scene.of(call.function)
        if isinstance(value, Method) and isinstance(value.receiver, Module):
            if value.name in wanted:
                scene.changes.become(loop, _walk)
                return


def _walk(loop: For) -> Walk:
    return Walk(loop.target, loop.iterable, loop.body, loop.orelse, loop.asynchronous)
