"""Random programs of a fixed seed: none computes anything else than torch does. `benchmarks/fuzz.py` runs as many as wanted."""

import jax
import pytest
import torch

from benchmarks.fuzz import examples, run

PROGRAMS = examples(150, 20)


@pytest.mark.parametrize("i", range(len(PROGRAMS)))
def test_program(i):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with jax.enable_x64(True):
            status, why = run(PROGRAMS[i])
    finally:
        torch.set_default_dtype(before)
    assert status in ("right", "refused", "torch"), f"{PROGRAMS[i]}\n{why}"
