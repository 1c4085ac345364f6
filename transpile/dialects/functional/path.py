"""Where the arrays of a module stand: `params["blocks"]["0"]`."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.copy import clone
from ...model.expressions import Name, Subscript
from ...model.node import Expression


@dataclass(frozen=True)
class Path:
    """The way to a module: from `self`, or from a parameter that is given one."""

    keys: tuple[Expression, ...] = ()
    root: str = ""  # the parameter; nothing for `self`

    def below(self, key: Expression) -> Path:
        return Path((*self.keys, key), self.root)

    def of(self, whole: str) -> Expression:
        """The entry of a tree: `params["a"]["b"]`."""
        made: Expression = Name(whole)
        for key in self.keys:
            made = Subscript(made, clone(key))
        return made
