"""What calls of torch's functions and layers return, as the facts have it, holds of what torch returns for its own
samples: one program with a line for each sample."""

import warnings

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

from transpile.facts.values.lattice import UNKNOWN, Sequence, Static, Tensor
from transpile.model import rule_files
from transpile.model.statements import Assign

from ..proof.samples.torch_samples import sample_inputs
from .programs import Program

BOOK = rule_files.load()
SHORTENED = {"linalg.lstsq"}  # the samples' operation leaves out what a driver does not compute
SAMPLES = 4  # of each


def kind(value):
    """The nesting of a result of torch's."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    return tuple(map(kind, value)) if isinstance(value, (tuple, list)) else "static"


def covers(value, found):
    """Whether what is told of a result holds of one; of what is not known nothing is told."""
    if value == UNKNOWN:
        return True
    if isinstance(found, tuple):
        if isinstance(value, Static):
            return value.type == "shape"
        if not isinstance(value, Sequence):
            return False
        items = value.items if value.items is not None else [value.element] * len(found)
        return len(items) == len(found) and all(map(covers, items, found))
    return isinstance(value, Tensor if found == "tensor" else (Static, Tensor))


class Unspoken(Exception):
    """An argument that has no spelling."""


def spelled(value):
    if isinstance(value, torch.Tensor):
        return f"torch.zeros({tuple(value.shape)})"
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list, torch.Size):
        inside = "".join(f"{spelled(v)}, " for v in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if (
        value is None
        or isinstance(value, (bool, int, float, str, torch.dtype))
        and repr(value).strip("-") not in ("inf", "nan")
    ):
        return repr(value)
    raise Unspoken(value)


def arguments(args, kwargs):
    return ", ".join([*map(spelled, args), *(f"{k}={spelled(v)}" for k, v in kwargs.items())])


def of_operations():
    for op in op_db:
        if op.name in SHORTENED or not BOOK.find(f"torch.{op.name}"):
            continue
        types = sorted(op.supported_dtypes("cpu"), key=lambda d: (d != torch.float32, str(d)))
        for _, sample in zip(range(SAMPLES), sample_inputs(op, types[0]) if types else ()):
            args = [sample.input, *sample.args]
            try:
                yield f"torch.{op.name}({arguments(args, sample.kwargs)})", kind(op(*args, **sample.kwargs))
            except Unspoken:
                continue


def of_layers():
    for info in module_db:
        if not BOOK.find(f"torch.{info.name}") or "Fractional" in info.name:
            continue
        made = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=False)
        for sample in made:
            first, then = sample.constructor_input, sample.forward_input
            try:
                text = f"torch.{info.name}({arguments(first.args, first.kwargs)})({arguments(then.args, then.kwargs)})"
                yield text, kind(info.module_cls(*first.args, **first.kwargs).eval()(*then.args, **then.kwargs))
            except Unspoken:
                continue


@pytest.mark.parametrize("lines", [of_operations, of_layers])
def test_results(lines):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = list(dict(lines()).items())
    program = Program("".join(f"r{i} = {text}\n" for i, (text, _) in enumerate(cases)))
    assigned = [s for s in program.file.body.body if isinstance(s, Assign)]
    told = [program.values.of(s.expression) for s in assigned]
    assert len(told) == len(cases) and sum(value != UNKNOWN for value in told) > 0.9 * len(told)
    wrong = [(text, value, found) for (text, found), value in zip(cases, told) if not covers(value, found)]
    assert not wrong, f"{len(wrong)} of {len(cases)}: {wrong[:5]}"
