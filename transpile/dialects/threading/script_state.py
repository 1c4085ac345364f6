"""The states of models that a script builds: what their calls give is bound where they stand.

print(net(x).shape)     →     y, state = net(x, state)
                              print(y.shape)
"""

from collections.abc import Iterable

from ...model.effects import Write
from ...model.expressions import Call
from ...model.fresh_names import taken
from ...model.node import Expression, Node, Statement
from ...model.program import File, Function
from .. import fresh_names
from ..import_time import names_outside
from ..reports import Reports
from ..scripts import ScriptModel
from .extraction import binding
from .function_body import Plan
from .result_names import Names
from .state import Extraction


class ScriptStates:
    """The form of the states of a script's models: each has a name of its own."""

    def __init__(
        self, scope: File | Function, models: Iterable[ScriptModel], plan: Plan, reports: Reports
    ) -> None:
        self.scope, self.plan, self.reports = scope, plan, reports
        self.known = names_outside(scope) if isinstance(scope, File) else taken(scope)
        self.words: dict[ScriptModel, str] = {}
        self._left: dict[Node, str] = {}  # the calls that give a state, and its name
        models = list(models)
        of = plan.conventions.of_outside
        self.threads = {m: {call: of(call) for call, _ in m.calls} for m in models}
        stateful = [m for m in models if any(t.takes for t in self.threads[m].values())]
        for model in stateful:
            self.words[model] = self.word(model, "state", stateful)
            for call, threads in self.threads[model].items():
                if threads.gives:
                    self._left[call] = self.words[model]

    def word(self, model: ScriptModel, word: str, others: Iterable[ScriptModel]) -> str:
        """`state`, or `net_state` beside other models."""
        several = len({one.name for one in others}) > 1
        return fresh_names.fresh(f"{model.name}_" * several + word, self.known)

    def extract(self, words: Iterable[str] = ()) -> None:
        """Bring the calls that give a state out of expressions; `words`: other names made here."""
        if self._left:
            names = Names(self.known.union(self.words.values(), words))
            Extraction(self, names).block(self.scope.body)

    # --- the form of state ------------------------------------------------------------------------

    def gives(self, node: Node) -> bool:
        return node in self._left

    def takes(self, node: Node) -> bool:
        return node in self._left

    def called(self, call: Call, target: Expression | None) -> Statement:
        return binding(call, target, self._left.pop(call), self.plan.gives_state_alone(call))

    def tail(self, call: Call) -> bool:
        return False  # a script returns nothing

    def written(self, write: Write) -> list[Statement]:
        return [write]

    def unsaid(self, node: Expression, why: str) -> None:
        self.reports.unconverted("state-in-expression", node, why)
