"""verify: what the two sides are given, and how near they have to be; models of each target."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import transpile
from transpile import convert_source, from_torch
from transpile.proof.initial import verify_init
from transpile.proof.verification import run

from ..small_programs import HEAD, SPEAKER, both_modules, speakers


def report_of(source, *inputs, changed=("", "")):
    """What verify says of the M of a source and of what it is converted to, where something in it may be another."""
    return transpile.verify(*both_modules(HEAD + source, convert_source(HEAD + source.replace(*changed))), *inputs)


FLOAT32 = "class M(nn.Module):\n    def forward(self, x):\n        angles = 10000 ** (torch.arange(8, dtype=torch.float32) / 8)\n        return (x.float()[:, None] / angles).sin().cumsum(1)\n"
BATCH = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 4)\n\n    def forward(self, batch):\n        x, (y, z) = batch['x'], batch['more']\n        return self.fc(x * y + z)\n"


def test_what_is_float32_by_itself_is_held_to_float32():
    x = torch.linspace(1, 9, 50)
    assert report_of(FLOAT32, x).ok
    assert not report_of(FLOAT32, x, changed=("10000", "10001")).ok


def test_arrays_in_dicts_and_lists():
    batch = {"x": torch.randn(2, 3), "more": [torch.randn(2, 3), torch.randn(3)]}
    assert report_of(BATCH, batch).ok
    assert not report_of(BATCH, batch, changed=("x * y", "x * y * 1.0001")).ok


TARGETS = ["functional", "flax", "equinox"]
IDS = torch.tensor([1, 2, 4, 0])


@pytest.mark.parametrize("target", TARGETS)
def test_a_model_of_each_target(target):
    theirs, make = speakers(target)
    model, key = theirs(), jax.random.key(0)
    ours = make(key)
    checks = set()
    for training in (False, True):
        for dtype in ("float64", "float32"):
            report = transpile.verify(model, ours, IDS, bias=torch.ones(5), training=training, dtype=dtype)
            assert report.ok, report.rows
            checks |= {row.check for row in report.rows}
    assert checks == {"output", "gradient", "state"}
    assert model.body[1].p == 0.5 and model.calls == 0
    if target != "functional":
        assert not np.allclose(transpile.to_torch(ours)["head.weight"], model.head.weight.detach())
        assert all(leaf.dtype != jnp.float64 for leaf in jax.tree.leaves(ours) if hasattr(leaf, "dtype"))
    report = verify_init(theirs, ours if target == "functional" else make)
    assert report.ok and len(report.rows) == 2, report.rows


def test_the_width_of_jax_is_afterwards_as_it_was():
    theirs, make = speakers("flax")
    with jax.enable_x64(True):
        assert transpile.verify(theirs(), make(jax.random.key(0)), IDS, bias=torch.ones(5)).ok
    assert jnp.ones(1).dtype == jnp.float32


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "changed, check",
    [
        (("self.norm(x", "1.0001 * self.norm(x"), "output"),
        (("self.tokens(ids)", "self.tokens(ids).detach()"), "gradient"),
        (("self.calls += 1", "self.calls += 2"), "state"),
        (("self.calls += 1\n", "pass\n"), "state"),
    ],
)
def test_what_differs_in_a_model_of_each_target(target, changed, check):
    theirs, make = speakers(target, changed)
    rows = transpile.verify(theirs(), make(jax.random.key(0)), IDS, training=True).rows
    assert check in {row.check for row in rows if not row.ok}, rows


def test_an_equinox_model_with_its_state():
    theirs, make = speakers("equinox")
    model = theirs()
    assert transpile.verify(model, from_torch(model, make(jax.random.key(0))), IDS).ok


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_the_command_in_each_target(target, tmp_path, monkeypatch):
    source = tmp_path / "model.py"
    source.write_text(HEAD + SPEAKER)
    given = {"path": str(source), "cls": "M", "init": "dropout=0.1", "inputs": "i64[6]<5"}
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "jax_nn", raising=False)
    report = run({**given, "target": target})
    assert report.ok, report.rows
    assert {row.check for row in report.rows} == {"output", "gradient", "state", "init", "lowering"}
    made = tmp_path / target / "model.py"
    transpile.convert_path(source, made, target)
    made.write_text(made.read_text().replace("x = self.head(", "x = 2 * self.head("))
    monkeypatch.delitem(sys.modules, "jax_nn")
    assert not run({**given, "converted": str(made)}).ok
