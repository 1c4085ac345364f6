"""Write jax_nn.py: the layers and operations that converted code uses, copied from the rule files with what they need."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable

import libcst as cst

from ..source.formatting import format_all
from . import tree
from .rulebook import Definition, Rulebook, directory

HEADER = '"""The part of torch.nn that this code uses, as pure functions of explicit params. Made by torch-to-jax."""\n'
_STANDARD = ("import dataclasses", "import functools", "import inspect", "import math", "import itertools", "import operator", "import collections", "import typing", "from typing", "from dataclasses", "from collections", "import enum")


def write(rulebook: Rulebook, names: Iterable[str], existing: str | None = None) -> str:
    """The text of jax_nn.py for these definitions, formatted; what an existing one defines stays defined."""
    wanted: set[str] = {"Module"}
    for name in names:
        if name in rulebook.definitions:
            wanted |= rulebook.needs(name)
    wanted |= rulebook.needs("Module")
    foreign = ""
    if existing is not None:
        present = _defined(existing)
        for name in present & set(rulebook.definitions):
            wanted |= rulebook.needs(name)
        foreign = _foreign(existing, present - set(rulebook.definitions))
    ordered = _order(rulebook, wanted)
    parts = [_written(rulebook.definitions[name]) for name in ordered]
    registrations = [format_all(text).strip() for text, uses in rulebook.registrations if uses & wanted and uses & set(rulebook.definitions) <= wanted]
    imports = _imports([rulebook.definitions[n] for n in ordered], parts + registrations)
    body = "\n\n\n".join([*parts, *registrations])
    return f"{HEADER}\n{imports}\n\n\n{body}\n" + (f"\n\n{format_all(foreign)}" if foreign else "")


def _without_rule_words(text: str) -> str:
    text = re.sub(r"\bcertain\((isinstance\([^()]*\))\)", r"\1", text)
    return re.sub(r"\bknown\(", "bool(", text.replace("raise Unsupported(", "raise NotImplementedError("))


def _defined(text: str) -> set[str]:
    try:
        module = ast.parse(text)
    except SyntaxError:
        return set()
    found = set()
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.add(node.targets[0].id)
    return found


def _foreign(text: str, names: set[str]) -> str:
    """Definitions that the user added to an existing file."""
    lines = text.splitlines()
    found = []
    for node in ast.parse(text).body:
        name = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else None
        if name in names and isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.append("\n".join(lines[start - 1 : node.end_lineno]))
    return "\n\n\n".join(found)


def _order(rulebook: Rulebook, wanted: set[str]) -> list[str]:
    """Module first, then file by file; what must exist when a definition is executed stands before it."""
    definitions = rulebook.definitions

    def place(name: str) -> tuple[bool, str, int]:
        d = definitions[name]
        return (d.file.name != "module.py", d.file.name, d.node.lineno)

    out: list[str] = []

    def add(name: str) -> None:
        if name in out or name not in wanted:
            return
        for other in sorted(_needed_at_import(definitions[name]) & wanted, key=place):
            if other != name:
                add(other)
        out.append(name)

    for name in sorted(wanted, key=place):
        add(name)
    return out


def _needed_at_import(definition: Definition) -> set[str]:
    node = definition.node
    parts: list[ast.AST] = []
    if isinstance(node, ast.ClassDef):
        parts = [*node.bases, *_decorators(node), *(s for s in node.body if isinstance(s, (ast.Assign, ast.AnnAssign)))]
        for s in node.body:
            if isinstance(s, ast.FunctionDef):
                parts += [*s.args.defaults, *(d for d in s.args.kw_defaults if d is not None), *s.decorator_list]
    elif isinstance(node, ast.FunctionDef):
        parts = [*_decorators(node), *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    else:
        parts = [node]
    return {n.id for p in parts for n in ast.walk(p) if isinstance(n, ast.Name)}


def _decorators(node: ast.FunctionDef | ast.ClassDef) -> list[ast.expr]:
    """The decorators that are not marks of the rule form."""
    return [d for d in node.decorator_list if not (isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id in ("rule", "layer"))]


@functools.cache
def _written(definition: Definition) -> str:
    """A definition as it stands in the output, formatted. The rule files are (a test sees to it), so that copies need not be."""
    text = _without_rule_words(_text(definition))
    copied = text == definition.source and definition.file.is_relative_to(directory())
    return text if copied else format_all(text).strip()


def _text(definition: Definition) -> str:
    """A definition as it stands in the output: without marks, overload words and parameters that it does not use."""
    node = definition.node
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return definition.source
    decorators = "".join(f"@{ast.unparse(d)}\n" for d in _decorators(node))
    source = definition.source
    if isinstance(node, ast.FunctionDef):
        words = any(p.accepts for p in definition.parameters)
        if words or definition.unused:
            function = cst.ensure_type(cst.parse_module(source).body[0], cst.FunctionDef)
            source = tree.code(_plain(function, definition)).strip("\n")
    return decorators + source


def _plain(function: cst.FunctionDef, definition: Definition) -> cst.FunctionDef:
    p = function.params

    def keep(parameters: Iterable[cst.Param]) -> list[cst.Param]:
        kept = [q for q in parameters if q.name.value not in definition.unused]
        return [tree.replace(q, annotation=None, comma=cst.MaybeSentinel.DEFAULT, equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")) if q.default is not None else cst.MaybeSentinel.DEFAULT) for q in kept]

    kwonly = keep(p.kwonly_params)
    star = p.star_arg
    if isinstance(star, cst.Param):
        star = tree.replace(star, annotation=None, comma=cst.MaybeSentinel.DEFAULT)
    elif not kwonly:
        star = cst.MaybeSentinel.DEFAULT
    new = tree.replace(p, params=keep(p.params), kwonly_params=kwonly, star_arg=star, posonly_params=keep(p.posonly_params))
    return tree.replace(function, params=new, returns=None, lines_after_decorators=[], leading_lines=[])


def _imports(definitions: list[Definition], parts: list[str]) -> str:
    used: set[str] = set()
    for part in parts:
        used |= {n.id for n in ast.walk(ast.parse(part)) if isinstance(n, ast.Name)}
    lines: dict[str, None] = {}
    for definition in definitions:
        for name, line in definition.imports.items():
            if name in used and not (line.startswith("from transpile") or "rule" in line.split()[1]):
                lines[line] = None
    standard = sorted(line for line in lines if line.startswith(_STANDARD))
    third = sorted((line for line in lines if line not in standard), key=lambda line: (line.split()[1], line))
    third.sort(key=lambda line: (line.startswith("from"), line.split()[1]))
    return "\n".join(standard) + ("\n\n" if standard and third else "") + "\n".join(third)


def names_used(module: cst.Module) -> set[str]:
    """The definitions of jax_nn.py that a converted file refers to as `nn.name`."""
    found = set()
    for node in tree.nodes(module, cst.Attribute, cst.SimpleString):
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == "nn":
            found.add(node.attr.value)
        elif isinstance(node, (cst.SimpleString,)) and "nn." in node.value:
            found |= {w.split("nn.")[1] for w in node.value.strip("\"'").replace("[", " ").replace("]", " ").replace(",", " ").split() if w.startswith("nn.")}
    return found
