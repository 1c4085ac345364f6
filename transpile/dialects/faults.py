"""Faults of ours while a dialect writes: each costs the function in which it happens."""

import os
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ..model import effects
from ..model.diagnostics import Diagnostic
from ..model.effects import Unconverted
from ..model.expressions import Attribute, Call, Constant, Lambda
from ..model.names import names_in
from ..model.node import Expression, Node
from ..model.program import Class, File, Function, Scope
from ..model.statements import Assign, Block, ExpressionStatement, For, If, While
from ..passes.driver import give_up
from ..source.formatting import LINE_LENGTH

_WRITES = frozenset({"parameter-write", "module-value", "module-walk", "tied-weight"})
_WIDTH = 80  # of a line in what raises
_EFFECTS = frozenset(
    made
    for made in vars(effects).values()
    if isinstance(made, type) and issubclass(made, Node) and made.__module__ == effects.__name__
)


class Faults:
    """The functions that raise because writing them failed. `name`: the dialect's."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.diagnostics: list[Diagnostic] = []
        self._failed: dict[Scope, Exception] = {}

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Note a fault that happens in a function."""
        try:
            yield
        except Exception as error:
            self.note(scope, error)

    def note(self, scope: Scope, error: Exception) -> None:
        if os.environ.get("TORCH_TO_JAX_TRACE"):
            raise error
        self._failed.setdefault(scope, error)

    def settle(self, nodes: Iterable[Node], unconverted: Callable[[str], Expression]) -> bool:
        """Let the functions below raise that were noted, and those that still have a node which
        only JAX with self has. `unconverted`: how a definition of the support file is spelled.
        Returns whether there were any."""
        tops = list(nodes)
        for top in tops:
            self._find_left(top)
        here = [s for s in self._failed if any(t in (s, *s.ancestors()) for t in tops)]
        for scope in here:
            self.diagnostics.append(give_up(self.name, scope, self._failed.pop(scope)))
            for node in list(scope.walk()):
                if isinstance(node, Unconverted):
                    node.replace(raising(node, unconverted))
        return bool(here)

    def _find_left(self, top: Node) -> None:
        for node in top.walk():
            if node.__class__ in _EFFECTS:
                around = [n for n in node.ancestors() if isinstance(n, Scope)]
                if not any(scope in self._failed for scope in around):
                    what = f"{type(node).__name__} has no form here"
                    self._failed[around[0]] = NotImplementedError(what)


def raising(node: Unconverted, spelled: Callable[[str], Expression]) -> Expression:
    """`nn.unconverted("no-rule", "torch.foo(x)")`, which raises; what runs at import is an object
    that does when it is used, but for what writes to a model: that would be lost without a word.
    So is an optimizer that a model keeps. `spelled`: a name of the support file."""
    lost = isinstance(node.parent, ExpressionStatement) and node.id in _WRITES
    kept = _runs_at_import(node) or isinstance(node.parent, Class)  # a decorator's runs then
    word = "Unconverted" if kept and not lost else "unconverted"
    if node.of_host and _is_field(node.parent):
        word = "UnconvertedField"  # whatever uses it raises: a `step()` would be lost
    blocks = sum(isinstance(around, Block) for around in node.ancestors())
    text = _lines(node.source, LINE_LENGTH - 4 * blocks - 8)  # on a line of its own
    return Call(spelled(word), [Constant(node.id), Constant(node.source, text)])


def _lines(source: str, room: int) -> str | None:
    """A long text as strings in a row, which the formatter puts on lines of their own; None of one
    that fits a line."""
    if len(source) <= max(room, _WIDTH):
        return None
    lines = textwrap.wrap(source, _WIDTH, drop_whitespace=False, break_on_hyphens=False)
    return " ".join(f'"{line}"' if _is_plain(line) else repr(line) for line in lines)


def _is_plain(text: str) -> bool:
    return text.isprintable() and '"' not in text and "\\" not in text


def _is_field(assign: Node | None) -> bool:
    """`self.optimizer = …`"""
    targets = assign.targets if isinstance(assign, Assign) else []
    return bool(targets) and all(isinstance(target, Attribute) for target in targets)


def _runs_at_import(node: Node) -> bool:
    """Whether it stands in a file or a class, or in the default of a parameter of theirs; not in
    the loops of a script, or what it does as `__main__`."""
    inner = node
    for around in node.ancestors():
        if (
            isinstance(around, (For, While))
            or isinstance(around, If)
            and "__name__" in names_in(around.test)
        ):
            return False
        body = around.body if isinstance(around, (Function, Lambda)) else None
        if body is inner:
            return False
        inner = around
    return isinstance(inner, File)
