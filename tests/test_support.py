"""jax_nn.py: every definition works alone, and what is copied from the rule files stands formatted there."""

import subprocess
import sys

from transpile.first import rulebook, support
from transpile.source.formatting import format_all


def test_each_definition_alone_has_all_its_names(tmp_path):
    book = rulebook.load()
    for name in book.definitions:
        (tmp_path / f"{name}.py").write_text(support.write(book, {name}))
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821,F811,E9", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_what_completes_a_definition_comes_with_it():
    assert "defjvp" in support.write(rulebook.load(), {"binary_cross_entropy"})


def test_two_definitions_of_one_name_are_refused(tmp_path, monkeypatch):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("def twice(x):\n    return x\n")
    monkeypatch.setattr(rulebook, "directory", lambda: tmp_path)
    try:
        rulebook.load.__wrapped__()
    except ValueError as error:
        assert "both define twice" in str(error)
    else:
        raise AssertionError("it was not refused")


def test_the_support_file_is_formatted():
    book = rulebook.load()
    text = support.write(book, book.definitions)
    assert text == format_all(text)


def test_definitions_of_the_users_are_kept_and_formatted():
    book = rulebook.load()
    existing = support.write(book, ["Linear"]) + "\n\ndef mine( x ):\n    return [x ]\n"
    text = support.write(book, ["GELU"], existing)
    assert "class Linear(" in text and "class GELU(" in text and "def mine(x):\n    return [x]\n" in text
    assert text == format_all(text)
