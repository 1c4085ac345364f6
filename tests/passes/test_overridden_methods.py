"""What classes have in the place of methods of torch's modules."""

import textwrap
from pathlib import PurePosixPath

import pytest

from transpile.model.edits import commit_all
from transpile.model.project import Project
from transpile.passes import overridden_methods
from transpile.source.lower import lower
from transpile.source.splice import write

RESET = "def reset_parameters(self):\n    nn.init.ones_(self.weight)\n"
FORWARD = "def forward(self, x):\n    return x\n"
MOVED = "def to(self, device):\n    {}\n    self.mask = {}\n    return self\n"
CALL = "self.reset_parameters()"
# the base class, the body of the class, what it is then
CASES = {
    "none of its own": (
        "nn.Embedding",
        RESET,
        "def __init__(self, *args, **kwargs):\n"
        f"    super().__init__(*args, **kwargs)\n    {CALL}\n{RESET}",
    ),
    "its own": (
        "nn.Linear",
        f"def __init__(self, n):\n    super().__init__(n, n)\n    self.n = n\n{RESET}",
        f"def __init__(self, n):\n    super().__init__(n, n)\n    {CALL}\n    self.n = n\n{RESET}",
    ),
    "called already": (
        "nn.Linear",
        f"def __init__(self, n):\n    super().__init__(n, n)\n    {CALL}\n{RESET}",
        None,
    ),
    "torch has none": ("nn.Module", f"def __init__(self):\n    super().__init__()\n{RESET}", None),
    "moved": (
        "nn.Module", FORWARD + MOVED.format("super().to(device)", "self.mask.to(device)"), FORWARD,
    ),
    "moved by a function": (
        "nn.Module",
        f"{FORWARD}def _apply(self, fn):\n    self = super()._apply(fn)\n"
        "    self.grid = list(map(fn, self.grid))\n    return self\n",
        FORWARD,
    ),
    "computed": (
        "nn.Module", FORWARD + MOVED.format("super().to(device)", "self.mask.to(device) * 2"), None,
    ),
    "other calls": ("nn.Module", FORWARD + MOVED.format("super().to(device)", "self.made()"), None),
    "not torch's": ("nn.Module", FORWARD + MOVED.format("pass", "self.mask.to(device)"), None),
    "no override": ("nn.Linear", "def forward(self, x):\n    return x\n", None),
}


@pytest.mark.parametrize("name", CASES)
def test_before_and_after(name):
    base, before, after = CASES[name]
    head = f"from torch import nn\n\nclass Net({base}):\n"
    project, path = Project(""), PurePosixPath("module.py")
    project.add(path, lower(head + textwrap.indent(before, "    "), path))
    project.link()
    commit_all(overridden_methods.PASS.run(project, None))
    (file,) = project.ordered
    assert write(file) == head + textwrap.indent(after or before, "    ")
