"""A model that is evaluated writes no Variable: a plain jax.jit or jax.grad may be around it.

y, mean, var = nn.batch_norm_updating(…)       y, mean, var = nn.batch_norm_updating(…)
Write(self.running_mean, mean)             →   if not self.use_running_average:
                                                   self.running_mean[...] = mean
drop_path(x, 0.1, self.training, key=Key)  →   key=None if self.deterministic else self.noise()
"""

from ...facts.values.lattice import Function as FunctionValue
from ...model.copy import clone
from ...model.effects import Key, Mode, Support, Write
from ...model.expressions import Call, Constant, Name, Starred
from ...model.fallthrough import always_returns
from ...model.names import dotted, everywhere, rebound, target_names
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Conditional, Unary
from ...model.program import Function
from ...model.project import Project
from ...model.statements import Assign, Block, If
from .plan import Plan

_TRAINING = 5  # the place of `training` among the arguments of batch_norm_updating


def write_in_training(project: Project) -> None:
    """Put the writes of statistics under the flag that the call is given."""
    for function in project.functions():
        for assign in function.nodes(Assign):
            flag, block, kept = _flag(assign.expression), assign.parent, list[Statement]()
            if flag is None or isinstance(flag, Constant) or not isinstance(block, Block):
                continue
            names = {n for t in assign.targets for n in target_names(t)}
            for statement in block.body[block.body.index(assign) + 1 :]:
                if not isinstance(statement, Write) or dotted(statement.value) not in names:
                    break
                kept.append(statement)
            if kept:
                block.substitute(kept[0], [If(clone(flag), Block([clone(w) for w in kept]))])
                for write in kept[1:]:
                    block.remove(write)


def _flag(call: Expression | None) -> Expression | None:
    if not isinstance(call, Call) or not isinstance(call.function, Support):
        return None
    if call.function.name != "batch_norm_updating":
        return None
    plain = len(call.arguments) > _TRAINING and call.keywords[_TRAINING] is None
    return call.arguments[_TRAINING] if plain else call.keyword("training")


def drawn_in_training(plan: Plan, call: Call) -> Mode | None:
    """The mode of what draws in training alone: `dropout(x, p, self.training)`, or
    `dropout(x, p if self.training else 0.0)`; a function of the user's that is given it."""
    if any(isinstance(a, Starred) for a in call.arguments):
        return None
    value = call.function.value
    own = value.function if isinstance(value, FunctionValue) and value.owner is None else None
    if own is None and not isinstance(call.function, Support):
        return None
    for i, (given, word) in enumerate(zip(call.arguments, call.keywords)):
        if isinstance(given, Mode):
            if own is None or _draws_under(own, word or own.parameters[i].name, plan):
                return given
        elif own is None and isinstance(given, Conditional) and isinstance(given.test, Mode):
            rate = given.orelse
            if isinstance(rate, Constant) and type(rate.constant) in (int, float):
                if rate.constant == 0:
                    return given.test
    return None


def _draws_under(function: Function, flag: str, plan: Plan) -> bool:
    """Whether a function draws only where what it is given as `flag` is true."""
    calls = [c for c in everywhere(function, Call) if plan.takes.keys() & set(plan.targets(c))]
    sites = [*everywhere(function, Key), *calls]
    return flag not in rebound(function) and all(_is_under(s, flag, function) for s in sites)


def _is_under(key: Node, flag: str, function: Function) -> bool:
    call, inner = key.parent, key
    if isinstance(call, Call) and isinstance(call.function, Support):
        if isinstance(key, Key) and flag in map(dotted, call.arguments):
            return True
    for around in key.ancestors():
        if around is function:
            break
        if isinstance(around, (If, Conditional)) and inner is around.body:
            if _says(around.test, flag, "and"):
                return True
        if isinstance(around, Block):
            before = [s for s in around.body[: around.body.index(inner)] if isinstance(s, If)]  # type: ignore[arg-type]
            if any(always_returns(s.body) and _says(s.test, flag, "or") for s in before):
                return True
        inner = around
    return False


def _says(test: Expression, flag: str, word: str) -> bool:
    """Whether a test holds only where the flag does, "and", or wherever it does not, "or"."""
    if isinstance(test, Boolean) and test.operator == word:
        return _says(test.left, flag, word) or _says(test.right, flag, word)
    if word == "or":
        return isinstance(test, Unary) and test.operator == "not" and dotted(test.operand) == flag
    return isinstance(test, Name) and test.id == flag
