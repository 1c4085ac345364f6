"""torch's own OpInfo samples, each written as a function, and these functions converted."""

import sys
import types
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tests.proof.arrays import leaves, to_numpy
from tests.proof.samples.torch_samples import sample_inputs
from transpile import convert_source

from .rules import RANDOM

# what has no name to call: operators, the index, properties; and what OpInfo calls with its arguments in another order
SPELLINGS = {
    "__radd__": "{1} + {0}",
    "__rdiv__": "{1} / {0}",
    "__rmod__": "{1} % {0}",
    "__rmul__": "{1} * {0}",
    "__rmatmul__": "{1} @ {0}",
    "__rpow__": "({1}) ** {0}",
    "__rsub__": "{1} - {0}",
    "__rand__": "{1} & {0}",
    "__ror__": "{1} | {0}",
    "__rxor__": "{1} ^ {0}",
    "__getitem__": "{0}[{1}]",
    "T": "{0}.T",
    "H": "{0}.H",
    "mT": "{0}.mT",
    "mH": "{0}.mH",
    "einsum": "torch.einsum({1}, {0})",
    "where": "torch.where({1}, {0}, {2})",
    "polygamma": "torch.polygamma({1}, {0})",
    "special.polygamma": "torch.special.polygamma({1}, {0})",
    "nn.functional.embedding": "torch.nn.functional.embedding({1}, {0}{words})",
}


@dataclass
class Case:
    """One sample: its function as source, torch's inputs, and what torch returns."""

    source: str
    tensors: list[torch.Tensor]  # those require a gradient that OpInfo differentiates by
    function: Any
    want: Any
    random: bool  # only shapes and dtypes are compared
    settled: Any  # torch's own function that leaves out what is not determined: the signs of eigenvectors

    @property
    def call(self) -> str:
        return " ".join(self.source.split("return ")[1].split())


def literal(value, tensors):
    """Source text for one argument, whose tensors become parameters; None where it cannot be written."""
    if isinstance(value, torch.Tensor):
        tensors.append(value.detach().clone().requires_grad_(value.requires_grad))  # some samples share memory with later ones, which are then filled with NaN
        return f"t{len(tensors) - 1}"
    if isinstance(value, (list, tuple)):
        items = [literal(v, tensors) for v in value]
        if None in items:
            return None
        body = ", ".join(items)
        return f"[{body}]" if isinstance(value, list) else f"({body},)" if items else "()"
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, (bool, int, str, float, complex)):
        return repr(value)
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return str(value)
    return None


def index(value, tensors):
    """Source text for what stands in brackets; None where it cannot be written."""
    if isinstance(value, tuple) and value:
        items = [index(v, tensors) for v in value]
        return None if None in items else ", ".join(items) + "," * (len(items) == 1)
    if isinstance(value, slice):
        bounds = ["" if b is None else literal(b, tensors) for b in (value.start, value.stop, value.step)]
        return None if None in bounds else ":".join(bounds[: 3 if bounds[2] else 2])
    return "..." if value is Ellipsis else literal(value, tensors)


def callee(op):
    """'torch.sum' or, for what is only a method, '.new_zeros'; None where torch has neither."""
    if op.name in SPELLINGS:
        return SPELLINGS[op.name]
    target = torch
    for part in op.name.split("."):
        target = getattr(target, part, None)
    if callable(target):
        return f"torch.{op.name}"
    return f".{op.name}" if callable(getattr(torch.Tensor, op.name, None)) else None


def cases_of(op, dtype, limit):
    """The samples that can be written as source and that torch accepts in this form."""
    prefix = callee(op)
    torch.manual_seed(0)
    differentiated = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    for number, sample in enumerate(sample_inputs(op, dtype, differentiated)):
        if limit and number >= limit:
            return
        tensors = []
        write = index if op.name == "__getitem__" else literal
        args = [literal(sample.input, tensors), *(write(a, tensors) for a in sample.args)]
        kwargs = {k: literal(v, tensors) for k, v in sample.kwargs.items()}
        if None in args or None in kwargs.values():
            continue
        words = [f"{k}={v}" for k, v in kwargs.items()]
        arguments = args + words
        if op.name in SPELLINGS:
            expression = prefix.format(*arguments, words="".join(f", {w}" for w in words))
        elif prefix.startswith("."):
            expression = f"{arguments[0]}{prefix}({', '.join(arguments[1:])})"
        else:
            expression = f"{prefix}({', '.join(arguments)})"
        parameters = ", ".join(f"t{i}" for i in range(len(tensors)))
        source = f"({parameters}):\n    return {expression}\n"
        namespace = {"torch": torch}
        exec(f"def case{source}", namespace)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want, again = (namespace["case"](*[t.detach().clone() for t in tensors]) for _ in range(2))
            random = op.name in RANDOM or differ(want, again)
        except Exception:  # torch refuses it in this form, or NumPy has no such dtype
            continue
        yield Case(source, tensors, namespace["case"], want, random, sample.output_process_fn_grad)


def converted(cases):
    """The cases as JAX functions."""
    source = "import torch\n" + "".join(f"\n\ndef case{i}{case.source}" for i, case in enumerate(cases))
    result = convert_source(source)
    support = types.ModuleType("jax_nn")
    sys.modules["jax_nn"] = support
    exec(compile(result.support, "jax_nn.py", "exec"), vars(support))
    namespace = {}
    exec(compile(result.code, "cases.py", "exec"), namespace)
    return [namespace[f"case{i}"] for i in range(len(cases))]


def differ(first, second):
    """Whether torch itself gives two results for the same input: it draws."""
    pairs = zip(leaves(first, torch.Tensor), leaves(second, torch.Tensor))
    return any(isinstance(a, torch.Tensor) and not np.array_equal(to_numpy(a), to_numpy(b), equal_nan=True) for a, b in pairs)
