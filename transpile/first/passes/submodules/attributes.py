"""Attributes of modules that are arrays: entries of the params or of the state, and tests of whether they are there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Tie
from ...computed_names import pattern
from ...emit import fresh_name
from ...paths import Path, below
from ...project import ClassInfo
from ...values import NONE, Function, Module, Tensor
from .arguments import keywords
from .references import reference
from .scope import Scope
from .ties import tie_of

_PRESENT = re.compile(r'("\w+") in (params(?:\["\w+"\])*)')


def attribute(scope: Scope, node: cst.Attribute) -> Any:
    """`self.weight`, `self.training`, `self.scale` of a property that computes with params; any other attribute as it is."""
    base = scope.facts.of(node.value)
    if isinstance(base, Module):
        if node.attr.value == "training":
            return tree.expression("training")
        found = _array(scope, node, base)
        if found is not None:
            scope.facts.carry(node, found)
            return found if scope.storing else _in_time(scope, node, found)
        prop = scope.facts.by_property(base, node.attr.value)
        if isinstance(prop, Function) and scope.needs_of(prop):
            return _property_call(scope, node, prop)
    bound = reference(scope, node)
    if bound is not None:
        return bound
    value = scope.expression(node.value)
    if value is node.value:
        return node
    new = tree.replace(node, value=tree.fit(node, "value", value))
    scope.facts.carry(node, new)
    return new


def _in_time(scope: Scope, node: cst.Attribute, found: Any) -> Any:
    """A read of the state that a later call in the statement changes has its own statement before that."""
    early, undecided = scope.early
    if id(node) in undecided:
        return scope.context.unconverted("state-in-expression", node, "this is read beside calls that change it: which of them it sees is not known here")
    if id(node) not in early:
        return found
    name = fresh_name(scope.used, node.attr.value)
    scope.prelude.append(tree.assignment(name, found))
    return cst.Name(name)


def is_state(scope: Scope, node: cst.Attribute) -> bool:
    """Whether an attribute is an array of some module's state."""
    base = scope.facts.of(node.value)
    return isinstance(base, Module) and _place(scope, node, base, _name(scope, node)).where == "state"


def entry(scope: Scope, node: cst.Subscript) -> Any:
    """An entry of a ParameterList or ParameterDict; None for other subscripts."""
    if isinstance(scope.facts.of(node.value), Module) and isinstance(scope.facts.of(node), Tensor):
        path = scope.path(node)
        if path is not None:
            return tree.expression(path.params)
    return None


def none_test(scope: Scope, node: cst.Comparison) -> Any:
    """`self.bias is not None` asks whether the params have it. None for other comparisons."""
    if len(node.comparisons) != 1 or not isinstance(node.left, cst.Attribute):
        return None
    target = node.comparisons[0]
    if not isinstance(target.comparator, cst.Name) or target.comparator.value != "None" or not isinstance(target.operator, (cst.Is, cst.IsNot)):
        return None
    base = scope.facts.of(node.left.value)
    array = _array(scope, node.left, base) if isinstance(base, Module) else None
    if isinstance(array, cst.Call) and isinstance(array.func, cst.Attribute) and array.func.attr.value == "get":
        holder = tree.code(array.func.value)
    elif isinstance(array, cst.Subscript):
        holder = tree.code(array.value)
        if "state" in holder.split("[")[0]:
            return None
    else:
        return None
    return tree.expression(f'"{node.left.attr.value}" {"in" if isinstance(target.operator, cst.IsNot) else "not in"} {holder}')


def asked(scope: Scope, node: cst.Call) -> Any:
    """`hasattr(self, "w")` and `getattr(self, "w", None)` of an array, which no module has: `"w" in params`, `params.get("w")`. None of other calls."""
    function = tree.dotted(node.func)
    if function == "isinstance" and len(node.args) == 2 and tree.code(node.args[1].value) == "nn.Parameter":
        return _asked_for_parameter(scope, node.args[0].value)
    if function not in ("hasattr", "getattr") or len(node.args) != (2 if function == "hasattr" else 3):
        return None
    holder, name, base = node.args[0].value, node.args[1].value, scope.facts.of(node.args[0].value)
    if not isinstance(base, Module) or not base.classes or base.open:
        return None
    if not isinstance(name, cst.SimpleString):
        return _asked_by_pattern(scope, node, base) if function == "hasattr" else None
    there = cst.Attribute(holder, cst.Name(str(name.evaluated_value)))
    place = _asked_place(scope, there, base)
    if place == "always":
        return cst.Name("True") if function == "hasattr" else None
    if place is None:
        return None
    path = scope.path(holder)
    if path is None:
        return scope.unfollowed(there)
    arrays = path.params if place == "params" else path.state
    later = place == "state" and not all(array.registered for ref in base.refs if isinstance(ref, ClassInfo) and (array := scope.arrays.find(ref, there.attr.value)) is not None)
    if function == "getattr":
        return _with_default(scope, there, arrays, scope.expression(node.args[2].value), later)
    if later:
        return tree.expression(f'{arrays}.get("{_name(scope, there)}") is not None')  # it begins as None where a call is to set it
    return tree.expression(f'"{_name(scope, there)}" in {arrays}')


def _with_default(scope: Scope, there: cst.Attribute, arrays: str, default: Any, later: bool) -> Any:
    """`params.get("w", 1.0)`; `later`: it is None until a call sets it."""
    if later and tree.code(default) != "None":
        entry = f'{arrays}["{_name(scope, there)}"]'
        return tree.parenthesised(tree.expression(f"{entry} if {entry} is not None else {tree.code(default)}"))
    others = [cst.Arg(default)] if tree.code(default) != "None" else []
    return tree.replace(tree.expression("x.get()"), func=tree.expression(f"{arrays}.get"), args=[cst.Arg(tree.expression(f'"{_name(scope, there)}"')), *others])


def _asked_for_parameter(scope: Scope, node: Any) -> Any:
    """`isinstance(self.w, nn.Parameter)`: whether the params have it; None of what is no param."""
    base = scope.facts.of(node.value) if isinstance(node, cst.Attribute) else None
    if not isinstance(base, Module) or _place(scope, node, base, _name(scope, node)).where != "params":
        return None
    path = scope.path(node.value)
    return scope.unfollowed(node) if path is None else tree.expression(f'"{_name(scope, node)}" in {path.params}')


def _asked_place(scope: Scope, there: cst.Attribute, base: Module) -> str | None:
    """Where the array may be that is asked for; "always" where torch has the attribute on all ways, as None at least; None where it is no array."""
    name, rulebook = there.attr.value, scope.facts.rulebook
    if not any(isinstance(ref, ClassInfo) for ref in base.refs):
        layers = [rulebook.layer(ref) for ref in base.refs]
        return "always" if all(layer is not None and name in rulebook.arrays(layer.name) for layer in layers) else None
    place = _place(scope, there, base, _name(scope, there))
    if place.where not in ("params", "state") or place.plain:
        return None
    values = [found for ref in base.refs if isinstance(ref, ClassInfo) and (found := scope.facts.attribute(ref, name)) is not None]
    return "always" if any(v == NONE or isinstance(v, Tensor) and v.none for v in values) else place.where  # `self.w = None` on the other way


def _asked_by_pattern(scope: Scope, node: cst.Call, base: Module) -> Any:
    """`hasattr(self, f"w{i}")`: an array under such a name, or another attribute; None where no array may have it."""
    places = {place for ref in base.refs if isinstance(ref, ClassInfo) for place in scope.arrays.places(ref, pattern(node.args[1].value))}
    if not places:
        return None
    path = scope.path(node.args[0].value)
    if path is None:
        return scope.unfollowed(node)
    name = scope.expression(node.args[1].value)
    holders = [holder for place, holder in (("params", path.params), ("state", path.state)) if place in places]
    made: Any = tree.replace(node, args=[node.args[0], tree.replace(node.args[1], value=name)])
    for holder in reversed(holders):
        test = tree.expression(f"x in {holder}" if holder == path.params else f"{holder}.get(x) is not None")
        test = tree.replace(test, left=name) if holder == path.params else tree.replace(test, left=tree.replace(test.left, args=[cst.Arg(name)]))
        made = cst.BooleanOperation(test, cst.Or(), made)
    return made


def found_by(test: cst.BaseExpression) -> set[str]:
    """The optional params that are there where a converted test holds: `params["bias"]` by `"bias" in params`."""
    text = tree.code(test)
    return {f"{m[1]}[{m[0]}]" for m in _PRESENT.findall(text)} if " or " not in text else set()


def _property_call(scope: Scope, node: cst.Attribute, prop: Function) -> Any:
    """A property that needs params is a method in the output."""
    needs = scope.needs_of(prop)
    path = scope.path(node.value)
    if path is None or "state" in needs and _changes_state(scope, prop):
        return scope.context.unconverted("module-value", node, "a property whose params could not be followed")
    arrays = (("params", path.params), ("state", path.state))
    given = [*(text for name, text in arrays if name in needs), *(f"{name}={text}" for name, text in keywords(needs))]
    call = tree.replace(tree.expression(f"x({', '.join(given)})"), func=tree.replace(node, value=scope.callee(node.value)))
    return tree.replace(tree.expression("x[0]"), value=call) if "state" in needs else call


def _changes_state(scope: Scope, prop: Function) -> bool:
    """Whether a property does more than read the state that it is given."""
    body = prop.info.node.body
    calls = [scope.facts.of(n.func) for n in tree.nodes(body, cst.Call)]
    called = any(isinstance(v, Module) or isinstance(v, Function) and "state" in scope.needs_of(v) for v in calls)
    targets: list[Any] = list(tree.nodes(body, cst.AssignTarget, cst.AugAssign))
    return called or any(not isinstance(n.target, cst.Name) for n in targets)


@dataclass(frozen=True)
class _Place:
    """Where an attribute of a module is: "params", "state", "constant" on the module itself, "computed" from other params."""

    where: str | None  # None: it is no array
    optional: bool = False  # it may be missing
    plain: bool = False  # something else on some way, which self keeps


def _place(scope: Scope, node: cst.Attribute, base: Module, name: str) -> _Place:
    """The place by all the classes that the module may be of; `name` is the attribute's as the output has it."""
    where, optional, plain = None, False, False
    rulebook = scope.facts.rulebook
    for ref in base.refs:
        if isinstance(ref, ClassInfo):
            array = scope.arrays.find(ref, node.attr.value)
            if array is not None:
                where, optional, plain = array.where, array.optional or array.removed, array.plain
                if where == "constant":
                    return _Place(where)
            elif inherited := scope.effects.inherited_array(ref, name):
                where = inherited
                optional = any(name in rulebook.optional(layer.name) for layer in scope.facts.layers_of(ref))
        elif isinstance(scope.facts.of(node), Tensor):
            definition = rulebook.layer(ref)
            if definition is not None:
                if rulebook.computed(definition.name, name):
                    return _Place("computed")
                where = rulebook.array(definition.name, name) or where
                optional = not base.whole and name in rulebook.optional(definition.name)
    if where is None and (base.is_bare or not base.classes):
        value = scope.facts.of(node)
        where = None if not isinstance(value, Tensor) or not value.param else "state" if value.buffer else "params"
    return _Place(where, optional, plain)


def _name(scope: Scope, node: cst.Attribute) -> str:
    """The name of an attribute as the output has it."""
    return tree.mangled(node.attr.value, scope.cls.name if scope.cls is not None else None)


def _array(scope: Scope, node: cst.Attribute, base: Module) -> Any:
    """What stands for an attribute that is an array; None where it stays an attribute."""
    name = _name(scope, node)
    place = _place(scope, node, base, name)
    if place.where == "computed":
        return scope.context.unconverted("module-value", node, f"{name} of this layer is computed from its other params in each call: compute it here too")
    if place.where in (None, "constant"):
        return None
    path = scope.path(node.value)
    if path is None:
        return scope.unfollowed(node)
    tie = tie_of(scope, path, name) if place.where == "params" else None
    return _shared(scope, node, path, name, tie) if tie is not None else _own(scope, node, path, name, place)


def _shared(scope: Scope, node: cst.Attribute, path: Path, name: str, tie: Tie) -> Any:
    """A param that is another's: the path of that, where it always is."""
    holder, other = below(tie.source[:-1]), tie.source[-1]
    if tie.certain:
        return tree.expression(f'{holder}["{other}"]')
    if not scope.storing:
        return tree.expression(f'{path.params}.get("{name}", {holder}["{other}"])')
    if name != other:
        message = f"{name} is shared with {'.'.join(tie.source)} on some ways only: which of them changes is not known here"
        return scope.context.unconverted("module-value", node, message)
    return tree.expression(f'({path.params} if "{name}" in {path.params} else {holder})["{name}"]')


def _own(scope: Scope, node: cst.Attribute, path: Path, name: str, place: _Place) -> Any:
    """An entry of the params or of the state of the module itself."""
    holder = path.params if place.where == "params" else path.state
    if place.where == "state" and scope.storing:
        scope.writes.add(holder.count("[") + 1)
    found = f'{holder}["{name}"]'
    if place.optional and place.where == "params" and not (scope.storing or scope.certain or found in scope.present):
        return tree.expression(f'{holder}.get("{name}")')
    if place.plain and not scope.storing:
        made = tree.expression(f'({found} if "{name}" in {holder} else x)')
        return tree.replace(made, orelse=node)
    return tree.expression(found)
