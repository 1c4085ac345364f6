"""What a call of a rule or layer returns, so that the engine knows no operation by name."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .bodies import Bodies
from .flags import Flags, Layer, cast_kind, usual_flags
from .joins import sequence
from .lattice import NONE, External, Sequence, Tensor, Torch, Value
from .rules import Definition, Rulebook

_TYPES = {
    "builtins.bool": "b",
    "builtins.int": "i",
    "builtins.float": "f",
}  # Python's types, which are dtypes too


T = TypeVar("T")


class Results(Bodies):
    """Abstract results of calls, computed once for each definition and what its flags are."""

    def __init__(self, rulebook: Rulebook) -> None:
        super().__init__(rulebook)
        self.known_plain: dict[str, Value] = {}
        self.answers: dict[tuple[str, str], Any] = {}

    @classmethod
    def of_rules(cls, rulebook: Rulebook) -> Results:
        """What is known of these rules: kept, for they are the same in every project."""
        for results in _kept:
            if results.rulebook is rulebook:
                return results
        _kept[:] = [made := cls(rulebook), *_kept[:3]]
        return made

    def constructor(self, definition: Definition) -> tuple[Any, ...]:
        """The parameters of a layer's constructor."""
        return self.asked(
            "constructor", definition.name, lambda: self.rulebook.constructor(definition)
        )

    def call_parameters(self, definition: Definition) -> tuple[Any, ...]:
        """The parameters of a layer's call that torch's has too."""
        name = definition.name
        return self.asked("call", name, lambda: self.rulebook.call_parameters(definition))

    def optional(self, name: str) -> frozenset[str]:
        """The params of a layer that are absent under some configuration."""
        return self.asked("optional", name, lambda: self.rulebook.optional(name))

    def asked(self, word: str, name: str, answer: Callable[[], T]) -> T:
        """An answer of the rulebook, asked for once."""
        if (word, name) not in self.answers:
            self.answers[word, name] = answer()
        return self.answers[word, name]  # type: ignore[no-any-return]

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
                result = dataclasses.replace(result, kind=cast_kind(dtype) or result.kind)
            elif isinstance(value, External) and value.name in _TYPES:
                result = dataclasses.replace(result, kind=_TYPES[value.name])
            elif keyword == "dtype" and value != NONE:
                result = dataclasses.replace(result, kind=None)
        return result

    def call(
        self, definition: Definition, made: Flags = frozenset(), flags: Flags = frozenset()
    ) -> Value:
        """The value of calling a layer that was made with some flags, its new state left out."""
        told = self.rulebook.table("RESULTS").get(definition.name)
        method = self.rulebook.method(definition.name, "__call__")
        if told is not None or method is None:
            return _told(told or "array")
        result = self.once(
            (definition.name, made, flags),
            lambda: self.function(method, flags=flags, layer=self.layer(definition, made)),
        )
        if "state" in self.rulebook.effects(definition.name):
            if isinstance(result, Sequence) and result.items is not None:
                return result.items[0]
            return Tensor()
        return result

    def layer(self, definition: Definition, made: Flags) -> Layer:
        """What stands for `self` in the methods of a layer: with its flags, given or usual."""
        usual = usual_flags(self.constructor(definition))
        known = usual | dict(made)
        kept = {
            field: name
            for field, name in self.rulebook.fields(definition.name).items()
            if name in usual
        }
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
