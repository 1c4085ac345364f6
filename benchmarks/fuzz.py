"""Random programs, converted and compared with torch on all cores: `python -m benchmarks.fuzz [COUNT] [SEED]`.

Prints every program that computes something else, a table of refusals by diagnostic, and the counts.
"""

import collections
import concurrent.futures
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


def run(source):
    """("right" | "refused" | "wrong" | "error" | "torch", what happened)."""
    text = HEAD + source + "\n"
    torch_side = {}
    exec(compile(text, "program.py", "exec"), torch_side)
    try:
        wanted = [(pair, [array(leaf) for leaf in leaves(torch_side["f"](*[t.clone() for t in pair]))]) for pair in inputs()]
    except RuntimeError as error:
        return "torch", str(error)
    result = convert_source(text)
    if result.diagnostics:
        return "refused", result.diagnostics[0].id + ": " + result.diagnostics[0].message
    try:
        scope = load(result)
        f = jax.jit(scope["f"])
        for pair, want in wanted:
            got = leaves(f(*[jnp.asarray(t.numpy()) for t in pair]))
            for g, w in zip(got, want, strict=True):
                if np.shape(g) != w.shape or not np.allclose(g, w, 1e-9, 1e-9, equal_nan=True):
                    return "wrong", f"{np.asarray(g)} for {w}\n{result.code}"
        return gradients(torch_side["f"], scope["f"], result.code)
    except Exception as error:  # noqa: BLE001 - any failure of converted code counts
        return "error", f"{type(error).__name__}: {str(error)[:300]}\n{result.code}"


def gradients(torch_f, jax_f, code):
    """Derivatives along one direction; programs whose in-place writes torch cannot differentiate have none.

    Forward mode goes through any loop, and comes first. Where it differs, reverse mode decides, which is what torch
    does: numbers of 1e307 overflow forwards, and have a finite gradient backwards.
    """
    slopes_by = {}  # by which results count, which hardly ever follows from the inputs
    for pair in inputs():
        tensors = [t.clone().requires_grad_() for t in pair]
        try:
            want = [w for w in leaves(torch_f(*tensors)) if isinstance(w, torch.Tensor)]
            total = sum(torch.tanh(w * 0.25).sum() for w in want if w.requires_grad)
            slopes = torch.autograd.grad(total, tensors, allow_unused=True)
        except RuntimeError:
            return "right", ""
        which = tuple(w.requires_grad for w in want)
        direction = [np.sin(np.arange(12.0) + 1).reshape(4, 3) for _ in pair]
        wanted = sum((d * s.numpy()).sum() for d, s in zip(direction, slopes) if s is not None)

        def loss(*xs, which=which):
            return sum(jnp.tanh(o * 0.25).sum() for o, w in zip(leaves(jax_f(*xs)), which) if w)

        slope_of = slopes_by.setdefault(which, jax.jit(lambda xs, ds, loss=loss: jax.jvp(loss, xs, ds)[1]))
        arrays = [jnp.asarray(t.numpy()) for t in pair]
        slope = slope_of(arrays, [jnp.asarray(d) for d in direction])
        if not np.allclose(slope, wanted, 1e-6, 1e-8, equal_nan=True):
            try:
                slope = sum((d * s).sum() for d, s in zip(direction, jax.grad(loss, (0, 1))(*arrays)))
            except ValueError:  # a while_loop, which reverse mode does not go through
                pass
        if not np.allclose(slope, wanted, 1e-6, 1e-8, equal_nan=True):
            return "wrong", f"gradient {slope} for {wanted}\n{code}"
    return "right", ""


def chunk(sources):
    """What `run` says of each of these programs, in a process of its own."""
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    found = [(source, *run(source)) for source in sources]
    jax.clear_caches()
    return found


def main(count=5000, seed=0):
    counts, refusals = collections.Counter(), collections.Counter()
    start = time.time()
    sources = examples(count, seed)
    chunks = [sources[i : i + 50] for i in range(0, len(sources), 50)]
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        for source, status, why in itertools.chain.from_iterable(pool.map(chunk, chunks)):
            counts[status] += 1
            if status == "refused":
                refusals[why.split("(")[0]] += 1
            elif status in ("wrong", "error"):
                print(f"==== {status}\n{source}\n---- {why}\n", flush=True)
    for why, n in refusals.most_common():
        print(f"{n:6} {why}")
    print(", ".join(f"{n} {status}" for status, n in counts.most_common()), f"of {len(sources)} different programs in {time.time() - start:.0f} s")


if __name__ == "__main__":
    options = [a for a in sys.argv[1:] if a.isdigit()]
    main(*map(int, options))
