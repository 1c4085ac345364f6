"""Objects of torch's that are no modules and draw: distributions."""

import ast

from ...model.expressions import Attribute, Call, Constant, Starred
from ...model.node import Expression
from .frame import Argument, Env, Frame
from .joins import join
from .lattice import UNKNOWN, Instance, Method, Static, Tensor, Value, is_anything
from .tables import Facts


def attribute(frame: Frame, base: Instance, name: str) -> Value:
    """An attribute of a distribution: a method, what a property returns, or an array."""
    rulebook, results = frame.facts.rulebook, frame.facts.results
    found: Value | None = None
    for cls in sorted(base.classes):
        method = rulebook.method(cls, name)
        if method is None and name not in _fields(frame.facts, cls):
            return Method(base, name)
        if method is not None and not _is_property(method):
            return Method(base, name)
        found = join(found, results.method(method) if method is not None else Tensor())
    return found or Method(base, name)


def _is_property(method: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list)


def _fields(facts: Facts, cls: str) -> frozenset[str]:
    """The attributes of a distribution that are arrays: what its constructor sets."""
    found: set[str] = set()
    for definition in facts.rulebook.bases(cls):
        constructor = definition.method("__init__")
        inside = ast.walk(constructor) if constructor else ()
        targets = [t for n in inside if isinstance(n, ast.Assign) for t in n.targets]
        names = {n.attr for t in targets for n in ast.walk(t) if isinstance(n, ast.Attribute)}
        assigned = [
            n.value
            for n in definition.body
            if isinstance(n, ast.Assign) and "static" in {ast.unparse(t) for t in n.targets}
        ]
        constants = (c for v in assigned for c in ast.walk(v) if isinstance(c, ast.Constant))
        found |= names - {c.value for c in constants}
    return frozenset(found - {"base_dist"})


def call_method(
    frame: Frame, function: Method, args: list[Argument], node: Call, env: Env
) -> Value:
    """The result of a method of a distribution."""
    receiver = function.receiver
    assert isinstance(receiver, Instance)
    if function.name == "expand":
        return receiver
    rulebook, found = frame.facts.rulebook, None
    for cls in sorted(receiver.classes):
        method = rulebook.method(cls, function.name)
        result = frame.facts.results.method(method) if method is not None else UNKNOWN
        found = join(found, result)
    return found or (Tensor() if function.name in rulebook.drawing_methods else UNKNOWN)


def draws(facts: Facts, function: Value, node: Call) -> bool:
    """Whether a call draws from a distribution: `p.sample()`, also of a p that is not known.

    Nothing else has such a method.
    """
    if not isinstance(function, Method) or not isinstance(node.function, Attribute):
        return False
    if function.name not in facts.rulebook.drawing_methods:
        return False
    receiver = function.receiver
    if isinstance(receiver, Instance):
        return all(facts.rulebook.draws(cls, function.name) for cls in receiver.classes)
    unknown = is_anything(receiver) or isinstance(receiver, Method)
    if not unknown or facts.owners.get(function.name):
        return False
    return function.name == "rsample" or _knows_distributions(facts) and _of_shape(facts, node)


def _knows_distributions(facts: Facts) -> bool:
    names = facts.project.names.values()
    return any("torch.distributions" in name for n in names for name in n.imports.values())


def _of_shape(facts: Facts, node: Call) -> bool:
    """Whether the arguments of `sample` may be a shape: that of a replay buffer is a number."""

    def is_number(argument: Expression) -> bool:
        inner = argument.expression if isinstance(argument, Starred) else argument
        value = facts.of(inner)
        if isinstance(value, Static) and value.type in ("int", "float"):
            return True
        return isinstance(inner, Constant) and inner.constant.__class__ in (int, float)

    named = {word for word in node.keywords if word is not None}
    few = len(node.arguments) < 2 and named <= {"sample_shape"}
    return few and not any(map(is_number, node.arguments))
