"""Calls of submodules, methods, functions and `super()`: which effects each takes, and where the state goes that it returns."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree
from ...effects import ALL, PARAMETERS, applied, is_set_by_name, runs
from ...emit import method_name, walk
from ...infer import WALKS
from ...paths import SELF, Path
from ...project import FunctionInfo
from ...values import External, Function, Method, Module, Tensor
from .arguments import is_super, keywords, with_effects, without_effects
from .scope import Scope, checkpointed
from .ties import tied

_ARRAYS_OF = PARAMETERS | {"buffers", "named_buffers", "state_dict"}


@dataclass(frozen=True)
class Called:
    """A converted call, and the place of the state that it returns beside its result, if it does."""

    node: Any
    state: str | None = None


def called(scope: Scope, node: Any) -> Called:
    """Convert a call by what is called."""
    if scope.stateful_call(node) and (function := checkpointed(node)) is not None:
        return _checkpointed(scope, node, function)
    value = scope.facts.of(node.func)
    if isinstance(value, Module) and not scope.is_bound(node.func):
        return _module(scope, node, node.func, value)
    if isinstance(value, Function) and not scope.holds_bound(node.func):
        return _function(scope, node, value)
    if isinstance(value, Method) and isinstance(value.receiver, Module) and isinstance(node.func, cst.Attribute):
        return _method_of_module(scope, node, node.func, value, value.receiver)
    if any("key" in scope.effects.functions.get(method, ()) for method in applied(value)):
        return Called(with_effects(scope, node, [], keywords(frozenset({"key"}))))
    if isinstance(value, External) and value.name == "builtins.getattr" and len(node.args) >= 2:
        return Called(_asked(scope, node))
    return Called(without_effects(scope, node))


def _asked(scope: Scope, node: cst.Call) -> Any:
    """`getattr(self, f"u{i}")` of what may be an array."""
    found, path, array = scope.facts.of(node), scope.path(node), scope.arrays.asked(node)
    if id(node) in scope.early[1]:
        return scope.context.unconverted("state-in-expression", node, "this is read beside calls that change it: which of them it sees is not known here")
    if path is None or (not isinstance(found, Tensor) or not found.param if array is None else array.where == "constant"):
        return without_effects(scope, node)
    in_state = array.where == "state" if array is not None else isinstance(found, Tensor) and found.buffer
    entry = path.state if in_state else path.params
    if array is None or not array.optional:
        return tree.expression(entry)
    holder, _, name = entry.rpartition("[")
    return tree.expression(f"{holder}.get({name[:-1]})")


def stored_by_name(scope: Scope, node: Any) -> Any:
    """The assignment for `setattr(self, f"u{i}", u)` of what is state; None for anything else."""
    if not isinstance(node, cst.Call) or not scope.computes or not is_set_by_name(scope.facts, node):
        return None
    array, base = scope.arrays.asked(node), scope.path(node.args[0].value)
    if array is None or array.where == "constant" or base is None:
        return None
    if array.where == "params":
        return cst.Expr(scope.context.unconverted("parameter-write", node, "a parameter is set by a computed name while the model runs: register it as a buffer"))
    path = scope.paths.named(base, node.args[1].value).state
    scope.writes.add(path.count("["))
    return cst.Assign([cst.AssignTarget(tree.expression(path))], scope.expression(node.args[2].value))


def _leading(needs: Set[str], params: str, state: str) -> list[str]:
    """The effects that a call takes before its own arguments."""
    return [text for name, text in (("params", params), ("state", state)) if name in needs]


def _by_method(func: cst.Attribute, name: str) -> cst.Attribute:
    """A callee whose method has this name in the source, as the output names it."""
    return func if method_name(name) == name else tree.replace(func, attr=cst.Name(method_name(name)))


def _through_call(scope: Scope, call: cst.Call) -> Any:
    """`nn.call(self.bias.get_bias, …)` gives a method those of all effects that it takes."""
    made = tree.expression(f"{scope.context.name('call')}()")
    return tree.replace(made, args=[cst.Arg(call.func, comma=cst.MaybeSentinel.DEFAULT), *call.args])


def _checkpointed(scope: Scope, node: cst.Call, function: Any) -> Called:
    """`jax.checkpoint(functools.partial(self.bn, training=training))(params["bn"], state["bn"], x)`: only arrays are arguments."""
    plain = tree.replace(node, func=function)
    scope.facts.carry(node, plain)
    made = called(scope, plain)
    if made.state is None:
        return made
    scope.context.report("taken-for-granted", node, "torch runs a checkpointed module again in backward, and updates its state again: here it is updated once")
    modes = [a for a in made.node.args if a.keyword is not None and a.keyword.value == "training"]
    rest = [tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in made.node.args if a not in modes]
    callee = tree.replace(tree.expression("functools.partial()"), args=[cst.Arg(made.node.func), *modes]) if modes else made.node.func
    return Called(tree.replace(node, func=tree.replace(node.func, args=[cst.Arg(callee)]), args=rest), made.state)


# --------------------------------------------------------------------------- modules


def _module(scope: Scope, node: cst.Call, callee: Any, value: Module) -> Called:
    """`self.conv(x)`, also spelt `self.conv.forward(x)`."""
    needs = scope.effects.module(value)
    path = scope.path(callee)
    if not needs:
        plain = tree.replace(node, func=callee) if callee is not node.func else node
        scope.facts.carry(node, plain)
        return Called(with_effects(scope, plain, [], []))
    if path is None and needs & {"params", "state"} or path is not None and "state" in needs and path.state.startswith("None"):
        return Called(scope.unfollowed(node))
    where = path or SELF
    params, state = tied(scope, where), where.state if "state" in needs else None
    if scope.effects.direct(value):
        return Called(with_effects(scope, tree.replace(node, func=callee), _leading(needs, params, where.state), keywords(needs)), state)
    func = cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", callee), cst.Name("apply"))
    head = [params if path is not None else "{}", where.state if "state" in needs else "{}"]
    new = with_effects(scope, tree.replace(node, func=func), head, keywords(needs))
    return Called(new if state is not None else tree.replace(tree.expression("x[0]"), value=new), state)


def _method_of_module(scope: Scope, node: cst.Call, func: cst.Attribute, value: Method, receiver: Module) -> Called:
    """A method of a module that is none of the user's functions."""
    if is_super(func.value):
        return _super(scope, node, func, value, receiver)
    if value.name == "forward":
        return _module(scope, node, func.value, receiver)
    if value.name in _ARRAYS_OF:
        return Called(_arrays_of(scope, node, func))
    if value.name in WALKS and not node.args:
        # what is called of these is refused, since their params have no path
        return Called(walk(scope.context.name, scope.expression(func.value), value.name))
    if scope.effects.of_any(value):
        return _method_of_any(scope, node, func) if scope.effects.method_of_any(value.name) else Called(without_effects(scope, node))
    if runs(scope.facts, value) and not receiver.is_self:
        return _module(scope, node, func, Module(open=True))
    return Called(without_effects(scope, node))


def _super(scope: Scope, node: cst.Call, func: cst.Attribute, value: Method, receiver: Module) -> Called:
    """`super().forward(x)` of a class that extends a torch layer."""
    if value.name != "forward":
        return Called(without_effects(scope, node))
    func = _by_method(func, value.name)
    if not receiver.classes:  # of a mixin: what comes next is another thing in each class
        return Called(_through_call(scope, with_effects(scope, tree.replace(node, func=func), ["params", "state"], keywords(ALL))), "state")
    name = receiver.refs[0]
    container = scope.effects.is_container(name)
    needs = scope.needs if container else scope.effects.layer(name)
    if container and "state" in needs:
        func = tree.replace(func, attr=cst.Name("run"))
    new = with_effects(scope, tree.replace(node, func=func), _leading(needs, "params", "state"), keywords(needs))
    return Called(new, "state" if "state" in needs else None)


def _arrays_of(scope: Scope, node: cst.Call, func: cst.Attribute) -> Any:
    """`self.named_parameters()` gives what the params hold, in torch's order."""
    path = scope.path(func.value)
    name = func.attr.value
    if name not in PARAMETERS or path is None or node.args or tied(scope, path) != path.params:
        return scope.context.unconverted("module-value", node, f"which arrays {name}() means here is not known")
    return tree.expression(f"{scope.context.name(name)}({tree.code(scope.callee(func.value))}, {path.params})")


def _method_of_any(scope: Scope, node: cst.Call, func: cst.Attribute) -> Called:
    """`self.bias.get_bias()` of a submodule whose class is not known: called with every effect that it takes."""
    path = scope.path(func.value)
    if path is None:
        return Called(scope.unfollowed(node))
    new = _through_call(scope, with_effects(scope, node, [tied(scope, path), path.state], keywords(ALL)))
    scope.facts.carry(node, new)
    return Called(new, path.state)


# --------------------------------------------------------------------------- functions


def _function(scope: Scope, node: cst.Call, value: Function) -> Called:
    """A call of a function of the user's."""
    info, needs = value.info, scope.needs_of(value)
    if info.outer is not None and scope.renames:
        node = _keywords_renamed(scope, node)
    if not needs or info.is_property:
        return Called(_pure(scope, node, info))
    if info in scope.threaded:
        return Called(with_effects(scope, node, ["state"], keywords(needs & {"key"}), frozenset()), "state")
    if info.outer is not None:  # its params and mode are those of the function around it
        return Called(with_effects(scope, node, [], keywords(needs & {"key"}), frozenset()))
    if info.owner is None or info.is_static:
        return Called(_not_given(scope, node, info) if needs & {"params", "state"} else with_effects(scope, node, [], keywords(needs), needs))
    return _method(scope, node, info, needs)


def _keywords_renamed(scope: Scope, node: cst.Call) -> cst.Call:
    """The call of a function inside this one, whose parameters have the names that they have in the output: `step(x, state_=hidden)`."""
    args = [tree.replace(a, keyword=scope.renamed(a.keyword)) if a.keyword is not None and a.keyword.value in scope.renames else a for a in node.args]
    if tree.same(args, node.args):
        return node
    new: cst.Call = tree.replace(node, args=args)
    scope.facts.carry(node, new)
    return new


def _pure(scope: Scope, node: cst.Call, info: FunctionInfo) -> Any:
    """A call of a function without effects; `self.forward(x)` is `self(x)`."""
    if not _is_forward(info):
        return without_effects(scope, node)
    made = with_effects(scope, node, [], [])
    if not isinstance(made.func, cst.Attribute):
        return made
    is_self = isinstance(made.func.value, cst.Name) and made.func.value.value == scope.self_name
    return tree.replace(made, func=made.func.value if is_self else _by_method(made.func, info.name))


def _method(scope: Scope, node: cst.Call, info: FunctionInfo, needs: frozenset[str]) -> Called:
    """A call of a method with effects: `self.mix(x)`, `self.block.mix(x)`, `super().mix(x)` or `Base.mix(self, x)`."""
    path: Path | None = SELF
    leading: list[Any] = []
    func: Any = node.func
    receiver = scope.facts.of(func.value) if isinstance(func, cst.Attribute) else None
    if isinstance(func, cst.Attribute) and is_super(func.value):
        func = _by_method(func, info.name)
    elif isinstance(receiver, Module):
        path = scope.path(func.value)
    elif isinstance(receiver, External):  # a method of a class that is no module
        if needs & {"params", "state"}:
            return Called(_not_given(scope, node, info))
    elif isinstance(func, cst.Attribute):  # Base.method(self, …)
        leading = list(node.args[:1])
        node = tree.replace(node, args=node.args[1:])
        func = _by_method(func, info.name)
    if path is None and needs & {"params", "state"}:
        return Called(scope.unfollowed(node))
    path = path or SELF
    new = with_effects(scope, tree.replace(node, func=func), _leading(needs, tied(scope, path), path.state), keywords(needs), ALL if _is_forward(info) else needs)
    if leading:
        new = tree.replace(new, args=[*leading, *new.args])
    if isinstance(new.func, cst.Attribute) and new.func.attr.value == "forward":
        new = tree.replace(new, func=new.func.value)  # `self.block.forward(x)` is `self.block(x)`
    return Called(new, path.state if "state" in needs else None)


def _is_forward(info: FunctionInfo) -> bool:
    """Whether this is the forward of a module, whose parameters are called neither as any effect is."""
    return info.name == "forward" and info.owner is not None and info.owner.is_module


def _not_given(scope: Scope, node: cst.Call, info: FunctionInfo) -> Any:
    return scope.context.unconverted("module-value", node, f"{info.name} needs params that it is not given")
