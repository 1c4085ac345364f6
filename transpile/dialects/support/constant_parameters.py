"""Parameters of a support file that nothing gives, `label_smoothing` of a cross entropy, are their
defaults: they leave the signatures, and what only they reach goes.

    def embed(input, weight, scale_grad=False):        def embed(input, weight):
        rows = weight[input]                               rows = weight[input]
        if scale_grad:                           →         return rows
            rows = scaled(rows, input)
        return rows

A definition that is more than called (handed on, inherited from, named in a string) keeps its
signature. What is called, and with what, is read off the program's files and the definitions that
stay.
"""

import ast
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .definitions import Entry
from .specialise import Constants, Gone, without
from .unused_members import words_of

_DEFINED = (ast.FunctionDef, ast.ClassDef)
_NO_ATTRIBUTES = {"dtype"}  # torch's layers have none: what is asked for one is an array
_SET_FROM_OUTSIDE = {"inference"}  # by eqx.nn.inference_mode(model)
_ASKS_ONLY = ("isinstance", "issubclass")
_SAYS_TYPES = ("annotation", "returns")
_NAMING = frozenset((ast.Name, ast.Attribute, ast.Constant, ast.alias))


@dataclass
class _Uses:
    """How a definition is used."""

    escapes: bool = False
    inside: list[ast.Call] = field(default_factory=list)  # calls in the support file
    outside: list[ast.Call] = field(default_factory=list)  # calls in the program's files


def without_ungiven(
    entries: dict[str, Entry],
    trees: Iterable[ast.Module],
    said: Collection[str],
    kept: Iterable[ast.stmt],
    needed: Callable[[dict[str, Entry]], Collection[str]],
) -> dict[str, Entry]:
    """The definitions without what nothing gives. `trees`: the files of the program, `said`: their
    words; `kept`: definitions of an earlier support file, whose parameters other files may give;
    `needed`: the names of those that are asked for, where some have become less."""
    before = {node.name: _places(node) for node in kept if isinstance(node, _DEFINED)}
    asked = set(said).union(*map(words_of, kept))
    outside = _outside(entries, trees)
    while True:
        uses = _uses(entries, outside)
        fixed = _fixed(entries, uses, asked)
        found = {n: _ungiven(e.node, uses[n], before.get(n)) for n, e in entries.items()}
        places = {name: _places(entry.node) for name, entry in entries.items()}
        gone = {n: {p: places[n][p] for p in known} for n, known in found.items() if known}
        if not gone and not any(fixed.values()):
            return entries
        made = {n: _without(e, found[n], gone, fixed[n]) for n, e in entries.items()}
        names = needed(made)
        entries = {name: entry for name, entry in made.items() if name in names}


def _without(entry: Entry, own: Constants, gone: Gone, fixed: Constants) -> Entry:
    gone = {name: gone[name] for name in sorted(gone.keys() & entry.uses)}
    if not own and not fixed and not gone:
        return entry  # it is read and written for nothing
    text = without(entry.text, own, gone, fixed)
    return entry if text == entry.text else replace(entry, text=text)


# --- how definitions are used ---------------------------------------------------------------------


def _outside(entries: Mapping[str, Entry], trees: Iterable[ast.Module]) -> dict[str, _Uses]:
    """How the files of the program use each definition, by its name alone."""
    uses = {name: _Uses() for name in entries}
    for tree in trees:
        for node, call in _named(tree):
            if isinstance(node, ast.alias):
                if node.asname and node.name in uses:
                    uses[node.name].escapes = True
                continue
            word = node.id if isinstance(node, ast.Name) else getattr(node, "attr", None)
            word = node.value if isinstance(node, ast.Constant) else word
            if isinstance(word, str) and word in uses:
                _note(uses[word], uses[word].outside, call)
            elif word == "__class__" or _is_of_type(node):
                for name, entry in entries.items():
                    uses[name].escapes |= isinstance(entry.node, ast.ClassDef)
    return uses


def _is_of_type(function: ast.AST) -> bool:
    """Whether what is called is what `type(layer)` gives."""
    word = getattr(function, "func", None)
    return "type" in (getattr(word, "id", ""), getattr(word, "attr", ""))


def _uses(entries: Mapping[str, Entry], outside: Mapping[str, _Uses]) -> dict[str, _Uses]:
    uses = {n: _Uses(outside[n].escapes, [], outside[n].outside) for n in entries}
    for entry in entries.values():
        own, read = _names(entry.node)
        for name in own & uses.keys() - {entry.name}:
            uses[name].escapes = True
        for name, call in read:
            if name in uses:
                _note(uses[name], uses[name].inside, call)
    return uses


@functools.lru_cache(maxsize=2048)  # definitions, most of which many programs and rounds share
def _names(node: ast.stmt) -> tuple[frozenset[str], list[tuple[str, ast.Call | None]]]:
    """The names that a definition gives a meaning of its own, and those that it reads."""
    own = set[str]()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            own.add(part.id)
        elif isinstance(part, ast.arg):
            own.add(part.arg)
    read = [(name.id, call) for name, call in _named(node) if isinstance(name, ast.Name)]
    return frozenset(own), read


def _note(use: _Uses, calls: list[ast.Call], call: ast.Call | None) -> None:
    if call is None or any(isinstance(a, ast.Starred) for a in call.args):
        use.escapes = True
    elif any(k.arg is None for k in call.keywords):
        use.escapes = True
    else:
        calls.append(call)


def _named(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.alias, ast.Call | None]]:
    """The names, attributes, strings and imports of a text, and the calls that are called
    themselves, but for annotations and what is only asked of types, each with the call of it."""
    todo: list[tuple[Any, ast.Call | None]] = [(tree, None)]
    while todo:
        node, call = todo.pop()
        kind = node.__class__
        if kind in _NAMING or kind is ast.Call and call is not None:
            yield node, call
        if kind is ast.Call:
            if getattr(node.func, "id", "") in _ASKS_ONLY:
                todo += [(argument, None) for argument in node.args[:1]]
            else:
                todo.append((node.func, node))
                todo += [(part, None) for part in (*node.args, *node.keywords)]
            continue
        for name in node._fields:
            if name in _SAYS_TYPES:
                continue
            value = getattr(node, name, None)
            if value.__class__ is list:
                todo += [(part, None) for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST):
                todo.append((value, None))


# --- what nothing gives ---------------------------------------------------------------------------


@functools.lru_cache(maxsize=2048)
def _made_by(node: ast.stmt) -> ast.FunctionDef | None:
    """What a call of a definition runs."""
    if isinstance(node, ast.FunctionDef):
        return None if node.decorator_list else node
    if not isinstance(node, ast.ClassDef) or node.decorator_list:
        return None
    if any(isinstance(n, ast.Name) and n.id in ("cls", "type") for n in ast.walk(node)):
        return None  # it makes others of its own
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]
    return next((m for m in methods if m.name == "__init__"), None)


def _ungiven(node: ast.stmt, uses: _Uses, kept: Collection[str] | None) -> Constants:
    """The parameters that are the same constant in all calls, and given by the program in none;
    `kept`: those that an earlier support file has, for whoever uses that."""
    function = _made_by(node)
    called = bool(uses.inside or uses.outside) or kept is not None
    if function is None or uses.escapes or not called:
        return {}
    if function.body[0].col_offset > function.col_offset + 4:  # on the line of the header
        return {}
    found: dict[str, object] = {}
    for at, name, default in _parameters(function, isinstance(node, ast.ClassDef)):
        if name in (kept or ()) or any(_argument(call, at, name) for call in uses.outside):
            continue
        given = [_argument(call, at, name) or default for call in uses.inside]
        given += [default] * bool(uses.outside or not given)
        value = given[0]
        alike = value is not None and {_said(v) for v in given} == {_said(value)}
        if isinstance(value, ast.Constant) and alike:
            found[name] = value.value
    return found


def _fixed(
    entries: Mapping[str, Entry], uses: Mapping[str, _Uses], asked: set[str]
) -> dict[str, Constants]:
    """The attributes of each class that its constructor sets to a constant, and that nothing else
    sets or asks for."""
    asked = asked.union(*(_of_others(entry.node) for entry in entries.values())) - _NO_ATTRIBUTES
    asked |= _SET_FROM_OUTSIDE
    found: dict[str, Constants] = {}
    for name, entry in entries.items():
        function = _made_by(entry.node)
        methods = function is not None and function is not entry.node and not uses[name].escapes
        known: dict[str, object] = {}
        for statement in function.body if methods and function is not None else ():
            attribute = _set_on_self(statement)
            value = statement.value if isinstance(statement, ast.Assign) else None
            if attribute is None or not isinstance(value, ast.Constant) or attribute in asked:
                continue
            if any(attribute in words_of(entries[n].node) for n in _above(name, entries)):
                continue
            nodes = [n for n in ast.walk(entry.node) if isinstance(n, ast.Attribute)]
            stores = [n for n in nodes if n.attr == attribute and not isinstance(n.ctx, ast.Load)]
            if len(stores) == 1:
                known[attribute] = value.value
        if function is not None and len(known) == len(function.body):
            known.popitem()  # a constructor has a statement
        found[name] = known
    return found


def _set_on_self(statement: ast.stmt) -> str | None:
    """The a in `self.a = …`."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if len(targets) != 1 or not isinstance(target := targets[0], ast.Attribute):
        return None
    return target.attr if getattr(target.value, "id", "") == "self" else None


@functools.lru_cache(maxsize=2048)
def _of_others(node: ast.stmt) -> frozenset[str]:
    """The attributes that a definition asks for, but for those of `self`."""
    found = set[str]()
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
        elif isinstance(part, ast.Attribute) and getattr(part.value, "id", "") != "self":
            found.add(part.attr)
    return frozenset(found)


def _above(name: str, entries: Mapping[str, Entry]) -> Iterator[str]:
    """The classes that one inherits from."""
    for base in getattr(entries[name].node, "bases", ()):
        if isinstance(base, ast.Name) and base.id in entries:
            yield base.id
            yield from _above(base.id, entries)


def _places(node: ast.stmt) -> dict[str, int | None]:
    """The parameters of a definition, each with its place among the arguments."""
    function = _made_by(node)
    if function is None:
        return {}
    return {name: at for at, name, _ in _parameters(function, isinstance(node, ast.ClassDef))}


def _said(value: ast.expr | None) -> str:
    return "" if value is None else ast.dump(value)


def _parameters(
    function: ast.FunctionDef, method: bool
) -> Iterator[tuple[int | None, str, ast.expr | None]]:
    """The place, where it may be given by place, the name and the default of each parameter."""
    a = function.args
    by_place = [*a.posonlyargs, *a.args]
    none: list[ast.expr | None] = [None] * (len(by_place) - len(a.defaults))
    for i, (arg, default) in enumerate(zip(by_place, [*none, *a.defaults])):
        if i >= method and i >= len(a.posonlyargs):
            yield i - method, arg.arg, default
    for arg, default in zip(a.kwonlyargs, a.kw_defaults):
        yield None, arg.arg, default


def _argument(call: ast.Call, at: int | None, name: str) -> ast.expr | None:
    if at is not None and at < len(call.args):
        return call.args[at]
    return next((k.value for k in call.keywords if k.arg == name), None)
