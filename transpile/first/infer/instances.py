"""Objects of torch's that are no modules and draw: distributions."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from ..values import UNKNOWN, Instance, Method, Static, Tensor, Value, is_anything, join
from .frame import Argument, Env, Frame
from .tables import Inference


def attribute(frame: Frame, base: Instance, name: str) -> Value:
    """An attribute of a distribution: a method, what a property returns, or a parameter, which is an array."""
    rulebook, results = frame.facts.rulebook, frame.facts.results
    found: Value | None = None
    for cls in sorted(base.classes):
        method = rulebook.method(cls, name)
        if method is None and name not in _fields(frame, cls):
            return Method(base, name)
        if method is not None and not _is_property(method):
            return Method(base, name)
        found = join(found, results.method(method) if method is not None else Tensor())
    return found or Method(base, name)


def _is_property(method: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list)


def _fields(frame: Frame, cls: str) -> frozenset[str]:
    """The attributes of a distribution that are arrays: what its constructor sets from anything but another distribution."""
    found = set()
    for definition in frame.facts.rulebook.bases(cls):
        constructor = definition.method("__init__")
        targets = [t for n in ast.walk(constructor) if isinstance(n, ast.Assign) for t in n.targets] if constructor else []
        names = {n.attr for t in targets for n in ast.walk(t) if isinstance(n, ast.Attribute)}
        assigned = [n.value for n in definition.body if isinstance(n, ast.Assign) and "static" in {ast.unparse(t) for t in n.targets}]
        found |= names - {c.value for v in assigned for c in ast.walk(v) if isinstance(c, ast.Constant)}
    return frozenset(found - {"base_dist"})


def call_method(frame: Frame, function: Method, args: list[Argument], node: cst.Call, env: Env) -> Value:
    """The result of a method of a distribution."""
    receiver, found = function.receiver, None
    assert isinstance(receiver, Instance)
    if function.name == "expand":
        return receiver
    for cls in sorted(receiver.classes):
        method = frame.facts.rulebook.method(cls, function.name)
        found = join(found, frame.facts.results.method(method) if method is not None else UNKNOWN)
    return found or (Tensor() if function.name in frame.facts.rulebook.drawing_methods else UNKNOWN)


def draws(facts: Inference, function: Value, node: cst.Call) -> bool:
    """Whether a call draws from a distribution: `p.sample()`, also of a p that nothing else is known of, as nothing else has such a method."""
    if not isinstance(function, Method) or not isinstance(node.func, cst.Attribute) or function.name not in facts.rulebook.drawing_methods:
        return False
    receiver = function.receiver
    if isinstance(receiver, Instance):
        return all(facts.rulebook.draws(cls, function.name) for cls in receiver.classes)
    if not (is_anything(receiver) or isinstance(receiver, Method)) or facts.owners.get(function.name):
        return False
    return function.name == "rsample" or _knows_distributions(facts) and _of_shape(facts, node)


def _knows_distributions(facts: Inference) -> bool:
    return any("torch.distributions" in name for module in facts.project.modules.values() for name in module.imports.values())


def _of_shape(facts: Inference, node: cst.Call) -> bool:
    """Whether the arguments of `sample` may be a shape: that of a replay buffer takes a number."""
    def is_number(argument: Any) -> bool:
        value = facts.of(argument.value)
        return isinstance(value, Static) and value.type in ("int", "float") or isinstance(argument.value, (cst.Integer, cst.Float))

    named = [a.keyword.value for a in node.args if a.keyword is not None]
    return len(node.args) < 2 and set(named) <= {"sample_shape"} and not any(map(is_number, node.args))


def of_no_class(facts: Inference, function: Value) -> str | None:
    """The method that a distribution does not have here: "Normal.sample_n"."""
    if not isinstance(function, Method) or not isinstance(function.receiver, Instance):
        return None
    lacking = [c for c in sorted(function.receiver.classes) if function.name not in facts.rulebook.methods(c)]
    return f"{lacking[0]}.{function.name}" if lacking and not function.name.startswith("_") else None
