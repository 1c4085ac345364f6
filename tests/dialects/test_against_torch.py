"""Torch files through the whole new engine, in two dialects, beside torch."""

from pathlib import Path

import pytest
import torch

from fixtures.cases import CASES
from transpile.proof.verification import parse_inputs

from .verified import verify

ROOT = Path(__file__).parents[2]
# Some of the fixtures that come out right in both.
NAMES = "perceptron batch_statistics running_norm helpers"


@pytest.mark.parametrize("target", ["flax", "equinox"])
@pytest.mark.parametrize("case", [c for c in CASES if c.file in NAMES.split()], ids=lambda c: c.file)
def test_fixture(case, target):
    source = (ROOT / "fixtures" / "torch" / f"{case.file}.py").read_text()
    torch.manual_seed(0)
    inputs = [torch.as_tensor(x) for x in parse_inputs(case.inputs)]
    inputs = [x.double() if x.is_floating_point() else x for x in inputs]
    verify(source, case.cls, case.init, inputs, target)
