"""Copies of torch's layers have, whatever is asked first, what the whole library has."""

import collections

import pytest

from transpile.command.engine import _read_layers
from transpile.facts.library import Copies, Library
from transpile.facts.modules import Modules
from transpile.model.project import Project

WHOLE = _read_layers()
COPIES = Copies(WHOLE)


def said(library: Library, name: str):
    """What a program may ask of a layer."""
    cls, project = library.find(name), library.project
    assert cls is not None
    modules, values = Modules(Project(), library), [getattr(node, "value", None) for node in cls.walk()]
    return {
        "lineage": [c if isinstance(c, str) else c.name for c in modules.lineage(cls)],
        "methods": [*project.methods(cls)],
        "fields": {name: field.kind for name, field in modules.fields(cls).items()},
        "open": len(library.open[cls]),
        "builds": sorted({getattr(c, "name", c) for value in values for c in getattr(value, "classes", ())}),
    }


@pytest.mark.parametrize("name", {cls.file: name for name, cls in WHOLE.classes.items()}.values())
def test_a_layer_is_as_in_the_whole_library(name):
    copy = COPIES.library()
    assert said(copy, name) == said(WHOLE, name)
    assert len(copy.project.files) < len(WHOLE.project.files)
    paths = [file.path for file in copy.project.names]
    assert len(paths) == len(set(paths))


def test_what_extends_a_layer_comes_by_its_name():
    copy = COPIES.library()
    linear = copy.find("torch.nn.Linear")
    assert list(copy.project.descendants(linear)) == []
    assert copy.find("torch.nn.LazyLinear") is not None
    assert [c.name for c in copy.project.descendants(linear)] == ["LazyLinear"]


def test_all_layers_come_in_whatever_order():
    for order in (1, -1):
        copy = COPIES.library()
        for name in [*WHOLE.classes][::order]:
            assert copy.find(name) is copy.classes[name]
        assert len({*copy.classes.values()}) == len({*WHOLE.classes.values()})
        assert {*copy.project.files} == {*WHOLE.project.files}


def test_definitions_have_one_name_each():
    """They are found by it, and stand in one support file."""
    found = [name for names in WHOLE.project.names.values() for name in (*names.classes, *names.functions)]
    assert [name for name, times in collections.Counter(found).items() if times > 1] == []
    copy = COPIES.library()
    for name in found:
        assert copy.definition(name).name == name
    assert copy.definition("flatten_nothing") is None


def test_copies_know_the_methods_and_names_of_all():
    copy = COPIES.library()
    for cls in WHOLE.classes.values():
        assert copy.named(cls.name).name == cls.name
        assert all(copy.has_method(name) for name in WHOLE.project.methods(cls))
    assert not copy.has_method("frobnicate") and not WHOLE.has_method("frobnicate")
