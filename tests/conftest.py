"""What several test modules set up."""

import jax
import pytest
import torch

# Thousands of small programs are compiled once and run once or twice: what XLA's optimisations
# cost they never bring in, and the numbers are compared either way.
jax.config.update("jax_disable_most_optimizations", True)
torch.set_num_threads(1)  # two workers share two cores


@pytest.fixture
def wide():
    """Run a test in float64 on both sides."""
    torch.set_default_dtype(torch.float64)
    with jax.enable_x64(True):
        yield
    torch.set_default_dtype(torch.float32)
