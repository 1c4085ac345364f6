"""The arguments of a call by the parameters of a rule, and which of several rules they fit."""

from collections.abc import Sequence as Sequence_
from dataclasses import dataclass, field

from ...facts.values.lattice import Sequence, Value, is_traced
from ...model.expressions import Call, Display, Name, Starred
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.rulebook import Definition, Parameter
from ...rule import PLACEMENT
from .argument_types import fits
from .literals import known, literal

# NumPy's spellings, and those that torch takes beside its own.
ALIASES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "x1": "input",
    "x2": "other",
    "self": "input",
    "a": "input",
}
_SIZES = ("size", "dims", "sizes", "shape", "repeats")


@dataclass(frozen=True)
class Argument:
    """One argument at the call: its expression as torch's program has it, and what is known of it.

    What it has become by the time that the call changes stands at its `place`: a node, and its
    part.
    """

    node: Expression
    value: Value
    keyword: str | None = None
    star: str = ""
    place: tuple[Node, str, int] | None = None

    def now(self) -> Expression:
        """The expression that stands at its place by now."""
        if self.place is None:
            return self.node
        holder, part, i = self.place
        found = getattr(holder, part)
        return found if i < 0 else found[i]  # type: ignore[no-any-return]


def argument_of(holder: Node, part: str) -> Argument:
    """The part of a node as an argument: the object of an attribute."""
    node = getattr(holder, part)
    return Argument(node, known(node), place=(holder, part, -1))


def arguments_of(call: Call) -> list[Argument]:
    """The arguments of a call."""
    words = enumerate(call.keywords)
    return [_item(call, "arguments", i, call.arguments[i], word) for i, word in words]


def elements_of(display: Display) -> list[Argument]:
    """The elements of a list or tuple that is written out."""
    return [_item(display, "elements", i, node, None) for i, node in enumerate(display.elements)]


def _item(holder: Node, part: str, i: int, node: Expression, word: str | None) -> Argument:
    if not isinstance(node, Starred):
        return Argument(node, known(node), word, "", (holder, part, i))
    inner = node.expression
    return Argument(
        inner, known(inner), word, "**" if node.double else "*", (node, "expression", -1)
    )


@dataclass
class Binding:
    """The arguments of a call by the parameter of a rule that takes them."""

    definition: Definition
    given: dict[str, Argument] = field(default_factory=dict)
    sizes: list[Argument] = field(default_factory=list)
    rest: list[Argument] = field(default_factory=list)  # *args and **kwargs, passed through
    spread: list[Parameter] = field(default_factory=list)  # what `*args` is for: all places left
    score: int = 0  # of how many arguments it is not known whether they fit

    def is_sized_by_data(self) -> bool:
        """Whether the shape of the result follows from values that jit does not know."""
        names = self.definition.by_data
        if isinstance(names, bool):
            return names
        if self.wanted():
            return True
        asked = [self.given[name] for name in names if name in self.given]
        if any(p.kind == "sizes" and p.name in names for p in self.definition.parameters):
            asked += self.sizes
        return any(_of_data(argument.value) for argument in asked)

    def wanted(self) -> set[str]:
        """The parameters that are given nothing, and would tell the shape."""
        names = self.definition.by_data
        told = names if isinstance(names, tuple) else ()
        return self.absent() & {name.partition("not ")[2] for name in told}

    def absent(self) -> set[str]:
        """The parameters that are given nothing."""
        return {p.name for p in self.definition.parameters} - self.given.keys()

    def complete(self) -> bool:
        """Whether every parameter without a default is given."""
        asked = [p for p in self.definition.parameters if p.default is None and p.name != "key"]
        needed = [p for p in asked if p.kind in ("positional", "keyword")]
        return bool(self.rest) or all(p.name in self.given for p in needed)


def _of_data(value: Value) -> bool:
    """Whether a size, or one of several, is computed from arrays."""
    if isinstance(value, Sequence):
        return any(map(_of_data, value.items if value.items is not None else [value.element]))
    return is_traced(value)


def bind(definition: Definition, arguments: Sequence_[Argument]) -> Binding | None:
    """Match arguments with the parameters of a rule; None where they do not fit."""
    binding = Binding(definition)
    places = [p for p in definition.parameters if p.kind in ("positional", "sizes")]
    at = 0
    for argument in arguments:
        if argument.star == "**":
            binding.rest.append(argument)
        elif argument.keyword is not None:
            if not _by_keyword(binding, argument, argument.keyword):
                return None
        elif at >= len(places):
            if not isinstance(literal(argument.node), bool) or argument.star:
                return None  # but torch has `inplace` last
        elif places[at].kind == "sizes":
            binding.sizes.append(argument)
        elif argument.star:
            binding.rest.append(argument)
            binding.score += 1
            binding.spread, at = places[at:], len(places)
        else:
            binding.given[places[at].name] = argument
            at += 1
    return binding if binding.complete() and _fit(binding) else None


def _by_keyword(binding: Binding, argument: Argument, name: str) -> bool:
    """Give an argument to the parameter that its keyword means; False where there is none."""
    kinds = {p.name: p.kind for p in binding.definition.parameters}
    if f"{name}_" in kinds:
        name = f"{name}_"  # torch's `key` beside the key that a rule asks for
    if name not in kinds and name in PLACEMENT:
        return True
    if name not in kinds:
        name = ALIASES.get(name, name)
    sizes = next((n for n, kind in kinds.items() if kind == "sizes"), None)
    if sizes is not None and (name == sizes or name not in kinds and name in _SIZES):
        binding.sizes.append(argument)  # `torch.zeros(size=(2, 3))`
        return True
    if name not in kinds and "rest" in kinds.values():
        binding.rest.append(argument)
        return True
    if name not in kinds or name in binding.given:
        return False
    binding.given[name] = argument
    return True


def _fit(binding: Binding) -> bool:
    """Whether the arguments fit the annotations; what is not known counts against the rule."""
    for parameter in binding.definition.parameters:
        found = [binding.given[parameter.name]] if parameter.name in binding.given else []
        for argument in binding.sizes if parameter.kind == "sizes" else found:
            fit = fits(argument.node, argument.value, parameter)
            if fit is False and not argument.star:
                return False  # of `*tensors` the elements would have to fit
            binding.score += fit is None or fit is False
    return True


def choose(definitions: Sequence_[Definition], arguments: Sequence_[Argument]) -> Binding | None:
    """The first rule that fits for certain, else the first that may fit: of `*operands` rather one
    that takes as many as there are.
    """
    bound = (bind(definition, arguments) for definition in definitions)
    found = (b for b in bound if b is not None)
    return min(found, key=lambda b: (b.score, bool(b.spread)), default=None)


def hands_on(result: Expression, binding: Binding) -> bool:
    """Whether all that `*dims` gives goes on as it is: `x.transpose(*dims)` to swapaxes."""
    names = [p.name for p in binding.spread]
    if len(binding.rest) != 1 or not isinstance(result, Call):
        return False
    last, words = result.arguments[-len(names) :], result.keywords[-len(names) :]
    used = [n.id for n in result.walk() if isinstance(n, Name) and n.id in names]
    told = all(p.default is None for p in binding.spread)  # what has a default may be left out
    return told and used == names == list(map(dotted, last)) and not any(words)


def loose_sizes(binding: Binding) -> list[Argument] | None:
    """The elements of loose sizes or of one display; None where one expression stands for all of
    them.
    """
    sizes = binding.sizes
    if len(sizes) != 1:
        return sizes
    only = sizes[0]
    if only.star:
        return None
    if isinstance(only.node, Display) and only.node.kind != "set":
        return elements_of(only.node)
    number = isinstance(literal(only.node), int) or getattr(only.value, "type", "") == "int"
    # `*tensors: Tensor` takes no list
    takes = any(p.kind == "sizes" and "Tensor" in p.accepts for p in binding.definition.parameters)
    return sizes if number or takes else None
