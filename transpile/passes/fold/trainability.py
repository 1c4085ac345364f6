"""Which params are trained is the affair of the optimizer: what sets it goes, and is told once.

for p in self.encoder.parameters():
    p.requires_grad = False              ->    nothing
net = Net().requires_grad_(False)        ->    net = Net()
nn.Embedding.from_pretrained(table)      ->    the same, and told
"""

from collections.abc import Callable, Iterator

from ...facts.values.attribute_names import PARAMETERS, WALKS
from ...facts.values.lattice import UNKNOWN, Module, Tensor, Torch
from ...model.constants import is_constant
from ...model.expressions import Attribute, Call, Constant, Display, Name
from ...model.names import target_names, text
from ...model.node import Expression, Node, Statement
from ...model.program import Function, Scope
from ...model.statements import Assign, Block, ExpressionStatement, For, If, Pass
from ..pass_ import Changes
from ..requires_grad import asked

_LEFT_OUT = "leave it out of what the optimizer updates"
_TOLD = f"is not trained in torch: {_LEFT_OUT}"


class Frozen:
    """The statements of a scope that say what is trained."""

    def __init__(self, changes: Changes, is_gone: Callable[[Statement], bool]) -> None:
        self.changes, self.is_gone, self.scope = changes, is_gone, changes.scope
        self.walked = set(_walked(self.scope))
        parameters = self.scope.parameters if isinstance(self.scope, Function) else []
        self.given = {p.name for p in parameters}

    def run(self) -> None:
        """Take them away, with the loops and branches in which nothing is left."""
        self._of_modules()
        found: dict[Statement, Expression | None] = {}
        for statement in self.scope.nodes(Assign, ExpressionStatement):
            subject = self._subject(statement)
            if subject is not None and not self.is_gone(statement):
                found[statement] = subject if not _trains(statement) else None
        told = next(
            (s for s, subject in found.items() if subject and self._is_param(subject)), None
        )
        if told is not None:
            subject = found[told]
            self.changes.report("frozen-param", told, f"{_spelled(subject)} {_why(told)}")
        gone = set(found)
        for statement in found:
            while (around := _emptied(statement, gone)) is not None:
                gone.add(around)
                statement = around
        for statement in gone:
            if not any(n in gone for n in statement.ancestors()):
                self.changes.remove(statement)

    def _of_modules(self) -> None:
        """`net = Net().requires_grad_(False)`: the module itself."""
        for call in self.scope.nodes(Call):
            if _is_frozen_table(call):
                self.changes.report("frozen-param", call, f"the table of this layer {_TOLD}")
            subject, _ = asked(call)
            alone = isinstance(call.parent, ExpressionStatement)
            if alone or subject is None or not isinstance(subject.value, Module):
                continue
            if not _trains(call):
                message = f"{_spelled(subject)} {_why(call)}"
                self.changes.report("frozen-param", call, message)
            self.changes.replace(call, lambda c: c.function.object)

    def _subject(self, statement: Statement) -> Expression | None:
        """The p in `p.requires_grad = False`, and in `p.requires_grad_(False)` of a param."""
        subject, _ = asked(statement)
        known = subject.value if subject is not None else None
        if isinstance(statement, Assign):
            return subject if known in (None, UNKNOWN) or isinstance(known, Tensor) else None
        return subject if subject is not None and self._is_param(subject) else None

    def _is_param(self, node: Expression) -> bool:
        if isinstance(node, Name) and (node.id in self.walked or node.id in self.given):
            return True  # a function may be given a param
        known = node.value
        if isinstance(known, Tensor):
            return known.param and not known.buffer
        return isinstance(known, Module) or isinstance(node, Attribute)


def _walked(scope: Scope) -> Iterator[str]:
    """The names that loops over params bind."""
    for loop in scope.nodes(For):
        if _walks(loop.iterable, PARAMETERS):
            yield from target_names(loop.target)


def _walks(node: Expression, words: frozenset[str]) -> bool:
    function = node.function if isinstance(node, Call) else None
    return isinstance(function, Attribute) and function.name in words


def _trains(node: Node) -> bool:
    """Whether it is for True: `p.requires_grad_()`."""
    _, given = asked(node)
    return given is None or is_constant(given, True)


def _why(node: Node) -> str:
    """What is told of `p.requires_grad = value`."""
    _, given = asked(node)
    if given is None or isinstance(given, Constant):
        return _TOLD
    return f"is trained in torch by {text(given)}: where that is false, {_LEFT_OUT}"


def _is_frozen_table(call: Call) -> bool:
    """`nn.Embedding.from_pretrained(table)`, which keeps its table unless `freeze` is False."""
    value = call.function.value
    if not isinstance(value, Torch) or not value.name.endswith(".from_pretrained"):
        return False
    plain = call.positional
    freeze = call.keyword("freeze") or next(iter(plain[1:]), None)
    return not is_constant(freeze, False)


def _emptied(statement: Statement, gone: set[Statement]) -> Statement | None:
    """The loop or branch around a statement, where all that it does is gone."""
    block = statement.parent
    around = block.parent if isinstance(block, Block) else None
    if not isinstance(around, (For, If)) or around.orelse is not None or around in gone:
        return None
    if not isinstance(block, Block) or not all(
        s in gone or isinstance(s, Pass) for s in block.body
    ):
        return None
    if isinstance(around, If) and block.form == "elif":
        return None
    plain = isinstance(around, For) and _is_plain(around.iterable)
    walks = isinstance(around, For) and _walks(around.iterable, PARAMETERS | WALKS)
    return around if isinstance(around, If) or plain or walks else None


def _is_plain(node: Expression) -> bool:
    """Whether it does nothing to go over this: `[self.a, self.b]`."""
    return isinstance(node, Display) and not any(isinstance(n, Call) for n in node.walk())


def _spelled(node: Expression | None) -> str:
    if isinstance(node, Attribute):
        return f"{_spelled(node.object)}.{node.name}"
    return node.id if isinstance(node, Name) else "a parameter"
