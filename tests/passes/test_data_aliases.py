"""Names for the data of arrays that are written through them."""

import textwrap
from pathlib import PurePosixPath

import pytest

from transpile.passes import data_aliases
from transpile.source.lower import lower
from transpile.source.splice import write

HEAD = "class Net(nn.Module):\n    def __init__(self, x):\n"
CASES = {
    "w = self.fc.weight.data\ninit.normal_(w.view([w.shape[0], -1]))": (
        "init.normal_(self.fc.weight.data.view([self.fc.weight.data.shape[0], -1]))"
    ),
    "w = self.weight.data\nw.view(-1).zero_()": "self.weight.data.view(-1).zero_()",
    "w = self.weight.data\nw[0] = 1": "self.weight.data[0] = 1",
    "for m in self.heads:\n    b = m.bias.view(x.n, -1)\n    b.data[:, 4] += 1\n    m.bias = Parameter(b.view(-1))": (
        "for m in self.heads:\n    m.bias.view(x.n, -1).data[:, 4] += 1\n"
        "    m.bias = Parameter(m.bias.view(x.n, -1).view(-1))"
    ),
    "b = x.bias.view(2, -1)\nb[:, 4] = 1": None,
    "b = x.bias.view(2, -1)\nx.bias = None\nb.data[:, 4] = 1": None,
    "b = x.bias.view(n(), -1)\nb.data[:, 4] = 1": None,
    "w = x.weight\nn = w.size(0)\ninit.normal_(w, 0, n)": "n = x.weight.size(0)\ninit.normal_(x.weight, 0, n)",
    "if x:\n    w = x.weight\n    init.zeros_(w.data)": "if x:\n    init.zeros_(x.weight.data)",
    "for n, p in self.lstm.named_parameters():\n    w = p\n    w.data.uniform_(-1, 1)": (
        "for n, p in self.lstm.named_parameters():\n    p.data.uniform_(-1, 1)"
    ),
    "for p in self.lstm.parameters():\n    w = p.data\n    w.fill_(1)": (
        "for p in self.lstm.parameters():\n    p.data.fill_(1)"
    ),
    "for p in self.lstm.parameters():\n    w = p\n    p = p + 1\n    w.data.fill_(1)": None,
    "for p in self.lstm.parameters():\n    w = p\n    y = w + 1": None,
    # it is only read, or may be another by then
    "w = x.weight\nx.weight = None\ninit.zeros_(w)": None,
    "w = x.weight\ny = w + 1": None,
    "w = self.weight.data\ny = w + 1": None,
    "w = self.weight.data\nself.weight = x\nw.zero_()": None,
    "w = self.weight.data\nw = w + 1\nw.zero_()": None,
    "if x:\n    w = self.weight.data\n    w.zero_()": None,
    "w = x.weight.data\nw.zero_()": None,
}


@pytest.mark.parametrize("before", CASES)
def test_before_and_after(before):
    file = lower(HEAD + textwrap.indent(before, " " * 8) + "\n", PurePosixPath("module.py"))
    for scope in file.scopes():
        data_aliases.PASS.run(scope, None).commit()
    assert write(file) == HEAD + textwrap.indent(CASES[before] or before, " " * 8) + "\n"
