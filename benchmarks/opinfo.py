"""Convert torch's own OpInfo samples, each written as a function, and compare what the results compute.

    python -m benchmarks.opinfo [--only REGEX] [--samples N] [--dtype float64] [--json FILE]

Each sample of an operation becomes `def case0(t0, t1): return torch.add(t0, t1, alpha=2)`; an operation's cases are
converted as one file, and run eagerly. In float64 and complex128 the gradients of sum(log(1 + y²)) are compared too, where
torch has them. An operation is right only if every sample is. Last lines: how many operations are right, refused (by a
diagnostic), in error (JAX raises), wrong (another value or dtype kind); and how many entries of OpInfo's, in which an operation
stands once for each of its variants, are right in their gradients.
"""

import argparse
import collections
import inspect
import json
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

from tests.proof.arrays import leaves, to_jax, to_numpy

from .rules import NOT_OPERATIONS, check_values
from .samples import SPELLINGS, callee, cases_of, converted

X64 = ("float64", "complex128", "int64")
TOLERANCES = {"float32": (1e-4, 1e-5), "bool": (1e-4, 1e-5), "complex64": (1e-4, 1e-5), "bfloat16": (2e-2, 2e-2)}  # the rest: 1e-9
GRADIENT_TOLERANCE = (1e-6, 1e-7)
ORDER = ("right", "refused", "error", "wrong")


def key_of(function):
    return {"key": jax.random.key(0)} if "key" in inspect.signature(function).parameters else {}


def evenly(y):
    """sum(log(1 + |y|²)): even, so that the sign of an eigenvector does not matter, and as well-conditioned as y where y is large."""
    if isinstance(y, torch.Tensor):
        return (torch.view_as_real(y.resolve_conj()) if y.is_complex() else y).square().log1p().sum()
    parts = (y.real, y.imag) if jnp.iscomplexobj(y) else (y,)
    return sum(jnp.log1p(part * part).sum() for part in parts)


def torch_gradient(case):
    """The inputs that have a gradient, torch's gradients of them, and which results count; None if there are none."""
    where = [i for i, t in enumerate(case.tensors) if t.requires_grad]
    inputs = [t.detach().clone().requires_grad_(t.requires_grad) for t in case.tensors]
    ys = leaves(case.function(*(t.clone() for t in inputs)), torch.Tensor)
    counts = [isinstance(y, torch.Tensor) and y.requires_grad and y.numel() > 0 for y in ys]
    if not any(counts):
        return None
    total = sum(evenly(y.to_dense() if y.layout != torch.strided else y) for y, c in zip(ys, counts) if c)
    slopes = torch.autograd.grad(total, [inputs[i] for i in where], allow_unused=True)
    zeros = [torch.zeros_like(inputs[i]) for i in where]
    return where, [z if s is None else s for s, z in zip(slopes, zeros)], counts


def check_gradient(case, function):
    """Whether there was a gradient to compare. Raises where JAX's differs from torch's."""
    try:
        found = torch_gradient(case)
    except Exception:  # torch has no gradient here: of a full QR, say
        return False
    if found is None:
        return False
    where, want, counts = found
    arrays = [to_jax(t) for t in case.tensors]

    def loss(xs):
        full = list(arrays)
        for i, x in zip(where, xs):
            full[i] = x
        ys = leaves(function(*full, **key_of(function)), jax.Array)
        return sum(evenly(y) for y, c in zip(ys, counts) if c)

    slopes = jax.grad(loss)([arrays[i] for i in where])
    for slope, expected in zip(slopes, want):  # JAX's gradient of a complex input is the conjugate of torch's
        expected = to_numpy(expected.clone())  # a clone, as a ZeroTensor has no numbers
        tolerance = TOLERANCES.get(str(expected.dtype), GRADIENT_TOLERANCE)  # float32 for the weights of cov, which its samples give float64 beside
        np.testing.assert_allclose(np.conj(np.asarray(slope)), expected, *tolerance, equal_nan=True)
    return True


def outcome(case, function, tolerance):
    try:
        got = function(*[to_jax(t) for t in case.tensors], **key_of(function))
    except NotImplementedError as e:
        return "refused", str(e)
    except Exception as e:
        return "error", f"{type(e).__name__}: {e}"
    try:
        check_values(got, case.want, tolerance, not case.random)
    except Exception as e:
        return ("right", "") if settles(case, got, tolerance) else ("wrong", str(e))
    return "right", ""


def settles(case, got, tolerance):
    """Whether the results agree in what is determined of them."""
    try:
        want = case.settled(case.want)
        arrays = [torch.from_numpy(np.array(y)) for y in leaves(got, jax.Array)]
        processed = leaves(case.settled(type(case.want)(arrays) if isinstance(case.want, tuple) else arrays[0]), torch.Tensor)
        check_values([to_jax(y) for y in processed], want, tolerance)
    except Exception:
        return False
    return True


def gradient_outcome(op, case, function):
    """None where there is no gradient to compare."""
    if not op.supports_autograd or case.random:
        return None
    try:
        return ("right", "") if check_gradient(case, function) else None
    except AssertionError as e:
        return "wrong", str(e)
    except Exception as e:
        return "error", f"{type(e).__name__}: {e}"


@dataclass
class Tally:
    """The outcomes of one operation's samples."""

    count: collections.Counter
    example: dict[str, str]

    @property
    def worst(self):
        return max(self.count, key=ORDER.index) if self.count else None

    def add(self, kind, why, case):
        self.count[kind] += 1
        self.example.setdefault(kind, f"{case.call}: {' '.join(why.split())}"[:300])


def measure(op, dtype_name, limit=0):
    """The outcomes of the values and of the gradients of one operation's samples."""
    dtype = getattr(torch, dtype_name)
    values, gradients = Tally(collections.Counter(), {}), Tally(collections.Counter(), {})
    cases = list(cases_of(op, dtype, limit))
    if not cases:
        return values, gradients
    tolerance = TOLERANCES.get(dtype_name, (1e-9, 1e-9))
    for case, function in zip(cases, converted(cases)):
        kind, why = outcome(case, function, tolerance)
        values.add(kind, why, case)
        if kind == "right" and dtype in (torch.float64, torch.complex128):
            found = gradient_outcome(op, case, function)
            if found is not None:
                gradients.add(*found, case)
    return values, gradients


def operations(dtype_name, only=""):
    dtype = getattr(torch, dtype_name)
    for op in op_db:
        named = op.name in SPELLINGS or not NOT_OPERATIONS.search(op.name)
        wanted = dtype in op.supported_dtypes("cpu") and named and re.search(only, op.full_name)
        if wanted and callee(op):
            yield op


def set_precision(dtype_name):
    """Both libraries compute in the dtype that is measured."""
    torch.set_num_threads(1)
    jax.config.update("jax_enable_x64", dtype_name in X64)
    jax.config.update("jax_default_matmul_precision", "highest")
    torch.set_default_dtype(torch.float64 if dtype_name in X64 else torch.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="regular expression on the operation's name")
    parser.add_argument("--samples", type=int, default=0, help="at most this many samples an operation (0: all)")
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--json", help="write every operation's outcomes here")
    options = parser.parse_args()
    set_precision(options.dtype)
    warnings.simplefilter("ignore")
    found = {}
    for op in operations(options.dtype, options.only):
        for name, tally in zip(("values", "gradients"), measure(op, options.dtype, options.samples)):
            if tally.worst is None:
                continue
            key = op.name if name == "values" else op.full_name
            kept = found.setdefault(name, {}).setdefault(key, Tally(collections.Counter(), {}))
            kept.count += tally.count
            kept.example = tally.example | kept.example
            if tally.worst != "right":
                print(f"{name:10}{tally.worst:8}{op.full_name:40}{dict(tally.count)} {tally.example[tally.worst]}", flush=True)
    if options.json:
        table = {n: {op: [t.worst, dict(t.count), t.example] for op, t in tallies.items()} for n, tallies in found.items()}
        Path(options.json).write_text(json.dumps(table, indent=1))
    for name, tallies in found.items():
        count = collections.Counter(t.worst for t in tallies.values())
        print(f"{name}: {count['right']} of {len(tallies)} right ({count['refused']} refused, {count['wrong']} wrong, {count['error']} error)")


if __name__ == "__main__":
    main()
