"""What running a piece of code does beside giving a value, and what a block under control of data
carries."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Effects:
    """What running something does, besides giving a value. Places are dotted, below `self` or
    another root.

    `reads` and `writes` are arrays, `draws` what asks for keys; `mode` whether it depends on
    training; `open` whether something of unknown class runs, which may do anything.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    draws: bool = False
    mode: bool = False
    open: bool = False

    def __or__(self, other: Effects) -> Effects:
        return Effects(
            self.reads | other.reads,
            self.writes | other.writes,
            self.draws or other.draws,
            self.mode or other.mode,
            self.open or other.open,
        )

    def __bool__(self) -> bool:
        return bool(self.reads or self.writes or self.draws or self.mode or self.open)


NO_EFFECTS = Effects()


@dataclass(frozen=True)
class Carried:
    """What is known of one name that is carried.

    `start`: "bound" before the block; "unset": nothing has bound it, or a pass has put an `Unset`
    there, which nobody reads; "none": the user's None. `kind`: the letter of the dtype that holds
    all that it may be, as in `Tensor.kind`; None where that is not known. `same`: whether both ways
    of a branch, or all turns of a loop, leave it with one shape and dtype; None where that is not
    known: a dialect then takes what looks when the code is traced.
    """

    start: str = "bound"
    kind: str | None = None
    same: bool | None = None


@dataclass
class Carry:
    """What goes in and comes out of a block under control of data.

    Of a `Cond`: `outputs` are the names that a side binds and that are live after; `inputs` those
    that a side binds and that are live where a side begins: a function made of it has them as
    parameters, whatever it returns. Of a loop `inputs` and `outputs` are the same names, in the
    order in which a turn binds them. `reads` are arrays of the function that the block only reads:
    they may be closed over. `names` has an entry for each output, and for a place in the state that
    one side leaves a number of Python's, and the other an array; for what is returned, under "",
    where one side may return nothing yet.
    """

    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    effects: Effects = NO_EFFECTS
    reads: list[str] = field(default_factory=list)
    names: dict[str, Carried] = field(default_factory=dict)

    @property
    def same(self) -> bool | None:
        """Whether all that comes out keeps one shape and dtype: False where one is known not to."""
        found = {carried.same for carried in self.names.values()}
        found |= {None for n in self.outputs if n not in self.names}
        return False if False in found else None if None in found else True

    def copy(self) -> Carry:
        return Carry(
            list(self.inputs), list(self.outputs), self.effects, list(self.reads), dict(self.names)
        )
