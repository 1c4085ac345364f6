"""What the marked expressions of small programs may be."""

import random

import pytest

from transpile.facts.values.cells import same
from transpile.facts.values.lattice import (
    BOOL,
    INT,
    MISSING,
    NUMPY,
    SHAPE,
    STRING,
    External,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
)
from transpile.model.node import Expression

from .programs import Program

LINEAR = Module(frozenset({"torch.nn.Linear"}), whole=True)
NET = """
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 3)
        self.width = width
        self.register_buffer("seen", torch.zeros(1))
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
    def forward(self, x):
        {}
"""

CASES = {
    "x = «torch.nn.functional.relu»": Torch("torch.nn.functional.relu"),
    "x = «nn.Linear»": Torch("torch.nn.Linear"),
    "x = «F.relu(torch.zeros(3))»": Tensor(),
    "x = torch.zeros(2, 3)\ny = «x.shape»": SHAPE,
    "x = torch.zeros(2, 3)\ny = «x.shape[0]»": INT,
    "x = torch.zeros(2, 3)\ny = «x > 0»": Tensor(kind="b"),
    "x = torch.zeros(2, 3)\nb, c = «x.size()»": SHAPE,
    "n = 3\ny = «n * 2»": INT,
    "y = «4 / 2»": Static(MISSING, "float"),
    "y = «f'a{1}'»": STRING,
    "y = «[1, 'a']»": Sequence(Static(), (Static(1, "int"), Static("a", "str"))),
    "y = «{'a': torch.zeros(1)}»": Mapping(Tensor()),
    "y = «torch.arange(1, 4, device='cpu')»": Tensor(kind="i"),
    "y = «torch.arange(0.5, 4)»": Tensor(),
    "y = «torch.arange(4, dtype=torch.float32)»": Tensor(kind="f"),
    "def f(n=3): return «torch.arange(n)»": Tensor(),
    "y = «np.zeros(3)»": NUMPY,
    "def f(n):\n    if n is not None: n = torch.ones(n)\n    return «n»\nf((2, 3)), f(None)": Tensor(none=True),
    "y = «len([1])»": INT,
    "y = «isinstance(1, int)»": BOOL,
    "y = «print»": External("builtins.print"),
    "y = «True»": Static(True, "bool"),
    "def f(a: int): return «a»": INT,
    "def f(a: torch.Tensor): return «a»": Tensor(),
    "def f(a): return «a» + a.size(0)": Tensor(),
    "def f(a=3): return «a»": INT,
    "def f(a): return «a»": Tensor(assumed=True),
    "def f(a): return «a»\nf('x')": STRING,
    "def f(a):\n    if isinstance(a, str):\n        return «a»": STRING,
    "def f(n): return [n]\nx = «f(1)»": Sequence(INT, (INT,)),
    "def f(x):\n    n = 0\n    if x.sum() > 0:\n        n = n + 1\n    return «n»": Tensor(
        kind="i"
    ),
    "def f(x):\n    for i in range(3):\n        x = «i»": INT,
    "x = «nn.Sequential(nn.ReLU(), nn.ReLU())[0]»": Module(
        frozenset({"torch.nn.ReLU"}), whole=True
    ),
    "class A:\n    n = 3\n    def f(self): return «self.n»": Static(3, "int"),
    NET.format("return «self.fc»"): LINEAR,
    NET.format("return «self.fc(x)»"): Tensor(),
    NET.format("return «self.fc.weight»"): Tensor(param=True),
    NET.format("return «self.seen»"): Tensor(param=True, buffer=True),
    NET.format("return [«p» for p in filter(lambda p: p.requires_grad, self.parameters())]"): Tensor(
        param=True
    ),
    NET.format("return «self.layers[0]»"): LINEAR,
    NET.format("return «self.training»"): BOOL,
    NET.format("return «x.max(1)[1]»"): Tensor(),
    NET.format("return «x.sum().item()»"): Tensor(number=True),
    NET.format("return «self.width»") + "Net(5)\n": INT,
    NET.format("return «getattr(self, 'fc')»"): LINEAR,
    "x = «nn.Embedding.from_pretrained(torch.zeros(3, 4))»": Module(
        frozenset({"torch.nn.Embedding"})
    ),
    "x = nn.Transformer(8)\ny = «x.encoder»": Module(frozenset({"torch.nn.TransformerEncoder"})),
    "x = nn.BatchNorm1d(3)\ny = «x.running_mean»": Tensor(param=True),
    "def f(d): return «d»['a']\nf(torch.zeros(1))": Mapping(Tensor(assumed=True)),
}


@pytest.mark.parametrize("text", CASES)
def test_value(text):
    assert Program(text).value == CASES[text]


def test_what_constructors_read_is_what_they_have_set():
    """`self.g` inside the Sequential is the convolution, not the Sequential that it becomes."""
    program = Program("""
class Net(nn.Module):
    def __init__(self, pool):
        super().__init__()
        self.g = nn.Conv1d(3, 3, 1)
        if pool:
            self.g = nn.Sequential(«self.g», nn.MaxPool1d(2))
    def forward(self, x): return self.g(x)
""")
    assert program.value == Module(frozenset({"torch.nn.Conv1d"}), whole=True)


def test_what_other_functions_add_is_seen():
    """A second look at a function: what it gives another becomes known only later."""
    program = Program("""
def first(x): return second(x, 3)
def second(x, n): return third(n)
def third(n): return «n»
first(torch.zeros(3))
""")
    assert program.value == INT
    assert program.values.result(program.function("first")) == INT


def test_recursion_and_growing_lists_end():
    program = Program("""
class Tree:
    def __init__(self): self.rows = []
    def grow(self): self.rows = [self.rows, self.rows]
def walk(n, rows): return walk(n - 1, [rows]) if n else «rows»
walk(3, [])
""")
    assert isinstance(program.value, Sequence)


def test_queries():
    program = Program(NET.format("return «self.fc»(x) if x is not None else None"))
    values, net = program.values, program.cls("Net")
    assert values.attribute(net, "width") == INT  # what nn.Linear is given
    assert values.attribute(net, "missing") is None
    assert values.parameters(program.function("Net.forward")) == {}


FILES = {
    "one": "from two import *\nclass A(B):\n    def f(self, x): return g(self.n, x)\n",
    "two": "from three import g\nclass B(nn.Module):\n    def __init__(self):\n        self.n = 3\n",
    "three": "def g(n, x): return h(n) + x\ndef h(n): return n\n",
}


def test_the_order_of_files_does_not_matter():
    def found(order):
        program = Program("", **{name: FILES[name] for name in order})
        files = {str(file.path): file for file in program.project.files.values()}
        nodes = (n for path in sorted(files) for n in files[path].walk())
        return [(n.start, n.value) for n in nodes if isinstance(n, Expression)]

    names = list(FILES)
    first = found(names)
    for _ in range(3):
        random.shuffle(names)
        again = found(names)
        assert [a[0] for a in first] == [b[0] for b in again]
        for (_, a), (_, b) in zip(first, again):
            assert same(a, b) or repr(a) == repr(b)
