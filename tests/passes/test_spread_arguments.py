"""Dicts of arguments that are spread in calls."""

import textwrap
from pathlib import PurePosixPath

import pytest

from transpile.passes import spread_arguments
from transpile.source.lower import lower
from transpile.source.splice import write

HEAD = "def h(x, d, k):\n"

CASES = {
    'kw = {"device": d, "dtype": None}\ny = f(x, **kw)\nz = g(**kw)': (
        "y = f(x, device=d, dtype=None)\nz = g(device=d, dtype=None)"
    ),
    "kw = dict(bias=False, device=d)\nif x:\n    y = f(x, **kw, n=2)": (
        "if x:\n    y = f(x, n=2, bias=False, device=d)"
    ),
    'kw = {"device": k.get("device")}\ny = f(**kw)': 'y = f(device=k.get("device"))',
    # nothing says where arrays are placed, it is used otherwise, or may be another by then
    'kw = {"bias": d}\ny = f(**kw)': None,
    'kw = {"device": d}\nkw["n"] = 2\ny = f(**kw)': None,
    'kw = {"device": d}\nd = 2\ny = f(**kw)': None,
    'n = 1\nkw = {"device": n}\nn = 2\ny = f(**kw)': None,
    'kw = {"device": d()}\ny = f(**kw)': None,
    'if x:\n    kw = {"device": d}\ny = f(**kw)': None,
    'kw = {"device": d}\ndef inner():\n    return f(**kw, x=kw)': None,
}


@pytest.mark.parametrize("before", CASES)
def test_before_and_after(before):
    file = lower(HEAD + textwrap.indent(before, "    ") + "\n", PurePosixPath("module.py"))
    for scope in file.scopes():
        spread_arguments.PASS.run(scope, None).commit()
    assert write(file) == HEAD + textwrap.indent(CASES[before] or before, "    ") + "\n"
