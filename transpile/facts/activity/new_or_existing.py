"""What an expression gives: a tensor that was there before, or one that it computes.

    with torch.no_grad():
        y = gt if flag else x.to(device)    # gt or x itself, with its gradient
        z = gt[0]                           # a view made here, which has none
        w = x.float()                       # x itself where it is float32 already

torch leaves the history of a tensor alone: only what is computed under no_grad has none.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Display,
    Name,
    NamedExpression,
    Subscript,
)
from ...model.fallthrough import always_returns
from ...model.names import target_names
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Conditional
from ...model.program import Class, Function
from ...model.statements import Assign, Block, For, If, Return, Try, While, With
from ..calls import Calls, Target
from ..casts import is_cast, is_copy
from ..values import lattice

SAME, COMPUTED, EITHER = "same", "computed", "either"

# methods whose result is the tensor itself
_ITSELF = frozenset("requires_grad_ cpu cuda share_memory_ retain_grad".split())
# ... and functions that give it back in some cases: without training, in row-major order, with as
# few dims
_MAYBE = frozenset(
    "contiguous flatten atleast_1d atleast_2d atleast_3d real as_tensor asarray".split()
)
_MAYBE |= frozenset(
    "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout".split()
)
_DROPOUTS = frozenset(
    "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout".split()
)


# whose methods are not those of plain objects
_KNOWN = (
    lattice.Tensor,
    lattice.Torch,
    lattice.Static,
    lattice.Sequence,
    lattice.Mapping,
    lattice.Module,
)


def either(found: Iterable[str]) -> str:
    """What an expression gives that may be any of several."""
    kinds = set(found)
    return kinds.pop() if len(kinds) == 1 else EITHER if kinds else COMPUTED


class Identity:
    """Answers for expressions; what functions of the user's give back is found once for each."""

    def __init__(self, calls: Calls) -> None:
        self.calls, self.project = calls, calls.project
        self._returned: dict[Function, str] = {}

    def of(self, node: Node | None, names: Mapping[str, str]) -> str:
        """What an expression gives; `names` are those that stand for something else than what was
        there before.
        """
        if isinstance(node, Name):
            return names.get(node.id, SAME)
        if isinstance(node, Attribute):
            owner, value = node.object.value, node.value
            plain = not isinstance(owner, lattice.Tensor) and not isinstance(
                value, lattice.Function
            )
            return self.of(node.object, names) if plain else COMPUTED
        if isinstance(node, Subscript):
            held = isinstance(node.object.value, (lattice.Sequence, lattice.Mapping))
            return self.of(node.object, names) if held else COMPUTED
        if isinstance(node, Conditional):
            return either(self.of(side, names) for side in (node.body, node.orelse))
        if isinstance(node, Boolean):
            return either(self.of(side, names) for side in (node.left, node.right))
        if isinstance(node, Display):
            return either(self.of(e, names) for e in node.elements)
        if isinstance(node, Dictionary):
            return either(self.of(e, names) for _, e in node.pairs)
        if isinstance(node, NamedExpression):
            return self.of(node.expression, names)
        if isinstance(node, Comprehension) and node.kind in ("list", "generator"):
            return self._comprehension(node, names)
        return self._call(node, names) if isinstance(node, Call) else COMPUTED

    def assigned(self, node: Assign, names: Mapping[str, str]) -> str:
        """What an assignment gives its names: `a, b = x` of a tensor are views of it."""
        return COMPUTED if takes_rows(node) else self.of(node.expression, names)

    def target(self, target: Expression, over: Expression, names: dict[str, str]) -> None:
        """What the names of a loop stand for: elements of a list, rows of a tensor."""
        listed = isinstance(over.value, (lattice.Sequence, lattice.Mapping))
        of_list = listed and not isinstance(over, Call)
        for name in target_names(target):
            names[name] = self.of(over, names) if of_list else COMPUTED

    def _comprehension(self, node: Comprehension, names: Mapping[str, str]) -> str:
        """`[t for t in (x, y)]` of a list holds what that holds; the rows of a tensor are views."""
        inner = dict(names)
        for clause in node.clauses:
            self.target(clause.target, clause.iterable, inner)
        return self.of(node.element, inner)

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, call: Call, names: Mapping[str, str]) -> str:
        function = call.function.value
        if isinstance(function, lattice.Method) and isinstance(call.function, Attribute):
            if isinstance(function.receiver, lattice.Tensor):
                return self._method(call, call.function.object, function.name, names)
            methods = self.methods(call)
            if methods:  # an object may give what it was made with: its arguments do not tell
                return either(self._target(target.function) for target in methods)
            return self._method(call, call.function.object, function.name, names)
        given = either(self.of(a, names) for a in call.arguments)
        if given == COMPUTED and call.arguments:
            return COMPUTED
        if isinstance(function, lattice.Torch):
            return EITHER if function.name.rpartition(".")[2] in _MAYBE else COMPUTED
        if isinstance(function, lattice.Module):
            found = self._module(function)
        else:
            found = either(self._target(t.function) for t in self.calls.targets(call))
        return EITHER if found == SAME and given == EITHER else found

    def methods(self, call: Call) -> list[Target]:
        """The methods of plain objects of the user's that a call may run, by their name."""
        value, found = call.function.value, self.calls.targets(call)
        if found or not isinstance(value, lattice.Method) or isinstance(value.receiver, _KNOWN):
            return found
        owners = self.calls.values.facts.owners.get(value.name, ())
        found = []
        for methods in map(self.project.methods, owners):
            method = methods.get(value.name)
            if method is None and value.name == "forward":
                method = methods.get("__call__")  # which recognise has made of a module's
            found += [Target(method)] if method is not None else []
        return found

    def _method(self, call: Call, receiver: Node, name: str, names: Mapping[str, str]) -> str:
        before, cast = self.of(receiver, names), is_cast(call)
        if before == COMPUTED or name in _ITSELF or name == "to" and not cast:
            return before
        if cast:
            return COMPUTED if is_copy(call) else EITHER
        return EITHER if name in _MAYBE else COMPUTED

    def _module(self, module: lattice.Module) -> str:
        """What a module makes of what it is given; a loop over layers is taken to have turns."""
        found = []
        for ref in module.refs:
            name = ref.rpartition(".")[2] if isinstance(ref, str) else ""
            forward = self.forward(ref) if isinstance(ref, Class) else None
            if name == "Sequential" and module.items:
                held = [m for _, m in module.items if isinstance(m, lattice.Module)]
                parts = [self._module(m) for m in held]
                found.append(COMPUTED if COMPUTED in parts or not parts else either(parts))
            elif forward is not None:
                found.append(self.returned(forward))
            else:
                named = SAME if name == "Identity" else EITHER if name in _DROPOUTS else COMPUTED
                found.append(named)
        return either(found)

    def forward(self, cls: Class) -> Function | None:
        """What a call of a module runs, before or after it has its name in JAX."""
        return self.project.find(cls, "forward") or self.project.find(cls, "__call__")

    def _target(self, function: Any) -> str:
        if isinstance(function, Function):
            return self.returned(function)
        return self.of(function.body, {})

    # --- functions -------------------------------------------------------------------------------

    def returned(self, function: Function) -> str:
        """What a function gives back of what it is given."""
        if function not in self._returned:
            self._returned[function] = COMPUTED  # while it is being found out: recursion
            walk = _Walk(self)
            if not function.yields:
                walk.block(function.body.body, {})
            self._returned[function] = either(walk.returned)
        return self._returned[function]


def takes_rows(node: Assign) -> bool:
    """Whether an assignment takes the rows of a tensor: `a, b = x`."""
    apart = any(isinstance(t, Display) for t in node.targets)
    value = node.expression.value if node.expression is not None else None
    return apart and isinstance(value, lattice.Tensor)


class _Walk:
    """Goes through a function, and keeps for its names what they stand for."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.returned: list[str] = []

    def block(self, statements: Iterable[Statement], names: dict[str, str]) -> None:
        for statement in statements:
            self._statement(statement, names)

    def _statement(self, node: Statement, names: dict[str, str]) -> None:
        if isinstance(node, If):
            self._ways([node.body, node.orelse], names)
        elif isinstance(node, For):
            inside = dict(names)
            self.identity.target(node.target, node.iterable, inside)
            self._turns(node, inside, names)
        elif isinstance(node, While):
            self._turns(node, dict(names), names)
        elif isinstance(node, With):
            self.block(node.body.body, names)
        elif isinstance(node, Try):
            self._ways([node.body, *(h.body for h in node.handlers)], names)
        elif isinstance(node, Return) and node.expression is not None:
            self.returned.append(self.identity.of(node.expression, names))
        elif isinstance(node, Assign) and node.expression is not None and not node.operator:
            found = self.identity.assigned(node, names)
            for name in (name for target in node.targets for name in target_names(target)):
                names[name] = found

    def _ways(self, sides: Sequence[Block | None], names: dict[str, str]) -> None:
        ends = []
        for side in sides:
            inside = dict(names)
            self.block(side.body if side is not None else [], inside)
            if not always_returns(side):
                ends.append(inside)
        for name in dict.fromkeys(name for end in ends for name in end):
            names[name] = either(end.get(name, SAME) for end in ends)

    def _turns(self, node: For | While, inside: dict[str, str], names: dict[str, str]) -> None:
        for _ in range(2):  # what one turn makes is what the next finds
            self.block(node.body.body, inside)
        value = node.iterable.value if isinstance(node, For) else None
        layers = isinstance(value, lattice.Module)
        for name, found in inside.items():
            names[name] = found if layers else either((names.get(name, SAME), found))
