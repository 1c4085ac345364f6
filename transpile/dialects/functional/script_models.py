"""The models of a script: their params and state begin below the line that builds them.

net = Net(8)            net = Net(8)
y = net(x)          →   params = net.init(jax.random.key(0))
net.eval()              state = net.init_state(jax.random.key(1))
y = net(x)              y, state = net(params, state, x, training=True)
                        y, state = net(params, state, x)
"""

from ...facts.values.lattice import Module
from ...model.edits import leave_out
from ...model.effects import Key
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted
from ...model.node import Expression, Statement
from ...model.program import File, Function
from ...model.statements import Assign
from ..reports import Reports
from ..scripts import ScriptModel
from ..threading.script_state import ScriptStates
from .given_arguments import give, state_given, without_state
from .loop_containers import listed
from .plan import Plan


def write(
    scope: File | Function, models: list[ScriptModel], plan: Plan, reports: Reports
) -> set[Call]:
    """Write the models of a file, or of a function; the calls that are given what they take."""
    for model in models:
        model.calls = [(call, mode) for call, mode in model.calls if not _is_of_part(call)]
    states, done = ScriptStates(scope, models, plan, reports), set[Call]()
    words = {model: states.word(model, "params", models) for model in models}
    states.extract(words.values())
    for model in models:
        _write(model, words[model], states, plan)
        done.update(states.threads[model])
    if isinstance(scope, Function):
        for call in (*done, *(model.assign.expression for model in models)):
            _settle(call)
    return done


def _settle(call: Expression | None) -> None:
    """Let a call stand as it is: it has what it takes."""
    assert isinstance(call, Call)
    function = call.function
    if isinstance(function, Attribute):
        function = Attribute(Name(dotted(function.object) or ""), function.name)
    elif isinstance(function, Name):
        function = Name(function.id)
    call.become(Call(function, call.arguments, call.keywords))


def _is_of_part(call: Call) -> bool:
    """`net.first(x)`, whose params have another place."""
    return isinstance(call.function, Attribute) and isinstance(call.function.value, Module)


def _write(model: ScriptModel, params: str, states: ScriptStates, plan: Plan) -> None:
    state, threads = states.words.get(model, ""), states.threads[model]
    uniform = {call for call, one in threads.items() if plan.conventions.is_uniform(call, one)}
    needed = uniform or model.walks or any(one.params for one in threads.values())
    begun = {"init": params} if needed else {}
    begun |= {"init_state": state} if state else {}
    made: list[Statement] = [
        Assign([Name(name)], Call(Attribute(Name(model.name), word), [Key()]))
        for word, name in begun.items()
    ]
    model.block.insert_after(model.made, made)
    for statement, _ in model.modes:
        leave_out(statement)
    for walk in model.walks:
        walk.replace(listed(walk, [Name(model.name), Name(params)]))
    for call, mode in model.calls:
        one, runs = threads[call], plan.conventions.hands_on_state(call, threads[call])
        given: list[Expression] = [Name(params)] if one.params or call in uniform or runs else []
        given += state_given(one, call in uniform, Name(state))
        if call in uniform or runs:
            call.function = Attribute(call.function, "apply" if call in uniform else "run")
        give(call, given)
        if one.draws:
            call.append(Key(), "key")
        if one.mode and mode:
            call.append(Constant(True), "training")
        if call in uniform and not one.takes:
            without_state(call)
