"""What forward passes do to attributes that they take to a device, or cast."""

import textwrap
from pathlib import PurePosixPath

import pytest

from transpile.model.edits import commit_all
from transpile.model.project import Project
from transpile.passes import transient_attributes
from transpile.source.lower import lower
from transpile.source.splice import write

GUARDED = (
    "self.m = self.m.to(x) if self.m is not None else None\nreturn x if self.m is None else self.m"
)
# the body of `forward`, what it is then, None where it stays; another method of the class
CASES = {
    "a device": ("self.m = self.m.to(x.device)\nreturn x * self.m", "return x * self.m", ""),
    "a device, read elsewhere": ("self.m = self.m.cuda()\nreturn x", "return x", "return self.m"),
    "a device, alone": ("if x:\n    self.m = self.m.cpu()", "if x:\n    pass", ""),
    "a cast": ("self.m = self.m.to(x)\nreturn x * self.m", "m = self.m.to(x)\nreturn x * m", ""),
    "a cast under a name that is taken": (
        "m = x\nself.m = self.m.to(x)\nreturn m * self.m",
        "m = x\nm_2 = self.m.to(x)\nreturn m * m_2",
        "",
    ),
    "what may be None": (
        GUARDED,
        "m = self.m.to(x) if self.m is not None else None\nreturn x if m is None else m",
        "",
    ),
    "a cast that is read before it": ("y = self.m\nself.m = self.m.to(x)\nreturn self.m", None, ""),
    "a cast on one way": ("if x:\n    self.m = self.m.to(x)\nreturn self.m", None, ""),
    "a cast, read elsewhere": ("self.m = self.m.to(x)\nreturn self.m", None, "return self.m"),
    "a cast, read by its name": (
        "self.m = self.m.to(x)\nreturn self.m",
        None,
        "return getattr(self, 'm')",
    ),
    "set elsewhere": ("self.m = self.m.to(x)\nreturn self.m", None, "self.m = None"),
    "set again": ("self.m = self.m.to(x)\nself.m = self.m + 1\nreturn self.m", None, ""),
    "a part set": ("self.m = self.m.to(x)\nself.m[0] = x\nreturn self.m", None, ""),
    "written in place": ("self.m = self.m.to(x)\nself.m[0].add_(x)\nreturn self.m", None, ""),
    "a module": ("self.m = self.m.to(x)\nreturn self.m(x)", None, ""),
    "a size": (
        "self.n = x.shape[1]\nreturn x.view(-1, self.n)",
        "n = x.shape[1]\nreturn x.view(-1, n)",
        "",
    ),
    "sizes beside others": (
        "b, self.n = x.shape\nself.h, self.w = x.size(2) // 2, len(x)\nreturn self.n, self.h",
        "b, n = x.shape\nh, w = x.size(2) // 2, len(x)\nreturn n, h",
        "",
    ),
    "numbers that are counted": (
        "self.n = list(range(min(len(x) // 2, self.limit)))\nreturn [x[j] for j in self.n]",
        "n = list(range(min(len(x) // 2, self.limit)))\nreturn [x[j] for j in n]",
        "",
    ),
    "a size, read elsewhere": ("self.n = x.size(1)\nreturn self.n", None, "return self.n"),
    "a size that is read before it": ("y = self.n\nself.n = x.size(1)\nreturn self.n", None, ""),
    "a dict that begins anew": (
        "self.out = {}\nself.out['a', 0] = x\nreturn self.out",
        "out = {}\nout['a', 0] = x\nreturn out",
        "",
    ),
    "a list, read elsewhere": ("self.n = []\nself.n.append(x)\nreturn x", None, "return self.n"),
    "a list that is set again": ("self.n = []\nself.n = self.n + [x]\nreturn self.n", None, ""),
    "a sum": ("self.n = x.sum() // 2\nreturn self.n", None, ""),
    "an array of NumPy's until a tensor is made of it": (
        "self.m = np.zeros(3)\nself.m[1:] = x\nself.m = torch.tensor(self.m)\nreturn self.m",
        "m = np.zeros(3)\nm[1:] = x\nself.m = torch.tensor(m)\nreturn self.m",
        "return self.m",
    ),
    "an array of NumPy's that a method may read": (
        "self.m = np.zeros(3)\nself.other()\nself.m = torch.tensor(self.m)\nreturn self.m",
        None,
        "return self.m",
    ),
    "another attribute": ("self.m = self.n.to(x)\nreturn self.m", None, ""),
}


def program(body, other):
    start = "import numpy as np\nimport torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
    methods = {"__init__": "super().__init__()\nself.m = torch.ones(3)", "forward": body}
    methods |= {"other": other} if other else {}
    return start + "\n".join(
        f"    def {name}(self{', x' * (name == 'forward')}):\n{textwrap.indent(text, ' ' * 8)}\n"
        for name, text in methods.items()
    )


@pytest.mark.parametrize("case", CASES)
def test_transient_attributes(case):
    body, wanted, other = CASES[case]
    project = Project()
    file = project.add(PurePosixPath("m.py"), lower(program(body, other), PurePosixPath("m.py")))
    project.link()
    commit_all(transient_attributes.run(project))
    assert write(file) == program(body if wanted is None else wanted, other)


TENSOR = "self.size = torch.tensor(self.size)"
CONSTRUCTED = {
    "what a tensor is made of": (
        f"self.size = size\nif self.size is not None:\n    {TENSOR}",
        "if size is not None:\n    size = torch.tensor(size)\nself.size = size",
    ),
    "a parameter that is asked for later": (
        f"self.size = size\n{TENSOR}\nself.n = len(size)",
        "size_2 = size\nsize_2 = torch.tensor(size_2)\nself.size = size_2\nself.n = len(size)",
    ),
    "a parameter that a loop asks for": (
        f"self.size = size\nfor i in range(2):\n    {TENSOR}",
        "size_2 = size\nfor i in range(2):\n    size_2 = torch.tensor(size_2)\nself.size = size_2",
    ),
    "set on both ways": (
        f"if size:\n    self.size = size\nelse:\n    self.size = (1, 2)\n{TENSOR}",
        "if size:\n    size_2 = size\nelse:\n    size_2 = (1, 2)\nsize_2 = torch.tensor(size_2)\nself.size = size_2",
    ),
    "an array of NumPy's, which is written first": (
        "self.size = np.zeros(3)\nself.size[0] = 1\nself.size = torch.from_numpy(self.size)",
        "size_2 = np.zeros(3)\nsize_2[0] = 1\nself.size = torch.from_numpy(size_2)",
    ),
    "set on one way": (f"if size:\n    self.size = size\n{TENSOR}", None),
    "read by a method": (f"self.size = size\nself.other()\n{TENSOR}", None),
    "read by a function": (f"self.size = size\nself.f = lambda: self.size\n{TENSOR}", None),
    "made of something else": ("self.size = size\nself.size = torch.ones(3)", None),
    "a number, of which no tensor is made": ("self.size = 1 + 2\nself.size = torch.ones(3)", None),
    "filled once it is a tensor": (
        "self.m = np.zeros((2, 2))\nself.m = torch.tensor(self.m)\nself.m[0] = 1",
        "m = np.zeros((2, 2))\nm = torch.tensor(m)\nm[0] = 1\nself.m = m",
    ),
    "a parameter of torch's": ("self.size = size\nself.size = nn.Parameter(self.size)", None),
}


@pytest.mark.parametrize("case", CONSTRUCTED)
def test_what_a_constructor_makes_a_tensor_of(case):
    body, wanted = CONSTRUCTED[case]
    head = "import numpy as np\nimport torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, size):\n"
    before, after = (head + textwrap.indent(text, " " * 8) + "\n" for text in (body, wanted or body))
    project = Project()
    file = project.add(PurePosixPath("m.py"), lower(before, PurePosixPath("m.py")))
    project.link()
    commit_all(transient_attributes.run(project))
    assert write(file) == after
