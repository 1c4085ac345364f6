"""Modes that code sets, in three dialects beside torch, in training and in evaluation; and those
that are told."""

import pytest
import torch

from transpile.command import engine

from .verified import given, verify

BLOCK = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.bn = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.bn(self.fc(x))


class Net(nn.Module):
    def __init__(self, freeze=True):
        super().__init__()
        self.freeze = freeze
        self.fc = nn.Linear(4, 4)
        self.bn = nn.BatchNorm1d(4)
        self.teacher = Block()
        self.layers = nn.ModuleList([Block(), Block()])

"""
FOLLOWED = {
    "before it is called": """
    def forward(self, x):
        self.bn.eval()
        return self.bn(self.fc(x)) + self.teacher(x)
""",
    "by its attribute": """
    def forward(self, x):
        self.bn.training = False
        return self.bn(self.fc(x)) + self.teacher(x)
""",
    "in a method of torch's own": """
    def train(self, mode=True):
        super().train(mode)
        self.bn.eval()
        self.teacher.train(False)
        return self

    def encode(self, x):
        return self.bn(self.fc(x))

    def forward(self, x):
        return self.encode(x) + self.teacher(x) + self.layers[0](x)
""",
    "set back": """
    def target(self, x):
        was_training = self.training
        self.eval()
        with torch.no_grad():
            out = self.bn(self.fc(x)) * (2.0 if self.training else 3.0)
        self.train(was_training)
        return out

    def forward(self, x):
        return self.bn(self.fc(x)) + self.target(x)
""",
    "set back in a branch": """
    def forward(self, x):
        training = self.training
        self.eval()
        y = self.teacher(x)
        if training:
            self.train()
        return self.layers[0](x) + y
""",
    "set back at last": """
    def forward(self, x):
        training = self.bn.training
        self.bn.train(False)
        try:
            y = self.bn(self.fc(x)).detach()
        finally:
            self.bn.train(training)
        return self.bn(x) + y
""",
    "of what a loop runs": """
    def forward(self, x):
        self.layers.eval()
        for layer in self.layers:
            x = layer(x)
        return self.layers[1](x) + self.teacher(x)
""",
    "of all, in a loop": """
    def encode(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, x):
        training = self.training
        self.eval()
        for i, layer in enumerate(self.layers):
            x = layer(x) * i
        x = self.encode(x)
        self.train(training)
        return self.bn(x)
""",
    "set back as the model is": """
    def forward(self, x):
        h = self.bn(self.fc(x))
        self.bn.eval()
        h = self.bn(h)
        self.bn.train(self.training)
        self.teacher.eval()
        h = self.teacher.fc(h)
        self.teacher.train(self.training)
        return self.teacher(h)
""",
    "under another name": """
    def forward(self, x):
        teacher = self.teacher
        teacher.bn.weight
        self.teacher.eval()
        net = self.teacher
        return net(x) + self.bn(x)
""",
}


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_called_runs_in_the_mode(name, target):
    torch.manual_seed(1)
    verify(BLOCK + FOLLOWED[name].lstrip("\n"), "Net", "", [torch.randn(5, 4).double()], target)


TOLD = {
    "in one branch": """
    def forward(self, x):
        if self.freeze:
            self.bn.eval()
        return self.bn(x)
""",
    "called later": """
    def forward(self, x):
        f = lambda t: self.bn(self.fc(t))
        self.bn.eval()
        return f(x)
""",
    "called in a function that is made before": """
    def forward(self, x):
        def f(t):
            return self.bn(self.fc(t))
        self.bn.eval()
        return f(x)
""",
    "called in a function inside": """
    def forward(self, x):
        self.bn.eval()
        def f(t):
            return self.bn(self.fc(t))
        return f(x)
""",
    "a part of what is called": """
    def forward(self, x):
        self.teacher.bn.eval()
        return self.teacher(x)
""",
    "called by another method": """
    def encode(self, x):
        return self.bn(x)

    def forward(self, x):
        self.bn.eval()
        return self.encode(x)
""",
    "set by another method": """
    def hold(self):
        self.bn.eval()

    def forward(self, x):
        self.hold()
        return self.bn(x)
""",
    "in turns": """
    def forward(self, x):
        for layer in self.layers:
            layer.eval()
            x = layer(x)
        return x
""",
    "handed on": """
    def forward(self, x):
        self.bn.eval()
        return sum(f(x) for f in (self.bn, self.fc))
""",
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_not_followed_is_told_and_raises_in_the_other_mode(name):
    made, _, _ = engine.convert([given(BLOCK + TOLD[name].lstrip("\n"))], "", "functional")
    assert "module-mode" in {d.id for d in made[0].diagnostics}, made[0].code
    if name != "called by another method":
        assert 'if training:' in made[0].code and 'nn.unconverted("module-mode"' in made[0].code


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_an_eval_that_is_not_followed_raises_in_training_alone(target):
    torch.manual_seed(1)
    text, inputs = BLOCK + TOLD["in turns"].lstrip("\n"), [torch.randn(5, 4).double()]
    verify(text, "Net", "", inputs, target, ["module-mode"], [False])
    with pytest.raises(NotImplementedError):
        verify(text, "Net", "", inputs, target, ["module-mode"], [True])


OUTSIDE = """
    def hold(self):
        for m in self.modules():
            if isinstance(m, nn.BatchNorm1d):
                m.eval()

    def forward(self, x):
        return self.bn(x)


def evaluate(net: Net, x):
    net.eval()
    return net(x)
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_what_sets_a_mode_outside_of_what_runs_is_told_where_modules_have_none(target):
    (made,), _, _ = engine.convert([given(BLOCK + OUTSIDE.lstrip("\n"))], "", target)
    told = [d.line for d in made.diagnostics if d.id == "module-mode"]
    left = [line.strip() for line in made.code.splitlines() if ".eval()" in line]
    if target == "flax":
        assert (told, left) == ([], ["m.eval()", "net.eval()"])
    else:
        assert len(told) == 2
        raised = 'nn.unconverted("module-mode", "{}.eval()")'
        assert left == [raised.format("m"), raised.format("net")]
