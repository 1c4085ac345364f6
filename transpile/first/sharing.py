"""Submodules that a constructor puts in several places: torch trains one, and here each place has params of its own."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import libcst as cst

from . import tree
from .arrays import Arrays
from .callables import Scope
from .context import Context
from .effects import MODULE_CONTAINERS, Effects
from .project import ClassInfo, FunctionInfo
from .values import UNKNOWN, Class, External, Function, Method, Module, Sequence, Torch, is_anything

_LISTING = ("children", "named_children", "values", "items")
_HOLDING = ("Transformer", "DataParallel", "TripletMarginWithDistance")  # layers of torch's that are given modules
_ADDING = ("append", "add_module", "insert", "extend", "register_module")


def report(context: Context, cls: ClassInfo, running: Set[FunctionInfo], effects: Effects, arrays: Arrays) -> None:
    """Report each module with params that two attributes hold, below or beside each other, where one runs."""
    init = cls.methods.get("__init__")
    if init is None or init.self_name is None:
        return
    _report_repeated(context, init, effects)
    _report_made_once(context, cls, init, effects)
    _report_kept(context, init)
    places: dict[str, tuple[Any, set[str]]] = {}
    for attribute, node in _placed(context, init, effects):
        name = tree.code(node)
        places.setdefault(name, (node, set()))[1].add(_first(arrays, cls, attribute))
    for node, attributes in places.values():
        attributes |= _holding(init, arrays, cls, node, places)
    if not any(len(attributes) > 1 for _, attributes in places.values()):
        return
    used = {n.attr.value for f in running for n in tree.nodes(f.node, cst.Attribute) if _is_of(context, cls, f, n.value)}
    for name, (node, attributes) in places.items():
        found = sorted(attributes & used)
        if len(found) == 1 and (isinstance(node, cst.Name) or _own(node, init) is not None):
            found = sorted(n for n in attributes if not isinstance(context.facts.attribute(cls, n), Sequence))  # torch trains it under the other name too
        if len(found) > 1:
            message = f"{name} is one module in {' and '.join(found)}: each has params of its own here, so that training makes them differ; tie them, or add their gradients"
            context.report("shared-module", node, message)


def _report_made_once(context: Context, cls: ClassInfo, init: FunctionInfo, effects: Effects) -> None:
    """Report what is made once for all objects of a class: a default, `def __init__(self, act=nn.PReLU())`, and an attribute of the class."""
    defaults = [p.default for p in init.parameters() if p.default is not None]
    for node in [*defaults, *cls.assigned.values()]:
        value = context.value(node) if isinstance(node, cst.Call) else None
        if isinstance(value, Module) and value.classes and "params" in effects.module(value):
            message = f"{tree.code(node)} is one module in all objects of the class: each has params of its own here, so that training makes them differ; make it in the constructor"
            context.report("shared-module", node, message)


def _is_of(context: Context, cls: ClassInfo, info: FunctionInfo, node: Any) -> bool:
    """Whether an expression in a function may be of this class: its self, or what another class calls, `self.net` of `self.net.backbone(x)`."""
    if tree.dotted(node) == info.self_name:
        return info.owner in cls.family()
    value = context.value(node)
    return isinstance(value, Module) and (value.open or not value.classes.isdisjoint(cls.family())) or isinstance(value, Method) or is_anything(value)


def _report_repeated(context: Context, init: FunctionInfo, effects: Effects) -> None:
    """Report what every turn of a loop puts into another module: `[nn.Sequential(lin, nn.ReLU()) for _ in range(3)]`."""
    node: Any
    for node in tree.nodes(init.node.body, cst.For, cst.While, cst.ListComp, cst.GeneratorExp):
        made: Any = node.body if isinstance(node, (cst.For, cst.While)) else node.elt
        own, below = _made_by_turn(node), _made_below(made)
        others = tree.names_read(init.node.body) - own
        calls = [n for n in (made, *tree.nodes(made, cst.Call)) if isinstance(n, cst.Call) and _makes_module(context, n)]
        parts = [part for n in calls for part in _given(context, n) if not isinstance(part, cst.Call) and not tree.names_read(part) & (own | below.get(id(n), set()))]
        named = [n.args[2].value for n in tree.nodes(made, cst.Call) if tree.dotted(n.func) == "setattr" and len(n.args) == 3]
        parts += [n for n in named if isinstance(n, (cst.Name, cst.Attribute)) and not tree.names_read(n) & own]
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):  # `for a in [lin, lin]`
            over = [n.value for n in tree.nodes(node.for_in.iter, cst.Element) if isinstance(n.value, cst.Name)]
            parts += [n for i, n in enumerate(over) if any(n.value == other.value for other in over[:i])]
        for part in parts:
            if _is_shared(context, init, effects, part, others):
                message = f"{tree.code(part)} is one module in what every turn makes: each has params of its own here, so that training makes them differ; tie them, or add their gradients"
                context.report("shared-module", part, message)
                break


def _made_by_turn(node: Any) -> set[str]:
    """The names that every turn of a loop or comprehension sets."""
    if not isinstance(node, (cst.For, cst.While)):
        return set(tree.target_names(node.for_in.target))
    own = {name for s in tree.body_statements(node) if isinstance(s, cst.SimpleStatementLine) for name in tree.names_assigned(s)}
    return own | set(tree.target_names(node.target)) if isinstance(node, cst.For) else own


def _made_below(node: Any) -> dict[int, set[str]]:
    """Of each call in a loop or comprehension below a node, the names that each turn of that sets."""
    found: dict[int, set[str]] = {}
    loop: Any
    for loop in tree.nodes(node, cst.For, cst.While, cst.ListComp, cst.GeneratorExp):
        names = _made_by_turn(loop)
        for call in tree.nodes(loop, cst.Call):
            found.setdefault(id(call), set()).update(names)
    return found


def _report_kept(context: Context, init: FunctionInfo) -> None:
    """Report calls of what keeps the module that it has made, and gives it again: `cache_fn(lambda: Block(dim))`."""
    for call in tree.nodes(init.node.body, cst.Call):
        value = context.value(call)
        if not isinstance(value, Module) and value != UNKNOWN or isinstance(context.value(call.func), (Class, External, Torch)) and not isinstance(call.func, cst.Name):
            continue
        targets = context.facts.callables.targets(call.func, Scope(context.module, init))
        if any(isinstance(t.function, FunctionInfo) and _keeps(t.function) for t in targets):
            message = f"{tree.code(call.func)} may give one module several times: each place has params of its own here, so that training makes them differ; tie them, or add their gradients"
            context.report("shared-module", call, message)


def _keeps(info: FunctionInfo) -> bool:
    """Whether a function gives what an earlier call of it has made: by a name around it, or by a cache."""
    outer: list[Any] = list(tree.scope_nodes(info.node.body, cst.Nonlocal, cst.Global))
    kept = {item.name.value for n in outer for item in n.names}
    cached = any(d.rpartition(".")[2] in ("cache", "lru_cache") for d in info.decorators)
    return cached or any(isinstance(n.value, cst.Name) and n.value.value in kept for n in tree.scope_nodes(info.node.body, cst.Return))


def _makes_module(context: Context, call: cst.Call) -> bool:
    """`nn.Sequential(…)`, `Block(…)`"""
    return isinstance(context.value(call), Module) and (tree.dotted(call.func) or "").rpartition(".")[2][:1].isupper()


def is_copy(node: Any) -> bool:
    """`copy.deepcopy(self.online)`"""
    return isinstance(node, cst.Call) and (tree.dotted(node.func) or "").rpartition(".")[2] == "deepcopy" and len(node.args) == 1


def _first(arrays: Arrays, cls: ClassInfo, attribute: str) -> str:
    """The first name of what an attribute holds."""
    alias = arrays.alias(cls, attribute)
    return attribute if alias is None else alias.source[0]


def _holding(init: FunctionInfo, arrays: Arrays, cls: ClassInfo, node: Any, places: dict[str, tuple[Any, set[str]]]) -> set[str]:
    """The attributes that hold a module by way of what it is taken from: `self.net` of `self.net[0]`."""
    root = node
    while isinstance(root, (cst.Attribute, cst.Subscript, cst.Call)) and _own(root, init) is None:
        root = root.func if isinstance(root, cst.Call) else root.value
    own = _own(root, init)
    if own is not None:
        return {_first(arrays, cls, own)}
    return places[root.value][1] if root is not node and isinstance(root, cst.Name) and root.value in places else set()


def _placed(context: Context, init: FunctionInfo, effects: Effects) -> Iterator[tuple[str, Any]]:
    """An attribute of self, and what is put into it or below it."""
    once = tree.bound_once(init.node.body) | {p.name.value for p in init.parameters()} - set(tree.names_assigned(init.node.body))
    written: list[Any] = [*tree.nodes(init.node.body, cst.AssignTarget, cst.Del)]
    replaced = {tree.code(n.target) for n in written if not isinstance(n.target, cst.Name) and _own(n.target, init) is None}  # `self.net.fc = nn.Identity()` once it is taken
    for node in tree.nodes(init.node.body, cst.Assign, cst.Call):
        if isinstance(node, cst.Assign):
            attribute = _own(node.targets[0].target, init) or _own_above(node.targets[0].target, init)
            inside = node.value if isinstance(context.value(node.value), Module) and _own(node.value, init) is None else None
            if inside is not None and _own(node.targets[0].target, init) is None and not isinstance(inside, (cst.Name, cst.Attribute, cst.Subscript)):
                inside = None  # `self.t.l = nn.Linear(3, 3)`
        else:
            assert isinstance(node, cst.Call)
            adds = isinstance(node.func, cst.Attribute) and node.func.attr.value in _ADDING
            attribute = _own(node.func.value, init) if adds else None  # type: ignore[attr-defined]
            inside = node
        if attribute is None or inside is None or is_copy(inside):
            continue
        for part in _given(context, inside) if isinstance(inside, cst.Call) else [inside] if isinstance(inside, (cst.Name, cst.Attribute, cst.Subscript)) else []:
            if tree.code(part) not in replaced and (_is_shared(context, init, effects, part, once) or _is_held_unknown(context, init, inside, part)):
                yield attribute, part


def _is_shared(context: Context, init: FunctionInfo, effects: Effects, part: Any, once: Set[str]) -> bool:
    """Whether something given is a module with params that is held elsewhere too."""
    if isinstance(part, cst.Call):  # `self.net.children()`
        return _is_shared(context, init, effects, part.func.value, once)  # type: ignore[attr-defined]
    own, root = _own(part, init), part
    value = context.value(part) if own is None or init.owner is None else context.facts.attribute(init.owner, own)
    while isinstance(root, (cst.Attribute, cst.Subscript)) and _own(root, init) is None:
        root = root.value
    known = isinstance(root, cst.Name) and root.value in once or _own(root, init) is not None
    if isinstance(part, (cst.Name, cst.Subscript)) and isinstance(value, Sequence):  # `nn.ModuleList(layers)` and `nn.Sequential(*layers)`
        held = [v for v in (value.element, *(value.items or ())) if isinstance(v, Module)]
        return known and any(v.classes and "params" in effects.module(v) for v in held)
    certain = isinstance(value, Module) and (bool(value.classes) or isinstance(part, cst.Subscript))
    return known and isinstance(value, Module) and not value.is_self and certain and "params" in effects.module(value)


def _is_held_unknown(context: Context, init: FunctionInfo, inside: Any, part: Any) -> bool:
    """Whether a container is filled with an attribute of unknown class, which is a module all the same: `nn.Sequential(self.backbone, nn.ReLU())`."""
    own = _own(part, init)
    value = context.facts.attribute(init.owner, own) if own is not None and init.owner is not None else None
    unknown = value == UNKNOWN or isinstance(value, Module) and value.open and not value.classes
    return unknown and any(n is part for n in _elements(context, inside))


def _elements(context: Context, node: Any) -> Iterator[Any]:
    """What containers of torch's are filled with: not the 3 of `nn.Sequential(nn.Linear(3, 3))`, nor the 64 of `self._make_layer(64)`."""
    value = context.value(node) if isinstance(node, cst.Call) else None
    if isinstance(value, Module) and f"torch.nn.{(tree.dotted(node.func) or '').rpartition('.')[2]}" in MODULE_CONTAINERS:
        for argument in node.args:
            yield from _elements(context, argument.value)
    elif isinstance(node, (cst.List, cst.Tuple, cst.Dict)):
        for element in node.elements:
            yield from _elements(context, element.value)
    else:
        yield node


def _given(context: Context, call: cst.Call) -> Iterator[Any]:
    """The names, attributes and entries that a call is given, in lists too; `body.width` gives no body."""
    todo: list[Any] = _kept(context, call)
    while todo:
        node = todo.pop()
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) and not (isinstance(node, cst.Subscript) and isinstance(node.value, (cst.Call, cst.ListComp))):
            yield node
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _LISTING:
            yield node
        elif isinstance(node, cst.Call):
            todo.extend(() if is_copy(node) else _kept(context, node))
        else:
            todo.extend(tree.children(node))


def _kept(context: Context, call: cst.Call) -> list[Any]:
    """The arguments of a call but for those that a function of the user's only asks about, `norm_of(self.conv)` for `conv.out_channels`, and numbers of layers."""
    if _takes_none(context, call):
        return []
    function = context.value(call.func)
    asked = _only_asked(function.info) if isinstance(function, Function) else set()
    given = function.info.given(call) if isinstance(function, Function) and asked else {}
    return [a.value for a in call.args if a.star or not any(given.get(name) is a.value for name in asked)]


def _takes_none(context: Context, call: cst.Call) -> bool:
    """Whether a layer of torch's is given no module, whatever its arguments may be elsewhere: `nn.Dropout(self.dropout)`."""
    name = context.torch_name(call) or ""
    if not name.startswith("torch.nn.") or name in MODULE_CONTAINERS or name.rpartition(".")[2].startswith(_HOLDING):
        return False
    layer = context.rulebook.layer(name)
    return layer is not None and context.rulebook.is_module(layer)


def _only_asked(info: FunctionInfo) -> set[str]:
    """The parameters of which a function reads attributes, or asks their class, and nothing else."""
    reads = [n.value for n in tree.nodes(info.node.body, cst.Attribute)]
    called = [c.func.value for c in tree.nodes(info.node.body, cst.Call) if isinstance(c.func, cst.Attribute)]
    questions = [c.args[0].value for c in tree.nodes(info.node.body, cst.Call) if c.args and tree.dotted(c.func) in ("isinstance", "hasattr", "type")]
    harmless = {id(n) for n in [*reads, *questions]} - {id(n) for n in called}
    others = {n.value for n in tree.nodes(info.node.body, cst.Name) if id(n) not in harmless}
    return {p.name.value for p in info.parameters()} - others


def _own_above(node: Any, init: FunctionInfo) -> str | None:
    """The name in `self.name.layer`, which is given a module."""
    while isinstance(node, cst.Attribute) and _own(node, init) is None:
        node = node.value
    return _own(node, init)


def _own(node: Any, init: FunctionInfo) -> str | None:
    """The name in `self.name`."""
    if isinstance(node, cst.Attribute) and tree.dotted(node.value) == init.self_name:
        return node.attr.value
    return None
