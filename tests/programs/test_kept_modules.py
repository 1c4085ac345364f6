"""Functions that keep the module they have made, and give it again: torch trains one, and here each place has params of its own."""

import pytest

from tests.small_programs import HEAD
from transpile import convert_source

_HEAD = """
from functools import lru_cache, wraps

import torch.nn as nn


def cache_fn(f):
    cache = None

    @wraps(f)
    def cached_fn(*args, _cache=True, **kwargs):
        if not _cache:
            return f(*args, **kwargs)
        nonlocal cache
        if cache is not None:
            return cache
        cache = f(*args, **kwargs)
        return cache

    return cached_fn


def by_key(f):
    made = {}

    def get(_cache=True, key=None):
        if key in made:
            return made[key]
        result = f()
        made[key] = result
        return result

    return get


def counted(f):
    def get(_cache=True):
        seen = {}
        seen["n"] = 1
        return f() if seen["n"] else None

    return get


def plain(f):
    def inner(*args, **kwargs):
        return f(*args, **kwargs)

    return inner


@lru_cache()
def make(dim):
    return nn.Linear(dim, dim)


class M(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
"""
_TAIL = "        self.layers = nn.ModuleList([get(_cache=i > 0) for i in range(3)])\n\n    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"
_CASES = {
    "get = cache_fn(lambda: nn.Linear(dim, dim))": 1,
    "get, other = map(cache_fn, (lambda: nn.Linear(dim, dim), lambda: nn.ReLU()))": 1,
    "get = lambda: nn.Linear(dim, dim)\nget = cache_fn(get)": 1,
    "get = lambda _cache: make(dim)": 1,
    "get, other = (by_key(f) for f in (lambda: nn.Linear(dim, dim), lambda: nn.ReLU()))": 1,
    "get = counted(lambda: nn.Linear(dim, dim))": 0,
    "get = plain(lambda _cache: nn.Linear(dim, dim))": 0,
    "get = lambda _cache: nn.Linear(dim, dim)": 0,
}


@pytest.mark.parametrize("source", _CASES)
def test_kept(source):
    result = convert_source(_HEAD + "".join(f"        {line}\n" for line in source.split("\n")) + _TAIL)
    assert [d.id for d in result.diagnostics].count("shared-module") == _CASES[source], result.diagnostics


def test_numbers_are_no_modules():
    """`self._make_layer(self.width)` of two layers gives both a number, in the Sequential that each is."""
    body = "        self.width = 64\n        self.a = self._make_layer(self.width)\n        self.b = self._make_layer(self.width)\n"
    rest = "\n    def _make_layer(self, n):\n        return nn.Sequential(nn.Linear(n, n), nn.ReLU())\n\n    def forward(self, x):\n        return self.b(self.a(x))\n\n    def widen(self):\n        self.width = unknown()\n"
    assert not convert_source(_HEAD + body + rest).diagnostics


_NORMS = """
def norm_of(conv, kind, **kwargs):
    if kind == "group":
        assert isinstance(conv, nn.Conv2d)
        return nn.GroupNorm(1, conv.out_channels, **kwargs)
    return nn.Identity()


def normed(conv, kind):
    return nn.Sequential(conv, nn.ReLU()) if kind == "relu" else nn.Identity()


class M(nn.Module):
    def __init__(self, kind="group"):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.norm = FUNCTION(self.conv, kind)

    def forward(self, x):
        return self.norm(self.conv(x))
"""


@pytest.mark.parametrize("function, count", [("norm_of", 0), ("normed", 1)])
def test_a_function_that_only_asks_a_module_keeps_none(function, count):
    result = convert_source("import torch\nfrom torch import nn\n\n" + _NORMS.replace("FUNCTION", function))
    assert [d.id for d in result.diagnostics] == ["shared-module"] * count


# name -> what a constructor sets, and whether that is one module in two places
GIVEN = {
    "a number of the same name": ("self.drop = nn.Linear(3, 3) if p else p\n        self.net = nn.Sequential(nn.Dropout(self.drop), nn.ReLU())", 0),
    "a layer of an encoder": ("self.drop = nn.TransformerEncoderLayer(4, 2)\n        self.net = nn.TransformerEncoder(self.drop, 2)", 1),
    "a part of a list that a container holds": ("parts = []\n        parts.append(nn.Linear(3, 3))\n        parts.append(nn.Linear(3, 3))\n        self.net = nn.Sequential(*parts)\n        self.drop = parts[0]", 1),
    "a part of a list that no module holds": ("parts = [nn.Linear(3, 3), nn.ReLU()]\n        self.net = nn.Sequential(nn.Linear(3, 3))\n        self.drop = parts[0]", 0),
    "a part of a container": ("self.drop = nn.Linear(3, 3)\n        self.net = nn.Sequential(nn.Sequential(self.drop), nn.ReLU())", 1),
}


@pytest.mark.parametrize("name", GIVEN)
def test_layers_that_take_no_modules_hold_none(name):
    lines, count = GIVEN[name]
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self, p):\n        super().__init__()\n        {lines}\n\n    def forward(self, x):\n        return self.net(self.drop(x))\n"
    result = convert_source(source)
    assert [d.id for d in result.diagnostics].count("shared-module") == count, result.diagnostics
