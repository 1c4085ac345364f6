"""What runs when a file is imported: it has no params, and draws have keys of their own.

y = net(x)          nn.Unconverted("module-value", "net(x)"), and reported: net has params
x[1:3] = 4          x = x.at[1:3].set(4)
x = F.dropout(x)    x = nn.dropout(x, key=jax.random.key(0))
"""

from collections.abc import Set

from ...facts.memory.access_paths import spelled
from ...facts.values.attribute_names import PARAMETERS, WALKS
from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Module
from ...model.effects import Apply, Key, Mode, New, Read, Support, Unconverted, Write
from ...model.expressions import Attribute, Call, Constant, Lambda, Name
from ...model.names import is_called, names_assigned, names_in
from ...model.node import Expression, Node
from ...model.program import Class, File, Parameter
from ...model.statements import Block, ExpressionStatement
from ..faults import raising
from ..fresh_names import fresh
from ..import_time import give_keys, outside
from ..leaf_nodes import plainly
from ..reports import Reports
from ..scripts import models_of
from ..threading.module_changes import is_applied
from ..threading.threaded import NOTHING, Threads
from . import script_models
from .constructor.initializers import beginning
from .indirect_modules import modules_given
from .loop_containers import going_over
from .parameter_uses import reads_of
from .plan import Plan

_NO_PARAMS = (
    "this needs params, and the file has none: params = model.init(key), then model(params, x)"
)
_VALUES = "a file has no params: what it gives those of a model is theirs once init has made them"


def write(file: File, plan: Plan, reports: Reports) -> None:
    """Write what stands in a file outside of its functions."""
    for write in [n for n in outside(file) if isinstance(n, Write)]:
        _write(write, file, reports)
    placed = script_models.write(file, models_of(file), plan, reports)
    for node in reversed(outside(file)):  # inner before outer
        if isinstance(node, Expression) and not isinstance(node, Key):
            _expression(node, plan, reports, placed)
    give_keys(file, reports)
    inner = [b for c in file.walk() if isinstance(c, Class) for b in c.bases]  # in functions too
    for node in dict.fromkeys([*outside(file), *inner]):
        if isinstance(node, Unconverted):
            node.replace(raising(node, Support))


def _expression(node: Expression, plan: Plan, reports: Reports, placed: Set[Node]) -> None:
    asks = NOTHING if node in placed else _asks(node, plan)
    if isinstance(node, Call) and asks.draws:
        node.append(Key(), "key")
    if asks.params or asks.takes or node not in placed and _runs_model(node, plan):
        reports.unconverted("module-value", node, _NO_PARAMS)
    elif isinstance(node, Call) and isinstance(node.function, Attribute) and is_applied(node):
        given = [node.function.object, *node.arguments]  # `net.apply(fill)`
        node.replace(Call(Support("apply"), given))
    elif isinstance(node, Call) and (walk := going_over(node, WALKS | PARAMETERS)) is not None:
        node.replace(walk)
    elif isinstance(node, (New, Apply)):
        node.become(Call(node.function, node.arguments, node.keywords))
    elif not plainly(node, Support) and isinstance(node, (Read, Mode)):
        reports.unconverted("module-value", node, _VALUES)


def _asks(node: Expression, plan: Plan) -> Threads:
    """What a function of the user's is given, which is called here."""
    if not isinstance(node, Call) or not isinstance(node.function.value, FunctionValue):
        return NOTHING
    return plan.conventions.of_outside(node)


def _runs_model(call: Expression, plan: Plan) -> bool:
    """Whether it calls a module that has params or state, which a call takes, or a function that
    does."""
    if not isinstance(call, Call) or isinstance(call, New):
        return False
    if isinstance(call.function.value, Module):
        return plan.may_have(call.function)
    word, targets = plan.conventions.roots.parameter, plan.conventions.targets(call) or ()
    given = [m for m in modules_given(call) if plan.may_have(m)]
    return any(is_called(n) for m in given for t in targets for n in reads_of(t, word(call, m, t)))


def _write(write: Write, file: File, reports: Reports) -> None:
    """An initial value, which the model gets once `init` makes its params: `nn.set_initializer(
    line, "bias", jax.nn.initializers.zeros)`."""
    target, value = write.target, write.value
    if not isinstance(target, Read):  # a name that a loop goes over params with
        reports.refuse("module-value", write, _VALUES)
        return
    holder, keys = target.object, [n for n in value.walk() if isinstance(n, Key)]
    reads = [n for n in value.walk() if isinstance(n, Read)]
    same = all(n.name == target.name and spelled(n.object) == spelled(holder) for n in reads)
    if not same or spelled(holder) is None or len(keys) > 1:
        reports.refuse("module-value", write, _VALUES)
        return
    names = names_in(value)
    word = fresh(target.name, names)
    key = fresh("key", names | {word})
    made = Lambda([Parameter(word), Parameter(key)], value)
    for node, name in [*((n, word) for n in reads), *((n, key) for n in keys)]:
        node.replace(Name(name))
    for name in sorted(names & set(names_assigned(file))):  # `for i in range(3): … fill_(i)`
        made.parameters.append(Parameter(name, "", None, Name(name)))
    made.adopt()
    block = write.parent
    assert isinstance(block, Block)
    call = beginning(holder, Constant(target.name), made)
    block.substitute(write, [ExpressionStatement(call)])
