"""Hooks, parameters and buffers that code gives to modules, or takes from them, from outside their class."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import both_modules

HEAD = "import torch\nfrom torch import nn\n\n\n"
MODULE = "class Net(nn.Module):\n    def __init__(self, body):\n        super().__init__()\n        self.body = body\n        self.fc = nn.Linear(3, 3)\n"

OUTSIDE = {
    "a buffer of a layer": (MODULE + "        self.fc.register_buffer('mask', torch.ones(3))\n", ["foreign-array"]),
    "a hook of a layer": (MODULE + "        self.fc.register_forward_pre_hook(lambda m, x: (x[0] * 2,))\n", ["hook"]),
    "in a function": ("def keep(module, w):\n    module.register_parameter('weight_raw', nn.Parameter(w.data))\n    return module\n", ["foreign-array"]),
    "by the table": ("def deprive(module, name):\n    del module._parameters[name]\n", ["foreign-array"]),
    "of every layer": (MODULE + "        for m in self.body.modules():\n            m.register_buffer('mask', torch.ones(3))\n", ["foreign-array"]),
    "by a class of hooks": (
        "class Scale:\n    @staticmethod\n    def apply(module, name):\n        weight = getattr(module, name)\n        del module._parameters[name]\n"
        "        module.register_parameter(name + '_orig', nn.Parameter(weight.data))\n        module.register_forward_pre_hook(Scale())\n\n"
        "    def __call__(self, module, input):\n        setattr(module, 'weight', module.weight_orig * 2)\n\n\n" + MODULE + "        Scale.apply(self.fc, 'weight')\n",
        ["foreign-array", "foreign-array", "hook"],
    ),
    "by computed names": (MODULE + "        for name in ('weight', 'bias'):\n            setattr(self.fc, name, nn.Parameter(torch.zeros(3)))\n", ["foreign-array"]),
    "by a computed name in a function": ("def keep(module, name):\n    setattr(module, name, nn.Parameter(getattr(module, name) * 2))\n    return module\n", ["foreign-array"]),
    "by a module that holds it": (
        "class Wrapper(nn.Module):\n    def __init__(self, module, name='weight'):\n        super().__init__()\n        self.module, self.name = module, name\n        self.make()\n\n"
        "    def make(self):\n        w = getattr(self.module, self.name)\n        del self.module._parameters[self.name]\n        self.module.register_parameter(self.name + '_bar', nn.Parameter(w.data))\n\n"
        "    def forward(self, x):\n        setattr(self.module, self.name, getattr(self.module, self.name + '_bar') * 2)\n        return self.module(x)\n",
        ["foreign-array", "foreign-array", "dynamic-attribute"],
    ),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_arrays_and_hooks_from_outside_are_reported(name):
    source, ids = OUTSIDE[name]
    result = convert_source(HEAD + source)
    assert [d.id for d in result.diagnostics] == ids, (result.diagnostics, result.code)


@pytest.mark.parametrize("name", ["_register_load_state_dict_pre_hook", "register_state_dict_post_hook"])
def test_a_hook_of_checkpoints_is_left_out_and_told(name):
    own = MODULE + f"        self.{name}(self.load)\n\n    def load(self, weights, prefix, *args):\n"
    own += "        weights[prefix + 'w'] = torch.cat([weights.pop(prefix + 'q'), weights.pop(prefix + 'k')])\n"
    result = convert_source(HEAD + own)
    assert [d.id for d in result.diagnostics] == ["hook"]
    assert 'weights[prefix + "w"] = jnp.concatenate' in result.code and "_hook" not in result.code


def test_a_class_registers_its_own():
    own = MODULE + "        self.register_buffer('mask', torch.ones(3))\n        self.register_parameter('scale', nn.Parameter(torch.ones(3)))\n\n    def forward(self, x):\n        return self.fc(x * self.mask) * self.scale\n"
    assert not convert_source(HEAD + own).diagnostics


WITHOUT_BIAS = {
    "a layer": "self.fc = nn.Linear(3, 3)\nself.fc.bias = None\nself.norm = nn.LayerNorm(3)",
    "registered": "self.fc = nn.Linear(3, 3)\nself.fc.register_parameter('bias', None)\nself.norm = nn.LayerNorm(3)",
    "of a local": "fc = nn.Linear(3, 3)\nfc.bias = None\nself.fc = fc\nself.norm = nn.LayerNorm(3)",
    "in a container": "self.fc = nn.Sequential(nn.Linear(3, 3))\nself.fc[0].bias = None\nself.norm = nn.LayerNorm(3)",
    "a weight that no flag is for": "self.fc = nn.Linear(3, 3)\nself.norm = nn.LayerNorm(3)\nself.norm.weight = None",
    "of a norm": "self.fc = nn.Linear(3, 3)\nself.norm = nn.LayerNorm(3)\nself.norm.bias = None",
}


@pytest.mark.parametrize("name", WITHOUT_BIAS)
def test_a_layer_without_its_bias_has_none_in_init(name):
    lines = "".join(f"        {line}\n" for line in WITHOUT_BIAS[name].splitlines())
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{lines}\n    def forward(self, x):\n        return self.norm(self.fc(x))\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, _ = from_torch(torch_module, module)
    for _ in range(2):
        assert jax.tree.structure(module.init(jax.random.key(0))) == jax.tree.structure(params), result.code
    x = torch.randn(2, 3)
    np.testing.assert_allclose(jax.jit(module)(params, jnp.asarray(x.numpy())), torch_module(x).detach().numpy(), 1e-5, 1e-6)


TAKEN = {
    "deleted": "self.norm = nn.LayerNorm(3)\ndel self.norm.weight",
    "of every layer": "self.norm = nn.Sequential(nn.LayerNorm(3))\nfor m in self.norm.modules():\n    if isinstance(m, nn.LayerNorm):\n        m.bias = None",
}


@pytest.mark.parametrize("name", TAKEN)
def test_other_arrays_that_are_taken_away_are_reported(name):
    lines = "".join(f"        {line}\n" for line in TAKEN[name].splitlines())
    result = convert_source(f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{lines}\n    def forward(self, x):\n        return self.norm(x)\n")
    assert [d.id for d in result.diagnostics] == ["module-value"], (result.diagnostics, result.code)
