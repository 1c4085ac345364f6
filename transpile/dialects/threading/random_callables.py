"""Functions that draw and are handed on: each call takes a key of a stream, where calls can be told
apart.

    noise = lambda t: t + randn_like(t)  →  stream = nn.key_stream(key)
                                        noise = lambda t: t + jax.random.normal(next(stream), …)
"""

from collections.abc import Callable

from ...model.control_flow import Loop, Repeat, Scan
from ...model.effects import Key, New
from ...model.expressions import Call, Lambda, Name
from ...model.functions import is_checkpoint
from ...model.names import dotted
from ...model.node import Node, Statement
from ...model.program import Function
from ...model.statements import Assign, Block
from .keys import Form
from .threaded import scanned

_CALLED_ONCE = ("jax.remat", "jax.vjp", "jax.grad", "jax.value_and_grad")


def give_streams(
    form: Form,
    function: Function,
    building: bool,
    fresh: Callable[[str], str],
    refuse: Callable[[Lambda], None],
) -> set[Node]:
    """The draws that have been given keys of a stream; what cannot be is refused."""
    given: set[Node] = set()
    for node in [n for n in function.body.walk() if isinstance(n, Lambda)]:
        drawing = [n for n in node.body.walk() if form.draws(n)]
        word = dotted(node.parent.function) or "" if isinstance(node.parent, Call) else ""
        run_again = isinstance(node.parent, Call) and is_checkpoint(node.parent.function)
        if not drawing or word in _CALLED_ONCE or run_again:
            continue
        statement = next(n for n in node.ancestors() if isinstance(n, Statement))
        block = statement.parent
        if not isinstance(block, Block) or not _are_apart(node, drawing, word, function, building):
            refuse(node)
            continue
        stream = fresh("stream")
        block.insert_before(statement, [Assign([Name(stream)], form.stream(Key()))])
        for draw in drawing:
            form.give(draw, Call(Name("next"), [Name(stream)]))
            given.add(draw)
    return given


def _are_apart(
    node: Lambda, drawing: list[Node], word: str, function: Function, building: bool
) -> bool:
    """Whether all calls of a function are Python's own, made before the function returns: one that
    is traced, or kept on a model, draws the same each time."""
    local = isinstance(node.parent, Assign) and isinstance(node.parent.targets[0], Name)
    if building and not local:
        return all(isinstance(draw, New) for draw in drawing)
    traced = function.nodes(Scan, Loop, Repeat) or scanned(function)
    return not word.startswith("jax.") and (building or not traced)
