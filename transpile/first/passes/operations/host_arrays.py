"""Functions of NumPy and other libraries that get what is traced, and compute with its numbers: `np.unique(x.cpu().numpy())`."""

from __future__ import annotations

import libcst as cst

from ...values import Tensor, Value, is_traced
from .walk import Walk

_TRACED = frozenset({"builtins", "copy", "einops", "functools", "itertools", "math", "collections", "typing"})  # what such libraries hand on, or compute with as it is

_HOST = frozenset({"cv2", "numpy", "pandas", "scipy", "skimage", "sklearn"})  # which take any array for NumPy's


def told(walk: Walk, node: cst.Call, name: str) -> None:
    """Report a call that needs the numbers of an array in a forward pass, which under jit has none."""
    library = name.partition(".")[0]
    if "." not in name or ":" in name or library in _TRACED or name.startswith("numpy.random.") or not walk.context.facts.in_forward(walk.info):
        return
    values = [walk.context.value(argument.value) for argument in node.args]
    if any(_needs(value, library in _HOST) for value in values):
        walk.context.report("unsupported", node, f"{name} computes with the numbers of an array, which it has not under jax.jit: call it outside, or write it with jax.numpy")


def _needs(value: Value, host: bool) -> bool:
    """Whether a value is traced, and is certain to be taken for NumPy's array: `x.numpy()`, of whatever library."""
    return is_traced(value) and (host or isinstance(value, Tensor) and value.host)
