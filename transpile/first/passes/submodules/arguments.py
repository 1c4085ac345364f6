"""The arguments of a call: the params and state before the user's own, the key and mode after; modules among them with theirs bound."""

from __future__ import annotations

from collections.abc import Sequence as Values
from collections.abc import Set
from typing import Any

import libcst as cst

from ... import tree
from ...context import KEY, key_site
from ...effects import ALL, calls_once
from ...emit import keyword
from ...paths import Path
from ...truth import asks_for_none
from ...values import UNKNOWN, External, Function, Method, Module, Sequence, Value
from .scope import Scope


def keywords(needs: frozenset[str]) -> list[tuple[str, str]]:
    """The effects that a call gets by name, and what it gets."""
    return [(name, text) for name, text in (("key", KEY), ("training", "training")) if name in needs]


def keyword_arguments(given: Values[tuple[str, str]]) -> list[cst.Arg]:
    """The same as arguments; each key is a site of its own."""
    return [keyword(name, key_site() if text == KEY else tree.expression(text)) for name, text in given]


def is_super(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"


def with_effects(scope: Scope, node: cst.Call, head: Values[str], given: Values[tuple[str, str]], apart: Set[str] = ALL) -> Any:
    """A call with effects before and after its own arguments; `apart`: the effects whose names no parameter of its own has in the output."""
    args: list[cst.Arg] = [cst.Arg(tree.expression(text)) for text in head]
    for argument in node.args:
        value = _passed(scope, argument.value, _calls_once(scope, node, argument))
        changed = tree.replace(argument, value=tree.fit(argument, "value", value), comma=cst.MaybeSentinel.DEFAULT)
        asked = isinstance(argument.value, cst.Name) and argument.value.value == KEY  # for a key, before: no argument of the user's
        if argument.keyword is not None and argument.keyword.value in apart and not asked:
            changed = tree.replace(changed, keyword=cst.Name(argument.keyword.value + "_"))
        args.append(changed)
    taken = {a.keyword.value for a in args if a.keyword is not None}
    args.extend(keyword_arguments([k for k in given if k[0] not in taken]))
    func = node.func if isinstance(node.func, cst.Attribute) and is_super(node.func.value) else scope.callee(node.func)
    new = tree.replace(node, func=func, args=args, whitespace_before_args=cst.SimpleWhitespace(""))
    scope.facts.carry(node, new)
    return new


def without_effects(scope: Scope, node: cst.Call) -> Any:
    """A call of something else; modules among its arguments go with their params bound, except to what takes them for what they are."""
    func = scope.facts.of(node.func)
    host = isinstance(func, External) and func.name.startswith("builtins.") or isinstance(func, Function) and asks_for_none(func.info)
    new_func = _passed(scope, node.func) if _is_mixed(scope, node.func, func) else scope.expression(node.func)  # first, as Python evaluates it
    args, changed = [], False
    for argument in node.args:
        new = scope.expression(argument.value) if host or isinstance(func, Method) else _passed(scope, argument.value, _calls_once(scope, node, argument))
        changed = changed or new is not argument.value
        args.append(argument if new is argument.value else tree.replace(argument, value=tree.fit(argument, "value", new)))
    if not changed and new_func is node.func:
        return node
    if tree.dotted(node.func) == "list" and len(args) == 1 and isinstance(args[0].value, cst.ListComp) and not isinstance(node.args[0].value, cst.ListComp):
        return args[0].value  # `list(self.net.children())`
    new_node = tree.replace(node, args=args, func=tree.fit(node, "func", new_func))
    scope.facts.carry(node, new_node)
    return new_node


def _passed(scope: Scope, node: Any, once: bool = False) -> Any:
    """An argument: a submodule is passed as a function."""
    value = scope.facts.of(node)
    if any(id(n) in scope.lists.leaves for n in tree.walk(node)):
        return scope.expression(node)  # a list of layers, with their names
    if _is_mixed(scope, node, value):
        return scope.context.unconverted("module-value", node, f"{node.value} is a submodule on one way and something else on another: its params cannot go with it")
    makes = isinstance(node, cst.Call) and tree.dotted(node.func) != "getattr"
    return _bound(scope, node, value, once) if isinstance(value, Module) and not value.is_self and not makes else scope.expression(node)


def _is_mixed(scope: Scope, node: Any, value: Value) -> bool:
    """Whether a name is a submodule with params where one branch has set it, and a list or another thing where another has: nothing is known of it then."""
    made = [scope.facts.of(v) for v in scope.bindings(node.value)] if isinstance(node, cst.Name) and (value == UNKNOWN or isinstance(value, Sequence)) else []
    held = [v.element if isinstance(v, Sequence) else v for v in made]
    return len({type(v) for v in made}) > 1 and any(isinstance(v, Module) and scope.effects.module(v) for v in held)


def own_parameters(scope: Scope, node: cst.Parameters) -> cst.Parameters:
    """The parameters of a function inside, with the names that its body has for them: `state_` of the user's for `state`."""

    def before(param: Any) -> Any:
        default = param.default
        if default is not None:
            default = standing_in(scope, default) if isinstance(scope.facts.of(default), Module) else scope.expression(default)
        same = default is param.default and param.name.value not in scope.renames
        return param if same else tree.replace(param, name=scope.renamed(param.name), default=default)

    return tree.rewrite(node, before, only={cst.Param})  # type: ignore[no-any-return]


def standing_in(scope: Scope, node: Any) -> Any:
    """A module of self in place of an argument: `if layer is None: layer = self.layer`; parameters as the list that a caller would give."""
    value = scope.facts.of(node)
    assert isinstance(value, Module)
    path = scope.path(node)
    if path is not None and value.classes and all(isinstance(ref, str) and ref.endswith("ParameterList") for ref in value.classes):
        return entries(scope, path, node)
    if path is not None and scope.paths.is_container(node):
        return scope.context.unconverted("module-value", node, "a container stands in for an argument: what the caller gives has no params here")
    return _bound(scope, node, value)


def entries(scope: Scope, path: Path, node: Any, suffix: str = "") -> Any:
    """The arrays of a ParameterList, or of the slice of it that the suffix is."""
    return tree.expression(f"[{path.params}[name] for name, _ in {tree.code(scope.expression(node))}.layers(){suffix}]")


def _bound(scope: Scope, node: Any, value: Module, once: bool = False) -> Any:
    """A submodule as a plain function: its params, key and mode bound; `once`: what it is passed to is known to call it once."""
    needs = scope.effects.module(value)
    if scope.is_bound(node) or not needs:
        return scope.expression(node)
    path = scope.path(node)
    if path is None or not scope.effects.direct(value) or "state" in needs:
        why = "it has state" if "state" in needs else "its class is not known here"
        return scope.context.unconverted("module-value", node, f"a submodule is passed on as a value, and {why}")
    if "key" in needs and not once:
        scope.context.report("taken-for-granted", node, "this module draws with one key where it is passed on: that is right where it is called once")
    parts = [tree.code(scope.expression(node)), *([path.params] if "params" in needs else [])]
    return tree.expression(f"functools.partial({', '.join([*parts, *(f'{name}={text}' for name, text in keywords(needs))])})")


def _calls_once(scope: Scope, node: cst.Call, argument: cst.Arg) -> bool:
    """Whether what is called is known to call an argument at one place, outside of loops: JAX, or a function of the user's."""
    return (tree.dotted(node.func) or "").startswith(("jax.", "lax.", "nn.")) or calls_once(scope.facts.of(node.func), node, argument)
