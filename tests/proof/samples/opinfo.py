"""torch's own samples of its operations. They come from a module of torch's tests that takes
seconds to import."""

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from ..arrays import precision
from .calls import Call
from .torch_samples import sample_inputs

LIMIT = 400  # samples that are asked for of one operation and dtype
NARROW = (
    torch.float32,
    torch.int64,
    torch.bool,
    torch.bfloat16,
    torch.float16,
    torch.complex64,
    torch.uint8,
)
# operations that OpInfo calls with their arguments in another order
ORDERS = {
    "einsum": (1, 0),
    "where": (1, 0, 2),
    "polygamma": (1, 0),
    "special.polygamma": (1, 0),
    "nn.functional.embedding": (1, 0),
}


def operations(*names: str) -> list[Any]:
    """The entries of the first of these operations that torch has some for, also under its other
    names.

    Importing them takes seconds.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    for name in names:
        found = [op for op in op_db if name in (op.name, *(alias.name for alias in op.aliases))]
        if found:
            return found
    return []


def calls(entries: list[Any], narrow: int = 4) -> Iterator[Call]:
    """Samples with gradients, as OpInfo gives them in float64, then up to `narrow` for each other
    dtype."""
    for op in entries:
        supported = op.supported_dtypes("cpu")
        for dtype in (torch.float64, torch.complex128):
            if dtype in supported:
                yield from itertools.islice(
                    _samples(op, dtype, True), None if dtype.is_floating_point else narrow
                )
        for dtype in NARROW:
            if dtype in supported:
                yield from itertools.islice(_samples(op, dtype, False), narrow)


def _samples(op: Any, dtype: Any, wide: bool) -> Iterator[Call]:
    torch.manual_seed(0)
    with precision(wide):
        found = list(itertools.islice(sample_inputs(op, dtype), LIMIT))
    for sample in found:
        args = (sample.input, *sample.args)
        order = ORDERS.get(op.name, ())
        args = (*(args[i] for i in order), *args[len(order) :]) if len(args) >= len(order) else args
        # some samples share memory with later ones, which are then filled with NaN
        call = Call(args, dict(sample.kwargs), "OpInfo", wide, _settled(sample))
        yield call.mapped(lambda t: t.detach().clone())


def _settled(sample: Any) -> Any:
    function = sample.output_process_fn_grad
    return None if function.__qualname__.startswith("SampleInput.__init__") else function
