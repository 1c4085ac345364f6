"""What is asked of whole modules: where params are is JAX's affair, of what dtype they are is said
by the params, and there are no gradients yet while a model is built.

    self.head = nn.Linear(3, 4).to(device)     ->    self.head = nn.Linear(3, 4)
    self.half()                                      nothing, and told: cast the params
    self.net.zero_grad()                             nothing
"""

from collections.abc import Callable

from ...facts.program import ProgramFacts
from ...facts.values.lattice import NONE, UNKNOWN, Function, Module, Static, Tensor, Torch, Value
from ...model.edits import depth
from ...model.expressions import Attribute, Call, Name, Starred
from ...model.names import text
from ...model.node import Expression, Node
from ...model.statements import ExpressionStatement
from ..pass_ import Changes

_DTYPES = frozenset({"half", "bfloat16", "double"})
_CASTS = _DTYPES | {"float", "to", "type", "cuda", "cpu"}
_NOTHING = frozenset({"zero_grad", "flatten_parameters"})  # where no gradients are kept
_ONLY_OF_MODULES = _DTYPES | _NOTHING
_ASKED = (None, "dtype", "other", "tensor", "dst_type")  # the words of what may be a dtype
_SAME = ("jnp.float32", "float", "None")
_LEFT = "is left as it is: where this is a module it has no such method here"
_ADVICE = "cast them with jax.tree.map"
_OTHER = f"the params begin as float32 here, as others do: {_ADVICE}"
_MAY_BE_OTHER = f"the params stay float32, as others are: where this is another dtype, {_ADVICE}"


class Casts:
    """The casts of modules in one scope."""

    def __init__(
        self, changes: Changes, facts: ProgramFacts, is_gone: Callable[[Node], bool]
    ) -> None:
        self.changes, self.rulebook, self.is_gone = changes, facts.rulebook, is_gone
        stage = facts.stage(changes.scope)
        self.building, self.traced = stage == "building", stage == "traced"
        self.spare: set[Node] = set()  # arguments that go

    def run(self) -> None:
        """Leave them out; where they change a dtype, that is told."""
        for call in sorted(self.changes.scope.nodes(Call), key=depth, reverse=True):
            if self.is_gone(call) or self._says_nothing(call) or not _is_cast(call):
                continue
            changes = self._changes(call)
            if changes is not False:
                why = _OTHER if changes else _MAY_BE_OTHER
                self.changes.report("taken-for-granted", call, why)
            self.spare.update(call.arguments)
            statement = call.parent
            if isinstance(statement, ExpressionStatement):
                self.changes.remove(statement)
            else:
                self.changes.replace(call, lambda c: c.function.object)

    def _says_nothing(self, call: Call) -> bool:
        """Whether a statement is none of casts: it goes, or is reported where it may be asked of a
        module that is being built.
        """
        function, statement = call.function, call.parent
        if not isinstance(function, Attribute) or not isinstance(statement, ExpressionStatement):
            return False
        kept = not self.building and not self.traced  # a step of a script's clears gradients
        if function.name in _NOTHING and _is_of_module(function) and not kept:
            self.changes.remove(statement)
            return True
        if not self.building:
            return False
        unknown = function.object.value == UNKNOWN and not call.arguments
        if unknown and function.name in _ONLY_OF_MODULES:
            self.changes.report("left-over", call, f"{text(function)}() {_LEFT}")
            return True
        return False

    def _changes(self, call: Call) -> bool | None:
        """Whether a cast makes params of another dtype than the default; None where only the run
        tells.
        """
        assert isinstance(call.function, Attribute)
        if call.function.name in _DTYPES:
            return True
        found = [
            self._is_other(argument)
            for word, argument in zip(call.keywords, call.arguments)
            if word in _ASKED
        ]
        return True if True in found else None if None in found else False

    def _is_other(self, argument: Expression) -> bool | None:
        """Whether an argument is another dtype; a device is none."""
        value = argument.value
        if isinstance(argument, Starred) or _is_dtype(argument, value):
            return None
        if isinstance(value, Torch):
            name = value.name
            dtype = self.rulebook.dtype_of(name) or self.rulebook.constant(name)
            return dtype is not None and dtype not in _SAME
        return (
            None if isinstance(value, Tensor) and not value.assumed and not value.param else False
        )


def _is_cast(call: Call) -> bool:
    """`module.half()`, where that is torch's own method."""
    function = call.function
    if not isinstance(function, Attribute) or function.name not in _CASTS:
        return False
    return _is_of_module(function)


def _is_of_module(method: Attribute) -> bool:
    """Whether this is a method that torch's modules have, and no method of the user's."""
    return isinstance(method.object.value, Module) and not isinstance(method.value, Function)


def _is_dtype(argument: Expression, value: Value | None) -> bool:
    """Whether an argument is a dtype that only the run tells, by what is known or its name."""
    if isinstance(value, Static) and value.type == "dtype":
        return True
    name = argument.id if isinstance(argument, Name) else getattr(argument, "name", "")
    return "dtype" in name.lower() and value != NONE and not isinstance(value, Torch)
