"""Masks that sizes alone tell are NumPy's, known when a function is traced, so that they choose.

mask = ~jnp.eye(n, dtype=bool)         mask = ~np.eye(n, dtype=bool)
return s[mask].reshape(n, -1)      →   return s[mask].reshape(n, -1)

So are those that a constructor makes: `self.mask = self._pairs(n)`, of `s[self.mask]`. What NumPy
has no word for, or would round otherwise, is computed at once and handed on as NumPy's:
`with jax.ensure_compile_time_eval():`. A mask that follows from an array, a param, state or a draw
stays what it is, and its report stays too.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from ..facts.index_constants import SELECT, chooses, is_choosing
from ..facts.index_constants import mask as kept_mask
from ..facts.trace_constants import SHARED, TYPES, How, Known
from ..facts.values.lattice import NUMPY, Module, Static
from ..facts.values.lattice import Function as FunctionValue
from ..model.effects import Apply, Declare, Put, Read, Support
from ..model.expressions import Attribute, Call, Name, Subscript
from ..model.names import dotted, in_scope
from ..model.node import Expression
from ..model.program import Function, Scope
from ..model.statements import Assign, Block, With
from .pass_ import Changes, Pass


def run(scope: Scope, facts: Any) -> Changes:
    """Let the masks of a traced function be known that can be."""
    changes = Changes(scope)
    if not isinstance(scope, Function):
        return changes
    if facts.choosing:
        _of_module(changes, scope, facts)
    if facts.stage(scope) not in ("traced", None):
        return changes
    uses = [n for n in in_scope(scope, Subscript, Put, Call, Apply) if any(chooses(n))]
    if not uses:
        return changes
    known, lifted = Known(scope, facts.effects), list[Expression]()
    for use in uses:
        masks = list(chooses(use))
        if _are_known(known, masks):
            lifted += masks
            _pick(changes, use)
            changes.withdraw("data-dependent-shape", use)
    _lift(changes, known, lifted)
    return changes


def _of_module(changes: Changes, function: Function, facts: Any) -> None:
    """Let the constants of modules be NumPy's that choose, where they are made and read."""
    for declare in function.nodes(Declare):
        if (function.owner, declare.name) in facts.choosing:
            changes.change(declare, partial(_made, exact=Known(function, facts.effects)))
    for read in function.nodes(Read):
        if is_choosing(read, facts.choosing, facts.modules):
            changes.change(read, _plain)
    for use in function.nodes(Subscript, Put, Call):
        masks = [kept_mask(mask) for mask in chooses(use)]
        if masks and all(m and is_choosing(m, facts.choosing, facts.modules) for m in masks):
            changes.withdraw("data-dependent-shape", use)
            _pick(changes, use)


def _pick(changes: Changes, use: Expression) -> None:
    """Let it be known which module of a list is meant, where one is: `self.layers[int(i)]`."""
    if isinstance(use, Subscript) and isinstance(use.object.value, Module):
        changes.change(use, _picked)


def _picked(use: Subscript) -> None:
    use.index.wrap(lambda index: Call(Name("int"), [index]))
    use.index.value = Static(type="int")


def _made(declare: Declare, exact: Known) -> None:
    value = declare.expression
    assert value is not None
    if exact.how(value) == How.NUMPY:
        for word in _words(value):
            word.object.replace(Name("np"))
    else:
        value.wrap(lambda value: Call(Attribute(Name("np"), "asarray"), [value]))
    assert declare.expression is not None
    declare.expression.value = NUMPY
    declare.become(Assign(declare.targets, declare.expression))


def _plain(read: Read) -> None:
    read.become(Attribute(read.object, read.name))
    read.value = NUMPY


def _are_known(known: Known, masks: list[Expression]) -> bool:
    """Whether masks follow from what is known, none of which is used as only JAX's arrays are."""
    if not masks or any(known.how(mask) != How.NUMPY for mask in masks):
        return False
    names = known.reached(known.needed(masks))
    uses = in_scope(known.function, Put, Subscript, Call, Apply)
    return not any(_is_for_jax(known, use, names) for use in uses)


def _is_for_jax(known: Known, use: Expression, names: set[str]) -> bool:
    """Whether one of these locals is changed here, indexed by traced arrays, or handed to what may
    do so: `mask.at[0].set(1)`, `mask[labels]`, `store(mask)`."""
    if isinstance(use, Put):
        return dotted(use.base) in names
    if isinstance(use, Subscript):
        return dotted(use.object) in names and known.how(use) == How.NOT
    assert isinstance(use, Call)
    return _takes_any(use) and any(dotted(a) in names for a in use.arguments)


def _takes_any(call: Call) -> bool:
    """Whether a call is of a helper, a function or a module: what it does with an array is its own
    affair."""
    if isinstance(call.function, Support):
        return call.function.name != SELECT
    return isinstance(call.function.value, (FunctionValue, Module))


def _lift(changes: Changes, known: Known, masks: list[Expression]) -> None:
    """Let these, and what they follow from, be NumPy's."""
    for mask in masks:
        _in_numpy(changes, mask)
    for name in known.needed(masks):
        for assign in known.bound[name]:
            assert assign.expression is not None
            if known.how(assign.expression) == How.NUMPY:
                _in_numpy(changes, assign.expression)
            else:
                changes.change(assign, _at_once)


def _in_numpy(changes: Changes, node: Expression) -> None:
    """`np.eye(n)` of `jnp.eye(n)`"""
    for word in _words(node):
        changes.replace(word.object, Name("np"))


def _words(node: Expression) -> Iterable[Attribute]:
    found = (n for n in node.walk() if isinstance(n, Attribute) and dotted(n.object) == "jnp")
    return [n for n in found if n.name in SHARED | TYPES]


def _at_once(assign: Assign) -> None:
    """`mask = …` in a block of its own, where nothing is traced."""
    assert assign.expression is not None and isinstance(assign.parent, Block)
    assign.expression.wrap(lambda value: Call(Attribute(Name("np"), "asarray"), [value]))
    context = Call(Attribute(Name("jax"), "ensure_compile_time_eval"))
    block = assign.parent
    around = With([context, None], Block([]))
    block.insert_before(assign, [around])
    block.take(assign)
    around.body.append([assign])


PASS = Pass("lift_constants", ("stages", "values", "effects"), run)
