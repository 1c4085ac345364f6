"""Conditions that are decided once there is no torch: CUDA is not there, nothing is scripted, `hasattr(F, "gelu")` holds.

    if x.is_cuda:
        return fused(x)              ->          return plain(x)
    return plain(x)

What the user decides by constants of their own stays.
"""

from __future__ import annotations

import operator
import re
from typing import Any

import libcst as cst

from .. import tree
from ..arrays import PARAMETER
from ..carriers import Carriers
from ..context import Context
from ..dataflow import exposed
from ..emit import bare
from ..infer import asks_torch, is_differentiable
from ..values import MISSING, External, Static, Tensor

_GRADIENTS = "gradients count as enabled, and every tensor as one that requires one: see that the other way computes the same values"
_KINDS = frozenset({cst.BooleanOperation, cst.IfExp, cst.IndentedBlock, cst.Module})
_VERSION = re.compile(r"""['"](\d+(?:\.\d+)*)['"]""")
_VERSIONS = ("parse", "Version", "LooseVersion", "StrictVersion", "parse_version", "digit_version")
_ORDERS = {cst.LessThan: operator.lt, cst.LessThanEqual: operator.le, cst.GreaterThan: operator.gt, cst.GreaterThanEqual: operator.ge, cst.Equal: operator.eq, cst.NotEqual: operator.ne}


def run(context: Context, module: cst.Module, carriers: Carriers) -> cst.Module:
    """Take the one way that is left in one file."""
    decided = _Decided(context, carriers)
    module = tree.rewrite(module, None, decided.taken, only={cst.FunctionDef})
    return tree.rewrite(module, None, decided.after, only=_KINDS)  # type: ignore[no-any-return]


class _Decided:
    def __init__(self, context: Context, carriers: Carriers) -> None:
        self.context, self.carriers = context, carriers
        self.flags: dict[int, cst.Name] = {}  # by id: what stands for conditions within what is looked at next

    def taken(self, function: Any) -> Any:
        """A function of which a statement reads what is set under `if x.is_cuda:` alone runs on a GPU only: as if arrays were there."""
        left = [n for n in tree.scope_nodes(function.body, cst.If) if n.orelse is None and self._test(n.test) is False and "cuda" in tree.code(n.test)]
        if not left:
            return function
        ids = {id(n) for n in left}
        rest = tree.rewrite(function, lambda n: cst.RemoveFromParent() if id(n) in ids else None, only={cst.If})
        lost = set(exposed(tree.body_statements(rest))) - tree.parameter_names(function)
        taken = {id(n) for n in left if (lost - _bound_before(function, n)).intersection(tree.names_assigned(n))}
        return tree.rewrite(function, lambda n: self._body(n) if id(n) in taken else None, only={cst.If}) if taken else function

    def _body(self, node: Any) -> Any:
        first, *others = tree.body_statements(node)
        return cst.FlattenSentinel([tree.replace(first, leading_lines=[*node.leading_lines, *first.leading_lines]), *others])

    def after(self, node: Any) -> Any:
        if isinstance(node, cst.IfExp):
            return self._choice(node)
        if isinstance(node, cst.BooleanOperation):
            return self._flag(node)
        body: list[Any] = []
        for statement in node.body:
            small = tree.only_small(statement)
            if _checks_gradients(small) or isinstance(small, cst.Assert) and isinstance(self._test(small.test), bool):
                continue  # `assert torch.cuda.is_available()`: where arrays are is JAX's affair
            made = self._chain(statement) if isinstance(statement, cst.If) else [statement]
            body.extend(made)
            if tree.always_returns(made) and made != [statement]:
                break  # the one way that is left returns
        if tree.same(body, node.body):
            return node
        new = tree.replace(node, body=body or [tree.statement("pass")])
        self.context.facts.carry(node, new)
        return new

    def _chain(self, node: cst.If) -> list[Any]:
        """The statements that take the place of an `if` with what follows it."""
        made = self._way(node)
        if made is node:
            return [node]
        if isinstance(made, cst.If):
            return [tree.replace(made, leading_lines=[*node.leading_lines])]
        if made is None:
            return []
        first, *rest = tree.body_statements(made)
        if not rest and isinstance(tree.only_small(first), cst.Pass):
            return []
        lead = [*node.leading_lines, *(line for line in first.leading_lines if line.comment is not None)]
        return [tree.replace(first, leading_lines=lead), *rest]

    def _way(self, node: Any) -> Any:
        """What stands for an `if` or `elif`: itself, an If, an Else, or None for nothing."""
        if not isinstance(node, cst.If):
            return node
        test = self._test(node.test)
        orelse = self._way(node.orelse)
        if _needs_gradient(node.test) and all(map(_only_torchs, tree.body_statements(node))):
            return orelse
        if isinstance(test, bool) and self._asks_for_gradients(node.test):
            self.context.report("taken-for-granted", node.test, _GRADIENTS)
        if test is True:
            return cst.Else(node.body)
        if test is False:
            return orelse
        if test is node.test and orelse is node.orelse:
            return node
        new = tree.replace(node, test=bare(test), orelse=orelse)
        self.context.facts.carry(node, new)
        return new

    def _choice(self, node: cst.IfExp) -> Any:
        test = self._test(node.test)
        if test is True or test is False:
            if self._asks_for_gradients(node.test):
                self.context.report("taken-for-granted", node.test, _GRADIENTS)
            chosen: Any = node.body if test else node.orelse
            if isinstance(chosen, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.SimpleString, cst.Integer, cst.Float)) or not node.lpar:
                return chosen
            new = tree.replace(chosen, lpar=[*node.lpar, *chosen.lpar], rpar=[*chosen.rpar, *node.rpar])
            self.context.facts.carry(chosen, new)
            return new
        if test is node.test:
            return node
        new = tree.replace(node, test=bare(test))
        self.context.facts.carry(node, new)
        return new

    def _flag(self, node: cst.BooleanOperation) -> Any:
        """`not args.no_cuda and torch.cuda.is_available()` as a value: `False`, as what is left of it is no other value."""
        test = self._test(node)
        is_flag = isinstance(self._test(node.left), bool) or isinstance(node.left, cst.Comparison) or isinstance(node.left, cst.UnaryOperation) and isinstance(node.left.operator, cst.Not)
        if not isinstance(test, bool) or not is_flag:
            return node
        flag = cst.Name(str(test))
        self.flags[id(flag)] = flag
        return flag

    def _asks_for_gradients(self, test: Any) -> bool:
        """Whether a condition asks if a tensor, and no param, requires a gradient, or whether gradients are on at all."""
        if any(self.context.torch_name(n) == "torch.is_grad_enabled" for n in tree.nodes(test, cst.Call)):
            return True
        asked = [self.context.value(n.value) for n in tree.nodes(test, cst.Attribute) if n.attr.value == "requires_grad"]
        return any(isinstance(value, Tensor) and not value.param and is_differentiable(value) for value in asked)

    def _test(self, node: Any) -> Any:
        """True, False, or the expression that is left of a condition: the node itself where nothing is decided."""
        if id(node) in self.flags:
            return self.flags[id(node)].value == "True"
        if isinstance(node, (cst.Call, cst.Attribute)):
            found = (
                self._is_parameter(node) if isinstance(node, cst.Call) and len(node.args) == 2 else self._constant(node)
            )
            return found if isinstance(found, bool) else node
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            inner = self._test(node.expression)
            return not inner if isinstance(inner, bool) else node
        if isinstance(node, cst.BooleanOperation):
            return self._junction(node)
        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            return self._comparison(node)
        return node

    def _junction(self, node: cst.BooleanOperation) -> Any:
        left, right = self._test(node.left), self._test(node.right)
        ends = isinstance(node.operator, cst.Or)  # the value of one side that decides the whole
        if left is ends or right is ends and not any(isinstance(n, (cst.Call, cst.NamedExpr, cst.Await)) for n in tree.walk(node.left)):
            return ends
        if isinstance(left, bool):
            return right
        if isinstance(right, bool):
            return left if right is not ends else node
        if left is node.left and right is node.right:
            return node
        new = tree.replace(node, left=left, right=right)
        self.context.facts.carry(node, new)
        return new

    def _comparison(self, node: cst.Comparison) -> Any:
        """`x.device.type == "cuda"`, `torch.__version__ >= "1.5.0"`"""
        target = node.comparisons[0]
        version, other = self._version(node.left), self._version(target.comparator)
        compare = _ORDERS.get(type(target.operator))
        if version is not None and other is not None and compare is not None and "__version__" in tree.code(node):
            return compare(version, other)
        if self._is_device(node.left) and self._is_device(target.comparator) and isinstance(target.operator, (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot)):
            return isinstance(target.operator, (cst.Equal, cst.Is))  # all arrays are where JAX puts them
        left, right = self._constant(node.left), self._constant(target.comparator)
        if not (isinstance(left, (str, int)) and isinstance(right, (str, int)) and isinstance(target.operator, (cst.Equal, cst.NotEqual, cst.GreaterThan))):
            return node
        if not any(isinstance(side, (cst.Call, cst.Attribute)) for side in (node.left, target.comparator)):
            return node
        if isinstance(target.operator, cst.GreaterThan):
            return left > right if isinstance(left, int) and isinstance(right, int) else node
        return (left == right) is isinstance(target.operator, cst.Equal)

    def _is_device(self, node: Any) -> bool:
        """`x.device`, `str(x.device)`"""
        if isinstance(node, cst.Call) and tree.dotted(node.func) == "str" and len(node.args) == 1:
            node = node.args[0].value
        return isinstance(node, cst.Attribute) and node.attr.value == "device" and isinstance(self.context.value(node.value), Tensor)

    def _version(self, node: Any) -> tuple[int, ...] | None:
        """`"1.5.0"`, `torch.__version__`, or `version.parse(…)` of one of these, without the zeros at its end."""
        if isinstance(node, cst.Call) and len(node.args) == 1 and (tree.dotted(node.func) or "").rpartition(".")[2] in _VERSIONS:
            return self._version(node.args[0].value)
        name = self.context.torch_name(node)
        text = self.context.rulebook.constant(name) if name == "torch.__version__" else node.value if isinstance(node, cst.SimpleString) else None
        found = _VERSION.fullmatch(text or "")
        return tuple(int(part) for part in re.sub(r"(\.0)+$", "", found[1]).split(".")) if found is not None else None

    def _is_parameter(self, node: Any) -> Any:
        """What `isinstance(self.weight, nn.Parameter)` is, by where the array lives: in params, or in state like any buffer."""
        subject, kind = (a.value for a in node.args)
        if (
            self.context.value(node.func) != External("builtins.isinstance")
            or self.context.torch_name(kind) not in PARAMETER
        ):
            return self._constant(node)
        found = self.carriers.is_parameter(subject) if isinstance(subject, cst.Attribute) else None
        return found if found is not None else MISSING

    def _constant(self, node: Any) -> Any:
        """What an expression about torch or a tensor is known to be; MISSING for the user's own constants."""
        if isinstance(node, cst.SimpleString):
            return node.evaluated_value
        if isinstance(node, cst.Integer):
            return node.evaluated_value
        value = self.context.value(node)
        if not isinstance(value, Static) or not isinstance(node, (cst.Call, cst.Attribute)):
            return MISSING
        return value.const if asks_torch(self.context.facts.of, node) else MISSING


def _bound_before(function: cst.FunctionDef, node: Any) -> set[str]:
    """The names that statements before one of a function may bind."""
    found: set[str] = set()
    for current in tree.walk_scope(function.body):
        if current is node:
            break
        inside = isinstance(current, (cst.For, cst.While)) and any(n is node for n in tree.walk(current))  # in the turn before
        if inside or isinstance(current, (cst.SimpleStatementLine, cst.With)):
            found.update(tree.names_assigned(current))
    return found


def _checks_gradients(small: Any) -> bool:
    """`assert not target.requires_grad`: there is nothing to check where what is differentiated is chosen outside."""
    test: Any = small.test if isinstance(small, cst.Assert) else None
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test = test.expression
    if isinstance(test, cst.Comparison):  # `assert indices.requires_grad == False`
        test = test.left
    return isinstance(test, cst.Attribute) and test.attr.value == "requires_grad"


def _needs_gradient(test: Any) -> bool:
    """`x.requires_grad and x.grad is not None`"""
    if isinstance(test, cst.BooleanOperation):
        return isinstance(test.operator, cst.And) and (_needs_gradient(test.left) or _needs_gradient(test.right))
    return isinstance(test, cst.Attribute) and test.attr.value == "requires_grad"


def _only_torchs(statement: Any) -> bool:
    """Whether a statement only raises, or sees to gradients that torch keeps on tensors: `x.retain_grad()`, `x.grad = None`."""
    small = tree.only_small(statement)
    if isinstance(small, (cst.Raise, cst.Assert, cst.Pass)):
        return True
    return small is not None and any(n.attr.value in ("grad", "retain_grad", "requires_grad", "requires_grad_") for n in tree.nodes(small, cst.Attribute))
