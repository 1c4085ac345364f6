"""Files of the user's: read as text with what it takes to write them back as they were, and
written whole."""

from __future__ import annotations

import ast
import functools
import io
import os
import tempfile
import tokenize
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..model.diagnostics import Diagnostic

_BOM = b"\xef\xbb\xbf"


@dataclass
class Source:
    """The text of a file, and how it is written."""

    path: PurePosixPath  # relative to the directory that is converted
    text: str  # its lines end in "\n" alone, as Python reads them: splicing looks for that
    encoding: str
    bom: bool
    newline: str  # in which the file's lines end
    data: bytes = b""  # as it was read

    def __post_init__(self) -> None:
        if "\r\n" in self.text:
            self.text, self.newline = self.text.replace("\r\n", "\n"), "\r\n"

    def with_its_newlines(self, code: str) -> str:
        """Another text, with lines that end as the file's do."""
        return code.replace("\n", self.newline)

    def encoded(self, code: str) -> bytes:
        """Another text, in the way that this one is written."""
        encoding = "utf-8" if self.encoding == "utf-8-sig" else self.encoding
        return (_BOM if self.bom else b"") + self.with_its_newlines(code).encode(encoding)


def read(path: Path, relative: PurePosixPath) -> Source | Diagnostic:
    """A file of Python, or why it is none."""
    try:
        data = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError) as error:
        return Diagnostic(str(relative), 1, 1, "unreadable", str(error))
    try:
        ast.parse(data)  # LibCST can crash on deep nesting that this rejects
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return syntax_error(relative, error)
    return Source(relative, text, encoding, data.startswith(_BOM), "\n", data)


@functools.lru_cache(maxsize=64)
def python_tree(text: str) -> ast.Module:
    """Python's own tree of a file, which nobody edits: of what was given and of what comes out it
    is asked for more than once."""
    return ast.parse(text)


def syntax_error(path: PurePosixPath, error: BaseException) -> Diagnostic:
    """What a parser, Python's or LibCST's, says of a file."""
    line = getattr(error, "lineno", None) or getattr(error, "raw_line", None) or 1
    column = getattr(error, "offset", None) or 1
    message = getattr(error, "msg", None) or type(error).__name__
    return Diagnostic(str(path), line, column, "syntax-error", str(message))


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
