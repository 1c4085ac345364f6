"""Classes that a registry gives by name, which nobody knows here, are built in each dialect's way."""

import pytest
import torch

from transpile import convert_source

from .small import HEAD, TARGETS
from .verified import verify

CLASSES = """
{register}class Wide(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.l = nn.Linear(n, n)

    def forward(self, x):
        return torch.relu(self.l(x))


{register}class Normed(nn.Module):
    def __init__(self, n, eps=1e-5):
        super().__init__()
        self.l = nn.Linear(n, n)
        self.bn = nn.BatchNorm1d(n, eps)

    def forward(self, x):
        return self.bn(self.l(x))


"""
DECORATOR = """
KINDS = {}


def register(cls):
    KINDS[cls.__name__] = cls
    return cls


"""
OBJECT = """
class Registry:
    def __init__(self):
        self.kinds = {}

    def register(self, cls):
        self.kinds[cls.__name__] = cls
        return cls

    def build(self, config):
        config = dict(config)
        return self.kinds[config.pop("type")](**config)


MODELS = Registry()


"""
NET = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        {made}

    def forward(self, x):
        return self.b(self.a(x)) + x
"""
BUILT = {  # the registry, how classes come there, what stands before the module, and what it keeps
    "a table": (DECORATOR, "@register\n", "", "self.a = KINDS['Wide'](n)\n        self.b = KINDS['Normed'](n)"),
    "a function": (
        DECORATOR,
        "@register\n",
        "def build(name, *args, **words):\n    if name not in KINDS:\n        raise KeyError(name)\n    return KINDS[name](*args, **words)\n\n\n",
        "self.a = build('Wide', n)\n        self.b = nn.Sequential(build('Normed', n, eps=1e-3), nn.Tanh())",
    ),
    "an object": (
        OBJECT,
        "@MODELS.register\n",
        "def head(config):\n    return MODELS.build(config)\n\n\n",
        "self.a = MODELS.build(dict(type='Wide', n=n))\n        self.b = head({'type': 'Normed', 'n': n})",
    ),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", BUILT)
def test_what_a_registry_builds(name, target):
    registry, register, functions, made = BUILT[name]
    source = registry + CLASSES.format(register=register) + functions + NET.format(made=made)
    verify(HEAD + source, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


def test_what_is_built_of_a_known_class_is_not_wrapped():
    registry, register, functions, made = BUILT["a table"]
    source = HEAD + registry + CLASSES.format(register=register) + functions + NET.format(made=made)
    code = convert_source(source).code
    assert code.count("as_module") == 2 and "self.l = nn.Linear(n, n)" in code, code
