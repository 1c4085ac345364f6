"""What is known of all functions: which parameters each of them writes in place."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

from ...carriers import Carriers
from ...infer import Inference
from ...inplace import may_reshape
from ...memory import Passed
from ...project import FunctionInfo


@dataclass
class Mutations:
    """The summaries of functions, which the rounds of the pass fill."""

    carriers: Carriers
    running: Set[FunctionInfo] = frozenset()  # the functions that compute with tensors
    writes: dict[FunctionInfo, set[str]] = field(default_factory=dict)
    lambdas: dict[int, Set[str]] = field(default_factory=dict)  # the same of lambdas, by their ids, as far as is known in a round
    elements: dict[FunctionInfo, set[str]] = field(default_factory=dict)  # the parameters of each function that hold what it writes: a list of tensors
    returned: frozenset[FunctionInfo] = frozenset()  # those that return what they write
    taken: dict[int, bool] = field(default_factory=dict)  # by their ids, the assignments that take it back: whether the first target is their own
    state: dict[FunctionInfo, set[str]] = field(default_factory=dict)  # the attributes of its module that each function writes in place
    passed: dict[Any, Passed] = field(default_factory=dict)  # for functions and lambdas, what a result may be, or be a view of
    owned: dict[str, bool] = field(default_factory=dict)  # for attributes of plain objects, whether their memory is theirs alone

    shaping: bool | None = None

    def reshapes(self, facts: Inference) -> bool:
        """Whether anything in a project may give a tensor another shape in place: what is asked for the shape of one counts as a read of it then."""
        if self.shaping is None:
            self.shaping = any(may_reshape(facts.rulebook, module.tree) for module in facts.project.modules.values())
        return self.shaping

    def size(self) -> int:
        """How much is known; it grows from round to round."""
        return sum(map(len, (*self.writes.values(), *self.elements.values(), *self.state.values())))

    def record(self, info: FunctionInfo, parameters: Set[str]) -> None:
        """Note that a function writes these of its parameters; a function that writes none is not in `writes`."""
        if parameters:
            self.writes.setdefault(info, set()).update(parameters)
