"""Attributes, by what they are asked of."""

import dataclasses
from collections.abc import Callable
from typing import Any

from ...model import program
from ...model.expressions import Attribute
from ...model.libraries import canonical
from ..definite_assignment import sets
from . import class_fields, distributions, functions
from .assignments import local_name
from .attribute_names import PROPERTIES, tells_tensor
from .computed_names import may_be
from .constructors import class_of
from .frame import Env, Frame
from .joins import join
from .lattice import (
    BACKWARD_CONTEXT,
    BOOL,
    FLOAT,
    INT,
    MISSING,
    NUMPY,
    STRING,
    UNKNOWN,
    Class,
    External,
    Function,
    Instance,
    Method,
    Module,
    Object,
    Package,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_param,
    least_dims,
)
from .layer_attributes import is_entry, is_of_wrapper, of_layer, part_of, wraps
from .modules import is_of_modules

_ABOUT = ("shape", "dtype", "device")  # what anything with such an attribute answers alike
_ARRAYS = ("T", "real", "imag", "flat")  # of an array of NumPy's
_OF_CONTEXT: dict[str, Value] = {
    "saved_tensors": Sequence(Tensor(), None, True),
    "saved_variables": Sequence(Tensor(), None, True),
    "needs_input_grad": Sequence(BOOL, None, True),
}


def attribute(frame: Frame, node: Attribute, env: Env) -> Value:
    base, name = frame.expression(node.object, env), node.name
    if name == "requires_grad" and isinstance(base, Tensor):
        return Static(is_differentiable(base), "bool")
    if isinstance(base, Module) and base.is_self and local_name(node) in env:
        return env[local_name(node)]
    of_base = _BY_BASE.get(base.__class__)
    if of_base is not None:
        return of_base(frame, base, name)
    if name in _ABOUT:
        return Static(MISSING, name)
    if base == UNKNOWN and name == "values":
        if "pandas" in frame.facts.project.names[frame.file].imports.values():
            return NUMPY
    if base == UNKNOWN and isinstance(node.object, Attribute) and is_of_modules(frame, node):
        return Method(Module(open=True), name)  # `self.bias.get_bias()`, of one of several
    held = class_fields.named(frame, name) if base == UNKNOWN else None
    return held or Method(base, name)


def torch_name(frame: Frame, name: str) -> Torch:
    """A name of torch's."""
    return Torch(name, frame.facts.rulebook.is_function(name))


def is_differentiable(value: Tensor) -> bool:
    """Whether a tensor may require a gradient: in JAX any that holds no integers."""
    return value.kind not in ("b", "i", "u")


def _of_torch(frame: Frame, base: Torch, name: str) -> Value:
    if (frame.facts.rulebook.constant(base.name) or "")[:1] in ("'", '"'):
        return Method(STRING, name)
    return torch_name(frame, f"{base.name}.{name}")


def _of_package(frame: Frame, base: Package, name: str) -> Value:
    project = frame.facts.project
    found = project.lookup(f"{project.names[base.file].dotted}.{name}")
    if isinstance(found, str):
        return torch_name(frame, found) if found.startswith("torch") else External(found)
    return frame.defined(found) or UNKNOWN


def _of_object(frame: Frame, base: Object, name: str) -> Value:
    """An attribute of self of a class that is no module."""
    value = frame.facts.attribute(base.cls, name)
    if isinstance(value, Function) and frame.facts.project.is_property(value.function):
        return functions.result(frame, value.function)
    return value if value is not None else UNKNOWN


def _of_external(frame: Frame, base: External, name: str) -> Value:
    found = canonical(f"{base.name}.{name}")
    if found.startswith("torch.") or found in frame.facts.rulebook.by_torch:
        return torch_name(frame, found)
    number = base.name in ("numpy", "math") and name in ("pi", "e", "inf", "nan")
    return FLOAT if number else External(found)


def _of_tensor(frame: Frame, base: Tensor, name: str) -> Value:
    if name == "device":
        return Static(MISSING, "device")
    rulebook = frame.facts.rulebook
    rules = rulebook.find("torch.Tensor." + name) if name in PROPERTIES else ()
    if rules and len(rules[0].parameters) == 1:
        found = frame.facts.results.of(rules[0], dims=least_dims(base))
        kind = base.kind if name in ("data", "T", "mT") and base.kind in ("u", "b") else None
        return dataclasses.replace(found, kind=kind) if kind and type(found) is Tensor else found
    named = name in rulebook.tuple_fields and not rulebook.find("torch.Tensor." + name)
    # `x.max(1).values`, `torch.linalg.qr(x).Q`: what gives a tensor or a tuple by its arguments
    return Tensor() if named and not base.assumed else Method(base, name)


def _of_sequence(frame: Frame, base: Sequence, name: str) -> Value:
    """`x.sort().values`, `torch.linalg.qr(x).Q`: torch's tuples have names for their tensors."""
    named = isinstance(base.element, Tensor) and not hasattr(tuple if base.tuple else list, name)
    return base.element if named else Method(base, name)


def _of_class(frame: Frame, base: Class, name: str) -> Value:
    ref, project = base.ref, frame.facts.project
    if not isinstance(ref, program.Class):
        return UNKNOWN
    if name == "apply" and project.is_autograd_function(ref) and project.find(ref, "forward"):
        return Method(base, name)
    if (method := project.find(ref, name)) is not None:
        bound = project.is_classmethod(method) or project.is_static(method)
        return Function(method, ref, base=not bound)
    for c in project.ancestors(ref):
        if name in project.assigned(c):
            if project.is_enum(c):
                return Object(ref)  # the member, which is not what it is made of
            return frame.facts.expression(project.assigned(c)[name])
    if name in ("__name__", "__qualname__"):
        return STRING
    return Class(inner) if (inner := project.inner(ref, name)) is not None else UNKNOWN


def _of_static(frame: Frame, base: Static, name: str) -> Value:
    if base.type == "shape":
        return Method(base, name)
    if base == BACKWARD_CONTEXT:
        return _OF_CONTEXT.get(name, UNKNOWN)
    if base.type == "device" and name == "type":
        return frame.facts.results.plain(frame.facts.rulebook.find("torch.device.type")[0])
    if name in ("is_floating_point", "is_complex") and base.type in ("dtype", ""):
        return BOOL
    if name in _ABOUT:
        return Static(MISSING, name)
    if name == "ndim":
        return INT
    if base == NUMPY or base.wide:
        return base if name in _ARRAYS else Method(NUMPY, name)
    if base == BOOL and tells_tensor(name) and frame.facts.rulebook.find(f"torch.Tensor.{name}"):
        return Method(Tensor(assumed=True, kind="b"), name)  # `(ids != pad).unsqueeze(1)`
    asked = base.type in ("str", "range") or base.type == "int" and name == "item"
    return Method(base, name) if asked else UNKNOWN


# --- of modules ----------------------------------------------------------------------------------


def of_module(frame: Frame, base: Module, name: str) -> Value:
    """An array, a submodule, a property or a method, joined over the classes that it may be of."""
    layers_alone = base.classes and all(isinstance(ref, str) for ref in base.classes)
    if name == "forward" and layers_alone:
        return Method(base, name)
    if base.items is not None and name in dict(base.items):
        return dict(base.items)[name]
    if name == "__class__":
        return class_of(frame, base)
    array = name in frame.facts.layers.array_names
    open_array = base.open and array
    if base.element is not None and not open_array and is_entry(frame, base, name):
        if isinstance(base.element, Module) and wraps(frame, base):
            if is_of_wrapper(frame, base, name):
                return Tensor(param=True)
            return of_module(frame, base.element, name)
        return base.element  # `self.layers.conv` of a ModuleDict
    found: Value | None = None
    for ref in base.refs:
        value = _of_ref(frame, base, ref, name)
        if value is None or array and value == Static() and found is not None:
            continue
        if isinstance(value, Function) and isinstance(found, Function):
            if value.function is not found.function:
                return Method(Module(base.classes, base.open), name)  # of one or the other
        # nn.Identity has no weight: it is another's
        found = value if array and found == Static() else join(found, value)
    if name == "training":
        return BOOL
    if found is not None and not (open_array and found == Static()):
        return found
    return Tensor(param=True) if open_array else Method(base, name)


def _of_ref(frame: Frame, base: Module, ref: Any, name: str) -> Value | None:
    if isinstance(ref, str):
        return of_layer(frame, ref, name, base.whole)
    return _of_instance(frame, ref, name)


def _of_instance(frame: Frame, cls: program.Class, name: str) -> Value | None:
    facts = frame.facts
    value = facts.attribute(cls, name, frame.nested)
    if isinstance(value, Function) and facts.project.is_property(value.function):
        functions.note_call(frame, value.function)
        value = functions.result(frame, value.function)
    above = facts.layers_of(cls)
    if value is None:
        layers = [layer for layer in above if layer.array(name)]
        if layers:
            return Tensor(param=True, none=any(name in layer.optional for layer in layers))
    parts = (part_of(frame, layer, name) for layer in above)
    part = next(filter(None, parts), None)
    if part is None or value is None:
        return value if part is None else part
    replaced = not isinstance(value, Module) or _is_always_set(frame, cls, name)
    return value if replaced else join(part, value)


def _is_always_set(frame: Frame, cls: program.Class, name: str) -> bool:
    """Whether a constructor sets an attribute in any case, in the place of what one above sets."""
    init = frame.facts.project.find(cls, "__init__")
    return init is not None and sets(init.body, name, init.receiver)


def computed(frame: Frame, base: Module, pattern: str) -> Value:
    """`getattr(module, name)` of a name that is not known: what is set under such names, if any."""
    facts = frame.facts
    found: Value | None = base.element if base.is_bare else None
    for cls in base.refs:
        for c in facts.project.family(cls) if isinstance(cls, program.Class) else ():
            under_names = facts.computed(c, pattern)
            if under_names is not None:
                found = join(found, under_names)
            if found is None:
                for name, value in facts.attribute_values(c).items():
                    held = isinstance(value, Module) or is_param(value)
                    if held and may_be(name, pattern):
                        found = join(found, value)
    return found or UNKNOWN


_BY_BASE: dict[type, Callable[[Frame, Any, str], Value]] = {
    Torch: _of_torch,
    External: _of_external,
    Package: _of_package,
    Object: _of_object,
    Module: of_module,
    Tensor: _of_tensor,
    Instance: distributions.attribute,
    Sequence: _of_sequence,
    Class: _of_class,
    Static: _of_static,
}
