"""Convert text, files and directories: the library API behind the command."""

from __future__ import annotations

import ast
import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ..model.diagnostics import Diagnostic
from ..source import files
from ..source.files import Source

if TYPE_CHECKING:
    from ..first.pipeline import Converted

SUPPORT = "jax_nn.py"


@contextmanager
def _without_collection() -> Iterator[None]:
    """Trees are large and not garbage: looking through them for cycles again and again costs a
    fifth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


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


@_without_collection()
def convert_source(text: str, target: str = "functional", path: str = "module.py") -> Result:
    """Convert one source text. Raises SyntaxError where it is not valid Python."""
    _check_target(target)
    from . import engine

    return Result(*engine.convert_text(text, path))


def _check_target(target: str) -> None:
    if target != "functional":
        raise ValueError(f"target {target!r} is not there yet: use 'functional'")


@_without_collection()
def convert_path(source: str | Path, out: str | Path | None, target: str = "functional") -> Report:
    """Convert a file or a directory. With `out` None nothing is written: only diagnostics are
    found."""
    _check_target(target)
    source, report = Path(source), Report()
    single = source.is_file()
    root = source.parent if single else source
    sources = _read([source] if single else _files(source), root, report)
    package = root.resolve().name if not single and (root / "__init__.py").exists() else ""
    names: set[str] = set()
    for made in _converted(list(sources.values()), package, root, report):
        file = File(root / made.path, None, made.diagnostics, made.changed)
        report.files.append(file)
        names.update(made.support)
        if out is not None:
            as_file = single and Path(out).suffix == ".py"
            file.target = Path(out) if as_file else Path(out) / made.path
            _write(file, made, sources[made.path])
    if out is not None and any(f.changed and f.target for f in report.files):
        _write_support(Path(out), single, names)
    return report


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
class _Untouched:
    """A file that stays as it is, in the form of `Converted`."""

    path: PurePosixPath
    diagnostics: list[Diagnostic] = field(default_factory=list)
    changed: bool = False
    code: str = ""
    support: frozenset[str] = frozenset()


def _converted(
    sources: Sequence[Source], package: str, root: Path, report: Report
) -> Iterable[Converted | _Untouched]:
    """The files as they come out; the report gets those that failed."""
    if not any("torch" in source.text for source in sources):
        # Passes begin at files that import torch. Where none does, nothing need be parsed.
        return [_Untouched(source.path) for source in sources]
    from . import engine

    converted, failed = engine.convert_files(sources, package)
    report.files += [File(root / d.path, None, [d]) for d in failed]
    return converted


def _write(file: File, made: Converted | _Untouched, source: Source) -> None:
    """Write a file, unless what came out is no Python: that is a fault of ours."""
    assert file.target is not None
    code = _formatted(made.code, source.text) if made.changed else source.text
    try:
        ast.parse(code)
    except SyntaxError as error:
        if not any(d.id == "internal-error" for d in file.diagnostics):
            message = f"the output does not parse: {error.msg}"
            place = str(made.path), error.lineno or 1, 1
            file.diagnostics.append(Diagnostic(*place, "internal-error", message))
        if os.environ.get("TORCH_TO_JAX_TRACE"):
            file.target.with_suffix(".broken").write_text(code)
        file.target = None
        return
    files.write_atomically(file.target, source.encoded(code))


def _formatted(code: str, original: str) -> str:
    from ..source.formatting import format_changed

    return format_changed(code, original)


def _write_support(out: Path, single: bool, names: set[str]) -> None:
    from ..first import support
    from .cache import rulebook

    path = (out.parent if single and out.suffix == ".py" else out) / SUPPORT
    existing = path.read_text(encoding="utf-8") if path.exists() else None
    files.write_atomically(path, support.write(rulebook(), names, existing).encode())
