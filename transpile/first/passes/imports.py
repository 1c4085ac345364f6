"""Torch's imports go; jax's, and jax_nn's, come where they are used."""

from __future__ import annotations

import sys
from typing import Any

import libcst as cst

from ...model.libraries import is_built_on_torch
from .. import tree
from ..context import Context
from ..project import import_base

IMPORTS = {
    "functools": "import functools",
    "typing": "import typing",
    "math": "import math",
    "jax": "import jax",
    "jnp": "import jax.numpy as jnp",
    "np": "import numpy as np",
    "lax": "from jax import lax",
}
_ORDER = ["functools", "math", "typing", "np", "jax", "jnp", "lax"]


def run(context: Context, module: cst.Module, support: str) -> cst.Module:
    """Rewrite the import statements of a converted file; `support` is the statement that imports jax_nn."""
    used = _names(module)
    lost = _names(context.module.source) - used  # what conversion has left without a use
    lost |= {bound for bound, name in context.module.imports.items() if is_built_on_torch(name) and not _hands_on(context)} - used
    bound: set[str] = set()
    body: list[Any] = []
    at: int | None = None
    kept_header: list[Any] = []
    for statement in module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            new, removed = _line(context, statement, lost)
            if removed and at is None:
                at = len(body) + (new is not None and not _third_party(new))
                kept_header = list(statement.leading_lines) if new is None else []
            if new is None:
                continue
            bound |= _bound(new)
            statement = new
        body.append(statement)
    body = [_nested(context, s, lost) if not isinstance(s, cst.SimpleStatementLine) else s for s in body]
    wanted = [IMPORTS[name] for name in _ORDER if name in used and name not in bound]
    if "nn" in used and "nn" not in bound:
        wanted.append(support)
    if at is None:
        at = _after_header(body)
    standard = [w for w in wanted if w.split()[1] in ("functools", "math", "typing")]
    third = [w for w in wanted if w not in standard and w != support]
    lines = [_statement(w) for w in standard]
    lines += [_statement(w, blank=i == 0 and bool(lines or at > 0 and _is_import(body[at - 1]) and not _third_party(body[at - 1]))) for i, w in enumerate(third)]
    if support in wanted:
        lines.append(_statement(support, blank=bool(lines) or at > 0 and _is_import(body[at - 1])))
    if lines and kept_header:
        lines[0] = tree.replace(lines[0], leading_lines=kept_header)
    elif kept_header and at < len(body):
        comments = [line for line in kept_header if line.comment is not None]
        if comments:
            body[at] = tree.replace(body[at], leading_lines=[*kept_header, *body[at].leading_lines])
    return tree.replace(module, body=[*body[:at], *lines, *body[at:]])


def brings_torch(context: Context) -> bool:
    """Whether the file imports something of torch's, be it by way of another file: `from .common import F`."""
    return context.module.uses_torch or any(_is_torchs(context, name) for name in context.module.imports.values())


def _statement(text: str, blank: bool = False) -> Any:
    line = tree.statement(text)
    return tree.replace(line, leading_lines=[cst.EmptyLine(indent=False)] if blank else [])


def _is_import(statement: Any) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], (cst.Import, cst.ImportFrom))


def _third_party(statement: Any) -> bool:
    small = statement.body[0]
    name = tree.dotted(small.module) if isinstance(small, cst.ImportFrom) and small.module is not None else None
    if isinstance(small, cst.Import):
        name = tree.dotted(small.names[0].name)
    return bool(name) and (name or "").split(".")[0] not in sys.stdlib_module_names


def _after_header(body: list[Any]) -> int:
    """After the docstring and `from __future__` imports."""
    at = 0
    for i, statement in enumerate(body):
        if tree.is_docstring(statement) and i == 0:
            at = 1
        elif isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.ImportFrom):
            module = statement.body[0].module
            if module is not None and tree.dotted(module) == "__future__":
                at = i + 1
    return at


def _names(module: cst.Module) -> set[str]:
    found: set[str] = set()
    for statement in module.body:
        found |= _names_in(statement)
    return found


def _names_in(node: Any) -> set[str]:
    if isinstance(node, cst.SimpleStatementLine) and _is_import(node):
        return set()
    found: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        kind = current.__class__  # isinstance is slow to ask where the answer is mostly no
        if kind is cst.Name:
            found.add(current.value)
        elif kind is cst.Attribute or kind is cst.Arg:
            stack.append(current.value)
        elif kind is cst.SimpleString:
            if any(word in current.value for word in ("nn.", "jnp.", "jax.")):
                found |= {w for w in ("nn", "jnp", "jax") if w + "." in current.value}
        elif kind is not cst.Import and kind is not cst.ImportFrom:
            stack.extend(tree.children(current))
    return found


def _line(context: Context, statement: cst.SimpleStatementLine, lost: set[str]) -> tuple[Any, bool]:
    """The line without torch's imports, and Python's that lost their use (None if nothing is left), and whether something was removed."""
    smalls = []
    removed = False
    for small in statement.body:
        if isinstance(small, cst.Import):
            names = [a for a in small.names if not _is_torch(tree.dotted(a.name) or "") and not _is_spare(tree.dotted(a.name) or "", a, lost)]
            removed = removed or len(names) != len(small.names)
            if not names:
                continue
            if len(names) != len(small.names):
                names[-1] = tree.replace(names[-1], comma=cst.MaybeSentinel.DEFAULT)
                small = tree.replace(small, names=names)
        elif isinstance(small, cst.ImportFrom) and small.module is not None and not small.relative:
            module = tree.dotted(small.module) or ""
            if _is_torch(module) or _all_have_rules(context, module, small):
                removed = True
                continue
        if isinstance(small, cst.ImportFrom) and not isinstance(small.names, cst.ImportStar):
            base = import_base(context.module, small)
            names = [a for a in small.names if not _is_torchs(context, f"{base}.{tree.code(a.name)}") and not _is_spare(base, a, lost)]
            if len(names) != len(small.names):
                removed = True
                if not names:
                    continue
                names[-1] = tree.replace(names[-1], comma=cst.MaybeSentinel.DEFAULT)
                small = tree.replace(small, names=names)
        smalls.append(small)
    if not smalls:
        return None, True
    return (statement if not removed else tree.replace(statement, body=smalls)), removed


def _nested(context: Context, node: Any, lost: set[str]) -> Any:
    """Imports inside functions, try blocks and the like."""

    def before(n: cst.CSTNode) -> Any:
        if isinstance(n, cst.SimpleStatementLine) and any(isinstance(s, (cst.Import, cst.ImportFrom)) for s in n.body):
            new, removed = _line(context, n, lost)
            if new is None:
                return tree.statement("pass")
            return new if removed else n
        return None

    return tree.rewrite(node, before, only={cst.SimpleStatementLine})


def _all_have_rules(context: Context, module: str, node: cst.ImportFrom) -> bool:
    """`from einops.layers.torch import Rearrange`: not torch's, but there is a class for it in jax_nn."""
    if isinstance(node.names, cst.ImportStar):
        return False
    return all(f"{module}.{tree.code(alias.name)}" in context.rulebook.by_torch for alias in node.names)


def _is_spare(module: str, alias: cst.ImportAlias, lost: set[str]) -> bool:
    """Whether an import of Python's own library, or of one that brings torch, has lost its use: `copy`, where copies of layers were all that it made."""
    name = alias.asname.name if alias.asname is not None else alias.name
    ours = module.partition(".")[0] in sys.stdlib_module_names and module != "__future__"
    return (ours or is_built_on_torch(module)) and tree.code(name).partition(".")[0] in lost


def _hands_on(context: Context) -> bool:
    """Whether others import from this file what it imports."""
    return context.module.path.name == "__init__.py"


def _is_torchs(context: Context, name: str) -> bool:
    """Whether a file of the project has it from torch: `from .common import F`."""
    found = context.facts.project.lookup(name)
    return isinstance(found, str) and _is_torch(found)


def _is_torch(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


def _bound(statement: Any) -> set[str]:
    found: set[str] = set()
    for small in statement.body:
        if isinstance(small, (cst.Import, cst.ImportFrom)) and not isinstance(small.names, cst.ImportStar):
            found |= {tree.bound_by(alias) for alias in small.names}
    return found
