"""What nothing asks for of the classes of a support file goes: `insert` of a list that is only
appended to, `from_pretrained` of an embedding, its constant `max_norm`.

A method or constant is asked for by its name, in the files of the program, in strings there, and
in the definitions that stay; those of JAX with self (`init`, `apply`), those that JAX calls of a
pytree (`tree_unflatten`), Flax and Equinox of a module (`set_view`, `is_stateful`), and Python's
own stay in any case.
"""

import ast
import functools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from .definitions import Entry

PROTOCOL = frozenset(
    "init init_state apply children tree_flatten tree_unflatten set_view is_stateful".split()
)
# Python's own that stand for operators and statements, by the syntax that asks for them.
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "__add__",
    ast.AugAssign: "__iadd__",
    ast.In: "__contains__",
    ast.NotIn: "__contains__",
}
_ITEMS = {ast.Store: "__setitem__", ast.Del: "__delitem__"}
# Those that make a module a list, for which no library asks a module.
_LISTS = frozenset(["append", "extend", "insert", *_OPERATORS.values(), *_ITEMS.values()])


def without_unasked(
    entries: dict[str, Entry], said: Collection[str], kept: Iterable[ast.stmt]
) -> dict[str, Entry]:
    """The definitions without the methods that nothing asks for. `said`: the words of the program;
    `kept`: definitions of an earlier support file, whose methods other files may ask for."""
    asked = set(said)
    for node in kept:
        asked |= {m.name for m in ast.walk(node) if isinstance(m, ast.FunctionDef)}
    waiting: dict[ast.AST, str] = {}
    for entry in entries.values():
        methods = _methods(entry.node, entries)
        waiting |= {m: _name(m) for m in methods}
        asked |= set(words(entry.node, methods)) if methods else words_of(entry.node)
    while found := [m for m, name in waiting.items() if name in asked]:
        for method in found:
            del waiting[method]
            asked |= set(words(method))
    return {name: _without(entry, waiting) for name, entry in entries.items()}


def _methods(node: ast.stmt, entries: Collection[str]) -> list[ast.FunctionDef | ast.Assign]:
    """The methods and constants of a class that stay only if they are asked for; the methods of a
    class of a library's may be an answer to that, but for other constructors."""
    if not isinstance(node, ast.ClassDef):
        return []
    ours = all(isinstance(base, ast.Name) and base.id in entries for base in node.bases)
    bases = [b.attr if isinstance(b, ast.Attribute) else "" for b in node.bases]
    modules = all(base in ("Module", "StatefulLayer") for base in bases)
    members = [m for m in node.body if isinstance(m, (ast.FunctionDef, ast.Assign))]
    return [m for m in members if _may_go(m, ours) or modules and _name(m) in _LISTS]


def _name(member: ast.FunctionDef | ast.Assign) -> str:
    return member.name if isinstance(member, ast.FunctionDef) else ast.unparse(member.targets[0])


def _may_go(method: ast.FunctionDef | ast.Assign, ours: bool) -> bool:
    if isinstance(method, ast.Assign):
        return isinstance(method.value, ast.Constant)
    if method.name in PROTOCOL:
        return False
    if not ours:
        return any(isinstance(d, ast.Name) and d.id == "classmethod" for d in method.decorator_list)
    if method.name.startswith("__"):
        return method.name in (*_OPERATORS.values(), *_ITEMS.values())
    return True


def words(tree: ast.AST, without: Collection[ast.AST] = ()) -> Iterator[str]:
    """The names of attributes, the strings that may be such, and the operators of a text."""
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                todo += [n for n in value if isinstance(n, ast.AST) and n not in without]
            elif isinstance(value, ast.AST):
                todo.append(value)
        kind = node.__class__
        if kind is ast.Attribute:
            yield node.attr
        elif kind is ast.Constant:
            if isinstance(node.value, str):
                yield node.value
        elif kind in _OPERATORS:
            yield _OPERATORS[kind]
        elif kind is ast.Subscript and node.ctx.__class__ in _ITEMS:
            yield _ITEMS[node.ctx.__class__]


@functools.lru_cache(maxsize=2048)  # definitions, most of which many programs and rounds share
def words_of(node: ast.stmt) -> frozenset[str]:
    """The words of a whole definition."""
    return frozenset(words(node))


def _without(entry: Entry, gone: Collection[ast.AST]) -> Entry:
    node = entry.node
    if not isinstance(node, ast.ClassDef):
        return entry
    methods = [m for m in node.body if isinstance(m, (ast.FunctionDef, ast.Assign)) and m in gone]
    if not methods or len(methods) == len(node.body):
        return entry
    lines = entry.text.splitlines()
    for method in reversed(methods):
        marks = method.decorator_list if isinstance(method, ast.FunctionDef) else []
        start = min([method.lineno, *(d.lineno for d in marks)]) - 1
        while lines[start - 1].lstrip().startswith("#"):
            start -= 1
        end = method.end_lineno or method.lineno
        while end < len(lines) and not lines[end].strip():
            end += 1
        del lines[start:end]
    return replace(entry, text="\n".join(lines).rstrip())
