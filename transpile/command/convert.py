"""Convert text, files and directories: the library API behind the command."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from ..model.diagnostics import Diagnostic
from ..source import files
from ..source.files import Source, python_tree
from . import check_target, collector

SUPPORT = "jax_nn.py"
_MADE = re.compile(r'"""The part of torch.nn that this code uses, (.*)\. Made by torch-to-jax')
_TARGETS_BY_WORDS = {
    "as pure functions of explicit params": "functional",
    "in Flax NNX": "flax",
    "in Equinox": "equinox",
}


class OtherTarget(ValueError):
    """The folder that is written to holds what was converted for another target."""


@dataclass(frozen=True)
class Result:
    """A converted source text."""

    code: str
    support: str  # the text of jax_nn.py
    diagnostics: list[Diagnostic]


@dataclass
class File:
    """One file of a conversion: `target` is None where it failed and nothing was written."""

    source: Path
    target: Path | None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    changed: bool = False


@dataclass
class Report:
    """What a conversion did."""

    files: list[File] = field(default_factory=list)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return [d for f in self.files for d in f.diagnostics]

    @property
    def failed(self) -> bool:
        return any(
            d.id in ("syntax-error", "unreadable", "internal-error") for d in self.diagnostics
        )


@collector.paused()
def convert_source(text: str, target: str = "functional", path: str = "module.py") -> Result:
    """Convert one source text. Raises SyntaxError where it is not valid Python."""
    check_target(target)
    from . import engine

    python_tree(text)
    source = Source(PurePosixPath(path), text, "utf-8", False, "\n")
    if not _have_torch([source]):
        return Result(text, "", [])
    written, support, failed = engine.convert([source], "", target)
    if not written:
        return Result(text, support or "", failed)
    made = written[0]
    fault = _broken(made)
    if fault is not None:
        return Result(text, support or "", [*made.diagnostics, fault])
    code = source.with_its_newlines(made.code) if made.changed else text
    return Result(code, support or "", made.diagnostics)


@collector.paused()
def convert_path(source: str | Path, out: str | Path | None, target: str = "functional") -> Report:
    """Convert a file or a directory. With `out` None nothing is written: only diagnostics are
    found."""
    check_target(target)
    source, report = Path(source), Report()
    single = source.is_file()
    root, package, sources = _program(source, report)
    place = None if out is None else _support_path(Path(out), single)
    existing = place.read_text("utf-8") if place is not None and place.exists() else None
    _check_support(place, existing, target)
    converted, support = _converted(list(sources.values()), package, root, report, existing, target)
    for made in converted:
        file = File(root / made.path, None, made.diagnostics, made.changed)
        report.files.append(file)
        if out is not None:
            as_file = single and Path(out).suffix == ".py"
            file.target = Path(out) if as_file else Path(out) / made.path
            _write(file, made, sources[made.path])
    if place is not None and any(f.changed and f.target for f in report.files):
        text = support()
        if text is not None:
            files.write_atomically(place, text.encode())
    return report


@collector.paused()
def show_model(source: Path) -> tuple[dict[PurePosixPath, str], list[Diagnostic]]:
    """The files of a program in JAX with self, the form in which the passes end, by their paths;
    and why others could not be read."""
    from . import engine

    report = Report()
    _, package, sources = _program(source, report)
    return engine.shown([*sources.values()], package), report.diagnostics


def _program(source: Path, report: Report) -> tuple[Path, str, dict[PurePosixPath, Source]]:
    """The folder of a file, or one of many, the package that it is, and the files that can be read;
    the report gets the others."""
    if source.is_file():
        return source.parent, "", _read([source], source.parent, report)
    sources = _read(_files(source), source, report)
    return source, _package(source, [*sources.values()]), sources


def _package(root: Path, sources: Sequence[Source]) -> str:
    """The name of a directory that is a package; one from which packages are installed, or scripts
    are run, is none, whatever `__init__.py` lies there."""
    of_project = any((root / name).exists() for name in ("setup.py", "setup.cfg", "pyproject.toml"))
    if of_project or not (root / "__init__.py").exists():
        return ""
    name = root.resolve().name
    return "" if _of_scripts(name, sources) else name


def _of_scripts(name: str, sources: Sequence[Source]) -> bool:
    """Do the files of a directory import one another as those beside the one that is run,
    `from layers import *`, and never as those of a package?"""
    beside = {source.path.parts[0].removesuffix(".py") for source in sources} - {name}
    beside -= sys.stdlib_module_names
    found = False
    for source in sources:
        up = r"\." * len(source.path.parts)
        if re.search(rf"^\s*(from {up}[\w.]*|(from|import) {name}\.[\w.]+) ", source.text, re.M):
            return False
        imported = re.findall(r"^(?:from|import) (\w+)\b", source.text, re.M)
        found = found or not beside.isdisjoint(imported)
    return found


def _support_path(out: Path, single: bool) -> Path:
    return (out.parent if single and out.suffix == ".py" else out) / SUPPORT


def _check_support(path: Path | None, existing: str | None, target: str) -> None:
    """What was converted for another target goes on needing the support file that stands there."""
    made = _MADE.match(existing or "")
    if made is not None and _TARGETS_BY_WORDS.get(made[1], target) != target:
        other = _TARGETS_BY_WORDS[made[1]]
        raise OtherTarget(f"{path} is of the target {other}: write {target} to another folder")


def _files(directory: Path) -> list[Path]:
    """The files of Python below a directory that are its own."""
    return sorted(p for p in directory.rglob("*.py") if not _ignored(p.relative_to(directory)))


def _ignored(path: Path) -> bool:
    apart = ("__pycache__", "build", "dist", "node_modules")
    return any(part.startswith(".") or part in apart for part in path.parts)


def _read(paths: Sequence[Path], root: Path, report: Report) -> dict[PurePosixPath, Source]:
    """The files that can be read; the report gets the others."""
    sources: dict[PurePosixPath, Source] = {}
    for path in paths:
        relative = PurePosixPath(path.relative_to(root).as_posix())
        found = files.read(path, relative)
        if isinstance(found, Source):
            sources[relative] = found
        else:
            report.files.append(File(path, None, [found]))
    return sources


@dataclass
class _File:
    """A file as it is written; that is as it was where nothing is told of it."""

    path: PurePosixPath
    diagnostics: list[Diagnostic] = field(default_factory=list)
    changed: bool = False
    code: str = ""


class _Made(Protocol):
    """A file as it comes out of either engine."""

    path: PurePosixPath
    diagnostics: list[Diagnostic]
    changed: bool
    code: str


# The text of jax_nn.py; None where none is wanted.
_Support = Callable[[], str | None]


def _converted(
    sources: Sequence[Source],
    package: str,
    root: Path,
    report: Report,
    existing: str | None,
    target: str,
) -> tuple[Iterable[_Made], _Support]:
    """The files as they come out in a dialect; the report gets those that failed."""
    if not _have_torch(sources):
        return [_File(source.path) for source in sources], lambda: None
    from . import engine

    converted, support, failed = engine.convert(sources, package, target, existing)
    report.files += [File(root / d.path, None, [d]) for d in failed]
    return converted, lambda: support


def _have_torch(sources: Sequence[Source]) -> bool:
    """Passes begin at files that import torch. Where none does, nothing need be parsed."""
    return any("torch" in source.text for source in sources)


def _write(file: File, made: _Made, source: Source) -> None:
    """Write a file, unless what came out is no Python."""
    assert file.target is not None
    fault = _broken(made) if made.changed else None  # the user's own was parsed when it was read
    if fault is None:
        data = source.encoded(made.code) if made.changed else source.data
        files.write_atomically(file.target, data)
        return
    file.diagnostics.append(fault)
    if os.environ.get("TORCH_TO_JAX_TRACE"):
        files.write_atomically(file.target.with_suffix(".broken"), made.code.encode())
    file.target = None


def _broken(made: _Made) -> Diagnostic | None:
    """That what came out is no Python, which is a fault of ours."""
    try:
        python_tree(made.code)
    except SyntaxError as error:
        message = f"the output does not parse: {error.msg}"
        return Diagnostic(str(made.path), error.lineno or 1, 1, "internal-error", message)
    return None
