"""What is run again in backward: `nnx.remat`, with the module in it, where that changes or draws.

jax.checkpoint(self.block)(x)    nnx.remat(lambda module, *args: module(*args))(self.block, x)
jax.checkpoint(self.f)(x)        nnx.remat(lambda module, *args: module.f(*args))(self, x)

Beside flags it is `nn.checkpointed`, which does the same.
"""

from ...facts.values.lattice import Function, Module
from ...model.effects import Support
from ...model.expressions import Attribute, Call, Lambda, Name, Starred
from ...model.node import Expression
from ...model.program import Parameter
from ..threading.threaded import UPDATED, checkpointed
from .lowering import Lowering, nnx


def checkpoint(low: Lowering, node: Call) -> bool:
    """Whether it is a call of what a checkpoint runs, and changes a module."""
    again = checkpointed(node)
    done = low.plan.facts.effects.of_call(node) if again is not None else None
    if again is None or done is None or not (done.writes or done.draws or done.open):
        return False
    if done.writes:
        low.report("taken-for-granted", node, UPDATED)
    value, method = again.value, ""
    if isinstance(again, Attribute) and isinstance(value, Function) and value.owner is not None:
        method = again.name
    elif not isinstance(value, Module):
        told = "what changes a module around it is not run again in backward, but kept: checkpoint "
        low.report("taken-for-granted", node, f"{told}a module to save its memory")
        low.edits.change(node, lambda n: n.become(Call(_made_again(n), n.arguments, n.keywords)))
        return True
    beside_flags = isinstance(node.function, Call) and isinstance(node.function.function, Support)

    def edit(node: Call) -> None:
        run = _made_again(node)
        if method and isinstance(run, Attribute):
            run = run.object
        called: Expression = Attribute(Name("module"), method) if method else Name("module")
        body = Call(called, [Starred(Name("args"))])
        rerun = Lambda([Parameter("module"), Parameter("args", "*")], body)
        word = low.support("checkpointed") if beside_flags else nnx("remat")
        made = Call(Call(word, [rerun]), [run, *node.arguments])
        made.keywords = [None, *node.keywords]
        node.replace(made)

    low.edits.change(node, edit)
    return True


def _made_again(node: Call) -> Expression:
    """What is run again, once the word for that may have been written out."""
    assert isinstance(node.function, Call)
    return node.function.arguments[0]
