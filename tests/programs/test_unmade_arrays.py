"""Code that builds a model and asks for arrays of modules: for their shapes it may, for what is in them there is a diagnostic at the line."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

# the body of M's constructor, methods of M, what forward gives
SHAPES = {
    "through a name": ("self.conv = nn.Linear(3, 4)\nw = self.conv.weight\nself.dim = w.shape[0]", "", "self.conv(x) * self.dim"),
    "written out": ("self.conv = nn.Linear(3, 4)\nself.dim = self.conv.weight.size(1) + self.conv.bias.shape[0]", "", "self.conv(x) * self.dim"),
}  # fmt: skip


def _source(constructor, methods, result, base="nn.Module", made="super().__init__()"):
    lines = [f"class M({base}):", "    def __init__(self):", f"        {made}", *(f"        {line}" for line in constructor.splitlines())]
    lines += ["", *(f"    {line}" for line in methods.splitlines()), "", "    def forward(self, x):", f"        return {result}"]
    return HEAD + "\n".join(lines) + "\n"


def _compare(source):
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, state = from_torch(torch_module, module)
    assert jax.tree.structure(params) == jax.tree.structure(module.init(jax.random.key(0)))
    x = torch.randn(2, 3)
    got, _ = module.apply(params, state, jnp.asarray(x.numpy()))
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    _compare(_source(*SHAPES[name]))


def test_a_mask_like_a_weight_of_the_layer_extended():
    build = "def build(self):\n    mask = torch.ones_like(self.weight)\n    mask[:, 1] = 0\n    assert mask.shape == self.weight.shape\n    return mask"
    _compare(_source("mask = self.build()\nself.register_buffer('mask', mask)", build, "F.linear(x, self.weight * self.mask, self.bias)", "nn.Linear", "super().__init__(3, 3)"))


# the body of M's constructor, methods of M, the line that is refused
REFUSED = {
    "shown": ("self.conv = nn.Linear(3, 4)\nprint(self.conv.weight)", "", "print("),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_values_are_refused(name):
    constructor, methods, line = REFUSED[name]
    source = _source(constructor, methods, "self.conv(x) * 1.0")
    result = convert_source(source)
    assert [(d.id, source.splitlines()[d.line - 1].strip()[: len(line)]) for d in result.diagnostics] == [("module-value", line)], (result.diagnostics, result.code)


def test_the_data_of_a_param_under_a_computed_name():
    source = f"{HEAD}class M(nn.LSTM):\n    def drop(self):\n        for name, param in self.named_parameters():\n            getattr(self, name).data = F.dropout(param.data, training=self.training)\n\n    def forward(self, x):\n        self.drop()\n        return super().forward(x)[0]\n"
    assert [(d.id, d.line) for d in convert_source(source).diagnostics] == [("parameter-write", 11)]


def test_what_a_method_makes_of_a_weight_begins_it_before_a_walk():
    build = "self.conv = nn.Linear(3, 4)\nkernel = self.flat(self.conv.weight)\nself.conv.weight.data.copy_(kernel)\nfor m in self.modules():\n    if isinstance(m, nn.Linear):\n        nn.init.zeros_(m.bias)"
    source = _source(build, "def flat(self, w):\n    return w[:1].repeat(4, 1)", "self.conv(x) * 1.0")
    _compare(source)
    theirs, module = both_modules(source, convert_source(source))
    begun = module.init(jax.random.key(0))["conv"]
    for kernel, bias in ((theirs.conv.weight.detach(), theirs.conv.bias.detach()), begun.values()):
        kernel, bias = np.asarray(kernel), np.asarray(bias)
        assert kernel.std(1).all() and (kernel == kernel[:1]).all() and not bias.any()
