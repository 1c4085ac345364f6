"""Other libraries: what is built on torch, and what computes with the numbers of an array.

Both are reported and left as they stand: `torchvision.ops.nms(boxes, scores, 0.5)` takes torch's
tensors, and `linear_sum_assignment(cost)` has no numbers under jax.jit.
"""

import re

from ...facts.values.class_values import named_classes
from ...facts.values.lattice import External, Tensor, Value, is_traced
from ...model.expressions import Call, FormattedString
from ...model.libraries import computes_with_torch, is_built_on_torch
from ...model.names import dotted
from ...model.node import Expression, Node
from .conversion import Conversion
from .literals import known, literal

_BUILT = "is built on torch, and has no JAX equivalent here"
_HOST = frozenset({"cv2", "numpy", "pandas", "scipy", "skimage", "sklearn"})
# What such libraries hand on, or compute with as it is.
_AS_IT_IS = frozenset(
    {"builtins", "collections", "copy", "einops", "functools", "itertools", "math", "typing"}
)


def built_on_torch(c: Conversion, node: Expression) -> bool:
    """Tell of a name of such a library, once in a scope; whether it is one."""
    value = known(node)
    if not isinstance(value, External) or not is_built_on_torch(value.name):
        return False
    if (dotted(node) or "").partition(".")[0] not in c.imported:
        return False
    if value.name not in c.told and computes_with_torch(value.name):
        c.told.add(value.name)
        c.changes.report("no-rule", node, f"{value.name} {_BUILT}")
    return True


def given_layers(c: Conversion, node: Call, name: str) -> bool:
    """Refuse what such a library would build from layers, `Block(8, norm_layer=nn.LayerNorm)`: the
    layers are none of torch's any more. What is told of a class on import is left.
    """
    told = c.facts.stage(c.scope) in ("building", "traced") and computes_with_torch(name)
    if not told or not any(named_classes(known(a)) for a in node.arguments):
        return False
    c.unconverted("no-rule", node, f"{name} {_BUILT}")
    return True


def of_text(c: Conversion, node: Call, name: str) -> bool:
    """Refuse text that Python is to run, `eval("nn.ReLU()")`, where it says what the file has of
    torch: no pass reads it.
    """
    if name not in ("builtins.eval", "builtins.exec") or not node.arguments:
        return False
    imports = c.facts.project.names[c.scope.file].imports  # type: ignore[index]
    said = " ".join(text for part in node.arguments[0].walk() for text in _texts(part))
    words = re.findall(r"[^\W\d]\w*", said)
    heads = {imports[word].partition(".")[0] for word in words if word in imports}
    if "torch" not in heads:
        return False
    c.unconverted("unsupported", node, "torch in a text that Python runs is not read: write it out")
    return True


def of_bases(c: Conversion, node: Call, name: str) -> bool:
    """Refuse a class that a call makes of modules, `type("Net", (nn.Tanh,), {"forward": f})`."""
    if name != "builtins.type" or len(node.arguments) != 3:
        return False
    bases = [part.value for part in node.arguments[1].walk() if isinstance(part, Expression)]
    if not any(value is not None and named_classes(value) for value in bases):
        return False
    c.unconverted("unsupported", node, "a class of modules that a call makes: write `class` out")
    return True


def _texts(node: Node) -> list[str]:
    if isinstance(node, FormattedString):
        return node.literals
    text = literal(node)
    return [text] if isinstance(text, str) else []


def host(c: Conversion, node: Call, name: str) -> None:
    """Tell of a call that needs the numbers of an array in a forward pass."""
    library = name.partition(".")[0]
    if not c.traced or "." not in name or library in _AS_IT_IS or name.startswith("numpy.random."):
        return
    if any(_needs(known(argument), library in _HOST) for argument in node.arguments):
        message = f"{name} computes with the numbers of an array, which it has not under jax.jit: "
        c.changes.report(
            "unsupported", node, message + "call it outside, or write it with jax.numpy"
        )


def _needs(value: Value, host: bool) -> bool:
    """Whether a value is traced, and is certain to be taken for NumPy's array: `x.numpy()`, of
    whatever library."""
    return is_traced(value) and (host or isinstance(value, Tensor) and value.host)
