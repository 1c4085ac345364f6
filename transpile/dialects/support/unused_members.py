"""What nothing asks for of the classes of a support file goes: `insert` of a list that is only
appended to, `from_pretrained` of an embedding, its constant `max_norm`.

A method or constant is asked for by its name, in the files of the program, in strings there, and
in the definitions that stay; those of JAX with self (`init`, `apply`), those that JAX calls of a
pytree (`tree_unflatten`), Flax and Equinox of a module (`set_view`, `is_stateful`), and Python's
own stay in any case. What is asked of a list, a dict or an array is not asked of a class here.
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
_ITEMS = {ast.Store: "__setitem__", ast.Del: "__delitem__"}
# Python's own that stand for operators and statements.
_OPERATORS = frozenset(["__add__", "__iadd__", "__contains__", *_ITEMS.values()])
# Those that make a module a list, for which no library asks a module.
_LISTS = frozenset(["append", "extend", "insert", *_OPERATORS])
_DISPLAYS = (ast.List, ast.Dict, ast.Tuple, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


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
        asked |= set(_own_words(entry.node, methods)) if methods else _own_words_of(entry.node)
    while found := [m for m, name in waiting.items() if name in asked]:
        for method in found:
            del waiting[method]
            asked |= set(_own_words(method))
    return {name: _without(entry, waiting) for name, entry in entries.items()}


def _methods(node: ast.stmt, entries: Collection[str]) -> list[ast.FunctionDef | ast.Assign]:
    """The methods and constants of a class that stay only if they are asked for; the methods of a
    class of a library's may be an answer to that, but for private ones and other constructors."""
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
    special = method.name.startswith("__")
    if not ours:
        made = any(isinstance(d, ast.Name) and d.id == "classmethod" for d in method.decorator_list)
        return made or method.name.startswith("_") and not special
    return method.name in _OPERATORS if special else True


def words(tree: ast.AST, without: Collection[ast.AST] = ()) -> Iterator[str]:
    """The names of attributes, the strings that may be such, and the operators of a text."""
    return (word for word, _ in _asked(tree, without))


def _own_words(tree: ast.AST, without: Collection[ast.AST] = ()) -> Iterator[str]:
    """The words of a definition of ours: operators are between arrays there, but on `self`, and
    what is asked of a list or dict that it makes is asked of no class."""
    made = _made_here(tree)
    for word, receiver in _asked(tree, without):
        name = receiver.id if isinstance(receiver, ast.Name) else None
        if name == "self" if word in _OPERATORS and receiver is not None else name not in made:
            yield word


def _made_here(tree: ast.AST) -> set[str]:
    """The names that are lists or dicts wherever they are bound."""
    made, bound = set[str](), set[ast.AST]()
    for assign in [n for n in ast.walk(tree) if isinstance(n, ast.Assign)]:
        for target in assign.targets:
            pairs = [(target, assign.value)]
            if isinstance(target, ast.Tuple) and isinstance(assign.value, ast.Tuple):
                pairs = list(zip(target.elts, assign.value.elts))  # `seen, found = set(), []`
            names = [n for n, v in pairs if isinstance(n, ast.Name) and isinstance(v, _DISPLAYS)]
            made |= {name.id for name in names}
            bound.update(names)
    for node in ast.walk(tree) if made else ():
        if isinstance(node, ast.arg):
            made.discard(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            if node not in bound:
                made.discard(node.id)
    return made


def _asked(
    tree: ast.AST, without: Collection[ast.AST] = ()
) -> Iterator[tuple[str, ast.expr | None]]:
    """Each word of a text, with the expression that it is asked of."""
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
            yield node.attr, node.value
        elif kind is ast.Constant:
            if isinstance(node.value, str):
                yield node.value, None
        elif kind is ast.BinOp and isinstance(node.op, ast.Add):
            yield "__add__", node.left
        elif kind is ast.AugAssign and isinstance(node.op, ast.Add):
            yield from (("__iadd__", node.target), ("__add__", node.target))
        elif kind is ast.Compare:
            for operator, container in zip(node.ops, node.comparators):
                if isinstance(operator, (ast.In, ast.NotIn)):
                    yield "__contains__", container
        elif kind is ast.Subscript and node.ctx.__class__ in _ITEMS:
            yield _ITEMS[node.ctx.__class__], node.value


@functools.lru_cache(maxsize=2048)  # definitions, most of which many programs and rounds share
def words_of(node: ast.stmt) -> frozenset[str]:
    """The words of a whole definition."""
    return frozenset(words(node))


@functools.lru_cache(maxsize=2048)
def _own_words_of(node: ast.stmt) -> frozenset[str]:
    return frozenset(_own_words(node))


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
