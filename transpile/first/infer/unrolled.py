"""What a loop over a few layers that are written out makes of lists, turn by turn: the order of what it appends.

    def sequential(*layers):
        modules = []
        for layer in layers:
            if isinstance(layer, nn.Sequential):
                modules.extend(layer)
            elif layer is not None:
                modules.append(layer)
        return nn.Sequential(*modules)

The loop as a whole knows only what may be in `modules`, not what comes first.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import libcst as cst

from .. import tree
from ..project import ClassInfo
from ..values import NONE, Class, Module, Sequence, Torch, Value, beginning, members
from .assignments import bind
from .frame import Env, Frame

_LONGEST = 8


def after_turns(frame: Frame, node: cst.For, iterated: Value, env: Env) -> Env | None:
    """The environment after the turns of such a loop, one after the other; None for any other loop."""
    items = _layers(iterated)
    if items is None or node.orelse is not None or any(tree.nodes(node.body, cst.Break, cst.Continue, cst.Return)):
        return None
    exact = dict(env)
    for item in items:
        bind(frame, node.target, item, exact)
        _turn(frame, tree.body_statements(node), exact)
    return exact


def with_order(env: Env, exact: Env | None) -> None:
    """Tell the lists in `env` how they begin."""
    for name, value in (exact or {}).items():
        known = env.get(name)
        if isinstance(value, Sequence) and isinstance(known, Sequence) and known.items is None:
            env[name] = dataclasses.replace(known, beginning=beginning(value))


def _layers(iterated: Value) -> list[Value] | None:
    if not isinstance(iterated, (Sequence, Module)) or not iterated.items or len(iterated.items) > _LONGEST:
        return None
    items = members(iterated)
    return items if any(isinstance(v, Module) for v in items) and all(isinstance(v, Module) or v == NONE for v in items) else None


def _turn(frame: Frame, statements: list[Any], env: Env) -> None:
    for statement in statements:
        holds = _decided(frame, statement.test, env) if isinstance(statement, cst.If) else None
        if holds is None:
            frame.block([statement], env)
        elif holds:
            _turn(frame, tree.body_statements(statement), env)
        elif statement.orelse is not None:
            _turn(frame, tree.else_statements(statement), env)


def _decided(frame: Frame, test: Any, env: Env) -> bool | None:
    """What `isinstance(layer, nn.Sequential)` or `layer is not None` comes to, where the layer is known."""
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1 and tree.code(test.comparisons[0].comparator) == "None":
        value = env.get(tree.code(test.left))
        negated = isinstance(test.comparisons[0].operator, (cst.IsNot, cst.NotEqual))
        return None if _is_open(value) else (value == NONE) is not negated
    if not isinstance(test, cst.Call) or tree.dotted(test.func) != "isinstance" or len(test.args) != 2:
        return None
    value, kinds = env.get(tree.code(test.args[0].value)), test.args[1].value
    if _is_open(value):
        return None
    parts = [e.value for e in kinds.elements] if isinstance(kinds, (cst.Tuple, cst.List)) else [kinds]
    refs = value.refs if isinstance(value, Module) else []
    found = {any(_extends(frame, ref, frame.expression(kind, env)) for kind in parts) for ref in refs} or {False}
    return found.pop() if len(found) == 1 else None


def _is_open(value: Value | None) -> bool:
    """Whether it is not known what a layer is: it may be None, or of other classes."""
    return value != NONE and not (isinstance(value, Module) and value.classes and not value.open and not value.none)


def _extends(frame: Frame, ref: Any, kind: Value) -> bool:
    """Whether a class of modules is, or extends, another."""
    if isinstance(kind, Class) and isinstance(kind.ref, ClassInfo):
        return isinstance(ref, ClassInfo) and kind.ref in ref.ancestors()
    if not isinstance(kind, Torch):
        return False
    if kind.name.endswith(".Module"):
        return True
    base = ref.torch_base() if isinstance(ref, ClassInfo) else ref
    layer, wanted = frame.facts.rulebook.layer(base) if base else None, frame.facts.rulebook.layer(kind.name)
    return layer is not None and wanted is not None and wanted.name in {d.name for d in frame.facts.rulebook.bases(layer.name)}
