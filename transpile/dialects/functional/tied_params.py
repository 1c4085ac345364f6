"""The params of a module some of whose arrays are others'.

self.head(x)     self.head({**params["head"], "weight": params["tokens"]["weight"]}, x)
self.encoder(x)  params = nn.tied(params, "encoder.tokens.weight", "tokens.weight"), before all else
    where the array is further below, or is tied under some configuration
"""

from collections.abc import Iterable

from ...model.copy import clone
from ...model.effects import Support, Tie
from ...model.expressions import Attribute, Call, Constant, Dictionary, Name, Subscript
from ...model.names import text
from ...model.node import Expression
from ...model.operators import Compare, Conditional
from ...model.program import Function
from ...model.statements import Assign, Block, ExpressionStatement
from ..sharing.ties import Tied, Ties
from ..threading.iteration_counts import at_start
from .param_path import Path


class TiedParams:
    """The params that one function of a class gives and reads."""

    def __init__(self, ties: Ties, params: str, building: bool = False) -> None:
        self.ties, self.params, self.building = ties, params, building
        self._filled: dict[str, Tied] = {}  # into the params of the function

    def of(self, path: Path, holder: str | None) -> Expression:
        """The params of a module, by the place of its arrays; `holder`: by the name that it has."""
        params = path.of(self.params)
        place = _place(path)
        if not place:
            return params
        found = [*self.ties.of(place), *(self.ties.of(holder) if holder != place else ())]
        plain = [tied for tied in found if tied.always]
        self._fill(tied._replace(holder=place) for tied in found if not tied.always)
        self._fill(self.ties.below(place))
        if not plain:
            return params
        entries = [part for t in plain for part in (Constant(t.array), self.owner(t))]
        return Dictionary([None, params, *entries])

    def _fill(self, ties: Iterable[Tied]) -> None:
        """Let the params of the function hold arrays that are others'."""
        self._filled |= {tied.path: tied for tied in ties}

    def read(self, tied: Tied, path: Path) -> Expression:
        """A tied array of the module that has this place."""
        own, name = path.of(self.params), Constant(tied.array)
        if tied.always:
            return self.owner(tied)
        if self.building:
            return Call(Attribute(own, "get"), [name, self.owner(tied)])
        self._fill([tied._replace(holder=_place(path) or "")])
        return Subscript(own, name)

    def kept(
        self, holder: str | None, name: str, entries: Expression, function: Function
    ) -> Expression | None:
        """Where a function that builds writes an array that may be tied: what holds it has none of
        it then. None where the owner calls it otherwise."""
        tied = self.ties.array(holder, name)
        if tied is None or tied.always and function.nodes(Tie):  # it ties it behind that
            return entries
        owner = self.owner(tied)
        if not isinstance(owner, Subscript) or tied.owner.rpartition(".")[2] != name:
            return None
        here = Compare([Constant(name), clone(entries)], ["in"])
        return Conditional(entries, here, owner.object)

    def owner(self, tied: Tied) -> Expression:
        """The owner's entry."""
        made: Expression = Name(self.params)
        for word in tied.owner.split("."):
            made = Subscript(made, Constant(word))
        return made

    def fill_in(self, body: Block) -> None:
        """Write what stands before all else."""
        for tied in reversed(self._filled.values()):
            paths = Constant(tied.path), Constant(tied.owner)
            filled = Call(Support("tied"), [Name(self.params), *paths])
            at_start(body, Assign([Name(self.params)], filled))


def _place(path: Path) -> str | None:
    """`blocks.head`, by which the arrays are found; None for what is no plain path from `self`."""
    keys = [str(key.constant) for key in path.keys if isinstance(key, Constant)]
    return None if path.root or len(keys) < len(path.keys) else ".".join(keys)


def given_up(tie: Tie, entries: Expression, always: bool) -> ExpressionStatement:
    """`params["head"].pop("weight")  # tied to tokens.weight`"""
    given: list[Expression] = [Constant(tie.target.name), *[Constant(None)] * (not always)]
    made = ExpressionStatement(Call(Attribute(entries, "pop"), given))
    above, behind = tie.comments or ("", "")  # else they are still above its place
    owner = f"{text(tie.source.object)}.{tie.source.name}".partition(".")[2]
    made.comments = f"{above}{behind}\n" if behind else above, f"  # tied to {owner}"
    return made
