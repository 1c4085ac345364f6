"""What torch computes in float64, and JAX by default in float32, is reported where it is asked for."""

import pytest

from transpile import convert_source

HEAD = "import numpy as np\nimport torch\nimport torch.nn as nn\n\n\n"
CASES = {
    "a constant of diffusion": ("b = torch.linspace(1e-4, 0.02, 10, dtype=torch.float64)", True),
    "by method": ("b = torch.linspace(1e-4, 0.02, 10).double()", True),
    "by a cast": ("b = torch.linspace(1e-4, 0.02, 10).to(torch.float64)", True),
    "with NumPy": (
        "b = torch.tensor(np.cumprod(1 - np.linspace(0, 1, 10)), dtype=torch.float32)",
        False,
    ),
    "in float32": ("b = torch.linspace(1e-4, 0.02, 10)", False),
}


@pytest.mark.parametrize("line, told", CASES.values(), ids=CASES)
def test_float64_is_told(line, told):
    source = (
        f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        {line}\n        self.register_buffer('b', (1 - b).float())\n\n"
        "    def forward(self, x):\n        return x * self.b\n"
    )
    found = [(d.id, d.line) for d in convert_source(source).diagnostics]
    assert found == ([("taken-for-granted", 9)] if told else [])
