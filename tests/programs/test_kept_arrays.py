"""Arrays that forward passes keep beyond the call, where no state is, are tracers of that call under jit: reported, as are counts of calls."""

import pytest

from transpile import convert_source

from ..small_programs import HEAD

MODULE = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._grid = None\n        self.sizes = {}\n\n"
SUB = "class Sub(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.h = None\n\n    def forward(self, x):\n        return x + self.h\n\n\n" + MODULE.replace("self.sizes = {}", "self.sub = Sub()")
FORWARD = "    def forward(self, x, lengths):\n        return x + kept(x)\n"
KEPT = {
    "a function": "def kept(x):\n    if not hasattr(kept, 'grid'):\n        kept.grid = torch.arange(x.size(1)).float()\n    return kept.grid\n\n\n" + MODULE + FORWARD,
    "a table": "CACHE = {}\n\n\ndef kept(x):\n    n = x.size(1)\n    if n not in CACHE:\n        CACHE[n] = torch.hann_window(n)\n    return CACHE[n]\n\n\n" + MODULE + FORWARD,
    "a global": "LAST = None\n\n\ndef kept(x):\n    global LAST\n    LAST = torch.sin(x)\n    return LAST\n\n\n" + MODULE + FORWARD,
    "a class": "class C:\n    last = None\n\n\ndef kept(x):\n    C.last = torch.sin(x)\n    return C.last\n\n\n" + MODULE + FORWARD,
    "a list of self": MODULE.replace("self.sizes = {}", "self.seen = []") + FORWARD.replace("        return", "        self.seen.append(x * 2)\n        return").replace("kept(x)", "len(self.seen)"),
    "a dict of self": MODULE + FORWARD.replace("        return", "        self.sizes.update(last=x * 2)\n        return").replace("kept(x)", "len(self.sizes)"),
    "a global count": "STEP = 0\n\n\ndef kept(x):\n    global STEP\n    STEP += 1\n    return x * STEP\n\n\n" + MODULE + FORWARD,
    "a count of a class": "class C:\n    calls = 0\n\n\ndef kept(x):\n    C.calls += 1\n    return x * C.calls\n\n\n" + MODULE + FORWARD,
    "a default": "def kept(x, seen=[]):\n    seen.append(x * 2)\n    return sum(seen)\n\n\n" + MODULE + FORWARD,
    "a table that is a default": "def kept(x, seen={}):\n    seen[x.dim()] = x * 2\n    return x\n\n\n" + MODULE + FORWARD,
    "a module that is given": SUB + "    def give(self, sub, x):\n        sub.h = x * 2\n\n" + FORWARD.replace("        return", "        self.give(self.sub, x)\n        return").replace("kept(x)", "self.sub(x)"),
    "modules that are walked over": SUB + "    def kept(self, x):\n        for m in self.modules():\n            m.h = x * 2\n        return self.sub(x)\n\n" + FORWARD.replace("kept(x)", "self.kept(x)"),
}
PLAIN = {
    "a static method that is given the module": MODULE + "    @staticmethod\n    def kept(self, x):\n        self._grid = torch.arange(x.size(1)).float()\n        return self._grid\n\n" + FORWARD.replace("kept(x)", "self.kept(self, x)"),
    "numbers": "SIZES = {}\n\n\ndef kept(x):\n    SIZES[x.dim()] = x.size(1)\n    return x\n\n\n" + MODULE + FORWARD,
    "a table of the function": "def kept(x):\n    found = {}\n    found['x'] = x * 2\n    return found['x']\n\n\n" + MODULE + FORWARD,
    "an object of each call": "class Pyramid:\n    def __init__(self, x):\n        self.levels = []\n        self.levels.append(x * 2)\n\n    def grow(self, x):\n        self.levels.append(x)\n\n\ndef kept(x):\n    made = Pyramid(x)\n    made.grow(x * 3)\n    return made.levels[0] + made.levels[1]\n\n\n" + MODULE + FORWARD,
    "a list of names": MODULE.replace("self.sizes = {}", "self.seen = []") + FORWARD.replace("        return", "        self.seen.append('x')\n        return").replace("kept(x)", "x"),
    "a list of each call": MODULE.replace("self.sizes = {}", "self.seen = []") + FORWARD.replace("        return", "        self.seen = []\n        self.seen.append(x * 2)\n        return").replace("kept(x)", "self.seen[0]"),
    "a list that another module begins anew": SUB.replace("self.h = None", "self.h = []").replace("return x + self.h", "self.h.append(x * 2)\n        return x") + "    def kept(self, x):\n        self.sub.h = []\n        return self.sub(x)\n\n" + FORWARD.replace("kept(x)", "self.kept(x)"),
    "state": MODULE + "    def kept(self, x):\n        self._grid = x * 2\n        return self._grid\n\n" + FORWARD.replace("kept(x)", "self.kept(x)"),
    "a default that is only read": "def kept(x, scales=[1, 2]):\n    found = []\n    for s in scales:\n        found.append(x * s)\n    return sum(found)\n\n\n" + MODULE + FORWARD,
    "a default that is replaced": "def kept(x, seen=[]):\n    seen = list(seen)\n    seen.append(x * 2)\n    return sum(seen)\n\n\n" + MODULE + FORWARD,
    "state of a submodule": SUB + "    def kept(self, x):\n        self.sub.h = x * 2\n        return self.sub(x)\n\n" + FORWARD.replace("kept(x)", "self.kept(x)"),
    "outside of a forward pass": "CACHE = {}\n\n\ndef kept(x):\n    CACHE[0] = torch.sin(x)\n    return CACHE[0]\n",
}


def ids(source):
    return [d.id for d in convert_source(HEAD + source).diagnostics]


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    walked = ["module-value"] * (name == "modules that are walked over")  # which is not converted either
    assert ids(KEPT[name]) == [*walked, "taken-for-granted"]


@pytest.mark.parametrize("name", PLAIN)
def test_plain(name):
    assert ids(PLAIN[name]) == []


def test_a_key_that_data_tell():
    source = MODULE + "    def forward(self, x, lengths):\n        n = int(lengths.max())\n        if n not in self.sizes:\n            self.sizes[n] = 3.0\n        return x * self.sizes[n]\n"
    assert "traced-branch" in ids(source)
