"""Running sums and products, differences, and integrals along a dim."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import known, rule


@rule(
    "torch.cumsum",
    "torch.Tensor.cumsum",
    differs={"raises 0-dim": "an array is taken to have the axis; JAX says where it has none"},
)
def cumsum(input, dim, *, dtype=None):
    # not jnp.cumsum, which keeps int8 and uint8 and so wraps
    if dtype is None and known(jnp.issubdtype(input.dtype, jnp.unsignedinteger)):
        return jnp.cumulative_sum(input, axis=dim, dtype=int)
    return jnp.cumulative_sum(input, axis=dim, dtype=dtype)


@rule("torch.cumprod", "torch.Tensor.cumprod")
def cumprod(input, dim, *, dtype=None):
    """The running product along a dim; of a 0-dim array, itself."""
    if dtype is None and known(jnp.issubdtype(input.dtype, jnp.unsignedinteger)):
        return jnp.cumulative_prod(jnp.atleast_1d(input), axis=dim, dtype=int).reshape(input.shape)
    if isinstance(dim, int) and (dim not in (0, -1) or known(input.ndim > 0)):
        return jnp.cumulative_prod(input, axis=dim, dtype=dtype)
    row = jnp.atleast_1d(input)
    return jnp.cumulative_prod(row, axis=dim, dtype=dtype).reshape(input.shape)


@rule("torch.logcumsumexp", "torch.Tensor.logcumsumexp")
def logcumsumexp(input, dim):
    """The logarithm of the running sum of exponentials along a dim; of a 0-dim array, itself."""
    if dim in (1, 2):
        return lax.cumlogsumexp(input, axis=dim)
    row = jnp.atleast_1d(input)
    return lax.cumlogsumexp(row, axis=dim % row.ndim).reshape(input.shape)


@rule("torch.diff", "torch.Tensor.diff")
def diff(input, n=1, dim=-1, prepend=None, append=None):
    if n == 1 and dim == -1:
        return jnp.diff(input, prepend=prepend, append=append)
    if n == 1:
        return jnp.diff(input, axis=dim, prepend=prepend, append=append)
    return jnp.diff(input, n=n, axis=dim, prepend=prepend, append=append)


@rule("torch.trapezoid", "torch.trapz")
def trapezoid(y, x=None, *, dx=1, dim=-1):
    if x is None and dx == 1 and dim == -1:
        return jnp.trapezoid(y)
    if x is None:
        return jnp.trapezoid(y, dx=dx, axis=dim)
    return jnp.trapezoid(y, x, axis=dim)


@rule("torch.cumulative_trapezoid")
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral of ``y`` along a dim from its start up to each later place, by the trapezoid rule."""
    y = jnp.moveaxis(y, dim, -1)
    if x is not None:
        dx = jnp.diff(x) if x.ndim == 1 else jnp.diff(jnp.moveaxis(x, dim, -1))
    return jnp.moveaxis(jnp.cumsum((y[..., :-1] + y[..., 1:]) / 2 * dx, axis=-1), -1, dim)


@rule("torch.gradient")
def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """Derivatives along each dim, by second-order differences inside and first- or second-order ones at the ends."""
    dims = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    spacing = 1 if spacing is None else spacing
    spacings = spacing if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    return tuple(_derivative(input, s, d, edge_order) for s, d in zip(spacings, dims))


def _derivative(y, spacing, dim, edge_order):
    y = jnp.moveaxis(y, dim, -1)
    step = jnp.diff(spacing) if jnp.ndim(spacing) else jnp.full(y.shape[-1] - 1, spacing)
    slope = jnp.diff(y) / step
    before, after = step[:-1], step[1:]
    inside = (after * slope[..., :-1] + before * slope[..., 1:]) / (before + after)
    first, last = slope[..., :1], slope[..., -1:]
    if edge_order == 2:
        first, last = 2 * first - inside[..., :1], 2 * last - inside[..., -1:]
    return jnp.moveaxis(jnp.concatenate([first, inside, last], axis=-1), -1, dim)
