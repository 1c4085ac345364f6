"""What names mean across files, and what classes inherit."""

from pathlib import PurePosixPath

from transpile.model.program import Class, File, Function
from transpile.model.project import Project
from transpile.source.lower import lower

LAYERS = """
import torch.nn as nn
from torch.nn import Module
from .sizes import *

class Base(nn.Module):
    width = 3
    def __init__(self): pass
    def forward(self, x): return x

class Left(Base):
    def forward(self, x): return x

class Right(Base): pass

class Both(Left, Right):
    @property
    def depth(self): return 1
    @staticmethod
    def make(): return Both()

class Deep(nn.LSTM):
    def run(self):
        def inner(): pass
        class Local: pass

alias = Left
"""
NET = """
import pkg.layers
from pkg.layers import Both as B, alias
from .layers import Base
from . import sizes
import sys
me = sys.modules[__name__]
def helper(): pass
"""


def project(**texts: str) -> Project:
    made = Project("pkg")
    for name, text in texts.items():
        path = PurePosixPath(f"{name}.py")
        made.add(path, lower(text, path))
    made.link()
    return made


PROJECT = project(layers=LAYERS, net=NET, sizes="SIZE = 3\ndef small(): pass\n")
LAYER, NETS = PROJECT.files["layers"], PROJECT.files["net"]


def cls(name: str) -> Class:
    return next(c for c in PROJECT.classes() if c.name == name)


def test_names_across_files():
    found = {
        "Base": cls("Base"),
        "B": cls("Both"),
        "alias": cls("Left"),
        "pkg.layers.Both": cls("Both"),
        "sizes": PROJECT.files["sizes"],
        "me.helper": PROJECT.names[NETS].functions["helper"],
        "unknown.thing": "unknown.thing",
    }
    assert {name: PROJECT.resolve(NETS, name) for name in found} == found
    assert PROJECT.resolve(LAYER, "nn.Linear") == "torch.nn.Linear"
    assert isinstance(PROJECT.resolve(LAYER, "small"), Function)
    assert isinstance(PROJECT.lookup("pkg.layers"), File)


def test_inheritance():
    both = cls("Both")
    assert PROJECT.bases(both) == [cls("Left"), cls("Right")]
    names = [c if isinstance(c, str) else c.name for c in PROJECT.order(both)]
    assert names == ["Both", "Left", "Right", "Base", "torch.nn.Module"]
    assert PROJECT.find(both, "forward") is PROJECT.methods(cls("Left"))["forward"]
    assert PROJECT.above(cls("Left"), "forward") is PROJECT.methods(cls("Base"))["forward"]
    assert PROJECT.above(cls("Deep"), "forward") == "torch.nn.LSTM"
    assert PROJECT.torch_base(cls("Deep")) == "torch.nn.LSTM"
    assert [c.name for c in PROJECT.descendants(cls("Base"))] == ["Left", "Right", "Both"]
    assert PROJECT.overriding(cls("Base"), "forward") == [PROJECT.methods(cls("Left"))["forward"]]
    assert PROJECT.is_module(both) and not PROJECT.is_module(cls("Local"))
    assert list(PROJECT.assigned(cls("Base"))) == ["width"]


def test_functions():
    methods = PROJECT.methods(cls("Both"))
    assert PROJECT.is_property(methods["depth"]) and PROJECT.is_static(methods["make"])
    assert PROJECT.takes_self(methods["depth"]) and not PROJECT.takes_self(methods["make"])
    forward = PROJECT.methods(cls("Base"))["forward"]
    assert PROJECT.self_name(forward) == "self"
    assert [p.name for p in PROJECT.parameters(forward)] == ["x"]
    inner = next(f for f in PROJECT.functions() if f.name == "inner")
    assert PROJECT.outer(inner) is PROJECT.methods(cls("Deep"))["run"]
    assert PROJECT.method(inner) is PROJECT.methods(cls("Deep"))["run"]


def test_files():
    names = PROJECT.names
    assert names[LAYER].uses_torch and not names[NETS].uses_torch
    assert names[LAYER].stars == ["sizes"]
    assert names[NETS].imports["B"] == "pkg.layers.Both"
