"""What is asked of a parameter tells an object from a tensor: `batch.data` beside `batch.edge_index` is no `stop_gradient`."""

import pytest

from transpile import convert_source

from ..small_programs import HEAD

SAMPLES = {
    "return sample.data, sample.label": "sample.data, sample.label",
    "return {'H': sample.H, 'real': sample.real, 'lr': sample.lr}": "'real': sample.real",
    "x = sample.data\n    return torch.exp(x) * sample.edge_index": "x = sample.data",
    "return sample.data * 2": "lax.stop_gradient(sample) * 2",
    "return sample.data * 2, sample.shape, sample.mask": "lax.stop_gradient(sample) * 2",
    "sample.decay = 0.1\n    return sample.data * sample.decay": "lax.stop_gradient(sample) *",
    "return sample.data.view(-1), sample.view(3), sample.mask": "lax.stop_gradient(sample)",
}


@pytest.mark.parametrize("body", SAMPLES)
def test_attributes(body):
    code = convert_source(f"import torch\n\n\ndef f(sample):\n    {body}\n").code
    assert SAMPLES[body] in code, code


def test_a_module_by_a_quoted_annotation():
    source = (
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n\n"
        "    def forward(self, x):\n        return self.fc(x)\n\n\nclass Runner:\n    def __init__(self, model: 'Net'):\n        self.model = model\n\n"
        "    def part(self, x):\n        return self.model.fc(x)\n"
    )
    assert 'return self.model.fc(params["model"]["fc"], x)' in convert_source(source).code


def test_torchs_names_in_quoted_annotations():
    source = (
        "from typing import Optional\n\nimport torch\nfrom torch import Tensor\n\n\n"
        "def f(x: 'torch.Tensor', y: \"Optional[Tensor]\" = None, z: 'Foo' = None) -> 'torch.FloatTensor':\n    return x + 1\n"
    )
    code = convert_source(source).code
    assert 'def f(x: jax.Array, y: "Optional[jax.Array]" = None, z: "Foo" = None) -> jax.Array:' in code and "import jax\n" in code, code
    assert "torch" not in code, code


@pytest.mark.xfail(strict=True, reason="type_hints looks at annotations alone: a name in quotes that typing is given stays torch's")
def test_torchs_names_in_quotes_for_typing():
    source = "from typing import TypeVar, cast\n\nimport torch\n\nT = TypeVar('T', bound='torch.nn.Module')\n\n\ndef f(x):\n    return cast('torch.Tensor', x) + 1\n"
    code = convert_source(source).code
    assert """TypeVar("T", bound="nn.Module")""" in code and """cast("jax.Array", x)""" in code and "import jax\n" in code, code


CACHE = """def put(cache, layer, value):
    name = {}
    cache[name] = value


class Layer(nn.Module):
    def forward(self, x, cache=None):
        if cache is not None:
            put(cache, "k", x)
        return x


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Layer(), Layer()

    def forward(self, x, cache=None):
        return self.b(self.a(x, cache), cache)
"""


@pytest.mark.parametrize("name", ["'{}.k'.format(layer)", "layer + '.k'", "'.'.join([layer, 'k'])", "layer.upper().strip()"])
def test_what_is_asked_for_a_string_that_a_method_of_strings_makes_is_a_dict(name):
    result = convert_source(HEAD + CACHE.replace("{}", name, 1))
    assert not result.diagnostics and "cache[name] = value" in result.code, (result.diagnostics, result.code)
