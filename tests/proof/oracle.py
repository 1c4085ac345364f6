"""torch's answer to a call: its results, whether it draws them, and its gradients in float64."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from .arrays import is_differentiable, leaves, precision, to_numpy
from .comparison import evenly, weighted
from .samples.calls import Call
from .samples.targets import Target


@dataclass(eq=False)
class Slopes:
    """The gradients at `places` of the flat arguments, of the results that `counts` marks."""

    places: list[int]
    slopes: list[Any]
    counts: list[bool]


@dataclass(eq=False)
class Answer:
    """What torch gives for a call."""

    value: Any
    random: bool
    slopes: Slopes | None


def answer(target: Target, call: Call, random: bool | None = None) -> Answer:
    """Run torch, twice where it is not known whether it draws. Raises what torch raises."""
    with precision(call.wide), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = _run(target, call, 0)
        if random is None:
            random = target.unset or _differ(first, _run(target, call, 1))
        wanted = call.wide and target.differentiable and not random
        return Answer(_detached(first), random, _slopes(target, call) if wanted else None)


def _run(target: Target, call: Call, seed: int) -> Any:
    torch.default_generator.manual_seed(
        seed
    )  # torch.manual_seed takes 2 ms, for devices of all kinds
    copied = call.mapped(lambda t: t.detach().clone() if t.is_contiguous() else t.detach())
    return target.function(*copied.args, **copied.kwargs)


def _detached(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach()
    return [_detached(v) for v in value] if type(value) in (list, tuple) else value


def _differ(first: Any, second: Any) -> bool:
    pairs = zip(leaves(first, torch.Tensor), leaves(second, torch.Tensor))
    return any(
        isinstance(a, torch.Tensor) and not np.array_equal(to_numpy(a), to_numpy(b), equal_nan=True)
        for a, b in pairs
    )


def _slopes(target: Target, call: Call) -> Slopes | None:
    """The gradients by all float arguments, or by the first where torch has none for all; None
    where it has none."""
    flat, spec = call.flat()
    places = [i for i, x in enumerate(flat) if is_differentiable(x)]
    for some in (places, places[:1]):
        try:
            return _slopes_by(target, call, flat, spec, some) if some else None
        except Exception:  # torch has no gradient here: by a target, or of a full QR
            continue
    return None


def _slopes_by(
    target: Target, call: Call, flat: Any, spec: Any, places: list[int]
) -> Slopes | None:
    inputs = [flat[i].detach().clone().requires_grad_() for i in places]
    full = list(flat)
    for i, x in zip(places, inputs):
        full[i] = x.clone()  # a function may write into it
    args, kwargs = pytree.tree_unflatten(full, spec)
    outputs = leaves(target.function(*args, **kwargs), torch.Tensor)
    counts = [isinstance(y, torch.Tensor) and y.requires_grad and y.numel() > 0 for y in outputs]
    if not any(counts):
        return None
    measured = [y for y, counted in zip(outputs, counts) if counted]
    total = (weighted if call.settled is None else evenly)(measured)
    found = torch.autograd.grad(total, inputs, allow_unused=True)
    slopes = [torch.zeros_like(x) if g is None else g for g, x in zip(found, inputs)]
    return Slopes(places, slopes, counts)
