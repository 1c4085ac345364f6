"""Which definition a name means across files, and what classes inherit."""

from pathlib import PurePosixPath

import pytest

from transpile.model.program import Class, File, Function
from transpile.model.project import Project
from transpile.source.lower import lower


def project(package="", **files):
    made = Project(package)
    for name, text in files.items():
        path = PurePosixPath(name.replace("__", "/").replace("/init", "/__init__") + ".py")
        made.add(path, lower(text, path))
    made.link()
    return made


def described(found):
    if isinstance(found, (Class, Function)):
        return f"{found.file.path}:{found.name}"
    return str(found.path) if isinstance(found, File) else found


NAMES = [
    ("torch.nn.Linear", "import torch", {}, "torch.nn.Linear"),
    ("nn.Linear", "import torch.nn as nn", {}, "torch.nn.Linear"),
    ("F.relu", "from torch.nn import functional as F", {}, "torch.nn.functional.relu"),
    ("unknown", "", {}, "unknown"),
    ("Net", "class Net: pass", {}, "a.py:Net"),
    ("f", "from b import f", {"b": "def f(): pass"}, "b.py:f"),
    ("b.f", "import b", {"b": "def f(): pass"}, "b.py:f"),
    ("g", "from b import f as g", {"b": "from c import f", "c": "def f(): pass"}, "c.py:f"),
    ("f", "from b import *", {"b": "def f(): pass"}, "b.py:f"),
    ("Alias", "import b\nAlias = b.C", {"b": "class C: pass"}, "b.py:C"),
    ("relu", "import torch\nrelu = torch.relu", {}, "torch.relu"),
    ("f", "if x:\n    def f(): pass", {}, "a.py:f"),
    ("b", "from . import b", {"b": ""}, "b.py"),
    ("f", "from b import f", {"core__b": "def f(): pass"}, "core/b.py:f"),
    ("f", "from b import f", {"core__b": "def g(): pass"}, "b.f"),
    ("f", "from b import f", {"core__b": "from c import f"}, "b.f"),
    ("f", "from b import f", {"x__b": "def f(): pass", "y__b": "def f(): pass"}, "b.f"),
    ("b", "from parts import b", {"core__parts__b": ""}, "parts.b"),
    ("b", "from parts import b", {"core__parts__init": "", "core__parts__b": ""}, "core/parts/b.py"),
    ("b", "from parts import b", {"parts__init": "from .b import b", "parts__b": "def b(): pass"}, "parts/b.py:b"),
    ("b", "from parts import b", {"parts__init": "from . import b", "parts__b": ""}, "parts/b.py"),
    ("dataclass", "from dataclasses import dataclass", {"x__dataclasses": "def dataclass(): pass"}, "dataclasses.dataclass"),
    ("f", "from b import f", {"b": "from a import f"}, "b.f"),
]


@pytest.mark.parametrize("name, text, others, wanted", NAMES)
def test_names(name, text, others, wanted):
    made = project(a=text, **others)
    assert described(made.resolve(made.files["a"], name)) == wanted


def test_what_stands_beside_a_script_is_what_it_imports():
    made = project(x__a="from b import f", x__b="def f(): pass", y__b="def f(): pass")
    assert described(made.resolve(made.files["x.a"], "f")) == "x/b.py:f"


def test_a_package_is_found_by_its_own_name():
    made = project("pkg", sub__mod="class C: pass", a="from pkg.sub.mod import C")
    assert described(made.resolve(made.files["a"], "C")) == "sub/mod.py:C"


CLASSES = """import torch.nn as nn

class Base(nn.Module):
    size = 3
    def __init__(self): pass
    def forward(self, x): return self.step(x)
    @staticmethod
    def make(n): pass
    @property
    def width(self): return 1

class Mixin:
    def step(self, x): return x

class Left(Base): pass
class Right(Base):
    def forward(self, x, *rest, k=1, **others): pass
class Both(Mixin, Left, Right): pass
class Conv(nn.Conv2d): pass
"""


@pytest.fixture
def classes():
    made = project(a=CLASSES)
    return made, made.names[made.files["a"]].classes


def test_methods_are_found_in_pythons_order(classes):
    made, named = classes
    assert [c if isinstance(c, str) else c.name for c in made.order(named["Both"])] == [
        "Both",
        "Mixin",
        "Left",
        "Right",
        "Base",
        "torch.nn.Module",
    ]
    assert made.find(named["Both"], "forward").owner is named["Right"]
    assert made.find(named["Left"], "forward").owner is named["Base"]
    assert made.above(named["Left"], "forward").owner is named["Base"]
    assert made.above(named["Conv"], "forward") == "torch.nn.Conv2d"
    assert [f.owner.name for f in made.overriding(named["Base"], "forward")] == ["Right"]


def test_modules_and_their_mixins(classes):
    made, named = classes
    assert made.is_module(named["Mixin"]) and made.is_module(named["Both"])
    assert not project(a="class A: pass").is_module(next(project(a="class A: pass").classes()))
    assert made.torch_base(named["Conv"]) == "torch.nn.Conv2d"
    assert made.torch_base(named["Base"]) is None
    assert list(made.assigned(named["Base"])) == ["size"]


def test_signatures(classes):
    made, named = classes
    methods = made.methods(named["Base"])
    assert made.is_static(methods["make"]) and made.is_property(methods["width"])
    assert made.self_name(methods["forward"]) == "self" and made.self_name(methods["make"]) is None
    found = made.signature(made.methods(named["Right"])["forward"])
    assert (found.names, found.keyword_only) == (["x", "k"], ("k",))
    assert (found.star, found.stars) == ("rest", "others")


def test_a_class_is_no_ancestor_of_itself():
    made = project(a="from b import C\nclass C(C): pass", b="from a import C")
    (cls,) = made.classes()
    assert list(made.ancestors(cls)) == [cls]
