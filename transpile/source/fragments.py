"""Runs of lines from the middle of a file, formatted by black as small files of their own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .user_layout import with_kept, without_kept

_COMMA_AT_END = re.compile(r",\n *[)\]}]")


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def below(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases right below one. Expressions, which hold none, are most
    of a tree."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, name, ())


def formatted(fragments: Sequence[Sequence[str]], line_length: int) -> list[Sequence[str]]:
    """Each fragment formatted, or as it is where it cannot stand alone."""
    known: dict[tuple[str, ...], Sequence[str]] = {}
    for lines in map(tuple, fragments):
        if lines not in known:
            known[lines] = _formatted(lines, line_length)
    return [known[tuple(lines)] for lines in fragments]


def _formatted(lines: Sequence[str], line_length: int) -> Sequence[str]:
    made, kept = without_kept(lines, line_length, black)
    fragment = _Fragment.of(made)
    if fragment is None:
        return lines
    try:
        if not fragment.is_settled(line_length - fragment.shift):
            made = fragment.lines(black(fragment.source, line_length - fragment.shift))
        whole = with_kept(made, kept)
        return lines if whole is None else whole
    except ImportError:  # of black
        raise
    except Exception:  # what Python parses and black does not
        return lines


@dataclass
class _Fragment:
    """Lines as a small file of their own: in a class, where they were inside of something, since
    black spaces definitions by that."""

    whole: Sequence[str]
    leading: int  # blank lines
    trailing: int
    header: bool  # it ends in one whose body did not change
    wrapped: bool
    shift: int  # by how much it stands further left
    source: str
    parsed: ast.Module

    @classmethod
    def of(cls, whole: Sequence[str]) -> _Fragment | None:
        """None of what cannot stand alone: an `else`, the end of a bracket."""
        text = "\n".join(whole)
        if not text.strip() or '"""' in text or "'''" in text or "\t" in text:
            return None
        leading = next(i for i, line in enumerate(whole) if line.strip())
        depth = indent(whole[leading])
        if depth % 4:
            return None
        trailing = next(i for i, line in enumerate(reversed(whole)) if line.strip())
        body = list(whole[leading : len(whole) - trailing])
        header = body[-1].rstrip().endswith(":")
        if header:
            body.append(" " * (indent(body[-1]) + 4) + "pass")
        shift = min(depth - 4 * bool(depth), *(indent(line) for line in body if line.strip()))
        around = ["class _:"] if depth else []
        source = "\n".join([*around, *(line[shift:] for line in body), ""])
        try:
            parsed = ast.parse(source)
            if not _by_fours(parsed):
                return None  # lines below it that did not change would stand at another depth
        except (SyntaxError, ValueError):
            return None
        return cls(whole, leading, trailing, header, bool(depth), shift, source, parsed)

    def is_settled(self, line_length: int) -> bool:
        """Whether it certainly is as black would have it: that takes a tenth of asking black."""
        nodes = list(ast.walk(self.parsed))
        source = _with_parentheses(self.source.rstrip("\n"), nodes)
        long = any(len(line) > line_length for line in self.source.splitlines())
        if long or any(mark in source for mark in "'\\#"):
            return False
        if "\n\n" in source and not self._is_methods() or not all(map(_is_plain, nodes)):
            return False
        made = ast.unparse(self.parsed).replace("class _:\n\n", "class _:\n").strip("\n")
        return made.replace("'", '"') == source

    def _is_methods(self) -> bool:
        """Whether there is nothing but methods, without functions of their own: the blank lines
        around them are black's as well."""
        body = getattr(self.parsed.body[0], "body", []) if self.wrapped else []
        functions = sum(isinstance(n, ast.FunctionDef) for n in ast.walk(self.parsed))
        return functions == len(body) == sum(isinstance(n, ast.FunctionDef) for n in body)

    def lines(self, made: str) -> list[str]:
        """Its lines again, of what black made of its source."""
        lines = made.splitlines()[self.wrapped :]
        lines = [" " * self.shift + line if line else line for line in lines]
        if self.header:
            del lines[-1]
        while lines and not lines[0].strip():
            del lines[0]
        end = len(self.whole) - self.trailing
        return [*self.whole[: self.leading], *lines, *self.whole[end:]]


def _with_parentheses(source: str, nodes: Iterable[ast.AST]) -> str:
    """The source with parentheses around `a, b` of `return a, b`, as `ast.unparse` has them."""
    lines = source.splitlines()
    for node in nodes:
        value = node.value if isinstance(node, (ast.Return, ast.Assign)) else None
        if isinstance(value, ast.Tuple) and value.lineno == value.end_lineno:
            line, start, end = lines[value.lineno - 1], value.col_offset, value.end_col_offset
            if line[start] != "(" and line.isascii():
                lines[value.lineno - 1] = f"{line[:start]}({line[start:end]}){line[end:]}"
    return "\n".join(lines)


def _by_fours(module: ast.Module) -> bool:
    """Whether every block is indented as black would: `class A:` may hold four spaces and a method
    of it two."""
    todo: list[ast.AST] = [*module.body]
    while todo:
        node: Any = todo.pop()
        for inner in below(node):
            todo.append(inner)
            if isinstance(node, ast.match_case) or not isinstance(inner, ast.stmt):
                continue
            by_four = inner.col_offset == node.col_offset + 4 or inner.lineno == node.lineno
            is_elif = isinstance(inner, ast.If) and inner.col_offset == node.col_offset
            if not by_four and not is_elif:
                return False
    return True


def _is_plain(node: ast.AST) -> bool:
    """Whether black spaces and parenthesises a node as `ast.unparse` does."""
    if isinstance(node, ast.arguments):  # `a: int = 1`
        found = [*node.args, *node.kwonlyargs]
        defaults = bool(node.defaults) or any(node.kw_defaults)
        return not defaults or not any(a.annotation for a in found)
    if isinstance(node, ast.Slice):
        simple = (ast.Name, ast.Constant, ast.UnaryOp, type(None))
        return all(isinstance(p, simple) for p in (node.lower, node.upper, node.step))
    if isinstance(node, ast.Tuple):  # `(b,) = x.shape`
        return len(node.elts) > 1
    if isinstance(node, ast.Constant):
        return node.kind is None
    return not isinstance(node, _SPACED)


# `x**2`, and what may lose or keep its parentheses
_SPACED: tuple[type[ast.AST], ...] = (
    *(ast.Pow, ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Try),
    *(ast.With, ast.AsyncWith, ast.AsyncFor, ast.AsyncFunctionDef),
)


def black(code: str, line_length: int) -> str:
    """Black is imported here, since `check` formats nothing: it takes as long as all passes to
    import."""
    import black
    from black.mode import TargetVersion

    # The same for a file and for a part of it: black would else choose by what it finds.
    mode = black.Mode(line_length=line_length, target_versions={TargetVersion.PY311})
    once = getattr(black, "_format_str_once", black.format_str)
    made: str = once(code, mode=mode)
    # `format_str` does all twice, since a comma that it puts at an end means more the second time.
    return once(made, mode=mode) if _COMMA_AT_END.search(made) else made
