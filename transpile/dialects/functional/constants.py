"""The constants of a module where they are read: arrays of NumPy's, which are no arrays to JAX.

self.mask[0]                what NumPy would do with one alone is JAX's: jnp.asarray(self.mask)[0]
scaled(x, self.window)      scaled asks isinstance(window, jax.Array), or its window[ids] is by an
                            array of JAX's, by which NumPy cannot choose: jnp.asarray(self.window)
"""

from ...facts.values.lattice import Tensor
from ...model.copy import clone
from ...model.effects import Put, Read
from ...model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Binary, Compare, Conditional
from ...model.program import Function
from ...model.statements import Assign
from .plan import Plan


def constant(node: Read, plan: Plan, function: Function) -> None:
    """Read an array that the module has itself, as NumPy's or as one of JAX's."""
    around, plain = node.parent, Attribute(node.object, node.name)
    given = node.name in plan.properties(function.owner)  # which makes one of JAX's each time
    based = isinstance(around, Put) and around.base is node
    asked = isinstance(around, (Attribute, Subscript)) and around.object is node
    if based or asked and not _is_alike(around):
        node.replace(plain if given else _array(plain))
    elif given or not _is_asked(node, plan, function):
        node.become(plain)
    elif isinstance(node.value, Tensor) and node.value.none:
        missing = Compare([clone(plain), Constant(None)], ["is"])
        node.replace(Conditional(Constant(None), missing, _array(plain)))
    else:
        node.replace(_array(plain))


def _array(plain: Expression) -> Expression:
    return Call(Attribute(Name("jnp"), "asarray"), [plain])


def _is_asked(node: Read, plan: Plan, function: Function) -> bool:
    """Whether a function that an array is handed to, or in which it has a name, asks whether
    something is an array or chooses by one, or hands it on to one that does."""
    held: Node = node
    while isinstance(held.parent, (Display, Conditional)):  # `cos, sin = self.cos, self.sin`
        held = held.parent
    around = held.parent
    if function.owner is not None and plan.modules.is_library(function.owner):
        return False  # of a layer of torch's: no function of the user's is handed it
    if isinstance(around, Assign):
        asking = {function}
    elif isinstance(around, Call) and held in around.arguments:
        if _asks_for_arrays(around):
            return True
        asking = {function for function, _ in plan.facts.effects.targets(around) or ()}
        targets = plan.facts.calls.targets(around)
        asking |= {t.function for t in targets if isinstance(t.function, Function)}
    else:
        return False
    reached = plan.facts.calls.reachable(asking)
    return any(_asks_for_arrays(call) for f in reached for call in f.nodes(Call)) or any(
        _is_chosen_by_an_array(subscript) for f in reached for subscript in f.nodes(Subscript)
    )


def _is_chosen_by_an_array(node: Subscript) -> bool:
    """`cos[0, ids]`"""
    parts = node.index.elements if isinstance(node.index, Display) else [node.index]
    return isinstance(node.object, Name) and any(isinstance(p.value, Tensor) for p in parts)


def _asks_for_arrays(call: Call) -> bool:
    """`isinstance(f, jax.Array)`"""
    if dotted(call.function) != "isinstance" or len(call.arguments) != 2:
        return False
    return any(
        dotted(n) == "jax.Array" for n in call.arguments[1].walk() if isinstance(n, Attribute)
    )


def _is_alike(asked: Node | None) -> bool:
    """`self.steps.shape`, `x + self.steps.astype(x.dtype)`: NumPy's own word comes to the same."""
    if not isinstance(asked, Attribute):
        return False
    cast = asked.parent if asked.name == "astype" else None
    joined = isinstance(cast, Call) and isinstance(cast.parent, Binary)
    return joined or asked.name in ("shape", "ndim", "dtype", "size")
