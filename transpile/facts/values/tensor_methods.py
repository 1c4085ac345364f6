"""Calls of methods of tensors, or of objects that a method of this name may tell to be one."""

import dataclasses

from ...model.expressions import Attribute, Call, Name
from ...model.names import dotted
from ...model.statements import Assign
from . import modules, zero_dim
from .attribute_names import ORDINARY, SHARED, WALKS, plausible
from .distributions import draws
from .frame import Argument, Env, Frame
from .lattice import (
    INT,
    NUMPY,
    SHAPE,
    UNKNOWN,
    USUAL,
    Function,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Value,
    is_anything,
)
from .parameter_usage import asks_modules, takes
from .torch_calls import of_mask, overload, with_dims

# They keep the dtype, as views do.
_OWN_FIELDS = frozenset({"data", "grad", "requires_grad", "real", "imag", "names"})  # of tensors


def call(frame: Frame, function: Method, args: list[Argument], node: Call, env: Env) -> Value:
    receiver, name = function.receiver, function.name
    if is_anything(receiver) and name not in ORDINARY:
        _hand_over(frame, name, args)
    tensor = isinstance(receiver, Tensor)
    if not tensor and frame.foreign:
        return UNKNOWN
    if isinstance(receiver, Tensor) and receiver.host and name not in ("item", "tolist"):
        return dataclasses.replace(receiver, kind=None)
    if receiver == UNKNOWN and _has_fields(frame, node):
        frame.facts.put(node.function, Static())
        return UNKNOWN
    if not tensor or receiver.assumed:  # type: ignore[attr-defined]
        found = _of_another(frame, function, args, node, env)
        if found is not None:
            return found
    if draws(frame.facts, function, node):
        return Tensor()
    rulebook = frame.facts.rulebook
    rules = rulebook.find("torch.Tensor." + name)
    if not rules and name.endswith("_"):
        rules = rulebook.find("torch.Tensor." + name[:-1])
    if not tensor or receiver == Tensor(assumed=True):
        positional = [a.value for a in args if a.keyword is None]
        known = not rules or name.endswith("_") or any(takes(rule, node) for rule in rules)
        if not plausible(name, positional) or not known:
            return UNKNOWN
    if rules:
        found = _by_rules(frame, receiver, name, args, rules)
        if found is not None:
            return found
    if tensor:
        return Tensor(assumed=receiver.assumed)  # type: ignore[attr-defined]  # `env.reset()`
    if name == "size":
        return INT if args else SHAPE
    return UNKNOWN


def _of_another(
    frame: Frame, function: Method, args: list[Argument], node: Call, env: Env
) -> Value | None:
    """What a method tells of an unknown object that is no tensor: an array, a module."""
    receiver, name = function.receiver, function.name
    if receiver == UNKNOWN and name == "to_numpy":
        return NUMPY
    walks = receiver == UNKNOWN and name in WALKS and not args
    walks = walks and not frame.facts.owners.get(name)  # nothing else has these
    runs = walks or name == "apply" and _takes_modules(frame, receiver, args)
    if not runs and not (receiver == UNKNOWN and _is_called(frame, node)):
        return None
    module = Module(open=True)
    method = Method(module, name)
    if isinstance(node.function, Attribute):
        frame.facts.set(node.function.object, module)
        frame.facts.set(node.function, method)
    if walks:
        return modules.walked(module, name)
    return modules.call_method(frame, method, args, node, env)


def _has_fields(frame: Frame, node: Call) -> bool:
    """`_C.clone()` of an object that its file gives fields: `_C = CfgNode()`, `_C.OUTPUT = ""`."""
    holder = node.function.object if isinstance(node.function, Attribute) else None
    if not isinstance(holder, Name):
        return False
    key, memory = ("fields", frame.file), frame.facts.memory
    if key not in memory:
        targets = [t for s in frame.file.nodes(Assign) for t in s.targets]
        fields = [t for t in targets if isinstance(t, Attribute) and t.name not in _OWN_FIELDS]
        memory[key] = frozenset(dotted(t.object) for t in fields)
    return holder.id in memory[key]


def _is_called(frame: Frame, node: Call) -> bool:
    """`self.net.eval()` of an attribute of unknown make that other code calls: `self.net(x)`."""
    holder = node.function.object if isinstance(node.function, Attribute) else None
    if not isinstance(holder, Attribute) or frame.cls is None:
        return False
    owner = frame.facts.of(holder.object)
    if not isinstance(owner, Module) or not owner.is_self:
        return False
    family = frame.facts.project.family(frame.cls)
    return any([frame.facts.read("wrapped", cls, holder.name) for cls in family])


def _by_rules(
    frame: Frame, receiver: Value, name: str, args: list[Argument], rules: tuple[object, ...]
) -> Value | None:
    """What the rules for a method return; None where the receiver may be no tensor."""
    tensor = isinstance(receiver, Tensor)
    if name == "item" and not args and (frame.constructs or frame.facts.on_host(frame.function)):
        return Static()
    if name in ("numpy", "tolist") and not args:
        return _of_the_host(frame, receiver, name)
    constructing = frame.function is None or frame.constructs
    if not tensor and not _may_be_tensor(name, args, constructing):
        return None
    rule = overload(rules, args, own=1)
    sizes = any(p.kind == "sizes" for other in rules for p in other.parameters)  # type: ignore[attr-defined]
    sized = sizes and all(isinstance(a.value, (Static, Sequence)) for a in args)
    result = with_dims(frame, rule, rule.parameters[1:], args, receiver, sized)
    if name == "item" and isinstance(result, Tensor):
        kind = receiver.kind if isinstance(receiver, Tensor) else None
        width = receiver.width if isinstance(receiver, Tensor) else USUAL
        result = dataclasses.replace(result, kind=kind, number=True, width=width)
    others = name in SHARED or frame.facts.owners.get(name)  # NumPy's arrays, the user's objects
    if not tensor and others and isinstance(result, Tensor):
        return dataclasses.replace(result, assumed=True)
    result = of_mask(frame, receiver, name, args, frame.facts.results.cast(result, args))
    return zero_dim.of_call(
        frame.facts.rulebook, name, [Argument(None, "", receiver, None), *args], result
    )


def _takes_modules(frame: Frame, receiver: Value, args: list[Argument]) -> bool:
    """Whether something unknown is a module, by what goes over it: `net.apply(init_func)`."""
    function = args[0].value if len(args) == 1 and is_anything(receiver) else None
    return isinstance(function, Function) and asks_modules(frame.facts, function.function)


def _hand_over(frame: Frame, name: str, args: list[Argument]) -> None:
    """Note what a call gives to the methods of this name, of classes that are no modules.

    Which object it is of is not known.
    """
    if any(a.star for a in args):
        return
    project = frame.facts.project
    for cls in frame.facts.owners.get(name, ()):
        if not project.is_module(cls):
            method = project.methods(cls)[name]
            names = project.signature(method).names
            table: dict[str, Value] = {}
            for i, a in enumerate(args):
                if a.keyword or i < len(names):
                    table[a.keyword or names[i]] = a.value
            if table:
                frame.facts.note(table, "handed", method)


def _of_the_host(frame: Frame, receiver: Value, name: str) -> Value:
    """`x.numpy()`, `x.tolist()`: NumPy's and Python's, but arrays where x is traced."""
    if isinstance(receiver, Tensor) and frame.facts.in_forward(frame.function):
        if name == "numpy":
            return Tensor(kind=receiver.kind, host=True)
        return Sequence(Tensor(receiver.assumed, kind=receiver.kind, number=None))
    return NUMPY if name == "numpy" else Sequence(UNKNOWN)


def _may_be_tensor(name: str, args: list[Argument], constructing: bool) -> bool:
    """Whether a method of this name tells that an unknown receiver is a tensor."""
    if name in ("split", "sort", "index", "repeat"):
        first = args[0].value if args else None
        number = isinstance(first, Static) and first.type == "int"
        return number or any(a.keyword == "dim" for a in args)
    return name not in ORDINARY and not (name in SHARED and constructing)
