"""What several test modules set up."""

import jax
import pytest
import torch


@pytest.fixture
def wide():
    """Run a test in float64 on both sides."""
    torch.set_default_dtype(torch.float64)
    with jax.enable_x64(True):
        yield
    torch.set_default_dtype(torch.float32)
