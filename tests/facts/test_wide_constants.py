"""Constants that torch computes in float64 and keeps in float32 have its values to the last place,
without JAX's x64."""

import jax
import numpy as np
import pytest
import torch

from transpile import convert_source

from ..small_programs import both_modules

HEAD = "import numpy as np\nimport torch\nimport torch.nn as nn\n\n\n"
CASES = {
    "with NumPy": "c = torch.tensor(np.sqrt(1 / np.cumprod(1 - np.linspace(1e-4, 0.02, 1000)) - 1)).float()",
    "in float64": "c = (1 / torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000, dtype=torch.float64), 0) - 1).sqrt().float()",
    "by double()": "c = torch.log(1 - torch.cumprod(1 - torch.full((1000,), 1e-4).double(), 0)).float()",
}

@pytest.mark.parametrize("line", CASES.values(), ids=CASES)
def test_constants_keep_their_digits(line):
    source = (
        f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        {line}\n        self.register_buffer('c', c)\n\n"
        "    def forward(self, x):\n        return x * self.c\n"
    )
    torch_module, module = both_modules(source, convert_source(source))
    ones = np.ones(1000, np.float32)
    want = torch_module(torch.from_numpy(ones)).numpy()
    got = (
        np.asarray(module(ones))
        if hasattr(module, "c")
        else module.init_state(jax.random.key(0))["c"]
    )
    np.testing.assert_array_max_ulp(got, want, 2)
