"""Modules that are called while a model is built, for the shape of what they give: `self.cnn(torch.zeros(1, 3, 64, 64)).shape[1]`.

There are no params yet. `nn.dry_run(self.cnn, jnp.zeros((1, 3, 64, 64)))` traces the call with params that are not computed, and gives
zeros of its shapes. So it stands only where nothing but shapes is read of what comes of it; other calls are refused later on.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from .. import tree
from ..callgraph import reachable
from ..context import Context
from ..project import FunctionInfo
from ..values import Function, Method, Module, Sequence, Static, Tensor, Torch

_FACTS = frozenset({"shape", "ndim", "dtype", "device"})
_QUESTIONS = frozenset({"size", "numel", "dim", "nelement", "ndimension"})
_VIEWS = frozenset({"data", "T", "mT"})
_PARTS = frozenset({"items", "values"})  # of a dict of feature maps
# The shape of what these give follows from the values of what they are given.
_BY_VALUE = frozenset(
    "nonzero argwhere where unique unique_consecutive masked_select bincount histc repeat_interleave one_hot item tolist numpy".split()
)
_DRAWS = frozenset({"torch.rand", "torch.randn", "torch.rand_like", "torch.randn_like"})


def run(context: Context, module: cst.Module, running: Set[FunctionInfo]) -> cst.Module:
    """Rewrite the functions of one file that only build models."""

    def before(node: cst.CSTNode) -> Any:
        info = context.facts.by_node.get(id(node)) if isinstance(node, cst.FunctionDef) else None
        if info is None or info in running or info.outer is not None:
            return None
        return _Probes(context, info, running).function(node)

    return tree.rewrite(module, before, only={cst.FunctionDef})  # type: ignore[no-any-return]


class _Probes:
    """One function that builds models."""

    def __init__(self, context: Context, info: FunctionInfo, running: Set[FunctionInfo]) -> None:
        self.context, self.info, self.running = context, info, running
        self.above: dict[int, Any] = {}
        self.reads: dict[str, list[Any]] = {}
        self.asked: set[str] = set()  # names of which it is found out whether their values are read

    def function(self, node: Any) -> Any:
        calls = [n for n in tree.nodes(node.body, cst.Call) if self._called(n) is not None]
        if not calls:
            return node
        for n in tree.walk(node.body):
            self.above.update((id(child), n) for child in tree.children(n))
            if isinstance(n, cst.Name) and not self._is_bound(n):
                self.reads.setdefault(n.value, []).append(n)
        probes = {id(n) for n in calls if isinstance(self.context.value(n), Static) or self._only_shape(n)}
        draws = {id(n) for n in tree.nodes(node.body, cst.Call) if probes and self.context.torch_name(n.func) in _DRAWS and self._only_shape(n)}

        def before(n: Any) -> Any:
            if id(n) not in probes and id(n) not in draws:
                return None
            args = [tree.replace(a, value=tree.rewrite(a.value, before, only={cst.Call})) for a in n.args]
            return self._dry_run(n, args) if id(n) in probes else self._zeros(n, args)

        new = tree.rewrite(node, before, only={cst.Call})
        self.context.facts.carry(node, new)
        return new

    # ------------------------------------------------------------------ what is called

    def _called(self, call: cst.Call) -> Any:
        """What a call runs: a module, or a method of one that runs in forward passes too; None for other calls."""
        value = self.context.value(call.func)
        if isinstance(value, Module):
            return call.func if self._has_effects(value) else None
        if not isinstance(call.func, cst.Attribute) or isinstance(call.func.value, cst.Call):
            return None  # `super().forward(x)`
        receiver = self.context.value(call.func.value)
        if not isinstance(receiver, Module):
            return None
        if call.func.attr.value == "forward":
            return call.func.value if self._has_effects(receiver) else None
        if not isinstance(value, Function) or value.info not in self.running or value.info.owner is None or value.info.is_static:
            return None
        return call.func if self._runs_modules(value.info) else None

    def _has_effects(self, module: Module) -> bool:
        """Whether the calls of a module may take params, state, a key or the mode: those of MaxPool2d do not."""
        layers = [self.context.rulebook.layer(ref) if isinstance(ref, str) else None for ref in module.classes]
        return module.open or not layers or any(layer is None or self.context.rulebook.effects(layer.name) for layer in layers)

    def _runs_modules(self, method: FunctionInfo) -> bool:
        """Whether a method, or what it calls, calls modules or reads params."""
        of = self.context.facts.of
        for info in reachable(self.context.facts.calls, [method]):
            for node in tree.nodes(info.node.body, cst.Call, cst.Attribute):
                value = of(node.func if isinstance(node, cst.Call) else node)
                if isinstance(node, cst.Call) and isinstance(value, Module) and self._has_effects(value) or isinstance(value, Tensor) and value.param:
                    return True
        return False

    def _dry_run(self, call: cst.Call, args: list[Any]) -> Any:
        """`nn.dry_run(self.cnn, x)`. The module is a node of which nothing is known, so that no pass gives it params."""
        made = tree.expression(f"{self.context.name('dry_run')}()")
        made = tree.replace(made, args=[cst.Arg(self._called(call).deep_clone()), *args])
        self.context.facts.carry(call, made)
        given = [self.context.value(a.value) for a in call.args]
        if isinstance(self.above.get(id(call)), cst.Expr) and not any(isinstance(v, Tensor) and v.param for v in given):  # not `self.init_(p)`
            self.context.report("taken-for-granted", call, "this call only shows shapes here: what it keeps in modules, attributes that forward sets or running statistics, starts as it was before")
        return made

    def _zeros(self, call: cst.Call, args: list[Any]) -> Any:
        """`torch.zeros(1, 3)` of `torch.rand(1, 3)`, of which the shape counts."""
        like = (self.context.torch_name(call.func) or "").endswith("_like")
        func = tree.expression("torch.zeros_like" if like else "torch.zeros")
        self.context.facts.tell(func, Torch("torch.zeros_like" if like else "torch.zeros"))
        kept = [a for a in args if a.keyword is None or a.keyword.value != "generator"]
        made = tree.replace(call, func=func, args=kept)
        self.context.facts.carry(call, made)
        return made

    # ------------------------------------------------------------------ what is read of it

    def _only_shape(self, node: Any) -> bool:
        """Whether only shapes are read of what an expression gives."""
        self.asked = set()
        return self._for_shape(node)

    def _for_shape(self, node: Any) -> bool:
        above = self.above.get(id(node))
        if isinstance(above, cst.Attribute):
            return self._attribute_for_shape(above)
        if isinstance(above, cst.Arg):
            return self._argument_for_shape(above)
        if isinstance(above, cst.Subscript) and above.value is node:
            return not any(isinstance(self.context.value(n), Tensor) for e in above.slice for n in tree.nodes(e, cst.Name, cst.Attribute, cst.Comparison)) and self._for_shape(above)
        if isinstance(above, (cst.Assign, cst.AnnAssign)) and above.value is node:
            targets = [t.target for t in above.targets] if isinstance(above, cst.Assign) else [above.target]
            return all(self._target_for_shape(t) for t in targets)
        if isinstance(above, (cst.For, cst.CompFor)) and above.iter is node:
            return self._target_for_shape(above.target)
        return isinstance(above, cst.Expr) or isinstance(above, cst.BinaryOperation) and self._for_shape(above)

    def _attribute_for_shape(self, node: cst.Attribute) -> bool:
        """`x.shape`, `x.size(1)`, `x.view(1, -1)`"""
        name, above = node.attr.value, self.above.get(id(node))
        if not isinstance(above, cst.Call) or above.func is not node:
            return name in _FACTS or name in _VIEWS and self._for_shape(node)
        if name in _QUESTIONS or name in _PARTS and self._for_shape(above):
            return True
        return name not in _BY_VALUE and not name.endswith("_") and self._gives_arrays(above) and self._for_shape(above)

    def _argument_for_shape(self, argument: cst.Arg) -> bool:
        """`len(x)`, `F.relu(x)`, and what another module is called with."""
        call: Any = self.above.get(id(argument))
        if self._called(call) is not None or tree.dotted(call.func) in ("len", "type", "isinstance"):
            return True
        if tree.dotted(call.func) == "enumerate":
            return self._for_shape(call)
        name = self.context.torch_name(call.func)
        by_shape = name is not None and name.rpartition(".")[2] not in _BY_VALUE or isinstance(self.context.value(call.func), Module)
        return by_shape and self._gives_arrays(call) and self._for_shape(call)

    def _gives_arrays(self, call: cst.Call) -> bool:
        value = self.context.value(call)
        return isinstance(value, Tensor) and value.number is False or isinstance(value, Sequence) or isinstance(self.context.value(call.func), Method)

    def _target_for_shape(self, target: Any) -> bool:
        """Whether only shapes are read of the names that a value is assigned to, anywhere in the function."""
        if isinstance(target, (cst.Attribute, cst.Subscript)):
            return False
        if isinstance(target, (cst.Tuple, cst.List)):
            return all(self._target_for_shape(e.value) for e in target.elements)
        names = set(tree.target_names(target)) - self.asked
        self.asked |= names
        return all(self._for_shape(n) for name in names for n in self.reads.get(name, ()))

    def _is_bound(self, name: cst.Name) -> bool:
        """Whether a name is not read: a target, and the name of an attribute or of an argument."""
        node, above = name, self.above.get(id(name))
        while isinstance(above, (cst.Element, cst.Tuple, cst.List)):
            node, above = above, self.above.get(id(above))  # type: ignore[assignment]
        if isinstance(above, (cst.For, cst.CompFor, cst.AnnAssign, cst.AugAssign)):
            return above.target is node
        return isinstance(above, cst.AssignTarget) or isinstance(above, cst.Attribute) and above.attr is name or isinstance(above, cst.Arg) and above.keyword is name
