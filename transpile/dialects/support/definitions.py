"""Where the definitions of a support file come from: rule files, a prelude, layers that a dialect
writes."""

import ast
import functools
import re
import symtable
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...model.program import Class, File, Function
from ...model.rule_files import MARKS, directory, imports_of, words_file
from ...model.rulebook import Definition, Rulebook
from ...model.statements import Import

LINE_LENGTH = 120
_RULE_WORDS = (
    (re.compile(r"\bcertain\((isinstance\((?:[^()]|\([^()]*\))*\))\)"), r"\1"),
    (re.compile(r"\bknown\(outside_bytes\((\w+)\)\)"), r"jnp.issubdtype(\1.dtype, jnp.floating)"),
    (re.compile(r"\bknown\("), "bool("),
    (re.compile(r"\braise Unsupported\("), "raise NotImplementedError("),
)


@dataclass(frozen=True)
class Entry:
    """One definition of the support file. `place` orders it among the others; `completes` is what
    it is a part of: `@f.defjvp`."""

    name: str
    text: str
    place: tuple[str, int]
    imports: Mapping[str, str] = field(default_factory=dict)  # statements by the name they bind

    @functools.cached_property
    def node(self) -> ast.stmt:
        return _parsed(self.text)

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """All names in it."""
        return frozenset(n.id for n in ast.walk(self.node) if isinstance(n, ast.Name))

    @functools.cached_property
    def uses(self) -> frozenset[str]:
        """The names that it reads of those outside."""
        return _uses(self.text)


@functools.lru_cache(maxsize=2048)  # torch's layers, which come out alike of many programs
def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


@functools.lru_cache(maxsize=2048)
def _uses(text: str) -> frozenset[str]:
    return frozenset(_outer_names(symtable.symtable(text, "", "exec")))


def _outer_names(table: symtable.SymbolTable) -> Iterator[str]:
    """The global names of a scope and of those inside; parameters and locals are none."""
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _outer_names(inner)


class Source:
    """Definitions by name."""

    def find(self, name: str) -> Entry | None:
        raise NotImplementedError

    def completing(self, name: str) -> Iterable[str]:
        """The definitions that complete one by decoration: `@f.defjvp` above f_jvp."""
        return ()

    def registrations(self, names: set[str]) -> Iterable[str]:
        """Statements that register what is defined, where all that they need is there."""
        return ()


class Written(Source):
    """Definitions of the files of layers, which a dialect writes when they are asked for. `words`:
    the imports of its own. `first` orders them among the other definitions."""

    def __init__(
        self,
        node: Callable[[str], Class | Function | None],
        text: Callable[[Class | Function], str],
        words: Mapping[str, str],
        first: str = "",
    ) -> None:
        self._node, self._text, self._words, self._first = node, text, words, first
        self._known: dict[str, Entry] = {}

    def find(self, name: str) -> Entry | None:
        node = self._node(name) if name not in self._known else None
        if node is not None and node.file is not None:
            text = without_marks(self._text(node))
            place = f"{self._first}{node.file.path}", node.start
            imports = {**self._words, **_imports_in(node.file)}
            self._known[name] = Entry(name, text, place, imports)
        return self._known.get(name)


def _imports_in(file: File) -> dict[str, str]:
    """The import statements of a file of layers by the name that they bind, without our own."""
    found: dict[str, str] = {}
    for statement in file.body.body:
        if not isinstance(statement, Import) or statement.level:
            continue
        for name in statement.names:
            alias = "" if name.alias is None else f" as {name.alias}"
            if statement.module is None:
                found[name.bound] = f"import {name.name}{alias}"
            elif not statement.module.startswith("transpile"):
                found[name.bound] = f"from {statement.module} import {name.name}{alias}"
    return found


class Prelude(Source):
    """The definitions of a text: of a file of the dialect's own, or the support file that stands
    where a new one is written, of which what the user added is kept."""

    def __init__(self, text: str, first: str = " ") -> None:
        tree, lines = ast.parse(text), text.splitlines()
        imports = imports_of(tree)
        self._entries: dict[str, Entry] = {}
        for node in tree.body:
            name = _defined(node)
            if name is not None:
                start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                own = "\n".join(lines[start - 1 : node.end_lineno])
                self._entries[name] = Entry(name, own, (first, node.lineno), imports)

    def find(self, name: str) -> Entry | None:
        return self._entries.get(name)

    def names(self) -> Iterable[str]:
        return self._entries

    def nodes(self) -> Iterable[ast.stmt]:
        return [entry.node for entry in self._entries.values()]


class Rules(Source):
    """The functions of the rule files, as they stand there, without marks and overload words."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self._known: dict[str, Entry | None] = {}

    def find(self, name: str) -> Entry | None:
        if name not in self._known:
            definition = self.rulebook.definitions.get(name)
            self._known[name] = None if definition is None else self._entry(definition)
        return self._known[name]

    def _entry(self, definition: Definition) -> Entry | None:
        if definition.file == words_file() or self.rulebook.is_module(definition):
            return None  # layers are written by the dialect, and so is what they are written with
        return _of_rule(definition)

    def completing(self, name: str) -> Iterable[str]:
        return self.rulebook.completions.get(name, ())

    def registrations(self, names: set[str]) -> Iterable[str]:
        known = self.rulebook.definitions.keys()
        for text, uses in self.rulebook.registrations:
            if uses & names and uses & known <= names:
                yield text


@functools.cache
def _of_rule(definition: Definition) -> Entry:
    place = definition.file.name, definition.lines[0]
    return Entry(definition.name, rule_text(definition), place, definition.imports)


PRELUDES = directory() / "preludes"


@functools.cache
def prelude(*files: Path) -> Prelude:
    """What a dialect has in files of its own."""
    return Prelude("\n".join(file.read_text("utf-8") for file in files))


def _defined(node: ast.stmt) -> str | None:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


# --- the words of the rule form -------------------------------------------------------------------


def rule_text(definition: Definition) -> str:
    """A definition of the rule files, without marks, overload words and what it ignores."""
    first, last = definition.lines
    text = "\n".join(definition.text.splitlines()[first - 1 : last])
    node = definition.node
    if isinstance(node, ast.FunctionDef):
        words = any(p.accepts for p in definition.parameters)
        if words or definition.unused:
            text = _plain_header(text, node, definition.unused)
    text = without_marks(text)
    for pattern, plain in _RULE_WORDS:
        text = pattern.sub(plain, text)
    return text


def without_marks(text: str) -> str:
    """A definition without `@rule(…)` and `@layer(…)`."""
    node, lines = _parsed(text), text.splitlines()
    for mark in reversed(getattr(node, "decorator_list", ())):
        name = mark.func if isinstance(mark, ast.Call) else mark
        if isinstance(name, ast.Name) and name.id in MARKS:
            del lines[mark.lineno - 1 : mark.end_lineno]
    return "\n".join(lines)


def _plain_header(text: str, node: ast.FunctionDef, unused: frozenset[str]) -> str:
    """A function with its decorators, but without annotations and without unused parameters."""
    arguments, lines = _without(node.args, unused), text.splitlines()
    top = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    start, body = node.lineno - top, node.body[0].lineno - top
    end = next(i for i in range(body - 1, start - 1, -1) if lines[i].strip())
    while lines[end].lstrip().startswith("#"):  # comments above the first statement
        end -= 1
    header = f"def {node.name}({ast.unparse(arguments)}):"
    if len(header) > LINE_LENGTH:
        names = "".join(f"    {one},\n" for one in _listed(arguments))
        header = f"def {node.name}(\n{names}):"
    return "\n".join([*lines[:start], header, *lines[end + 1 :]])


def _without(args: ast.arguments, unused: frozenset[str]) -> ast.arguments:
    def plain(arg: ast.arg | None) -> ast.arg | None:
        return None if arg is None else ast.arg(arg.arg)

    both = [*args.posonlyargs, *args.args]
    none: list[ast.expr | None] = [None] * (len(both) - len(args.defaults))
    pairs = list(zip(both, [*none, *args.defaults]))
    kept = [(a, d) for a, d in pairs if a.arg not in unused]
    words = [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults) if a.arg not in unused]
    count = sum(1 for a in args.posonlyargs if a.arg not in unused)
    names = [ast.arg(a.arg) for a, _ in kept]
    return ast.arguments(
        names[:count],
        names[count:],
        plain(args.vararg),
        [ast.arg(a.arg) for a, _ in words],
        [d for _, d in words],
        plain(args.kwarg),
        [d for _, d in kept if d is not None],
    )


def _listed(arguments: ast.arguments) -> list[str]:
    """The parameters one by one, with the star of those by keyword alone."""
    text = f"lambda {ast.unparse(arguments)}: 0"
    own = ast.parse(text, mode="eval").body
    assert isinstance(own, ast.Lambda)
    lines: list[str] = []
    positional = [*own.args.posonlyargs, *own.args.args]
    defaults = [None] * (len(positional) - len(own.args.defaults)) + list(own.args.defaults)
    for i, (arg, default) in enumerate(zip(positional, defaults)):
        lines.append(arg.arg + ("" if default is None else f"={ast.unparse(default)}"))
        if i + 1 == len(own.args.posonlyargs):
            lines.append("/")
    if own.args.vararg is not None:
        lines.append(f"*{own.args.vararg.arg}")
    elif own.args.kwonlyargs:
        lines.append("*")
    for arg, default in zip(own.args.kwonlyargs, own.args.kw_defaults):
        lines.append(arg.arg + ("" if default is None else f"={ast.unparse(default)}"))
    if own.args.kwarg is not None:
        lines.append(f"**{own.args.kwarg.arg}")
    return lines
