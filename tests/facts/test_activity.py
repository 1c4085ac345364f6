"""May a gradient pass: a table of functions with a marked expression."""

import pytest

from tests.facts.programs import Program
from transpile.facts.activity import Activity
from transpile.facts.calls import Calls


def activity(text):
    program = Program(text)
    return program, Activity(program.project, program.values, Calls(program.values))


def carries(text):
    program, found = activity(text)
    return found.carries(program.marked)


# body of `def f(x, y, n=3)`, x and y being tensors
LOCAL = {
    "an input": ("return «x» * 2", True),
    "a made one": ("return «torch.zeros(3)» * x", False),
    "a name of a made one": ("z = torch.ones(3)\nreturn «z» * x", False),
    "computed": ("z = torch.ones(3) * x\nreturn «z» + 1", True),
    "detached": ("z = x.detach() * 2\nreturn «z» + x", False),
    "detached of whatever": ("z = x.grad.detach()\nreturn «z» + x", False),
    "bound again": ("z = x\nz = z.detach()\nreturn «z»", False),
    "on one way": ("z = torch.ones(3)\nif n > 3:\n    z = x\nreturn «z»", True),
    "integers": ("z = (x > 0).long()\nreturn «z» * x", False),
    "in place": ("z = torch.zeros(3)\nz.add_(x)\nreturn «z»", True),
    "in place of a view": ("z = torch.zeros(3)\nz.view(-1)[0] = x[0]\nreturn «z»", True),
    "in place of an alias": ("z = torch.zeros(3)\nw = z[:2]\nw.add_(x)\nreturn «z»", True),
    "in place of a copy": ("z = torch.zeros(3)\nw = z.clone()\nw.add_(x)\nreturn «z»", False),
    "through data": ("z = torch.zeros(3)\nz.data.add_(x)\nreturn «z»", False),
    "augmented": ("z = torch.zeros(3)\nz += x\nreturn «z»", True),
    "a list": ("zs = []\nzs.append(x)\nreturn «zs[0]»", True),
    "a list of made ones": ("zs = []\nzs.append(torch.zeros(3))\nreturn «zs[0]» * x", False),
    "a comprehension": ("zs = [t * 2 for t in (torch.ones(2), torch.ones(3))]\nreturn «zs»", False),
    "a loop": ("for t in [x, y]:\n    z = t\nreturn «z»", True),
    "out": ("z = torch.zeros(3)\ntorch.add(x, y, out=z)\nreturn «z»", True),
    "under no_grad": ("with torch.no_grad():\n    z = x * 2\nreturn «z» * x", False),
    "inside of no_grad": ("with torch.no_grad():\n    z = x * 2\n    w = «z» + 1\nreturn w", True),
    "renamed under no_grad": ("with torch.no_grad():\n    z = x\nreturn «z»", True),
    "by a flag": ("with torch.set_grad_enabled(n > 3):\n    z = x * 2\nreturn «z»", True),
    "written under no_grad": (
        "z = torch.zeros(3)\nwith torch.no_grad():\n    z.add_(x)\nreturn «z»",
        False,
    ),
    "a number": ("z = x.sum().item()\nreturn «z» * x", False),
    "numpy": ("z = np.zeros(3)\nreturn «z» * x", False),
    "an inner function": ("z = x * 2\ndef g():\n    return «z»\nreturn g()", True),
    "a lambda": ("h = lambda t: t * 2\nreturn «h(torch.ones(3))»", None),
    "a lambda that may call itself": (
        "o = {}\ng = o['g']\no['g'] = lambda t: -g(-t)\nreturn «o['g'](x)»",
        True,
    ),
    "not known": ("return «n.make()»", None),
}  # fmt: skip
HEAD = "def f(x: torch.Tensor, y: torch.Tensor, n=3):\n"


@pytest.mark.parametrize("name", LOCAL)
def test_locals(name):
    body, expected = LOCAL[name]
    assert carries(HEAD + "".join(f"    {line}\n" for line in body.splitlines())) in (
        [expected] if expected is not None else [None]
    )


FUNCTIONS = {
    "what is given": ("def g(t):\n    return t * 2", "«g(x)»", True),
    "of what is made": ("def g(t):\n    return t * 2", "«g(torch.ones(3))»", False),
    "its own": ("def g(t):\n    return torch.ones(3)", "«g(x)»", False),
    "without gradient": ("@torch.no_grad()\ndef g(t):\n    return t * 2", "«g(x)»", False),
    "without gradient, renamed": ("@torch.no_grad()\ndef g(t):\n    return t", "«g(x)»", True),
    "of two": ("def g(t, u):\n    return u.detach() * t", "«g(torch.ones(3), x)»", False),
    "recursive": ("def g(t, n):\n    return t if n == 0 else g(t * 2, n - 1)", "«g(x, 3)»", True),
    "recursive, made": ("def g(t, n):\n    return t if n == 0 else g(t, n - 1)", "«g(torch.ones(2), 3)»", False),
    "a generator": ("def g(t):\n    yield t * 2", "[«u» for u in g(x)]", True),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    made, call, expected = FUNCTIONS[name]
    found = carries(f"{made}\n\n{HEAD}    return {call}\n")
    assert bool(found) is expected if name == "a generator" else found is expected


def test_what_a_function_writes():
    text = "def g(t, u):\n    t.copy_(u)\n\n" + HEAD
    assert carries(text + "    z = torch.zeros(3)\n    g(z, x)\n    return «z»\n") is True
    assert carries(text + "    z = torch.zeros(3)\n    g(z, z)\n    return «z»\n") is False


MODULE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_parameter("v", nn.Parameter(torch.ones(3)))
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("part", torch.zeros(3))
        self.register_buffer("frozen", torch.zeros(3))
        self.norm = nn.BatchNorm1d(3)
        self.pool = nn.MaxPool1d(2)
        self.scale = torch.ones(3)
        self.last = None

    @torch.no_grad()
    def update(self, x):
        self.frozen = self.frozen * 0.9 + x.mean(0)
        self.mean.mul_(0.5).add_(x.mean(0))

    def forward(self, x):
        self.part = self.part + x.mean(0)
        self.scale.data.add_(x.mean(0))
        self.last = x
        return «{}»
"""
FIELDS = {
    "self.w": True,
    "self.w * 2": True,
    "self.w.data": False,
    "self.v": True,
    "self.mean": False,
    "self.part": True,
    "self.frozen": False,
    "self.scale": False,
    "self.norm.weight": True,
    "self.norm.running_mean": False,
    "self.norm(self.mean)": True,
    "self.pool(self.mean)": False,
}


@pytest.mark.parametrize("expression", FIELDS)
def test_fields(expression):
    assert carries(MODULE.format(expression)) is FIELDS[expression]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("x.data", True), ("x.detach()[0]", True), ("self.mean.data.view(-1)", False), ("self.w.data", True)],
)  # fmt: skip
def test_histories(expression, expected):
    program, found = activity(MODULE.format(expression))
    assert found.history(program.marked) is expected
