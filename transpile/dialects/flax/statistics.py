"""Running statistics are written in training alone: a model that is evaluated writes no Variable,
and a plain jax.jit or jax.grad may be around it, as around one with layers of Flax's.

y, mean, var = nn.batch_norm_updating(…)       y, mean, var = nn.batch_norm_updating(…)
Write(self.running_mean, mean)             →   if not self.use_running_average:
                                                   self.running_mean[...] = mean
"""

from itertools import takewhile

from ...model.copy import clone
from ...model.edits import block_of
from ...model.effects import Support, Write
from ...model.expressions import Call, Constant, Name
from ...model.names import target_names
from ...model.node import Expression
from ...model.project import Project
from ...model.statements import Assign, Block, If

_UPDATING = "batch_norm_updating"
_TRAINING = 5  # its place among the arguments


def write_in_training(project: Project) -> None:
    """Put the writes of statistics under the flag that the call is given."""
    for function in project.functions():
        for assign in function.nodes(Assign):
            flag = _flag(assign.expression)
            if flag is None or isinstance(flag, Constant):
                continue
            block, names = block_of(assign), {n for t in assign.targets for n in target_names(t)}
            behind = block.body[block.body.index(assign) + 1 :]
            kept = list(takewhile(lambda s, names=names: _stores(s, names), behind))
            if kept:
                block.substitute(kept[0], [If(clone(flag), Block([clone(w) for w in kept]))])
                for write in kept[1:]:
                    block.remove(write)


def _flag(value: Expression | None) -> Expression | None:
    if not isinstance(value, Call) or not isinstance(value.function, Support):
        return None
    if value.function.name != _UPDATING:
        return None
    if len(value.arguments) > _TRAINING and value.keywords[_TRAINING] is None:
        return value.arguments[_TRAINING]
    return value.keyword("training")


def _stores(statement: object, names: set[str]) -> bool:
    value = statement.value if isinstance(statement, Write) else None
    return isinstance(value, Name) and value.id in names
