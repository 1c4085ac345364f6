"""Convert text, files and directories: the library API behind the command."""

from __future__ import annotations

import ast
import gc
import io
import os
import tempfile
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import libcst as cst

from ..first import pipeline, rulebook, support, tree
from ..first.keyword_spaces import with_spaces
from ..first.passes import equal_starts, late_attributes, legacy_joins, spellings
from ..first.project import ModuleInfo, Project
from ..model.diagnostics import Diagnostic
from ..source import formatting

SUPPORT = "jax_nn.py"


@contextmanager
def _without_collection() -> Iterator[None]:
    """Trees are large and not garbage: looking through them for cycles again and again costs a fifth of the time."""
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
        return any(d.id in ("syntax-error", "unreadable", "internal-error") for d in self.diagnostics)


@dataclass
class _Source:
    path: PurePosixPath
    text: str
    encoding: str
    bom: bool
    newline: str


@_without_collection()
@tree.remembering()
def convert_source(text: str, target: str = "functional", path: str = "module.py") -> Result:
    """Convert one source text. Raises SyntaxError where it is not valid Python."""
    _check_target(target)
    made = unformatted(text, path)
    failed = any(d.id == "internal-error" for d in made.diagnostics)
    code = formatting.format_changed(made.code, text) if made.changed and not failed else text
    return Result(code, support_text(rulebook.load(), made.support), made.diagnostics)


def _spelt(module: cst.Module) -> cst.Module:
    """A file in the spellings that the analysis knows."""
    module = spellings.run(with_spaces(module), rulebook.load())
    for spelt in (late_attributes, legacy_joins, equal_starts):
        module = spelt.run(module)
    return module


def unformatted(text: str, path: str = "module.py") -> pipeline.Converted:
    """The conversion of one source text as a tree, before it is formatted."""
    ast.parse(text)
    project = Project({})
    source = cst.parse_module(text)
    project.add(PurePosixPath(path), _spelt(source), source)
    (made,) = pipeline.convert(project, rulebook.load(), lambda p: "import jax_nn as nn")
    return made


def _check_target(target: str) -> None:
    if target != "functional":
        raise ValueError(f"target {target!r} is not there yet: use 'functional'")


def support_text(book: rulebook.Rulebook, names: set[str], existing: str | None = None) -> str:
    return support.write(book, names, existing)


@_without_collection()
@tree.remembering()
def convert_path(source: str | Path, out: str | Path | None, target: str = "functional") -> Report:
    """Convert a file or a directory. With `out` None nothing is written: only diagnostics are found."""
    _check_target(target)
    source = Path(source)
    report = Report()
    single = source.is_file()
    root = source.parent if single else source
    paths = [source] if single else sorted(p for p in source.rglob("*.py") if not _ignored(p.relative_to(source)))
    is_package = not single and (root / "__init__.py").exists()
    project = Project({}, root.resolve().name if is_package else "")
    sources: dict[PurePosixPath, _Source] = {}
    modules: dict[PurePosixPath, ModuleInfo] = {}
    for path in paths:
        relative = PurePosixPath(path.relative_to(root).as_posix())
        loaded = _load(path, relative, report)
        if loaded is not None:
            sources[relative] = loaded[0]
            modules[relative] = project.add(relative, _spelt(loaded[1]), loaded[1])
    book = rulebook.load()
    converted = _convert_all(project, book, is_package, report, root)
    names: set[str] = set()
    for made in converted:
        names |= made.support
        file = File(root / made.path, None, made.diagnostics, made.changed)
        report.files.append(file)
        if out is None:
            continue
        file.target = Path(out) if single and Path(out).suffix == ".py" else Path(out) / made.path
        _write(file, made, sources[made.path])
    if out is not None and any(f.changed and f.target for f in report.files):
        _write_support(Path(out), single, book, names)
    return report


def _ignored(path: Path) -> bool:
    return any(part.startswith(".") or part in ("__pycache__", "build", "dist", "node_modules") for part in path.parts)


def _load(path: Path, relative: PurePosixPath, report: Report) -> tuple[_Source, cst.Module] | None:
    try:
        data = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError) as error:
        report.files.append(File(path, None, [Diagnostic(str(relative), 1, 1, "unreadable", str(error))]))
        return None
    bom = data.startswith(b"\xef\xbb\xbf")
    newline = "\r\n" if "\r\n" in text else "\n"
    try:
        ast.parse(data)  # LibCST can crash on deep nesting that this rejects
        module = cst.parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, cst.ParserSyntaxError) as error:
        line = getattr(error, "lineno", None) or getattr(error, "raw_line", None) or 1
        column = getattr(error, "offset", None) or 1
        message = getattr(error, "msg", None) or type(error).__name__
        report.files.append(File(path, None, [Diagnostic(str(relative), line, column, "syntax-error", str(message))]))
        return None
    return _Source(relative, text, encoding, bom, newline), module


def _convert_all(project: Project, book: rulebook.Rulebook, is_package: bool, report: Report, root: Path) -> list[pipeline.Converted]:
    def support_import(path: PurePosixPath) -> str:
        if is_package:
            return f"from {'.' * len(path.parts)} import jax_nn as nn"
        return "import jax_nn as nn"

    try:
        return pipeline.convert(project, book, support_import)
    except Exception as error:
        if os.environ.get("TORCH_TO_JAX_TRACE"):
            raise
        if len(project.modules) == 1:
            (module,) = project.modules.values()
            message = f"{type(error).__name__}: {error}"
            report.files.append(File(root / module.path, None, [Diagnostic(str(module.path), 1, 1, "internal-error", message)]))
            return []
        reason = f"{type(error).__name__}: {error}"
    converted = []
    for module in list(project.modules.values()):  # one file fails: convert each by itself
        alone = Project({})
        alone.add(module.path, module.tree, module.source)
        for made in _convert_all(alone, book, is_package, report, root):
            apart = [Diagnostic(str(made.path), 1, 1, "converted-apart", reason)] if made.changed else []
            converted.append(replace(made, diagnostics=[*apart, *made.diagnostics]))
    return converted


def _write(file: File, made: pipeline.Converted, source: _Source) -> None:
    assert file.target is not None
    code = formatting.format_changed(made.code, source.text) if made.changed else source.text
    try:
        ast.parse(code)
    except SyntaxError as error:
        if not any(d.id == "internal-error" for d in file.diagnostics):
            file.diagnostics.append(Diagnostic(str(made.path), error.lineno or 1, 1, "internal-error", f"the output does not parse: {error.msg}"))
        if os.environ.get("TORCH_TO_JAX_TRACE"):
            file.target.with_suffix(".broken").write_text(code)
        file.target = None
        return
    if source.newline == "\r\n":
        code = code.replace("\r\n", "\n").replace("\n", "\r\n")
    encoding = "utf-8" if source.encoding == "utf-8-sig" else source.encoding
    write_atomically(file.target, (b"\xef\xbb\xbf" if source.bom else b"") + code.encode(encoding))


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _write_support(out: Path, single: bool, book: rulebook.Rulebook, names: set[str]) -> None:
    path = (out.parent if single and out.suffix == ".py" else out) / SUPPORT
    existing = path.read_text(encoding="utf-8") if path.exists() else None
    write_atomically(path, support_text(book, names, existing).encode())
