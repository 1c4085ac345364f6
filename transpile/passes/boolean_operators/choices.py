"""Choices as expressions: a ternary by data, an element of a list that data choose.

A ternary is `jnp.where` where both sides are plain arithmetic on one array, which costs little and
has its slope everywhere; else `lax.cond`, which computes one side. Where a side has effects, both
become sides of an `if`.
"""

from functools import partial

from ...facts.values.lattice import UNKNOWN, Module, Sequence, Static, Tensor
from ...model.copy import clone
from ...model.effects import CONSTANT, Read, Support, Unconverted
from ...model.expressions import Attribute, Call, Constant, Display, Lambda, Name, Slice, Subscript
from ...model.names import binds, dotted
from ...model.node import Expression, Statement
from ...model.operators import Binary, Boolean, Compare, Conditional, Unary
from ...model.positions import source_of
from ...model.statements import Assign, Block, ExpressionStatement, For, If, Return
from ...source.lower_ast import expression
from ..truth import told, traced, truth
from .operators import Operators, place_before, value

_LAYER = (
    "a tensor's value says which module of a list this is: choose by a number of Python's, or "
    "write the choice as an if statement"
)
_LACKS = "the truth of an array that may be None: compare it with None, and ask for its element"


def element(node: Expression) -> Expression:
    """The one element of an array that is asked for its truth, which torch takes no other of."""
    return told(Call(Attribute(truth(node), "reshape"), [Display("tuple", [])]))


def of_what_may_lack(o: Operators, read: Read) -> None:
    """`if self.bias:` where it is None or an array, which under jit has no truth of its own."""
    branch, found = read.parent, read.value
    if not isinstance(found, Tensor) or found.assumed or not found.none:
        return
    is_there = Compare([clone(read), Constant(None)], ["is not"])
    if not isinstance(branch, If) or branch.test is not read or branch.orelse is not None:
        raised = Unconverted("traced-branch", source_of(read))
        o.changes.report("traced-branch", read, _LACKS)
        o.changes.replace(read, lambda _: Boolean(is_there, "and", raised))
        return
    o.changes.change(branch, partial(_where_there, is_there=is_there))


def _where_there(branch: If, is_there: Expression) -> None:
    """Ask for the element where there is an array, and go on as before."""
    test, inner = clone(branch.test), Block([])
    test.value = Tensor()
    branch.test.replace(is_there)
    statements = list(branch.body.body)
    branch.body.insert_before(statements[0], [If(element(test), inner)])
    for statement in statements:
        branch.body.take(statement)
        inner.append([statement])


def ternary(o: Operators, node: Conditional) -> None:
    """`a if test else b`, where data tell the test."""
    if not traced(node.test):
        return
    sides = (node.body, node.orelse)
    if any(_no_array(side) for side in sides):
        message = "a choice by a tensor's value between things that are no arrays"
        o.changes.unconverted("traced-branch", node, message)
    elif not all(o.is_pure(side, drawing=False) for side in sides) and _as_branch(o, node):
        return
    elif not all(o.is_pure(side) for side in sides):
        message = "a choice by a tensor's value, of which a side has effects, inside an expression"
        o.changes.unconverted("traced-branch", node, message)
    elif alike(o, *sides):
        where = expression("jnp.where")
        o.changes.replace(node, lambda n: Call(where, [n.test, n.body, n.orelse]))
    else:
        numbers = sum(isinstance(value(side), Static) for side in sides)
        choice = Support("choose") if numbers == 1 else expression("lax.cond")
        o.changes.replace(
            node, lambda n: Call(choice, [n.test, Lambda([], n.body), Lambda([], n.orelse)])
        )


def _no_array(node: Expression) -> bool:
    known = value(node)
    if isinstance(known, Static):
        return known.type in ("str", "None", "dtype", "device")
    if isinstance(known, Sequence) and known.tuple and known.items is not None:
        return not all(isinstance(item, Tensor) for item in known.items)
    return known != UNKNOWN and not isinstance(known, Tensor)


def alike(o: Operators, a: Expression, b: Expression) -> bool:
    """Whether two expressions are plain arithmetic on one array, so of one shape and total.

    Not division and the like: `x / n if n > 0 else 0.0` would have the gradient of the side not
    taken, which is NaN.
    """
    names: set[str] = set()
    plain = _plain(a, names) and _plain(b, names)
    return plain and len(names) <= 1 and o.facts.totality.total(a) and o.facts.totality.total(b)


def _plain(node: Expression, names: set[str]) -> bool:
    known = value(node)
    if isinstance(node, Constant):
        return isinstance(node.constant, (int, float))
    if isinstance(node, (Name, Attribute)):
        if isinstance(known, Static):
            return known.type in ("int", "float", "bool")
        names.add(dotted(node) or repr(node))
        return isinstance(known, Tensor) and not known.none
    if isinstance(node, Unary):
        return node.operator == "-" and _plain(node.operand, names)
    if isinstance(node, Binary):
        sides = _plain(node.left, names) and _plain(node.right, names)
        return sides and node.operator in ("+", "-", "*")
    return False


def _as_branch(o: Operators, node: Conditional) -> bool:
    """`y = self.bn(x) if t else x` as an `if` with a statement on each side, where that can be."""
    statement = node.parent
    whole = isinstance(statement, (Assign, Return, ExpressionStatement))
    if whole and isinstance(statement, Statement) and isinstance(statement.parent, Block):
        if statement in o.preceded:
            return False
        o.preceded.add(statement)
        o.changes.replace(statement, _branched)
        return True
    before = place_before(o, node)
    if before is None:
        return False
    name, made = o.fresh("chosen"), list[If]()

    def make(node: Conditional) -> Expression:
        sides = (Block([Assign([Name(name)], side)]) for side in (node.body, node.orelse))
        made.append(If(node.test, *sides))
        return Name(name)

    o.changes.replace(node, make)
    o.changes.insert_before(before, made)
    return True


def _branched(statement: Assign | Return | ExpressionStatement) -> If:
    choice = statement.expression
    assert isinstance(choice, Conditional)
    test, sides = choice.test, (choice.body, choice.orelse)
    blocks = []
    for side in sides:
        made = clone(statement)
        made.expression = side
        side.parent = made
        made.slot = None
        made.restate()
        blocks.append(Block([made]))
    return If(test, *blocks)


# --- elements -------------------------------------------------------------------------------------


def chosen_by(node: Expression) -> Expression | None:
    """The index, where a list of Python's is asked by data which of its elements is meant."""
    if not isinstance(node, Subscript) or isinstance(node.index, Slice):
        return None
    listed = isinstance(value(node.object), Sequence)
    return node.index if listed and traced(node.index) else None


def picked(o: Operators, node: Subscript) -> None:
    """`parts[i]` is `jnp.stack(parts)[i]`; what is stored there has no place."""
    known, around = value(node.object), node.parent
    layers = isinstance(known, Module) and not isinstance(known.element, Tensor)  # nor params
    if layers and traced(node.index) and not _of_constants(o, node.index):
        o.changes.unconverted("traced-branch", node, _LAYER)
    if chosen_by(node) is None or not isinstance(known, Sequence):
        return
    if isinstance(around, Assign) and node in around.targets:
        message = "a list of Python's cannot be written where data say: stack its arrays into one"
        o.changes.report("traced-branch", node, message)
        raised = ExpressionStatement(Unconverted("traced-branch", source_of(around)))
        o.changes.replace(around, raised)
    elif isinstance(known.element, Tensor):
        stack = expression("jnp.stack")
        o.changes.wrap(node.object, lambda n: Call(stack, [n]))


def _of_constants(o: Operators, index: Expression) -> bool:
    """Whether an index may follow from NumPy's arrays, or what a module keeps as such: `for i in
    self.order`."""
    todo, seen = [index], set[str]()
    while todo:
        for node in [n for n in todo.pop().walk() if isinstance(n, (Name, Read))]:
            known = node.value
            if isinstance(known, Tensor) and known.host:
                return True
            if isinstance(node, Read) and node.kind == CONSTANT:
                return True
            if isinstance(node, Name) and node.id not in seen:
                seen.add(node.id)
                todo += [n.iterable for n in o.scope.nodes(For) if node.id in binds(n)]
                given = (n.expression for n in o.scope.nodes(Assign) if node.id in binds(n))
                todo += [value for value in given if value is not None]
    return False


def switch(o: Operators, node: Call) -> bool:
    """`functions[i](x)` is `lax.switch(i, functions, x)`; a negative index counts from the end."""
    if chosen_by(node.function) is None or not isinstance(node.function, Subscript):
        return False
    functions = node.function.object
    if any(word is not None for word in node.keywords) or isinstance(functions, Call):
        message = "a call of what a tensor's value picks from a list"
        o.changes.unconverted("traced-branch", node, message)
        return True
    known = value(functions)
    items = known.items if isinstance(known, Sequence) else None

    def make(node: Call) -> Expression:
        assert isinstance(node.function, Subscript)
        listed, index = node.function.object, node.function.index
        length = Constant(len(items)) if items else Call(Name("len"), [clone(listed)])
        return Call(expression("lax.switch"), [Binary(index, "%", length), listed, *node.arguments])

    o.changes.replace(node, make)
    return True
