"""Parameters that nothing gives leave the support file, with what only they reach."""

import pytest

from transpile.dialects.support.definitions import Prelude
from transpile.dialects.support.support_file import write

CASES = {
    "a default": (
        "nn.f(x)",
        "def f(x, a=None, b=0.5):\n    if a is not None:\n        x = x * a\n    return x if not b else x + b\n",
        "def f(x):\n    return x + 0.5\n",
    ),
    "given": ("nn.f(x, b=1)", "def f(x, a=0, b=0):\n    return x + a + b\n", "def f(x, b=0):\n    return x + 0 + b\n"),
    "by place": ("nn.f(x, 1)", "def f(x, a=0, b=0):\n    return g(x, a, b)\n\n\ndef g(x, a, b):\n    return x\n",
                 "def f(x, a=0):\n    return g(x, a)\n\n\ndef g(x, a):\n    return x\n"),
    "what only it reaches": (
        "nn.f(x)",
        "def f(x, a=None):\n    if a is None:  # most of the time\n        return x\n    return g(x)\n\n\ndef g(x):\n    return x\n",
        "def f(x):\n    return x\n",
    ),
    "one after the other": (
        "nn.f(x)",
        "def f(x, a=None):\n    return g(x, a)\n\n\ndef g(x, a):\n    return x if a is None else x * a\n",
        "def f(x):\n    return g(x)\n\n\ndef g(x):\n    return x\n",
    ),
    "bound anew": (
        "nn.f(x)",
        'def f(x, a=None):\n    """Says it."""\n    y = x\n    if a is None:\n        a = y\n    return a\n',
        'def f(x):\n    """Says it."""\n    y = x\n    a = y\n    return a\n',
    ),
    "tuples of one, and of several": (
        "nn.f(x)",
        "def f(x, a=False):\n    y = (x, a) if a else (x,)\n    z = (x, a) if not a else x\n    return (y, z, a)\n",
        "def f(x):\n    y = (x,)\n    z = x, False\n    return (y, z, False)\n",
    ),
    "one part decides": (
        "nn.f(x)",
        "def f(x, a=None):\n    if x or a is None:\n        return x if x or a is None else a[0]\n    return a[1]\n",
        "def f(x):\n    return x\n",
    ),
    "handed on": ("map(nn.f, x)", "def f(x, a=None):\n    return a\n", "def f(x, a=None):\n    return a\n"),
    "named": ("getattr(nn, 'f')(x, 1)", "def f(x, a=None):\n    return a\n", "def f(x, a=None):\n    return a\n"),
    "by another name": (
        "nn.f(x)\nfrom jax_nn import f as g\ng(x, 1)",
        "def f(x, a=None):\n    return a\n",
        "def f(x, a=None):\n    return a\n",
    ),
    "starred": ("nn.f(*x)", "def f(x, a=None):\n    return a\n", "def f(x, a=None):\n    return a\n"),
    "a local of that name": (
        "nn.f(x), nn.g(x)",
        "def f(x, a=None):\n    return x\n\n\ndef g(f):\n    return f(1, None)\n",
        "def f(x, a=None):\n    return x\n\n\ndef g(f):\n    return f(1, None)\n",
    ),
    "elif": (
        "nn.f(x)",
        "def f(x, a=0):\n    if x:\n        y = 1\n    elif a == 1:\n        y = 2\n    else:\n        y = 3\n    return y\n",
        "def f(x):\n    if x:\n        y = 1\n    else:\n        y = 3\n    return y\n",
    ),
    "else if": (
        "nn.f(x)",
        "def f(x, a=0):\n    if a == 1:\n        y = 1\n    elif x:\n        y = 2\n    else:\n        y = 3\n    return y\n",
        "def f(x):\n    if x:\n        y = 2\n    else:\n        y = 3\n    return y\n",
    ),
    "attributes": (
        "nn.C(3)",
        "class C:\n    a: bool\n\n    def __init__(self, n, a=False):\n        self.n = n\n        self.a = a\n\n    def __call__(self):\n"
        "        return 1 if self.a and self.n else self.n\n",
        "class C:\n\n    def __init__(self, n):\n        self.n = n\n\n    def __call__(self):\n        return self.n\n",
    ),
    "attributes asked for": (
        "nn.C(3).a",
        "class C:\n    def __init__(self, n, a=False):\n        self.n = n\n        self.a = a\n",
        "class C:\n    def __init__(self, n):\n        self.n = n\n        self.a = False\n",
    ),
    # `eqx.nn.inference_mode` sets it
    "set from outside": (
        "nn.C(3)",
        "class C:\n    def __init__(self, n):\n        self.n = n\n        self.inference = False\n\n    def __call__(self, x):\n        return x if self.inference else x * self.n\n",
        "class C:\n    def __init__(self, n):\n        self.n = n\n        self.inference = False\n\n    def __call__(self, x):\n        return x if self.inference else x * self.n\n",
    ),
    "a class below": (
        "nn.C(3)",
        "class B:\n    def __init__(self, n, a=False):\n        self.a = a\n\n\nclass C(B):\n    pass\n",
        "class B:\n    def __init__(self, n, a=False):\n        self.a = a\n\n\nclass C(B):\n    pass\n",
    ),
    "asked what it is": (
        "isinstance(m, nn.C), nn.C(3)",
        "class C:\n    def __init__(self, n, a=False):\n        self.n = n, a\n",
        "class C:\n    def __init__(self, n):\n        self.n = n, False\n",
    ),
    "made of a type": (
        "nn.C(3), type(m)(3, True)",
        "class C:\n    def __init__(self, n, a=False):\n        self.n = n, a\n",
        "class C:\n    def __init__(self, n, a=False):\n        self.n = n, a\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_nothing_gives_goes(name):
    program, text, wanted = CASES[name]
    program = f"import jax_nn as nn\n{program}\n"
    source = Prelude(text)
    names = [n for n in "fgC" if f"nn.{n}" in program or f"'{n}'" in program]
    found = write(names, [source], "h", str, [program])
    assert found == f'"""h"""\n\n\n{wanted}'
    again = write(names, [source, Prelude(found)], "h", str, [program], Prelude(found))
    assert again == found
