"""Calls, by what is called."""

from collections.abc import Callable
from typing import Any

from ...model import program
from ...model.expressions import Attribute, Call, Name, Starred
from ...model.names import dotted, in_scope, target_names
from ...model.node import Expression
from ...model.operators import sides
from ...model.statements import Assign, With
from . import constructors, containers, functions, methods, modules, python_calls, torch_calls
from .frame import Argument, Env, Frame
from .joins import join
from .lattice import (
    ARRAY_TYPE,
    FUNCTION,
    INITIALISER,
    NONE,
    UNKNOWN,
    Class,
    External,
    Function,
    Functions,
    Method,
    Module,
    Object,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
)

CHECKPOINT = "torch.utils.checkpoint.checkpoint"
_Caller = Callable[[Frame, Any, list[Argument], Call, Env], Value]


def call(frame: Frame, node: Call, env: Env) -> Value:
    func = node.function
    super_itself = is_super(node)
    function = UNKNOWN if super_itself else frame.expression(func, env)
    args = [
        _argument(frame, word, argument, env)
        for word, argument in zip(node.keywords, node.arguments)
    ]
    if super_itself:
        return External("super")
    if isinstance(func, Attribute):
        if is_super(func.object):
            return _through_super(frame, node, func.name, args)
        if function == UNKNOWN or isinstance(function, Method) and function.receiver == UNKNOWN:
            if _may_be_made(frame, func):
                return Module(open=True)
            function = _as_module(frame, func) or _forward_of(frame, func) or function
    elif isinstance(func, Name) and function == UNKNOWN and _names_attributes(frame, func.id):
        function = Module(open=True)
        frame.facts.put(func, function)
    by_value: _Caller = _BY_VALUE.get(function.__class__, _unknown)
    return by_value(frame, function, args, node, env)


def _argument(frame: Frame, word: str | None, node: Expression, env: Env) -> Argument:
    if isinstance(node, Starred):
        value = frame.expression(node.expression, env)
        return Argument(word, "**" if node.double else "*", value, node.expression)
    return Argument(word, "", frame.expression(node, env), node)


# --- attributes of unknown make ------------------------------------------------------------------


def _on_self(frame: Frame, func: Attribute) -> program.Class | None:
    """The class of self, if what is called is an attribute of it."""
    owner = frame.facts.of(func.object)
    return frame.cls if isinstance(owner, Module) and owner.is_self else None


def _may_be_made(frame: Frame, func: Attribute) -> bool:
    """Whether an attribute of self that is called may hold a class of modules."""
    cls, facts = _on_self(frame, func), frame.facts
    if cls is None:
        return False
    return any([facts.read("makers", c, func.name) for c in facts.project.family(cls)])


def _as_module(frame: Frame, func: Attribute) -> Module | None:
    """An attribute of self, of unknown make, that is called: a module, or a function to wrap; but
    `with self.autocast():` enters what no module gives."""
    facts, cls = frame.facts, _on_self(frame, func)
    if cls is None or facts.attribute(cls, func.name) is None:
        return None
    if func.parent is not None and isinstance(func.parent.parent, With):
        return None
    module = Module(open=True)
    facts.put(func, module)
    facts.note(True, "wrapped", cls, func.name)
    return module


def _forward_of(frame: Frame, func: Attribute) -> Method | None:
    """`self.loss.forward(x)` of an attribute of unknown make: it is a module's."""
    owners, project = frame.facts.owners.get("forward", []), frame.facts.project
    if func.name != "forward" or not isinstance(func.object, Attribute):
        return None
    if not all(project.is_module(c) for c in owners):
        return None
    module = _as_module(frame, func.object)
    if module is None:
        return None
    method = Method(module, "forward")
    frame.facts.put(func, method)
    return method


def _names_attributes(frame: Frame, name: str) -> bool:
    """Whether a name stands for attributes of unknown make: `f = self.a if back else self.b`."""
    facts, function, cls = frame.facts, frame.function, frame.cls
    own = facts.project.self_name(function) if function is not None else None
    if function is None or cls is None or function.name == "__init__" or not own or frame.foreign:
        return False
    found: set[str] = set()
    for assignment in in_scope(function.body, Assign):
        if any(name in target_names(t) for t in assignment.targets):
            if assignment.expression is None:  # `norm: Module`
                return False
            for side in sides(assignment.expression):
                if not isinstance(side, Attribute) or dotted(side.object) != own:
                    return False
                found.add(side.name)
    if not found or not all(facts.attribute(cls, n) == UNKNOWN for n in found):
        return False
    if facts.read("constructing", facts.project.outermost(function)):
        return False  # `norm_layer = self._norm_layer` of a class
    for n in sorted(found):
        facts.note(True, "wrapped", cls, n)
    return True


# --- super ---------------------------------------------------------------------------------------


def is_super(node: Expression) -> bool:
    if not isinstance(node, Call) or not isinstance(node.function, Name):
        return False
    return node.function.id == "super"


def through_super(node: Call) -> bool:
    """Whether a call is `super().method(…)`."""
    return isinstance(node.function, Attribute) and is_super(node.function.object)


def _through_super(frame: Frame, node: Call, method: str, args: list[Argument]) -> Value:
    """The result of `super().method(…)`; what it calls is told of its function."""
    project = frame.facts.project
    owner = frame.cls
    if owner is None:
        return UNKNOWN
    assert isinstance(node.function, Attribute) and isinstance(node.function.object, Call)
    named = [frame.facts.of(a) for a in node.function.object.arguments[:1]]
    behind = next((v.ref for v in named if isinstance(v, Class)), None)
    target = project.above(owner, method, behind)
    if isinstance(target, program.Function):
        frame.facts.put(node.function, Function(target, owner, base=True))
        return functions.call_one(frame, target, args)
    if not project.is_module(owner):
        frame.facts.put(node.function, UNKNOWN)
        return UNKNOWN
    return _of_layer(frame, node, owner, target or project.torch_base(owner), method, args)


def _of_layer(
    frame: Frame,
    node: Call,
    owner: program.Class,
    layer: str | None,
    method: str,
    args: list[Argument],
) -> Value:
    """The result of a method of the torch layer that a class extends; None: it is nn.Module."""
    facts = frame.facts
    if method == "__init__" and layer is not None:
        facts.put(node.function, Torch(f"{layer}.__init__"))
        containers.fill_own(frame, owner, args)
        return NONE
    facts.put(node.function, Method(Module(frozenset([layer] if layer else [])), method))
    if method == "forward" and layer is not None:
        definition = facts.rulebook.layer(layer)
        return facts.results.call(definition) if definition is not None else Tensor()
    return NONE if method.startswith("__") else UNKNOWN


# --- by value ------------------------------------------------------------------------------------


def _torch(frame: Frame, function: Torch, args: list[Argument], node: Call, env: Env) -> Value:
    if function.name == CHECKPOINT and args:
        called, rest = args[0].value, [a for a in args[1:] if a.keyword is None]
        if isinstance(called, Module):
            return modules.call(frame, called, rest)
        if isinstance(called, Function) and not called.base:
            return functions.call(frame, called, rest)
    return torch_calls.call(frame, function.name, args, node)


def _functions(
    frame: Frame, function: Functions, args: list[Argument], node: Call, env: Env
) -> Value:
    """Any of several: what a call gives to one it may give to each."""
    found: Value | None = None
    for one in function.ordered:
        found = join(found, functions.call(frame, one, args))
    return found or UNKNOWN


def _class(frame: Frame, function: Class, args: list[Argument], node: Call, env: Env) -> Value:
    return constructors.construct(frame, function, args)


def _module(frame: Frame, function: Module, args: list[Argument], node: Call, env: Env) -> Value:
    if _is_class(frame, function, args, node):
        return Module(open=True)
    return modules.call(frame, function, args)


def _is_class(frame: Frame, function: Module, args: list[Argument], node: Call) -> bool:
    """Whether what an annotation calls a module makes one: `conv: nn.Module`, `conv(n, n, 3)`."""
    if not frame.constructs or not isinstance(node.function, Name):
        return False
    tensors = any(isinstance(a.value, Tensor) for a in args)
    return function.open and not function.classes and not tensors


def _function(
    frame: Frame, function: Function, args: list[Argument], node: Call, env: Env
) -> Value:
    named, owner = node.function, frame.facts.project.owner(function.function)
    if function.base and owner is not None and not through_super(node):
        args = args[1:]  # Base.method(self, …)
    found = functions.call(frame, function, args)
    held = frame.facts.of(named.object) if isinstance(named, Attribute) else UNKNOWN
    if found != UNKNOWN or not isinstance(held, Object) or owner is frame.cls:
        return found
    return methods.call(frame, Method(UNKNOWN, function.function.name), args, node, env)


def _external(
    frame: Frame, function: External, args: list[Argument], node: Call, env: Env
) -> Value:
    if function.name == "builtins.map" and len(args) > 1:
        return Sequence(functions.of_each(frame, args, env))
    functions.in_turn(frame, args, env)
    return python_calls.call(frame, function.name, args)


def _object(frame: Frame, function: Object, args: list[Argument], node: Call, env: Env) -> Value:
    if (method := frame.facts.project.find(function.cls, "__call__")) is not None:
        return functions.call(frame, Function(method, function.cls), args)
    return python_calls.call(frame, "self", args)


def _tensor(frame: Frame, function: Tensor, args: list[Argument], node: Call, env: Env) -> Value:
    return UNKNOWN


def _unknown(frame: Frame, function: Value, args: list[Argument], node: Call, env: Env) -> Value:
    """What an unknown function returns is taken for a tensor where it is given one."""
    if isinstance(function, Static) and function in (ARRAY_TYPE, FUNCTION, INITIALISER):
        return Tensor()
    named = node.function
    if isinstance(named, Call) and dotted(named.function) == "getattr" and named.arguments:
        held = frame.facts.of(named.arguments[0])
        if held == Torch("torch") or isinstance(held, Tensor) and not held.assumed:
            return Tensor()  # `getattr(torch, window)(n)`, `getattr(x, name)()`: rules/by_name.py
    if frame.constructs and isinstance(node.function, Name) and constructors.inplace(args):
        return Module(open=True, inplace=True)  # `act_layer(inplace=True)`, handed in
    if frame.constructs or any(isinstance(a.value, Module) for a in args):
        return UNKNOWN
    return Tensor(assumed=True) if any(isinstance(a.value, Tensor) for a in args) else UNKNOWN


_BY_VALUE: dict[type, _Caller] = {
    Torch: _torch,
    Class: _class,
    Module: _module,
    Function: _function,
    Functions: _functions,
    Method: methods.call,
    External: _external,
    Object: _object,
    Tensor: _tensor,
}
