"""The blocks without gradient of a function, the decorators that make a whole function one, and `Variable(x)`, which is detached."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...carriers import Carriers
from ...context import Context
from ...liveness import Liveness
from ...project import FunctionInfo
from ...values import Function, Method, Tensor
from .leaving import Leaving
from .wrapping import Block

OFF = ("no_grad", "inference_mode")
SWITCHES = (*OFF, "enable_grad", "set_grad_enabled")
# `for y in g(x): loss = loss + y * x` has no gradient in torch: the block of a suspended generator holds for whoever called it.
_LEAKS = "what takes from this generator computes without gradient in torch until the block is left: here it has one, as is right where none is asked for"
_VARIABLE = ("torch.autograd.Variable", "torch.autograd.variable.Variable")


def run(context: Context, module: cst.Module, carriers: Carriers) -> cst.Module:
    """Wrap what leaves the blocks without gradient of every function that runs in a forward pass."""

    def before(node: cst.CSTNode) -> Any:
        info = context.facts.by_node.get(id(node)) if isinstance(node, cst.FunctionDef) else None
        return _Gradients(context, info, node, carriers).function() if info is not None and carriers.concern(info) else None

    return tree.rewrite(module, before, only={cst.FunctionDef})  # type: ignore[no-any-return]


def switch(context: Context, node: cst.BaseExpression) -> tuple[str, Any] | None:
    """For a decorator or `with` item that turns gradients on or off: which it is, and the flag that it is given."""
    name = (context.torch_name(node) or "").rpartition(".")[2]
    if name not in SWITCHES:
        return None
    return name, node.args[0].value if isinstance(node, cst.Call) and node.args else None


class _Gradients:
    def __init__(self, context: Context, info: FunctionInfo, node: Any, carriers: Carriers) -> None:
        self.context, self.info, self.node, self.carriers = context, info, node, carriers
        self.liveness: Liveness | None = None

    def function(self) -> Any:
        off = None
        for decorator in self.node.decorators:
            found = switch(self.context, decorator.decorator)
            if found is not None and self._is_off(*found):
                parameters = frozenset(p.name.value for p in self.info.parameters())
                off = self._leaving(self.node.body, None, parameters)
        new = tree.rewrite(self.node, self._visit, only={cst.FunctionDef, cst.With, cst.Call})
        if off is not None:
            new = tree.with_body(new, off.block(tree.body_statements(new)))
        if new is not self.node:
            self.context.facts.carry(self.node, new)
        return new

    def _is_computed_with(self) -> bool:
        """Whether the function is a context manager, or a loop over what it yields computes in its turns."""
        if any(d.endswith("contextmanager") for d in self.info.decorators):
            return True
        loop: Any
        for loop in tree.nodes(self.context.module.tree, cst.For, cst.ListComp, cst.GeneratorExp):
            over = loop.iter if isinstance(loop, cst.For) else loop.for_in.iter
            value = self.context.value(over.func) if isinstance(over, cst.Call) else None
            if isinstance(value, Function) and value.info is self.info:
                turn: Any = loop.body if isinstance(loop, cst.For) else loop.elt
                if isinstance(turn, cst.BinaryOperation) or any(True for _ in tree.nodes(turn, cst.Call, cst.BinaryOperation, cst.AugAssign)):
                    return True
        return False

    def _is_off(self, name: str, flag: Any) -> bool:
        if name in OFF:
            return flag is None or tree.code(flag) != "False"
        return name == "set_grad_enabled" and flag is not None and tree.code(flag) != "True"

    def _leaving(self, body: cst.CSTNode, flag: Any, live: frozenset[str]) -> Leaving:
        block = Block(self.context, self.info, self.node, body, flag, live, self.carriers)
        return Leaving(block, lambda item: (switch(self.context, item) or ("",))[0] == "enable_grad")

    def _visit(self, node: cst.CSTNode) -> Any:
        if isinstance(node, cst.FunctionDef) and node is not self.node:
            info = self.context.facts.by_node.get(id(node))
            return _Gradients(self.context, info, node, self.carriers).function() if info is not None else None
        if isinstance(node, cst.Call) and self._detaches(node):
            return self._detached(node)
        if not isinstance(node, cst.With):
            return None
        for item in node.items:
            found = switch(self.context, item.item)
            if found is not None and self._is_off(*found):
                if any(True for _ in tree.scope_nodes(node.body, cst.Yield)) and self._is_computed_with():
                    self.context.report("taken-for-granted", node, _LEAKS)
                flag = found[1] if found[0] == "set_grad_enabled" and tree.code(found[1]) != "False" else None
                return self._block(node, flag)
        return None

    def _detaches(self, call: cst.Call) -> bool:
        """Whether a call is `Variable(x)` of what has a gradient: outside of a forward pass, loops go over the data of a loader."""
        if not call.args or call.args[0].star or self.context.torch_name(call.func) not in _VARIABLE:
            return False
        given = call.args[0].value
        if not self.carriers.is_forward(self.info) and _root(given) in self._iterated():
            return False
        return self.carriers.carries(given, self.info, self.node)

    def _iterated(self) -> set[str]:
        """What loops go over."""
        return {name for loop in tree.nodes(self.node.body, cst.For) for name in tree.target_names(loop.target)}

    def _detached(self, call: cst.Call) -> Any:
        """`x.detach()` for `Variable(x)`: the same memory without its history."""
        made = tree.expression("x.detach()")
        func = tree.replace(made.func, value=tree.fit(made.func, "value", tree.rewrite(call.args[0].value, self._visit, only={cst.Call})))
        made = tree.replace(made, func=func)
        self.context.facts.tell(func, Method(Tensor(), "detach"))
        self.context.facts.carry(call, made)
        return made

    def _block(self, node: cst.With, flag: Any) -> Any:
        if self.liveness is None:
            self.liveness = Liveness(self.node, self.info.self_name)
        live = self.liveness.after.get(id(node), frozenset())
        return tree.with_body(node, self._leaving(node.body, flag, live).block(tree.body_statements(node)))


def _root(node: Any) -> str | None:
    """data of `data["image"].float().cuda()`"""
    while not isinstance(node, cst.Name):
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func
        if not isinstance(node, (cst.Attribute, cst.Subscript)):
            return None
        node = node.value
    return node.value
