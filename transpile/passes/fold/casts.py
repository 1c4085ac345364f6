"""Casts and moves of modules: where params are is JAX's affair, of what dtype they are is said by
the params.

    self.head = nn.Linear(3, 4).to(device)     ->    self.head = nn.Linear(3, 4)
    self.half()                                      raises: cast the params
"""

from __future__ import annotations

from collections.abc import Callable

from ...facts.values.lattice import NONE, Function, Module, Static, Tensor, Torch, Value
from ...model.expressions import Attribute, Call, Name, Starred
from ...model.node import Expression, Node
from ...model.rulebook import Rulebook
from ...model.statements import ExpressionStatement
from ..pass_ import Changes

_DTYPES = frozenset({"half", "bfloat16", "double"})
_CASTS = _DTYPES | {"float", "to", "type", "cuda", "cpu"}
_ASKED = (None, "dtype", "other", "tensor", "dst_type")  # the words of what may be a dtype
_SAME = ("jnp.float32", "float", "None")
_ADVICE = "cast them with jax.tree.map"
_OTHER = f"the params are float32 here, as others are: {_ADVICE}"
_MAY_BE_OTHER = f"the params stay float32, as others are: where this is another dtype, {_ADVICE}"


class Casts:
    """The casts of modules in one scope."""

    def __init__(
        self, changes: Changes, rulebook: Rulebook, is_gone: Callable[[Node], bool]
    ) -> None:
        self.changes, self.rulebook, self.is_gone = changes, rulebook, is_gone
        self.spare: set[Node] = set()  # arguments that go

    def run(self) -> None:
        """Leave out what changes no dtype; what does raises."""
        refused: set[Node] = set()
        for call in sorted(self.changes.scope.nodes(Call), key=_depth, reverse=True):
            if self.is_gone(call) or not _is_cast(call):
                continue
            changes = self._changes(call)
            if changes:
                refused.add(call)
                self.changes.unconverted("unsupported", call, _OTHER)
                continue
            if changes is None:
                self.changes.report("taken-for-granted", call, _MAY_BE_OTHER)
            self.spare.update(call.arguments)
            statement = call.parent
            inside = any(n in refused for n in call.function.walk())  # `self.half().cuda()`
            if isinstance(statement, ExpressionStatement) and not inside:
                self.changes.remove(statement)
            else:
                self.changes.replace(call, lambda c: c.function.object)

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
    return isinstance(function.object.value, Module) and not isinstance(function.value, Function)


def _is_dtype(argument: Expression, value: Value | None) -> bool:
    """Whether an argument is a dtype that only the run tells, by what is known of it or by its name."""
    if isinstance(value, Static) and value.type == "dtype":
        return True
    name = argument.id if isinstance(argument, Name) else getattr(argument, "name", "")
    return "dtype" in name.lower() and value != NONE and not isinstance(value, Torch)


def _depth(call: Call) -> int:
    return sum(1 for _ in call.ancestors())
