"""Layers that torch completes at their first input: they are refused, and told of."""

import pytest

from transpile import convert_source

from ..small_programs import load

LAYERS = ["LazyLinear(4)", "LazyConv2d(4, 3)", "LazyConvTranspose1d(4, 3, 2)", "LazyBatchNorm1d()", "LazyInstanceNorm2d()"]


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
@pytest.mark.parametrize("layer", LAYERS)
def test_they_are_reported(layer, target):
    source = f"import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.f = nn.{layer}\n\n    def forward(self, x):\n        return self.f(x)\n"
    result = convert_source(source, target)
    assert [(d.id, d.line) for d in result.diagnostics] == [("unsupported", 7)]
    assert "give the layer its size" in result.diagnostics[0].message
    if target == "functional":
        with pytest.raises(NotImplementedError, match=layer.partition("(")[0]):
            load(result)["M"]()


@pytest.mark.parametrize("line", ["kinds = [nn.LazyLinear]\n        self.f = kinds[0](3)", "kind = nn.LazyLinear\n        self.f = kind(3)"])
def test_as_a_value(line):
    source = f"import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {line}\n\n    def forward(self, x):\n        return self.f(x)\n"
    result = convert_source(source)
    assert "unsupported" in {d.id for d in result.diagnostics}, result.code
    with pytest.raises(NotImplementedError):
        load(result)["M"]()


def test_their_class_may_be_asked_for():
    source = "import torch.nn as nn\n\n\ndef is_lazy(m):\n    return isinstance(m, nn.LazyLinear)\n"
    result = convert_source(source)
    assert not result.diagnostics and "unconverted" not in result.code
