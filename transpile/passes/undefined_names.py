"""What only reports: names that nothing in a file defines, where a forward pass reads them, or
where they can only be torch's.

    from torch import *
    return no_such(x)                    torch has no such name
"""

import builtins
import symtable
from collections.abc import Iterator
from typing import Any

from ..facts.bindings import Kind, bound, events, free
from ..facts.values.lattice import Torch
from ..model.expressions import Lambda, Name
from ..model.node import Node
from ..model.program import Function, Scope
from ..model.project import Project
from .pass_ import Changes, Pass

# Python 2's, and what tools that run files give them.
_GIVEN = frozenset(
    "unicode xrange basestring long raw_input reduce profile get_ipython display".split()
)
_MODULES = frozenset("__file__ __path__ __annotations__ __class__ __qualname__ __module__".split())
_BUILTINS = frozenset(dir(builtins)) | _MODULES


def run(project: Project, facts: Any) -> list[Changes]:
    """The reports for all files."""
    found = []
    for file in project.ordered:
        stars = project.names[file].stars
        lost = undefined(file.text) - _GIVEN
        of_torch = all(star.partition(".")[0] == "torch" for star in stars)
        if not lost or not of_torch:
            continue
        for scope in file.scopes():
            changes = Changes(scope)
            if stars:
                _left_over(changes, lost)
            elif facts.in_forward(scope):
                lost -= _unknown(changes, lost)
            found.append(changes)
    return found


def undefined(text: str) -> set[str]:
    """The names that a file reads and binds nowhere, builtins left out; none where this Python does
    not know the file's syntax.
    """
    try:
        top = symtable.symtable(text, "<source>", "exec")
    except SyntaxError:
        return set()
    bound, used = set(_BUILTINS), set[str]()
    todo = [top]
    while todo:
        table = todo.pop()
        todo.extend(table.get_children())
        for symbol in table.get_symbols():
            binds = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
            if binds and (table is top or symbol.is_declared_global()):
                bound.add(symbol.get_name())
            elif symbol.is_referenced() and (table is top or symbol.is_global()):
                used.add(symbol.get_name())
    return used - bound


def _left_over(changes: Changes, lost: set[str]) -> None:
    """Report what a star of torch's was to give, and torch has not."""
    for node in _reads(changes.scope, lost):
        if not isinstance(node.value, Torch):
            message = f"{node.id} is defined nowhere in this file, and torch has no such name"
            changes.report("left-over", node, message)


def _unknown(changes: Changes, lost: set[str]) -> set[str]:
    """Report the names, each once."""
    told = set[str]()
    for node in _reads(changes.scope, lost):
        if node.id not in told:
            told.add(node.id)
            changes.report("undefined-name", node, f"{node.id} is defined nowhere in this file")
    return told


def _reads(scope: Scope, names: set[str]) -> Iterator[Name]:
    """Where a scope itself reads some names that are no locals of its own or around it."""
    for around in (scope, *scope.ancestors()):
        if isinstance(around, Function):
            names = names.intersection(free(around))
    body: Any = getattr(scope, "body", None)
    yield from _below(body, names)


def _below(body: Node, names: set[str]) -> Iterator[Name]:
    own = set(bound(body))
    for event in events(body):
        if event.name in names and event.name not in own:
            if event.kind is Kind.READ and isinstance(event.node, Name):
                yield event.node
            elif isinstance(event.node, Lambda):
                given = {p.name for p in event.node.parameters}
                yield from _below(event.node.body, names - given)


PASS = Pass("undefined_names", ("stages",), run, of_project=True)
