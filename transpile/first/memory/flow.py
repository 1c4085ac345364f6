"""The statements of a function, moved past one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from .. import tree
from ..inplace import reshapes
from ..values import UNKNOWN, External, Function, Module, Sequence, Tensor, Torch
from .binding import bind, bind_all
from .calls import hold, keep, result_of, root
from .places import COMPUTED, Part, Place, merge

if TYPE_CHECKING:
    from .memory import Memory

_KEEPING = frozenset("append appendleft insert extend extendleft update setdefault add put".split())  # methods of what holds others, by which it gets more


def transfer(memory: Memory, node: Any) -> None:
    """Move past a statement, compound ones included."""
    if isinstance(node, cst.SimpleStatementLine):
        for small in node.body:
            past_small(memory, small)
    elif isinstance(node, cst.If):
        evaluated(memory, node.test)
        before = dict(memory.env)
        block(memory, tree.body_statements(node))
        then, memory.env = memory.env, before
        if isinstance(node.orelse, cst.If):
            transfer(memory, node.orelse)
        elif node.orelse is not None:
            block(memory, tree.body_statements(node.orelse))
        memory.env = merge(then, memory.env)
    elif isinstance(node, (cst.For, cst.While)):
        for turn in range(2):
            before = dict(memory.env)
            evaluated(memory, node.iter if isinstance(node, cst.For) else node.test)
            if isinstance(node, cst.For):
                loop_target(memory, node)
            block(memory, tree.body_statements(node))
            if turn or not has_turns(memory, node):
                memory.env = merge(before, memory.env)
    elif isinstance(node, (cst.With, cst.Try)):
        block(memory, tree.body_statements(node))
        if isinstance(node, cst.Try):
            for handler in node.handlers:
                before = dict(memory.env)
                block(memory, tree.body_statements(handler))
                memory.env = merge(before, memory.env)


def has_turns(memory: Memory, node: Any) -> bool:
    """Whether what a call comes to may take a loop to have turns: one over layers, or over as many as self says, which a model without any would not have.

        for conv in self.convs: x = conv(x) + x         for i in range(self.depth): x = self.convs[i](x)
    """
    if memory.returned is None or not isinstance(node, cst.For):
        return False
    parts = list(tree.nodes(node.iter, cst.Name, cst.Attribute))
    return any(isinstance(memory.context.value(n), Module) or isinstance(n, cst.Attribute) and memory.name(n) is not None for n in parts)


def block(memory: Memory, statements: list[Any]) -> None:
    for statement in statements:
        transfer(memory, statement)


def loop_target(memory: Memory, node: cst.For) -> None:
    bind(memory, node.target, Part(node.iter))


def evaluated(memory: Memory, node: Any) -> None:
    """Move past an expression: what its calls keep, and the names that it gives to parts of itself, `(z := x * 2)`."""
    memory.before = {}
    for call in tree.nodes(node, cst.Call) if cst.Call in tree.kinds(node) else ():
        keep(memory, call)
    for named in tree.nodes(node, cst.NamedExpr) if cst.NamedExpr in tree.kinds(node) else ():
        bind(memory, named.target, named.value)


def past_small(memory: Memory, node: Any) -> None:
    """Move past a simple statement."""
    for base in given_anew(memory, node):
        memory.env[base] = frozenset([Place(memory.places(base))])
    reshape(memory, node)
    evaluated(memory, node)
    if memory.returned is not None:
        memory.returned += [result_of(memory, value) for value in _outputs(node)]
    if isinstance(node, cst.Assign):
        bind_all(memory, [t.target for t in node.targets], node.value)
    elif isinstance(node, cst.AnnAssign) and node.value is not None:
        bind(memory, node.target, node.value)
    elif isinstance(node, cst.AugAssign):
        value = memory.context.value(node.target)
        name = memory.name(node.target)
        if name is not None and isinstance(value, Sequence):
            hold(memory, name, node.value)
        if name is not None and not isinstance(value, (Tensor, Sequence)) and value != UNKNOWN:
            memory.env[name] = frozenset([Place()])
    elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and isinstance(node.value.func, cst.Attribute):
        call: Any = node.value
        holder = root(memory, call.func.value) if call.func.attr.value in _KEEPING else None
        if holder is not None:
            for argument in call.args:
                hold(memory, holder, argument.value)
    elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and len(node.value.args) == 3 and memory.context.value(node.value.func) == External("builtins.setattr"):
        holder = root(memory, node.value.args[0].value)
        if holder is not None:
            hold(memory, COMPUTED if holder == memory.info.self_name else holder, node.value.args[2].value)


def reshape(memory: Memory, node: Any) -> None:
    """Move past what gives tensors another shape in place, `x.t_()`: a view of x that was taken before is none of x any more."""
    for call in tree.nodes(node, cst.Call) if cst.Call in tree.kinds(node) else ():
        name = memory.name(call.func.value) if isinstance(call.func, cst.Attribute) and reshapes(memory.context, call) else None
        if name is not None:
            before, place = memory.places(name), Place(memory.places(name))
            memory.env.update({other: frozenset([place]) for other in {name, *(o for o, its in memory.env.items() if its == before)}})


def given_anew(memory: Memory, node: Any) -> set[str]:
    """The holders of entries, `h` of `h = d["a"]`, to which a statement may give other entries: `d["a"] = x`, `d.update(o)`, `fill(d)`."""
    bases = {p.base for places in memory.env.values() for p in places if p.entry is not None and p.base is not None}
    if not bases:
        return set()
    targets = [t.target for t in getattr(node, "targets", ())]
    stored: list[Any] = [target.value for target in targets if isinstance(target, (cst.Subscript, cst.Attribute))]
    found = {memory.name(target) for target in stored}
    for call in tree.nodes(node, cst.Call):
        given = [] if isinstance(memory.context.value(call.func), Torch) else [a.value for a in call.args]
        if isinstance(call.func, cst.Attribute) and call.func.attr.value not in ("items", "keys", "values", "get"):
            given = [*given, call.func.value]
        found |= {memory.name(one) for one in given}
        value = memory.context.value(call.func)
        found |= {COMPUTED} if value == External("builtins.setattr") or isinstance(value, Function) and value.info.owner is not None else set()
    return bases & found


def _outputs(node: Any) -> list[Any]:
    """What a statement returns or yields."""
    if isinstance(node, cst.Return):
        return [node.value] if node.value is not None else []
    yielded = [n.value for n in tree.scope_nodes(node, cst.Yield)] if cst.Yield in tree.kinds(node) else []
    return [value.item if isinstance(value, cst.From) else value for value in yielded if value is not None]
