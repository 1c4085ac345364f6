"""What shows that a function runs outside of jit: it trains a model, leaves, or keeps count."""

from ...model.classes import MODES
from ...model.expressions import Attribute, Call, Subscript
from ...model.names import dotted, everywhere
from ...model.operators import Binary
from ...model.program import Function
from ...model.project import Project
from ...model.statements import Assign

_TRAINING = frozenset({"backward", "zero_grad"})
_LEAVING = frozenset({"exit", "quit", "sys.exit", "os._exit", "torch.save"})


def is_host_code(project: Project, function: Function) -> bool:
    """Whether a function does itself what no function under jit may."""
    if sets_attributes(project, function):
        return True
    own = project.self_name(function)
    return any(_is_outside_jit(call, own) for call in everywhere(function, Call))


def sets_attributes(project: Project, function: Function) -> bool:
    """Whether a method sets what outlives it on an object that is no module."""
    owner = project.owner(function)
    if function.name == "__init__" or owner is None or project.is_module(owner):
        return False
    own = f"{project.self_name(function)}."
    for node in everywhere(function, Assign):
        for target in node.targets if node.annotation is None else ():
            if isinstance(target, (Attribute, Subscript)):
                holder = target.object if isinstance(target, Subscript) else target
                if (dotted(holder) or "").startswith(own):
                    return True
    return False


def _is_outside_jit(call: Call, self_name: str | None) -> bool:
    """`loss.backward()`, `model.eval()`, `sys.exit(1)`"""
    func = call.function
    if dotted(func) in _LEAVING:
        return True
    if not isinstance(func, Attribute) or func.name not in _TRAINING | MODES.keys():
        return False
    holder = dotted(func.object)
    if func.name in MODES:
        return holder is not None and holder != self_name and len(call.arguments) <= 1
    return holder is not None or isinstance(func.object, Binary)
