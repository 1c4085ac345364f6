"""What torch's layers hold, read from the classes that stand for them.

    self.bias = Parameter(jnp.zeros(n)) if affine else None

says that there is a param `bias`, which some configurations go without. What is said under any
configuration counts: nothing is run. What a call does is asked of the layers as nodes, by
`facts/effects.py`.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from .rulebook import Definition, Parameter, Rulebook, parameters

_ARRAYS = {"Parameter": "param", "Buffer": "buffer"}
_ABOVE = "super().__init__"
_Names = dict[str, dict[str, bool]]  # what loops go over: keys, and whether each is always there


@dataclass
class Layer:
    """What is known of one layer. Names of arrays may be patterns: `weight_ih_{suffix}`."""

    name: str  # in the support file
    parameters: tuple[Parameter, ...]  # of its constructor, which are torch's
    call: tuple[Parameter, ...]  # of its call, which are torch's
    kinds: dict[str, str] = field(default_factory=dict)  # of the arrays: "param", "buffer"
    certain: set[str] = field(default_factory=set)  # arrays that every configuration has
    parts: dict[str, str | None] = field(default_factory=dict)  # None: a layer that is given
    fields: dict[str, str] = field(default_factory=dict)  # attributes that keep an argument
    lazy: bool = False  # its first call makes its arrays
    first_values: bool = False  # building it makes random values
    wraps: str | None = None  # it computes this array of a layer that it is given

    @property
    def params(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self.kinds.items() if kind == "param")

    @property
    def buffers(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self.kinds.items() if kind == "buffer")

    @property
    def optional(self) -> frozenset[str]:
        """The arrays that are absent under some configuration."""
        return frozenset(self.kinds.keys() - self.certain)

    def array(self, name: str) -> str | None:
        """Whether an array of the layer has this name: "param" or "buffer".

        What a layer computes in the place of a param counts as one: `weight` of a weight norm.
        """
        for pattern, kind in self.kinds.items():
            if name == pattern or "{" in pattern and _expression(pattern).fullmatch(name):
                return kind
        return "param" if name == self.wraps else None


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
        return frozenset(n for layer in self.all() for n in layer.kinds if "{" not in n)

    def _read(self, definition: Definition) -> Layer:
        book, name = self.rulebook, definition.name
        call = book.method(name, "__call__")
        taken = tuple(parameters(call.args))[1:] if call is not None else ()
        layer = Layer(name, book.constructor(definition), taken)
        reader = _Reader(self, layer)
        reader.constructor({p.name: p.name for p in layer.parameters})
        usual = next((p.default for p in layer.parameters if p.name == "name"), None)
        layer.wraps = str(usual.value) if reader.flat and isinstance(usual, ast.Constant) else None
        layer.lazy = any(d.name == "Lazy" for d in book.bases(name))
        return layer


class _Reader:
    """The constructors of one layer: its own, and those that this one goes on to."""

    def __init__(self, layers: Layers, layer: Layer) -> None:
        self.layers, self.book, self.layer = layers, layers.rulebook, layer
        self.flat = False  # it stands for a layer that it is given
        self.locals: dict[str, list[ast.expr]] = {}
        self.keys: _Names = {}

    def constructor(self, given: Mapping[str, str], after: str = "") -> None:
        """Read one; `given`: which of the layer's own parameters each of its parameters is."""
        found = self.book.inherited(self.layer.name, "__init__", after)
        if found is None:
            return
        node, owner = found
        self.locals, self.keys = _locals(node), _keys(node)
        calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
        above = [self._handed_on(c, given) for c in calls if ast.unparse(c.func) == _ABOVE]
        for call in calls:
            made = self.layers.named(word := ast.unparse(call.func))
            self.flat |= word == "Flat"
            self.layer.first_values |= word == "draw_key" or made is not None and made.first_values
        self._block(node.body, given, True)
        for words in above:
            self.constructor(self._by_name(words, owner), owner)

    def _handed_on(self, call: ast.Call, given: Mapping[str, str]) -> list[tuple[str | int, str]]:
        """The own parameters that the constructor above gets, by place or by name."""
        spread = [e for a in call.args for e in self._spread(a)]
        pairs: list[tuple[str | int, ast.expr]] = [*enumerate(spread)]
        pairs += [(k.arg, k.value) for k in call.keywords if k.arg is not None]
        return [(at, given[a.id]) for at, a in pairs if isinstance(a, ast.Name) and a.id in given]

    def _spread(self, node: ast.expr) -> list[ast.expr]:
        """`*sizes` as what is in it."""
        if not isinstance(node, ast.Starred):
            return [node]
        known = self.locals.get(ast.unparse(node.value), [])
        listed = known[0].elts if len(known) == 1 and isinstance(known[0], ast.Tuple) else [node]
        return [e for part in listed for e in ([part] if part is node else self._spread(part))]

    def _by_name(self, words: list[tuple[str | int, str]], owner: str) -> dict[str, str]:
        found = self.book.inherited(self.layer.name, "__init__", owner)
        names = [p.name for p in parameters(found[0].args)][1:] if found is not None else []
        return {names[at] if isinstance(at, int) else at: name for at, name in words}

    def _block(self, body: Iterable[ast.stmt], given: Mapping[str, str], certain: bool) -> None:
        for statement in body:
            if isinstance(statement, ast.If):
                self._block([*statement.body, *statement.orelse], given, False)
            elif isinstance(statement, ast.For):
                self._block(statement.body, given, certain)
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    for one, value in _pairs(target, statement.value):
                        if isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self":
                            self._set(one.attr, value, certain, given)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                call = statement.value
                if ast.unparse(call.func) == "setattr" and ast.unparse(call.args[0]) == "self":
                    for name, sure in _texts(call.args[1], self.keys):
                        self._set(name, call.args[2], certain and sure, given)

    def _set(self, name: str, value: ast.expr, certain: bool, given: Mapping[str, str]) -> None:
        """An attribute that a constructor sets."""
        ways = list(self._ways(value))
        made = [ast.unparse(w.func) for w in ways if isinstance(w, ast.Call)]
        arrays = [_ARRAYS[word] for word in made if word in _ARRAYS]
        built = {word for word in made if word == "Flat" or self.layers.named(word) is not None}
        layer = self.layer
        if arrays:
            layer.kinds.setdefault(name, arrays[0])
            layer.certain |= {name} if certain and len(arrays) == len(ways) else set()
        elif built:
            one = built.pop() if len(built) == 1 else None
            layer.parts[name] = one if one != "Flat" else None
        elif isinstance(value, ast.Name) and value.id in given:
            layer.fields[name] = given[value.id]

    def _ways(self, value: ast.expr) -> Iterator[ast.expr]:
        """What a value is under some configuration."""
        if isinstance(value, ast.IfExp):
            yield from self._ways(value.body)
            yield from self._ways(value.orelse)
        elif isinstance(value, ast.Name) and value.id in self.locals:
            yield from self.locals[value.id]
        else:
            yield value


def _locals(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """What each local name is given."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def _keys(function: ast.FunctionDef) -> _Names:
    """The names of loops over dicts, `for name, shape in shapes.items()`, with their keys."""
    found: _Names = {}
    dicts: _Names = {}
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AugAssign)) and isinstance(node.value, ast.Dict):
            target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
            for key in node.value.keys:
                if isinstance(key, ast.Constant):
                    sure = isinstance(node, ast.Assign)
                    dicts.setdefault(ast.unparse(target), {})[str(key.value)] = sure
    for node in ast.walk(function):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Tuple):
            over = ast.unparse(node.iter).removesuffix(".items()")
            found[ast.unparse(node.target.elts[0])] = dicts.get(over, {})
    return found


def _texts(node: ast.expr, names: _Names) -> Iterator[tuple[str, bool]]:
    """The names that an expression may be, with holes for what is not known."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    found = [("", True)]
    for part in parts:
        word = ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else ""
        ways = names.get(word) or {f"{{{word}}}": True}
        if isinstance(part, ast.Constant):
            ways = {str(part.value): True}
        found = [(text + way, sure and s) for text, sure in found for way, s in ways.items()]
    yield from found


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts)
    else:
        yield target, value


__all__ = ["Layer", "Layers", "layers"]
