"""What torch's layers hold and do, read from the classes that stand for them.

    self.bias = Parameter(jnp.zeros(n)) if affine else None

says that there is a param `bias`, which some configurations go without.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .layer_bodies import Body
from .layer_values import Given, Part, Value
from .rulebook import Definition, Parameter, Rulebook, parameters


@dataclass(frozen=True)
class Layer:
    """What is known of one layer. Names of arrays may be patterns: `weight_ih_{suffix}`."""

    name: str  # in the support file
    torch_names: tuple[str, ...]
    parameters: tuple[Parameter, ...]  # of its constructor, which are torch's
    call: tuple[Parameter, ...]  # of its call, which are torch's
    params: tuple[str, ...]
    buffers: tuple[str, ...]
    optional: frozenset[str]  # arrays that are absent under some configuration
    parts: tuple[tuple[str, str | None], ...]  # submodules: attribute, layer; None: what is given
    fields: Mapping[str, str]  # attributes that keep an argument of the constructor as it is
    draws: bool  # its call draws
    mode: bool  # its call depends on the mode
    writes: bool  # its call gives new values to buffers
    open: bool  # its call runs modules that it was given: it does what they do
    lazy: bool  # its first call makes its arrays
    first_values: bool  # building it makes random values
    wraps: str | None  # it stands for a layer that it is given, and computes its array of this name

    def array(self, name: str) -> str | None:
        """Whether an array of the layer has this name: "param" or "buffer".

        What a layer computes in the place of a param counts as one: `weight` of a weight norm.
        """
        for kind, names in (("param", self.params), ("buffer", self.buffers)):
            if name in names or any(_fits(pattern, name) for pattern in names if "{" in pattern):
                return kind
        return "param" if name == self.wraps else None

    def part(self, name: str) -> str | None:
        """The layer that a submodule is, where it is always the same."""
        return dict(self.parts).get(name)


def _fits(pattern: str, name: str) -> bool:
    return _expression(pattern).fullmatch(name) is not None


@functools.cache
def _expression(pattern: str) -> re.Pattern[str]:
    fixed = re.split(r"\{[^}]*\}", pattern)
    return re.compile(r"\w+".join(map(re.escape, fixed)))


@functools.cache
def layers(rulebook: Rulebook) -> Layers:
    """The layers of a rulebook, read once."""
    return Layers(rulebook)


class Layers:
    """The layers of a rulebook, each read when it is asked for."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self._known: dict[str, Layer | None] = {}

    def of(self, torch_name: str) -> Layer | None:
        """The layer of a torch name; None for what is none: a function, a distribution."""
        definition = self.rulebook.layer(torch_name)
        return None if definition is None else self.named(definition.name)

    def named(self, name: str) -> Layer | None:
        """The layer of this name in the support file, over all its configurations."""
        if name not in self._known:
            self._known[name] = None  # while it is read: a layer that holds another of its kind
            definition = self.rulebook.definitions.get(name)
            if definition is not None and self.rulebook.is_module(definition):
                self._known[name] = self._read(definition)
        return self._known[name]

    def all(self) -> list[Layer]:
        """All that stand for a class of torch's, by name."""
        names = {rules[0].name for rules in self.rulebook.by_torch.values() if rules[0].is_class}
        found = [self.named(name) for name in sorted(names)]
        return [layer for layer in found if layer is not None]

    @functools.cached_property
    def array_names(self) -> frozenset[str]:
        """The names that layers give their params and buffers."""
        held = ((*layer.params, *layer.buffers) for layer in self.all())
        return frozenset(name for names in held for name in names if "{" not in name)

    def _read(self, definition: Definition) -> Layer:
        name, book = definition.name, self.rulebook
        constructor = book.constructor(definition)
        given: dict[str, Value] = {p.name: Given(p.name) for p in constructor}
        body = Body(book, name, self.named)
        body.build(given)
        draws, fields = body.effects.draws, dict(body.fields)
        arrays, parts = dict(body.arrays()), dict(body.parts())
        body.call()
        call = book.method(name, "__call__")
        return Layer(
            name,
            definition.torch_names,
            constructor,
            tuple(parameters(call.args))[1:] if call is not None else (),
            tuple(a for a, v in arrays.items() if v.kind == "param"),
            tuple(a for a, v in arrays.items() if v.kind == "buffer"),
            frozenset(a for a, v in arrays.items() if not v.certain),
            tuple((a, v.layer) for a, v in parts.items()),
            {field: v.name for field, v in fields.items() if isinstance(v, Given)},
            body.effects.draws,
            body.effects.mode,
            body.effects.writes,
            body.effects.open,
            body.lazy,
            draws,
            _wrapped(constructor, parts),
        )


def _wrapped(constructor: tuple[Parameter, ...], parts: dict[str, Part]) -> str | None:
    """The array that a layer computes for the one that it stands for: `name="weight"`."""
    if not any(part.flat for part in parts.values()):
        return None
    named = (p.default for p in constructor if p.name == "name")
    default = next(named, None)
    return str(default.value) if isinstance(default, ast.Constant) else None


__all__ = ["Layer", "Layers", "layers"]
