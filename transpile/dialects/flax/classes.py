"""Classes and constructors: `nnx.Module`, `*, rngs: nnx.Rngs`, the stream of a class, its mode."""

from ...facts.modules import FIELD
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import is_called
from ...model.node import Statement
from ...model.operators import Binary, Compare
from ...model.program import Class, Function, Parameter
from ...model.statements import Assign, Block, ExpressionStatement, If, Pass
from ...source.lower_ast import expression
from ..parameters import add_keyword, conclude
from ..walk_order import names_in_order
from .calls import as_flax_has_it
from .layers import LEFT_OUT
from .lowering import Lowering, nnx

RNGS = "nnx.Rngs"
_BESIDE = (
    "stands in an nnx.List, whose parts have numbers: extend nn.Module, and hold the list in it"
)


def function(low: Lowering, node: Function) -> None:
    """What a function takes beside its own."""
    taken = low.plan.takes.get(node)
    cls = low.plan.owner(node)
    made = cls is not None and node.name == "__init__" and low.plan.has_own_noise(cls)
    if taken is not None:
        annotation = RNGS if taken == "rngs" else None
        low.edits.change(node, lambda n: add_keyword(n, taken, annotation))
    if node in low.plan.seeded:
        rngs = Assign([Name("rngs")], Call(nnx("Rngs"), [Name("key")]))
        low.edits.change(node.body, lambda block: _begin(block, [rngs]))
    if cls is None or node.name != "__init__":
        return
    me = low.plan.self_name(node)
    statements: list[Statement] = []
    if made:
        statements.append(_stream(me, low.plan.noise_name(cls)))
    if low.plan.has_own_mode(cls):
        statements.append(_set(me, low.plan.mode(cls)))
    if low.plan.modules.is_module(cls) and low.plan.notes_order(cls):
        statements.append(names_in_order(me))
    if made and _hands_on(low, node, cls):
        first = [statements.pop(0)]
        low.edits.change(node.body, lambda block: _begin(block, first))
    if statements:
        low.edits.change(node.body, lambda block: conclude(block, statements))


def _begin(block: Block, made: list[Statement]) -> None:
    """Put statements first, behind a docstring."""
    told = block.body[0]
    if isinstance(told, ExpressionStatement) and isinstance(told.expression, Constant):
        block.insert_after(told, made)
    else:
        block.insert_before(told, made)


def _hands_on(low: Lowering, init: Function, cls: Class) -> bool:
    """Whether a method is handed on while building, `self.apply(self._init_weights)`: it draws
    from the stream before the constructor ends."""
    methods = low.plan.modules.home(cls).methods(cls)
    building = [init, *(m for m in methods.values() if m in low.plan.building)]
    return any(
        isinstance(node, Attribute)
        and node.name in methods
        and low.is_self(node.object)
        and not is_called(node)
        for method in building
        for node in method.body.walk()
    )


def _stream(name: str, stream: str) -> Assign:
    forked = expression("rngs.noise.fork()")
    return Assign([Attribute(Name(name), stream)], forked)


def _set(name: str, mode: str) -> Assign:
    return Assign([Attribute(Name(name), mode)], Constant(False))


def class_(low: Lowering, node: Class) -> None:
    """A class that tells the mode has `set_view`; one without a constructor gets what it needs."""
    plan = low.plan
    if not plan.modules.is_module(node):
        return
    if plan.project.torch_base(node) == "torch.nn.ModuleList":
        named = [n for n, f in plan.modules.own_fields(node).items() if f.kind != FIELD]
        if named:
            low.report("unsupported", node, f"{named[0]} {_BESIDE}")
    added: list[Statement] = []
    own = plan.modules.constructor(node)
    mode = plan.mode(node)
    if own is None and plan.has_own_noise(node):
        added.append(_constructor(low, node))
    elif own is None and plan.has_own_mode(node):
        added.append(Assign([Name(mode)], Constant(False)))
    if plan.has_own_mode(node):
        added.append(_set_view(mode))
    if added:
        low.edits.change(node.body, lambda block: _add_members(block, added))


def _add_members(block: Block, added: list[Statement]) -> None:
    """Behind the constructor, or the docstring, with an empty line around."""
    for member in added:
        member.comments = ("\n", "")
    first = next((s for s in block.body if isinstance(s, Function)), None)
    if first is not None and first.name == "__init__":
        block.insert_after(first, added)
        return
    body = [s for s in block.body if not isinstance(s, Pass)]
    before = None
    for statement in body:
        if isinstance(statement, (Function, Class)):
            break
        before = statement
    if before is not None:
        block.insert_after(before, added)
    elif block.body:
        added[0].comments = None
        block.insert_before(block.body[0], added)
    else:
        block.append(added)
    for lone in [s for s in block.body if isinstance(s, Pass)]:
        block.remove(lone)


def _set_view(mode: str) -> Function:
    """How `nnx.view` sets the mode."""
    given = Compare([Name(mode), Constant(None)], ["is not"])
    kept = Assign([Attribute(Name("self"), mode)], Name(mode))
    annotation = Binary(Name("bool"), "|", Constant(None))
    parameters = [Parameter("self"), Parameter(mode, "", annotation, Constant(None))]
    return Function("set_view", parameters, Block([If(given, Block([kept]))]))


def _constructor(low: Lowering, node: Class) -> Function:
    """A constructor that hands its arguments to the one above, and makes the stream."""
    plan = low.plan
    above = plan.constructor(node)
    parameters = [Parameter("self")]
    call = Call(expression("super().__init__"))
    if above is not None:
        for parameter in above.parameters[1:]:
            default = None if parameter.default is None else _copy(parameter)
            parameters.append(Parameter(parameter.name, parameter.kind, None, default))
            call.append(parameter.handed_on(), parameter.name if parameter.kind == "=" else None)
        if plan.takes.get(above) == "rngs":
            call.append(Name("rngs"), "rngs")
    statements: list[Statement] = [ExpressionStatement(call)] if above is not None else []
    layer = (plan.project.torch_base(node) or "").rpartition(".")[2]
    if layer in LEFT_OUT and above is not None and plan.is_library(above):
        as_flax_has_it(call, layer)
        methods = plan.modules.home(node).methods(node).values()
        read = {n.name for m in methods for n in m.nodes(Attribute)}
        for name in read.intersection(LEFT_OUT[layer]):
            statements.append(Assign([Attribute(Name("self"), name)], Name(name)))
    statements.append(_stream("self", plan.noise_name(node)))
    if plan.has_own_mode(node):
        statements.append(_set("self", plan.mode(node)))
    rngs = Parameter("rngs", "=", expression(RNGS))
    keyword = [p for p in parameters if p.kind == "**"]
    plain = [p for p in parameters if p.kind != "**"]
    return Function("__init__", [*plain, rngs, *keyword], Block(statements))


def _copy(parameter: Parameter):  # type: ignore[no-untyped-def]
    from ...model.copy import clone

    assert parameter.default is not None
    return clone(parameter.default)
