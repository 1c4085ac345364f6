"""Where a name is bound to an array of NumPy's, by what becomes of it: `obs = env.reset()` before `torch.from_numpy(obs)`.

What NumPy and torch call alike they may compute otherwise: `obs.std()` divides by n in NumPy, by n - 1 in torch.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..project import FunctionInfo
from ..values import Value, is_anything
from .tables import Inference

# What makes tensors of arrays, and is seldom given a tensor.
_MAKERS = frozenset({"torch.from_numpy", "torch.tensor", *(f"torch.{t}Tensor" for t in ("Float", "Double", "Half", "Long", "Int", "Byte", "Bool"))})
_METHODS = frozenset("astype reshape transpose copy mean std var sum max min squeeze flatten ravel repeat clip swapaxes round".split())


def is_bound_to_numpy(facts: Inference, info: FunctionInfo | None, node: cst.CSTNode, value: Value) -> bool:
    """Whether a parameter or target is made a tensor of on all ways, and nothing known of its value says that it is one already.

    A forward pass is given tensors: `torch.tensor(x)` copies one there.
    """
    return info is not None and info.name != "forward" and is_anything(value) and id(node) in _bound(facts, info)


def _bound(facts: Inference, info: FunctionInfo) -> frozenset[int]:
    """The ids of the parameters and targets of a function that are made tensors of on all ways."""
    if info not in facts.numpy_names:
        search = _Search(facts, info)
        wanted = search.before(tree.body_statements(info.node), set())
        facts.numpy_names[info] = frozenset(search.found | {id(p) for p in info.parameters() if p.name.value in wanted})
    return facts.numpy_names[info]


class _Search:
    """Goes through statements backwards: `wanted` are the names that hold arrays of NumPy's at a place, by what follows it."""

    def __init__(self, facts: Inference, info: FunctionInfo) -> None:
        self.facts, self.info = facts, info
        self.found: set[int] = set()
        self.kept = _attributes(facts, info)

    def before(self, statements: list[Any], wanted: set[str]) -> set[str]:
        for statement in reversed(statements):
            wanted = self._statement(statement, wanted)
        return wanted

    def _statement(self, node: Any, wanted: set[str]) -> set[str]:
        if isinstance(node, cst.SimpleStatementLine):
            for small in reversed(node.body):
                wanted = self._small(small, wanted)
            return wanted
        if isinstance(node, cst.If):
            return self._branch(node, wanted) | self._used(node.test)
        if isinstance(node, (cst.For, cst.While)):
            return self._loop(node, wanted)
        if isinstance(node, cst.With):
            return self.before(tree.body_statements(node), wanted)
        return wanted - set(tree.names_assigned(node))

    def _branch(self, node: cst.If, wanted: set[str]) -> set[str]:
        """What both ways want: `if isinstance(x, np.ndarray): x = torch.from_numpy(x)` tells nothing of the other."""
        then = self.before(tree.body_statements(node), wanted)
        orelse = node.orelse
        if orelse is None:
            return then & wanted
        return then & (self._branch(orelse, wanted) if isinstance(orelse, cst.If) else self.before(tree.body_statements(orelse), wanted))

    def _loop(self, node: cst.For | cst.While, wanted: set[str]) -> set[str]:
        body = tree.body_statements(node)
        first = self.before(body, wanted & self.before(body, set()))
        if isinstance(node, cst.For):
            self._bind(node.target, first)
            first = first - set(tree.target_names(node.target))
        return first | (wanted - set(tree.names_assigned(node)))

    def _small(self, node: Any, wanted: set[str]) -> set[str]:
        if isinstance(node, cst.AugAssign):
            return wanted | self._used(node.value)
        if not isinstance(node, (cst.Assign, cst.AnnAssign)) or node.value is None:
            return wanted | self._used(node)
        targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
        names = {n for t in targets for n in tree.target_names(t)}
        made = _sources(node.value) if names & wanted and all(isinstance(t, cst.Name) for t in targets) else set()
        for target in targets:
            self._bind(target, wanted)
            made |= _sources(node.value) if tree.dotted(target) in self.kept else set()
        return wanted - names | made | self._used(node.value)

    def _bind(self, target: Any, wanted: set[str]) -> None:
        """Remember the targets of names that are wanted."""
        if isinstance(target, cst.Name) and target.value in wanted:
            self.found.add(id(target))
        for element in target.elements if isinstance(target, (cst.Tuple, cst.List)) else ():
            self._bind(element.value, wanted)

    def _used(self, node: Any) -> set[str]:
        """The names that an expression or statement makes tensors of."""
        used: set[str] = set()
        for call in [*([node] if isinstance(node, cst.Call) else []), *tree.scope_nodes(node, cst.Call)]:
            name = tree.dotted(call.func)
            if name is not None and call.args and self.facts.project.resolve(self.info.module, name) in _MAKERS:
                used |= _sources(call.args[0].value)
        return used - {n for c in tree.scope_nodes(node, cst.CompFor) for n in tree.target_names(c.target)}


def _attributes(facts: Inference, info: FunctionInfo) -> frozenset[str]:
    """The attributes of an object that is no module which its methods call `torch.from_numpy` of: "self.mean"."""
    if info.owner is None or info.owner.is_module:
        return frozenset()
    calls = ((m, c) for m in info.owner.methods.values() for c in tree.nodes(m.node.body, cst.Call) if c.args)
    made = ((m, tree.dotted(c.args[0].value) or "") for m, c in calls if facts.project.resolve(m.module, tree.dotted(c.func) or "") == "torch.from_numpy")
    return frozenset(f"{info.self_name}.{n.partition('.')[2]}" for m, n in made if n.startswith(f"{m.self_name}."))


def _sources(value: Any) -> set[str]:
    """The names of the arrays that an expression of arithmetic and NumPy's methods computes with."""
    if isinstance(value, cst.Name):
        return {value.value}
    if isinstance(value, cst.BinaryOperation):
        return _sources(value.left) | _sources(value.right)
    if isinstance(value, cst.UnaryOperation):
        return _sources(value.expression)
    if isinstance(value, cst.Subscript):
        return _sources(value.value)
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and value.func.attr.value in _METHODS:
        return _sources(value.func.value)
    return set()
