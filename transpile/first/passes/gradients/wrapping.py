"""One block without gradient: what it computes itself, and how a value of it is written as a constant."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...carriers import Carriers, may_carry
from ...casts import is_cast, is_wide, kept
from ...context import Context
from ...emit import keyword
from ...project import ClassInfo, FunctionInfo
from ...values import UNKNOWN, Class, Function, Mapping, Module, Sequence, Tensor, Value
from .given import COMPUTED, SAME, Given

_LAZY = (cst.Lambda, cst.GeneratorExp, cst.SimpleString, cst.FormattedString)  # a generator computes where it is asked, after the block
_KEPT = "what this gives back as it was given keeps its gradient in torch; here it is constant, as all that is computed without gradient"
_FRESH = (cst.List, cst.ListComp, cst.Dict, cst.DictComp, cst.Set, cst.SetComp, cst.Call)


class Block:
    """`live`: names read after it; `own`: names for what it computes itself; `settled`: those of them that are constant already."""

    def __init__(self, context: Context, info: FunctionInfo, function: Any, body: cst.CSTNode, flag: Any, live: frozenset[str], carriers: Carriers) -> None:
        self.context, self.info, self.function, self.flag, self.live, self.carriers = (context, info, function, flag, live, carriers)
        self.given = Given(context)
        self.own = self._own(body)
        self.live = live | self._mixed(body)
        self.settled = self.live & {n for node in tree.nodes(body, cst.Assign) for t in node.targets for n in tree.target_names(t.target)} & self.own
        self.fresh = self._fresh()

    def carries(self, value: Any) -> bool:
        """Whether an expression may carry a gradient, but for the block."""
        return self.carriers.carries(value, self.info, self.function)

    # ------------------------------------------------------------------ names

    def _own(self, body: cst.CSTNode) -> set[str]:
        """Names that a block makes itself: `y = f(x)` and `z = y.sample`, but not `y = x`, which is x."""
        found: set[str] = set()
        while True:
            before = len(found)
            for node in tree.walk_scope(body):
                if isinstance(node, cst.Assign) and self._assigns(node, found) != SAME:
                    found |= {n for t in node.targets for n in tree.target_names(t.target)}
                elif isinstance(node, cst.For) and self.computes(node.iter, found):
                    found |= set(tree.target_names(node.target))
            if len(found) == before:
                return found

    def _mixed(self, body: cst.CSTNode) -> set[str]:
        """Names of the block that may also stand for what was there before: `u = t`, `if n == 3: u = u * 2`. They are constant from where they are computed."""
        found: dict[str, set[str]] = {}
        for node in tree.walk_scope(body):
            if isinstance(node, cst.Assign):
                for name in (n for t in node.targets for n in tree.target_names(t.target)):
                    found.setdefault(name, set()).add(self._assigns(node, self.own))
        return {name for name in self.own if found.get(name, {COMPUTED}) != {COMPUTED}}

    def _gives(self, value: Any, own: set[str]) -> str:
        """Whether an expression gives what was there before the block, or something computed in it."""
        return self.given.of(value, self.info, dict.fromkeys(own, COMPUTED))

    def _assigns(self, node: cst.Assign, own: set[str]) -> str:
        return self.given.assigned(node, self.info, dict.fromkeys(own, COMPUTED))

    def computes(self, over: Any, own: set[str]) -> bool:
        """Whether what a loop goes over is computed in the block: `for y in f(x)`, `for i, y in enumerate(ys)` with ys its own."""
        called = any(isinstance(self.context.value(call.func), (Function, Module)) for call in tree.nodes(over, cst.Call))
        rows = any(isinstance(self.context.value(n), Tensor) for n in (over, *(a.value for a in getattr(over, "args", ()))))
        return may_carry(self.context.value(over)) and (called or rows or bool(tree.names_read(over) & own))

    def _fresh(self) -> set[str]:
        """Names of lists and dicts that no other name has: those that the function has always just made."""
        made: dict[str, bool] = {}
        for node in tree.scope_nodes(self.function.body, cst.Assign):
            for target in node.targets:
                for name in tree.target_names(target.target):
                    made[name] = made.get(name, True) and isinstance(node.value, _FRESH)
        return {name for name, always in made.items() if always} - {p.name.value for p in self.info.parameters()}

    def is_on_self(self, node: Any) -> bool:
        """`self.x`, and what is below it."""
        return isinstance(node, cst.Attribute) and (tree.dotted(node) or "").split(".")[0] == self.info.self_name

    # ------------------------------------------------------------------ constants

    def wrapped(self, value: Any) -> Any:
        """A value as a constant, where it would carry a gradient out of the block."""
        known = self.context.value(value)
        if isinstance(value, cst.Name) and isinstance(known, Function):
            return value  # a function by its name; an attribute may be a property
        if isinstance(value, _LAZY) or not isinstance(value, (cst.Dict, cst.List, cst.Tuple)) and not may_carry(known):
            return value
        if isinstance(value, (cst.Dict, cst.List, cst.Tuple)):
            parts = self.parts_wrapped(value)
            several = len(value.elements) > 1 and not isinstance(value, cst.Dict) and all(new.value is not old.value for new, old in zip(parts.elements, value.elements))
            return self.constant(value) if several else parts
        if isinstance(value, cst.Call) and self._makes_object(value):
            new = tree.replace(value, args=[tree.replace(a, value=self.wrapped(a.value)) for a in value.args])
            self.context.facts.carry(value, new)
            return value if all(a.value is b.value for a, b in zip(new.args, value.args)) else new
        gives = self._gives(value, self.own - self.settled)
        if gives == COMPUTED:
            return self.constant(value) if self.carries(value) else value
        return value if gives == SAME or not self.carries(value) else self._where_computed(value)

    def _where_computed(self, value: Any) -> Any:
        """What may be a tensor from before the block: constant only where it is not."""
        if isinstance(value, cst.IfExp):
            sides: dict[str, Any] = {"body": value.body, "orelse": value.orelse}
        elif isinstance(value, cst.BooleanOperation):
            sides = {"left": value.left, "right": value.right}
        elif self.flag is None and is_cast(self.context, value) and isinstance(value.func.value, cst.Name):
            return self._cast(value)
        else:
            self.context.report("taken-for-granted", value, _KEPT)
            return self.constant(value)
        new = tree.replace(value, **{name: self.wrapped(side) for name, side in sides.items()})
        self.context.facts.carry(value, new)
        return new

    def parts_wrapped(self, value: Any) -> Any:
        """A tuple, list or dict with what it holds constant: a plain name in it stays what it is."""
        elements = [tree.replace(e, value=self.wrapped(e.value)) for e in value.elements]
        if all(new.value is old.value for new, old in zip(elements, value.elements)):
            return value
        new = tree.replace(value, elements=elements)
        self.context.facts.carry(value, new)
        return new

    def constant(self, value: Any) -> Any:
        """`lax.stop_gradient(value)`, which would sort the keys of a dict."""
        argument = tree.parenthesised(value) if isinstance(value, cst.Tuple) and not value.lpar else value
        dicts = _may_hold_dicts(self.context.value(value))
        name = self.context.name("constant") if dicts else "lax.stop_gradient" if self.flag is None else self.context.name("with_gradient")
        flag = [] if self.flag is None else [keyword("unless", self.flag) if dicts else cst.Arg(self.flag)]
        args = [cst.Arg(argument), *flag] if dicts else [*flag, cst.Arg(argument)]
        new = tree.replace(tree.expression(f"{name}()"), args=args)
        self.context.facts.carry(value, new)
        return new

    def _cast(self, value: Any) -> Any:
        """`nn.recast(x, x.float())`: x itself, with its gradient, where it has the dtype already."""
        if is_wide(self.context, value):  # without 64 bit types a float32 that is made float64 keeps its dtype here
            name, first = "with_gradient", kept(self.context, value, value.func.value, value)
        else:
            name, first = "recast", value.func.value
        new = tree.replace(tree.expression(f"{self.context.name(name)}(a, b)"))
        new = tree.replace(new, args=[tree.replace(a, value=v) for a, v in zip(new.args, (first, value))])
        self.context.facts.carry(value, new)
        return new

    def _makes_object(self, call: cst.Call) -> bool:
        """`Box(x * 2)` of a class of the user's that is no module: the object has what it is given."""
        function = self.context.value(call.func)
        return isinstance(function, Class) and isinstance(function.ref, ClassInfo) and not function.ref.is_module


def _may_hold_dicts(value: Value) -> bool:
    if isinstance(value, Sequence):
        return any(map(_may_hold_dicts, value.items or ())) or value.element != UNKNOWN and _may_hold_dicts(value.element)
    return isinstance(value, Mapping)
