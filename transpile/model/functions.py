"""Questions about functions: their parameters, decorators and owners."""

from collections.abc import Iterable
from typing import NamedTuple

from .copy import clone
from .effects import Support
from .expressions import Attribute, Call, Constant, Name, Starred
from .names import dotted, everywhere
from .node import Expression, Node
from .program import Class, Function, Parameter, Scope
from .statements import Return


class Signature(NamedTuple):
    """What a function takes, read once."""

    function: Function
    owner: Class | None  # of a method
    outer: Function | None  # the function that it is defined in
    decorators: tuple[str, ...]
    parameters: tuple[Parameter, ...]  # all that can be bound by name, self left out
    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    star: str | None  # the name in `*args`
    stars: str | None  # the name in `**kwargs`
    self_name: str | None
    static: bool

    @property
    def names(self) -> list[str]:
        return [p.name for p in self.parameters]


class Functions:
    """The functions of a project."""

    def __init__(self) -> None:
        self._signatures: dict[Function, Signature] = {}

    def add_function(self, function: Function, owner: Class | None) -> None:
        """Note a function, and the class whose method it is."""
        around = function.nearest(Scope)
        outer = around if isinstance(around, Function) else None
        self._signatures[function] = _signature(function, owner, outer)

    def some_functions(self, functions: Iterable[Function]) -> "Functions":
        """What is known of some functions."""
        some = Functions()
        some._signatures = {function: self.signature(function) for function in functions}
        return some

    def join_functions(self, some: "Functions") -> None:
        """Take the functions of another table."""
        self._signatures |= some._signatures

    def signature(self, function: Function) -> Signature:
        found = self._signatures.get(function)
        if found is None:
            self.add_function(function, function.owner)
            found = self._signatures[function]
        return found

    def decorators(self, function: Function) -> tuple[str, ...]:
        """The dotted names of its decorators, "?" for what has none."""
        return self.signature(function).decorators

    def owner(self, function: Function) -> Class | None:
        return self.signature(function).owner

    def outer(self, function: Function) -> Function | None:
        """The function around it, unless a class stands between."""
        return self.signature(function).outer

    def outermost(self, function: Function) -> Function:
        """The function around it that is in no other."""
        while (outer := self.signature(function).outer) is not None:
            function = outer
        return function

    def method(self, function: Function | None) -> Function | None:
        """The method that it is, or stands in; None of a function that is in no class."""
        while function is not None and self.signature(function).owner is None:
            function = self.signature(function).outer
        return function

    def is_static(self, function: Function) -> bool:
        return self.signature(function).static

    def is_classmethod(self, function: Function) -> bool:
        return "classmethod" in self.decorators(function)

    def is_property(self, function: Function) -> bool:
        names = self.decorators(function)
        return any(d == "property" or d.endswith("cached_property") for d in names)

    def takes_self(self, function: Function) -> bool:
        signature = self.signature(function)
        return signature.owner is not None and not signature.static

    def self_name(self, function: Function) -> str | None:
        return self.signature(function).self_name

    def parameters(self, function: Function) -> tuple[Parameter, ...]:
        """All parameters that can be bound by name, self left out."""
        return self.signature(function).parameters

    def accepts(self, function: Function, call: Call) -> bool:
        """Whether a call can be one of this function, or of what it is as a method, by the number
        and the names of its arguments."""
        signature = self.signature(function)
        if signature.decorators or any(isinstance(a, Starred) for a in call.arguments):
            return True
        words = {word for word in call.keywords if word is not None}
        placed = signature.positional[: call.keywords.count(None)]
        many = call.keywords.count(None) > len(placed) and signature.star is None
        strange = words.difference(signature.names) and signature.stars is None
        needed = {p.name for p in signature.parameters if p.default is None}
        return not (many or strange or needed.difference(words, placed))


def is_static(function: Function, owner: Class) -> bool:
    """Whether a function of a class is given no module: by its decorator, or since the class alone
    is asked for it: `Net.mask(x)` of `def mask(weights): ...`."""
    if function.decorators or not function.parameters:
        return any(dotted(d) == "staticmethod" for d in function.decorators)
    if function.receiver in ("self", "cls") or owner.file is None:
        return False
    asked = [n for n in everywhere(owner.file, Attribute) if n.name == function.name]
    return bool(asked) and all(_gives_no_self(n, owner) for n in asked)


def _gives_no_self(name: Attribute, owner: Class) -> bool:
    """`Net.mask(x)` where x is not the first parameter of a method around it."""
    call = name.parent
    if dotted(name.object) != owner.name or not isinstance(call, Call) or call.function is not name:
        return False
    around = [f for f in name.ancestors() if isinstance(f, Function) and f.parameters]
    first = dotted(call.arguments[0]) if call.arguments else None
    return first not in {f.receiver for f in around if f.owner is not None}


def _signature(function: Function, owner: Class | None, outer: Function | None) -> Signature:
    words = [d.function if isinstance(d, Call) else d for d in function.decorators]
    decorators = tuple(dotted(word) or "?" for word in words)
    static = owner is not None and is_static(function, owner)
    takes_self = owner is not None and not static
    by_place = [p for p in function.parameters if p.kind in ("/", "")]
    by_word = [p for p in function.parameters if p.kind == "="]
    others = {p.kind: p.name for p in function.parameters if p.kind in ("*", "**")}
    rest = by_place[1:] if takes_self else by_place
    return Signature(
        function,
        owner,
        outer,
        decorators,
        (*rest, *by_word),
        tuple(p.name for p in rest),
        tuple(p.name for p in by_word),
        others.get("*"),
        others.get("**"),
        by_place[0].name if takes_self and by_place else None,
        static,
    )


def inner_given_back(function: Function) -> Function | None:
    """The function of its own that a function gives back in the end, as a decorator does."""
    returns = function.nodes(Return)
    given = returns[-1].expression if returns else None
    name = given.id if isinstance(given, Name) else None
    return next((f for f in function.nodes(Function) if f.name == name), None)


def called_by(function: Expression, call: Call) -> Call:
    """The call that a call of a partial is, or of a name of a function: what it says by a word goes
    before the partial's."""
    held: list[tuple[str | None, Expression]] = []
    if isinstance(function, Call):
        held = list(zip(function.keywords[1:], map(clone, function.arguments[1:])))
        function = function.arguments[0]
    given = list(zip(call.keywords, call.arguments))
    first = [pair for pair in held if pair[0] is None]
    last = [pair for pair in held if pair[0] is not None and pair[0] not in call.keywords]
    together = [*first, *given, *last]
    return Call(clone(function), [value for _, value in together], [word for word, _ in together])


def bound_arguments(parameters: list[Parameter], call: Call) -> dict[str, Expression] | None:
    """What a call gives to each parameter; None where that is not known, or an error."""
    if any(p.kind.startswith("*") for p in parameters):
        return None
    places = [p.name for p in parameters if p.kind != "="]
    given: dict[str, Expression] = {}
    given.update((p.name, p.default) for p in parameters if isinstance(p.default, Constant))
    passed: list[str] = []
    for word, value in zip(call.keywords, call.arguments):
        place = len(passed)
        if isinstance(value, Starred) or word is None and place >= len(places):
            return None
        passed.append(places[place] if word is None else word)
        given[passed[-1]] = value
    names = {p.name for p in parameters}
    known = len(passed) == len(set(passed)) and given.keys() == names
    return given if known else None


def is_inside(function: Function) -> bool:
    """Whether a function stands in another one."""
    return isinstance(function.scope, Function)


def is_checkpoint(node: Node) -> bool:
    """Whether it is what makes a function one that is run again in backward."""
    helper = isinstance(node, Support) and node.name == "checkpointed"
    return helper or dotted(node) == "jax.checkpoint"


def can_leave_out(function: Function, parameter: Parameter) -> bool:
    """Whether a parameter can go from the text, and has no comment."""
    place = _without(function, parameter)
    if place is None or function.file is None:
        return False
    behind = function.file.text.find("\n", place[1])
    return "#" not in function.file.text[place[0] : behind]


def leave_out(function: Function, parameter: Parameter) -> None:
    """Leave out a parameter that nothing reads."""
    place = _without(function, parameter)
    assert place is not None
    function.parameters = [p for p in function.parameters if p is not parameter]
    kept = [p for p in function.patches or () if not place[0] <= p[0] < place[1]]
    function.patches = kept  # what was left out right beside it, too
    function.patch(*place, "")


def _without(function: Function, parameter: Parameter) -> tuple[int, int] | None:
    """What goes from the text with a parameter: up to the next of its kind, or from the one before.
    None where it came from no text, or stands alone."""
    at = function.parameters.index(parameter)
    before, after = function.parameters[at - 1 : at], function.parameters[at + 1 : at + 2]
    if parameter.start < 0 or function.file is None:
        return None
    if after and after[0].kind == parameter.kind and after[0].start >= 0:
        return parameter.start, after[0].start
    if before and before[0].kind in ("", "=") and before[0].start >= 0:
        return before[0].end, parameter.end
    return None
