"""`functools.partial` of a layer is of the one that its arguments make: instance norm with running statistics has state."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, load

CHOICE = "import functools\nfrom functools import partial\n\n\ndef layer(kind):\n    if kind == 'plain':\n        return functools.partial(nn.InstanceNorm2d, affine=False, track_running_stats=False)\n    return partial(nn.InstanceNorm2d, affine=True, track_running_stats=True)\n\n\n"
M = "class M(nn.Module):\n    def __init__(self, kind):\n        super().__init__()\n        norm = layer(kind)\n        self.n = norm(3)\n\n    def forward(self, x):\n        return self.n(x)\n"


@pytest.mark.parametrize("kind", ["plain", "tracked"])
def test_of_instance_norm(kind):
    source = HEAD + CHOICE + M
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    result = convert_source(source)
    assert not result.diagnostics, result.code
    module, made = scope["M"](kind), load(result)["M"](kind)
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 4)).astype(np.float32)
    params, state = from_torch(module, made)
    for training in (True, False):
        got, state = made(params, state, jnp.asarray(x), training=training)
        np.testing.assert_allclose(got, module.train(training)(torch.from_numpy(x)).detach(), 1e-4, 1e-5)
