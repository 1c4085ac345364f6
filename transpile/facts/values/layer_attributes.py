"""What torch's layers have under a name: arrays, the layers that they are built of, methods."""

from ...model.layers import Layer
from .attribute_names import torch_method
from .frame import Frame
from .lattice import Module, Static, Tensor, Value


def of_layer(frame: Frame, layer: str, name: str, whole: bool) -> Value | None:
    facts = frame.facts
    known = facts.layers.of(layer)
    if known is None:
        return None
    if known.array(name):
        optional = known.optional  # norms seldom go without
        absent = name == "bias" and name in optional and "weight" not in optional
        return Tensor(param=True, none=not whole and absent)
    if (part := part_of(frame, known, name)) is not None:
        return part
    return None if _has_method(frame, known.name, name) else Static()


def part_of(frame: Frame, layer: Layer, name: str) -> Module | None:
    """What a layer of torch's holds under a name: `linear1` of a TransformerEncoderLayer."""
    part = frame.facts.rulebook.definitions.get(layer.parts.get(name) or "")
    return Module(frozenset([part.torch_names[0]])) if part and part.torch_names else None


def _has_method(frame: Frame, layer: str, name: str) -> bool:
    """Whether a torch layer, or every module, has a method of this name."""
    return frame.facts.rulebook.method(layer, name) is not None or torch_method(name)


def is_entry(frame: Frame, base: Module, name: str) -> bool:
    """Whether a name can only be that of something in a container: none of its classes has it."""
    layer = frame.facts.rulebook.layer
    layers = [layer(ref) if isinstance(ref, str) else None for ref in base.classes]
    if name == "training":
        return not layers
    known = [frame.facts.layers.of(ref) for ref in base.classes if isinstance(ref, str)]
    if any(one is not None and not one.wraps and one.array(name) for one in known):
        return False  # `m.bias` of what is an nn.Sequential or an nn.Linear
    return all(d is not None and not _has_method(frame, d.name, name) for d in layers)


def wraps(frame: Frame, base: Module) -> bool:
    """Whether a layer has what the one has that it is given: `weight_norm(layer)`."""
    book = frame.facts.rulebook
    return any(book.wraps(one) for ref in base.classes if (one := book.layer(ref)) is not None)


def is_of_wrapper(frame: Frame, base: Module, name: str) -> bool:
    """Whether a layer around another one has an array of its own: `weight_norm(layer).weight_g`."""
    layers = [frame.facts.layers.of(ref) for ref in base.classes if isinstance(ref, str)]
    return any(one is not None and one.array(name) and name != one.wraps for one in layers)
