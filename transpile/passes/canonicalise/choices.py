"""A choice between two calls that nobody takes the value of, of what such a call writes, or between
a parameter and what is none, as a branch; a choice between a function of torch's and another, which
may draw or hold modules, where it is called; whether something is None.

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

from ...model.copy import clone
from ...model.expressions import Attribute, Call, Constant, Name, is_none
from ...model.names import dotted, everywhere, imported, is_inplace, rebound
from ...model.node import Expression, Statement
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


def chosen_call(scope: Scope, assign: Assign) -> Call | None:
    """The one call of what a choice between a function of torch's and another gives a name."""
    choice, target = assign.expression, assign.targets[0]
    if not isinstance(scope, Function) or not isinstance(choice, Conditional) or assign.operator:
        return None
    if len(assign.targets) != 1 or not isinstance(target, Name):
        return None
    sides = [choice.body, choice.orelse]
    of_torch = [imported(scope, side).startswith("torch.") for side in sides]
    if any(dotted(side) is None for side in sides) or of_torch[0] is of_torch[1]:
        return None
    uses = [n for n in everywhere(scope, Name) if n.id == target.id and n is not target]
    call = uses[0].parent if len(uses) == 1 else None
    if not isinstance(call, Call) or call.function is not uses[0]:
        return None
    asked = list(choice.walk())
    plain = all(isinstance(n, _PLAIN) for n in choice.test.walk())
    changed = {target.id, *(n.id for n in asked if isinstance(n, Name))} & rebound(scope)
    here = next(n for n in call.ancestors() if isinstance(n, Scope)) is scope
    return call if plain and here and not changed else None


def called(call: Call, assign: Assign) -> Conditional:
    """The choice between two calls for the call of a choice."""
    choice = assign.expression
    assert isinstance(choice, Conditional)
    other = clone(call)
    first = Call(choice.body, call.arguments, call.keywords)
    return Conditional(first, choice.test, Call(choice.orelse, other.arguments, other.keywords))


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
