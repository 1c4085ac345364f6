"""What a start of the command imports, and the table of rules that is kept from run to run."""

import ast
import os
import subprocess
import sys

import pytest

from transpile.command import cache
from transpile.model import rule_files

HEAVY = ("libcst", "black", "rich", "numpy", "torch", "jax", "transpile.command.engine")


def imported(*arguments):
    """The modules that a run of the command leaves imported."""
    code = (
        "import sys\nfrom transpile.command.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print('\\n'.join(sys.modules))"
    )
    run = [sys.executable, "-c", code, *map(str, arguments)]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


def test_the_version_needs_no_parser():
    found = imported("--version")
    assert "0.1.0" in found and not found & set(HEAVY)


def test_a_file_without_torch_needs_no_engine(tmp_path):
    (tmp_path / "plain.py").write_text("x = 1\n")
    found = imported("convert", tmp_path / "plain.py", "-o", tmp_path / "out.py")
    assert (tmp_path / "out.py").read_text() == "x = 1\n" and not found & set(HEAVY)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of its own, which no other run has filled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path / "missing"))
    cache.rulebook.cache_clear()
    yield tmp_path / "torch-to-jax"
    cache.rulebook.cache_clear()


def again():
    cache.rulebook.cache_clear()
    return cache.rulebook()


def same(a, b):
    assert a.definitions.keys() == b.definitions.keys() and a.constants == b.constants
    assert [d.name for d in a.find("torch.softmax")] == [d.name for d in b.find("torch.softmax")]
    assert ast.dump(a.definitions["softmax"].node) == ast.dump(b.definitions["softmax"].node)
    one, other = (book.definitions["Linear"].parameters for book in (a, b))
    assert [(p.name, p.kind, p.accepts) for p in one] == [
        (p.name, p.kind, p.accepts) for p in other
    ]


def test_what_is_kept_says_the_same(folder, monkeypatch):
    made = cache.rulebook()
    (kept,) = folder.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600 and folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(rule_files, "load", lambda: pytest.fail("the rules were read again"))
    same(again(), made)


@pytest.mark.parametrize("data", [b"", b"x" * 100], ids=["empty", "noise"])
def test_half_a_table_is_made_anew(folder, data):
    made = cache.rulebook()
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(data or whole[: len(whole) // 2])
    same(again(), made)
    assert kept.read_bytes() == whole


def test_a_table_that_others_may_write_is_not_read(folder, monkeypatch):
    made = cache.rulebook()
    (kept,) = folder.iterdir()
    kept.chmod(0o666)
    asked = []
    load = rule_files.load
    monkeypatch.setattr(rule_files, "load", lambda: asked.append(1) or load())
    same(again(), made)
    assert asked


def test_a_folder_that_cannot_be_made_costs_no_fault(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path / "file"))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: os.fspath(tmp_path / "file"))
    same(again(), rule_files.load())
    cache.rulebook.cache_clear()
