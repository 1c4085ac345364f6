"""Local names of functions that are only called: where they are written out, and where they stay."""

import textwrap
from pathlib import PurePosixPath

import pytest

from transpile.passes import called_names
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
    "up = partial(F.interpolate, size=n); y = up(up(x))": (
        "y = F.interpolate(F.interpolate(x, size=n), size=n)"
    ),
}
STAY = [
    "f = lambda a: a + 1; y = f(x)",  # for its value
    "zero = lambda m: g(m); zero(self.a)",  # it registers nothing
    f"{KEEP}; self.f = keep",  # another holds it
    f"{KEEP}; keep(f(x), g(x))",
    f"{KEEP}; {KEEP}; keep('a', x)",
    f"keep('a', x); {KEEP}",
    f"if n:\n    {KEEP}; keep('a', x)",
    f"{KEEP}; keep()",
    f"{KEEP}; keep(*x)",
    f"{KEEP}; y = [keep('a', x) for x in n]",
    "keep = lambda *a: self.register_buffer(*a); keep(x)",
    "keep = lambda name, v: self.register_buffer(name, v * v); keep('a', f(x))",  # two calls of f
    "keep = lambda name, v: self.register_buffer(name, v if n else x); keep('a', f(x))",
    "keep = partial(self.register_buffer, persistent=f(n)); keep('a', x)",
    "up = partial(F.interpolate, size=n); n = 2; y = up(x)",  # the n before
    "conv = partial(nn.Conv2d, kernel_size=3); y = conv(n, n)",  # a class
]


def converted(text: str) -> str:
    file = lower(text, PurePosixPath("m.py"))
    for scope in list(file.scopes()):
        called_names.run(scope).commit()
    return write(file)


def source(lines: str) -> str:
    return HEAD + METHOD + textwrap.indent(lines.replace("; ", "\n"), " " * 8) + "\n"


@pytest.mark.parametrize("lines", WRITTEN)
def test_is_written_out(lines):
    assert converted(source(lines)) == source(WRITTEN[lines])


@pytest.mark.parametrize("lines", STAY)
def test_stays(lines):
    assert converted(source(lines)) == source(lines)
