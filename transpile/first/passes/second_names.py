"""A second name for a submodule that is held elsewhere is that of its place: torch has one set of params for both.

    self.blocks = nn.ModuleList([…])             ->              self.blocks = nn.ModuleList([…])
    self.first = self.blocks[0]
    …                                                            @property
    return self.first(x)                                         def first(self):
                                                                     return self.blocks[0]
                                                                 …
                                                                 return self.blocks[0](x)

Only where the constructor sets it once, and nothing is put in that place afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from .. import tree
from ..arrays import PARAMETER
from ..context import Context
from ..infer import Inference
from ..project import ClassInfo, FunctionInfo
from ..values import Module, Tensor, Torch

Found = dict[ClassInfo, dict[str, Any]]  # by class and name: the expression of the place, from self

_MOVING = ("insert", "pop", "append", "extend", "reverse", "clear", "update")
_LISTING = ("children", "named_children", "_modules")
_KINDS = frozenset({cst.SimpleStatementLine, cst.Attribute, cst.ClassDef})


def find(facts: Inference) -> Found:
    """The second names in the whole project."""
    return {cls: names for m in facts.project.modules.values() for cls in m.all_classes if cls.is_module and (names := _names(facts, cls))}


def run(context: Context, module: cst.Module, found: Found) -> cst.Module:
    """Rewrite one file by the second names in the whole project."""
    facts = context.facts
    if not found:
        return module
    wanted = {name for names in found.values() for name in names}

    def before(node: Any) -> Any:
        small = tree.only_small(node) if isinstance(node, cst.SimpleStatementLine) else None
        if isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Attribute) and _place(facts, found, small.targets[0].target) is not None:
            return cst.RemoveFromParent()
        return None

    def after(node: Any) -> Any:
        if isinstance(node, cst.ClassDef):
            return _with_properties(facts, node, found.get(facts.class_by_node.get(id(node)), {}))  # type: ignore[arg-type]
        place = _place(facts, found, node) if isinstance(node, cst.Attribute) and node.attr.value in wanted else None
        return node if place is None else tree.rewrite(_from(place, node.value), None, after, only={cst.Attribute})

    return tree.rewrite(module, before, after, only=_KINDS)  # type: ignore[no-any-return]


def _place(facts: Inference, found: Found, node: cst.Attribute) -> Any:
    """The place that `module.name` is a second name of, by all the classes that the module may be of."""
    owner = facts.of(node.value)
    refs = owner.refs if isinstance(owner, Module) else []
    places = [next((found[c][node.attr.value] for c in ref.family() if node.attr.value in found.get(c, {})), None) if isinstance(ref, ClassInfo) else None for ref in refs]
    return places[0] if places and all(p is not None and p is places[0] for p in places) else None


def _from(place: Any, owner: Any) -> Any:
    """The place with another expression for self: `model.blocks[0]`."""
    root = _root(place)
    return tree.rewrite(place, lambda n: owner if n is root else None)


def _with_properties(facts: Inference, node: cst.ClassDef, names: dict[str, Any]) -> cst.ClassDef:
    """Who asks a module for the second name still finds it."""
    body = list(tree.body_statements(node))
    at = next((i + 1 for i, s in enumerate(body) if isinstance(s, cst.FunctionDef) and s.name.value == "__init__"), 0)
    for name, place in reversed(names.items()):
        if isinstance(facts.of(place), Tensor):
            continue  # an array is in the params, not on self
        made = tree.statement(f"@property\ndef {name}(self):\n    return {tree.code(_from(place, cst.Name('self')))}\n")
        body.insert(at, tree.replace(made, leading_lines=[cst.EmptyLine(indent=False)]))
    return tree.with_body(node, body) if names else node


# --------------------------------------------------------------------------- which names


def _names(facts: Inference, cls: ClassInfo) -> dict[str, Any]:
    """The second names that a constructor gives, in its order."""
    init = cls.methods.get("__init__")
    found: dict[str, Any] = {}
    statements = tree.body_statements(init.node) if init is not None and init.self_name is not None else []
    for i, statement in enumerate(statements):
        small = tree.only_small(statement)
        if init is None or not isinstance(small, cst.Assign) or len(small.targets) != 1:
            continue
        target, place = small.targets[0].target, small.value
        if not isinstance(target, cst.Attribute) or tree.dotted(target.value) != init.self_name:
            continue
        if isinstance(place, cst.Name):  # `self.q = p` of a parameter that `self.p = p` has put there
            place = _first_holder(facts, init, statements[:i], place)
        steps = _steps(place)
        if steps is None or tree.dotted(_root(place)) != init.self_name or len(steps) == 1 and steps[0] not in found and not _is_parameter(facts, place):
            continue
        if _times_set(cls, target.attr.value) != 1 or _lists_children(cls):
            continue
        if len(steps) == 1 and steps[0] in found:  # `arrays` knows it, but where it is a second name of one of these
            found[target.attr.value] = found[steps[0]]
            continue
        if (_has_arrays(facts, place) or _is_parameter(facts, place)) and not _changes(cls, init, statements[i + 1 :], steps) and not _replaced(facts, place):
            found[target.attr.value] = _resolved(place, found)
    return found


def _is_parameter(facts: Inference, place: Any) -> bool:
    value = facts.of(place)
    return isinstance(value, Tensor) and value.param and not value.buffer and not value.none and _was_made(facts, place)


def _was_made(facts: Inference, place: Any) -> bool:
    """Whether a parameter is one by its making, `nn.Parameter(…)` or that of a layer, not a buffer."""
    owner = facts.of(place.value) if isinstance(place, cst.Attribute) else None
    if not isinstance(owner, Module):
        return False
    if not owner.is_self:
        layers = [facts.layer_of(ref) if isinstance(ref, ClassInfo) else facts.rulebook.layer(ref) for ref in owner.refs]
        return all(layer is not None and facts.rulebook.arrays(layer.name).get(place.attr.value) == "params" for layer in layers)
    made = [n for ref in owner.refs if isinstance(ref, ClassInfo) for c in ref.family() for f in c.methods.values() for n in tree.nodes(f.node.body, cst.Assign)]
    values = [n.value for n in made for t in n.targets if isinstance(t.target, cst.Attribute) and t.target.attr.value == place.attr.value]
    return bool(values) and all(isinstance(v, cst.Name) or _makes(facts, v) for v in values)


def _makes(facts: Inference, value: Any) -> bool:
    function = facts.of(value.func) if isinstance(value, cst.Call) else None
    return isinstance(function, Torch) and function.name in PARAMETER


def _first_holder(facts: Inference, init: FunctionInfo, before: list[Any], local: cst.Name) -> Any:
    """`self.p` after `p = nn.Parameter(…)` and `self.p = p`."""
    bound, first = 0, None
    for statement in before:
        small = tree.only_small(statement)
        if local.value not in tree.names_assigned(statement):
            target = small.targets[0].target if isinstance(small, cst.Assign) else None
            if first is None and isinstance(target, cst.Attribute) and tree.dotted(target.value) == init.self_name and tree.dotted(small.value) == local.value:
                first = target
        elif not isinstance(small, cst.Assign) or not _makes(facts, small.value):
            return None
        else:
            bound += 1
    return first if bound == 1 else None


def _resolved(place: Any, found: dict[str, Any]) -> Any:
    """The place by first names alone."""
    return tree.rewrite(place, None, lambda n: found[n.attr.value] if isinstance(n, cst.Attribute) and n.value is _root(place) and n.attr.value in found else n)


def _root(node: Any) -> Any:
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node


def _steps(node: Any) -> list[str] | None:
    """The names on the way from self, "[]" for a subscript; None where one is computed."""
    found: list[str] = []
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        if isinstance(node, cst.Subscript) and not (len(node.slice) == 1 and _is_constant(node.slice[0].slice)):
            return None
        found.insert(0, node.attr.value if isinstance(node, cst.Attribute) else "[]")
        node = node.value
    return found or None


def _is_constant(part: Any) -> bool:
    """`0`, `-1`, `"head"`, `:-1`"""
    bounds = [part.value] if isinstance(part, cst.Index) else [b for b in (part.lower, part.upper, part.step) if b is not None]
    return all(isinstance(b.expression if isinstance(b, cst.UnaryOperation) else b, (cst.Integer, cst.SimpleString)) for b in bounds)


def _has_arrays(facts: Inference, place: Any) -> bool:
    """Whether a place holds a module, and one that may have params."""
    value = facts.of(place)
    return isinstance(value, Module) and not value.is_self and not value.none and facts.may_have_arrays(value)


def _written(node: cst.CSTNode) -> Iterator[Any]:
    """What is assigned to, deleted, or a container whose places move."""
    for n in tree.nodes(node, cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Del, cst.Call):
        if isinstance(n, cst.Call):
            if isinstance(n.func, cst.Attribute) and n.func.attr.value in _MOVING:
                yield n.func.value
        else:
            target: Any = n.target  # type: ignore[attr-defined]
            yield from (e.value for e in target.elements) if isinstance(target, (cst.Tuple, cst.List)) else (target,)


def _times_set(cls: ClassInfo, name: str) -> int:
    """How often a class and its family set an attribute of self."""
    methods = [f for c in cls.family() for f in c.methods.values()]
    defined = sum(name in c.methods or name in c.assigned for c in cls.family())
    return defined + sum(isinstance(t, cst.Attribute) and t.attr.value == name and tree.dotted(t.value) == f.self_name for f in methods for t in _written(f.node.body))


def _set_later(cls: ClassInfo, name: str) -> bool:
    """Whether a method that is no constructor sets an attribute of self."""
    methods = [f for c in cls.family() for f in c.methods.values() if f.name != "__init__"]
    return any(isinstance(t, cst.Attribute) and t.attr.value == name and tree.dotted(t.value) == f.self_name for f in methods for t in _written(f.node.body))


def _lists_children(cls: ClassInfo) -> bool:
    """Whether a class goes through its own submodules by a listing that has the second name too."""
    methods = [f for c in cls.family() for f in c.methods.values()]
    return any(n.attr.value in _LISTING and tree.dotted(n.value) == f.self_name for f in methods for n in tree.nodes(f.node.body, cst.Attribute))


def _changes(cls: ClassInfo, init: FunctionInfo, after: list[Any], steps: list[str]) -> bool:
    """Whether something else is put on the way to a place, once it has a second name."""
    before = {c.methods.get("__init__") for c in cls.ancestors()}
    later = [f.node.body for c in cls.family() for f in c.methods.values() if f not in before]
    for target in (t for code in [*after, *later] for t in _written(code)):
        way = _steps(target) if not isinstance(target, cst.Subscript) else [*(_steps(target.value) or ["?"]), "[]"]
        if way is not None and way == steps[: len(way)] and tree.dotted(_root(target)) == init.self_name:
            return True
    return False


def _replaced(facts: Inference, place: Any) -> bool:
    """Whether a class on the way sets the attribute again after its constructor."""
    while isinstance(place, (cst.Attribute, cst.Subscript)):
        owner = facts.of(place.value)
        if isinstance(place, cst.Attribute) and isinstance(owner, Module) and not owner.is_self:
            if any(isinstance(ref, ClassInfo) and _set_later(ref, place.attr.value) for ref in owner.refs):
                return True
        place = place.value
    return False
