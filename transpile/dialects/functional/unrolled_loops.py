"""A loop over modules that are written out, turn by turn: each has params of its own.

for conv, bn in [(self.conv1, self.bn1), (self.conv2, self.bn2)]:
    x = bn(conv(x))                          x = self.bn1(self.conv1(x))
                                        →    x = self.bn2(self.conv2(x))
"""

from ...facts.bindings.activity import bound
from ...facts.values.joins import is_plain_function
from ...facts.values.lattice import LAMBDA, External, Module, Value
from ...facts.values.lattice import Function as FunctionValue
from ...model.copy import clone
from ...model.effects import Apply, Walk
from ...model.expressions import Attribute, Call, Display, Lambda, Name, Starred
from ...model.fallthrough import own_jumps
from ...model.names import below, is_called, root, target_names, text
from ...model.node import Expression, Statement
from ...model.operators import Binary
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Block, For
from ..sharing.submodule_paths import is_path

_MOST = 24  # statements that are written out


def unroll(project: Project) -> None:
    """Write the loops of a project out, inner ones first."""
    for function in project.functions():
        for loop in reversed(function.nodes(For)):
            turns = _turns(function, loop)
            if turns is not None and isinstance(loop.parent, Block):
                loop.parent.substitute(
                    loop, [s for turn in turns for s in _written(loop, turn, project)]
                )


Turn = dict[str, Expression] | Starred  # what names stand for, or a container that is gone over


def _turns(function: Function, loop: For) -> list[Turn] | None:
    """What the names of a loop stand for in each turn; None where it stays."""
    elements = None if isinstance(loop.iterable, Call) else _elements(loop.iterable)
    if loop.__class__ is not For or not elements:
        return None
    if all(isinstance(statement, Walk) for statement in loop.body.body):
        return None  # of initial values, which modules have wherever they stand
    found = [_turn(loop.target, element) for element in elements]
    turns = [turn for turn in found if turn is not None]
    if len(turns) < len(found) or len(turns) * len(loop.body.body) > _MOST:
        return None
    names = set(target_names(loop.target))
    held = [v for t in turns for v in ([t.expression] if isinstance(t, Starred) else t.values())]
    if not any(isinstance(value.value, Module) for value in held):
        return None
    plain = loop.orelse is None and not own_jumps(loop.body) and not names & set(bound(loop.body))
    inside = any(True for _ in below(loop.body, Function, Lambda))
    return turns if plain and not inside and not names & _met_outside(function, loop) else None


def _elements(over: Expression) -> list[Expression] | None:
    """What is gone over in turn: `[self.a, self.b] + list(self.blocks)`."""
    if isinstance(over, Display):
        return over.elements
    if isinstance(over, Binary) and over.operator == "+":
        left, right = (
            [Starred(clone(side))] if isinstance(side, Attribute) else _elements(side)
            for side in (over.left, over.right)
        )  # `self.first + self.second` of two ModuleLists
        return None if left is None or right is None else [*left, *right]
    if isinstance(over, Call) and text(over.function) in ("list", "tuple") and over.arguments:
        return [Starred(clone(over.arguments[0]))]
    return None


def _turn(target: Expression, value: Expression) -> Turn | None:
    """`*self.blocks` is a loop of its own: `for block in (self.first, *self.blocks)`."""
    if not isinstance(value, Starred):
        return _named(target, value)
    return value if isinstance(value.expression.value, Module) else None


def _named(target: Expression, value: Expression) -> dict[str, Expression] | None:
    """The names of a target with what they are given, where that may be asked for again."""
    if isinstance(target, Name):
        first = root(value)
        return {target.id: value} if first is not None and is_path(value, first.id) else None
    if not isinstance(target, Display) or not isinstance(value, Display):
        return None
    pairs = list(zip(target.elements, value.elements))
    if len(target.elements) != len(value.elements):
        return None
    if any(isinstance(e, Starred) for pair in pairs for e in pair):
        return None
    found: dict[str, Expression] = {}
    for inner, given in pairs:
        named = _named(inner, given)
        if named is None:
            return None
        found |= named
    return found


def _met_outside(function: Function, loop: For) -> set[str]:
    """The names that stand elsewhere in the function, but in loops that bind them: the last turn
    may have set them."""
    inside = set(loop.walk())
    names = (n for n in below(function.body, Name) if n not in inside)
    return {n.id for n in names if not _is_bound_by_loop(n)}


def _is_bound_by_loop(name: Name) -> bool:
    loops = [n for n in name.ancestors() if isinstance(n, For)]
    own = (n for n in loops if name.id in target_names(n.target))
    return any(name not in set(n.iterable.walk()) for n in own)


def _written(loop: For, turn: Turn, project: Project) -> list[Statement]:
    body = clone(loop.body)
    if isinstance(turn, Starred):
        return [For(clone(loop.target), clone(turn.expression), body)]
    for name in [n for n in below(body, Name) if n.id in turn]:
        made = clone(turn[name.id])
        name.replace(made)
        if isinstance(made.parent, Attribute) and isinstance(made.value, Module):
            made.parent.value = _method(made.value, made.parent, project)
        call = made.parent
        if isinstance(call, Apply) and call.function is made and _is_plain(made):
            call.become(Call(call.function, call.arguments, call.keywords))
    return list(body.body)


def _is_plain(function: Expression) -> bool:
    """Whether a turn calls a function, `self.post`, where others call modules."""
    value = function.value
    if value == LAMBDA or is_plain_function(value):
        return True
    return isinstance(value, External) and value.name.startswith(("jax.", "jnp."))  # `F.relu`


def _method(module: Module, asked: Attribute, project: Project) -> Value | None:
    """A method of what stands there in one turn, where a loop knew of those of all turns alone."""
    cls = module.refs[0] if len(module.refs) == 1 and not module.open else None
    found = project.find(cls, asked.name) if isinstance(cls, Class) else None
    called = is_called(asked)
    return FunctionValue(found, cls) if called and isinstance(found, Function) else asked.value
