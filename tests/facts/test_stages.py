"""When code runs: tables of small programs."""

import pytest

from transpile.facts.calls import Calls
from transpile.facts.stages import Stages

from .programs import Program

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.fill(self.fc.weight.data)
        self.build(4)
    def build(self, n):
        self.w = nn.Parameter(torch.zeros(n))
    def fill(self, w):
        w.mul_(2)
    def forward(self, x):
        return scale(self.mix(x))
    def mix(self, x):
        return self.fc(x)
    def set_rate(self, rate):
        self.rate = rate
    def init_weights(self):
        nn.init.zeros_(self.w)
def scale(x):
    def inner(y):
        return y * 2
    return inner(x)
def loss(a, b):
    return (a.abs() - b).mean()
def make(n):
    return Net()
def train(net, x):
    total = net(x).sum()
    total.backward()
def demo(n):
    net = Net()
    print(net(torch.zeros(n, 3)))
def layer_loss(a, b):
    criterion = nn.MSELoss()
    return criterion(a, b.abs())
def text(name):
    return name.upper()
"""
STAGES = {
    "Net.__init__": "building",
    "Net.build": "building",
    "Net.fill": "building",
    "Net.init_weights": "building",
    "Net.forward": "traced",
    "Net.mix": "traced",
    "Net.set_rate": "traced",  # what calls it is not known: it is of a module
    "scale": "traced",
    "scale.inner": "traced",
    "loss": "traced",
    "make": "building",
    "train": "host",
    "demo": "host",
    "layer_loss": "traced",
    "text": None,
}


@pytest.fixture(scope="module")
def net():
    program = Program(NET)
    return program, Stages(program.values, Calls(program.values))


@pytest.mark.parametrize("name", STAGES)
def test_stage(net, name):
    program, stages = net
    assert stages.stage(program.function(name)) == STAGES[name]


def test_files_and_classes():
    program = Program("class A(nn.Module):\n    pass\n")
    stages = Stages(program.values, Calls(program.values))
    assert stages.stage(program.file) == "import"
    assert stages.stage(program.cls("A")) == "import"
    script = Program("net = nn.Linear(3, 3)\nprint(net(torch.zeros(3)))\n")
    assert Stages(script.values, Calls(script.values)).stage(script.file) == "host"
