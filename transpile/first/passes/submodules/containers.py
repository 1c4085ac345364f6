"""Loops over containers of modules: they go over (name, layer), so that the params can be found; equal layers are one scan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from ... import tree
from ...effects import ALL
from ...emit import display, fresh_name
from ...paths import Path
from ...stacks import stack_of
from ...values import Module
from .arguments import entries, keyword_arguments, keywords
from .scope import Scope
from .ties import tied

Loop = tuple[Any, Any]  # the target, and what is gone over


def iterate(scope: Scope, target: Any, iterated: Any) -> Loop:
    """The head of a loop or comprehension. Its names for modules get their paths."""
    before = {name: scope.names.get(name) for name in tree.target_names(target)}
    loop = _named(scope, target, iterated)
    for name, path in before.items():
        if path is not None and scope.names[name] is path:
            del scope.names[name]  # it stands for another module now
    if loop is None:
        return scope.expression(target), scope.expression(iterated)
    return tree.rewrite(loop[0], lambda n: scope.renamed(n) if n.__class__ is cst.Name else None, only={cst.Name}), loop[1]


def scanned(scope: Scope, node: cst.For) -> Any:
    """A loop over layers that are equal, so far as can be seen: one `scan_layers`, which looks whether they are. None for others."""
    stack = stack_of(node)
    if stack is None or not scope.paths.is_container(stack.container):
        return None
    value, path = scope.facts.of(stack.container), scope.path(stack.container)
    if not isinstance(value, Module) or not isinstance(value.element, Module) or path is None or tied(scope, path) != path.params:
        return None
    needs = scope.effects.module(value.element)
    if kinds(value) != {"ModuleList"} or len(value.element.classes) != 1 or "state" in needs or "params" not in needs or value.element.open:
        return None
    if value.items is not None or stack.name in ALL:
        return None  # a list that was written out
    if any(a.keyword is not None and a.keyword.value in ALL for a in stack.rest):
        return None
    head = [tree.code(scope.callee(stack.container)), path.params]
    call = tree.expression(f"{scope.context.name('scan_layers')}({', '.join(head)})")
    passed = [cst.Arg(cst.Name(scope.renames.get(stack.name, stack.name))), *(scope.expression(a) for a in stack.rest)]
    args = [tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in [*call.args, *passed]]
    line = tree.assignment(passed[0].value, tree.replace(call, args=[*args, *keyword_arguments(keywords(needs))]))
    return tree.replace(line, leading_lines=node.leading_lines)


def kinds(value: Module) -> set[str]:
    """Which of torch's containers a module may be."""
    return {r.rpartition(".")[2] for r in value.classes if isinstance(r, str)}


def _named(scope: Scope, target: Any, node: Any) -> Loop | None:
    """The loop over what holds modules; None for any other."""
    if id(node) in scope.lists.heads:
        return (_with_name(scope, target, scope.lists.heads[id(node)]), scope.expression(node)) if isinstance(target, cst.Name) or nested(target) else None
    base, suffix = node, ""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Slice):
        base, suffix = node.value, tree.code(node)[len(tree.code(node.value)) :]
    value = scope.facts.of(base)
    if isinstance(value, Module) and scope.paths.is_container(base):
        return _over_container(scope, target, base, suffix, kinds(value))
    if isinstance(base, cst.Attribute) and isinstance(target, cst.Name):
        held = scope.paths.held(base, target.value, scope.names)
        if held is not None:
            scope.names[target.value] = held
            return target, node
    if not isinstance(node, cst.Call):
        return None
    function = tree.dotted(node.func)
    if function == "enumerate" and node.args and isinstance(target, cst.Tuple) and len(target.elements) == 2:
        return _enumerated(scope, target, node)
    if function == "zip" and isinstance(target, cst.Tuple) and len(target.elements) == len(node.args):
        return _zipped(scope, target, node)
    if function in ("reversed", "list", "tuple", "iter") and len(node.args) == 1:
        inner = _named(scope, target, node.args[0].value)
        return (inner[0], tree.replace(node, args=[tree.replace(node.args[0], value=inner[1])])) if inner is not None else None
    if isinstance(node.func, cst.Attribute) and isinstance(scope.facts.of(node.func.value), Module):
        return _by_method(scope, target, node.func)
    return None


def _over_container(scope: Scope, target: Any, base: Any, suffix: str, known: set[str]) -> Loop | None:
    """`for block in self.blocks[2:]`; the suffix is the slice."""
    path = scope.path(base)
    if path is None:
        return None
    if known and known <= {"ParameterList"}:
        return scope.expression(target), entries(scope, path, base, suffix)
    if known and known <= {"ModuleDict", "ParameterDict"}:
        return None
    if not isinstance(target, cst.Name) and not nested(target):
        return None
    return _with_name(scope, target, path), tree.expression(f"{tree.code(scope.callee(base))}.layers(){suffix}")


def nested(target: Any) -> bool:
    """`conv, (attn, mlp)`"""
    return isinstance(target, cst.Tuple) and all(isinstance(e, cst.Element) and (isinstance(e.value, cst.Name) or nested(e.value)) for e in target.elements)


def parts(target: Any, path: Path, holder: str = "") -> Iterator[tuple[str, Path]]:
    """The names that a list of modules is taken apart into, with their paths; what holds them says what each place is called where it may be a part of a list."""
    for i, element in enumerate(target.elements):
        place = path.child(f"{holder}.name({i})" if holder else f'"{i}"')
        if isinstance(element.value, cst.Name):
            yield element.value.value, place
        else:
            yield from parts(element.value, place)


def _enumerated(scope: Scope, target: cst.Tuple, node: cst.Call) -> Loop | None:
    inner = _named(scope, target.elements[1].value, node.args[0].value)
    if inner is None:
        return None
    elements = [target.elements[0], tree.replace(target.elements[1], value=_enclosed(inner[0]))]
    args = [tree.replace(node.args[0], value=inner[1]), *(scope.expression(a) for a in node.args[1:])]
    return tree.replace(target, elements=elements), tree.replace(node, args=args)


def _zipped(scope: Scope, target: cst.Tuple, node: cst.Call) -> Loop | None:
    elements, args, any_found = [], [], False
    for element, argument in zip(target.elements, node.args):
        inner = _named(scope, element.value, argument.value)
        any_found = any_found or inner is not None
        new_target, new_iter = inner or (scope.expression(element.value), scope.expression(argument.value))
        elements.append(tree.replace(element, value=_enclosed(new_target)))
        args.append(tree.replace(argument, value=new_iter))
    return (tree.replace(target, elements=elements), tree.replace(node, args=args)) if any_found else None


def _by_method(scope: Scope, target: Any, func: cst.Attribute) -> Loop | None:
    """`for name, head in self.heads.items()`, `for layer in self.children()`."""
    path = scope.path(func.value)
    if path is None:
        return None
    if (arrays := parameters(scope, func)) is not None:
        return scope.expression(target), arrays
    method, holder = func.attr.value, tree.code(scope.callee(func.value))
    pair = isinstance(target, cst.Tuple) and len(target.elements) == 2 and isinstance(target.elements[0].value, cst.Name)
    if method in ("items", "named_children") and pair:
        key, module = target.elements[0].value.value, target.elements[1].value
        if isinstance(module, cst.Name):
            scope.names[module.value] = path.child(scope.renames.get(key, key))
        return target, tree.expression(f"{holder}.items()" if method == "items" else f"{holder}.children()")
    if method in ("values", "children") and isinstance(target, cst.Name):
        return _with_name(scope, target, path), tree.expression(f"{holder}.layers()" if method == "values" else f"{holder}.children()")
    return None


def parameters(scope: Scope, node: Any) -> Any:
    """The arrays of a ParameterList, or what `values` or `items` of a ParameterDict gives, which are no modules; None for anything else."""
    held = scope.facts.of(node)
    if isinstance(held, Module) and kinds(held) == {"ParameterList"} and (path := scope.path(node)) is not None:
        return entries(scope, path, node)
    base = scope.facts.of(node.value) if isinstance(node, cst.Attribute) else None
    if not isinstance(base, Module) or kinds(base) != {"ParameterDict"} or node.attr.value not in ("values", "items") or (path := scope.path(node.value)) is None:
        return None
    entry = f"{path.params}[name]" if node.attr.value == "values" else f"(name, {path.params}[name])"
    return tree.expression(f"[{entry} for name in {tree.code(scope.expression(node.value))}]")


def _with_name(scope: Scope, target: Any, path: Path) -> cst.Tuple:
    """`name, layer` in place of `layer`, whose params are under that name; `name, (attn, mlp)` of a list of lists."""
    name = fresh_name(scope.used, "name")
    scope.names.update({target.value: path.child(name)} if isinstance(target, cst.Name) else parts(target, path.child(name)))
    return _pair(name, target)


def _pair(name: str, target: Any) -> cst.Tuple:
    return display([cst.Name(name), _enclosed(target)])


def _enclosed(target: Any) -> Any:
    """A target among others: a bare tuple gets parentheses."""
    return tree.parenthesised(target) if isinstance(target, cst.Tuple) and not target.lpar else target
