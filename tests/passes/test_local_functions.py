"""Local names of functions that are only called: where they are written out, and where they stay."""

import textwrap
from pathlib import PurePosixPath

import pytest

from transpile.passes import local_functions
from transpile.source.lower import lower
from transpile.source.splice import write

HEAD = "from functools import partial\nimport torch\nimport torch.nn.functional as F\n\n\n"
METHOD = "class Net(nn.Module):\n    def __init__(self, n, x):\n"
KEEP = "keep = lambda name, v: self.register_buffer(name, v.float())"
WRITTEN = {
    f'{KEEP}; keep("a", 1 - x)': 'self.register_buffer("a", (1 - x).float())',
    f'{KEEP}; keep(v=x.abs(), name="a")': 'self.register_buffer("a", x.abs().float())',
    f'{KEEP}; for name in "ab":\n    keep(name, x)': (
        'for name in "ab":\n    self.register_buffer(name, x.float())'
    ),
    f'# in float32; {KEEP}; keep("a", x)': '# in float32; self.register_buffer("a", x.float())',
    'def keep(v, name="a"):\n    self.register_buffer(name, v); keep(f(x))': (
        'self.register_buffer("a", f(x))'
    ),
    'keep = partial(self.register_buffer, persistent=False); keep("a", x)': (
        'self.register_buffer("a", x, persistent=False)'
    ),
    'keep = partial(self.register_buffer, persistent=False); keep("a", x, persistent=True)': (
        'self.register_buffer("a", x, persistent=True)'
    ),
    'keep = self.register_buffer; keep("a", x)': 'self.register_buffer("a", x)',
    "zero = lambda m: nn.init.zeros_(m.weight); zero(self.fcs[0])": (
        "nn.init.zeros_(self.fcs[0].weight)"
    ),
    "up = partial(F.interpolate, scale_factor=(n, 2)); y = up(up(x))": (
        "y = F.interpolate(F.interpolate(x, scale_factor=(n, 2)), scale_factor=(n, 2))"
    ),
    "add = partial(torch.add, x); y = [add(z) for z in x]": "y = [torch.add(x, z) for z in x]",
    "array = partial(torch.tensor, dtype=torch.float32); "
    'keep = lambda name, v: self.register_buffer(name, array(v)); keep("a", x)': (
        'self.register_buffer("a", torch.tensor(x, dtype=torch.float32))'
    ),
}
STAY = [
    "f = lambda a: a + 1; y = f(x)",  # for its value
    "zero = lambda m: g(m); zero(self.a); self.f = zero",  # another holds it
    "zero = lambda m: g(m, m); zero(f(x))",  # two calls of f
    "zero = lambda a, b: g(b, a); zero(f(x), h(x))",  # h would be called first
    "zero = lambda a: g(h(n), a); zero(f(x))",
    "zero = lambda a: g(a if n else n); zero(f(x))",  # f is called all the same
    "zero = lambda a: g(a); zero = lambda a: h(a); zero(x)",
    "zero(x); zero = lambda a: g(a)",
    "if n:\n    zero = lambda a: g(a); zero(x)",
    "zero = lambda a: g(a); zero()",
    "zero = lambda *a: g(*a); zero(x)",
    "zero = lambda a: g(a); zero(*x)",
    "def zero(a):\n    n = 2\n    g(a); zero(x)",
    "def zero(a):\n    return g(a); zero(x)",
    "up = partial(F.interpolate, size=n); n = 2; y = up(x)",  # the n before
    "up = partial(F.interpolate, size=f(n)); y = up(x)",
    "up = partial(F.interpolate, size=n); y = [up(x) for n in x]",
    "conv = partial(nn.Conv2d, kernel_size=3); y = conv(n, n)",  # a class
    "f = partial(self.f, n); self.f = None; y = f(x)",
    "up = partial(F.interpolate, size=n); y = up(x, **n)",
    "up = partial(F.interpolate, size=n); y = map(up, x)",
]


def converted(text: str) -> str:
    file = lower(text, PurePosixPath("m.py"))
    for scope in list(file.scopes()):
        local_functions.run(scope).commit()
    return write(file)


def source(lines: str) -> str:
    return HEAD + METHOD + textwrap.indent(lines.replace("; ", "\n"), " " * 8) + "\n"


@pytest.mark.parametrize("lines", WRITTEN)
def test_is_written_out(lines):
    assert converted(source(lines)) == source(WRITTEN[lines])


@pytest.mark.parametrize("lines", STAY)
def test_stays(lines):
    assert converted(source(lines)) == source(lines)
