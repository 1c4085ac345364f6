"""Which parameters of a function can only be tensors, or dicts, by what it does with them."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any, TypeGuard

import libcst as cst

from .. import tree
from ..project import ClassInfo, FunctionInfo
from ..rulebook import Definition
from ..values import Module
from .tables import Inference
from .vocabulary import BY_DIM, ORDINARY, PROPERTIES, SHARED, computes, plausible

_OF_ARRAYS = frozenset({"shape", "device", "dtype", "ndim"})
_QUESTIONS = frozenset({"is_tensor", "isinstance", "hasattr", "type"})
_COPIES = ("{}.copy()", "dict({})", "copy.copy({})", "copy.deepcopy({})", "deepcopy({})")


def used_as_tensors(facts: Inference, info: FunctionInfo) -> frozenset[str]:
    """The parameters that a function, or what it passes them on to, uses in a way that only a tensor allows."""
    if info not in facts.evidence:
        facts.evidence[info] = frozenset()  # what a function finds of itself by way of others
        facts.evidence[info] = frozenset(_found(facts, info, _OF_ARRAYS))
    return facts.evidence[info]


def with_dims(info: FunctionInfo) -> dict[str, int]:
    """How many dims the parameters have at least of which a function asks for a size, a part or the transpose, by name."""
    names, found = {p.name.value for p in info.parameters()}, dict[str, int]()
    if not names:
        return found
    for node in tree.nodes(info.node.body, cst.Call, cst.Subscript, cst.Assign, cst.For):
        one, count = _asked_for_dims(node)
        name = tree.code(one).removesuffix(".shape").removesuffix(".size()") if one is not None else ""
        if name in names:
            found[name] = max(found.get(name, 0), count)
    return found


def _asked_for_dims(node: Any) -> tuple[Any, int]:
    """What a node takes for something with dims, and with how many: x of `x.t()`, `len(x)`, `b, c = x.shape`, `x[:, 0]`."""
    if isinstance(node, cst.Subscript):
        return node.value, 1 if tree.code(node.value).endswith((".shape", ".size()")) else sum(not tree.code(e).startswith(("None", "...")) for e in node.slice)
    if isinstance(node, cst.For):
        return node.iter, 1
    if isinstance(node, cst.Assign):
        target = node.targets[0].target
        return (node.value, len(target.elements)) if isinstance(target, cst.Tuple) else (None, 0)
    if isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        dims = [tree.code(a.value) for a in node.args if (a.keyword.value in ("dim", "axis") if a.keyword is not None else name == "unsqueeze")]
        least = max((int(d) if d.isdecimal() else int(d[1:]) - 1 for d in dims if d.removeprefix("-").isdecimal()), default=0)
        return node.func.value, max(least, int(name in BY_DIM or name == "size" and bool(node.args)))
    return (node.args[0].value, 1) if node.args and tree.dotted(node.func) == "len" else (None, 0)


def may_be_numpy(facts: Inference, info: FunctionInfo, name: str) -> bool:
    """Whether a function uses a parameter only in ways that an array of NumPy's allows too, and does not ask what it is."""
    return name not in _found(facts, info, frozenset({"device"})) and not is_asked(info, name)


def is_asked(info: FunctionInfo, name: str) -> bool:
    """Whether a function asks whether a parameter is a tensor: it may be one or not."""
    calls = (c for c in tree.nodes(info.node.body, cst.Call) if c.args and (tree.dotted(c.func) or "").rpartition(".")[2] in _QUESTIONS)
    return any(tree.dotted(c.args[0].value) == name for c in calls)


def _found(facts: Inference, info: FunctionInfo, attributes: Set[str]) -> Iterator[str]:
    names = {p.name.value for p in info.parameters()}
    objects = used_as_objects(facts, info)
    data = {f"{n}.data" for n in names}
    dropped = {id(s.value) for s in tree.nodes(info.node.body, cst.Expr)}
    for node in tree.nodes(info.node.body, cst.Call, cst.Attribute):
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute) and _is_one(node.func.value, names):
                if _only_of_tensors(facts, node.func.attr.value, node) and not (id(node) in dropped and computes(node.func.attr.value)):
                    yield node.func.value.value
            elif node.args and _is_one(node.args[0].value, names):
                yield from _as_argument(facts, info, node, names)
        elif isinstance(node, cst.Attribute) and _is_one(node.value, names):
            if node.attr.value in attributes and node.value.value not in objects:
                yield node.value.value
        elif isinstance(node, cst.Attribute) and node.attr.value in ("size", "dim", "shape"):
            if (dotted := tree.dotted(node.value)) in data:
                yield (dotted or "").removesuffix(".data")


def used_as_objects(facts: Inference, info: FunctionInfo) -> frozenset[str]:
    """The parameters of which a function, or what it passes them on to, reads what no tensor has: `args.device` beside `args.hidden_dim`."""
    if info not in facts.objects:
        facts.objects[info] = frozenset()  # what a function finds of itself by way of others
        facts.objects[info] = frozenset(_objects(facts, info))
    return facts.objects[info]


def _objects(facts: Inference, info: FunctionInfo) -> Iterator[str]:
    names = {p.name.value for p in info.parameters()}
    for node in tree.nodes(info.node.body, cst.Attribute, cst.Call):
        if isinstance(node, cst.Attribute) and _is_one(node.value, names):
            name = node.attr.value
            if name not in PROPERTIES | SHARED | ORDINARY and not facts.rulebook.find("torch.Tensor." + name):
                yield node.value.value
        elif isinstance(node, cst.Call) and not any(a.star for a in node.args):
            function = facts.project.resolve(info.module, tree.dotted(node.func) or "")
            if isinstance(function, FunctionInfo):
                given = function.given(node)
                yield from (given[n].value for n in used_as_objects(facts, function) if _is_one(given.get(n), names))


def used_as_dicts(facts: Inference, info: FunctionInfo) -> frozenset[str]:
    """The parameters that a function asks for `d.items()` or `d["size"]`, or for what it goes over: `for k in d: d[k]`.

    What it tests or gives another value may be anything before that.
    """
    if info not in facts.dicts:
        facts.dicts[info] = _taken_for_dicts(info.node.body, {p.name.value for p in info.parameters()})
    return facts.dicts[info]


def asks_modules(facts: Inference, info: FunctionInfo) -> bool:
    """Whether a function asks what it is given first for a class of modules or for a param: `hasattr(m, "weight")`, `m.bias`."""
    parameters = info.parameters()
    return bool(parameters) and any(_of_modules(facts, info, node, parameters[0].name.value) for node in tree.nodes(info.node.body, cst.Call, cst.Attribute))


def _of_modules(facts: Inference, info: FunctionInfo, node: Any, name: str) -> bool:
    arrays = facts.rulebook.array_names
    if isinstance(node, cst.Attribute):
        return _is_one(node.value, {name}) and node.attr.value in arrays
    function = tree.dotted(node.func)
    if function not in ("isinstance", "hasattr", "getattr") or len(node.args) < 2 or not _is_one(node.args[0].value, {name}):
        return False
    asked = node.args[1].value
    if function != "isinstance":
        return isinstance(asked, cst.SimpleString) and asked.evaluated_value in arrays
    classes = [e.value for e in asked.elements] if isinstance(asked, cst.Tuple) else [asked]
    return any(_is_module_class(facts, facts.project.resolve(info.module, tree.dotted(c) or "")) for c in classes)


def _is_module_class(facts: Inference, resolved: Any) -> bool:
    """Whether a name stands for a class of modules, torch's or the user's."""
    if isinstance(resolved, ClassInfo):
        return resolved.is_module
    layer = facts.rulebook.layer(resolved) if isinstance(resolved, str) else None
    return layer is not None and facts.rulebook.is_module(layer)


def dict_targets(loop: cst.For) -> frozenset[str]:
    """The targets of a loop that its body takes for dicts, `for batch in loader: batch["image"]`."""
    return _taken_for_dicts(loop.body, set(tree.target_names(loop.target)))


def gone_over_for_dicts(info: FunctionInfo) -> frozenset[str]:
    """The parameters that loops take dicts from: `for i, batch in enumerate(loader)`."""
    return frozenset(name for loop in tree.nodes(info.node.body, cst.For) if (name := _gone_over(loop.iter)) is not None and dict_targets(loop))


def _gone_over(node: Any) -> str | None:
    """loader of `loader`, `enumerate(loader)`, `tqdm(loader, desc="train")`"""
    while isinstance(node, cst.Call) and node.args and isinstance(node.func, (cst.Name, cst.Attribute)):
        node = node.args[0].value
    return node.value if isinstance(node, cst.Name) else None


def _taken_for_dicts(body: cst.CSTNode, names: set[str]) -> frozenset[str]:
    """The names that a piece of code takes for dicts, and does not leave open."""
    found = {name for node in tree.nodes(body, cst.Call, cst.Subscript, cst.For) if (name := _taken_for_dict(node)) in names}
    return frozenset(found - _left_open(body)) if found else frozenset()


def _taken_for_dict(node: Any) -> str | None:
    """The name that one use takes for a dict."""
    if isinstance(node, cst.Call):
        name = tree.dotted(node.func) or ""
        return name.rpartition(".")[0] if name.endswith((".items", ".keys")) and not node.args else None
    if isinstance(node, cst.Subscript):
        return tree.dotted(node.value) if _is_named(node) else None
    return tree.dotted(node.iter) if isinstance(node.iter, cst.Name) and _is_keyed(node) else None


def _is_named(node: cst.Subscript) -> bool:
    """`d["size"]`"""
    part = node.slice[0].slice
    return isinstance(part, cst.Index) and isinstance(part.value, cst.SimpleString)


def _is_keyed(loop: cst.For) -> bool:
    """`for k in d: d[k]`"""
    over, key = tree.code(loop.iter), tree.code(loop.target)
    parts = [(n.value, n.slice) for n in tree.nodes(loop.body, cst.Subscript)]
    return any(tree.code(base) == over and tree.code(index[0].slice) == key and len(index) == 1 for base, index in parts)


def _left_open(body: cst.CSTNode) -> set[str]:
    """The names whose value a piece of code tests, or sets to anything but a copy of the old one."""
    found: set[str] = set()
    node: Any
    for node in tree.nodes(body, cst.Call, cst.Assign):
        if isinstance(node, cst.Assign):
            target = node.targets[0].target
            same = tree.code(node.value) in {pattern.format(tree.code(target)) for pattern in _COPIES}
            found |= set() if same else {name for t in node.targets for name in tree.target_names(t.target)}
        elif tree.dotted(node.func) in ("isinstance", "hasattr", "type") and node.args:
            found.add(tree.code(node.args[0].value))
    return found


def _is_one(node: Any, names: set[str]) -> TypeGuard[cst.Name]:
    return isinstance(node, cst.Name) and node.value in names


def _only_of_tensors(facts: Inference, method: str, call: cst.Call) -> bool:
    """Whether a method that is called tells that its object is a tensor."""
    if method in ("size", "dim"):
        return True
    positional = [facts.of(a.value) for a in call.args if a.keyword is None]
    if method in ORDINARY or method in SHARED or not plausible(method, positional):
        return False
    find = facts.rulebook.find
    if method.endswith("_") and find("torch.Tensor." + method[:-1]):
        return True
    return any(takes(rule, call) for rule in find("torch.Tensor." + method))


def takes(rule: Definition, call: cst.Call) -> bool:
    """Whether a rule is for so many arguments, by a signature of today: `pattern.sub(a, b)` is of no tensor."""
    loose = any(p.kind in ("sizes", "rest") for p in rule.parameters) or any(a.star for a in call.args)
    count = sum(1 for a in call.args if a.keyword is None)
    return not rule.deprecated and (loose or count < sum(1 for p in rule.parameters if p.kind == "positional"))


def _as_argument(facts: Inference, info: FunctionInfo, node: cst.Call, names: set[str]) -> Iterator[str]:
    """The parameters that a call takes as tensors; its first argument is one of them."""
    name, first = tree.dotted(node.func), node.args[0]
    if name is None:
        return
    assert isinstance(first.value, cst.Name)
    resolved = facts.project.resolve(info.module, name)
    if isinstance(resolved, str) and resolved.startswith("torch.") and not first.star:
        rules = facts.rulebook.find(resolved)
        parameters = rules[0].parameters if rules and not rules[0].is_class else ()
        if parameters and parameters[0].name in ("input", "tensor"):
            yield first.value.value
    elif isinstance(resolved, FunctionInfo) and not any(a.star for a in node.args):
        given = resolved.given(node)
        yield from (given[n].value for n in used_as_tensors(facts, resolved) if _is_one(given.get(n), names))
    elif name.startswith("self.") and info.owner is not None:
        if isinstance(facts.attributes.get(info.owner, {}).get(name[5:]), Module):  # a submodule is called with it
            yield first.value.value
