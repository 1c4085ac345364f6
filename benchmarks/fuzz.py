"""Random programs, converted and compared with torch on all cores: `python -m benchmarks.fuzz [COUNT] [SEED] [--target flax]`.

Prints every program that computes something else, a table of refusals by diagnostic, and the counts.
"""

import collections
import concurrent.futures
import functools
import itertools
import multiprocessing
import os
import sys
import time
import warnings

import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import torch

from tests.random_programs import programs
from tests.small_programs import HEAD, array, leaves, load
from transpile import convert_source
from transpile.command import TARGETS


def examples(count, seed):
    """`count` different programs of a fixed seed."""
    found = {}
    for further in itertools.count(seed, 1_000_000):  # one program in fifteen of 2,500 of a seed is there twice

        @hypothesis.seed(further)
        @hypothesis.settings(max_examples=count, database=None, deadline=None, phases=[hypothesis.Phase.generate], suppress_health_check=list(hypothesis.HealthCheck))
        @hypothesis.given(programs())
        def collect(source):
            found[source] = None

        collect()
        if len(found) >= count:
            return list(found)[:count]


def inputs():
    generator = torch.Generator().manual_seed(3)
    for shift in (0.0, 0.7, -0.7):
        yield [torch.randn(4, 3, generator=generator, dtype=torch.float64) + shift for _ in range(2)]


def run(source, target="functional"):
    """("right" | "refused" | "wrong" | "unstable" | "error" | "torch", what happened)."""
    text = HEAD + source + "\n"
    torch_side = {}
    exec(compile(text, "program.py", "exec"), torch_side)
    try:
        wanted = [(pair, [array(leaf) for leaf in leaves(torch_side["f"](*[t.clone() for t in pair]))]) for pair in inputs()]
    except RuntimeError as error:
        return "torch", str(error)
    slopes = [slope(torch_side["f"], pair) for pair, _ in wanted]
    slopes = slopes if None not in slopes else [(None, 0.0)] * len(slopes)
    result = convert_source(text, target)
    if result.diagnostics:
        return "refused", result.diagnostics[0].id + ": " + result.diagnostics[0].message
    try:
        f = load(result)["f"]
        both = compiled(f)
        for (pair, want), (which, steep) in zip(wanted, slopes):
            xs = [jnp.asarray(t.numpy()) for t in pair]
            got, found = both(xs, [jnp.asarray(d) for d in DIRECTION], which)
            for g, w in zip(leaves(got), want, strict=True):
                if not same(g, w):
                    return verdict(torch_side["f"], f, pair, want), f"{np.asarray(g)} for {w}\n{result.code}"
            if not same_slope(found, steep) and not same_slope(backwards(f, xs, which), steep):
                return verdict(torch_side["f"], f, pair, want), f"gradient {found} for {steep}\n{result.code}"
        return "right", ""
    except Exception as error:  # noqa: BLE001 - any failure of converted code counts
        return "error", f"{type(error).__name__}: {str(error)[:300]}\n{result.code}"


def same(found, wanted):
    return np.shape(found) == wanted.shape and bool(np.allclose(found, wanted, 1e-9, 1e-9, equal_nan=True))


def verdict(torch_f, f, pair, want):
    """ "unstable" where rounding decides: in torch, whose own results are others when the inputs differ in their last digits, or under jit alone.

    `a -= a.mean(dim=0)` before `if a.mean() > 0` asks for the sign of a 0. `a = (y + y) - y` before `if a.sum() > y.sum()` compares equal
    numbers, which XLA adds up in two orders: operation by operation, without jit, the converted code gives what torch gives.
    """
    for nudge in (1e-14, -1e-14, 1e-15, -1e-15):
        again = [array(leaf) for leaf in leaves(torch_f(*[t * (1 + nudge) for t in pair]))]
        if len(again) != len(want) or not all(map(same, again, want)):
            return "unstable"
    with jax.disable_jit():
        got = leaves(f(*[jnp.asarray(t.numpy()) for t in pair]))
    jitted = leaves(jax.jit(f)(*[jnp.asarray(t.numpy()) for t in pair]))
    return "unstable" if all(map(same, got, want)) and not all(map(same, jitted, want)) else "wrong"


DIRECTION = [np.sin(np.arange(12.0) + 1).reshape(4, 3)] * 2


def slope(torch_f, pair):
    """Which results require a gradient, and torch's derivative of what `loss` makes of those; None where an in-place write is in the way."""
    tensors = [t.clone().requires_grad_() for t in pair]
    try:
        found = [w for w in leaves(torch_f(*tensors)) if isinstance(w, torch.Tensor)]
        total = sum(torch.tanh(w * 0.25).sum() for w in found if w.requires_grad)
        slopes = torch.autograd.grad(total, tensors, allow_unused=True)
    except RuntimeError:
        return None
    return tuple(w.requires_grad for w in found), sum((d * s.numpy()).sum() for d, s in zip(DIRECTION, slopes) if s is not None)


def loss(f, which):
    return lambda *xs: sum(jnp.tanh(o * 0.25).sum() for o, w in zip(leaves(f(*xs)), which) if w)


def compiled(f):
    """The outputs and the derivative along a direction, as one program under jit; forward mode goes through any loop."""

    @functools.partial(jax.jit, static_argnums=2)
    def both(xs, ds, which):
        return f(*xs), jax.jvp(loss(f, which), xs, ds)[1] if which is not None else 0.0

    return both


def backwards(f, xs, which):
    """The derivative in reverse mode, as torch has it: numbers of 1e307 overflow forwards, and have a finite gradient backwards."""
    try:
        return sum((d * s).sum() for d, s in zip(DIRECTION, jax.grad(loss(f, which), (0, 1))(*xs)))
    except ValueError:  # a while_loop, which reverse mode does not go through
        return None


def same_slope(found, wanted):
    return found is not None and bool(np.allclose(found, wanted, 1e-6, 1e-8, equal_nan=True))


def chunk(sources, target="functional"):
    """What `run` says of each of these programs, in a process of its own."""
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    found = [(source, *run(source, target)) for source in sources]
    jax.clear_caches()
    return found


def main(count=5000, seed=0, target="functional"):
    counts, refusals = collections.Counter(), collections.Counter()
    start = time.time()
    sources = examples(count, seed)
    chunks = [sources[i : i + 50] for i in range(0, len(sources), 50)]
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        for source, status, why in itertools.chain.from_iterable(pool.map(functools.partial(chunk, target=target), chunks)):
            counts[status] += 1
            if status == "refused":
                refusals[why.split("(")[0]] += 1
            elif status in ("wrong", "unstable", "error"):
                print(f"==== {status}\n{source}\n---- {why}\n", flush=True)
            if counts.total() % 500 == 0:
                print(dict(counts), f"{time.time() - start:.0f} s", file=sys.stderr, flush=True)
    for why, n in refusals.most_common():
        print(f"{n:6} {why}")
    print(", ".join(f"{n} {status}" for status, n in counts.most_common()), f"of {len(sources)} different programs in {time.time() - start:.0f} s")


if __name__ == "__main__":
    numbers = map(int, filter(str.isdigit, sys.argv[1:]))
    targets = [t for t in TARGETS if t in sys.argv]
    main(*numbers, **dict(zip(["target"], targets)))
