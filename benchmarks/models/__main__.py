"""Time converted models beside ones written by hand in the same library, and beside torch eager.

    python -m benchmarks.models [--target T] [--torch] [--cpu] [--rounds N] [NAME...]

`source.py` is what is converted; `functional.py`, `flax.py` and `equinox.py` say the same models by hand. Timed are the
forward pass in training and a whole step with Adam, jitted, with params and optimizer state donated. Both sides take turns
in each round; the table shows the median times of a call, and the median ratio of the rounds: below 1, converted code is
faster.
"""

import argparse
import importlib
import inspect
import statistics
import sys
import time
import types
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import torch
from flax import nnx

from benchmarks.layers import keep_pages
from transpile import convert_source

SOURCE = Path(__file__).with_name("source.py")
ROUND = 0.5  # seconds for a side
CLOCK = time.perf_counter
INPUTS = {  # shape, and the numbers below which it draws, for tokens
    "GPT": ((4, 128), 512),
    "ResNet18": ((8, 3, 32, 32), None),
    "ViT": ((4, 3, 64, 64), None),
    "UNet": ((4, 3, 64, 64), None),
    "Tagger": ((32, 64), 1000),
}


def converted(target):
    """The names of what the sources are converted to."""
    result = convert_source(SOURCE.read_text("utf-8"), target)
    assert not result.diagnostics, result.diagnostics
    support = sys.modules["jax_nn"] = types.ModuleType("jax_nn")
    exec(compile(result.support, f"jax_nn_{target}.py", "exec"), support.__dict__)
    scope = {}
    exec(compile(result.code, f"{target}.py", "exec"), scope)
    return scope


def functional(name):
    """(params, state, forward) of both sides, as for the other libraries."""
    key = jax.random.key(0)
    model = converted("functional")[name]()
    init, forward = importlib.import_module("benchmarks.models.functional").MODELS[name]

    def run(params, state, x):
        return model.apply(params, state, x, training=True)

    return (model.init(key), model.init_state(key), run), (*init(key), forward)


def flax(name):
    """Modules run as pure functions of their state."""

    def parts(model):
        model.train()
        graph, params, state = nnx.split(model, nnx.Param, ...)

        def run(params, state, x):
            layer = nnx.merge(graph, params, state, copy=True)
            return layer(x), nnx.state(layer, nnx.Not(nnx.Param))

        return params, state, run

    by_hand = importlib.import_module("benchmarks.models.flax").MODELS[name]
    return parts(converted("flax")[name](rngs=nnx.Rngs(0))), parts(by_hand(nnx.Rngs(0)))


def equinox(name):
    """Converted models take batches; those by hand are mapped over one."""

    def parts(made, forward):
        params, rest = eqx.partition(made[0], eqx.is_inexact_array)
        return (
            params,
            made[1],
            lambda params, state, x: forward(eqx.combine(params, rest), x, state),
        )

    def batch(model, x, state):
        if "state" in inspect.signature(model.__call__).parameters:
            return model(x, state)
        return model(x), state

    def mapped(model, x, state):
        return jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)

    key = jax.random.key(0)
    mine = eqx.nn.make_with_state(converted("equinox")[name])(key=key)
    by_hand = importlib.import_module("benchmarks.models.equinox").MODELS[name]
    return parts(mine, batch), parts(eqx.nn.make_with_state(by_hand)(key), mapped)


TARGETS = {"functional": functional, "flax": flax, "equinox": equinox}


def calls(parts, x):
    """The forward pass and the step of a side, as functions of no arguments."""
    params, state, forward = parts
    optimizer = optax.adam(1e-3)

    def loss(params, state, x):
        y, state = forward(params, state, x)
        return (y**2).mean(), state

    def step(params, state, moments, x):
        (_, state), slopes = jax.value_and_grad(loss, has_aux=True)(params, state, x)
        updates, moments = optimizer.update(slopes, moments)
        return optax.apply_updates(params, updates), state, moments

    run, train = jax.jit(forward), jax.jit(step, donate_argnums=(0, 1, 2))
    values = [jax.tree.map(jnp.array, (params, state, optimizer.init(params)))]

    def once():
        values[0] = train(*values[0], x)
        jax.block_until_ready(values[0])

    return {"forward": lambda: jax.block_until_ready(run(params, state, x)), "step": once}


def torch_calls(name, x):
    scope = {}
    exec(compile(SOURCE.read_text("utf-8"), "source.py", "exec"), scope)
    model, x = scope[name](), torch.tensor(x)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)

    def forward():
        with torch.no_grad():
            model(x)

    def step():
        optimizer.zero_grad()
        (model(x) ** 2).mean().backward()
        optimizer.step()

    return {"forward": forward, "step": step}


def timed(call, count):
    """Milliseconds of one of so many calls."""
    start = CLOCK()
    for _ in range(count):
        call()
    return (CLOCK() - start) * 1e3 / count


def fastest(call):
    """The least of five calls, in milliseconds."""
    call()
    return min(timed(call, 1) for _ in range(5))


def measure(sides, rounds):
    """The times of each side in each round."""
    for call in sides:  # compile
        call()
    counts = [max(1, round(ROUND * 1e3 / timed(call, 2))) for call in sides]
    return list(zip(*([timed(c, n) for c, n in zip(sides, counts)] for _ in range(rounds))))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=", ".join(INPUTS))
    parser.add_argument("--target", choices=TARGETS, action="append")
    parser.add_argument(
        "--cpu", action="store_true", help="CPU time, on a machine that others use too"
    )
    parser.add_argument("--torch", action="store_true", help="time torch eager too")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.cpu:
        globals()["CLOCK"] = time.process_time
    keep_pages()
    print("| model | output | | converted ms | by hand ms | converted / by hand | torch eager ms |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in options.names or INPUTS:
        shape, below = INPUTS[name]
        draw = np.random.default_rng(0)
        x = (
            draw.normal(size=shape).astype("float32")
            if below is None
            else draw.integers(below, size=shape)
        )
        eager = (
            {what: fastest(call) for what, call in torch_calls(name, x).items()}
            if options.torch
            else {}
        )
        for target in options.target or TARGETS:
            both = [calls(parts, jnp.asarray(x)) for parts in TARGETS[target](name)]
            for what in ("forward", "step"):
                mine, hand = measure([both[0][what], both[1][what]], options.rounds)
                ratio = statistics.median(a / b for a, b in zip(mine, hand))
                row = (
                    f"{name} | {target} | {what}",
                    *(f"{statistics.median(t):.1f}" for t in (mine, hand)),
                )
                print(
                    "|",
                    " | ".join([*row, f"{ratio:.2f}", f"{eager.get(what, 0):.1f}"]),
                    "|",
                    flush=True,
                )


if __name__ == "__main__":
    main()
