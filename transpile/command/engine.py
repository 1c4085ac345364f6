"""The engine in rooms, as the command uses it: texts become a program, go through the passes, and
are written in a dialect."""

import functools
import importlib
import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from ..facts import modules_in_layers
from ..facts.library import Copies, Library
from ..facts.program import ProgramFacts
from ..model import rule_files
from ..model.diagnostics import Diagnostic
from ..model.project import Project
from ..passes import driver
from ..passes.order import BEFORE, PASSES
from ..passes.recognise.layer_words import library
from ..source.files import Source, syntax_error
from ..source.formatting import format_changed
from ..source.lower import lower
from ..source.show import show
from . import check_target, collector
from .cache import rulebook


@dataclass
class Written:
    """One file as it comes out."""

    path: PurePosixPath
    code: str
    changed: bool
    diagnostics: list[Diagnostic] = field(default_factory=list)


@collector.paused()
def convert(
    sources: Sequence[Source], package: str, target: str, existing: str | None = None
) -> tuple[list[Written], str | None, list[Diagnostic]]:
    """Files converted together, with the text of their support file, and why others failed: they
    are no Python, or a fault of ours struck them.

    `existing`: the text of the support file that stands where this one goes.

    Raises ValueError for a target that is not one of `TARGETS`.
    """
    check_target(target)
    sources, failed = list(sources), []
    while True:
        try:
            made = _convert(sources, package, target, existing)
        except Exception as error:
            if os.environ.get("TORCH_TO_JAX_TRACE") or not sources:
                raise
            together = functools.partial(_converts, package=package, target=target)
            failed.append(_fault(sources.pop(_at_fault(sources, together)), error))
        else:
            return made[0], made[1], [*failed, *made[2]]


def _converts(sources: Sequence[Source], package: str, target: str) -> bool:
    try:
        _convert(sources, package, target)
    except Exception:
        return False
    return True


def _at_fault(sources: Sequence[Source], converts: Callable[[Sequence[Source]], bool]) -> int:
    """The place of a file without which those before it convert. A fault of ours outside any one
    function, as in a question on the whole program, does not tell where it happens."""
    right, wrong = 0, len(sources)
    while wrong - right > 1:
        middle = (right + wrong) // 2
        if converts(sources[:middle]):
            right = middle
        else:
            wrong = middle
    return right


def _fault(source: Source, error: Exception) -> Diagnostic:
    what = f"{type(error).__name__}: {error}"
    message = f"this file could not be converted, which is a fault of ours: {what}"
    return Diagnostic(str(source.path), 1, 1, "internal-error", message)


def _convert(
    sources: Sequence[Source], package: str, target: str, existing: str | None = None
) -> tuple[list[Written], str | None, list[Diagnostic]]:
    project, facts, found, failed = _passed(sources, package)
    dialect: Any = importlib.import_module(f"..dialects.{target}", __package__)
    output = dialect.write(project, facts, existing)
    return _files(sources, project, output, [*found, *output.diagnostics]), output.support, failed


def shown(sources: Sequence[Source], package: str) -> dict[PurePosixPath, str]:
    """Files in the form in which the passes end, JAX with self, as text to be read."""
    project, *_ = _passed(sources, package)
    return {file.path: show(file) for file in project.ordered}


def _passed(
    sources: Sequence[Source], package: str
) -> tuple[Project, ProgramFacts, list[Diagnostic], list[Diagnostic]]:
    """The program behind the passes, what they found, and the files that are no Python."""
    project, failed = Project(package, rulebook()), list[Diagnostic]()
    for source in sources:
        try:
            project.add(source.path, lower(source.text, source.path))
        except Exception as error:
            if os.environ.get("TORCH_TO_JAX_TRACE"):
                raise
            failed.append(syntax_error(source.path, error))
    project.link()
    found = driver.run(project, None, BEFORE)
    project.collect_again()
    facts = ProgramFacts(project, rulebook(), torch_layers())
    _solve(facts)
    return project, facts, [*found, *driver.run(project, facts, PASSES)], failed


def _solve(facts: ProgramFacts) -> None:
    """What is found once, on torch's program."""
    for name in ("values", "calls", "stages", "activity", "memory"):
        getattr(facts, name)
    modules_in_layers.tell(facts.modules, facts.values)


def _files(
    sources: Sequence[Source], project: Project, output: Any, found: Iterable[Diagnostic]
) -> list[Written]:
    texts = {source.path: source.text for source in sources}
    told: dict[str, list[Diagnostic]] = {}
    for diagnostic in sorted(set(found), key=lambda d: (d.path, d.line, d.column, d.id, d.message)):
        told.setdefault(diagnostic.path, []).append(diagnostic)
    written = []
    for file in project.ordered:
        before = texts[file.path]
        code = output.files.get(file, before)
        changed = code != before
        code = format_changed(code, before) if changed else before
        written.append(Written(file.path, code, changed, told.get(str(file.path), [])))
    return written


def torch_layers() -> Library:
    """Torch's layers as classes of the model: of its own for each run, which edits them. The first
    run, of a command the only one, has them as they are made, and further ones have copies."""
    return _read_layers() if next(_RUNS) == 0 else _copies().library()


_RUNS = itertools.count()


@functools.cache
def _copies() -> Copies:
    return Copies(_read_layers())


def _read_layers() -> Library:
    folder = rule_files.directory() / "layers"
    paths = [p for p in sorted(folder.glob("*.py")) if p.name != "__init__.py"]
    return library(lower(p.read_text("utf-8"), PurePosixPath(p.name)) for p in paths)
