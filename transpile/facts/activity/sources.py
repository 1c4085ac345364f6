"""From which params and inputs the gradient of an expression may come: one function a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ...model import expressions as nodes
from ...model.effects import Detached, Key, Mode, New, Put, Read, Shape, Unconverted
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import names_in, target_names
from ...model.node import Expression, Node
from ...model.operators import Binary, Boolean, Compare, Conditional, Unary
from ...model.program import Function, Parameter
from ...model.statements import With
from ..values import lattice
from ..values.lattice import External, Tensor, Torch
from .cells import INPUT, NONE, OPEN, PARAM, Sources
from .no_grad_blocks import may_carry

if TYPE_CHECKING:
    from .solve import Solver

_LIKE = frozenset("zeros ones empty full rand randn randint".split())
# of torch's functions, those whose result has no history, whatever they are given
_MADE = _LIKE | {f"{name}_like" for name in _LIKE}
_MADE |= frozenset("arange eye from_numpy linspace logspace normal randperm tensor".split())
# and of methods
_ANEW = frozenset("detach item new new_empty new_full new_ones new_tensor new_zeros tolist".split())
_INDEXED = frozenset("scatter scatter_add scatter_reduce index_add index_copy gather".split())
_PLAIN = frozenset("os pathlib json numpy re sys time glob shutil".split())  # without history
PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


class Place(NamedTuple):
    """Where an expression is asked for: its scope, and the block without gradient around it."""

    scope: Any
    block: With | Function | None


class Transfer:
    """The sources of expressions, by what the cells hold now."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver

    def of(self, node: Expression | None, at: Place) -> Sources:
        """The sources of an expression."""
        if node is None or not _may_carry(node):
            return NONE
        handler = _handler(node.__class__)
        if handler is not None:
            return handler(self, node, at)
        return self.all(node.children(), at) | {OPEN}

    def all(self, nodes: Iterable[Node | None], at: Place) -> Sources:
        found: Sources = NONE
        for node in nodes:
            if isinstance(node, Expression):
                found |= self.of(node, at)
        return found

    # --- names and attributes --------------------------------------------------------------------

    def _name(self, node: Name, at: Place) -> Sources:
        bound = self.bound_inside(node)
        if isinstance(bound, Parameter):
            return frozenset([OPEN])  # of a lambda
        if bound is not None:
            return self.of(bound, at)
        found = self.solver.definitions_of(node, at.scope)
        if not found:
            return self._global(node)
        sources: Sources = NONE
        for definition, own in found:
            cell = self.solver.cell(definition)
            inside = at.block is not None and self.solver.block_of(definition) is at.block
            sources |= cell.raw if inside or not own else cell.out
        return sources

    def bound_inside(self, node: Name) -> Expression | Parameter | None:
        """What a name of a lambda or comprehension is bound to there."""
        inside: Node = node
        for around in node.ancestors():
            if isinstance(around, nodes.Lambda) and inside is around.body:
                for parameter in around.parameters:
                    if parameter.name == node.id:
                        return parameter
            elif isinstance(around, nodes.Comprehension):
                for clause in around.clauses:
                    if node.id in target_names(clause.target) and clause.iterable is not inside:
                        return None if _within(node, clause.iterable) else clause.iterable
            elif not isinstance(around, (Expression, nodes.ForClause)):
                return None
            inside = around
        return None

    def _global(self, node: Name) -> Sources:
        """A name of the file: what is assigned there."""
        if node.file is None:
            return frozenset([OPEN])
        found = self.solver.project.definition(node.file, node.id)
        if isinstance(found, Expression) and found.file is not None:
            home = self.solver.project.names[found.file]
            again = node.id in names_in(found)
            if home.assigned.get(node.id) is found and not again:
                return self.of(found, Place(found.file, None))
        return NONE if found is None and isinstance(node.value, External) else frozenset([OPEN])

    def _attribute(self, node: Attribute, at: Place) -> Sources:
        owner = node.object.value
        if isinstance(node, Read) and node.kind == "param":
            return frozenset([PARAM])
        if node.name == "data" and not isinstance(owner, lattice.Module):
            return NONE
        if isinstance(owner, (lattice.Module, lattice.Object)):
            return self._field(node, at)
        if isinstance(owner, (Tensor, lattice.Sequence, lattice.Mapping)):
            return self.of(node.object, at)
        return self.of(node.object, at) | {OPEN}

    def _field(self, node: Attribute, at: Place) -> Sources:
        """What an attribute of a module, or of an object, has been given anywhere."""
        keys = self.solver.fields(node)
        if keys is None:
            return frozenset([OPEN])
        found: Sources = NONE
        for key in keys:
            if key is PARAM or isinstance(key, str):
                found |= {PARAM}
            else:
                cell = self.solver.cells.get(key)
                found |= cell.out if at.block is None else cell.raw
        return found

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, node: Call, at: Place) -> Sources:
        function, func = node.function.value, node.function
        arguments = [a for a in node.arguments]
        if isinstance(func, Attribute) and func.name == "detach" and not self.solver.targets(node):
            return NONE  # torch's, of whatever it is: `p.grad.detach()`
        if isinstance(function, lattice.Method) and isinstance(func, Attribute):
            return self._method(node, function, func, at)
        if isinstance(function, Torch):
            return self._torch(node, function.name, at)
        if isinstance(function, External):
            if function.name.partition(".")[0] in _PLAIN:
                return NONE
            if _is_library(function.name) or function.name.startswith("builtins."):
                return self.given(arguments, at)
        if isinstance(function, lattice.Class):
            return self.given(arguments, at)
        return self.called(node, at)

    def given(self, arguments: Iterable[Expression], at: Place) -> Sources:
        """What arguments bring along: modules and functions that will be called bring params."""
        found: Sources = NONE
        for argument in arguments:
            value = argument.value
            if isinstance(value, lattice.Module):
                found |= {PARAM}
            elif isinstance(value, lattice.Function):
                found |= self.solver.result(value.function) | {OPEN}
            else:
                found |= self.of(argument, at)
        return found

    def _method(self, node: Call, method: lattice.Method, func: Attribute, at: Place) -> Sources:
        if isinstance(method.receiver, Tensor):
            if method.name in _ANEW:
                return NONE
            return self.of(func.object, at) | self.given(without_index(node, func.name), at)
        held = lattice.Sequence, lattice.Mapping, lattice.Static
        if isinstance(method.receiver, held):
            return self.of(func.object, at) | self.given(node.arguments, at)
        return self.called(node, at) | self.of(func.object, at)

    def _torch(self, node: Call, name: str, at: Place) -> Sources:
        if name in PARAMETERS:
            return frozenset([PARAM])
        if name.removeprefix("torch.") in _MADE or name.endswith("Tensor"):
            return NONE
        return self.given(node.arguments, at)

    def called(self, node: Call, at: Place) -> Sources:
        """The result of functions and modules: what they return, with their arguments put in."""
        value = node.function.value
        found: Sources = NONE
        targets = self.solver.targets(node)
        for target in targets:
            result = self.solver.result(target.function)
            found |= self.put_in(node, target, result, at)
        for ref in value.refs if isinstance(value, lattice.Module) else ():
            if isinstance(ref, str):
                found |= self.given(node.arguments, at)
                found |= {PARAM} if self.solver.has_params(ref) else NONE
        known = isinstance(value, lattice.Function) or _is_closed(value)
        if known and (targets or isinstance(value, lattice.Module) and value.refs):
            return found
        return found | self.given(node.arguments, at) | {OPEN}

    def put_in(self, node: Call, target: Any, result: Iterable[Any], at: Place) -> Sources:
        """Sources of a function, with the arguments of a call for its parameters."""
        found: set[Any] = set()
        pairs = list(self.solver.calls.arguments(node, target))
        for source in result:
            if not isinstance(source, Parameter) or source.parent is not target.function:
                found.add(source)
                continue
            given = [a for name, a in pairs if name == source.name]
            if given:
                found |= self.given(given, at)
            elif source.default is not None:
                found |= self.of(source.default, Place(None, None))
            elif source is source.parent.parameters[0]:
                func = node.function
                found |= self.of(func.object, at) if isinstance(func, Attribute) else NONE
            else:
                found.add(INPUT)
        return frozenset(found)


def without_index(node: Call, method: str) -> list[Expression]:
    """What a method is given that a gradient may come from: no index."""
    known = len(node.arguments) > 1 and not any(node.keywords)
    indexed = known and method.removesuffix("_") in _INDEXED
    return [node.arguments[0], *node.arguments[2:]] if indexed else list(node.arguments)


def _may_carry(node: Expression) -> bool:
    if isinstance(node, nodes.Constant):
        return False
    return may_carry(node.value) or isinstance(node, Call) and _is_parameter(node)


def _is_parameter(node: Call) -> bool:
    return isinstance(node.function.value, Torch) and node.function.value.name in PARAMETERS


def _within(node: Node, other: Node) -> bool:
    return node is other or any(around is other for around in node.ancestors())


def _is_closed(value: Any) -> bool:
    return isinstance(value, lattice.Module) and not value.open


def _is_library(name: str) -> bool:
    """Whether a name is a function of a library, `get_tokenizer` of one for texts: what it is not
    given is in none of its results.

    A container, `deque(maxlen=3)`, may be given more later, which its cell holds.
    """
    library, _, rest = name.partition(".")
    plain = bool(rest) and ":" not in name and library != "builtins"
    return plain and (library == "collections" or rest.rpartition(".")[2][:1].islower())


def _none(t: Transfer, node: Any, at: Place) -> Sources:
    return NONE


_TRANSFER: dict[type, Callable[[Transfer, Any, Place], Sources]] = {
    nodes.Constant: _none,
    nodes.FormattedString: _none,
    Compare: _none,
    Detached: _none,
    Key: _none,
    Mode: _none,
    New: _none,
    Shape: _none,
    Unconverted: _none,
    nodes.Slice: _none,
    Name: Transfer._name,
    Attribute: Transfer._attribute,
    Subscript: lambda t, node, at: t.of(node.object, at),
    Call: Transfer._call,
    Conditional: lambda t, node, at: t.all([node.body, node.orelse], at),
    Boolean: lambda t, node, at: t.all([node.left, node.right], at),
    Binary: lambda t, node, at: t.all([node.left, node.right], at),
    Unary: lambda t, node, at: NONE if node.operator == "not" else t.of(node.operand, at),
    nodes.Display: lambda t, node, at: t.all(node.elements, at),
    nodes.Dictionary: lambda t, node, at: t.all([v for _, v in node.pairs], at),
    nodes.Comprehension: lambda t, node, at: t.of(node.element, at),
    nodes.NamedExpression: lambda t, node, at: t.of(node.expression, at),
    nodes.Starred: lambda t, node, at: t.of(node.expression, at),
    nodes.Lambda: lambda t, node, at: t.of(node.body, at),
    Put: lambda t, node, at: t.all([node.base, node.new], at),
}


_HANDLERS: dict[type, Callable[[Transfer, Any, Place], Sources] | None] = {}


def _handler(kind: type) -> Callable[[Transfer, Any, Place], Sources] | None:
    if kind not in _HANDLERS:
        _HANDLERS[kind] = next((_TRANSFER[k] for k in kind.__mro__ if k in _TRANSFER), None)
    return _HANDLERS[kind]
