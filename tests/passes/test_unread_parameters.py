"""Parameters of devices that conversion leaves unread: they go where all calls are known."""

from pathlib import PurePosixPath

import pytest

from transpile.command import engine
from transpile.source.files import Source

HEAD = "import torch\nfrom torch import nn\n\n\n"
MAKES = "torch.ones(n, device=device)"
GRID = f"def grid(n, device):\n    return {MAKES}\n\n\n"

# name -> the source, and a line of what it becomes; another file stands beside it, which imports it
GONE = {
    "a function": (GRID + "def f(x):\n    return grid(4, x.device)", ["def grid(n):", "    return grid(4)"]),
    "a keyword": (GRID + "def f(x):\n    return grid(4, device=x.device)", ["def grid(n):", "    return grid(4)"]),
    "a local that only this reads": (GRID + "def f(x):\n    device = x.device\n    return grid(4, device)", ["def f(x):\n    return grid(4)"]),
    "in front": (f"def grid(device, n):\n    return {MAKES}\n\n\ndef f(x):\n    return grid(x.device, 4)", ["def grid(n):", "    return grid(4)"]),
    "alone by keyword": (f"def grid(n, *, device=None):\n    return {MAKES}\n\n\ndef f(x):\n    return grid(4, device=x.device)", ["def grid(n):", "    return grid(4)"]),
    "first by keyword": (f"def grid(n, *, device=None, m=2):\n    return {MAKES} * m\n\n\ndef f(x):\n    return grid(4, device=x.device, m=3)", ["def grid(n, *, m=2):", "    return grid(4, m=3)"]),
    "of a call that leaves it out": (f"def grid(n, device=None):\n    return {MAKES}\n\n\ndef f(x):\n    return grid(4)", ["def grid(n):"]),
    "handed on": (GRID + "def g(n, device):\n    return grid(n, device)\n\n\ndef f(x):\n    return g(4, x.device)", ["def g(n):\n    return grid(n)", "    return g(4)"]),
    "a method": (f"class Net(nn.Module):\n    def mask(self, n, device):\n        return {MAKES}\n\n    def forward(self, x):\n        return x * self.mask(4, x.device)", ["    def mask(self, n):", "self.mask(4)"]),
    "a plain class": (f"class Mask:\n    def __init__(self, n, device='cpu'):\n        self.mask = {MAKES}\n\n\ndef f(x):\n    return Mask(4, device=x.device).mask", ["    def __init__(self, n):", "Mask(4).mask"]),
    "without gradients": (f"class Net(nn.Module):\n    @torch.no_grad()\n    def mask(self, n, device):\n        return {MAKES}\n\n    def forward(self, x):\n        return x * self.mask(4, x.device)", ["    def mask(self, n):", "self.mask(4)"]),
    "static": (f"class Net(nn.Module):\n    @staticmethod\n    def mask(n, device):\n        return {MAKES}\n\n    def forward(self, x):\n        return x * self.mask(4, x.device)", ["    def mask(n):", "self.mask(4)"]),
    "two of them": (f"def grid(n, device, place):\n    return {MAKES} + torch.ones(n, device=place)\n\n\ndef f(x):\n    return grid(4, x.device, x.device)", ["def grid(n):", "    return grid(4)"]),
    "a function inside": (f"def f(x):\n    def grid(n, device):\n        return {MAKES}\n\n    return grid(4, x.device)", ["    def grid(n):", "    return grid(4)"]),
}
KEPT = "device"
STAYS = {
    "nobody calls it": GRID,
    "handed on as a value": GRID + "def f(x, run):\n    return run(grid), grid(4, x.device)",
    "a place in a list": GRID + "GRIDS = [grid]\n\n\ndef f(x):\n    return grid(4, x.device)",
    "a name that is exported": GRID + "__all__ = ['grid']\n\n\ndef f(x):\n    return grid(4, x.device)",
    "by the table of names": GRID + "def f(x, name):\n    return globals()[name](4), grid(4, x.device)",
    "decorated": "from somewhere import register\n\n\n@register\n" + GRID + "def f(x):\n    return grid(4, x.device)",
    "several may be given": GRID + "def f(x, args):\n    return grid(*args), grid(4, x.device)",
    "read as well": f"def grid(n, device):\n    print(device)\n    return {MAKES}\n\n\ndef f(x):\n    return grid(4, x.device)",
    "read inside": "def grid(n, device):\n    def g():\n        return device\n\n    return torch.ones(n, device=device), g\n\n\ndef f(x):\n    return grid(4, x.device)",
    "defined twice": "try:\n    from somewhere import grid\nexcept ImportError:\n    def grid(n, device):\n        return torch.ones(n, device=device)\n\n\ndef f(x):\n    return grid(4, x.device)",
    "one of two": f"import os\n\nif os.name:\n    def grid(n, device):\n        return {MAKES}\nelse:\n    def grid(n, device):\n        return -{MAKES}\n\n\ndef f(x):\n    return grid(4, x.device)",
    "a comment of its own": f"def grid(\n    n,\n    device,  # where\n):\n    return {MAKES}\n\n\ndef f(x):\n    return grid(4, x.device)",
    "what is not converted": "def grid(n, device):\n    return torch.ones(n, device=device) + torch.no_such(device)\n\n\ndef f(x):\n    return grid(4, x.device)",
    "made by a call": GRID + "def f(x, place):\n    return grid(4, place())",
    "a constructor of a module": f"class Net(nn.Module):\n    def __init__(self, n=4, device=None):\n        super().__init__()\n        self.w = nn.Parameter({MAKES})\n\n    def forward(self, x):\n        return x * self.w\n\n\nnet = Net(4, device='cuda')",
    "the forward pass": f"class Net(nn.Module):\n    def forward(self, x, device):\n        n = 4\n        return x * {MAKES}\n\n\ndef f(x):\n    return Net()(x, x.device)",
    "a method that one below has, too": f"class Net(nn.Module):\n    def mask(self, n, device):\n        return {MAKES}\n\n    def forward(self, x):\n        return x * self.mask(4, x.device)\n\n\nclass Other(Net):\n    def mask(self, n, device):\n        print(device)\n        return {MAKES}",
    "a method by a computed name": f"class Net(nn.Module):\n    def mask_a(self, n, device):\n        return {MAKES}\n\n    def forward(self, x, kind='a'):\n        return x * getattr(self, f'mask_{{kind}}')(4, device=x.device) * self.mask_a(4, x.device)",
    "a method of a class of others": f"from somewhere import Base\n\n\nclass Net(Base):\n    def mask(self, n, device):\n        return {MAKES}\n\n    def run(self, x):\n        return x * self.mask(4, x.device)",
}


def converted(source: str, beside: str | None = "import program\n") -> str:
    texts = {"program.py": HEAD + source + "\n"} | ({"other.py": beside} if beside is not None else {})
    given = [Source(PurePosixPath(path), text, "utf-8", False, "\n") for path, text in texts.items()]
    made, _, failed = engine.convert(given, "", "functional")
    assert not failed
    return next(one.code for one in made if one.path.name == "program.py")


@pytest.mark.parametrize("name", GONE)
def test_what_nothing_reads_goes(name):
    source, lines = GONE[name]
    code = converted(source)
    assert KEPT not in code and all(line in code for line in lines), code


@pytest.mark.parametrize("name", STAYS)
def test_what_others_may_give_stays(name):
    code = converted(STAYS[name])
    assert any(line.lstrip().startswith(("def ", KEPT)) and KEPT in line for line in code.splitlines()), code


def test_another_file_may_call_what_stands_alone():
    source = GRID + "def f(x):\n    return grid(4, x.device)"
    assert "def grid(n, device):" in converted(source, None)
    assert "def _grid(n):" in converted(source.replace("grid", "_grid"), None)


def test_all_files_are_called_anew():
    code = converted(GRID, "import program\n\n\ndef f(x):\n    return program.grid(4, x.device)\n")
    assert "def grid(n):" in code


def test_a_name_from_nowhere_may_be_it():
    used = GRID + "def f(x):\n    return grid(4, x.device)"
    code = converted(used, "from elsewhere.parts import grid as g\n\n\ndef h(x):\n    return g(4, x.device)\n")
    assert "def grid(n, device):" in code
