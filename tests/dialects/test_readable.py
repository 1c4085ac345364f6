"""What the output looks like: small programs, the lines that an engineer would have typed, and the
numbers of torch."""

import pytest
import torch

from transpile.command import dialect

from .test_small_programs import HEAD, TARGETS
from .verified import given, verify

NONE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y=None, z=None):
        if z == None:
            z = torch.ones(4)
        if y != None and x.sum() > 0:
            x = x + y
        return self.fc(x) * (2 if None == z else z)
"""
# what is written, the lines of it, and those that are not
LINES = {
    "whether something is None is known": (
        NONE,
        ["if z is None:", "if y is not None:", "(2 if z is None else z)"],
        ["== None", "None =="],
    ),
}
ROWS = [(name, target) for name in LINES for target in TARGETS]


@pytest.mark.parametrize("name, target", ROWS)
def test_lines(name, target):
    program, wanted, unwanted = LINES[name]
    (made,), _, _ = dialect.convert([given(HEAD + program)], "", target)
    assert [w for w in wanted if w not in made.code] == [], made.code
    assert [w for w in unwanted if w in made.code] == [], made.code
    torch.manual_seed(0)
    verify(HEAD + program, "Net", "", [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)], target)


@pytest.mark.parametrize("target", TARGETS)
def test_what_holds_dicts_is_written(target):
    program = (
        "class Net(nn.Module):\n    @torch.no_grad()\n    def forward(self, results, masks):\n"
        "        for i, m in enumerate(masks):\n            results[i]['masks'] = m * 2\n        return results\n"
    )
    (made,), _, _ = dialect.convert([given(HEAD + program)], "", target)
    assert 'results[i]["masks"] = lax.stop_gradient(m * 2)' in made.code
