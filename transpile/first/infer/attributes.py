"""Attributes, by what they are asked of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from ..computed_names import may_be
from ..project import ClassInfo
from ..rulebook import Definition
from ..values import (
    BACKWARD_CONTEXT,
    MISSING,
    NUMPY,
    UNKNOWN,
    Class,
    External,
    Function,
    Instance,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    join,
    least_dims,
)
from . import functions, instances
from .assignments import local_name
from .frame import Env, Frame, Handlers
from .names import defined, torch_name
from .vocabulary import PROPERTIES, torch_method

_STRING = Static(MISSING, "str")
_FLOAT = Static(MISSING, "float")
_ARRAYS = ("T", "real", "imag", "flat")  # of an array of NumPy's
_OF_CONTEXT: dict[str, Value] = {
    "saved_tensors": Sequence(Tensor(), None, True),
    "saved_variables": Sequence(Tensor(), None, True),
    "needs_input_grad": Sequence(Static(MISSING, "bool"), None, True),
}


def _attribute(frame: Frame, node: cst.Attribute, env: Env) -> Value:
    base = frame.expression(node.value, env)
    name = node.attr.value
    if name == "requires_grad" and isinstance(base, Tensor):
        return Static(is_differentiable(base), "bool")
    if isinstance(base, Module) and base.is_self and local_name(node) in env:
        return env[local_name(node)]
    of_base = _BY_BASE.get(base.__class__)
    if of_base is not None:
        return of_base(frame, base, name)
    if name in ("shape", "dtype", "device"):
        return Static(MISSING, name)
    if base == UNKNOWN and name == "values" and "pandas" in frame.module.imports.values():
        return NUMPY
    if base == UNKNOWN and isinstance(node.value, cst.Attribute) and frame.facts.is_method_of_modules(name):
        return Method(Module(open=True), name)  # `self.bias.get_bias()`, where self.bias is of one of several classes
    return Method(base, name)


HANDLERS: Handlers = {cst.Attribute: _attribute}


def is_differentiable(value: Tensor) -> bool:
    """Whether a tensor may require a gradient: in JAX any may be differentiated that holds no integers."""
    return value.kind not in ("b", "i", "u")


def _of_torch(frame: Frame, base: Torch, name: str) -> Value:
    text = frame.facts.rulebook.constant(base.name)
    return Method(_STRING, name) if text is not None and text[:1] in "'\"" else torch_name(frame, f"{base.name}.{name}")


def _of_external(frame: Frame, base: External, name: str) -> Value:
    if base.name.startswith("module:"):
        found = frame.facts.project.lookup(base.name[7:] + "." + name)
        if isinstance(found, str):
            return torch_name(frame, found) if found.startswith("torch") else External(found)
        return defined(frame, found) or UNKNOWN
    if base.name.startswith("self:") and frame.cls is not None:
        value = frame.facts.attribute(frame.cls, name)
        if isinstance(value, Function) and value.info.is_property:
            return functions.result(frame, value.info)
        return value if value is not None else UNKNOWN
    found = f"{base.name}.{name}"
    if found in frame.facts.rulebook.by_torch:  # `timm.layers.DropPath`
        return torch_name(frame, found)
    return _FLOAT if base.name in ("numpy", "math") and name in ("pi", "e") else External(found)


def _of_tensor(frame: Frame, base: Tensor, name: str) -> Value:
    if name == "device":
        return Static(MISSING, "device")
    rules = frame.facts.rulebook.find("torch.Tensor." + name) if name in PROPERTIES else ()
    if rules and len(rules[0].parameters) == 1:
        found = frame.facts.results.of(rules[0], dims=least_dims(base))
        return Tensor(kind="u") if name in ("data", "T", "mT") and base.kind == "u" and found == Tensor() else found
    if not base.assumed and name in frame.facts.rulebook.tuple_fields and not frame.facts.rulebook.find("torch.Tensor." + name):
        return Tensor()  # `x.max(1).values`, `torch.linalg.qr(x).Q`: what gives a tensor or a tuple by its arguments
    return Method(base, name)


def _of_sequence(frame: Frame, base: Sequence, name: str) -> Value:
    """`x.sort().values`, `torch.linalg.qr(x).Q`: torch's tuples have names for their tensors."""
    named = isinstance(base.element, Tensor) and not hasattr(tuple if base.tuple else list, name)
    return base.element if named else Method(base, name)


def _of_class(frame: Frame, base: Class, name: str) -> Value:
    ref = base.ref
    if not isinstance(ref, ClassInfo):
        return UNKNOWN
    if name == "apply" and ref.is_autograd_function and ref.find("forward") is not None:
        return Method(base, name)
    method = ref.find(name)
    if method is not None:
        return Function(method, ref, base=not method.is_classmethod and not method.is_static)
    for c in ref.ancestors():
        if name in c.assigned:
            return frame.facts.values.get(id(c.assigned[name]), UNKNOWN)
    return UNKNOWN


def _of_static(frame: Frame, base: Static, name: str) -> Value:
    if base.type == "shape":
        return Method(base, name)
    if base == BACKWARD_CONTEXT:
        return _OF_CONTEXT.get(name, UNKNOWN)
    if base.type == "device" and name == "type":
        return frame.facts.results.plain(frame.facts.rulebook.find("torch.device.type")[0])
    if name in ("is_floating_point", "is_complex") and base.type in ("dtype", ""):
        return Static(MISSING, "bool")
    if name in ("shape", "dtype", "device"):
        return Static(MISSING, name)
    if name == "ndim":
        return Static(MISSING, "int")
    if base == NUMPY or base.wide:
        return base if name in _ARRAYS else Method(NUMPY, name)
    return Method(base, name) if base.type in ("str", "range") or base.type == "int" and name == "item" else UNKNOWN


def of_module(frame: Frame, base: Module, name: str) -> Value:
    """An attribute of a module: an array, a submodule, a property or a method, joined over the classes that it may be of."""
    rulebook = frame.facts.rulebook
    if name == "forward" and base.classes and all(isinstance(ref, str) for ref in base.classes):
        return Method(base, name)
    if base.items is not None and name in dict(base.items):
        return dict(base.items)[name]
    array = name in rulebook.array_names
    if base.element is not None and not (base.open and array) and _is_entry(frame, base, name):
        return base.element  # `self.layers.conv` of a ModuleDict
    found: Value | None = None
    for ref in base.refs:
        value = _of_instance(frame, ref, name) if isinstance(ref, ClassInfo) else _of_layer(frame, ref, name, base.whole)
        if value is None or array and value == Static() and found is not None:
            continue
        if isinstance(value, Function) and isinstance(found, Function) and value.info is not found.info:
            return Method(Module(open=True), name)  # of one class or the other
        # nn.Identity has no weight: it is another's
        found = value if array and found == Static() else join(found, value)
    if name == "training":
        return Static(MISSING, "bool")
    if found is not None and not (base.open and array and found == Static()):
        return found
    return Tensor(param=True) if base.open and array else Method(base, name)


def _of_instance(frame: Frame, cls: ClassInfo, name: str) -> Value | None:
    facts = frame.facts
    value = facts.attribute(cls, name)
    if isinstance(value, Function) and value.info.is_property:
        functions.note_call(frame, value.info)
        value = functions.result(frame, value.info)
    if value is None:
        layers = [layer for layer in facts.layers_of(cls) if facts.rulebook.array(layer.name, name)]
        if layers:
            return Tensor(param=True, none=any(name in facts.rulebook.optional(layer.name) for layer in layers))
    return value


def _of_layer(frame: Frame, layer: str, name: str, whole: bool) -> Value | None:
    rulebook = frame.facts.rulebook
    definition = rulebook.layer(layer)
    if definition is None:
        return None
    if rulebook.array(definition.name, name):
        optional = rulebook.optional(definition.name)
        return Tensor(param=True, none=not whole and name == "bias" and name in optional and "weight" not in optional)  # norms seldom go without
    part = rulebook.part(definition.name, name)
    if part is not None:
        return Module(frozenset([part]))
    return None if _has_method(frame, definition, name) else Static()


def _has_method(frame: Frame, definition: Definition, name: str) -> bool:
    """Whether a torch layer, or every module, has a method of this name."""
    return frame.facts.rulebook.method(definition.name, name) is not None or torch_method(name)


def _is_entry(frame: Frame, base: Module, name: str) -> bool:
    """Whether a name can only be that of something in a container: its classes, all of them torch's, have no such method."""
    layers = [frame.facts.rulebook.layer(ref) if isinstance(ref, str) else None for ref in base.classes]
    return all(d is not None and name != "training" and not _has_method(frame, d, name) for d in layers)


def computed(frame: Frame, base: Module, pattern: str) -> Value:
    """`getattr(module, name)` of a name that is not known here: what is set under such names, else any module or array of its own."""
    facts = frame.facts
    found: Value | None = base.element if base.is_bare else None
    for cls in base.refs:
        for c in cls.family() if isinstance(cls, ClassInfo) else ():
            under_names = facts.computed(c, pattern)
            if under_names is not None:
                found = join(found, under_names)
            if found is None:
                for name, value in facts.attribute_values(c).items():
                    if may_be(name, pattern) and (isinstance(value, Module) or isinstance(value, Tensor) and value.param):
                        found = join(found, value)
    return found or UNKNOWN


_BY_BASE: dict[type, Callable[[Frame, Any, str], Value]] = {
    Torch: _of_torch,
    External: _of_external,
    Module: of_module,
    Tensor: _of_tensor,
    Instance: instances.attribute,
    Sequence: _of_sequence,
    Class: _of_class,
    Static: _of_static,
}
