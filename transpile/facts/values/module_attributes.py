"""What is set on a module from outside of its class: `self.body.norm = nn.BatchNorm1d(4)`."""

from ...model import program
from .frame import Frame
from .joins import join
from .lattice import NONE, Module, Tensor

_STANDING_IN = frozenset({"torch.nn.Identity", "torch.nn.Sequential"})  # in the place of a layer


def set_from_outside(frame: Frame, owner: Module, name: str, value: Tensor | Module) -> None:
    """Note what the classes of a module have under a name, beside what they set themselves."""
    if isinstance(value, Module):
        _replace(frame, owner, name, value)
    if not owner.open:
        _fill(frame, owner, name, value)


def _fill(frame: Frame, owner: Module, name: str, value: Tensor | Module) -> None:
    """`self.attn.mask = mask`, of what a constructor, or the class, sets to None, and
    `self.body.norm = nn.BatchNorm1d(4)`, of what it sets to another layer."""
    for ref in owner.refs:
        if isinstance(ref, program.Class):
            before = frame.facts.attribute(ref, name)
            if before == NONE or isinstance(before, (Tensor, Module)) and before.none:
                frame.facts.set_attribute(ref, name, join(NONE, value))
            elif isinstance(before, Module) and isinstance(value, Module):
                if _is_another(value, before):
                    frame.facts.note(value, "replaced", ref, name)


def _is_another(value: Module, before: Module) -> bool:
    """Whether what is put in the place of a layer may do what that does not."""
    return value.open or not value.classes <= before.classes | _STANDING_IN


def _replace(frame: Frame, owner: Module, name: str, value: Module) -> None:
    """`model.fc = nn.Identity()` from outside: where it is known which class the model is of."""
    ref = next(iter(owner.refs), None)
    layers = all(isinstance(c, str) for c in value.classes)
    if not (value.classes & _STANDING_IN and layers) or owner.open or len(owner.refs) != 1:
        return
    if isinstance(ref, program.Class) and isinstance(frame.facts.attribute(ref, name), Module):
        frame.facts.note(value, "replaced", ref, name)
