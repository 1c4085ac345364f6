"""Random tensors. Each draw takes a key of its own; torch's generators are dropped."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import Tensor, Unsupported, known, rule


@rule("torch.Generator")
def generator(device="cpu"):
    return None


@rule("torch.Generator.manual_seed", note="no draw has a generator here: seed the keys instead, jax.random.key(seed)")
def generator_seed(seed):
    return None


@rule("torch.rand", by_data="size")
def rand(*size, dtype=None, generator=None, key):
    if known(dtype in ("torch.cfloat", "torch.complex64", "torch.cdouble", "torch.complex128") or dtype in (jnp.complex64, jnp.complex128)):
        return complex_uniform(key, size, dtype)
    return jax.random.uniform(key, size, dtype=dtype)


def as_shape(size):
    """The shape that torch means by one size, or by all of them."""
    return tuple(size) if hasattr(size, "__iter__") else (size,)


def complex_uniform(key, shape, dtype):
    """Complex numbers of which both parts are uniform between 0 and 1."""
    parts = jax.random.uniform(key, (*shape, 2), jnp.finfo(dtype).dtype)
    return lax.complex(parts[..., 0], parts[..., 1])


@rule("torch.randn", by_data="size")
def randn(*size, dtype=None, generator=None, key):
    return jax.random.normal(key, size, dtype=dtype)


@rule("torch.rand_like")
def rand_like(input, *, dtype=None, generator=None, key):
    if dtype is None:
        return jax.random.uniform(key, input.shape, input.dtype)
    return jax.random.uniform(key, input.shape, dtype)


@rule("torch.randn_like")
def randn_like(input, *, dtype=None, generator=None, key):
    if dtype is None:
        return jax.random.normal(key, input.shape, input.dtype)
    return jax.random.normal(key, input.shape, dtype)


@rule("torch.randint", by_data="size")
def randint(low, high, size: tuple, *, dtype=None, generator=None, key):
    if dtype is None:
        return jax.random.randint(key, size, low, high)
    return jax.random.randint(key, size, low, high).astype(dtype)


@rule("torch.randint", by_data="size")
def randint_below(high, size: tuple, *, dtype=None, generator=None, key):
    if dtype is None:
        return jax.random.randint(key, size, 0, high)
    return jax.random.randint(key, size, 0, high).astype(dtype)


@rule("torch.randint_like")
def randint_like(input, low: int, high: int, *, dtype=None, generator=None, key):
    if dtype is None:
        return jax.random.randint(key, input.shape, low, high).astype(input.dtype)
    return jax.random.randint(key, input.shape, low, high).astype(dtype)


@rule("torch.randint_like")
def randint_like_below(input, high: int, *, dtype=None, generator=None, key):
    if dtype is None:
        return jax.random.randint(key, input.shape, 0, high).astype(input.dtype)
    return jax.random.randint(key, input.shape, 0, high).astype(dtype)


@rule("torch.randperm", by_data="n")
def randperm(n, *, generator=None, dtype=None, key):
    if dtype is None:
        return jax.random.permutation(key, n)
    return jax.random.permutation(key, n).astype(dtype)


@rule("torch.bernoulli", "torch.Tensor.bernoulli")
def bernoulli(input, *, generator=None, key):
    return jax.random.bernoulli(key, input).astype(input.dtype)


@rule("torch.bernoulli", "torch.Tensor.bernoulli")
def bernoulli_p(input, p, *, generator=None, key):
    return jax.random.bernoulli(key, p, input.shape).astype(input.dtype)


@rule("torch.normal")
def normal(mean: Tensor, std: Tensor, *, generator=None, key):
    """Normal values with these means and standard deviations, which broadcast."""
    shape = jnp.broadcast_shapes(jnp.shape(mean), jnp.shape(std))
    return mean + std * jax.random.normal(key, shape, jnp.result_type(mean, std))


@rule("torch.normal", by_data="size")
def normal_size(mean: float, std: float, size: tuple, *, dtype=None, generator=None, key):
    if known(mean == 0 and std == 1):
        return jax.random.normal(key, size, dtype=dtype)
    if known(mean == 0):
        return std * jax.random.normal(key, size, dtype=dtype)
    return mean + std * jax.random.normal(key, size, dtype=dtype)


@rule("torch.normal")
def normal_mean(mean: Tensor, std: float = 1.0, *, generator=None, key):
    if known(std == 1):
        return mean + jax.random.normal(key, mean.shape, mean.dtype)
    return mean + std * jax.random.normal(key, mean.shape, mean.dtype)


@rule("torch.normal")
def normal_std(mean: float, std: Tensor, *, generator=None, key):
    if known(mean == 0):
        return std * jax.random.normal(key, std.shape, std.dtype)
    return mean + std * jax.random.normal(key, std.shape, std.dtype)


@rule("torch.multinomial", "torch.Tensor.multinomial", by_data="num_samples")
def multinomial(input, num_samples, replacement=False, *, generator=None, key):
    """Indices drawn by the weights in the last axis of ``input``."""
    logits = jnp.log(input)
    if replacement:
        shape = (*input.shape[:-1], num_samples)
        return jax.random.categorical(key, logits[..., None, :], shape=shape)
    # Gumbel noise makes the best n a draw without replacement; weights of 0 come last.
    return lax.top_k(logits + jax.random.gumbel(key, input.shape, input.dtype), num_samples)[1]


@rule("torch.poisson")
def poisson(input, generator=None, *, key):
    return jax.random.poisson(key, input).astype(input.dtype)


@rule("torch.binomial")
def binomial(count, prob, generator=None, *, key):
    return jax.random.binomial(key, count, prob).astype(count.dtype)


@rule("torch.Tensor.normal_")
def normal_(input, mean=0.0, std=1.0, *, generator=None, key):
    if known(mean == 0 and std == 1):
        return jax.random.normal(key, input.shape, input.dtype)
    if known(mean == 0):
        return std * jax.random.normal(key, input.shape, input.dtype)
    return mean + std * jax.random.normal(key, input.shape, input.dtype)


@rule("torch.Tensor.uniform_")
def uniform_(input, from_=0.0, to=1.0, *, generator=None, key):
    if known(from_ == 0 and to == 1):
        return jax.random.uniform(key, input.shape, input.dtype)
    return jax.random.uniform(key, input.shape, input.dtype, minval=from_, maxval=to)


@rule("torch.Tensor.bernoulli_")
def bernoulli_(input, p=0.5, *, generator=None, key):
    return jax.random.bernoulli(key, p, input.shape).astype(input.dtype)


@rule("torch.Tensor.exponential_")
def exponential_(input, lambd=1.0, *, generator=None, key):
    if known(lambd == 1):
        return jax.random.exponential(key, input.shape, input.dtype)
    return jax.random.exponential(key, input.shape, input.dtype) / lambd


@rule("torch.Tensor.cauchy_")
def cauchy_(input, median=0.0, sigma=1.0, *, generator=None, key):
    return median + sigma * jax.random.cauchy(key, input.shape, input.dtype)


@rule("torch.Tensor.log_normal_")
def log_normal_(input, mean=1.0, std=2.0, *, generator=None, key):
    return jnp.exp(mean + std * jax.random.normal(key, input.shape, input.dtype))


@rule("torch.Tensor.geometric_")
def geometric_(input, p, *, generator=None, key):
    return jax.random.geometric(key, p, input.shape).astype(input.dtype)


@rule("torch.Tensor.random_")
def random_(input, from_=None, to=None, *, generator=None, key):
    if from_ is None:
        raise Unsupported("random_() without a bound depends on torch's integer type; give the bounds: random_(0, n)")
    if to is None:
        return jax.random.randint(key, input.shape, 0, from_).astype(input.dtype)
    return jax.random.randint(key, input.shape, from_, to).astype(input.dtype)
