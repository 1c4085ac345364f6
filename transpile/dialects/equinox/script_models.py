"""The models of a script: what has a state is built together with it.

net = Net(8)            net, state = eqx.nn.make_with_state(Net)(8, key=jax.random.key(0))
y = net(x)          →   y, state = net(x, state)
net.eval()              net = eqx.nn.inference_mode(net)
"""

from ...model.effects import Key
from ...model.expressions import Call, Constant, Display, Name
from ...model.program import File, Function
from ...model.statements import Assign
from ...source.lower_ast import expression
from ..reports import Reports
from ..scripts import ScriptModel
from ..threading.script_state import ScriptStates
from .plan import Plan
from .state_calls import give_state


def write(scope: File | Function, models: list[ScriptModel], plan: Plan, reports: Reports) -> None:
    """Write what a file, or a function, does with its models."""
    models = [model for model in models if not model.others]  # modules that are built are frozen
    states = ScriptStates(scope, models, plan, reports)
    calls = {c: t for one in states.threads.values() for c, t in one.items() if t.takes}
    states.extract()
    for model, state in states.words.items():
        _begin(model, state, plan)
        for call in states.threads[model]:
            if call in calls:
                give_state(call, plan.signatures, state)
    for call, threads in calls.items():
        _keyed(call, threads.draws)
    for model in models:
        _set_modes(model)


def _begin(model: ScriptModel, state: str, plan: Plan) -> None:
    """`net, state = eqx.nn.make_with_state(Net)(8)`"""
    made = model.assign.expression
    assert isinstance(made, Call)
    draws = plan.signatures.of_outside(made).draws
    made.function.wrap(lambda cls: Call(expression("eqx.nn.make_with_state"), [cls]))
    _keyed(made, draws)
    pair = Display("tuple", [Name(model.name), Name(state)])  # which takes no annotation
    assert model.assign.expression is not None
    model.block.substitute(model.assign, [Assign([pair], model.assign.expression)])


def _keyed(call: Call, draws: bool) -> None:
    """A plain call, with the key that it takes."""
    call.become(made := Call(call.function, call.arguments, call.keywords))
    if draws:
        made.append(Key(), "key")


def _set_modes(model: ScriptModel) -> None:
    for statement, mode in model.modes:
        call = Call(expression("eqx.nn.inference_mode"), [Name(model.name)])
        if mode:
            call.append(Constant(False), "value")
        model.block.substitute(statement, [Assign([Name(model.name)], call)])
