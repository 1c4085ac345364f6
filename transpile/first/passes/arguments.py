"""A function that changes its arguments in place returns them, and its callers take them back.

    def normalise_(x, eps):                    def normalise_(x, eps):
        x.div_(x.norm() + eps)         ->          x.div_(x.norm() + eps)
                                                   return x
    normalise_(w, 1e-6)                        w = normalise_(w, 1e-6)

It runs before `mutation`, on torch code; `mutation` makes the rest of it pure, and takes the assignments made here for writes:
other names for `w` follow. Left alone, and refused at their callers, are functions that are passed on as values, overridden,
or that give the name of such an argument to something else.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import Any

import libcst as cst

from .. import tree
from ..callables import is_unbound
from ..context import Context
from ..emit import display, enclosed, fresh_name
from ..project import FunctionInfo
from ..values import NONE, Function, Tensor


@dataclass(frozen=True)
class Returns:
    """What a function is to return: the parameters that it changes in order, behind the value that it has in torch, if any."""

    names: tuple[str, ...]
    has_value: bool


def returned(contexts: list[Context], trees: list[cst.Module], writes: dict[FunctionInfo, set[str]]) -> dict[FunctionInfo, Returns]:
    """The functions that are to return what they change."""
    passed_on: set[FunctionInfo] = set()
    called: set[FunctionInfo] = set()
    for context, module in zip(contexts, trees):
        calls = {id(n.func) for n in tree.nodes(module, cst.Call)}
        for node in tree.nodes(module, cst.Name, cst.Attribute):
            if id(node) in context.facts.values:
                value = context.value(node)
                if isinstance(value, Function):
                    (called if id(node) in calls else passed_on).add(value.info)
    found = {}
    for info, names in writes.items():
        if info not in called and _has_value(info):
            continue  # what only others call gives them what it gave: its result
        if info in passed_on or info.name in ("forward", "__init__") or info.is_property or _gives_back(info, names):
            continue
        family = [c for c in info.owner.family() if info.name in c.methods] if info.owner is not None else []
        ordered = tuple(p.name.value for p in info.parameters() if p.name.value in names)
        body = info.node.body
        renamed = {n for s in tree.walk_scope(body) if isinstance(s, (cst.Assign, cst.For, cst.NamedExpr, cst.AnnAssign)) for n in _bound(s)}
        if len(family) > 1 or len(ordered) != len(names) or renamed & names or any(isinstance(n, cst.Yield) for n in tree.walk_scope(body)):
            continue
        found[info] = Returns(ordered, _has_value(info))
    return _taken_everywhere(contexts, trees, found)


def _taken_everywhere(contexts: list[Context], trees: list[cst.Module], found: dict[FunctionInfo, Returns]) -> dict[FunctionInfo, Returns]:
    """The functions whose every call can take back what they return: `f(a) + f(b)` cannot."""
    while found:
        calls: collections.Counter[FunctionInfo] = collections.Counter()
        taken: collections.Counter[FunctionInfo] = collections.Counter()
        for context, module in zip(contexts, trees):
            calls.update(v.info for n in tree.nodes(module, cst.Call) if isinstance(v := context.value(n.func), Function))
            rewriter = _Arguments(context, found, {})
            tree.rewrite(module, rewriter.visit, only=_Arguments.KINDS)
            taken.update(rewriter.taken)
        kept = {info: returns for info, returns in found.items() if calls[info] == taken[info]}
        if len(kept) == len(found):
            break
        found = kept
    return found


def _has_value(info: FunctionInfo) -> bool:
    return any(n.value is not None and tree.code(n.value) != "None" for n in tree.walk_scope(info.node.body) if isinstance(n, cst.Return))


def _gives_back(info: FunctionInfo, names: set[str]) -> bool:
    """Whether a function returns just the argument that it changes: `mutation` knows those."""
    return {info.given_back()} == names


def _bound(node: Any) -> list[str]:
    targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
    return [n for t in targets for n in tree.target_names(t)]


def run(context: Context, module: cst.Module, functions: dict[FunctionInfo, Returns], assignments: dict[int, bool]) -> cst.Module:
    """Rewrite definitions and calls of one file. `assignments` gets those made for calls, by id: whether the first target is for the result."""
    return tree.rewrite(module, _Arguments(context, functions, assignments).visit, only=_Arguments.KINDS)  # type: ignore[no-any-return]


class _Arguments:
    KINDS = frozenset({cst.FunctionDef, cst.IndentedBlock})

    def __init__(self, context: Context, functions: dict[FunctionInfo, Returns], assignments: dict[int, bool]) -> None:
        self.context, self.functions, self.assignments = context, functions, assignments
        self.facts = context.facts
        self.used: set[str] = set()
        self.taken: list[FunctionInfo] = []  # for each call that takes back what it changes, the function

    def visit(self, node: cst.CSTNode) -> Any:
        if isinstance(node, cst.FunctionDef):
            info = self.facts.by_node.get(id(node))
            before, self.used = self.used, self.used | tree.names_read(node)
            body = self._block(tree.body_statements(node))
            self.used = before
            if info is not None and info in self.functions:
                body = self._returning(info, body)
            elif body is None:
                return node
            new = tree.with_body(node, body if body is not None else tree.body_statements(node))
            self.facts.carry(node, new)
            return new
        if isinstance(node, cst.IndentedBlock):
            body = self._block(list(node.body))
            return node if body is None else tree.replace(node, body=body)
        return None

    def _block(self, statements: list[Any]) -> list[Any] | None:
        """The statements with calls rewritten, or None where there is none."""
        out: list[Any] = []
        changed = False
        for statement in statements:
            made = self._line(statement) if isinstance(statement, cst.SimpleStatementLine) else None
            if made is None:
                new = statement if isinstance(statement, cst.SimpleStatementLine) else tree.rewrite(statement, self.visit, only=self.KINDS)
                made = [new]
            changed = changed or len(made) != 1 or made[0] is not statement
            out.extend(made)
        return out if changed else None

    # ------------------------------------------------------------------ definitions

    def _returning(self, info: FunctionInfo, body: list[Any] | None) -> list[Any]:
        names, has_value = self.functions[info].names, self.functions[info].has_value
        statements = tree.body_statements(info.node) if body is None else body

        def before(node: cst.CSTNode) -> Any:
            if isinstance(node, (cst.FunctionDef, cst.Lambda)):
                return node
            if isinstance(node, cst.Return):
                return tree.replace(node, value=self._results(node.value if has_value else None, names), whitespace_after_return=cst.SimpleWhitespace(" "))
            return None

        out = [tree.rewrite(s, before) for s in statements]
        if not tree.always_returns(out):
            out.append(cst.SimpleStatementLine([cst.Return(self._results(cst.Name("None") if has_value else None, names))]))
        return out

    def _results(self, value: Any, names: tuple[str, ...]) -> Any:
        parts = [] if value is None else [enclosed(value)]
        for name in names:
            node = cst.Name(name)
            self.facts.tell(node, Tensor())
            parts.append(node)
        return parts[0] if len(parts) == 1 else display(parts)

    # ------------------------------------------------------------------ calls

    def _line(self, line: cst.SimpleStatementLine) -> list[Any] | None:
        if len(line.body) != 1:
            return None
        small: Any = line.body[0]
        call = small.value if isinstance(small, (cst.Expr, cst.Assign, cst.Return)) else None
        if isinstance(call, cst.Call) and self._found(call) is not None and (not isinstance(small, cst.Assign) or len(small.targets) == 1):
            info = self._found(call)
            assert info is not None
            if isinstance(small, cst.Return):
                if not self.functions[info].has_value:
                    return [self._assigned(line, info, call, None), tree.replace(line, body=[tree.replace(small, value=cst.Name("None"))])]
                result = self._result(call)
                return [self._assigned(line, info, call, result), tree.replace(line, body=[tree.replace(small, value=result)], leading_lines=[])]
            target = small.targets[0].target if isinstance(small, cst.Assign) else cst.Name("_") if self.functions[info].has_value else None
            return [self._assigned(line, info, call, target)]
        return self._hoisted(line, small)

    def _hoisted(self, line: cst.SimpleStatementLine, small: Any) -> list[Any] | None:
        """Calls inside an expression are made before it, where it makes them for certain and reads nothing that they change first."""
        calls = [n for n in tree.nodes(small, cst.Call) if self._found(n) is not None]
        if len(calls) != 1 or _conditional(small, calls[0]):
            return None
        call, info = calls[0], self._found(calls[0])
        assert info is not None
        changed = {n for s in self._subjects(call, info) if s is not None for n in tree.names_read(s)}
        outside = tree.rewrite(small, lambda n: cst.Name("_") if n is call else None)
        if changed & tree.names_read(outside) or not self.functions[info].has_value:
            return None
        result = self._result(call)
        return [self._assigned(line, info, call, result), tree.replace(line, body=[tree.rewrite(small, lambda n: result if n is call else None)], leading_lines=[])]

    def _found(self, call: cst.Call) -> FunctionInfo | None:
        value = self.context.value(call.func)
        if not isinstance(value, Function) or value.info not in self.functions or is_unbound(value, call.func):
            return None
        return value.info if all(s is not None for s in self._subjects(call, value.info)) else None

    def _subjects(self, call: cst.Call, info: FunctionInfo) -> list[Any]:
        """What the call passes for each changed parameter: a name, attribute or part, `_` for a fresh value, None where not known."""
        if any(a.star for a in call.args):
            return [None]
        given = info.given(call)
        out = []
        for name in self.functions[info].names:
            argument = given.get(name)
            if argument is None or self.context.value(argument) == NONE or isinstance(argument, cst.Name) and argument.value in ("None", "True", "False"):
                return [None]
            out.append(_stored(argument) if isinstance(argument, (cst.Name, cst.Attribute, cst.Subscript)) else cst.Name("_"))
        return out

    def _result(self, call: cst.Call) -> Any:
        node = cst.Name(fresh_name(self.used, "result"))
        self.facts.carry(call, node)
        return node

    def _assigned(self, line: Any, info: FunctionInfo, call: Any, target: Any) -> Any:
        targets = [*([_stored(target)] if target is not None else []), *self._subjects(call, info)]
        targets = list(map(enclosed, targets)) if len(targets) > 1 else targets
        self.taken.append(info)
        made = cst.Assign([cst.AssignTarget(targets[0] if len(targets) == 1 else display(targets))], call)
        self.assignments[id(made)] = target is not None
        self.facts.kept.append(made)  # so that its id stays its own
        return tree.replace(line, body=[made])


def _stored(target: Any) -> Any:
    """What is written where `x.data` is."""
    while isinstance(target, cst.Attribute) and target.attr.value == "data":
        target = target.value
    return target


def _conditional(node: Any, call: Any) -> bool:
    """Whether an expression may not make the call, or make it several times."""
    for n in tree.walk(node):
        if isinstance(n, (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)) and any(m is call for m in tree.walk(n)):
            return True
    return False
