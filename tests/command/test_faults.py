"""A fault of ours outside any one function costs the files in which it happens, and no traceback."""

import pytest

import transpile
from transpile.command import TARGETS
from transpile.facts.program import ProgramFacts

NET = """
import torch.nn as nn


class {name}(nn.Module):
    def forward(self, x):
        return x.relu()
"""


@pytest.fixture
def striking(monkeypatch):
    """Files with a class that is called `Struck` make a question on the whole program fail."""
    monkeypatch.delenv("TORCH_TO_JAX_TRACE", raising=False)
    init = ProgramFacts.__init__

    def strike(self, project, *rest):
        if any(cls.name == "Struck" for file in project.ordered for cls in file.classes()):
            raise RecursionError("too deep")
        init(self, project, *rest)

    monkeypatch.setattr(ProgramFacts, "__init__", strike)


@pytest.mark.parametrize("target", TARGETS)
def test_the_other_files_convert(striking, target, tmp_path):
    names = {"a": "A", "b": "Struck", "c": "C", "d": "Struck", "e": "E"}
    for stem, name in names.items():
        (tmp_path / f"{stem}.py").write_text(NET.format(name=name))
    report = transpile.convert_path(tmp_path, tmp_path / "out", target)
    written = {f.source.stem for f in report.files if f.target is not None}
    assert written == {"a", "c", "e"}
    found = {(d.id, d.path) for d in report.diagnostics}
    assert found == {("internal-error", "b.py"), ("internal-error", "d.py")}
    assert "jax.nn.relu" in (tmp_path / "out/a.py").read_text()


def test_a_text_alone_comes_back(striking):
    text = NET.format(name="Struck")
    result = transpile.convert_source(text)
    assert result.code == text
    assert [d.id for d in result.diagnostics] == ["internal-error"]


def test_what_is_no_python_is_told(monkeypatch):
    monkeypatch.setattr("transpile.command.engine.format_changed", lambda code, before: code + ")")
    text = NET.format(name="A")
    result = transpile.convert_source(text)
    assert result.code == text
    assert [d.id for d in result.diagnostics] == ["internal-error"]
