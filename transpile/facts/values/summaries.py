"""What a call of a rule or layer returns, so that the engine knows no operation by name."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable
from typing import Any

from ...model.layers import layers
from ...model.rulebook import Definition, Parameter, Rulebook
from .call_flags import Flags, Layer, cast_kind, usual_flags, width_of
from .joins import sequence
from .lattice import NONE, External, Tensor, Torch, Value
from .rule_bodies import Bodies

_TYPES = {
    "builtins.bool": "b",
    "builtins.int": "i",
    "builtins.float": "f",
}  # Python's types, which are dtypes too


class Results(Bodies):
    """Abstract results of calls, computed once for each definition and what its flags are."""

    def __init__(self, rulebook: Rulebook) -> None:
        super().__init__(rulebook)
        self.layers = layers(rulebook)
        self.known_plain: dict[str, Value] = {}

    @classmethod
    def of_rules(cls, rulebook: Rulebook) -> Results:
        """What is known of these rules: kept, for they are the same in every project."""
        for results in _kept:
            if results.rulebook is rulebook:
                return results
        _kept[:] = [made := cls(rulebook), *_kept[:3]]
        return made

    def constructor(self, definition: Definition) -> tuple[Parameter, ...]:
        """The parameters of a layer's constructor."""
        known = self.layers.named(definition.name)
        return known.parameters if known is not None else ()

    def call_parameters(self, definition: Definition) -> tuple[Parameter, ...]:
        """The parameters of a layer's call."""
        known = self.layers.named(definition.name)
        return known.call if known is not None else ()

    def plain(self, definition: Definition) -> Value:
        """The value of a rule when no argument is a tensor: `_pair(stride)` is two numbers."""
        if definition.name not in self.known_plain:
            node = definition.node
            self.known_plain[definition.name] = (
                self.function(node, tensor=False) if isinstance(node, ast.FunctionDef) else Tensor()
            )
        return self.known_plain[definition.name]

    def cast(self, result: Value, arguments: Iterable[Any]) -> Value:
        """The result of a call with these arguments: a dtype among them is its kind."""
        for keyword, _, value, _ in arguments:
            if not isinstance(result, Tensor):
                return result
            if (
                isinstance(value, Torch)
                and (dtype := self.rulebook.constant(value.name)) is not None
            ):
                kind = cast_kind(dtype) or result.kind
                result = dataclasses.replace(result, kind=kind, width=width_of(dtype))
            elif isinstance(value, External) and value.name in _TYPES:
                result = dataclasses.replace(result, kind=_TYPES[value.name])
            elif keyword == "dtype" and value != NONE:
                result = dataclasses.replace(result, kind=None)
        return result

    def call(
        self, definition: Definition, made: Flags = frozenset(), flags: Flags = frozenset()
    ) -> Value:
        """The value of calling a layer that was made with some flags."""
        told = self.rulebook.table("RESULTS").get(definition.name)
        method = self.rulebook.method(definition.name, "__call__")
        if told is not None or method is None:
            return _told(told or "array")
        return self.once(
            (definition.name, made, flags),
            lambda: self.function(method, flags=flags, layer=self.layer(definition, made)),
        )

    def layer(self, definition: Definition, made: Flags) -> Layer:
        """What stands for `self` in the methods of a layer: with its flags, given or usual."""
        usual = usual_flags(self.constructor(definition))
        known = usual | dict(made)
        layer = self.layers.named(definition.name)
        fields = layer.fields if layer is not None else {}
        kept = {field: name for field, name in fields.items() if name in usual}
        return Layer(
            name=definition.name,
            flags=frozenset((field, known[name]) for field, name in kept.items()),
        )

    def deciding(self, definition: Definition, made: Flags) -> Flags:
        """Those flags that what a layer returns hangs on: `return_indices=True` of a pool."""
        usual = self.call(definition)
        return frozenset(flag for flag in made if self.call(definition, frozenset([flag])) != usual)


def _told(words: Any) -> Value:
    """A result as the rule files write it: `("array", ("array", "array"))`."""
    return sequence([_told(word) for word in words], True) if isinstance(words, tuple) else Tensor()


_kept: list[Results] = []
