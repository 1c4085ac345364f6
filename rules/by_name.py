"""Functions and layers that the user's code picks by a name which only the run tells: ``getattr(F, config.activation)``."""

import functools

import jax
import jax.numpy as jnp

from transpile.rule import rule

from .activation import (
    celu,
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    logsigmoid,
    mish,
    relu6,
    selu,
    silu,
    softplus,
    softsign,
)
from .extrema import amax, amin
from .initializers import (
    dirac,
    init_constant,
    init_eye,
    init_normal,
    init_ones,
    init_uniform,
    init_zeros,
    kaiming_normal,
    kaiming_uniform,
    orthogonal,
    sparse_normal,
    trunc_normal,
    xavier_normal,
    xavier_uniform,
)
from .layers.activation import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softplus,
    Softsign,
    Tanh,
)
from .layers.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .layers.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from .layers.dropout import Dropout, Dropout1d, Dropout2d, Dropout3d
from .layers.instance_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .layers.linear import Identity
from .layers.normalization import GroupNorm, LayerNorm
from .layers.padding import (
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from .layers.pooling import AvgPool1d, AvgPool2d, AvgPool3d, MaxPool1d, MaxPool2d, MaxPool3d
from .layers.recurrent import GRU, LSTM, RNN
from .layers.softmax import Softmax
from .reduction import mean, sum_
from .windows import bartlett_window, blackman_window, hamming_window, hann_window

FUNCTIONS = {
    "celu": celu,
    "cos": jnp.cos,
    "elu": elu,
    "exp": jnp.exp,
    "gelu": gelu,
    "hardsigmoid": hardsigmoid,
    "hardswish": hardswish,
    "hardtanh": hardtanh,
    "leaky_relu": leaky_relu,
    "logsigmoid": logsigmoid,
    "mish": mish,
    "relu": jax.nn.relu,
    "relu6": relu6,
    "selu": selu,
    "sigmoid": jax.nn.sigmoid,
    "silu": silu,
    "sin": jnp.sin,
    "softplus": softplus,
    "softsign": softsign,
    "tanh": jnp.tanh,
}

METHODS = {
    "mean": mean,
    "sum": sum_,
    "amax": amax,
    "amin": amin,
    "abs": jnp.abs,
    "sqrt": jnp.sqrt,
}

WINDOWS = {
    "bartlett_window": bartlett_window,
    "blackman_window": blackman_window,
    "hamming_window": hamming_window,
    "hann_window": hann_window,
}

DTYPES = {
    "bfloat16": jnp.bfloat16,
    "double": jnp.float64,
    "float": jnp.float32,
    "float16": jnp.float16,
    "float32": jnp.float32,
    "float64": jnp.float64,
    "half": jnp.float16,
}

INITIALISERS = {
    "constant_": init_constant,
    "dirac_": dirac,
    "eye_": init_eye,
    "kaiming_normal_": kaiming_normal,
    "kaiming_uniform_": kaiming_uniform,
    "normal_": init_normal,
    "ones_": init_ones,
    "orthogonal_": orthogonal,
    "sparse_": sparse_normal,
    "trunc_normal_": trunc_normal,
    "uniform_": init_uniform,
    "xavier_normal_": xavier_normal,
    "xavier_uniform_": xavier_uniform,
    "zeros_": init_zeros,
}

LAYERS = [
    CELU,
    ELU,
    GELU,
    SELU,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Softsign,
    Tanh,
    Identity,
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    LayerNorm,
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    GRU,
    LSTM,
    RNN,
]


@rule("torch.nn.functional[name]")
def function_named(name):
    """The function of this name. Raises NotImplementedError where the table above has none."""
    if name not in FUNCTIONS:
        raise NotImplementedError(f"no function called {name!r}: add it to FUNCTIONS")
    return FUNCTIONS[name]


@rule("torch.Tensor[name]")
def method_named(input, name):
    """The method of this name. Raises NotImplementedError where the tables above have none."""
    function = METHODS[name] if name in METHODS else function_named(name)
    return functools.partial(function, input)


@rule("torch[name]")
def torch_named(name):
    """What torch itself calls so. Raises NotImplementedError where the tables above have none."""
    if name in DTYPES:
        return DTYPES[name]
    return WINDOWS[name] if name in WINDOWS else function_named(name)


@rule("torch.nn.init[name]")
def initialiser_named(name):
    """The initialiser of this name. Raises NotImplementedError where the table above has none."""
    if name not in INITIALISERS:
        raise NotImplementedError(f"no initialiser called {name!r}: add it to INITIALISERS")
    return INITIALISERS[name]


@rule("torch.nn[name]")
def layer_named(name):
    """The layer of this name. Raises NotImplementedError where the list above has none."""
    for layer in LAYERS:
        if layer.__name__ == name:
            return layer
    raise NotImplementedError(f"no layer called {name!r}: add it to LAYERS")
