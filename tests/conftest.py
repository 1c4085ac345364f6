"""What several test modules set up."""

import gc
import os
import random
import zlib

import jax
import jaxlib
import numpy as np
import pytest
import torch

from .refused import REFUSED

# Thousands of small programs are compiled once and run once or twice: what XLA's optimisations
# and its fusions' own compiler cost they never bring in, and the numbers are compared either way.
# A jaxlib that does not know a flag ends the process: it is given to those that were tried.
if jaxlib.__version__.startswith("0.10."):
    flags = "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}"
jax.config.update("jax_disable_most_optimizations", True)
torch.set_num_threads(1)  # two workers share two cores
torch.compiler.set_stance("force_eager")  # torch.compile's own compiler takes half a minute
# Looking through torch's and JAX's own objects for cycles, again and again, is a good part of what
# thousands of conversions cost.
gc.collect()
gc.freeze()
gc.set_threshold(100_000, 20, 100)


@pytest.fixture(autouse=True)
def seeded(request):
    """Draw the same in every run: a sum that nearly cancels must not fall by chance."""
    seed = zlib.crc32(request.node.nodeid.encode())
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


@pytest.fixture
def wide():
    """Run a test in float64 on both sides."""
    torch.set_default_dtype(torch.float64)
    with jax.enable_x64(True):
        yield
    torch.set_default_dtype(torch.float32)


def pytest_collection_modifyitems(items):
    """What is refused and need not be (`tests/refused.py`): each has to fail, until it is mended."""
    reasons = {name: reason for reason, names in REFUSED.items() for name in names}
    for item in items:
        reason = reasons.get(item.nodeid.removeprefix("tests/"))
        if reason is not None:
            item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
