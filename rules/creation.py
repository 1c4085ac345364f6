"""New tensors from sizes, ranges, values and other tensors."""

import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from transpile.rule import Tensor, certain, known, rule


@rule("torch.zeros", "torch.empty", by_data="size")
def zeros(*size, dtype=None):
    return jnp.zeros(size, dtype=dtype)


@rule("torch.ones", by_data="size")
def ones(*size, dtype=None):
    return jnp.ones(size, dtype=dtype)


@rule("torch.full", by_data="size")
def full(size, fill_value, *, dtype=None):
    """Filled with one number; without a dtype it takes the number's own, and holds on to it as torch does."""
    if dtype is not None or isinstance(fill_value, bool):
        return jnp.full(size, fill_value, dtype=dtype)
    if isinstance(fill_value, float):
        return jnp.full(size, fill_value, dtype=float)
    if certain(isinstance(fill_value, int)):
        return jnp.full(size, fill_value, dtype=int)
    return jnp.full(size, fill_value, dtype=jnp.result_type(fill_value))


@rule("torch.zeros_like", "torch.empty_like")
def zeros_like(input, *, dtype=None):
    return jnp.zeros_like(input, dtype=dtype)


@rule("torch.ones_like")
def ones_like(input, *, dtype=None):
    return jnp.ones_like(input, dtype=dtype)


@rule("torch.full_like")
def full_like(input, fill_value, *, dtype=None):
    return jnp.full_like(input, fill_value, dtype=dtype)


@rule("torch.Tensor.new_zeros", "torch.Tensor.new_empty", by_data="size")
def new_zeros(input, *size, dtype=None):
    if dtype is None:
        return jnp.zeros(size, dtype=input.dtype)
    return jnp.zeros(size, dtype=dtype)


@rule("torch.Tensor.new_ones", by_data="size")
def new_ones(input, *size, dtype=None):
    if dtype is None:
        return jnp.ones(size, dtype=input.dtype)
    return jnp.ones(size, dtype=dtype)


@rule("torch.Tensor.new_full", by_data="size")
def new_full(input, size, fill_value, *, dtype=None):
    if dtype is None:
        return jnp.full(size, fill_value, dtype=input.dtype)
    return jnp.full(size, fill_value, dtype=dtype)


@rule("torch.empty_strided", "torch.empty_permuted")
def empty_strided(size, stride, *, dtype=None):
    return jnp.zeros(size, dtype=dtype)


@rule("torch.Tensor.new_empty_strided")
def new_empty_strided(input, size, stride, *, dtype=None):
    if dtype is None:
        return jnp.zeros(size, dtype=input.dtype)
    return jnp.zeros(size, dtype=dtype)


@rule("torch.zero_", "torch.Tensor.zero_")
def zero_(input):
    return jnp.zeros_like(input)


@rule("torch.fill", "torch.fill_", "torch.Tensor.fill_")
def fill(input, value):
    return jnp.full_like(input, value)


@rule("torch.Tensor.copy_")
def copy_(input, src):
    return jnp.broadcast_to(src, input.shape).astype(input.dtype)


@rule("torch.tensor")
def tensor(data, *, dtype=None):
    """An array of these values, through which no gradient passes."""
    if dtype is None and isinstance(data, float):
        return jnp.array(data, dtype=float)  # jnp.array(0.5) is weakly typed: half precision beside it would win
    if dtype is None and certain(isinstance(data, int)) and not isinstance(data, bool):
        return jnp.array(data, dtype=int)
    return lax.stop_gradient(jnp.array(data, dtype=dtype))


# Functions whose last two arguments meet: a tensor of one number takes the dtype of the other.
MEETING = {
    "torch.where", "torch.maximum", "torch.minimum", "torch.clamp", "torch.clip", "torch.clamp_min", "torch.clamp_max",
    "torch.add", "torch.sub", "torch.mul", "torch.div",
    "torch.eq", "torch.ne", "torch.lt", "torch.le", "torch.gt", "torch.ge",
}  # fmt: skip


@rule("torch.tensor[beside]", "torch.as_tensor[beside]")
def number_beside(data, *, dtype=None):
    if dtype is None or isinstance(data, float):
        return data
    return float(data)


def in_narrow(function, left, right):
    """``function`` of two arrays, of which one without dims does not widen the other."""
    return function(beside(left, right), beside(right, left))


def beside(input, other):
    """``input``, which without dims does not widen an array of its kind that has dims."""
    kinds = (jnp.number, jnp.inexact, jnp.complexfloating)
    own, others = ([jnp.issubdtype(jnp.result_type(x), kind) for kind in kinds] for x in (input, other))
    if jnp.ndim(input) or not jnp.ndim(other) or own > others:
        return input
    return jnp.asarray(input, other.dtype)


@rule("torch.sqrt[beside]")
def root_beside(input):
    return jnp.sqrt(input)


@rule("torch.log[beside]")
def log_beside(input):
    return jnp.log(input)


@rule("torch.exp[beside]")
def exp_beside(input):
    return jnp.exp(input)


@rule("torch.Tensor.new_tensor")
def new_tensor(input, data, *, dtype=None):
    if certain(isinstance(data, (int, float))):  # which has no slope
        return jnp.array(data, dtype=input.dtype if dtype is None else dtype)
    if dtype is None:
        return lax.stop_gradient(jnp.array(data, dtype=input.dtype))
    return lax.stop_gradient(jnp.array(data, dtype=dtype))


@rule("torch.as_tensor", "torch.asarray")
def as_tensor(data, dtype=None):
    """These values as an array; a Python number gets torch's default dtype for its kind."""
    if dtype is None and isinstance(data, float):
        return jnp.asarray(data, dtype=float)
    if dtype is None and certain(isinstance(data, int)) and not isinstance(data, bool):
        return jnp.asarray(data, dtype=int)
    return jnp.asarray(data, dtype=dtype)


@rule("torch.from_numpy")
def from_numpy(ndarray):
    return jnp.asarray(ndarray)


@rule("torch.scalar_tensor")
def scalar_tensor(s, *, dtype=None):
    if dtype is None:
        return jnp.array(s, dtype=float)
    return jnp.array(s, dtype=dtype)


@rule("torch.Size")
def size_(sizes=()):
    return tuple(sizes)


@rule("torch.autograd.Variable", "torch.autograd.variable.Variable")
def variable(data, requires_grad=False, volatile=False):
    return data


@rule("torch.arange")
def arange_of_bools(start: bool, end: bool, step: bool = True, *, dtype=None):
    return jnp.arange(int(start), int(end), int(step), dtype=dtype)


@rule("torch.arange", by_data="end")
def arange_end(end, *, dtype=None):
    return jnp.arange(end, dtype=dtype)


@rule("torch.arange", by_data=("start", "end", "step"))
def arange(start, end, step=1, *, dtype=None):
    if step == 1:
        return jnp.arange(start, end, dtype=dtype)
    return jnp.arange(start, end, step, dtype=dtype)


@rule("torch.range", by_data=("start", "end", "step"))
def range_(start, end, step=1, *, dtype=None):
    """From start to end, which is included if a whole number of steps leads there; floats unless a dtype is given."""
    steps = jnp.arange(math.floor((end - start) / step) + 1)
    return (start + step * steps).astype(dtype or float)


@rule("torch.linspace", by_data="steps")
def linspace(start, end, steps):
    return jnp.linspace(start, end, steps)


@rule("torch.linspace", by_data="steps")
def linspace_of(start, end, steps, *, dtype):
    """Evenly spaced numbers; whole ones are cut toward 0, counting from both ends to the middle as torch does."""
    if dtype is None:
        return jnp.linspace(start, end, steps)
    if not jnp.issubdtype(dtype, jnp.integer):
        return jnp.linspace(start, end, steps, dtype=dtype)
    i = np.arange(steps)
    step = (end - start) / max(steps - 1, 1)
    return jnp.asarray(np.where(i < max(steps // 2, 1), start + step * i, end - step * (steps - 1 - i)), dtype)


@rule("torch.linspace[whole]")
def linspace_from_ends(start, end, steps):
    """Evenly spaced numbers, counted from both ends to the middle as torch does: they are made whole later."""
    i = jnp.arange(steps)
    step = (end - start) / max(steps - 1, 1)
    return jnp.where(i < max(steps // 2, 1), start + step * i, end - step * (steps - 1 - i)).astype(float)


@rule("torch.logspace", by_data="steps")
def logspace(start, end, steps, base=10.0, *, dtype=None):
    return jnp.logspace(start, end, steps, base=base, dtype=dtype)


@rule("torch.eye", by_data=("n", "m"))
def eye(n, m=None, *, dtype=None):
    return jnp.eye(n, M=m, dtype=dtype)


def grids(tensors, indexing):
    """The coordinates of a grid along each of several 1-d arrays, or along one that comes without a list."""
    axes = tensors if isinstance(tensors, (tuple, list)) else [tensors]
    return jnp.meshgrid(*map(jnp.atleast_1d, axes), indexing=indexing)


@rule("torch.meshgrid", "torch.functional.meshgrid")
def meshgrid(*tensors: Tensor, indexing="ij"):
    if not known(all(tensor.ndim > 0 for tensor in tensors)):
        return jnp.meshgrid(*map(jnp.atleast_1d, tensors), indexing=indexing)
    return jnp.meshgrid(*tensors, indexing=indexing)


@rule("torch.meshgrid", "torch.functional.meshgrid")
def meshgrid_of_list(tensors, *, indexing="ij"):
    if not known(isinstance(tensors, (tuple, list))):
        return grids(tensors, indexing)
    if not known(all(tensor.ndim > 0 for tensor in tensors)):
        return jnp.meshgrid(*map(jnp.atleast_1d, tensors), indexing=indexing)
    return jnp.meshgrid(*tensors, indexing=indexing)


@rule("torch.tril_indices", by_data=("row", "col"))
def tril_indices(row, col, offset=0, *, dtype=None):
    if dtype is None:
        return jnp.stack(jnp.tril_indices(row, offset, col))
    return jnp.stack(jnp.tril_indices(row, offset, col)).astype(dtype)


@rule("torch.triu_indices", by_data=("row", "col"))
def triu_indices(row, col, offset=0, *, dtype=None):
    if dtype is None:
        return jnp.stack(jnp.triu_indices(row, offset, col))
    return jnp.stack(jnp.triu_indices(row, offset, col)).astype(dtype)


@rule("torch.cartesian_prod", "torch.functional.cartesian_prod")
def cartesian_prod(*tensors: Tensor):
    """All tuples with one element from each 1-d tensor, a tuple to a row; of a single tensor, itself."""
    if len(tensors) == 1:
        return tensors[0]
    return jnp.stack(jnp.meshgrid(*tensors, indexing="ij"), axis=-1).reshape(-1, len(tensors))


@rule("torch.combinations")
def combinations(input, r=2, with_replacement=False):
    """All ways to pick r elements of a 1-d tensor in order, a pick to a row."""
    picks = np.indices((input.shape[0],) * r).reshape(r, -1)
    steps = np.diff(picks, axis=0)
    chosen = (steps >= 0 if with_replacement else steps > 0).all(axis=0)
    return input[picks.T[chosen]] if r else input[:0]
