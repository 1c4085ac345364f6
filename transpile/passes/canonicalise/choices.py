"""A choice between two calls that nobody takes the value of, of what such a call writes, or between
a parameter and what is none, as a branch; a choice between a function of torch's and another, or
between two methods, which may draw or hold modules, where it is called; whether something is None.

nn.init.ones_(w) if first else nn.init.zeros_(w)  →  if first: nn.init.ones_(w)
                                                     else: nn.init.zeros_(w)

nn.init.ones_(w if first else v)                  →  if first: nn.init.ones_(w)
                                                     else: nn.init.ones_(v)

x = x.add_(y) if x is not None else y             →  if x is not None: x = x.add_(y)
                                                     else: x = y

self.w = Parameter(w) if learned else w           →  if learned: self.w = Parameter(w)
                                                     else: self.w = w

make = uniform if not zero else torch.zeros       →
w = make(n)                                          w = uniform(n) if not zero else torch.zeros(n)

if x == None                                      →  if x is None
"""

from ...model.constants import is_none
from ...model.copy import clone
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted, everywhere, imported, is_inplace, is_own, rebound, text
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Compare, Conditional, Unary, sides
from ...model.program import Function, Scope
from ...model.statements import Assign, Block, ExpressionStatement, If, While

_PLAIN = (Name, Constant, Unary, Boolean, Compare)


def chooses_writes(node: Expression) -> bool:
    """Whether a choice writes in place on one of its ways, or a call what is chosen."""
    if isinstance(node, Conditional):
        return _writes(node.body) or _writes(node.orelse)
    return _writes(node) and isinstance(_written(node), Conditional)


def _writes(node: Expression) -> bool:
    if isinstance(node, Conditional):
        return chooses_writes(node)
    return isinstance(node, Call) and is_inplace(dotted(node.function) or "")


def _written(node: Expression) -> Expression | None:
    """What a function writes: its first argument."""
    first = isinstance(node, Call) and node.arguments and node.keywords[0] is None
    return node.arguments[0] if first else None  # type: ignore[attr-defined]


def chooses_parameter(scope: Scope, assign: Assign) -> bool:
    """Whether an attribute is made a parameter on one way, and something else on another: each is
    declared as what it is."""
    choice, target = assign.expression, assign.targets[0]
    if not isinstance(choice, Conditional) or not isinstance(target, Attribute) or assign.operator:
        return False
    made = {_is_parameter(scope, side) for side in sides(choice) if not is_none(side)}
    return len(made) > 1 and len(assign.targets) == 1


def takes_written(assign: Assign) -> bool:
    """Whether a name gets what is written in place on one way: `x = x.add_(y) if x is not None
    else y`."""
    choice = assign.expression
    choice = choice if isinstance(choice, Conditional) and len(assign.targets) == 1 else None
    return choice is not None and not assign.operator and _writes(choice)


def _is_parameter(scope: Scope, node: Expression) -> bool:
    name = imported(scope, node.function) if isinstance(node, Call) else ""
    return name.startswith("torch.") and name.endswith(".Parameter")


def branch(statement: ExpressionStatement | Assign) -> Statement:
    """The branch that stands in the place of a choice."""
    choice = statement.expression
    assert choice is not None
    target = statement.targets[0] if isinstance(statement, Assign) else None
    return _branch(choice, target)


def _branch(node: Expression, target: Expression | None) -> Statement:
    if isinstance(node, Call) and target is None and chooses_writes(node):
        choice = _written(node)
        assert isinstance(choice, Conditional)
        rest, other = node.arguments[1:], clone(node).arguments[1:]
        return If(
            choice.test,
            Block([_branch(Call(node.function, [choice.body, *rest], node.keywords), None)]),
            Block(
                [_branch(Call(clone(node.function), [choice.orelse, *other], node.keywords), None)]
            ),
        )
    if not isinstance(node, Conditional):
        return ExpressionStatement(node) if target is None else Assign([clone(target)], node)
    form = "elif" if isinstance(node.orelse, Conditional) else "indented"
    body, orelse = _branch(node.body, target), _branch(node.orelse, target)
    return If(node.test, Block([body]), Block([orelse], form))


def chosen_call(scope: Scope, statement: Statement) -> Call | None:
    """The one call of what a choice between a function of torch's and another, or between methods,
    gives a name."""
    target, choice = _choice(statement)
    if not isinstance(scope, Function) or target is None or not isinstance(choice, Conditional):
        return None
    ways = sides(choice)
    of_torch = {imported(scope, side).startswith("torch.") for side in ways}
    own = all(_is_method(scope, side) for side in ways)
    if any(dotted(side) is None for side in ways) or not own and len(of_torch) == 1:
        return None
    if isinstance(statement, If) and not own:
        return None
    inside = set(statement.walk())
    uses = [n for n in everywhere(scope, Name) if n.id == target.id and n not in inside]
    call = uses[0].parent if len(uses) == 1 else None
    if not isinstance(call, Call) or call.function is not uses[0]:
        return None
    asked = list(choice.walk())
    at_once = own and _follows(call.parent, statement)
    kinds = (*_PLAIN, Attribute) if at_once else _PLAIN
    plain = all(isinstance(n, kinds) for test in _tests(choice) for n in test.walk())
    changed = {n.id for n in asked if isinstance(n, Name)} & rebound(scope)
    if not own:
        changed |= {target.id} & rebound(scope)
    here = next(n for n in call.ancestors() if isinstance(n, Scope)) is scope
    return call if plain and here and not changed and (at_once or not own) else None


def _choice(statement: Statement) -> tuple[Name | None, Expression | None]:
    """The name that a statement gives a value, and that value: of `if a: f = self.up` and
    `else: f = self.down` a choice."""
    if isinstance(statement, Assign):
        target = statement.targets[0] if len(statement.targets) == 1 else None
        plain = isinstance(target, Name) and not statement.operator
        return (target, statement.expression) if plain else (None, None)  # type: ignore[return-value]
    if not isinstance(statement, If) or statement.orelse is None or "#" in text(statement):
        return None, None
    blocks = (statement.body.body, statement.orelse.body)
    if any(len(block) != 1 for block in blocks):
        return None, None
    (target, body), (other, orelse) = (_choice(block[0]) for block in blocks)
    if target is None or other is None or body is None or orelse is None or target.id != other.id:
        return None, None
    return target, Conditional(clone(body), clone(statement.test), clone(orelse))


def _tests(choice: Expression) -> list[Expression]:
    if not isinstance(choice, Conditional):
        return []
    return [choice.test, *_tests(choice.body), *_tests(choice.orelse)]


def _is_method(scope: Function, side: Expression) -> bool:
    """`self.sample_fast`, of the class that a method is of."""
    cls, me = scope.owner, scope.receiver
    if cls is None or not is_own(side, me):
        return False
    return any(isinstance(m, Function) and m.name == side.name for m in cls.body.body)


def _follows(node: Node | None, other: Statement) -> bool:
    """Whether something is all of the next statement of the same block: `return f(x)`."""
    block = other.parent
    if not isinstance(node, Statement) or not isinstance(block, Block) or node not in block.body:
        return False
    return block.body.index(node) == block.body.index(other) + 1


def called(call: Call, statement: Statement) -> Expression:
    """The choice between two calls for the call of a choice."""
    choice = _choice(statement)[1]
    assert choice is not None
    return _called(choice, call)


def _called(choice: Expression, call: Call) -> Expression:
    if not isinstance(choice, Conditional):
        given = clone(call)
        return Call(choice, given.arguments, given.keywords)
    return Conditional(_called(choice.body, call), choice.test, _called(choice.orelse, call))


def tests_none(node: Compare) -> bool:
    """Whether `x == None` decides on a way: no tensor equals None, and an array of NumPy's, which
    compares each element, decides nothing."""
    if node.operators not in (["=="], ["!="]) or not any(map(is_none, node.operands)):
        return False
    around = node.parent
    if isinstance(around, (If, While, Conditional)):
        return around.test is node
    negated = isinstance(around, Unary) and around.operator == "not"
    return negated or isinstance(around, Boolean)


def by_identity(node: Compare) -> Compare:
    left, right = node.operands
    asked = right if is_none(left) else left
    return Compare([asked, Constant(None)], ["is" if node.operators == ["=="] else "is not"])
