"""What torch's layers are given decides what a call of them takes: a state where it holds one."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_path, convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = """
class Counted(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return self.fc(x)


class M(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.tr = nn.TransformerEncoder({given})

    def forward(self, x):
        return self.tr(x)
"""
LAYER = "nn.TransformerEncoderLayer(d, 2, 8, 0.0, batch_first=True)"
GIVEN = {
    "a layer of torch's": (f"{LAYER}, 2", False),
    "a norm": (f"{LAYER}, 2, nn.LayerNorm(d)", False),
    "a norm by keyword": (f"{LAYER}, 2, norm=nn.RMSNorm(d)", False),
    "one with a state": (f"{LAYER}, 2, Counted(d)", True),
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_held_decides(name):
    given, stateful = GIVEN[name]
    source = HEAD + MODULE.format(given=given)
    result = convert_source(source)
    assert ('self.tr(params["tr"], state["tr"], x' in result.code) == stateful, result.code
    torch_module, module = both_modules(source, result, 4)
    x = torch.randn(2, 3, 4)
    params, state = from_torch(torch_module, module)
    got = module(params, *([state] if stateful else []), jnp.asarray(x.numpy()))
    want = torch_module.eval()(x).detach().numpy()
    np.testing.assert_allclose(got[0] if stateful else got, want, 1e-5, 1e-5)


def test_a_class_that_extends_it_may_hold_anything():
    below = "\n\nclass Other(nn.TransformerEncoder):\n    pass\n"
    result = convert_source(HEAD + MODULE.format(given=f"{LAYER}, 2") + below)
    assert "state" in result.code


def test_a_program_without_it_leaves_it_as_it_is(tmp_path):
    (tmp_path / "a.py").write_text(HEAD + MODULE.format(given=f"{LAYER}, 2"))
    (tmp_path / "b.py").write_text(HEAD + "class N(nn.Module):\n    def forward(self, x):\n        return x.tanh()\n")
    out = tmp_path / "out"
    convert_path(tmp_path / "a.py", out / "a.py")
    before = (out / "jax_nn.py").read_text()
    convert_path(tmp_path / "b.py", out / "b.py")
    assert (out / "jax_nn.py").read_text() == before
