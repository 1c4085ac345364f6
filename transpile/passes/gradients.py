"""What is computed under `torch.no_grad()` is constant: `lax.stop_gradient` stands where a gradient would pass.

Only what leaves the block is wrapped: a value that is read after it, returned, or kept on self. Plain names are not, for
`y = x` under no_grad is x itself, with its gradient. An in-place write changes the value of a tensor but not its history, so
that of a tensor from outside the block only `+=` and `-=` have an equivalent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from .. import tree
from ..arrays import Arrays
from ..context import Context
from ..liveness import Liveness
from ..project import FunctionInfo
from ..values import External, Function, Mapping, Method, Module, Sequence, Static, Tensor, Torch, Value

OFF = ("no_grad", "inference_mode")
SWITCHES = (*OFF, "enable_grad", "set_grad_enabled")


def run(context: Context, module: cst.Module, running: set[FunctionInfo], forward: set[FunctionInfo]) -> cst.Module:
    """Wrap what leaves the blocks without gradient of every function that runs in a forward pass."""
    constants = _Constants(context, running, forward)

    def before(node: cst.CSTNode) -> Any:
        info = context.facts.by_node.get(id(node)) if isinstance(node, cst.FunctionDef) else None
        if info is None:
            return None
        outermost = info
        while outermost.outer is not None:
            outermost = outermost.outer
        if outermost not in running:
            return None
        return _Gradients(context, info, node, constants).function()

    return tree.rewrite(module, before, only={cst.FunctionDef})  # type: ignore[no-any-return]


def switch(context: Context, node: cst.BaseExpression) -> tuple[str, Any] | None:
    """For a decorator or `with` item that turns gradients on or off: which it is, and the flag that it is given."""
    name = (context.torch_name(node) or "").rpartition(".")[2]
    if name not in SWITCHES:
        return None
    return name, node.args[0].value if isinstance(node, cst.Call) and node.args else None


class _Constants:
    """Which expressions carry no gradient anyhow: made of buffers, detached tensors, integers and numbers alone."""

    def __init__(self, context: Context, running: set[FunctionInfo], forward: set[FunctionInfo]) -> None:
        self.context, self.running, self.forward = context, running, forward
        self.arrays: Arrays | None = None
        self.names: dict[int, set[str]] = {}  # id of a function -> its local names that are constant

    def carries(self, value: Any, info: FunctionInfo, function: Any) -> bool:
        if id(function) not in self.names:
            self.names[id(function)] = self._local(info, function)
        return self._carries(value, info, self.names[id(function)])

    def _local(self, info: FunctionInfo, function: Any) -> set[str]:
        assigned: dict[str, list[Any]] = {}
        spoilt = {p.name.value for p in info.parameters()}
        for node in tree.nodes(function.body, cst.Assign, cst.AugAssign, cst.For, cst.CompFor, cst.With, cst.NamedExpr, cst.AnnAssign):
            if isinstance(node, cst.Assign) and all(isinstance(t.target, cst.Name) for t in node.targets):
                for target in node.targets:
                    assigned.setdefault(target.target.value, []).append(node.value)  # type: ignore[attr-defined]
            else:
                spoilt |= {n.value for n in tree.walk(node) if isinstance(n, cst.Name)} if not isinstance(node, (cst.For, cst.With)) else tree.names_read(node)
        names = set(assigned) - spoilt
        while True:
            kept = {n for n in names if not any(self._carries(v, info, names) for v in assigned[n])}
            if kept == names:
                return names
            names = kept

    def _carries(self, value: Any, info: FunctionInfo, names: set[str]) -> bool:
        known = self.context.value(value)
        if isinstance(value, cst.BaseExpression) and not _may_carry(known):
            return False
        if isinstance(value, cst.Name):
            return value.value not in names
        if isinstance(value, cst.Attribute):
            if value.attr.value == "data" and isinstance(self.context.value(value.value), Tensor):
                return False
            owner = self.context.value(value.value)
            if isinstance(owner, Module) and owner.is_self and info.owner is not None:
                self.arrays = self.arrays or Arrays(self.context.facts, self.context.host, self.running, self.forward)
                array = self.arrays.find(info.owner, value.attr.value)
                return array is None or array.where == "params"
            return self._carries(value.value, info, names) if isinstance(owner, Tensor) else True
        if isinstance(value, cst.Call):
            return self._call(value, info, names)
        if isinstance(value, cst.Subscript):
            return self._carries(value.value, info, names)
        below = [n for n in tree.children(value) if isinstance(n, (cst.BaseExpression, cst.ComparisonTarget, cst.Element))]
        return not below or any(self._carries(n, info, names) for n in below)

    def _call(self, value: cst.Call, info: FunctionInfo, names: set[str]) -> bool:
        function = self.context.value(value.func)
        if isinstance(function, Method) and isinstance(value.func, cst.Attribute) and isinstance(function.receiver, Tensor):
            if function.name == "detach":
                return False
            inputs = [value.func.value, *(a.value for a in value.args)]
        elif isinstance(function, Torch):
            inputs = [a.value for a in value.args]
        else:
            return True
        return any(self._carries(n, info, names) for n in inputs)


class _Gradients:
    def __init__(self, context: Context, info: FunctionInfo, node: Any, constants: _Constants) -> None:
        self.context, self.info, self.node, self.constants = context, info, node, constants
        self.liveness: Liveness | None = None

    def function(self) -> Any:
        off = None
        for decorator in self.node.decorators:
            found = switch(self.context, decorator.decorator)
            if found is not None and self._is_off(*found):
                parameters = frozenset(p.name.value for p in self.info.parameters())
                off = _Off(self.context, self.info, None, parameters, self._assigned(self.node.body), self._carries)
        new = tree.rewrite(self.node, self._visit, only={cst.FunctionDef, cst.With})
        if off is not None:
            new = tree.with_body(new, off.block(tree.body_statements(new)))
        if new is not self.node:
            self.context.facts.carry(self.node, new)
        return new

    def _is_off(self, name: str, flag: Any) -> bool:
        if name in OFF:
            return flag is None or tree.code(flag) != "False"
        return name == "set_grad_enabled" and flag is not None and tree.code(flag) != "True"

    def _carries(self, value: Any) -> bool:
        return self.constants.carries(value, self.info, self.node)

    def _assigned(self, block: cst.CSTNode) -> set[str]:
        """Names that a block makes itself: `y = f(x)`, but not `y = x`, which is x."""
        found: set[str] = set()
        for node in tree.walk_scope(block):
            if isinstance(node, cst.Assign) and not isinstance(node.value, (cst.Name, cst.Attribute)):
                for target in node.targets:
                    names = [e.value for e in target.target.elements] if isinstance(target.target, (cst.Tuple, cst.List)) else [target.target]
                    found |= {n.value for n in names if isinstance(n, cst.Name)}
        return found

    def _visit(self, node: cst.CSTNode) -> Any:
        if isinstance(node, cst.FunctionDef) and node is not self.node:
            info = self.context.facts.by_node.get(id(node))
            return _Gradients(self.context, info, node, self.constants).function() if info is not None else None
        if not isinstance(node, cst.With):
            return None
        for item in node.items:
            found = switch(self.context, item.item)
            if found is not None and self._is_off(*found):
                flag = found[1] if found[0] == "set_grad_enabled" and tree.code(found[1]) != "False" else None
                return self._block(node, flag)
        return None

    def _block(self, node: cst.With, flag: Any) -> Any:
        if self.liveness is None:
            self.liveness = Liveness(self.node, self.info.self_name)
        live = self.liveness.after.get(id(node), frozenset())
        off = _Off(self.context, self.info, flag, live, self._assigned(node.body), self._carries)
        return tree.with_body(node, off.block(tree.body_statements(node)))


class _Off:
    """The statements of one block without gradient. `live`: names read after it; `own`: names that it assigns itself."""

    def __init__(self, context: Context, info: FunctionInfo, flag: Any, live: frozenset[str], own: set[str], carries: Callable[[Any], bool]) -> None:
        self.context, self.info, self.flag, self.live, self.own, self.carries = context, info, flag, live, own, carries

    def block(self, statements: list[Any]) -> list[Any]:
        return [tree.rewrite(s, self._visit) for s in statements]

    def _visit(self, node: cst.CSTNode) -> Any:
        if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            return node
        if isinstance(node, cst.With):
            found = [switch(self.context, item.item) for item in node.items]
            if any(f is not None and f[0] == "enable_grad" for f in found):
                call = self.context.unconverted("unsupported", node.items[0].item, "torch.enable_grad inside torch.no_grad")
                return cst.SimpleStatementLine([cst.Expr(call)])
            return None
        if isinstance(node, cst.Return) and node.value is not None:
            return self._with_value(node)
        if isinstance(node, cst.Assign):
            return self._assign(node)
        if isinstance(node, cst.AugAssign):
            return self._augmented(node)
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            return self._statement(node, node.value)
        return None

    def _assign(self, node: cst.Assign) -> Any:
        targets = [t.target for t in node.targets]
        if any(isinstance(t, cst.Subscript) and self._is_tensor(t.value) for t in targets):
            root = self._root(targets[0])
            if not self._leaves(targets[0]):
                return node
            return self._with_part(node) if self._no_history(root) else self._refuse(node.value)
        return self._with_value(node) if any(self._leaves(t) for t in targets) else node

    def _augmented(self, node: cst.AugAssign) -> Any:
        if not self._leaves(node.target):
            return node
        if isinstance(node.operator, (cst.AddAssign, cst.SubtractAssign)) or self._no_history(self._root(node.target)):
            return self._with_part(node)
        return self._refuse(node.value) if self._is_tensor(node.target) else node

    def _statement(self, node: cst.Expr, call: cst.Call) -> Any:
        function = self.context.value(call.func)
        if isinstance(function, Method) and isinstance(call.func, cst.Attribute) and isinstance(function.receiver, Tensor):
            root = self._root(call.func.value)
            if not function.name.endswith("_") or not self._leaves(root):
                return node
            if function.name not in ("add_", "sub_", "requires_grad_") and not self._no_history(root):
                return self._refuse(call)
        elif isinstance(function, Torch) and function.name.endswith("_") and call.args:
            root = self._root(call.args[0].value)
            if not self._leaves(root):
                return node
            if not self._no_history(root):
                return self._refuse(call)
            return tree.replace(node, value=tree.replace(call, args=[call.args[0], *map(self._argument, call.args[1:])]))
        elif not isinstance(function, (Function, Module)):
            return node
        args = [self._argument(a) for a in call.args]
        if all(a is b for a, b in zip(args, call.args)):
            return node
        new = tree.replace(call, args=args)
        self.context.facts.carry(call, new)
        return tree.replace(node, value=new)

    def _argument(self, argument: cst.Arg) -> Any:
        if argument.star or not isinstance(self.context.value(argument.value), Tensor) or not self.carries(argument.value):
            return argument
        return tree.replace(argument, value=self._constant(argument.value))

    # ------------------------------------------------------------------ questions

    def _root(self, node: Any) -> Any:
        while True:
            if isinstance(node, cst.Subscript) or isinstance(node, cst.Attribute) and node.attr.value == "data":
                node = node.value
            elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and isinstance(self.context.value(node.func), Method):
                node = node.func.value  # x.mul_(a).add_(b), x.view(-1).fill_(0)
            else:
                return node

    def _on_self(self, node: Any) -> bool:
        return isinstance(node, cst.Attribute) and (tree.dotted(node) or "").split(".")[0] == self.info.self_name

    def _leaves(self, target: Any) -> bool:
        """Whether what is written here is read after the block."""
        if isinstance(target, (cst.Tuple, cst.List)):
            return any(self._leaves(e.value) for e in target.elements)
        root = self._root(target)
        return isinstance(root, cst.Name) and root.value in self.live or self._on_self(root)

    def _no_history(self, root: Any) -> bool:
        """A buffer, or what the block made itself, carries no gradient of its own."""
        return isinstance(root, cst.Name) and root.value in self.own or self._on_self(root)

    def _is_tensor(self, node: Any) -> bool:
        return isinstance(self.context.value(node), Tensor)

    # ------------------------------------------------------------------ writing

    def _refuse(self, node: Any) -> Any:
        message = "an in-place write, under no_grad, of a tensor that may carry a gradient from outside"
        return cst.Expr(self.context.unconverted("unsupported", node, message))

    def _with_part(self, node: Any) -> Any:
        """What is written into a tensor: even a plain name becomes part of something else."""
        known = self.context.value(node.value)
        if isinstance(node.value, (cst.Name, cst.Attribute)) and isinstance(known, Tensor) and self.carries(node.value):
            return tree.replace(node, value=self._constant(node.value))
        return self._with_value(node)

    def _with_value(self, node: Any) -> Any:
        value = node.value
        if isinstance(value, (cst.Tuple, cst.List)):
            elements = [tree.replace(e, value=self._wrapped(e.value)) if isinstance(e, cst.Element) else e for e in value.elements]
            if all(a.value is b.value for a, b in zip(elements, value.elements)):
                return node
            new: Any = tree.replace(value, elements=elements)
            self.context.facts.carry(value, new)
        else:
            new = self._wrapped(value)
        return node if new is value else tree.replace(node, value=new)

    def _wrapped(self, value: Any) -> Any:
        known = self.context.value(value)
        if isinstance(value, (cst.Name, cst.Attribute)) and not isinstance(known, Function) and not self._is_own(value):
            return value
        if not _may_carry(known) or not self.carries(value) or isinstance(value, (cst.Lambda, cst.Dict, cst.SimpleString, cst.FormattedString)):
            return value
        return self._constant(value)

    def _is_own(self, value: Any) -> bool:
        """A name for what was computed in the block, which is not x itself."""
        return isinstance(value, cst.Name) and value.value in self.own

    def _constant(self, value: Any) -> Any:
        argument = tree.parenthesised(value) if isinstance(value, (cst.Tuple, cst.GeneratorExp)) and not value.lpar else value
        if self.flag is None:
            new = tree.replace(tree.expression("lax.stop_gradient()"), args=[cst.Arg(argument)])
        else:
            call = tree.expression(f"{self.context.name('with_gradient')}()")
            new = tree.replace(call, args=[cst.Arg(self.flag), cst.Arg(argument)])
        self.context.facts.carry(value, new)
        return new


def _may_carry(value: Value) -> bool:
    """Whether a value may be, or hold, a tensor with a gradient."""
    if isinstance(value, Tensor):
        return value.kind not in ("i", "b", "u")
    if isinstance(value, Sequence):
        return any(map(_may_carry, value.items)) if value.items is not None else _may_carry(value.element)
    return not isinstance(value, (Static, Module, Torch, External, Mapping))
