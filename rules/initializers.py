"""torch.nn.init: each function returns the new value of the tensor, and reads only its shape and dtype."""

import inspect
import math

import jax
import jax.numpy as jnp

from transpile.rule import known, rule


@rule("torch.nn.init.zeros_", "torch.nn.init._no_grad_zero_")
def init_zeros(tensor):
    return jnp.zeros_like(tensor)


@rule("torch.nn.init.ones_")
def init_ones(tensor):
    return jnp.ones_like(tensor)


@rule("torch.nn.init.constant_", "torch.nn.init.constant", "torch.nn.init._no_grad_fill_")
def init_constant(tensor, val):
    if val == 0:
        return jnp.zeros_like(tensor)
    if val == 1:
        return jnp.ones_like(tensor)
    return jnp.full_like(tensor, val)


@rule("torch.nn.init.normal_", "torch.nn.init.normal", "torch.nn.init._no_grad_normal_")
def init_normal(tensor, mean=0.0, std=1.0, generator=None, *, key):
    if known(mean == 0 and std == 1):
        return jax.random.normal(key, tensor.shape, tensor.dtype)
    if known(mean == 0):
        return std * jax.random.normal(key, tensor.shape, tensor.dtype)
    return mean + std * jax.random.normal(key, tensor.shape, tensor.dtype)


@rule("torch.nn.init.uniform_", "torch.nn.init.uniform", "torch.nn.init._no_grad_uniform_")
def init_uniform(tensor, a=0.0, b=1.0, generator=None, *, key):
    if known(a == 0 and b == 1):
        return jax.random.uniform(key, tensor.shape, tensor.dtype)
    return jax.random.uniform(key, tensor.shape, tensor.dtype, minval=a, maxval=b)


@rule("torch.nn.init.trunc_normal_", "torch.nn.init._no_grad_trunc_normal_")
def trunc_normal(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None, *, key):
    if known(mean == 0 and std == 1):
        return jax.random.truncated_normal(key, a, b, tensor.shape, tensor.dtype)
    if known(mean == 0):  # a and b are values, not multiples of std
        return std * jax.random.truncated_normal(key, a / std, b / std, tensor.shape, tensor.dtype)
    return mean + std * jax.random.truncated_normal(key, (a - mean) / std, (b - mean) / std, tensor.shape, tensor.dtype)


@rule("torch.nn.init.xavier_uniform_", "torch.nn.init.xavier_uniform")
def xavier_uniform(tensor, gain=1.0, generator=None, *, key):
    if known(gain == 1):
        return jax.nn.initializers.glorot_uniform(in_axis=1, out_axis=0)(key, tensor.shape, tensor.dtype)
    return jax.nn.initializers.variance_scaling(gain**2, "fan_avg", "uniform", in_axis=1, out_axis=0)(
        key, tensor.shape, tensor.dtype
    )


@rule("torch.nn.init.xavier_normal_", "torch.nn.init.xavier_normal")
def xavier_normal(tensor, gain=1.0, generator=None, *, key):
    if known(gain == 1):  # not glorot_normal, which cuts at two standard deviations
        return jax.nn.initializers.variance_scaling(1.0, "fan_avg", "normal", in_axis=1, out_axis=0)(
            key, tensor.shape, tensor.dtype
        )
    return jax.nn.initializers.variance_scaling(gain**2, "fan_avg", "normal", in_axis=1, out_axis=0)(
        key, tensor.shape, tensor.dtype
    )


@rule("torch.nn.init.kaiming_normal_", "torch.nn.init.kaiming_normal")
def kaiming_normal(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None, *, key):
    if nonlinearity == "relu" or nonlinearity == "leaky_relu" and known(a == 0):  # not he_normal, which cuts at two std
        return jax.nn.initializers.variance_scaling(2.0, mode, "normal", in_axis=1, out_axis=0)(
            key, tensor.shape, tensor.dtype
        )
    if nonlinearity == "leaky_relu":
        return jax.nn.initializers.variance_scaling(2 / (1 + a**2), mode, "normal", in_axis=1, out_axis=0)(
            key, tensor.shape, tensor.dtype
        )
    return jax.nn.initializers.variance_scaling(
        calculate_gain(nonlinearity, a) ** 2, mode, "normal", in_axis=1, out_axis=0
    )(key, tensor.shape, tensor.dtype)


@rule("torch.nn.init.kaiming_uniform_", "torch.nn.init.kaiming_uniform")
def kaiming_uniform(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None, *, key):
    if nonlinearity == "relu" or nonlinearity == "leaky_relu" and known(a == 0):
        return jax.nn.initializers.variance_scaling(2.0, mode, "uniform", in_axis=1, out_axis=0)(
            key, tensor.shape, tensor.dtype
        )
    if nonlinearity == "leaky_relu":
        return jax.nn.initializers.variance_scaling(2 / (1 + a**2), mode, "uniform", in_axis=1, out_axis=0)(
            key, tensor.shape, tensor.dtype
        )
    return jax.nn.initializers.variance_scaling(
        calculate_gain(nonlinearity, a) ** 2, mode, "uniform", in_axis=1, out_axis=0
    )(key, tensor.shape, tensor.dtype)


@rule("torch.nn.init.orthogonal_", "torch.nn.init.orthogonal")
def orthogonal(tensor, gain=1, generator=None, *, key):
    if known(gain == 1):
        return jax.nn.initializers.orthogonal(column_axis=0)(key, tensor.shape, tensor.dtype)
    return jax.nn.initializers.orthogonal(gain, column_axis=0)(key, tensor.shape, tensor.dtype)


@rule("torch.nn.init.eye_", "torch.nn.init.eye")
def init_eye(tensor):
    return jnp.eye(*tensor.shape, dtype=tensor.dtype)


@rule("torch.nn.init.dirac_", "torch.nn.init.dirac")
def dirac(tensor, groups=1):
    """A convolution weight (out, in / groups, ...) that passes the channels of each group through."""
    out, inputs, *window = tensor.shape
    n = min(out // groups, inputs)
    channel = jnp.arange(n)
    middle = tuple(k // 2 for k in window)
    rows = (jnp.arange(groups)[:, None] * (out // groups) + channel).ravel()
    return jnp.zeros_like(tensor).at[(rows, jnp.tile(channel, groups), *middle)].set(1)


@rule("torch.nn.init.sparse_", "torch.nn.init.sparse")
def sparse_normal(tensor, sparsity, std=0.01, generator=None, *, key):
    """Normal values; in each column the share ``sparsity`` of them, at random places, is 0."""
    value_key, place_key = jax.random.split(key)
    rank = jnp.argsort(jax.random.uniform(place_key, tensor.shape), axis=0)
    normal = std * jax.random.normal(value_key, tensor.shape, tensor.dtype)
    return jnp.where(rank < math.ceil(sparsity * tensor.shape[0]), 0, normal)


@rule("torch.nn.init.calculate_gain")
def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "relu":
        return math.sqrt(2)
    if nonlinearity == "leaky_relu" and param is None:
        return math.sqrt(2 / (1 + 0.01**2))
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + param**2))
    if nonlinearity == "tanh":
        return 5 / 3
    if nonlinearity == "selu":
        return 3 / 4
    return 1


@rule("torch.nn.init._calculate_fan_in_and_fan_out")
def fan_in_and_fan_out(tensor):
    """Inputs of each output and outputs of each input, of a weight (out, in, ...)."""
    out, inputs, *window = tensor.shape
    return inputs * math.prod(window), out * math.prod(window)


@rule("torch.nn.init._calculate_correct_fan")
def correct_fan(tensor, mode):
    if mode == "fan_in":
        return tensor.shape[1] * math.prod(tensor.shape[2:])
    return tensor.shape[0] * math.prod(tensor.shape[2:])


def initial(function, value, *args, key, **kwargs):
    """What an initialiser that was passed in makes of an array: one that draws takes a key."""
    keyed = {"key": key} if "key" in inspect.signature(function).parameters else {}
    made = function(value, *args, **kwargs, **keyed)
    if made is None:
        raise TypeError(f"{function} gives no array back: an initialiser has to return what it makes")
    return made
