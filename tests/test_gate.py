"""The gate: what it says of equal, formatted, different and accepted outputs, and of failures."""

import json
import os
import time

import pytest

import transpile
from benchmarks import gate, gate_inputs
from benchmarks.gate_recorder import NotRun, Recorder

SOURCES = {
    "tests/a.py": "x = 1\n",
    "tests/b.py": "import torch\n\n\ndef f(x):\n    return torch.relu(x)\n",
    "packages/p/net/__init__.py": "x = 1\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in SOURCES.items():
        path = tmp_path / "inputs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    gate.keep(tmp_path, rows(tmp_path))
    return tmp_path


def rows(folder):
    return [row for name in gate_inputs.names_of(folder) for row in gate.convert(folder, name)]


def change(folder, name, before, after):
    """As if an engine had been kept that writes something else."""
    _, kept = gate.read(folder / "kept.jsonl")
    kept[name]["code"] = kept[name]["code"].replace(before, after)
    gate.write(folder / "kept.jsonl", kept.values())


def compared(folder, capsys, show=0):
    """The exit status, and what is printed."""
    capsys.readouterr()
    status = gate.compare(folder, set(gate_inputs.names_of(folder)), rows(folder), show)
    return status, capsys.readouterr().out


def test_the_same_code_gives_the_same(folder, capsys):
    status, out = compared(folder, capsys)
    assert status == 0 and out.splitlines()[-1] == "3 equal", out


def test_another_format_is_said_and_passes(folder, capsys):
    change(folder, "tests/b.py", "relu(x)", "relu(\n  x,  )")
    status, out = compared(folder, capsys)
    assert status == 0 and "formatted tests/b.py" in out and "1 formatted" in out, out


def test_a_difference_is_shown_until_it_is_accepted(folder, capsys):
    change(folder, "tests/b.py", "relu(x)", "relu(x)  # why")
    status, out = compared(folder, capsys, show=1)
    assert status == 1 and "differs: tests/b.py (code)" in out, out
    assert "-    return jax.nn.relu(x)  # why\n+    return jax.nn.relu(x)\n" in out, out
    assert gate.accept(folder, ["tests/none.py"], "") == 1
    assert gate.accept(folder, ["tests/b.py"], "the comment\nsaid nothing") == 0
    status, out = compared(folder, capsys)
    assert status == 0 and "accepted  tests/b.py" in out, out
    (folder / "inputs/tests/b.py").write_text(SOURCES["tests/b.py"].replace("relu", "tanh"))
    assert compared(folder, capsys)[0] == 1  # this output was not accepted


def test_a_file_that_is_gone_differs(folder, capsys):
    (folder / "inputs/packages/p/net/more.py").write_text("y = 2\n")
    gate.keep(folder, rows(folder))
    (folder / "inputs/packages/p/net/more.py").unlink()
    status, out = compared(folder, capsys)
    assert status == 1 and "packages/p/net/more.py (is gone)" in out, out


@pytest.mark.filterwarnings("ignore:os.fork")  # the children touch nothing of jax
def test_errors_crashes_and_the_time_limit_are_rows(folder, monkeypatch):
    def converted(text):
        {"a": lambda: time.sleep(60), "b": lambda: os._exit(3), "c": lambda: 1 / 0}[text]()

    monkeypatch.setattr(transpile, "convert_source", converted)
    for name in "abc":
        (folder / f"inputs/tests/{name}.py").write_text(name)
    made = gate.rows_of(folder, gate_inputs.names_of(folder), jobs=2, limit=2)
    assert {row["name"]: row.get("error") for row in made} == {
        "packages/p/net/__init__.py": None,
        "tests/a.py": "over the time limit",
        "tests/b.py": "the process died",
        "tests/c.py": "ZeroDivisionError: division by zero",
    }


def test_files_of_all_lengths(tmp_path):
    for i in range(10):
        (tmp_path / f"{i}.py").write_text("\n" * (i * 7 % 10))
    found = gate_inputs.stratified(tmp_path, 5)
    assert [p.read_text().count("\n") for p in found] == [0, 2, 4, 6, 8]
    assert len(gate_inputs.stratified(tmp_path, 50)) == 10


def test_a_recorded_test_goes_on_until_it_runs_what_came_out(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    recorder = Recorder(folder, False, transpile.convert_source, transpile.convert_path)
    for text in ("x = 1\n", "y = 2\n", "x = 1\n"):
        assert recorder.convert_source(text).code == text
    with pytest.raises(NotRun):
        assert recorder.convert_source("x = 1\n").support
    (tmp_path / "net").mkdir()
    (tmp_path / "net/a.py").write_text("x = 1\n")
    assert not recorder.convert_path(tmp_path / "net", None).diagnostics
    texts = sorted(p.read_text() for p in folder.glob("test_gate-*.py"))
    assert texts == ["x = 1\n", "y = 2\n"]
    (kept,) = folder.glob("test_gate-*/net/a.py")
    assert kept.read_text() == "x = 1\n"


def test_rows_are_lines_of_json(folder):
    head, *kept = map(json.loads, (folder / "kept.jsonl").read_text().splitlines())
    assert "commit" in head and {row["name"] for row in kept} == SOURCES.keys()
    assert kept[2]["code"].startswith("import jax") and kept[2]["diagnostics"] == []
