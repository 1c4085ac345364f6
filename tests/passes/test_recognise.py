"""Torch's structure becomes nodes: tables of small programs, and the nodes that are made."""

import pytest

from transpile.model.effects import (
    Apply,
    BoundMethod,
    Declare,
    Mode,
    New,
    NewArray,
    Read,
    Tie,
    Walk,
)

from .recognise_helper import Recognised

INIT = """
class Net(nn.Module):
    def __init__(self, n, bias, x):
        super().__init__()
        self.fc, self.bn = nn.Linear(3, 3), nn.BatchNorm1d(3)
        {}
    def forward(self, x):
        return x.tanh()
"""


def declared(*lines):
    made = Recognised(INIT.format("\n        ".join(lines)))
    return made, made.nodes(Declare)[2:]


# statement of a constructor: what is declared
DECLARED = {
    "self.w = nn.Parameter(torch.zeros(n))": "Declare param: self.w = torch.zeros(n)",
    "self.w: nn.Parameter = nn.Parameter(torch.zeros(n))": (
        "Declare param: self.w: nn.Parameter = torch.zeros(n)"
    ),
    "self.w = nn.Parameter(torch.zeros(n)) if bias else None": (
        "Declare param: self.w = torch.zeros(n) if bias else None"
    ),
    'self.register_parameter("b", None)': "Declare param: self.b = None",
    'self.register_buffer("h", torch.zeros(n))': "Declare buffer: self.h = torch.zeros(n)",
    'self.register_buffer("h", torch.zeros(n), persistent=False)': (
        "Declare buffer~: self.h = torch.zeros(n)"
    ),
    'self.register_buffer(name="h", tensor=torch.zeros(n))': (
        "Declare buffer: self.h = torch.zeros(n)"
    ),
    "self.scale = torch.ones(3)": "Declare constant~: self.scale = torch.ones(3)",
    "self.steps = n": "",
    "self.a, self.b = n, bias": "",
    'self.add_module("l", nn.Linear(3, 4))': "Declare submodule: self.l = nn.Linear(3, 4)",
    "self.ws = nn.ParameterList([nn.Parameter(torch.ones(n))])": (
        "Declare submodule: self.ws = nn.ParameterList([nn.Parameter(torch.ones(n))])"
    ),
}


@pytest.mark.parametrize("line", DECLARED)
def test_declared(line):
    made, found = declared(line)
    assert found == [DECLARED[line]] * bool(DECLARED[line])
    assert "super()" not in made.text and made.ids == []


def test_several_targets_are_declared_one_by_one():
    made, found = declared("self.a = self.b = nn.ReLU()", "self.q, self.k = torch.ones(2).unbind()")
    assert found == [
        "Declare submodule: self.a = nn.ReLU()",
        "Declare submodule: self.b = self.a",
        "Declare constant~: self.q = q",
        "Declare constant~: self.k = k",
    ]
    assert "q, k = torch.ones(2).unbind()" in made.text


def test_a_param_on_one_way_is_one_on_all():
    _, found = declared(
        "if bias:", "    self.w = nn.Parameter(torch.ones(3))", "else:", "    self.w = None"
    )
    assert found == ["Declare param: self.w = torch.ones(3)", "Declare param: self.w = None"]


def test_none_registered_as_a_param_makes_no_param_of_a_buffer():
    lines = [
        "if bias:",
        '    self.register_buffer("mean", torch.zeros(3))',
        "else:",
        '    self.register_parameter("mean", None)',
    ]
    for ordered in (lines, ["if bias:", lines[3], "else:", lines[1]]):
        _, found = declared(*ordered)
        assert sorted(found) == [
            "Declare buffer: self.mean = None",
            "Declare buffer: self.mean = torch.zeros(3)",
        ]


def test_a_number_or_a_param_is_mixed():
    _, found = declared(
        "if bias:", "    self.w = nn.Parameter(torch.ones(3))", "else:", "    self.w = 1.0"
    )
    assert found == ["Declare mixed~: self.w = torch.ones(3)", "Declare mixed~: self.w = 1.0"]


def test_what_numpy_begins_and_a_param_ends_is_a_param():
    _, found = declared("self.w = np.ones(3)", "self.w = nn.Parameter(torch.from_numpy(self.w))")
    assert [line.partition(":")[0] for line in found] == ["Declare param"] * 2


def test_computed_names_stay_calls():
    made, found = declared(
        'self.register_buffer(f"u{n}", x)', 'self.add_module(f"l{n}", nn.ReLU())'
    )
    assert found == []
    assert made.nodes(NewArray) == ["NewArray buffer: Buffer(x)"]
    assert 'setattr(self, f"l{n}", nn.ReLU())' in made.text


def test_what_is_registered_again_stands_there():
    made, found = declared(
        "self.w = nn.Parameter(torch.ones(3))",
        'self.register_parameter("w", self.w)',
        'self.add_module("fc", self.fc)',
    )
    assert found == ["Declare param: self.w = torch.ones(3)"]
    assert "register" not in made.text and "add_module" not in made.text


def test_ties_and_stores():
    made, _ = declared(
        "self.head = nn.Linear(3, 3)",
        "self.head.weight = self.fc.weight",
        "self.fc.bias = nn.Parameter(torch.ones(3))",
    )
    assert made.nodes(Tie) == ["Tie: self.head.weight = self.fc.weight"]
    assert "self.fc.bias = torch.ones(3)" in made.text
    assert "Read param: self.fc.bias" in made.nodes(Read)


def test_a_parameter_that_is_not_trained_is_told():
    made, _ = declared("self.w = nn.Parameter(torch.ones(3), requires_grad=False)")
    assert made.ids == ["frozen-param"]


def test_walks():
    made, _ = declared(
        "for m in self.modules():",
        "    if isinstance(m, nn.Linear): nn.init.zeros_(m.weight)",
        "for l in [self.fc]: l.reset_parameters()",
    )
    assert made.nodes(Walk) == ["Walk: for m in self.modules():"]
    assert made.nodes(Read) == ["Read param: m.weight"]


FORWARD = """
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("h", torch.ones(3))
    def mix(self, x):
        return x * self.w
    def forward(self, x):
        return self.mix(x)
def scale(x):
    return x * 2
def noise(x):
    return x + torch.randn_like(x)
def run(net, x):
    return net(x)
class Net(Inner):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.fc = nn.Linear(3, 3)
        self.bn = nn.BatchNorm1d(3)
        self.layers = nn.ModuleList([Inner() for _ in range(3)])
    def forward(self, x):
        {}
        return x
"""


# statement of a forward pass: the nodes in it
USES = {
    "x = self.fc(x)": ["Apply: self.fc(x)"],
    "x = self.inner.forward(x)": ["Apply: self.inner(x)"],
    "x = self.fc.forward(x)": ["Apply: self.fc(x)"],
    "x = super().forward(x)": ["Apply: super().__call__(x)"],
    "x = Inner.forward(self, x)": ["Apply: Inner.__call__(self, x)"],
    "x = self.mix(x)": ["Apply: self.mix(x)"],
    "x = self.inner.mix(x)": ["Apply: self.inner.mix(x)"],
    "x = scale(x)": [],
    "x = noise(x)": ["Apply: noise(x)"],
    "x = run(self.fc, x)": ["Apply: run(self.fc, x)"],
    "for layer in self.layers: x = layer(x)": ["Apply: layer(x)"],
    "x = self.layers[0](x)": ["Apply: self.layers[0](x)"],
    "x = x * self.w": ["Read param: self.w"],
    "x = x + self.inner.h": ["Read buffer: self.inner.h"],
    "x = x + self.bn.running_mean": ["Read buffer: self.bn.running_mean"],
    "x = x @ self.fc.weight.t()": ["Read param: self.fc.weight"],
    "x = F.dropout(x, 0.1, self.training)": ["Mode: self.training"],
    "f = self.mix": ["BoundMethod: self.mix"],
    "f = self.inner.forward": ["BoundMethod: self.inner.__call__"],
    "self.h += 1": ["Read buffer: self.h"],
    "self.h.copy_(x)": ["Read buffer: self.h"],
}
KINDS = (Apply, Read, Mode, BoundMethod)


@pytest.mark.parametrize("line", USES)
def test_used(line):
    made = Recognised(FORWARD.format(line))
    assert made.nodes(*KINDS, inside="Net.__call__") == USES[line]
    assert "forward" not in made.text and made.ids == []


def test_a_property_is_no_array():
    made = Recognised(
        "class Net(nn.Module):\n"
        "    @property\n    def us(self):\n        return [torch.ones(3)]\n"
        "    def forward(self, x):\n        self.us[0][:] = x\n        return x\n"
    )
    assert made.nodes() == []


def test_what_forward_sets_is_a_buffer():
    made = Recognised(FORWARD.format("self.hits = self.hits + 1 if self.hits else x"))
    assert "Declare buffer~: self.hits = None" in made.nodes(Declare)
    made = Recognised(FORWARD.format("self.inner.seen = x"))
    assert "Declare buffer~: self.seen = None" in made.nodes(Declare)
    assert "Read buffer: self.inner.seen" in made.nodes(Read)


def test_a_class_with_a_call_of_its_own_keeps_forward():
    made = Recognised(
        "class Net(nn.Module):\n"
        "    def __call__(self, x):\n        return self.forward(x) + 1\n"
        "    def forward(self, x):\n        return x\n"
    )
    assert "def forward" in made.text
    assert made.nodes(Apply) == ["Apply: self.forward(x)"]


def test_classes_that_differ_are_mixed():
    text = """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
    def forward(self, x): return x
class B(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.ones(3))
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.m = A() if a else B()
    def forward(self, x): return self.m(x) * self.m.w
"""
    assert Recognised(text).nodes(Read) == ["Read mixed: self.m.w"]


def test_modules_are_built_anywhere():
    text = "def make(norm=nn.BatchNorm1d):\n    return nn.Sequential(nn.Linear(3, 3), norm(3))\n"
    assert Recognised(text).nodes(New) == [
        "New: nn.Sequential(nn.Linear(3, 3), norm(3))",
        "New: nn.Linear(3, 3)",
        "New: norm(3)",
    ]


@pytest.mark.parametrize(
    ("line", "ids", "left"),
    [
        ("self.fc.eval()", [], "def __call__(self, x):\n        return x"),
        ("self.eval()", ["module-mode"], "def __call__(self, x):\n        return x"),
        ("self.bn.training = False", [], "def __call__(self, x):\n        return x"),
        ("self.bn.training = x", ["module-mode"], "raise_"),
        ("self.fc.register_forward_hook(scale)", ["hook"], "raise_"),
        ("for m in self.children(): x = m(x)", ["module-value"], "self.children()"),
        ('x = self.get_submodule("fc")(x)', ["module-value"], "raise_"),
        ('x = x * self.get_parameter("fc.bias")', ["module-value"], "raise_"),
        ("self.fc._parameters = x", ["foreign-array"], "raise_"),
        ('self.fc.register_buffer("a", x)', ["foreign-array"], "raise_"),
    ],
)
def test_told(line, ids, left):
    made = Recognised(FORWARD.format(line))
    assert made.ids == ids and left in made.text


def test_constructors_set_no_mode():
    made, _ = declared("self.fc.eval()", "self.act = nn.ReLU().eval()")
    assert "eval" not in made.text and made.ids == []


def test_where_buffers_of_forward_passes_begin():
    text = """
class Net(nn.Module):
    hits = 0
    def __init__(self):
        super().__init__()
    def forward(self, x):
        self.hits += 1
        return x
class Norm(nn.BatchNorm1d):
    def __init__(self):
        super().__init__(3)
    def forward(self, x):
        self.running_mean = self.running_mean * 0.9
        return x
class Bare(nn.Module):
    def forward(self, x):
        self.seen = x
        return x
"""
    made = Recognised(text)
    assert made.nodes(Declare) == ["Declare buffer~: self.hits = 0"]
    assert made.ids == ["unsupported"]  # of Bare
