"""Whether what JAX computes is what torch computes: structure, shapes, dtypes, values, slopes.

The tolerance of values goes by dtype alone. A gradient is that of a number made of all outputs:
`weighted` where an output is determined, `evenly` where it is only up to its sign (the vectors of
a decomposition).
"""

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from .arrays import leaves, to_jax, to_numpy

# relative and absolute, by the coarsest dtype that takes part; whole numbers are exact
TOLERANCES = {
    "bfloat16": (2e-2, 2e-2),
    "float16": (4e-3, 4e-3),
    "float32": (1e-4, 1e-5),
    "complex64": (1e-4, 1e-5),
    "float64": (1e-9, 1e-9),
    "complex128": (1e-9, 1e-9),
}
GRADIENT_TOLERANCE = (1e-6, 1e-7)  # of float64 and complex128


class Difference(AssertionError):
    """Two results that are not the same; `kind` is "count", "shape", "dtype", "values" or
    "gradient"."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def tolerance_of(dtypes: Iterable[Any]) -> tuple[float, float]:
    """The tolerance for numbers of the coarsest of these dtypes of torch's, float64 as JAX has it
    for now."""
    names = {str(d).removeprefix("torch.") for d in dtypes}
    if not jax.config.jax_enable_x64 and names & {"float64", "complex128"}:
        names.add("float32")
    return next((bounds for name, bounds in TOLERANCES.items() if name in names), (1e-9, 1e-9))


def kind(dtype: Any) -> str:
    """The class of a dtype: "b", "i" (unsigned ones but uint8 with them), "u", "f", "c", or "V"
    for bfloat16."""
    return "i" if dtype.kind == "u" and dtype.itemsize > 1 else str(dtype.kind)


def check_values(
    got: Any, want: Any, tolerance: tuple[float, float], values: bool = True, widths: bool = False
) -> None:
    """Compare JAX's result with torch's, arrays of any shape in lists and tuples.

    `values=False` compares shapes and dtypes alone; `widths` tells float32 from float64 where both
    are to be had. Raises Difference.
    """
    ours, theirs = leaves(got, jax.Array), leaves(want, torch.Tensor)
    if len(ours) != len(theirs):
        raise Difference("count", f"{len(ours)} results for {len(theirs)}")
    for g, w in zip(ours, theirs):
        if isinstance(w, torch.Tensor):
            check_array(g, to_numpy(w), tolerance, values, widths)
        else:
            _check_other(g, to_jax(w), tolerance)


def check_array(
    got: Any, want: Any, tolerance: tuple[float, float], values: bool = True, widths: bool = False
) -> None:
    """Compare one array with one of NumPy's. Raises Difference."""
    g, w = np.asarray(got), np.asarray(want)
    if g.shape != w.shape:
        raise Difference("shape", f"shape {g.shape} for {w.shape}")
    same_width = not widths or w.dtype.kind not in "fc" or g.dtype == canonical(w.dtype)
    if kind(g.dtype) != kind(w.dtype) or not same_width:
        raise Difference("dtype", f"dtype {g.dtype} for {w.dtype}")
    if values:
        if g.dtype == jnp.bfloat16:
            g, w = g.astype(np.float32), w.astype(np.float32)
        if (
            w.dtype.kind == "i"
        ):  # what no int can hold, as NaN, is cast to the least one in torch, by chance
            g = np.where(w == np.iinfo(w.dtype).min, w, g)
        try:
            np.testing.assert_allclose(g, w, *_for_sums(tolerance, w), equal_nan=True)
        except AssertionError as error:
            raise Difference("values", str(error)) from None


def assert_close(got: Any, want: Any, err_msg: str = "") -> None:
    """One array of JAX's beside one of torch's or numpy's, within what the coarser dtype allows."""
    got, want = np.asarray(got), np.asarray(want)
    bounds = tolerance_of([got.dtype, want.dtype])
    np.testing.assert_allclose(got, want, *bounds, err_msg=err_msg)


def _for_sums(tolerance: tuple[float, float], want: Any) -> tuple[float, float]:
    """The absolute tolerance of half precision follows the largest number, as sums round."""
    relative, absolute = tolerance
    finite = np.abs(want[np.isfinite(want)]) if relative > 1e-3 else np.zeros(0)
    return relative, absolute * max(1.0, float(finite.max(initial=0)))


def canonical(dtype: Any) -> Any:
    """The dtype that JAX has for one of NumPy's: float32 for float64 where x64 is off."""
    return jax.dtypes.canonicalize_dtype(dtype)


def _check_other(got: Any, want: Any, tolerance: tuple[float, float]) -> None:
    """Compare what is no tensor in torch: numbers, sizes, dtypes, None. Raises Difference."""
    close = isinstance(want, float) and np.isclose(float(got), want, *tolerance, equal_nan=True)
    if not close and not bool(np.all(got == want)):
        raise Difference("values", f"{got!r} for {want!r}")


def weighted(outputs: Iterable[Any]) -> Any:
    """The sum of all elements, each times a number of its own: it has a slope wherever an output
    has one."""
    return sum((_weights(part.shape, part) * part).sum() for y in outputs for part in parts(y))


def _weights(shape: Any, like: Any) -> Any:
    count = int(np.prod(shape, dtype=int))
    numbers = (np.cos(np.arange(count)) + 1.5).reshape(tuple(shape))
    if isinstance(like, torch.Tensor):
        return torch.from_numpy(numbers).to(like.dtype)
    return jnp.asarray(numbers, like.dtype)


def evenly(outputs: Iterable[Any]) -> Any:
    """The sum of log(1 + |y|²), even so that signs do not matter, and well-conditioned where y is
    large."""
    return sum(_log1p(part * part).sum() for y in outputs for part in parts(y))


def _log1p(x: Any) -> Any:
    return torch.log1p(x) if isinstance(x, torch.Tensor) else jnp.log1p(x)


def parts(y: Any) -> tuple[Any, ...]:
    """The real arrays, of y's shape, that an array is made of."""
    if isinstance(y, torch.Tensor):
        y = (y.to_dense() if y.layout != torch.strided else y).resolve_conj().resolve_neg()
        return (y.real, y.imag) if y.is_complex() else (y,)
    return (y.real, y.imag) if jnp.iscomplexobj(y) else (y,)


def check_slopes(got: Iterable[Any], want: Iterable[Any]) -> list[str]:
    """Compare JAX's gradients with torch's, one for each input, of its shape.

    Where torch's is not finite it says nothing of the function: differences there are returned, as
    text. Others raise Difference.
    """
    notes = []
    for number, (slope, expected) in enumerate(zip(got, want)):
        w = to_numpy(expected.clone())  # a clone, as a ZeroTensor has no numbers
        g = np.conj(
            np.asarray(slope)
        )  # JAX's gradient of a complex input is the conjugate of torch's
        finite = np.isfinite(w)
        wide = str(w.dtype) in ("float64", "complex128")
        bounds = GRADIENT_TOLERANCE if wide else tolerance_of([expected.dtype])
        try:
            np.testing.assert_allclose(g[finite], w[finite], *bounds, equal_nan=True)
        except AssertionError as error:
            raise Difference("gradient", f"of input {number}: {error}") from None
        if not np.array_equal(g[~finite], w[~finite], equal_nan=True):
            notes.append(f"gradient {_brief(g[~finite])} where torch has {_brief(w[~finite])}")
    return notes


def _brief(numbers: Any) -> str:
    return ", ".join(f"{x:.4g}" for x in numbers[:2])
