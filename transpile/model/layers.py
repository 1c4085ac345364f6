"""What torch's layers hold and do, read from the classes that stand for them.

A layer's arrays are those that `init` and `init_state` give; its effects are what its call takes: a
key, the mode, state.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from .rulebook import Definition, Parameter, Rulebook, parameters

_HOLDERS = {"init": "params", "init_state": "state", "__call__": ""}


@dataclass(frozen=True)
class Layer:
    """What is known of one layer. Names of arrays may be patterns: `weight_ih_{suffix}`."""

    name: str  # in the support file
    torch_names: tuple[str, ...]
    parameters: tuple[Parameter, ...]  # of its constructor
    call: tuple[Parameter, ...]  # of its call, those that torch has too
    params: tuple[str, ...]
    buffers: tuple[str, ...]
    optional: frozenset[str]  # arrays that are absent under some configuration
    parts: tuple[tuple[str, str], ...]  # submodules: attribute, name of the layer
    draws: bool  # its call asks for a key
    mode: bool  # its call depends on the mode
    writes: bool  # its call gives new values to buffers
    first_values: bool  # building it makes random values


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
        """The layer of this name in the support file."""
        if name not in self._known:
            definition = self.rulebook.definitions.get(name)
            is_layer = definition is not None and self.rulebook.method(name, "init") is not None
            self._known[name] = self._read(definition) if definition and is_layer else None
        return self._known[name]

    def all(self) -> list[Layer]:
        """All that stand for a class of torch's, by name."""
        names = {rules[0].name for rules in self.rulebook.by_torch.values() if rules[0].is_class}
        found = [self.named(name) for name in sorted(names)]
        return [layer for layer in found if layer is not None]

    def _read(self, definition: Definition) -> Layer:
        name, book = definition.name, self.rulebook
        call, init = book.method(name, "__call__"), book.method(name, "init")
        taken = tuple(parameters(call.args))[1:] if call is not None else ()
        words = {p.name for p in taken}
        parts = dict(self._parts(name))
        arrays = {a: held for a, held in self._arrays(name).items() if a not in parts}
        return Layer(
            name,
            definition.torch_names,
            book.constructor(definition),
            tuple(p for p in taken if p.name not in ("params", "state", "key", "training")),
            tuple(a for a, held in arrays.items() if held == "params"),
            tuple(a for a, held in arrays.items() if held == "state"),
            frozenset(a for a in self._asked_for(name) if a in arrays),
            tuple(parts.items()),
            "key" in words,
            "training" in words,
            "state" in words and call is not None and _gives_new_state(call),
            bool(arrays or parts) and init is not None and _uses_key(init),
        )

    def _arrays(self, name: str) -> dict[str, str]:
        """The arrays of a layer, each with where it lives: "params" or "state"."""
        found: dict[str, str] = {}
        for definition in self.rulebook.bases(name):
            for method, held in _HOLDERS.items():
                node = definition.method(method)
                for array, holder in _named_arrays(node, held) if node is not None else ():
                    found.setdefault(array, holder)
        return found

    def _asked_for(self, name: str) -> Iterator[str]:
        """The arrays that a layer looks for before it reads them: `params.get("bias")`, `"bias" in
        params`.
        """
        for definition in self.rulebook.bases(name):
            for node in ast.walk(definition.node):
                if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                    yield from _text(node.left)
                elif isinstance(node, ast.Call) and node.args:
                    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
                        yield from _text(node.args[0])

    def _parts(self, name: str) -> Iterator[tuple[str, str]]:
        """The layers that a layer holds: the out_proj of MultiheadAttention."""
        init = self.rulebook.method(name, "__init__")
        for node in ast.walk(init) if init is not None else ():
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            target, made = node.targets[0], ast.unparse(node.value.func)
            held = made in self.rulebook.definitions
            layer = self.rulebook.method(made, "init") if held else None
            if isinstance(target, ast.Attribute) and layer is not None:
                yield target.attr, made


def _named_arrays(node: ast.FunctionDef, held: str) -> Iterator[tuple[str, str]]:
    """The names of arrays in a method, each with what holds it."""
    for n in ast.walk(node):
        if isinstance(n, ast.Dict) and held:
            pairs = zip(n.keys, n.values)  # but no numbers: `{"LSTM": 4, "GRU": 3}`
            keys = [key for key, value in pairs if not isinstance(value, ast.Constant)]
            yield from ((array, held) for key in keys for array in _text(key))
        elif isinstance(n, ast.Subscript):
            yield from _below(n.value, n.slice, held)
        elif isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.In):
            yield from _below(n.comparators[0], n.left, "")
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.args:
            if n.func.attr == "get":
                yield from _below(n.func.value, n.args[0], "")


def _below(holder: ast.expr, key: ast.expr, held: str) -> Iterator[tuple[str, str]]:
    """`params["weight"]`; a pattern is a name where it is written alone, in `init`."""
    named = holder.id if isinstance(holder, ast.Name) else ""
    if named in ("params", "state") and (held or isinstance(key, ast.Constant)):
        yield from ((array, named) for array in _text(key))


def _text(node: ast.expr | None) -> Iterator[str]:
    """A string that is written out, or the pattern of an f-string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield ast.unparse(node)[2:-1]


def _gives_new_state(call: ast.FunctionDef) -> bool:
    """Whether a call returns a state that is not the one it was given."""
    returned = [n.value for n in ast.walk(call) if isinstance(n, ast.Return)]
    last = [v.elts[-1] for v in returned if isinstance(v, ast.Tuple)]
    plain = [v for v in last if isinstance(v, ast.Name) and v.id == "state"]
    bound = any(
        isinstance(n, ast.Name) and n.id == "state" and isinstance(n.ctx, ast.Store)
        for n in ast.walk(call)
    )
    others = [v for v in returned if v is not None and not isinstance(v, ast.Tuple)]
    return bound or len(plain) < len(last) or bool(others)


def _uses_key(init: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "key" for n in ast.walk(init))
