"""Imports run one way between the rooms, and no file imports itself by way of others."""

from importlib import import_module
from pathlib import Path

import grimp
import pytest

# Each room may import those before it.
ROOMS = ["model", "source", "facts", "passes", "dialects", "proof", "command"]
PACKAGE = "transpile"
PACKAGE_FOLDER = Path(__file__).parent.parent / PACKAGE


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph(PACKAGE, cache_dir=None, exclude_type_checking_imports=True)


def room(module):
    return module.split(".")[1] if "." in module else ""


def test_imports_run_one_way(graph):
    found = []
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            here, there = room(module), room(other)
            if here in ROOMS and there in ROOMS and ROOMS.index(there) > ROOMS.index(here):
                found.append(f"{module} imports {other}")
    # verify converts what it is to compare; it will ask the engine when there is one without a
    # command
    assert found == ["transpile.proof.verification imports transpile.command.convert"]


def test_there_are_no_circles(graph):
    """A file that another one imports does not import that, by any way."""
    for module in graph.modules:
        if room(module) in ROOMS:
            for other in graph.find_modules_directly_imported_by(module):
                if room(other) == room(module):
                    assert not graph.chain_exists(importer=other, imported=module), (module, other)


def test_only_source_sees_libcst(graph):
    with_libraries = grimp.build_graph(PACKAGE, include_external_packages=True, cache_dir=None)
    seen = {room(m) for m in with_libraries.find_modules_that_directly_import("libcst")}
    assert seen == {"source"}


def test_passes_import_no_other_pass(graph):
    """Nor does a dialect; what several ask is a fact, or stands in a module that is no pass."""
    named = {module for module in graph.modules if hasattr(import_module(module), "PASS")}
    for module in graph.modules - {"transpile.passes.order"}:  # the list of them
        for other in graph.find_modules_directly_imported_by(module) & named:
            inside = module.startswith(f"{other}.") or other.startswith(f"{module}.")
            if room(module) in ("passes", "dialects"):
                assert inside, f"{module} imports {other}"


def test_a_file_fits_its_idea():
    lengths = {path: len(path.read_text().splitlines()) for path in PACKAGE_FOLDER.rglob("*.py")}
    assert {str(path): n for path, n in lengths.items() if n > 300} == {}
