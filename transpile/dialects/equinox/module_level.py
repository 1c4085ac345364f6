"""What runs outside of functions: in a file, in classes, as defaults of parameters.

    net = Net(4)                    net = Net(4, key=jax.random.key(0))
    print(net.mask, net.weight)     print(net.mask[...], net.weight)

A model with a state that functions read is refused there: `script_models` has the others.
"""

from ...model.effects import (
    BUFFER,
    CONSTANT,
    Apply,
    Key,
    Mode,
    New,
    Read,
    Tie,
    Unconverted,
    Walk,
    Write,
)
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.node import Expression, Node
from ...model.program import File
from ...model.statements import Assign
from ..faults import raising
from ..import_time import give_keys, outside
from ..reports import Reports
from ..scripts import models_of
from ..threading.module_changes import is_applied, is_part_of_module
from . import script_models
from .leaf_nodes import going_over, is_base, is_tested, plainly
from .plan import Plan

NO_STATE = "this needs a state, and the file has none: it comes of eqx.nn.make_with_state(Net)(…)"

NO_WRITE = "modules are frozen: a function that is given one gives back what is new"
NO_MODE = "whether a model trains is what eqx.nn.inference_mode has made of it: say it yourself"


def write(file: File, plan: Plan, reports: Reports) -> None:
    """Write what stands in a file outside of its functions."""
    script_models.write(file, models_of(file), plan, reports)
    for node in reversed(outside(file)):  # inner before outer
        if not plainly(node, _support):
            _node(node, plan, reports)
    give_keys(file, reports)
    for node in [n for n in outside(file) if isinstance(n, Unconverted)]:
        node.replace(raising(node, _support))


def _node(node: Node, plan: Plan, reports: Reports) -> None:
    if isinstance(node, Mode):
        reports.unconverted("module-value", node, NO_MODE)
    elif isinstance(node, (Write, Walk, Tie)):
        reports.refuse("parameter-write", node, NO_WRITE)
    elif isinstance(node, Assign) and any(map(is_part_of_module, node.targets)):
        reports.refuse("parameter-write", node, NO_WRITE)
    elif isinstance(node, Call) and is_applied(node):
        reports.unconverted("parameter-write", node, NO_WRITE)
    elif isinstance(node, Read):
        plain = Attribute(node.object, node.name)
        if plan.signatures.is_state(node):
            reports.unconverted("module-value", node, NO_STATE)
        elif node.kind in (BUFFER, CONSTANT) and not (is_tested(node) or is_base(node)):
            node.replace(Subscript(plain, Constant(...)))
        else:
            node.become(plain)
    elif isinstance(node, Call) and (walk := going_over(node)) is not None:
        node.replace(walk)
    elif isinstance(node, (New, Apply)):
        threads = plan.signatures.of_outside(node)
        if isinstance(node, Apply) and threads.known and (threads.takes or threads.gives):
            reports.unconverted("module-value", node, NO_STATE)
            return
        node.become(made := Call(node.function, node.arguments, node.keywords))
        if threads.draws:
            made.append(Key(), "key")


def _support(name: str) -> Expression:
    return Attribute(Name("nn"), name)
