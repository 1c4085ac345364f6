"""A function that is run: params, state, keys and the mode go in, what is new of it comes out.

def forward(self, x):                  def __call__(self, params, state, x, *, training=False):
    x = self.bn(self.fc(x))    →           state = dict(state)
    return x                               x = self.fc(params["fc"], x)
                                           x, state["bn"] = self.bn(params["bn"], state["bn"], x, …)
                                           return x, state
"""

from collections.abc import Iterable

from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Method
from ...model.copy import clone
from ...model.effects import Apply, Declare, New, Tie, Walk, Write
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    Lambda,
    Name,
    Starred,
    Subscript,
)
from ...model.fresh_names import taken
from ...model.functions import is_checkpoint, is_inside
from ...model.node import Expression, Statement
from ...model.program import Function, Parameter
from ...model.statements import Assign
from ...source.lower_ast import expression
from ..parameters import add_by_place, add_keyword
from ..reports import Reports
from ..signature_decorators import refuse_decorated
from ..threading import function_body
from ..threading.iteration_counts import at_start
from ..threading.result_names import Names
from ..threading.state import Extraction
from . import control
from .calls import Calls, without_scans
from .constructor.copies import list_copies
from .conventions import Conventions
from .data_writes import write_for_the_call
from .leaf_nodes import Leaves
from .param_path import Path
from .path_resolution import Paths
from .plan import Plan, Words

_ARRAYS = frozenset({"weight", "bias", "running_mean", "running_var"})  # of torch's layers
_HIDDEN = "what __getattr__ finds here is no param: read it where it is, `self.layer.fc.weight`"
_FORWARDED = "what __getattr__ finds gets no params: call it where it is, `self.model.encode(x)`"
_AGAIN = "init gives params their first values: call it again, and go on with what it returns"
_IN_A_SCRIPT = (
    "this makes a model and runs it, and has no params: "
    "params = model.init(key), then model(params, x)"
)
_REFUSED = {
    Write: ("parameter-write", "a param changes where only a buffer can: return what is new"),
    Declare: ("parameter-write", "an attribute is set on a module that has been built"),
    Walk: ("module-walk", "a walk over modules is not written yet"),
    Tie: ("tied-weight", "two arrays become one on a module that has been built"),
    New: ("module-value", "a module is built while another one runs: its params have no place"),
}


class Running(function_body.Running):
    """Writes one function that is run."""

    plan: Plan
    conventions: Conventions

    def __init__(
        self, function: Function, plan: Plan, reports: Reports, inner: Iterable[Function] = ()
    ) -> None:
        self.words = Words()
        super().__init__(function, plan, reports, inner, self.words)
        self.given = plan.conventions.given(function)
        without_scans(function, plan.conventions)
        self.paths = Paths(function, self.fresh, plan)
        self.calls = Calls(function, plan, self.paths, self.words, reports)

    def write(self) -> None:
        list_copies(self.function, self.plan.modules)
        function, words = self.function, self.words
        rewritten = write_for_the_call(function, self.plan, self.paths, words, self.reports)
        self._refuse()
        self._look_over()
        self._refuse_handed()
        if self.threads.gives:
            Extraction(self, Names(self._taken)).function(self.function)
            self._returns(self.words.state)
            self._taken |= taken(self.function)
        self.calls.write()
        wholes = [words.params] * rewritten + [words.state] * self.threads.gives
        self._control(words.key, lambda node: [w for w in wholes if control.gives(node, w)])
        self.calls.finish()
        tied = self.calls.tied
        Leaves(self.function, self.plan, self.paths, self.words, self.reports, tied).write()
        tied.fill_in(self.function.body)
        self.paths.write()
        self._copied_state()
        self._parameters()

    # --- the form of state ------------------------------------------------------------------------

    def called(self, call: Call, target: Expression | None) -> Statement:
        self.done.add(call)
        state = self._state_of(call)
        if self.plan.gives_state_alone(call):
            if target is None:
                return Assign([state], call)
            pair = Display("tuple", [state, target])
            return Assign([pair], Display("tuple", [call, Constant(None)]))
        return Assign([Display("tuple", [target or Name("_"), state])], call)

    def _state_of(self, call: Call) -> Expression:
        """The entry of the state that a call gives anew."""
        if self.conventions.is_closure(call):
            return Name(self.words.state)
        module = self.calls.module(call)
        path = self.paths.of(module) if module is not None else None
        if path is None:
            self.reports.report(
                "module-value", call, "it is not known where this module's state is"
            )
            return Name("_")
        return path.of(self.words.state)

    def tail(self, call: Call) -> bool:
        """Whether `return call` gives value and state as they come out of the call."""
        module = self.calls.module(call)
        own = module is not None and self.paths.of(module) == Path()
        own = own or self.conventions.is_closure(call)
        alone = self.plan.gives_state_alone(call) or self.plan.is_procedure(self.function)
        return own and not alone

    def written(self, write: Write) -> list[Statement]:
        value: Expression = write.value
        if write.detached:
            value = Call(Attribute(Name("lax"), "stop_gradient"), [value])
        target = write.target
        path = self.paths.of(target.object)
        if path is None:
            self.reports.report("module-value", write, "it is not known where this array is")
            return [Assign([Name("_")], value)]
        entry = Subscript(path.of(self.words.state), Constant(target.name))
        return [Assign([entry], value)]

    def _is_drawing(self, call: Call) -> bool:
        return call in self.calls.handed_on.drawing or super()._is_drawing(call)

    # --- steps ------------------------------------------------------------------------------------

    def _refuse(self) -> None:
        """What only a constructor can do."""
        for node in list(self.function.nodes(Write, Walk, Tie, Declare, New)):
            if isinstance(node, Write) and self.conventions.is_state(node.target):
                continue
            if isinstance(node, New) and not self.plan.makes_arrays(node):
                continue
            id, why = _REFUSED[type(node)]
            if isinstance(node, New) and self.function.owner is None:
                why = _IN_A_SCRIPT
            if isinstance(node, Statement):
                self.reports.refuse(id, node, why)
            else:
                self.reports.unconverted(id, node, why)
        for call in list(self.function.nodes(Apply, Call)):
            if self.conventions.initialised(call):
                self.reports.unconverted("parameter-write", call, _AGAIN)
        for call in list(self.function.nodes(Call)):
            if isinstance(call.function, Attribute) and self._is_forwarded(call.function):
                self.reports.unconverted("module-value", call, _FORWARDED)
        for read in list(self.function.nodes(Attribute)):
            if type(read) is Attribute and read.name in _ARRAYS and self._is_forwarded(read):
                self.reports.unconverted("module-value", read, _HIDDEN)

    def _is_forwarded(self, found: Attribute) -> bool:
        """`self.model.encode(x)` or `self.model.weight`, which the model's `__getattr__` finds in
        what it wraps."""
        held, modules = found.object.value, self.plan.modules
        classes = modules.classes_of_value(held)
        named = isinstance(found.value, Method) or found.name in _ARRAYS  # of none of these classes
        return named and any(
            modules.find(c, "__getattr__")
            and not modules.find(c, found.name)
            and found.name not in modules.fields(c)
            for c in classes
        )

    def _refuse_handed(self) -> None:
        """A function inside that takes state, handed on: `map(step, xs)` calls it without."""
        for name in list(self.function.nodes(Name)):
            made, around = name.value, name.parent
            if not isinstance(made, FunctionValue) or not is_inside(made.function):
                continue
            called = isinstance(around, Call) and around.function is name
            checked = isinstance(around, Call) and is_checkpoint(around.function)
            if called or checked or not isinstance(around, Call):
                continue
            if self.plan.threads(made.function).takes:
                self.refuse_with_state(name)
            elif self.plan.threads(made.function).draws and not self.calls.handed_on.gives_key(
                around, name
            ):
                call = Call(clone(name), [Starred(Name("inputs"))])
                self.calls.handed_on.drawing.add(call)
                name.replace(Lambda([Parameter("inputs", "*")], call))

    def _copied_state(self) -> None:
        """What is written into is a copy: the caller keeps its own."""
        state, deep, flat = self.words.state, False, False
        for assign in self.conventions.own_nodes(self.function):
            for target in control.stored(assign):
                below = control.depth(target, state)
                flat, deep = flat or below == 1, deep or below > 1
        if not (flat or deep) or not self.threads.takes:
            return
        copied: Expression = Call(Name("dict"), [Name(state)])
        if deep:
            leaf = Lambda([Parameter("leaf")], Name("leaf"))
            copied = Call(expression("jax.tree.map"), [leaf, Name(state)])
        at_start(self.function.body, Assign([Name(state)], copied))

    def _parameters(self) -> None:
        """`params` and `state` are the first ones, `key` and `training` the last."""
        function, threads, words = self.function, self.given, self.words
        at = 1 if function.owner is not None and self.paths.self_name is not None else 0
        first = [words.params] * threads.params + [words.state] * threads.takes
        told = bool(first), threads.draws or threads.mode, threads.gives
        refuse_decorated(function, self.plan.project, self.reports, *told)
        add_by_place(function, [Parameter(name) for name in first], at)
        if threads.draws:
            add_keyword(function, words.key, default="None")
        if threads.mode:
            add_keyword(function, words.training, default="False")
