"""Classes of modules that annotations call modules, as many write them: `act_layer: nn.Module = nn.ReLU`."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

INNER = """class Inner(nn.Module):
    def __init__(self, n, conv{conv}, act{act}):
        super().__init__()
        self.conv, self.act = conv(n, n, 3, bias=True), act(True)

    def forward(self, x):
        return self.act(self.conv(x))


"""
MODULE = """class M(nn.Module):
    def __init__(self, n=3, act: nn.Module = nn.ReLU, conv: nn.Module = nn.Conv2d):
        super().__init__()
        self.inner = {inner}

    def forward(self, x):
        return self.inner(x)
"""
CALL = "Inner(n, act=act, conv=conv)"
# name -> what comes before the module, and what its constructor makes
PROGRAMS = {
    "by default None": (INNER.format(conv=": nn.Module = None", act=": nn.Module = None"), CALL),
    "without a default": (INNER.format(conv=": nn.Module", act=": nn.Module"), CALL),
    "by default a class": (INNER.format(conv=": nn.Module = nn.Conv2d", act=": nn.Module = nn.ReLU"), CALL),
    "that may be None": (INNER.format(conv=": Optional[nn.Module] = None", act=": Optional[nn.Module] = None"), CALL),
    "of a class by name": ("class Act(nn.ReLU):\n    pass\n\n\n" + INNER.format(conv=": nn.Conv2d = nn.Conv2d", act=": Act = Act"), "Inner(n)"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_they_make_is_called_with_its_params(name):
    before, inner = PROGRAMS[name]
    source = HEAD.replace("import torch\n", "from typing import Optional\n\nimport torch\n", 1) + before + MODULE.format(inner=inner)
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, state = from_torch(torch_module, module)
    x = torch.randn(2, 3, 5, 5)
    got = module.apply(params, state, jnp.asarray(x.numpy()))[0]
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)


def test_a_class_that_no_call_shows():
    """Nothing but the call in the constructor, which gives no array, tells it from a module."""
    source = HEAD + INNER.format(conv=": nn.Module", act=": nn.Module").replace("Inner", "M")
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    assert 'self.conv.apply(params["conv"]' in result.code and 'self.act.apply(params["act"]' in result.code, result.code
