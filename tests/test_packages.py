"""Small packages, each with a class Net in model.py: what crosses files and walks over modules computes the same, initial values too."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from transpile.proof.verification import run

PACKAGES = Path(__file__).parent / "packages"


@pytest.mark.parametrize("name", sorted(p.name for p in PACKAGES.iterdir() if (p / "model.py").exists()))
def test_package(name, tmp_path, monkeypatch):
    source = shutil.copytree(PACKAGES / name, tmp_path / name)  # so that the package is imported by its own name
    inputs = re.search('INPUTS = "(.*)"', (source / "model.py").read_text())
    monkeypatch.setattr(sys, "path", list(sys.path))
    report = run({"path": str(source / "model.py"), "cls": "Net", "init": "", "inputs": inputs[1]})
    reported = re.search('REPORTED = "(.*)"', (source / "model.py").read_text())
    diagnostics = {row.note.partition(":")[0] for row in report.rows if row.check == "diagnostic"}
    assert diagnostics == ({reported[1]} if reported else set()) and all(row.ok for row in report.rows), report.rows
