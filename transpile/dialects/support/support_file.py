"""The support file jax_nn.py: of the rule files, the layers and the prelude, what a program uses.

What a definition needs is read off its text, so that a layer may come from anywhere: from the
class writer of a dialect (`Written`), from the rule files as they stand (`rules`), or from a file
of the dialect's own (`prelude`). Where two sources have a name the first one counts.
"""

import ast
import functools
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ...source.files import python_tree
from .constant_parameters import without_ungiven
from .definitions import LINE_LENGTH, Entry, Prelude, Source
from .unused_members import without_unasked, words


def write(
    wanted: Iterable[str],
    sources: Sequence[Source],
    header: str,
    format: Callable[[str], str] = lambda text: text,
    files: Iterable[str] | None = None,
    existing: Prelude | None = None,
    asked_of_others: Mapping[str, int] | None = None,
) -> str:
    """The text of a support file that defines these names, and what they need; where the `files` of
    the program are given, less what nothing asks for there, nor in an `existing` support file; nor
    is that which they ask `of others` than its classes, by the number of times."""
    names = {*wanted, *(existing.names() if existing is not None else ())}
    entries = gather(names, sources)
    trees = _parsed(files)
    if trees is not None:
        kept = list(existing.nodes()) if existing is not None else []
        asked = Counter(word for tree in trees for word in words(tree))
        others = asked_of_others or {}
        members = {word for word, times in asked.items() if times > others.get(word, 0)}
        entries = without_unasked(entries, members, kept)
        needed = functools.partial(gather, names, sources)
        found = needed(entries)
        entries = {name: entry for name, entry in entries.items() if name in found}
        more = [text for source in sources for text in source.registrations(set(entries))]
        trees += map(ast.parse, more)
        entries = without_ungiven(entries, trees, asked, kept, needed)
    parts = [_formatted(entry.text, format) for entry in _ordered(entries)]
    registrations = [r for source in sources for r in source.registrations(set(entries))]
    imports = import_lines(entries.values(), registrations)
    parts += registrations
    return "\n\n\n".join([f'"""{header}"""\n\n{imports}'.rstrip(), *parts]) + "\n"


def _parsed(files: Iterable[str] | None) -> list[ast.Module] | None:
    """The files of a program; None where they are not known."""
    try:
        return None if files is None else [python_tree(text) for text in files]
    except SyntaxError:  # of a later Python than the one that this runs on
        return None


def _formatted(text: str, format: Callable[[str], str]) -> str:
    """A definition, laid out anew where a line has become too long."""
    long = any(len(line) > LINE_LENGTH for line in text.splitlines())
    return format(text).strip() if long else text.strip()


def gather(
    wanted: Iterable[str], sources: Sequence[Source], among: Mapping[str, Entry] | None = None
) -> dict[str, Entry]:
    """The definitions of these names and of all that they need; `among`: where some of those of the
    sources have become less."""
    found: dict[str, Entry] = {}
    todo = sorted(set(wanted), reverse=True)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        if among is None:
            entry = next(filter(None, (source.find(name) for source in sources)), None)
        else:
            entry = among.get(name)
        if entry is not None:
            found[name] = entry
            todo += sorted(entry.uses, reverse=True)
            todo += [other for source in sources for other in source.completing(name)]
    return found


# --- order and imports ----------------------------------------------------------------------------


def _ordered(entries: dict[str, Entry]) -> list[Entry]:
    """In their places; what must exist when a definition is executed stands before it."""
    out: dict[str, Entry] = {}
    begun: set[str] = set()

    def add(name: str) -> None:
        if name in begun:
            return
        begun.add(name)
        for other in sorted(needed_at_import(entries[name].node) & entries.keys(), key=place):
            add(other)
        out[name] = entries[name]

    def place(name: str) -> tuple[str, int]:
        return entries[name].place

    for name in sorted(entries, key=place):
        add(name)
    return list(out.values())


def needed_at_import(node: ast.stmt) -> set[str]:
    """The names that are read when a definition is executed."""
    parts: list[ast.AST] = [node]
    if isinstance(node, ast.ClassDef):
        parts = [*node.bases, *node.decorator_list]
        for inner in node.body:
            executed = isinstance(inner, (ast.FunctionDef, ast.ClassDef))
            found = needed_at_import(inner) if executed else None
            if found is not None:
                parts += [ast.Name(name) for name in found]
            else:
                parts.append(inner)
    elif isinstance(node, ast.FunctionDef):
        defaults = [d for d in node.args.kw_defaults if d is not None]
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        annotations = [a.annotation for a in arguments if a.annotation is not None]
        parts = [*node.decorator_list, *node.args.defaults, *defaults, *annotations]
    return {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}


def import_lines(entries: Collection[Entry], registrations: Iterable[str]) -> str:
    """The imports that these texts need, Python's own first."""
    used = {name for entry in entries for name in entry.names}
    for text in registrations:
        used |= {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    named = {line for e in entries for name, line in e.imports.items() if name in used}
    groups = [[], []]  # type: list[list[str]]
    for line in sorted(named, key=import_order):
        groups[not is_standard(line)].append(line)
    return "\n\n".join("\n".join(group) for group in groups if group)


def import_order(line: str) -> tuple[bool, list[str]]:
    """As isort has them: plain imports first."""
    words = line.split()
    return words[0] == "from", [w.lower() for w in words[1:]]


def is_standard(line: str) -> bool:
    return line.split()[1].partition(".")[0] in sys.stdlib_module_names
