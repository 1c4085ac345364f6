"""Where torch computes without gradient: `with torch.no_grad()`, decorators, and their flags."""

from typing import NamedTuple

from ...model.effects import Apply
from ...model.expressions import Call, Constant
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.program import Function
from ...model.project import Project
from ...model.statements import With
from ..values.lattice import External, Torch

OFF = ("no_grad", "inference_mode")
SWITCHES = (*OFF, "enable_grad", "set_grad_enabled")


class Switch(NamedTuple):
    """What turns gradients on or off. `flag`: the condition under which they are on, where only the
    run tells.
    """

    off: bool  # on every run, or where the flag is false
    flag: Expression | None = None


def torch_name(project: Project, node: Node) -> str | None:
    """The name of torch's that an expression is, or that it calls."""
    made = node.function if isinstance(node, (Call, Apply)) else node
    value = getattr(made, "value", None)
    if isinstance(value, (Torch, External)):
        return value.name if value.name.startswith("torch.") else None
    name = dotted(made)
    found = project.resolve(made.file, name) if name is not None and made.file is not None else None
    return found if isinstance(found, str) and found.startswith("torch.") else None


def switch(project: Project, node: Node) -> Switch | None:
    """What a decorator, or the item of a `with`, does to gradients; None where that is nothing."""
    path, _, name = (torch_name(project, node) or "").rpartition(".")
    if name not in SWITCHES or not path.startswith("torch"):
        return None
    flag = node.arguments[0] if isinstance(node, Call) and node.arguments else None
    told = flag.constant if isinstance(flag, Constant) else None
    if name == "enable_grad":
        return Switch(False)
    if name in OFF:
        return Switch(told is not False)
    if flag is None or told is True:
        return Switch(False)
    return Switch(True, None if told is False else flag)


def of_with(project: Project, node: With) -> Switch | None:
    """What a block does to gradients: the first of its items that turns them off."""
    found = [s for item, _ in node.pairs if (s := switch(project, item)) is not None]
    return next((s for s in found if s.off), found[0] if found else None)


def of_function(project: Project, function: Function) -> Switch | None:
    """What the decorators of a function do to gradients."""
    found = [s for d in function.decorators if (s := switch(project, d)) is not None]
    return next((s for s in found if s.off), found[0] if found else None)


def block_around(project: Project, node: Node) -> With | Function | None:
    """The outermost block without gradient around a node, in its function; the function itself
    where all of it is one.
    """
    found: With | Function | None = None
    inside = node
    for around in node.ancestors():
        if isinstance(around, With) and inside is around.body:
            of_block = of_with(project, around)
            found = around if of_block is not None and of_block.off else found
        elif isinstance(around, Function):
            whole = of_function(project, around) if inside is around.body else None
            return around if whole is not None and whole.off else found
        inside = around
    return found
