"""What forward passes keep for the next one, and what they could make anew."""

import textwrap
from pathlib import PurePosixPath

import pytest

from transpile.model.edits import commit_all
from transpile.model.project import Project
from transpile.passes import caches
from transpile.source.lower import lower
from transpile.source.splice import write

HEAD = "import time\n\nimport torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
NEW = "n = len(x)\nif n != self.n:\n    self.n = n\n    t = torch.arange(n)\n    self.table = t.cos()\n"
MASK = "if self.m is not None and self.m.shape[0] >= n:\n    return self.m[:n]\n"
BESIDE = "n = len(x)\nif n == self.n:\n    m = self.m\nelse:\n    m = torch.ones(n).type_as(x)\n"
BESIDE += "    self.m = m\n    self.n = n\nreturn x * m"
# what the constructor sets, the body of `forward(self, x, n)`, what both are then; "" where they
# stay as they are
CASES = {
    "by its size": (
        "self.n = None\nself.table = None",
        NEW + "return x * self.table",
        "pass",
        "n = len(x)\nt = torch.arange(n)\ntable = t.cos()\nreturn x * table",
    ),
    "under the name of a method of tensors": (
        "self.n = None\nself.cos = None",
        NEW.replace("self.table", "self.cos") + "return x * self.cos",
        "pass",
        "n = len(x)\nt = torch.arange(n)\ncos = t.cos()\nreturn x * cos",
    ),
    "beside its size": (
        "self.n = 4\nself.m = torch.ones(self.n)",
        BESIDE,
        "pass",
        "n = len(x)\nm = torch.ones(n).type_as(x)\nreturn x * m",
    ),
    "beside its size, begun otherwise": ("self.n = 4\nself.m = torch.zeros(self.n)", BESIDE, "", ""),
    "beside another size": (
        "self.n = 4\nself.m = torch.ones(self.n)",
        BESIDE.replace(" n == self.n", " self.m.dtype == x.dtype"),
        "",
        "",
    ),
    "beside its size, made otherwise": (
        "self.n = 4\nself.m = torch.ones(self.n)",
        BESIDE.replace("type_as(x)", "type_as(x) * 2"),
        "",
        "",
    ),
    "beside one of its sizes": (
        "self.n = 4\nself.m = torch.ones(self.n)",
        BESIDE.replace("type_as(x)", "expand(x.shape[0], n)"),
        "",
        "",
    ),
    "where there is none yet": (
        "self.m = None",
        "if self.m is None or self.m.size(0) != len(x):\n    self.m = torch.ones(len(x))\n"
        "return x * self.m",
        "pass",
        "m = torch.ones(len(x))\nreturn x * m",
    ),
    "given early": (
        'self.register_buffer("m", None)',
        MASK + 'm = torch.ones(n)\nself.register_buffer("m", m)\nreturn m',
        "pass",
        "m = torch.ones(n)\nreturn m",
    ),
    "built by the constructor": (
        "self.n = 8\nself.m = torch.ones(8)",
        "if n > self.n:\n    self.n = n\n    self.m = torch.ones(n)\nreturn x * self.m[:n]",
        "self.n = 8\nself.m = torch.ones(8)",
        "m = self.m\nif n > self.n:\n    m = torch.ones(n)\nreturn x * m[:n]",
    ),
    "of what was given, which changes with it": (
        "self.base = base\nself.size = None",
        "if self.size is None and self.base:\n    self.base = self.base * 2\n"
        "    self.size = [0, 1]\n    self.size[0] = self.base + len(x)\n"
        "if self.size[0] > n:\n    x = x * 2\nelse:\n    x = x * 3\nreturn x",
        "self.base = base\nself.size = None",
        "base = self.base\nsize = None\nif self.size is None and self.base:\n"
        "    base = base * 2\n    size = [0, 1]\n    size[0] = base + len(x)\n"
        "if size[0] > n:\n    x = x * 2\nelse:\n    x = x * 3\nreturn x",
    ),
    "doubled for each size": (
        "self.n = None\nself.base = 4",
        "if len(x) != self.n:\n    self.n = len(x)\n    self.base = self.base * 2\n"
        "return x * self.base",
        "",
        "",
    ),
    "doubled after": (
        "self.size = None\nself.base = 4",
        "if self.size is None:\n    self.size = self.base * len(x)\nself.base = self.base * 2\n"
        "return x * self.size",
        "",
        "",
    ),
    "in a dict": (
        "self.ms = {}",
        "if n not in self.ms:\n    self.ms[n] = torch.ones(n)\nreturn x * self.ms[n]",
        "pass",
        "ms = {}\nms[n] = torch.ones(n)\nreturn x * ms[n]",
    ),
    "of the type of data": (
        "self.key = None",
        "t = x.data.type()\nif self.key == (n, t):\n    return self.m\nself.key = n, t\n"
        "self.m = torch.ones(n).type(t)\nreturn self.m",
        "pass",
        "t = x.data.type()\nm = torch.ones(n).type(t)\nreturn m",
    ),
    "by a name, which both sides set": (
        "self.keep = keep\nself.n = 0\nself.ms = {}",
        "k = len(x)\nif self.n != k or x.device not in self.ms:\n    m = torch.ones(k)\n"
        "    if self.keep:\n        self.ms[x.device] = m\n        self.n = k\n"
        "else:\n    m = self.ms[x.device]\nreturn x * m",
        "self.keep = keep",
        "k = len(x)\nm = torch.ones(k)\nreturn x * m",
    ),
    "by a name that is changed behind it": (
        "self.n = 0\nself.m = None",
        "if self.n != n or self.m is None:\n    m = torch.ones(n)\n    self.m = m\n    self.n = n\n"
        "    m = m * 2\nelse:\n    m = self.m\nreturn x * m",
        "",
        "",
    ),
    "of data": ("self.m = None", "if self.m is None:\n    self.m = x\nreturn self.m", "", ""),
    "of a param": (
        "self.w = nn.Parameter(torch.ones(4))\nself.m = None",
        "if self.m is None:\n    self.m = self.w * 2\nreturn self.m",
        "",
        "",
    ),
    "of a layer": (
        "self.f = nn.Linear(4, 4)\nself.m = None",
        "if self.m is None:\n    self.m = self.f(torch.ones(4))\nreturn self.m",
        "",
        "",
    ),
    "drawn": (
        "self.m = None",
        "if self.m is None:\n    self.m = torch.randn(4)\nreturn self.m",
        "",
        "",
    ),
    "done once": (
        "self.first = True",
        "y = 0\nif self.first:\n    self.first = False\n    y = 1\nreturn x * y",
        "",
        "",
    ),
    "given once": (
        "self.first = True",
        "if self.first:\n    self.first = False\n    return x\nreturn x * 2",
        "",
        "",
    ),
    "the largest": (
        "self.n = 0",
        "if n > self.n:\n    self.n = n\nreturn x * self.n",
        "",
        "",
    ),
    "counted": (
        "self.n = None",
        "if self.n is None:\n    self.n = 0\nself.n += 1\nreturn x * self.n",
        "",
        "",
    ),
    "a layer": (
        "self.f = None",
        "if self.f is None:\n    self.f = nn.Linear(n, 4)\nreturn self.f(x)",
        "",
        "",
    ),
    "changed in place": (
        "self.m = None",
        "if self.m is None:\n    self.m = torch.zeros(4)\nself.m.add_(x)\nreturn self.m",
        "",
        "",
    ),
    "changed in place, by a name": (
        "self.m = None",
        "if self.m is None:\n    self.m = torch.zeros(4)\nm = self.m[0]\nm += x\nreturn self.m",
        "",
        "",
    ),
    "of what is changed in place": (
        "self.k = torch.ones(4)\nself.m = None",
        "self.k.add_(1)\nif self.m is None:\n    self.m = self.k * 2\nreturn self.m",
        "",
        "",
    ),
    "by a library's clock": (
        "self.m = None",
        "if self.m is None:\n    self.m = time.time()\nreturn x * self.m",
        "",
        "",
    ),
    "on one way": (
        "self.m = None\nself.k = 1",
        "if self.m is None:\n    self.m = torch.ones(4)\nif n:\n    self.k = 2\n"
        "return x * self.m * self.k",
        "self.k = 1",
        "m = torch.ones(4)\nif n:\n    self.k = 2\nreturn x * m * self.k",
    ),
}


def program(constructor: str, forward: str, more: str = "") -> str:
    built = textwrap.indent(f"super().__init__()\n{constructor}", 8 * " ")
    body = textwrap.indent(forward, 8 * " ")
    return f"{HEAD}    def __init__(self):\n{built}\n\n    def forward(self, x, n):\n{body}\n{more}"


def after(source: str) -> str:
    project = Project("")
    path = PurePosixPath("net.py")
    file = project.add(path, lower(source, path))
    project.link()
    commit_all(caches.run(project))
    return write(file)


@pytest.mark.parametrize("case", CASES)
def test_what_is_kept(case):
    constructor, forward, built, made = CASES[case]
    got = after(program(constructor, forward))
    if not made:
        assert got == program(constructor, forward)
        return
    wanted = program("" if built == "pass" else built, made)
    assert _plain(got) == _plain(wanted)


def _plain(source: str) -> list[str]:
    return [line for line in source.splitlines() if line.strip()]


def test_a_method_that_fills_is_written_where_it_is_called():
    fill = "    def _fill(self, k):\n        if k != self.n:\n            self.n = k\n"
    fill += "            self.m = torch.ones(k)\n"
    got = after(program("self.n, self.m = None, None", "self._fill(len(x))\nreturn x * self.m", fill))
    assert "m = torch.ones(len(x))\n        return x * m" in got
    assert "_fill" not in got


def test_a_method_that_gives_what_it_fills_is_written_where_that_is_set():
    fill = "    def _fill(self, k):\n        if k != self.n:\n            self.n = k\n"
    fill += "            self.m = torch.ones(k)\n        return self.m, self.n\n"
    body = "self.m, self.n = self._fill(len(x))\nreturn x * self.m"
    got = after(program("self.n, self.m = None, None", body, fill))
    assert "m = torch.ones(len(x))\n        return x * m" in got
    assert "_fill" not in got


def test_names_that_are_given_to_each_other():
    body = "if self.m is None:\n    self.m = torch.ones(4)\na = self.m\nb = a\na = b\nreturn x * a"
    got = after(program("self.m = None", body))
    assert "a = m\n        b = a\n        a = b\n" in got


@pytest.mark.parametrize(("word", "told"), [("!=", []), ("<", ["taken-for-granted"])])
def test_a_table_that_may_be_longer_is_told(word, told):
    source = program("self.n = 0\nself.table = None", NEW + "return x * self.table")
    project = Project("")
    path = PurePosixPath("net.py")
    project.add(path, lower(source.replace("n != self.n", f"self.n {word} n"), path))
    project.link()
    assert [d.id for changes in caches.run(project) for d in changes.diagnostics] == told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("if self.m is None:\n    self.m = torch.ones(x.shape[1])\nreturn x * self.m", True),
        ("w = x.size(1)\nif self.m is None:\n    self.m = torch.ones(w)\nreturn x * self.m", True),
        ("if self.m is None:\n    self.m = torch.ones(4) * rank\nreturn x * self.m", True),
        ("if self.m is None:\n    self.m = torch.ones(4)\nreturn x * self.m", False),
        ("if self.m is None or len(self.m) != len(x):\n    self.m = torch.ones(len(x))\nreturn x * self.m", False),
    ],
)
def test_what_the_first_call_makes_of_its_sizes_is_told(body, told):
    project = Project("")
    path = PurePosixPath("net.py")
    source = program("self.m = None", body).replace("x, n)", "x, n, rank=0)")
    project.add(path, lower(source, path))
    project.link()
    found = [d.id for changes in caches.run(project) for d in changes.diagnostics]
    assert found == ["taken-for-granted"] * told


def test_what_others_read_is_kept():
    reads = "\n\nclass Other(nn.Module):\n    def forward(self, net):\n        return net.table\n"
    source = program("self.n = None\nself.table = None", NEW + "return x * self.table", reads)
    got = after(source)
    assert "self.table = t.cos()" in got
