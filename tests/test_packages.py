"""Small packages of several files, each of which ends in a class Net: what crosses files is converted and computes the same."""

import sys

import pytest

from transpile.verification import run

HEAD = "import math\n\nimport torch\nimport torch.nn as nn\n\n"

# name -> (shapes of the inputs, {file: text})
PACKAGES = {
    "a filler of another file gives back what it fills": (
        "f32[2,3]",
        {
            "filling.py": """
def scaled_(tensor, scale=1.0):
    with torch.no_grad():
        tensor.normal_(std=math.sqrt(scale / tensor.shape[1]))


def filled_(tensor):
    scaled_(tensor, scale=2.0)
""",
            "model.py": """
from .filling import filled_


def start(module):
    if isinstance(module, nn.Linear):
        filled_(module.weight)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 64)
        self.apply(start)

    def forward(self, x):
        return self.fc(x)
""",
        },
    ),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_package(name, tmp_path, monkeypatch):
    inputs, files = PACKAGES[name]
    package = f"package{list(PACKAGES).index(name)}"
    (tmp_path / package).mkdir()
    for file, text in {"__init__.py": "", **files}.items():
        (tmp_path / package / file).write_text(HEAD + text if text else "")
    monkeypatch.setattr(sys, "path", list(sys.path))
    report = run({"path": str(tmp_path / package / "model.py"), "cls": "Net", "init": "", "inputs": inputs})
    assert not [row for row in report.rows if row.check == "diagnostic" or not row.ok]
