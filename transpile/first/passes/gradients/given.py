"""What an expression gives: a tensor that was there before, or one that it computes.

    with torch.no_grad():
        y = gt if flag else x.to(device)    # gt or x itself, with its gradient
        z = gt[0]                           # a view made here, which has none
        w = x.float()                       # x itself where it is float32 already

torch leaves the history of a tensor alone: only what is computed under no_grad has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import libcst as cst

from ... import tree, values
from ...callables import Scope, is_of_object
from ...casts import is_cast, is_copy
from ...context import Context
from ...project import FunctionInfo

SAME, COMPUTED, EITHER = "same", "computed", "either"

# methods whose result is the tensor itself
_ITSELF = frozenset("requires_grad_ cpu cuda share_memory_ retain_grad".split())
# ... and functions that give it back in some cases: without training, in row-major order, with as few dims
_MAYBE = frozenset("contiguous flatten atleast_1d atleast_2d atleast_3d real alpha_dropout dropout dropout1d".split())
_MAYBE |= frozenset("dropout2d dropout3d feature_alpha_dropout as_tensor asarray".split())
_DROPOUTS = frozenset("Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout".split())


def either(found: Iterable[str]) -> str:
    """What an expression gives that may be any of several."""
    kinds = set(found)
    return kinds.pop() if len(kinds) == 1 else EITHER if kinds else COMPUTED


class Given:
    """Answers for the expressions of one file; what functions of the user's give back is found once for each."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.returned: dict[int, str] = {}  # id of a function or lambda -> what it gives of what it is given

    def of(self, node: Any, info: FunctionInfo | None, names: Mapping[str, str]) -> str:
        """What an expression gives; `names` are those that stand for something else than what was there before."""
        if isinstance(node, cst.Name):
            return names.get(node.value, SAME)
        if isinstance(node, cst.Attribute):
            owner, value = self.context.value(node.value), self.context.value(node)
            plain = not isinstance(owner, values.Tensor) and not isinstance(value, values.Function)
            return self.of(node.value, info, names) if plain else COMPUTED
        if isinstance(node, cst.Subscript):
            held = isinstance(self.context.value(node.value), (values.Sequence, values.Mapping))
            return self.of(node.value, info, names) if held else COMPUTED
        if isinstance(node, cst.IfExp):
            return either(self.of(side, info, names) for side in (node.body, node.orelse))
        if isinstance(node, cst.BooleanOperation):
            return either(self.of(side, info, names) for side in (node.left, node.right))
        if isinstance(node, (cst.Tuple, cst.List, cst.Dict)):
            return either(self.of(e.value, info, names) for e in node.elements)
        if isinstance(node, cst.NamedExpr):
            return self.of(node.value, info, names)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return self._comprehension(node, info, names)
        return self._call(node, info, names) if isinstance(node, cst.Call) else COMPUTED

    def assigned(self, node: Any, info: FunctionInfo | None, names: Mapping[str, str]) -> str:
        """What an assignment gives its names: `a, b = x` of a tensor are views of it."""
        return COMPUTED if self.takes_rows(node) else self.of(node.value, info, names)

    def takes_rows(self, node: Any) -> bool:
        apart = isinstance(node, cst.Assign) and any(isinstance(t.target, (cst.Tuple, cst.List)) for t in node.targets)
        return apart and isinstance(self.context.value(node.value), values.Tensor)

    def _comprehension(self, node: Any, info: FunctionInfo | None, names: Mapping[str, str]) -> str:
        """`[t for t in (x, y)]` of a list holds what that holds; the rows of a tensor are views."""
        loop, inner = node.for_in, dict(names)
        while loop is not None:
            self._target(loop.target, loop.iter, info, inner)
            loop = loop.inner_for_in
        return self.of(node.elt, info, inner)

    def _target(self, target: Any, over: Any, info: FunctionInfo | None, names: dict[str, str]) -> None:
        listed = isinstance(self.context.value(over), (values.Sequence, values.Mapping))
        of_list = listed and not isinstance(over, cst.Call)
        for name in tree.target_names(target):
            names[name] = self.of(over, info, names) if of_list else COMPUTED

    # ------------------------------------------------------------------ calls

    def _call(self, call: cst.Call, info: FunctionInfo | None, names: Mapping[str, str]) -> str:
        function = self.context.value(call.func)
        if isinstance(call.func, cst.Attribute) and is_of_object(function):
            methods = self.context.facts.callables.methods(call.func, Scope(self.context.module, info))
            if methods:  # an object may give what it was made with: its arguments do not tell
                return either(self._returned(method.node, method) for method in methods)
        if isinstance(function, values.Method) and isinstance(call.func, cst.Attribute):
            return self._method(call, function.name, info, names)
        given = either(self.of(a.value, info, names) for a in call.args)
        if given == COMPUTED and call.args:
            return COMPUTED
        if isinstance(function, values.Torch):
            return EITHER if function.name.rpartition(".")[2] in _MAYBE else COMPUTED
        if isinstance(function, values.Module):
            found = self._module(function)
        else:
            found = either(self._targets(call, info))
        return EITHER if found == SAME and given == EITHER else found

    def _method(self, call: Any, name: str, info: FunctionInfo | None, names: Mapping[str, str]) -> str:
        before = self.of(call.func.value, info, names)
        if before == COMPUTED or name in _ITSELF or name == "to" and not is_cast(self.context, call):
            return before
        if is_cast(self.context, call):
            return COMPUTED if is_copy(self.context, call) else EITHER
        return EITHER if name in _MAYBE else COMPUTED

    def _module(self, module: values.Module) -> str:
        """What a module makes of what it is given; a loop over layers is taken to have turns."""
        found = []
        for ref in module.refs:
            name = ref.rpartition(".")[2] if isinstance(ref, str) else ""
            forward = None if isinstance(ref, str) else self.context.facts.forward_of(ref)
            if name == "Sequential" and module.items:
                parts = [self._module(m) for _, m in module.items if isinstance(m, values.Module)]
                found.append(COMPUTED if COMPUTED in parts or not parts else either(parts))
            elif forward is not None:
                found.append(self._returned(forward.node, forward))
            else:
                found.append(SAME if name == "Identity" else EITHER if name in _DROPOUTS else COMPUTED)
        return either(found)

    def _targets(self, call: cst.Call, info: FunctionInfo | None) -> list[str]:
        known = self.context.value(call.func)
        if isinstance(known, values.Function):
            return [self._returned(known.info.node, known.info)]
        scope = Scope(self.context.module, info)
        targets = self.context.facts.callables.targets(call.func, scope)
        found = []
        for target in targets:
            if isinstance(target.function, FunctionInfo):
                found.append(self._returned(target.function.node, target.function))
            else:
                found.append(self.of(target.function.body, info, {}))
        return found

    # ------------------------------------------------------------------ functions

    def _returned(self, node: cst.FunctionDef, info: FunctionInfo) -> str:
        """What a function gives back of what it is given."""
        if id(node) not in self.returned:
            self.returned[id(node)] = COMPUTED  # while it is being found out: recursion
            walk = _Walk(self, info)
            if cst.Yield not in tree.kinds(node.body):
                walk.block(tree.body_statements(node), {})
            self.returned[id(node)] = either(walk.returned)
        return self.returned[id(node)]


class _Walk:
    """Goes through a function, and keeps for its names what they stand for."""

    def __init__(self, given: Given, info: FunctionInfo) -> None:
        self.given, self.info = given, info
        self.returned: list[str] = []

    def block(self, statements: Iterable[Any], names: dict[str, str]) -> None:
        for statement in statements:
            self._statement(statement, names)

    def _statement(self, node: Any, names: dict[str, str]) -> None:
        if isinstance(node, cst.SimpleStatementLine):
            for small in node.body:
                self._small(small, names)
        elif isinstance(node, cst.If):
            self._ways(node, [tree.body_statements(node), tree.else_statements(node)], names)
        elif isinstance(node, cst.For):
            inside = dict(names)
            self.given._target(node.target, node.iter, self.info, inside)
            self._turns(node, inside, names)
        elif isinstance(node, cst.While):
            self._turns(node, dict(names), names)
        elif isinstance(node, cst.With):
            self.block(tree.body_statements(node), names)
        elif isinstance(node, cst.Try):
            caught = [tree.body_statements(handler) for handler in node.handlers]
            self._ways(node, [tree.body_statements(node), *caught], names)

    def _ways(self, node: Any, sides: list[list[Any]], names: dict[str, str]) -> None:
        ends = []
        for side in sides:
            inside = dict(names)
            self.block(side, inside)
            if not tree.always_returns(side):
                ends.append(inside)
        for name in {name for end in ends for name in end}:
            names[name] = either(end.get(name, SAME) for end in ends)

    def _turns(self, node: Any, inside: dict[str, str], names: dict[str, str]) -> None:
        for _ in range(2):  # what one turn makes is what the next finds
            self.block(tree.body_statements(node), inside)
        value = self.given.context.value(node.iter) if isinstance(node, cst.For) else None
        layers = isinstance(value, values.Module)
        for name, found in inside.items():
            names[name] = found if layers else either((names.get(name, SAME), found))

    def _small(self, node: Any, names: dict[str, str]) -> None:
        if isinstance(node, cst.Return) and node.value is not None:
            self.returned.append(self.given.of(node.value, self.info, names))
        elif isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None:
            targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
            found = self.given.assigned(node, self.info, names)
            for name in (name for target in targets for name in tree.target_names(target)):
                names[name] = found
