"""What runs when a file is imported: it has no params, and draws have keys of their own.

y = net(x)          nn.Unconverted("module-value", "net(x)"), and reported: net has params
x[1:3] = 4          x = x.at[1:3].set(4)
x = F.dropout(x)    x = nn.dropout(x, key=jax.random.key(0))
"""

from ...facts.memory.access_paths import spelled
from ...facts.values.lattice import Module
from ...model.effects import Apply, Key, Mode, New, Read, Support, Unconverted, Write
from ...model.expressions import Attribute, Call, Constant, Lambda, Name
from ...model.names import names_assigned, names_in
from ...model.node import Expression
from ...model.program import Class, File, Parameter
from ...model.statements import Block, ExpressionStatement
from ..faults import raising
from ..fresh_names import fresh
from ..import_time import give_keys, outside
from ..leaf_nodes import plainly
from ..reports import Reports
from ..threading.module_changes import is_applied
from .constructor.initializers import beginning
from .plan import Plan

_NO_PARAMS = (
    "this needs params, and the file has none: params = model.init(key), then model(params, x)"
)
_VALUES = "a file has no params: what it gives those of a model is theirs once init has made them"


def write(file: File, plan: Plan, reports: Reports) -> None:
    """Write what stands in a file outside of its functions."""
    for write in [n for n in outside(file) if isinstance(n, Write)]:
        _write(write, file, reports)
    for node in reversed(outside(file)):  # inner before outer
        if isinstance(node, Expression) and not isinstance(node, Key):
            _expression(node, plan, reports)
    give_keys(file, reports)
    inner = [b for c in file.walk() if isinstance(c, Class) for b in c.bases]  # in functions too
    for node in dict.fromkeys([*outside(file), *inner]):
        if isinstance(node, Unconverted):
            node.replace(raising(node, Support))


def _expression(node: Expression, plan: Plan, reports: Reports) -> None:
    if isinstance(node, Call) and _runs_model(node, plan):
        reports.unconverted("module-value", node, _NO_PARAMS)
    elif isinstance(node, Call) and isinstance(node.function, Attribute) and is_applied(node):
        given = [node.function.object, *node.arguments]  # `net.apply(fill)`
        node.replace(Call(Support("apply"), given))
    elif isinstance(node, (New, Apply)):
        node.become(Call(node.function, node.arguments, node.keywords))
    elif not plainly(node, Support) and isinstance(node, (Read, Mode)):
        reports.unconverted("module-value", node, _VALUES)


def _runs_model(call: Call, plan: Plan) -> bool:
    """Whether it calls a module that has params or state, which a call takes."""
    runs = isinstance(call.function.value, Module) and not isinstance(call, New)
    return runs and plan.may_have(call.function)


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
