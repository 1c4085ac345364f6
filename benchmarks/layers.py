"""Time the layers, jitted, forward and backward, against those of flax.nnx or equinox on the same arrays.

    python -m benchmarks.layers [--only REGEX] [--rounds N]

Both sides compute y, new running values where there are any, and the gradients of sum(y * c) for weights and input. They
take turns, one call each; the table shows the median times and the median and the quarters of the ratios of the turns.
A ratio below 1 is a layer faster than theirs. nnx layers run as pure functions (split, merge), equinox's under vmap.
"""

import argparse
import ctypes
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx

from tests.proof.functions import rule_modules

OURS = {
    name: value
    for module in rule_modules()
    for name, value in vars(module).items()
    if isinstance(value, type) and hasattr(value, "torch_names")
}
KEY = jax.random.key(0)


@dataclass
class Case:
    """One layer: how ours is made, what theirs computes as `(weights, x, key) -> y`, and the input."""

    name: str
    arguments: tuple[Any, ...]
    theirs: Callable[[], tuple[Any, Callable[..., Any]]]
    shape: tuple[int, ...]
    library: str


def nnx_layer(make):
    """An nnx layer in training mode, as a function of its weights."""

    def build():
        graph, weights, rest = nnx.split(make(nnx.Rngs(0)), nnx.Param, ...)

        def run(weights, x, key):
            layer = nnx.merge(graph, weights, rest, copy=True)
            y = layer(x)
            return y, nnx.state(layer, nnx.BatchStat)

        return weights, run

    return build


def equinox_layer(make):
    def build():
        weights, rest = eqx.partition(make(KEY), eqx.is_inexact_array)
        return weights, lambda weights, x, key: (jax.vmap(eqx.combine(weights, rest))(x), {})

    return build


def function(f):
    return lambda: ({}, lambda weights, x, key: (f(x), {}))


def nnx_dropout():
    def run(weights, x, key):
        return nnx.Dropout(0.5, deterministic=False)(x, rngs=nnx.Rngs(dropout=key)), {}

    return {}, run


IMAGE, ROWS = (16, 64, 32, 32), (64, 128, 256)
nn = eqx.nn
CASES = [
    Case("Conv2d", (64, 64, 3, 1, 1), equinox_layer(lambda k: nn.Conv2d(64, 64, 3, 1, 1, key=k)), IMAGE, "equinox"),
    Case("BatchNorm2d", (64,), nnx_layer(lambda r: nnx.BatchNorm(64, axis=1, rngs=r)), IMAGE, "flax"),
    Case("ReLU", (), function(nnx.relu), IMAGE, "flax"),
    Case("Linear", (256, 512), nnx_layer(lambda r: nnx.Linear(256, 512, rngs=r)), ROWS, "flax"),
    Case("Dropout", (0.5,), nnx_dropout, IMAGE, "flax"),
    Case("LeakyReLU", (0.01,), function(nnx.leaky_relu), IMAGE, "flax"),
    Case("MaxPool2d", (2,), equinox_layer(lambda k: nn.MaxPool2d(2, 2)), IMAGE, "equinox"),
    Case("AdaptiveAvgPool2d", (1,), equinox_layer(lambda k: nn.AdaptiveAvgPool2d(1)), IMAGE, "equinox"),
    Case("Sigmoid", (), function(nnx.sigmoid), IMAGE, "flax"),
    Case("LayerNorm", (256,), nnx_layer(lambda r: nnx.LayerNorm(256, rngs=r)), ROWS, "flax"),
    Case(
        "Conv1d",
        (64, 64, 3, 1, 1),
        equinox_layer(lambda k: nn.Conv1d(64, 64, 3, 1, 1, key=k)),
        (16, 64, 512),
        "equinox",
    ),
    Case(
        "ConvTranspose2d",
        (64, 32, 2, 2),
        equinox_layer(lambda k: nn.ConvTranspose2d(64, 32, 2, 2, key=k)),
        (8, 64, 16, 16),
        "equinox",
    ),
    Case("SiLU", (), function(nnx.silu), IMAGE, "flax"),
    Case("AvgPool2d", (2,), equinox_layer(lambda k: nn.AvgPool2d(2, 2)), IMAGE, "equinox"),
    Case("BatchNorm1d", (256,), nnx_layer(lambda r: nnx.BatchNorm(256, rngs=r)), (4096, 256), "flax"),
    Case("Tanh", (), function(nnx.tanh), IMAGE, "flax"),
    Case(
        "Conv3d",
        (16, 16, 3, 1, 1),
        equinox_layer(lambda k: nn.Conv3d(16, 16, 3, 1, 1, key=k)),
        (4, 16, 12, 12, 12),
        "equinox",
    ),
    Case("Softmax", (-1,), function(nnx.softmax), ROWS, "flax"),
    Case("PReLU", (), nnx_layer(lambda r: nnx.PReLU()), IMAGE, "flax"),
    Case("InstanceNorm2d", (64, 1e-5, 0.1, True), equinox_layer(lambda k: nn.GroupNorm(64, 64)), IMAGE, "equinox"),
    Case("GELU", (), function(lambda x: nnx.gelu(x, approximate=False)), IMAGE, "flax"),
    Case("GroupNorm", (8, 64), equinox_layer(lambda k: nn.GroupNorm(8, 64)), IMAGE, "equinox"),
    Case("Embedding", (10000, 256), nnx_layer(lambda r: nnx.Embed(10000, 256, rngs=r)), (64, 128), "flax"),
    Case(
        "LSTM",
        (128, 128, 1, True, True),
        nnx_layer(lambda r: nnx.RNN(nnx.OptimizedLSTMCell(128, 128, rngs=r))),
        (32, 64, 128),
        "flax",
    ),
    Case(
        "MultiheadAttention",
        (256, 8, 0.0, True, False, False, None, None, True),
        nnx_layer(lambda r: nnx.MultiHeadAttention(8, 256, decode=False, rngs=r)),
        (16, 64, 256),
        "flax",
    ),
]


def ours(case):
    """Our layer's params, and `(params, x, key) -> (y, new state)`."""
    layer = OURS[case.name](*case.arguments)
    takes = layer.__call__.__code__.co_varnames[
        : layer.__call__.__code__.co_argcount + layer.__call__.__code__.co_kwonlyargcount
    ]
    state = layer.init_state(KEY) if "state" in takes else {}

    def run(params, x, key):
        given = [v for name, v in (("params", params), ("state", state)) if name in takes]
        words = {n: v for n, v in (("key", key), ("training", True)) if n in takes}
        if case.name == "MultiheadAttention":
            return layer(*given, x, x, x, need_weights=False, **words)[0], {}
        y = layer(*given, x, **words)
        y, new = y if "state" in takes else (y, {})
        return (y[0] if case.name == "LSTM" else y), new

    return layer.init(KEY) if "params" in takes else {}, run


def stepped(weights, run, x):
    """A jitted function of no arguments: output, new state and gradients."""
    cotangent = jnp.cos(jnp.arange(jax.eval_shape(run, weights, x, KEY)[0].size, dtype=jnp.float32))
    floats = jnp.issubdtype(x.dtype, jnp.floating)

    def loss(weights, x, key, cotangent):
        y, new = run(weights, x, key)
        return (y.ravel() * cotangent).sum(), (y, new)

    both = jax.jit(jax.grad(loss, argnums=(0, 1) if floats else 0, has_aux=True))
    return lambda: jax.block_until_ready(both(weights, x, KEY, cotangent))


def keep_pages():
    """Has glibc keep freed memory. It maps arrays of 8 MB anew each time, which costs 10 ms and falls on either side."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", lambda parameter, value: None)
    for parameter, value in ((-4, 0), (-1, 2**31 - 1)):  # M_MMAP_MAX, M_TRIM_THRESHOLD
        mallopt(parameter, value)


def timed(call):
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def measure(case, rounds):
    """The two medians in ms, and the quarters of the ratio."""
    x = jax.random.normal(KEY, case.shape)
    if case.name == "Embedding":
        x = jax.random.randint(KEY, case.shape, 0, case.arguments[0])
    mine, yours = stepped(*ours(case), x), stepped(*case.theirs(), x)
    for call in (mine, yours) * 2:
        call()
    turns = [(timed(mine), timed(yours)) if i % 2 else (timed(yours), timed(mine))[::-1] for i in range(rounds)]
    quarters = statistics.quantiles([a / b for a, b in turns], n=4)
    return statistics.median(a for a, _ in turns), statistics.median(b for _, b in turns), quarters


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="regular expression on the layer's name")
    parser.add_argument("--rounds", type=int, default=31)
    options = parser.parse_args()
    keep_pages()
    print(f"{'layer':20}{'input':>20}  {'against':8}{'ours ms':>9}{'theirs ms':>10}{'ratio':>7}  quarters")
    ratios = []
    for case in CASES:
        if not re.search(options.only, case.name):
            continue
        mine, yours, (low, ratio, high) = measure(case, options.rounds)
        ratios.append(ratio)
        shape = "x".join(map(str, case.shape))
        print(
            f"{case.name:20}{shape:>20}  {case.library:8}{mine:9.2f}{yours:10.2f}{ratio:7.2f}  {low:.2f} to {high:.2f}",
            flush=True,
        )
    slower = sum(r > 1.05 for r in ratios)
    print(f"median ratio {statistics.median(ratios):.2f}; {slower} of {len(ratios)} layers more than 5 % slower")


if __name__ == "__main__":
    main()
