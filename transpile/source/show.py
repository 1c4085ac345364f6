"""A scope in the form of JAX with self, to be read: every node of `model/effects.py` by its name.

def __call__(self, x):
    Cond jnp.abs(x).mean() > self.limit                       in x; out x; Writes{self.hits}
        Write(self.hits, Read(self.hits) + 1)
    return x
"""

from collections.abc import Callable
from typing import Any

from ..model.carry import Carry, Effects
from ..model.control_flow import Collect, Cond, Loop, Repeat, Scan
from ..model.effects import (
    Apply,
    BoundMethod,
    Declare,
    Detached,
    Key,
    Mode,
    New,
    Put,
    Read,
    Shape,
    Support,
    Tie,
    Unconverted,
    Unset,
    Walk,
    Write,
)
from ..model.expressions import Attribute
from ..model.node import Expression, Node
from ..model.program import File
from ..model.statements import Block, OpaqueStatement
from .precedence import needs_parentheses
from .render import EXPRESSIONS, arguments
from .render_statements import INDENT, STATEMENTS

COLUMN = 61  # where what is known of a block stands, beside its header
_NOTES = "\0"  # between the two, until all lines are indented


def show(scope: Node) -> str:
    """A file, class or function, or any part of one, as the passes have left it."""
    lines = (line.partition(_NOTES) for line in _Show().text(scope).split("\n"))
    return "".join(
        (f"{header:{COLUMN}} {notes}" if notes else header) + "\n" for header, _, notes in lines
    )


class _Show:
    """Renders everything: comments and layout are left out."""

    def text(self, node: Node) -> str:
        if isinstance(node, (File, Block)):
            return self.lines(node.body if isinstance(node, File) else node, "")
        render = _RENDER.get(node.__class__)
        if render is None:  # of a kind that is only known by its text
            render = next((_RENDER[k] for k in node.__class__.__mro__ if k in _RENDER), _origin)
        return render(self, node)

    def part(self, parent: Node, child: Any) -> str:
        text = self.text(child)
        bare = isinstance(child, Expression) and child.__class__ not in _NAMED
        return f"({text})" if bare and needs_parentheses(parent, child) else text

    def lines(self, block: Block, indent: str) -> str:
        lines = [line for s in block.body for line in self.text(s).split("\n")]
        return "\n".join(indent + line for line in lines or ["pass"])

    def parts(self, word: str, *nodes: Node) -> str:
        return f"{word}({', '.join(self.text(n) for n in nodes)})"

    def block(self, header: str, notes: list[str], block: Block) -> str:
        said = "; ".join(note for note in notes if note)
        return f"{header}{_NOTES}{said}\n{self.lines(block, INDENT)}"


def _origin(show: _Show, node: Node) -> str:
    return node.origin.text if node.origin is not None else f"<{type(node).__name__}>"


# --- expressions ----------------------------------------------------------------------------------


def _call(word: str) -> Callable[[_Show, Any], str]:
    def text(show: _Show, node: Any) -> str:
        given = arguments(show, node, node.arguments)
        function = show.text(node.function)
        return f"{word}({function}{', ' if given else ''}{given})"

    return text


def _read(show: _Show, node: Read) -> str:
    return f"Read({show.part(node, node.object)}.{node.name})"


def _put(show: _Show, node: Put) -> str:
    base, index, new = (show.text(n) for n in (node.base, node.index, node.new))
    return f"Put({base}, [{index}], {node.how}, {new})"


# --- statements -----------------------------------------------------------------------------------


def _declare(show: _Show, node: Declare) -> str:
    value = "" if node.expression is None else f", {show.text(node.expression)}"
    passing = "" if node.persistent else ", not saved"
    return f"Declare({node.kind}, {show.text(node.targets[0])}{value}{passing})"


def _write(show: _Show, node: Write) -> str:
    value = show.text(node.value)
    detached = ", detached" if node.detached else ""
    return f"Write({_place(show, node.target)}, {value}{detached})"


def _place(show: _Show, node: Read) -> str:
    if not isinstance(node, Attribute):  # what a walk over params binds
        return show.text(node)
    return f"{show.part(node, node.object)}.{node.name}"


def _tie(show: _Show, node: Tie) -> str:
    return f"Tie({_place(show, node.target)}, {_place(show, node.source)})"


def _cond(show: _Show, node: Cond) -> str:
    notes = [_names("in", node.carry.inputs), _names("out", node.carry.outputs)]
    notes += ["returns" if node.returns else "", *_known(node.carry)]
    notes += ["total: where" if node.choosable else "total" if node.total else ""]
    header = f"Cond {show.text(node.test)}"
    text = show.block(header, notes, node.body)
    if node.orelse is not None:
        text += f"\nelse\n{show.lines(node.orelse, INDENT)}"
    return text


def _loop(show: _Show, node: Loop) -> str:
    notes = [_names("carried", node.carry.outputs), *_known(node.carry)]
    notes += [f"at most {show.text(node.bound)} turns" if node.bound is not None else ""]
    return show.block(f"Loop {show.text(node.test)}", notes, node.body)


def _over(word: str) -> Callable[[_Show, Any], str]:
    def text(show: _Show, node: Any) -> str:
        header = f"{word} {show.text(node.target)} over {show.text(node.iterable)}"
        carry: Carry | None = getattr(node, "carry", None)
        notes = [_names("carried", carry.outputs), *_known(carry)] if carry is not None else []
        return show.block(header, notes, node.body)

    return text


def _names(word: str, names: list[str]) -> str:
    return f"{word} {', '.join(names)}" if names else ""


def _known(carry: Carry) -> list[str]:
    """What is known of what is carried, and what the block does."""
    of = [(n, carry.names[n]) for n in carry.outputs if n in carry.names]
    begun = [(n, known) for n, known in of if n in carry.inputs]
    notes = [f"{start} {', '.join(found)}" for start, found in _by_start(begun).items()]
    notes += [_names("same", [n for n, known in of if known.same])]
    notes += [_names("differs", [n for n, known in of if known.same is False])]
    return [*notes, *_effects(carry.effects)]


def _by_start(of: list[tuple[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, known in of:
        if known.start != "bound":
            found.setdefault(known.start, []).append(name)
    return found


def _effects(effects: Effects) -> list[str]:
    writes = f"Writes{{{', '.join(sorted(effects.writes))}}}" if effects.writes else ""
    return [writes, "Keys" * effects.draws, "Mode" * effects.mode, "Open" * effects.open]


_NAMED = frozenset({Apply, New, Read, BoundMethod, Put, Detached, Shape, Key, Mode})
_RENDER: dict[type[Node], Callable[[Any, Any], str]] = {
    **EXPRESSIONS,
    **STATEMENTS,
    Support: lambda show, node: f"nn.{node.name}",
    Read: _read,
    Apply: lambda show, node: _call("ApplyEach" if node.each else "Apply")(show, node),
    New: _call("New"),
    BoundMethod: lambda show, node: f"BoundMethod({show.part(node, node.object)}.{node.name})",
    Key: lambda show, node: "Key",
    Mode: lambda show, node: show.parts("Mode", node.object),
    Detached: lambda show, node: show.parts("Detached", node.expression),
    Shape: lambda show, node: show.parts("Shape", node.expression),
    Put: _put,
    Unconverted: lambda show, node: f"Unconverted({node.id}, {node.source})",
    Unset: lambda show, node: "Unset",
    Declare: _declare,
    Write: _write,
    Tie: _tie,
    Walk: _over("Walk"),
    Cond: _cond,
    Loop: _loop,
    Repeat: _over("Repeat"),
    Scan: _over("Scan"),
    Collect: lambda show, node: f"Collect({node.name}, {show.text(node.expression)})",
    OpaqueStatement: _origin,
}
