"""Calls, modules that are built, keys and the mode: everything that is handed on is found in the
module itself, or is `rngs`."""

from collections.abc import Callable

from ...model.copy import clone
from ...model.effects import (
    Apply,
    BoundMethod,
    Detached,
    Key,
    Mode,
    New,
    NewArray,
    Put,
    Shape,
    Support,
    Unconverted,
)
from ...model.expressions import Attribute, Call, Constant, Dictionary, Display, Name, Subscript
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Conditional, Unary
from ...model.positions import source_of
from ...model.program import Parameter
from ...model.statements import Assign, Return
from .. import leaf_nodes
from ..faults import raising
from ..sharing.ties import run_by
from .checkpoints import checkpoint
from .containers import taken_out
from .control import scan_layers
from .evaluation import drawn_in_training
from .handed_functions import handed
from .layers import DEFAULTS, HANDED, KEPT, LEFT_OUT, METHODS, ORDERED, RENAMED, REPLACED, UNWRITTEN
from .lowering import Lowering, nnx
from .program import DETERMINISTIC, RUNNING_AVERAGE, dotted_read
from .reads import by_name, with_tied
from .walks import walked


def _refuse(low: Lowering, node: Call, message: str) -> None:
    low.report("unsupported", node, message)
    low.edits.replace(node, raising(Unconverted("unsupported", source_of(node)), low.support))


def new(low: Lowering, node: Call) -> None:
    """A module is built: `nn.Linear(3, 4, rngs=rngs)`."""
    word = node.function.name if isinstance(node.function, Support) else ""
    if word in UNWRITTEN:
        return _refuse(low, node, f"{word} in Flax NNX: {UNWRITTEN[word]}")
    handed(low, node)
    needs, name = low.plan.needs(node), replaced(low, node.function)
    rngs = low.rngs(node) if needs is not False else None

    def edit(node: Call) -> None:
        if name is not None:
            as_flax_has_it(node, name)
        if needs is None:
            node.function.wrap(lambda f: f)
            made = Call(low.support("build"), [node.function, *node.arguments])
            made.keywords = [None, *node.keywords]
            assert rngs is not None
            made.append(rngs, "rngs")
            node.replace(made)
            return
        plain = Call(node.function, node.arguments, node.keywords)
        node.become(plain)
        if rngs is not None and plain.keyword("rngs") is None:
            plain.append(rngs, "rngs")

    low.edits.change(node, edit)


def replaced(low: Lowering, function: Expression) -> str | None:
    """The name of a layer that is Flax's own in the output."""
    if isinstance(function, Support) and function.name in REPLACED:
        return function.name
    if low.in_library and isinstance(function, Name) and function.id in REPLACED:
        return function.id
    return None


def as_flax_has_it(node: Call, name: str) -> None:
    """A layer's arguments, as Flax takes them."""
    for argument, word in list(zip(node.arguments, node.keywords)):
        position = node.arguments.index(argument)
        surplus = word is None and position >= KEPT.get(name, 99)
        if surplus or word in LEFT_OUT.get(name, ()):
            node.remove(argument)
        elif word in RENAMED.get(name, {}):
            node.respell(argument, RENAMED[name][word])
    if not node.arguments and name in DEFAULTS:
        node.append(Constant(float(DEFAULTS[name])))


def apply(low: Lowering, node: Call) -> None:
    """A call of what draws by itself: a function that takes a key, or a method that builds."""
    if low.plan.builds(node):
        new(low, node)
        return
    if isinstance(node, Apply) and node.training is not None:
        low.edits.wrap(run_by(node), _view(low, node, node.training))
    if isinstance(node, Apply) and node.each is not None:
        low.edits.change(node, scan_layers(low.support("scan_layers")))
        return
    if checkpoint(low, node):
        return
    handed(low, node)
    run = run_by(node)
    path = dotted_read(run)
    if path is not None and (tied := low.plan.tied(low.unit(node), path)):
        low.edits.wrap(run, lambda f: with_tied(low, f, path, tied))
    if walked(low, node):
        return
    taken = {low.plan.takes[t] for t in low.plan.targets(node) if t in low.plan.takes}
    above = low.plan.begins_above(node)
    if above is not None and low.plan.needs_rngs(above):
        taken.add("rngs")  # also where it is a base's: `class Noisy(nn.AlphaDropout)`
    if not taken:
        if isinstance(node, Apply):
            low.edits.become(node, lambda n: Call(n.function, n.arguments, n.keywords))
        return
    word = "rngs" if "rngs" in taken else "key"
    given = low.rngs(node) if word == "rngs" else _drawn(low, node)

    def edit(node: Call) -> None:
        plain = Call(node.function, node.arguments, node.keywords)
        node.become(plain)
        if above is not None and low.plan.is_library(above) and above.name in REPLACED:
            as_flax_has_it(plain, above.name)
        plain.append(given, word)

    low.edits.change(node, edit)


def _view(low: Lowering, node: Apply, training: bool) -> Callable[[Expression], Call]:
    """`nnx.view(self.bn, use_running_average=True)(x)`: in a mode, with the same arrays."""
    run, unit = run_by(node), low.unit(node)
    classes = low.plan.classes_at(run, unit) if unit is not None else []
    layers = bool(classes) and all(c in low.plan.modes and low.plan.is_library(c) for c in classes)
    words = {low.plan.mode(c) for c in classes} if layers else {DETERMINISTIC, RUNNING_AVERAGE}
    named: dict[str, bool] = dict.fromkeys(sorted(words), not training)
    if not layers:
        named["raise_if_not_found"] = False
    given = [Constant(value) for value in named.values()]
    return lambda module: Call(nnx("view"), [module, *given], [None, *named])


def call(low: Lowering, node: Call) -> None:
    """A call that has become no Apply: of a plain function that draws, of `getattr`."""
    by_name(low, node)
    unit = low.unit(node)
    if low.in_library and unit is not None and isinstance(node.function, Name):
        name = node.function.id
        if name == "cls" and unit.receiver == "cls":
            low.edits.change(node, lambda n: n.append(Constant(None), "rngs"))
        elif name in ("Parameter", "Buffer"):
            word = nnx("Param") if name == "Parameter" else Name("Buffer")
            low.edits.change(node, lambda n: n.replace(Call(word, n.arguments[:1])))
        elif name == "setattr" and not isinstance(node.arguments[2], (NewArray, Constant)):
            low.edits.change(node.function, lambda n: n.replace(Name("assign")))
    if dotted(node.function) in ("copy.deepcopy", "deepcopy") and unit in low.plan.building:
        low.edits.replace(node.function, low.support("copied"))
    if low.plan.targets(node):
        apply(low, node)
    elif low.plan.builds(node):
        new(low, node)
    else:
        handed(low, node)
        walked(low, node)
        taken_out(low, node)


def key(low: Lowering, node: Key) -> None:
    """`rngs.params.normal(shape)`, `self.noise.normal(shape)`; else a key of the stream."""
    call, stream = node.parent, low.stream(node)
    word = dotted(call.function) if isinstance(call, Call) else None
    name = word.removeprefix("jax.random.") if word else ""
    if stream is not None and isinstance(call, Call) and word and word.startswith("jax.random."):
        at = next((i for i, a in enumerate(call.arguments) if a is node), None)
        if name in METHODS and at is not None and (at == 0 or call.keywords[at] == "key"):
            low.edits.change(call, lambda call: _as_method(call, stream, name))
            return
    low.edits.replace(node, _drawn(low, call) if isinstance(call, Call) else low.key(node))


def _drawn(low: Lowering, call: Call) -> Expression:
    """The key of a call."""
    made, training = low.key(call), drawn_in_training(low.plan, call)
    if training is None or isinstance(made, Name):
        return made
    quiet = Attribute(clone(training.object), _mode_name(low, training))
    return Conditional(Constant(None), quiet, made)  # an evaluation leaves the stream as it is


def _as_method(call: Call, stream: Expression, name: str) -> None:
    key = next(a for a in call.arguments if isinstance(a, Key))
    rest = [(a, w) for a, w in zip(call.arguments, call.keywords) if a is not key]
    made = Call(Attribute(stream, name), [a for a, _ in rest], [w for _, w in rest])
    call.replace(made)


def mode(low: Lowering, node: Mode) -> None:
    """`not self.deterministic`; `not self.training` is `self.deterministic`."""
    name, parent = _mode_name(low, node), node.parent
    if isinstance(parent, Unary) and parent.operator == "not":
        low.edits.change(parent, lambda p: p.replace(Attribute(p.operand.object, name)))
    else:
        low.edits.change(node, lambda n: n.replace(Unary("not", Attribute(n.object, name))))


def _mode_name(low: Lowering, node: Mode) -> str:
    unit = low.unit(node)
    classes = low.plan.classes_at(node.object, unit) if unit is not None else []
    return low.plan.mode(classes[0] if classes else None)


def support(low: Lowering, node: Support) -> None:
    parent = node.parent
    if isinstance(parent, New) and parent.function is node and node.name in REPLACED:
        low.edits.change(node, lambda n: n.replace(nnx(REPLACED[n.name])))
        return
    if low.plan.is_ordered_base(node):
        low.edits.replace(node, low.support(ORDERED))
        return
    name = HANDED.get(node.name, node.name) if _is_handed(node) else node.name
    low.edits.replace(node, nnx(REPLACED[name]) if name in REPLACED else low.support(name))


def _is_handed(node: Support) -> bool:
    """Whether what is to be called somewhere is given on: `Block(act=nn.Dropout)`."""
    inner: Node = node
    while isinstance(around := inner.parent, Display):
        inner = around
    if isinstance(around, Call):
        asking = dotted(around.function) in ("isinstance", "issubclass")
        return around.function is not inner and not asking
    default = isinstance(around, Parameter) and around.default is inner
    return default or isinstance(around, (Assign, Conditional, Dictionary, Return))


def library_name(low: Lowering, node: Name) -> None:
    """In the layers' own files: `Module`, `ModuleList`, `Dropout`, `Parameter` by name."""
    if low.plan.is_ordered_base(node):
        low.edits.replace(node, Name(ORDERED))
    elif node.id in REPLACED:
        low.edits.change(node, lambda n: n.replace(nnx(REPLACED[n.id])))


def bound_method(low: Lowering, node: BoundMethod) -> None:
    low.edits.become(node, lambda n: Attribute(n.object, n.name))


# --- what is left ---------------------------------------------------------------------------------


def detached(low: Lowering, node: Detached) -> None:
    low.edits.change(node, lambda n: n.replace(leaf_nodes.detached(n, low.support)))


def put(low: Lowering, node: Put) -> None:
    """`base.at[index].set(new)`"""
    if node in low.skipped:
        return

    def edit(node: Put) -> None:
        place = Subscript(Attribute(node.base, "at"), node.index)
        node.replace(Call(Attribute(place, node.how), [node.new]))

    low.edits.change(node, edit)


def shape(low: Lowering, node: Shape) -> None:
    """While building the arrays are there: the expression itself has the shape."""
    low.edits.change(node, lambda n: n.replace(n.expression))


def unconverted(low: Lowering, node: Unconverted) -> None:
    low.edits.replace(node, raising(node, low.support))
