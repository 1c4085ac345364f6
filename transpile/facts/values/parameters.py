"""What the parameters of a function are when its body begins."""

from __future__ import annotations

from ...model.program import Parameter
from .annotations import annotated
from .class_values import functions_of, is_open, makers_of, named_classes
from .constructor_arguments import gives_values, is_cast_and_called, is_taken_once, stood_for
from .containers_by_use import gone_over_for_dicts, used_as_dicts, used_as_lists
from .counts_by_use import used_as_counts
from .default_kinds import of_kind
from .dims_by_use import by_use
from .frame import Env, Frame
from .given_modules import assume, given_none, of_declared, of_list, of_modules
from .joins import is_beyond, join, one_of
from .lattice import (
    BACKWARD_CONTEXT,
    FUNCTION,
    INITIALISER,
    MISSING,
    NONE,
    NUMPY,
    PLACED,
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Module,
    Object,
    OneOf,
    Open,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_anything,
    least_dims,
)
from .numpy_names import given_arrays, is_bound_to_numpy
from .parameter_usage import is_sliced, may_be_number, may_be_numpy, used_as_tensors


def bound(frame: Frame) -> Env:
    """The names of a function when its body begins."""
    facts, function = frame.facts, frame.function
    assert function is not None
    signature = facts.project.signature(function)
    env: Env = {}
    if signature.self_name is not None:
        env[signature.self_name] = _self(frame)
    known = facts.parameters(function)
    for parameter in signature.parameters:
        env[parameter.name] = _bound(frame, parameter, known.get(parameter.name))
    by_use(facts, function, env)
    context = _context(frame)
    if context is not None:
        env[context] = BACKWARD_CONTEXT
    if signature.star is not None:
        unknown = _constructs(frame) or frame.foreign
        unseen: Value = UNKNOWN if unknown else Tensor(assumed=True)
        env[signature.star] = Sequence(known.get("*") or unseen, None, True)
    if signature.stars is not None:
        env[signature.stars] = Mapping(placed=any(f"**{word}" in known for word in PLACED))
    return env


def _bound(frame: Frame, parameter: Parameter, seen: Value | None) -> Value:
    facts, function, name = frame.facts, frame.function, parameter.name
    assert function is not None
    given = given_arrays(frame, parameter, seen)
    sliced = (given == UNKNOWN or isinstance(given, Module)) and is_sliced(function, name)
    given = UNKNOWN if sliced else given  # no module has `x[:, 0]`
    as_tensor = sliced and facts.in_forward(function) or name in used_as_tensors(facts, function)
    if as_tensor and isinstance(given, Static) and may_be_number(facts, function, name):
        as_tensor = False
    if as_tensor and (given == NUMPY or is_bound_to_numpy(frame, parameter, UNKNOWN)):
        as_tensor = not may_be_numpy(facts, function, name)
    value = _parameter(frame, parameter, given, as_tensor)
    # no tensor has keys, whatever calls of a function of this name give
    of_calls = isinstance(value, Tensor) and parameter.annotation is None
    if (is_anything(value) or of_calls) and name in used_as_dicts(facts, function):
        value = Mapping(UNKNOWN if _only_builds(frame) else Tensor(assumed=True))
    elif (is_anything(value) or of_calls) and name in gone_over_for_dicts(facts, function):
        value = UNKNOWN
    elif is_anything(value) and not as_tensor and name in used_as_lists(facts, function):
        value = Sequence(Tensor(assumed=True))
    elif is_anything(value) and _constructs(frame) and name in used_as_counts(facts, function):
        value = Static(MISSING, "int", loose=True)
    return NUMPY if not _constructs(frame) and is_bound_to_numpy(frame, parameter, value) else value


def _context(frame: Frame) -> str | None:
    """The name of the ctx that forward and backward of a torch.autograd.Function take."""
    function, project = frame.function, frame.facts.project
    assert function is not None
    owner = project.owner(function)
    if owner is None or not (project.is_static(function) or project.is_classmethod(function)):
        return None
    if function.name not in ("forward", "backward", "setup_context"):
        return None
    parameters = project.parameters(function)
    return parameters[0].name if parameters and project.is_autograd_function(owner) else None


def _self(frame: Frame) -> Value:
    function, project = frame.function, frame.facts.project
    assert function is not None
    owner = project.owner(function)
    if project.is_classmethod(function):
        return Class(owner)
    if owner is None:
        return UNKNOWN
    if not project.is_module(owner):
        return Object(owner)
    return Module(frozenset([owner]), element=frame.facts.contents(owner), is_self=True)


def _constructs(frame: Frame) -> bool:
    assert frame.function is not None
    return frame.function.name in ("__init__", "__new__")


def _only_builds(frame: Frame) -> bool:
    """Whether it is a constructor, or runs in one alone: a dict it takes is of hyperparameters."""
    assert frame.function is not None
    building = frame.facts.read("constructing", frame.function)
    return _constructs(frame) or bool(building) and not frame.facts.in_forward(frame.function)


def _parameter(frame: Frame, parameter: Parameter, seen: Value | None, as_tensor: bool) -> Value:
    node = parameter.default
    default = frame.expression(node, {}) if node is not None else None
    annotation = parameter.annotation
    declared = annotated(frame, annotation) if annotation is not None else None
    if declared is not None and not _is_meant_as_class(frame, declared, default, seen):
        if isinstance(declared, Module) and declared.open and _constructs(frame):
            declared = of_declared(frame, parameter, declared, seen)
        elif declared == Sequence(Module(open=True)) and _constructs(frame):
            listed = _of_constructor(frame, parameter, seen)  # `experts: List[nn.Module]`
            declared = listed if isinstance(listed, Sequence) else declared
        return join(declared, NONE) if default == NONE else declared
    if default is not None and default != NONE:
        return _with_default(frame, parameter, default, seen, as_tensor)
    if _constructs(frame):
        if seen is None and is_cast_and_called(frame, parameter.name):
            return Module(open=True)
        if seen in (None, NONE, UNKNOWN) and gives_values(frame.function, parameter.name):
            return INITIALISER
        found = _of_constructor(frame, parameter, seen)
        given = stood_for(frame.function, parameter.name) if default == NONE else None
        instead = frame.expression(given, {}) if given is not None and found == UNKNOWN else None
        made = of_kind(frame, instead) if isinstance(instead, (Class, Torch)) else None
        if found == UNKNOWN and made is None and seen in (None, NONE) and default == NONE:
            return given_none(frame, parameter)
        return _of_classes(frame, parameter, made, seen) if isinstance(made, Class) else found
    stranger = frame.file in frame.facts.strangers and not isinstance(seen, Tensor)
    value = _as_given(seen, UNKNOWN) if stranger else _of_function(seen, as_tensor)
    return join(value, NONE) if default == NONE else value


def _is_meant_as_class(
    frame: Frame, declared: Value, default: Value | None, seen: Value | None
) -> bool:
    """Whether it says module where classes are given: `act_layer: nn.Module = nn.ReLU`."""
    given = seen if default is None or default == NONE else default
    if not isinstance(declared, Module) or given is None:
        return False
    return isinstance(given, Class) or frame.facts.makes_modules(given)


def _with_default(
    frame: Frame, parameter: Parameter, default: Value, seen: Value | None, as_tensor: bool
) -> Value:
    """A parameter is of the kind of its default, whatever else of the kind calls give it."""
    if isinstance(default, Static):
        alike = seen is None or isinstance(seen, Static)
        value: Value = Static(MISSING, default.type, loose=True) if alike else Static()
    else:
        value = of_kind(frame, default)
    if value == FUNCTION:
        return FUNCTION if _is_plain(frame, seen) else UNKNOWN
    if isinstance(value, Class):
        whole = seen is None or seen == default
        known = default if whole and not is_open(default) else value
        return _of_classes(frame, parameter, known, seen)
    if isinstance(default, Module) and default.classes and _constructs(frame):
        given = default if seen in (None, NONE) else join(default, seen or default)
        if isinstance(given, Module) and (given.checked or not given.open):
            return of_modules(frame, parameter, given)
    if isinstance(default, Function) and not _constructs(frame):
        return _of_functions(frame, default, seen)
    if isinstance(default, (Torch, Class, Module, Function)):
        return value
    if seen is not None and not isinstance(seen, Static):
        value = join(value, seen)
    if isinstance(value, Static) and as_tensor and not _constructs(frame):
        if frame.file not in frame.facts.strangers:
            return Tensor()
    return value


def _of_functions(frame: Frame, default: Function, seen: Value | None) -> Value:
    """The functions that a function takes, where the project gives no others: its default, and
    what calls give. `def kmeans(samples, sample_fn=batched)`"""
    if frame.file in frame.facts.strangers:
        return UNKNOWN
    found = default if seen in (None, NONE) else join(default, seen or default)
    return found if functions_of(found) else UNKNOWN


def _of_classes(frame: Frame, parameter: Parameter, default: Value, seen: Value | None) -> Value:
    """The classes of modules that a constructor takes: its default, and what the project gives. Of
    `act_layer=nn.GELU` of an Mlp that blocks give one that is all. Where the project gives none it
    is there for others, and so it may be where not all is known: dialects have it checked."""
    beyond = is_beyond(seen) or not all(_makes_module(frame, m) for m in makers_of(seen))
    known = bool(makers_of(seen)) and not beyond or seen is not None and bool(named_classes(seen))
    found = join(default, seen) if known and seen is not None else default
    made = OneOf(named_classes(found), frozenset(makers_of(found)))
    if not _constructs(frame) or beyond:
        return Class(Open(one_of(made.classes, made.makers), beyond))
    if is_open(found):
        found = Class(made)
    calls = frame.facts.read("parameters", frame.function)
    if seen in (None, NONE) or is_open(seen) or "**" in calls:
        assume(frame, parameter, found)
    return found


def _makes_module(frame: Frame, maker: Function) -> bool:
    """Whether a function is known to make a module, which may stand in the place of a class."""
    return isinstance(frame.facts.result(maker.function), Module)


def _is_plain(frame: Frame, seen: Value | None) -> bool:
    """Whether what calls give is a plain function, or nothing."""
    if seen is None or seen == FUNCTION or isinstance(seen, Function):
        return True
    return isinstance(seen, Torch) and of_kind(frame, seen) == FUNCTION


def _of_constructor(frame: Frame, parameter: Parameter, seen: Value | None) -> Value:
    """What a constructor takes is a hyperparameter: another call may give another value."""
    if isinstance(seen, (Class, Torch)):
        made = seen if is_open(seen) else of_kind(frame, seen)
        if isinstance(made, Class):
            return _of_classes(frame, parameter, seen, seen)
        return made if made == INITIALISER else UNKNOWN
    if isinstance(seen, Static):
        return Static(MISSING, seen.type, loose=True)
    if isinstance(seen, Module) and seen.classes:
        return of_modules(frame, parameter, seen)
    listed = seen.element if isinstance(seen, Sequence) else None
    if isinstance(listed, Module) and listed.classes:
        if is_taken_once(frame.function, parameter.name):
            return of_list(frame, parameter, listed)
    return UNKNOWN


def _of_function(seen: Value | None, as_tensor: bool) -> Value:
    """What other functions take is taken for a tensor where nothing says otherwise: `net.norm(x)`
    is of a layer where calls give a module."""
    if as_tensor and not (isinstance(seen, Module) and seen.classes):
        number = isinstance(seen, Static) and seen.type != "None"
        overruled = seen is None or seen == UNKNOWN or number
        host = isinstance(seen, Tensor) and seen.host
        plain = Tensor(host=host, dims=least_dims(seen or UNKNOWN))
        seen = Tensor() if overruled or seen is None else join(seen, plain)
    return _as_given(seen, Tensor(assumed=True))


def _as_given(seen: Value | None, unseen: Value) -> Value:
    """What calls give, a number as one of its type; `unseen` where they give nothing."""
    if seen is None or seen == NONE:
        return unseen
    return Static(MISSING, seen.type, loose=True) if isinstance(seen, Static) else seen
