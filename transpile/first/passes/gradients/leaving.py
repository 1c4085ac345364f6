"""The statements of a block without gradient: what leaves it is constant from there on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from ... import tree
from ...host_effects import GROWING
from ...inplace import is_inplace_name
from ...values import UNKNOWN, External, Function, Mapping, Method, Module, Sequence, Tensor, Torch
from .wrapping import Block

_STORING = GROWING | {"appendleft", "extendleft", "put"}


class Leaving:
    """`turns_on`: whether a `with` item turns gradients on again."""

    def __init__(self, block: Block, turns_on: Callable[[cst.BaseExpression], bool]) -> None:
        self.within, self.context, self.turns_on = block, block.context, turns_on

    def block(self, statements: list[Any]) -> list[Any]:
        """The statements with what leaves the block wrapped."""
        return [tree.rewrite(s, self._visit) for s in statements]

    def _visit(self, node: cst.CSTNode) -> Any:
        if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            return node
        if isinstance(node, cst.With):
            if any(self.turns_on(item.item) for item in node.items):
                call = self.context.unconverted("unsupported", node.items[0].item, "torch.enable_grad inside torch.no_grad")
                return cst.SimpleStatementLine([cst.Expr(call)])
            return None
        if isinstance(node, (cst.Return, cst.Yield)) and node.value is not None:
            return self._given(node)
        if isinstance(node, cst.Assign):
            return self._assign(node)
        if isinstance(node, (cst.AnnAssign, cst.NamedExpr)) and node.value is not None:
            return self._with_value(node) if self._leaves(node.target) else None
        if isinstance(node, cst.AugAssign):
            return self._augmented(node)
        if isinstance(node, cst.For):
            return self._loop(node)
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            return self._statement(node, node.value)
        if isinstance(node, cst.Call):
            return self._stored(node, _STORING)
        return None

    def _given(self, node: Any) -> Any:
        """`return y` and `yield y`; `yield from f(x)` gives one after another."""
        if not isinstance(node.value, cst.From):
            return self._with_value(node)
        over = node.value.item
        if isinstance(over, (cst.List, cst.Tuple)):
            return tree.replace(node, value=tree.replace(node.value, item=self.within.wrapped(over)))
        return tree.replace(node, value=tree.replace(node.value, item=self._each(over))) if self.within.computes(over, self.within.own) else node

    def _loop(self, node: cst.For) -> Any:
        """A loop whose last turn is seen after the block."""
        if not self._leaves(node.target) or not self.within.computes(node.iter, self.within.own):
            return None
        new = tree.replace(node, iter=self._each(node.iter))
        return tree.rewrite(new, lambda n: None if n is new else n if n is new.iter else self._visit(n))

    def _each(self, over: Any) -> Any:
        """`map(lax.stop_gradient, over)`, for what may be a generator."""
        if self.within.flag is not None:
            return self.context.unconverted("unsupported", over, "a loop over what is computed where a flag turns gradients off, one turn of which is seen later")
        new = tree.replace(tree.expression(f"map({self.context.name('constant')}, x)"))
        new = tree.replace(new, args=[new.args[0], tree.replace(new.args[1], value=over)])
        self.context.facts.carry(over, new)
        return new

    # ------------------------------------------------------------------ assignments

    def _assign(self, node: cst.Assign) -> Any:
        targets = [t.target for t in node.targets]
        if any(isinstance(t, cst.Subscript) and self._is_tensor(t.value) for t in targets):
            if not any(map(self._leaves, targets)):
                return node
            if any(self._is_undecided(t) for t in targets):
                return self._refuse(node.value)
            new = self._with_part(node)
            return tree.replace(new, targets=[tree.replace(t, target=self._of_data(t.target)) for t in new.targets])
        if not any(self._leaves(t) for t in targets):
            return None
        if self.within.given.takes_rows(node) and self.within.carries(node.value):
            return tree.replace(node, value=self.within.constant(node.value))
        return self._with_value(node)

    def _augmented(self, node: cst.AugAssign) -> Any:
        if not self._leaves(node.target):
            return node
        if isinstance(node.operator, (cst.AddAssign, cst.SubtractAssign)) or self._no_history(self._root(node.target)):
            return self._with_part(node)
        if not self._is_tensor(node.target):
            return node
        return self._refuse(node.value) if self._is_undecided(node.target) else tree.replace(node, target=self._of_data(node.target))

    # ------------------------------------------------------------------ calls

    def _statement(self, node: cst.Expr, call: cst.Call) -> Any:
        function = self.context.value(call.func)
        if isinstance(function, Method) and isinstance(call.func, cst.Attribute) and isinstance(function.receiver, Tensor):
            if not is_inplace_name(function.name) or not self._leaves(self._root(call.func.value)):
                return node
            if function.name not in ("add_", "sub_", "requires_grad_"):
                if self._is_undecided(call.func.value):
                    return self._refuse(call)
                call = self._with_receiver(call)
        elif isinstance(function, Torch) and is_inplace_name(function.name) and call.args:
            if not self._leaves(self._root(call.args[0].value)):
                return node
            if self._is_undecided(call.args[0].value):
                return self._refuse(call)
            subject = tree.replace(call.args[0], value=self._of_data(call.args[0].value))
            return tree.replace(node, value=tree.replace(call, args=[subject, *map(self._argument, call.args[1:])]))
        elif not isinstance(function, (Function, Module)):
            new = self._stored(call, None)
            return None if new is None else tree.replace(node, value=new)
        args = [self._argument(a) for a in call.args]
        if node.value is call and all(a is b for a, b in zip(args, call.args)):
            return node
        new = tree.replace(call, args=args)
        self.context.facts.carry(node.value, new)
        return tree.replace(node, value=new)

    def _with_receiver(self, call: Any) -> Any:
        """`y.data.mul_(x)` for `y.mul_(x)` of a tensor from outside."""
        receiver = self._of_data(call.func.value)
        if receiver is call.func.value:
            return call
        func = tree.replace(call.func, value=receiver)
        self.context.facts.carry(call.func, func)
        new = tree.replace(call, func=func)
        self.context.facts.carry(call, new)
        return new

    def _stored(self, call: cst.Call, names: frozenset[str] | None) -> Any:
        """`outs.append(y)`, `d.update(a=y)`, `queue.put(y)`: what is put into something from outside; `names` of the methods, None for any."""
        function: Any = call.func
        if not isinstance(function, cst.Attribute) or names is not None and function.attr.value not in names:
            return None
        holder = self.context.value(function.value)
        if not isinstance(holder, (Sequence, Mapping)) and not (holder == UNKNOWN and self._is_method(call)) or not self._holds(self._root(function.value)):
            return None
        args = [tree.replace(a, value=self.within.wrapped(a.value)) if self.context.value(a.value) != UNKNOWN or names else a for a in call.args]
        if all(a.value is b.value for a, b in zip(args, call.args)):
            return None
        new = tree.replace(call, args=args)
        self.context.facts.carry(call, new)
        return new

    def _is_method(self, call: Any) -> bool:
        """Whether a call is of an object's method, not of a function of a library, nor in place."""
        return not isinstance(self.context.value(call.func), (External, Torch)) and not is_inplace_name(call.func.attr.value)

    def _argument(self, argument: cst.Arg) -> Any:
        value = argument.value
        if isinstance(value, (cst.List, cst.Tuple, cst.Dict)) and not argument.star:
            new = self.within.wrapped(value)
            return argument if new is value else tree.replace(argument, value=new)
        if argument.star or not self._is_tensor(value) or not self.within.carries(value):
            return argument
        return tree.replace(argument, value=self.within.constant(value))

    # ------------------------------------------------------------------ questions

    def _root(self, node: Any) -> Any:
        while True:
            if isinstance(node, cst.Subscript) or _is_data(node):
                node = node.value
            elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and isinstance(self.context.value(node.func), Method):
                node = node.func.value  # x.mul_(a).add_(b), x.view(-1).fill_(0)
            else:
                return node

    def _leaves(self, target: Any) -> bool:
        """Whether what is written here is read after the block."""
        if isinstance(target, (cst.Tuple, cst.List)):
            return any(self._leaves(e.value) for e in target.elements)
        root = self._root(target)
        if isinstance(root, cst.Attribute) or root is not target and not self._is_tensor(root):
            return self._holds(root)
        return isinstance(root, cst.Name) and root.value in self.within.live

    def _holds(self, holder: Any) -> bool:
        """Whether what holds a value outlives the block: it is read later, or may have another name."""
        root = holder
        while isinstance(root, cst.Attribute):
            root = root.value
        return not isinstance(root, cst.Name) or root.value in self.within.live or root.value not in self.within.fresh

    def _no_history(self, root: Any) -> bool:
        """A buffer, or what the block made itself, carries no gradient of its own."""
        return isinstance(root, cst.Name) and root.value in self.within.own or self.within.is_on_self(root)

    def _has_history(self, root: Any) -> bool:
        return self._is_tensor(root) and not self._no_history(root) and self.within.carries(root)

    def _is_undecided(self, subject: Any) -> bool:
        """Whether a flag decides if a write to this becomes part of its gradient."""
        return self.within.flag is not None and self._has_history(self._root(subject))

    def _is_tensor(self, node: Any) -> bool:
        return isinstance(self.context.value(node), Tensor)

    # ------------------------------------------------------------------ writing

    def _refuse(self, node: Any) -> Any:
        message = "an in-place write, where a flag turns gradients off, of a tensor that may carry a gradient from outside"
        return cst.Expr(self.context.unconverted("unsupported", node, message))

    def _of_data(self, subject: Any) -> Any:
        """What an in-place operation writes, by way of `.data` where it may carry a gradient from outside."""
        root = self._root(subject)
        if not self._has_history(root) or subject is not root and _is_data(subject):
            return subject
        data = cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", root), cst.Name("data"))
        self.context.facts.tell(data, Tensor())
        return data if subject is root else tree.rewrite(subject, lambda n: data if n is root else None)

    def _with_part(self, node: Any) -> Any:
        """What is written into a tensor: even a plain name becomes part of something else."""
        known = self.context.value(node.value)
        if isinstance(node.value, (cst.Name, cst.Attribute)) and isinstance(known, Tensor) and self.within.carries(node.value):
            return tree.replace(node, value=self.within.constant(node.value))
        return self._with_value(node)

    def _with_value(self, node: Any) -> Any:
        value = node.value
        new = self.within.parts_wrapped(value) if isinstance(value, (cst.Tuple, cst.List, cst.Dict)) else self.within.wrapped(value)
        return node if new is value else tree.replace(node, value=new)


def _is_data(node: Any) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == "data"
