"""A function that is run: state goes in and comes out, keys are split, control becomes closures.

def forward(self, x):                      def __call__(self, x, state, *, key=None):
    x = self.drop(self.bn(x))        →         y, state = self.bn(x, state)
    return x                                   x = self.drop(y, key=key)
                                               return x, state
"""

from collections.abc import Iterable

from ...facts.bindings.activity import bound
from ...model.copy import clone
from ...model.effects import Apply, Declare, New, Read, Support, Tie, Walk, Write
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.fresh_names import taken
from ...model.names import is_own, root
from ...model.node import Expression, Node, Statement
from ...model.operators import Binary
from ...model.program import Function, Parameter
from ...model.statements import Assign, Block, ExpressionStatement
from ...source.lower_ast import expression
from ..parameters import add_by_place, add_keyword
from ..reports import Reports
from ..signature_decorators import refuse_decorated
from ..threading import function_body
from ..threading.extraction import binding
from ..threading.module_changes import is_part_of_module
from ..threading.probes import dry_run, is_dry
from ..threading.result_names import Names
from ..threading.signatures import Signatures
from ..threading.state import Extraction
from ..threading.threaded import UPDATED, checkpointed, scanned
from .leaf_nodes import Leaves, place
from .plan import WORDS, Plan
from .state_calls import filtered, give_state, through


class Running(function_body.Running):
    """Writes one function that is run, or builds."""

    plan: Plan

    def __init__(
        self, function: Function, plan: Plan, reports: Reports, inner: Iterable[Function] = ()
    ) -> None:
        super().__init__(function, plan, reports, inner, WORDS)
        self.signatures = plan.signatures
        self.building = plan.is_building(function)

    def write(self) -> None:
        if self.building:
            self._begin()
        refuse(self, self.building, self.signatures, self.reports)
        self._look_over()
        if not self.building:
            if self.threads.gives:
                _entries(self.function, self.signatures)
                Extraction(self, Names(self._taken)).function(self.function)
                self._returns("state")
                self._taken |= taken(self.function)
            self._calls()
        self._control("key", self._carried, self.building)
        self._parameters()
        Leaves(self.function, self.plan).write()

    def _begin(self) -> None:
        """`self.reset_noise()` in a constructor: what it writes is what the state begins with."""
        for call in self.function.nodes(Apply):
            held, targets = call.function, self.signatures.targets(call) or []
            first = root(held.object) if isinstance(held, Attribute) else None
            own = first is not None and first.id == self.function.receiver
            alone = isinstance(call.parent, ExpressionStatement) and targets
            if own and alone and all(map(self.plan.is_procedure, targets)):
                if self.signatures.of_call(call).takes and not self._is_built(targets):
                    through(call, "begin")

    def _is_built(self, targets: Iterable[Function]) -> bool:
        return set(targets) <= self.signatures.building

    # --- the form of state ------------------------------------------------------------------------

    def called(self, call: Call, target: Expression | None) -> Statement:
        self.done.add(call)
        return binding(call, target, "state", self.plan.gives_state_alone(call))

    def tail(self, call: Call) -> bool:
        """Whether `return call` gives value and state as they come out of the call."""
        return not self.plan.gives_state_alone(call) and not self.plan.is_procedure(self.function)

    def written(self, write: Write) -> list[Statement]:
        value: Expression = write.value
        if write.detached:
            value = Call(Attribute(Name("lax"), "stop_gradient"), [value])
        target = write.target
        if isinstance(target, Read) and self.plan.is_reshaped(target, self.function, write):
            new = Call(Support("put"), [Name("state"), place(target), value])
        else:
            new = Call(Attribute(Name("state"), "set"), [place(target), value])
        return [Assign([Name("state")], new)]

    def _scanned(self, call: Apply) -> None:
        """`nn.scan_layers(self.blocks, x, state, key=key)`"""
        takes = self.signatures.of_call(call).takes
        rest = call.arguments[1:]
        words = call.keywords[1:]
        state = [Name("state")] if takes else [Constant(None)] if None in words else []
        layers, call.function = call.function, Support("scan_layers")
        call.arguments = [layers, call.arguments[0], *state, *rest]
        call.keywords = [None, None, *[None] * len(state), *words]
        call.adopt()
        call.restate()

    # --- the form of keys -------------------------------------------------------------------------

    def give(self, node: Node, key: Expression) -> None:
        if isinstance(node, New) and not self.signatures.of_call(node).known:
            through(node, "build")
        super().give(node, key)

    def split(self, key: Expression, count: Expression) -> Expression:
        if self.building:
            return Call(expression("jax.random.split"), [key, count])
        return super().split(key, count)

    # --- steps ------------------------------------------------------------------------------------

    def _calls(self) -> None:
        """Calls that take a state are given it."""
        for each in scanned(self.function):
            self._scanned(each)
        for call in self.function.nodes(Apply, Call):
            threads = self.signatures.of_call(call)
            if checkpointed(call) is not None:
                filtered(call)
                if threads.gives:
                    self.reports.report("taken-for-granted", call, UPDATED)
            if isinstance(call, Apply) and call.each is not None or not threads.takes:
                continue
            give_state(call, self.signatures)

    def begun(self, call: Call) -> bool:
        """Whether a call in a constructor is of a method of its own that only reads the state: it
        is given that of what has been set so far."""
        threads, function = self.signatures.of_call(call), call.function
        if not is_own(function, self.function.receiver):
            return False
        if not threads.known or threads.gives or threads.draws:
            return False
        state = Call(expression("eqx.nn.State"), [clone(function.object)])
        call.append(state, "state")
        return True

    def _carried(self, node: Statement) -> list[str]:
        """What a block gives anew; `return self.bn(x, state)` uses a state up, and binds none."""
        inside, me = bound(node), self.function.receiver
        module = [me] if self.function.owner is not None and me in inside else []
        threads = "state" in inside or any(n in self.done for n in node.walk())
        return module + (["state"] if self.threads.gives and threads else [])

    def _parameters(self) -> None:
        """`state` is the last before the star, `key` behind it."""
        function = self.function
        known, keyed = function.parameters, self.threads.draws or self._is_protocol()
        told = self.threads.takes or self.threads.draws, self.threads.gives
        refuse_decorated(function, self.plan.project, self.reports, False, *told)
        if self.threads.takes and not self.building:
            at = next((i for i, p in enumerate(known) if p.kind in ("*", "=", "**")), len(known))
            if at < len(known) and known[at].kind == "*":
                add_keyword(function, "state")
            else:
                default = _none() if at > 0 and known[at - 1].default is not None else None
                add_by_place(function, [Parameter("state", "", None, default)], at)
        if keyed:
            required = self.building and self._is_initial()
            add_keyword(function, "key", default=None if required else "None")

    def _is_initial(self) -> bool:
        """Whether it always gets a key: a constructor, and what changes a module while building."""
        changes = self.signatures.changes
        return self.function.name == "__init__" or changes.parameter(self.function) is not None

    def _is_protocol(self) -> bool:
        """Whether Equinox's own containers may call it, which hand a key to every layer."""
        function = self.function
        if function.name != "__call__" or function.owner is None or self.building:
            return False
        needed = [p for p in function.parameters[1:] if p.default is None and p.kind in ("", "/")]
        return len(needed) == 1 and "key" not in self.own_names


def _none() -> Expression:
    return Constant(None)


# --- entries of lists and dicts of arrays in the state --------------------------------------------
#
# self.sums["b"] = x    →    Write(self.sums, with_entry(self.sums, "b", x))
#
# Set in place the entry would change in the state that the caller still has, too.


def _entries(function: Function, signatures: Signatures) -> None:
    """Make the stores of entries of one function writes of the whole."""
    for assign in function.nodes(Assign):
        target, block = assign.targets[0], assign.parent
        if len(assign.targets) > 1 or not isinstance(block, Block):
            continue
        if not isinstance(target, Subscript) or assign.expression is None:
            continue
        held = target.object
        if isinstance(held, Read) and signatures.is_state(held):
            value = assign.expression
            if assign.operator:  # `self.sums["b"] += x`
                if not isinstance(target.index, (Constant, Name)):
                    continue
                value = Binary(clone(target), assign.operator, value)
            given = [clone(held), clone(target.index), value]
            whole = Call(Support("with_entry"), given)
            block.substitute(assign, [Write(held, whole)])


# --- what a frozen module cannot do, nor one without a state yet ----------------------------------

_REFUSED = {
    Write: ("parameter-write", "a param changes where only a buffer can: return what is new"),
    Declare: ("parameter-write", "an attribute is set on a module that has been built"),
    Walk: ("module-walk", "a walk over modules is not written yet"),
    Tie: ("tied-weight", "two arrays become one on a module that has been built"),
}
_BEGUN = (
    "this writes what changes as the model runs, of which there is none yet: set it where it begins"
)

_AGAIN = "this sets what a module holds, which only its constructor can: build another one"


def refuse(running: Running, building: bool, signatures: Signatures, reports: Reports) -> None:
    """Let the statements of a function raise that have no form."""
    function = running.function
    for node in list(function.nodes(Write, Walk, Tie, Declare)):
        if isinstance(node, Write) and signatures.is_state(node.target):
            continue
        if isinstance(node, Declare) and building:
            continue
        id, why = _REFUSED[type(node)]
        reports.refuse(id, node, why)
    for call in function.nodes(Apply, Call) if building else ():
        runs = set(signatures.targets(call) or (function,))
        begins = isinstance(call.function, Support) and call.function.name == "begin"
        if not signatures.of_call(call).takes or runs <= signatures.building - {function} or begins:
            continue
        if is_dry(call, function, signatures):
            call.replace(dry_run(call))
        elif not running.begun(call):
            reports.unconverted("state-in-constructor", call, _BEGUN)
    for call in () if building else list(function.nodes(Apply, Call)):
        runs, around = set(signatures.targets(call) or ()), call.parent
        settled = (
            runs
            and runs <= signatures.by_sizes.for_good
            and not any(f.nodes(Declare) for f in runs)
        )
        if settled and isinstance(around, ExpressionStatement) and isinstance(around.parent, Block):
            around.parent.remove(around)  # what it sets is there already, and stays
        elif runs & signatures.filling:
            reports.unconverted("parameter-write", call, _AGAIN)
    for assign in () if building else function.nodes(Assign):
        if any(map(is_part_of_module, assign.targets)):
            reports.refuse("parameter-write", assign, _REFUSED[Declare][1])
