"""A class that overrides the initialiser of the layer which it extends: torch's constructor calls it, and so does `init`."""

import jax
import numpy as np
import pytest

from tests.small_programs import HEAD, both_modules
from transpile import convert_source

RESETS = {
    "Linear": "nn.Linear):\n    def reset_parameters(self):\n        nn.init.constant_(self.weight, 0.5)\n        nn.init.zeros_(self.bias)",
    "Conv1d": "nn.Conv1d):\n    def reset_parameters(self):\n        nn.init.ones_(self.weight)\n        if self.bias is not None:\n            self.bias.data.fill_(3.0)",
    "MultiheadAttention": "nn.MultiheadAttention):\n    def _reset_parameters(self):\n        nn.init.ones_(self.in_proj_weight)\n        nn.init.zeros_(self.in_proj_bias)",
    "BatchNorm1d": "nn.BatchNorm1d):\n    def reset_parameters(self):\n        self.reset_running_stats()\n        nn.init.constant_(self.weight, 0.25)\n        nn.init.zeros_(self.bias)",
    "attributes of its own": "nn.Embedding):\n    def __init__(self, n, d):\n        self.std = 0.25\n        super().__init__(n, d)\n        self.scale = nn.Parameter(torch.ones(d))\n\n    def reset_parameters(self):\n        nn.init.constant_(self.weight, self.std)",
    "called below as well": "nn.Linear):\n    def __init__(self, n, d):\n        super().__init__(n, d)\n        self.reset_parameters()\n\n    def reset_parameters(self):\n        nn.init.ones_(self.weight)\n        nn.init.ones_(self.bias)",
    "behind its own": "nn.Linear):\n    def __init__(self, n, d):\n        super().__init__(n, d)\n        if n > 0:\n            self.extra = nn.Parameter(self.weight.new_ones(d))\n        self.reset_parameters()\n\n    def reset_parameters(self):\n        nn.Linear.reset_parameters(self)\n        nn.init.ones_(self.weight)\n        nn.init.ones_(self.bias)\n        if hasattr(self, 'extra'):\n            nn.init.zeros_(self.extra)",
    "LSTM": "nn.LSTM):\n    def reset_parameters(self):\n        for w in self.parameters():\n            nn.init.constant_(w, 0.25)",
    "by way of a class": "nn.Linear):\n    def reset_parameters(self):\n        nn.init.ones_(self.weight)\n        nn.init.ones_(self.bias)\n\n\nclass M(L):\n    def reset_parameters(self):\n        super().reset_parameters()\n        nn.init.constant_(self.bias, 7.0)",
}


def source_of(body):
    return f"{HEAD}class L({body}\n" + ("" if "class M" in body else "\n\nclass M(L):\n    pass\n")


@pytest.mark.parametrize("name", RESETS)
def test_layer_resets(name):
    source = source_of(RESETS[name])
    result = convert_source(source)
    assert not result.diagnostics, result.code
    model, converted = both_modules(source, result, 4, *([] if "BatchNorm" in name else [2]), *([3] if "Conv" in name else []))
    params = converted.init(jax.random.key(0))
    for path, want in model.named_parameters():
        if "out_proj" in path:
            continue
        got = params
        for part in path.split("."):
            got = got[part]
        np.testing.assert_array_equal(got, want.detach(), err_msg=f"{path}: {result.code}")


def test_after_the_layers_own():
    source = source_of("nn.Linear):\n    def reset_parameters(self):\n        super().reset_parameters()\n        nn.init.zeros_(self.bias)")
    result = convert_source(source)
    assert not result.diagnostics, result.code
    params = both_modules(source, result, 4, 2)[1].init(jax.random.key(0))
    assert not params["bias"].any() and params["weight"].any()


def test_buffers_after_the_layers_own():
    source = source_of("nn.BatchNorm1d):\n    def reset_parameters(self):\n        super().reset_parameters()\n        self.running_var.fill_(4.0)")
    result = convert_source(source)
    assert not result.diagnostics, result.code
    model, converted = both_modules(source, result, 4)
    state = converted.init_state(jax.random.key(0))
    for name, want in model.named_buffers():
        np.testing.assert_array_equal(state[name], want, err_msg=result.code)


REPORTED = {
    "behind what it undoes": "nn.BatchNorm1d):\n    def reset_parameters(self):\n        self.running_var.fill_(4.0)\n        self.reset_running_stats()",
    "in a method": "nn.BatchNorm1d):\n    def again(self):\n        self.reset_running_stats()",
    "of the weights": "nn.Linear):\n    def again(self):\n        self.reset_parameters()",
    "of the weights, by the class": "nn.Linear):\n    def again(self):\n        nn.Linear.reset_parameters(self)",
    "behind a write": "nn.Linear):\n    def __init__(self, n, d):\n        super().__init__(n, d)\n        self.weight.data.fill_(1.0)\n        self.reset_parameters()\n\n    def reset_parameters(self):\n        nn.Linear.reset_parameters(self)\n        nn.init.zeros_(self.bias)",
}


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
@pytest.mark.parametrize("name", REPORTED)
def test_methods_that_the_layers_lack_are_reported(name, target):
    result = convert_source(source_of(REPORTED[name]), target)
    assert [d.id for d in result.diagnostics] == ["unsupported"], result.code


# A layer that is reset has its first values where nothing has written others; else it is told.
OF_LAYERS = {
    "of a list": (
        "self.fcs = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])\n        self.w = nn.Parameter(torch.ones(2))\n        self.reset()",
        "for fc in self.fcs:\n            fc.reset_parameters()\n        nn.init.zeros_(self.w)",
        [],
    ),
    "written behind it": (
        "self.fc = nn.Linear(2, 2)\n        self.reset()",
        "self.fc.reset_parameters()\n        nn.init.ones_(self.fc.weight)",
        [],
    ),
    "written before": (
        "self.fc = nn.Linear(2, 2)\n        nn.init.ones_(self.fc.weight)\n        self.reset()",
        "self.fc.reset_parameters()",
        ["unsupported"],
    ),
    "later on": ("self.fc = nn.Linear(2, 2)", "self.fc.reset_parameters()", ["unsupported"]),
}


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
@pytest.mark.parametrize("name", OF_LAYERS)
def test_a_layer_that_is_reset_has_its_first_values(name, target):
    building, reset, told = OF_LAYERS[name]
    source = (
        f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {building}\n\n"
        f"    def reset(self):\n        {reset}\n\n    def forward(self, x):\n        return x\n"
    )
    result = convert_source(source, target)
    assert [d.id for d in result.diagnostics] == told, result.code
    assert ("reset_parameters()" in result.code) == bool(told), result.code
