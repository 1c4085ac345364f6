"""Which parameters of a function can only be tensors, by what it does with them, and what a call
gets back of its arguments."""

import functools
from collections.abc import Iterator, Set
from typing import Any, TypeGuard

from ...model import program
from ...model.expressions import Attribute, Call, Constant, Display, Name, Slice, Starred, Subscript
from ...model.fallthrough import returned_parameters
from ...model.names import dotted, everywhere, last_word
from ...model.node import Expression, Node
from ...model.program import Function
from ...model.statements import ExpressionStatement
from .attribute_names import ORDINARY, PROPERTIES, SHARED, computes, plausible
from .frame import Argument
from .joins import join
from .lattice import STRING, UNKNOWN, Module, Value
from .subscripts import indices
from .tables import Facts

_OF_ARRAYS = frozenset({"shape", "device", "dtype", "ndim"})
_QUESTIONS = frozenset({"is_tensor", "isinstance", "hasattr", "type"})


# --- tensors -------------------------------------------------------------------------------------


def used_as_tensors(facts: Facts, function: Function) -> frozenset[str]:
    """The parameters that a function, or what it calls, uses as only a tensor allows."""
    certain, through = _evidence(facts, function)
    return certain | {name for name, module in _given_to_modules(facts, function, through)}


def may_be_number(facts: Facts, function: Function, name: str) -> bool:
    """Whether only modules of the user's take a parameter, and none of them as a tensor:
    `self.rotary(n)`, with `torch.arange(n)` in there."""
    certain, through = _evidence(facts, function)
    given = [m for n, m in _given_to_modules(facts, function, through) if n == name]
    return name not in certain and not any(_is_given_tensors(facts, m) for m in given)


def is_sliced(function: Function, name: str) -> bool:
    """`x[:, t] = v`, which lists don't take: an array, where the function is traced."""
    found = (part for part in everywhere(function, Subscript) if _is_one(part.object, {name}))
    return any(
        len(parts) > 1 and any(isinstance(p, Slice) for p in parts) for parts in map(indices, found)
    )


def _given_to_modules(
    facts: Facts, function: Function, through: Set[tuple[str, str]]
) -> Iterator[tuple[str, Module]]:
    owner = facts.project.owner(function)
    for name, attribute in through if owner is not None else ():
        module = facts.read("attribute", owner, attribute)
        if isinstance(module, Module):
            yield name, module


def _is_given_tensors(facts: Facts, module: Module) -> bool:
    """Whether a module may be one of torch's, or one whose forward takes a tensor first."""
    for ref in module.refs:
        forward = facts.project.find(ref, "forward") if isinstance(ref, program.Class) else None
        first = facts.project.parameters(forward)[:1] if forward is not None else []
        if forward is None or any(p.name in used_as_tensors(facts, forward) for p in first):
            return True
    return module.open or not module.classes


def _evidence(
    facts: Facts, function: Function
) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """Those that are tensors, and those that are if an attribute of self is a module."""
    key = "evidence", function
    if key not in facts.memory:
        facts.memory[key] = frozenset(), frozenset()  # what it finds of itself by way of others
        found = list(_found(facts, function, _OF_ARRAYS))
        certain = frozenset(name for name, attribute in found if not attribute)
        facts.memory[key] = certain, frozenset(pair for pair in found if pair[1])
    return facts.memory[key]  # type: ignore[no-any-return]


def _found(facts: Facts, function: Function, attributes: Set[str]) -> Iterator[tuple[str, str]]:
    names = {p.name for p in facts.project.parameters(function)}
    if not names:
        return
    objects = used_as_objects(facts, function)
    dropped = {s.expression for s in everywhere(function, ExpressionStatement)}
    for call in everywhere(function, Call):
        method = call.function
        if isinstance(method, Attribute) and _is_one(method.object, names):
            unused = call in dropped and computes(method.name)
            if not unused and _only_of_tensors(facts, method.name, call):
                yield method.object.id, ""
        elif call.arguments and _is_one(call.arguments[0], names):
            yield from _as_argument(facts, function, call, call.arguments[0].id, names)
    for part in everywhere(function, Subscript) if function.name == "forward" else ():
        if _is_one(part.object, names) and len(indices(part)) > 1:  # `x[0, j]`
            yield part.object.id, ""
    for node in everywhere(function, Attribute):
        if _is_one(node.object, names):
            if node.name in attributes and node.object.id not in objects:
                yield node.object.id, ""
        elif node.name in ("size", "dim", "shape") and isinstance(node.object, Attribute):
            if node.object.name == "data" and _is_one(node.object.object, names):
                yield node.object.object.id, ""


def _is_one(node: Node | None, names: Set[str]) -> TypeGuard[Name]:
    return isinstance(node, Name) and node.id in names


def _only_of_tensors(facts: Facts, method: str, call: Call) -> bool:
    """Whether a method that is called tells that its object is a tensor."""
    if method in ("size", "dim"):
        return True
    plain = call.positional
    if method in ORDINARY or method in SHARED or not plausible(method, list(map(_literal, plain))):
        return False
    find = facts.rulebook.find
    if method.endswith("_") and find("torch.Tensor." + method[:-1]):
        return True
    return any(takes(rule, call) for rule in find("torch.Tensor." + method))


def _literal(node: Expression) -> Value:
    return STRING if isinstance(node, Constant) and isinstance(node.constant, str) else UNKNOWN


def takes(rule: Any, call: Call) -> bool:
    """Whether a rule is for so many arguments, by a signature of today."""
    star = any(isinstance(a, Starred) for a in call.arguments)
    loose = star or any(p.kind in ("sizes", "rest") for p in rule.parameters)
    count = sum(1 for word in call.keywords if word is None)
    places = sum(1 for p in rule.parameters if p.kind == "positional")
    return not rule.deprecated and (loose or count < places)


def _as_argument(
    facts: Facts, function: Function, call: Call, first: str, names: Set[str]
) -> Iterator[tuple[str, str]]:
    """The parameters that a call takes as tensors; its first argument is one of them."""
    name = dotted(call.function)
    if name is None:
        return
    resolved = facts.resolve(function.file, call.function)
    if isinstance(resolved, str) and resolved.startswith("torch."):
        rules = facts.rulebook.find(resolved)
        parameters = rules[0].parameters if rules and not rules[0].is_class else ()
        if parameters and parameters[0].name in ("input", "tensor") and call.keywords[0] is None:
            yield first, ""
    elif isinstance(resolved, Function) and not _has_stars(call):
        given = arguments_by_name(facts, resolved, call)
        certain, _ = _evidence(facts, resolved)
        yield from ((given[n].id, "") for n in certain if _is_one(given.get(n), names))  # type: ignore[attr-defined]
    elif name.startswith("self.") and facts.project.owner(function) is not None:
        yield first, name[5:]  # if it is a submodule it is called with it


def _has_stars(call: Call) -> bool:
    return any(isinstance(a, Starred) for a in call.arguments)


def arguments_by_name(facts: Facts, function: Function, call: Call) -> dict[str, Expression]:
    """What a call without stars gives for each parameter."""
    names = facts.project.signature(function).names
    found = {}
    for i, (word, argument) in enumerate(zip(call.keywords, call.arguments)):
        found[word or (names[i] if i < len(names) else "")] = argument
    return found


# --- objects and modules -------------------------------------------------------------------------


def used_as_objects(facts: Facts, function: Function) -> frozenset[str]:
    """The parameters of which a function reads what no tensor has: `args.hidden_dim`."""
    key = "objects", function
    if key not in facts.memory:
        facts.memory[key] = frozenset()  # what it finds of itself by way of others
        facts.memory[key] = frozenset(_objects(facts, function))
    return facts.memory[key]  # type: ignore[no-any-return]


def _objects(facts: Facts, function: Function) -> Iterator[str]:
    names = {p.name for p in facts.project.parameters(function)}
    for node in everywhere(function, Attribute):
        if _is_one(node.object, names) and node.name not in PROPERTIES | SHARED | ORDINARY:
            if not facts.rulebook.find("torch.Tensor." + node.name):
                yield node.object.id
    for call in everywhere(function, Call):
        if call.arguments and not _has_stars(call):
            resolved = facts.resolve(function.file, call.function)
            if isinstance(resolved, Function):
                given = arguments_by_name(facts, resolved, call)
                objects = used_as_objects(facts, resolved)
                yield from (given[n].id for n in objects if _is_one(given.get(n), names))  # type: ignore[attr-defined]


def may_be_numpy(facts: Facts, function: Function, name: str) -> bool:
    """Whether it uses a parameter only as an array of NumPy's allows too, and does not ask."""
    used = {n for n, through in _found(facts, function, frozenset({"device"})) if not through}
    return name not in used and not is_asked(function, name)


def is_asked(function: Function, name: str) -> bool:
    """Whether a function asks whether a parameter is a tensor: it may be one or not."""
    for call in everywhere(function, Call):
        if call.arguments and _is_one(call.arguments[0], {name}):
            if last_word(call.function) in _QUESTIONS:
                return True
    return False


def asks_modules(facts: Facts, function: Function) -> bool:
    """Whether it asks its first parameter for a class of modules or a param: `m.bias`."""
    parameters = facts.project.parameters(function)
    if not parameters:
        return False
    nodes = (*everywhere(function, Call), *everywhere(function, Attribute))
    return any(_of_modules(facts, function, node, {parameters[0].name}) for node in nodes)


def _of_modules(facts: Facts, function: Function, node: Node, name: set[str]) -> bool:
    arrays = facts.layers.array_names
    if isinstance(node, Attribute):
        return _is_one(node.object, name) and node.name in arrays
    assert isinstance(node, Call)
    word = dotted(node.function)
    if word not in ("isinstance", "hasattr", "getattr") or len(node.arguments) < 2:
        return False
    subject, asked = node.arguments[:2]
    if not _is_one(subject, name):
        return False
    if word != "isinstance":
        return isinstance(asked, Constant) and asked.constant in arrays
    tuple_ = isinstance(asked, Display) and asked.kind == "tuple"
    classes = asked.elements if tuple_ else [asked]  # type: ignore[attr-defined]
    return any(_is_module_class(facts, facts.resolve(function.file, c)) for c in classes)


def _is_module_class(facts: Facts, resolved: Any) -> bool:
    """Whether a name stands for a class of modules, torch's or the user's."""
    if isinstance(resolved, program.Class):
        return facts.project.is_module(resolved)
    layer = facts.rulebook.layer(resolved) if isinstance(resolved, str) else None
    return layer is not None and facts.rulebook.is_module(layer)


def given_back(facts: Facts, function: Function, args: list[Argument]) -> Value | None:
    """What one returns that gives back an argument, `default(n, self.n)`: other calls of it have
    other arguments, and what it returns for all of them may be an array for one."""
    names = returned_parameters(function)
    if not names or function.decorators or any(a.star for a in args):
        return None
    places = facts.project.signature(function).positional
    given = dict(zip(places, [a.value for a in args if a.keyword is None]))
    given |= {a.keyword: a.value for a in args if a.keyword is not None}
    found = [given.get(name, UNKNOWN) for name in names]
    return None if UNKNOWN in found else functools.reduce(join, found)
