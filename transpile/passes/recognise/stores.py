"""What code sets on a name: `self.a = v`, `self.a += v`, `self.a.add_(v)`."""

import keyword
from collections.abc import Iterator
from typing import NamedTuple

from ...facts.values import Values
from ...facts.values.calls import is_super
from ...facts.values.lattice import (
    NONE,
    UNKNOWN,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    is_param,
)
from ...model.constants import is_constant
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    Lambda,
    Name,
    Starred,
    Subscript,
)
from ...model.names import dotted, everywhere, is_inplace, is_item, is_own, text
from ...model.node import Expression, Node
from ...model.program import Class, Function
from ...model.statements import Assign

REGISTERS = {"register_buffer": "buffer", "register_parameter": "param"}
ADDS = frozenset({"add_module", "register_module"})


class Registration(NamedTuple):
    """`self.register_buffer("h", v, persistent=False)`: how, under which name, which value."""

    method: str
    name: Expression
    value: Expression
    persistent: bool = True
    holder: Expression | None = None  # a module that is not self

    @property
    def text(self) -> str | None:
        """The name, where it is written out, and may stand behind a dot: `nonlocal` may not."""
        text = self.name.constant if isinstance(self.name, Constant) else None
        return text if isinstance(text, str) and not keyword.iskeyword(text) else None


def registration(call: Node, own: str | None, others: bool = False) -> Registration | None:
    """What a call registers on self; `setattr(self, name, v)` does, too. None of other calls.

    `others`: on another module as well."""
    if not isinstance(call, Call) or any(isinstance(a, Starred) for a in call.arguments):
        return None
    function = call.function
    if dotted(function) == "setattr":
        if len(call.arguments) != 3 or dotted(call.arguments[0]) != own:
            return None
        return Registration("setattr", call.arguments[1], call.arguments[2])
    if not isinstance(function, Attribute) or function.name not in {*REGISTERS, *ADDS}:
        return None
    held = None if dotted(function.object) == own or is_super(function.object) else function.object
    if held is not None and (not others or function.name in ADDS):
        return None
    places = ("name", "tensor" if function.name == "register_buffer" else "param", "persistent")
    if function.name in ADDS:
        places = ("name", "module", "")
    given = {w or places[i]: a for i, (w, a) in enumerate(zip(call.keywords, call.arguments))}
    name, value = given.get("name"), given.get(places[1])
    if name is None or value is None:
        return None
    persistent = given.get("persistent")
    kept = not is_constant(persistent, False)
    return Registration(function.name, name, value, kept, held)


def own_name(node: Node | None, own: str | None) -> str | None:
    """The name in `self.name`."""
    return node.name if is_own(node, own) else None


def assigned(node: Assign, own: str | None) -> Iterator[tuple[str, Expression | None]]:
    """What is set on self, and the value; None where that is not one expression."""
    value = None if node.operator else node.expression
    if node.expression is not None:
        for target in node.targets:
            yield from _set(target, value, own)


def _set(
    target: Expression, value: Expression | None, own: str | None
) -> Iterator[tuple[str, Expression | None]]:
    if isinstance(target, Display):
        alike = isinstance(value, Display) and len(value.elements) == len(target.elements)
        for i, element in enumerate(target.elements):
            # the target itself has the value of its part
            apart = element if value is not None and isinstance(element, Attribute) else None
            yield from _set(element, value.elements[i] if alike else apart, own)  # type: ignore[union-attr]
    elif isinstance(target, Starred):
        yield from _set(target.expression, None, own)
    elif isinstance(target, Subscript):
        yield from _set(target.object, None, own)
    elif (name := own_name(target, own)) is not None:
        yield name, value


def written_in_place(call: Call, own: str | None) -> str | None:
    """What a call writes of self: `self.ema.mul_(d)`, `torch.add(a, b, out=self.s)`."""
    out, function = call.keyword("out"), call.function
    if out is not None:
        return _root(out, own)
    word = function.name if isinstance(function, Attribute) else dotted(function) or ""
    if not is_inplace(word):
        return None
    found = _root(function.object, own) if isinstance(function, Attribute) else None
    if found is None and call.arguments:  # `nn.init.zeros_(self.w)`
        found = _root(call.arguments[0], own)
    return found


def _root(node: Expression, own: str | None) -> str | None:
    """The attribute of self that a view is of: `self.w.data[0].view(-1)`."""
    while True:
        name = own_name(node, own)
        if name is not None:
            return name
        if isinstance(node, (Attribute, Subscript)):
            node = node.object
        elif isinstance(node, Call) and isinstance(node.function, Attribute):
            node = node.function.object
        else:
            return None


def without_gradient(value: Node | None) -> bool:
    """`nn.Parameter(w, requires_grad=False)`"""
    word = value.keyword("requires_grad") if isinstance(value, Call) else None
    return is_constant(word, False)


def holds_arrays(value: object) -> bool:
    """Whether a value is an array, or a list or dict of such: `self.sums["b"].add_(x)`."""
    held = value.element if isinstance(value, (Mapping, Sequence)) else value
    return isinstance(held, Tensor) and (held is value or not held.assumed)


def begins_arrays(values: Values, module: Module, node: Assign, name: str) -> bool:
    """`layer.maps = []`, of a list or dict that arrays are put into."""
    given = values.of(node.expression) if node.expression is not None else None
    held = [values.attribute(ref, name) for ref in module.refs]
    return isinstance(given, (Mapping, Sequence)) and bool(held) and all(map(holds_arrays, held))


def holds_text(value: object) -> bool:
    """Whether a value is a text, or a list or dict of such: `self.names[i] = "a"`."""
    while isinstance(value, (Mapping, Sequence)):
        value = value.element
    return isinstance(value, Static) and value.type == "str"


def holds_functions(value: Expression | None) -> bool:
    """`[[lambda x: x for _ in range(n)] for _ in range(m)]`"""
    while isinstance(value, Comprehension) or isinstance(value, Display) and value.elements:
        value = value.element if isinstance(value, Comprehension) else value.elements[0]
    return isinstance(value, Lambda)


def is_plain(values: Values, node: Expression, method: Function) -> bool:
    """Whether it is certain to be no array: a number, or what a constructor is given."""
    value = values.of(node)
    if isinstance(value, Static):
        return value != NONE
    given = {p.name for p in method.parameters}
    return value == UNKNOWN and isinstance(node, Name) and node.id in given


def is_tie(values: Values, value: Node | None, own: str | None) -> bool:
    """Whether an expression is a param that has its name already: `self.emb.weight`, `self.w`,
    `self.net[1].weight`."""
    if not isinstance(value, Attribute) or not is_param(known := values.of(value)):
        return False
    if known.buffer:  # type: ignore[attr-defined]
        return False
    held: Expression = value
    while isinstance(held, Attribute) or is_item(held):
        held = held.object
    own_path = isinstance(held, Name) and held.id == own
    return own_path and not is_replaced(value) and not _is_buffer(value, own)


def _is_buffer(value: Node, own: str | None) -> bool:
    """Whether the class registers this as a buffer: `self.last = self.mean` is no tie."""
    cls = value.nearest(Class)
    made = [registration(call, own) for call in everywhere(cls, Call)] if cls is not None else []
    buffers = {m.text for m in made if m is not None and m.method == "register_buffer"}
    return own_name(value, own) in buffers


def is_replaced(value: Node) -> bool:
    """Whether a constructor sets another array, or module, under this name later on: `self.p` of
    `self.q = self.p; self.p = other`."""
    path = f"{text(value)}."
    nodes = list(next(n for n in value.ancestors() if isinstance(n, Function)).walk())
    later = (n for n in nodes[nodes.index(value) :] if isinstance(n, Assign))
    return any(path.startswith(_prefix(target)) for n in later for target in n.targets)


def _prefix(target: Expression) -> str | tuple[str, str]:
    """What the paths begin with that another value at a target puts something else behind."""
    if isinstance(target, Subscript):
        return f"{text(target.object)}["
    return f"{text(target)}.", f"{text(target)}["
