"""Indices of tensors, and the choice of one of several results: `x.max(1)[0]`."""

from collections.abc import Callable

from ...facts.values.lattice import External, Sequence, Static, Tensor, Torch
from ...model.constants import is_whole
from ...model.copy import clone
from ...model.effects import Put
from ...model.expressions import Attribute, Call, Constant, Display, Name, Slice, Subscript
from ...model.node import Expression, Node
from ...model.operators import Compare
from ...model.program import Function
from ...model.statements import Assign, Declaration
from ...source.lower_ast import expression
from .bind import arguments_of
from .conversion import Conversion
from .inline import Use
from .literals import known, literal
from .methods import asked, method_of
from .specialise import Refused
from .windows import is_number, parts_of, window


def subscript(c: Conversion, node: Node) -> bool:
    """A part of a tensor, or one of several results."""
    assert isinstance(node, Subscript)
    place = literal(node.index)
    if place in (0, 1) and not isinstance(place, bool):
        if picked(c, node, node.object, f"[{place}]"):
            return True
    return isinstance(known(node.object), Tensor) and _index(c, node)


def only_one(c: Conversion, node: Assign) -> bool:
    """`_, i = x.max(1)`, of which one result alone is read: `i = x.argmax(axis=1)`."""
    target, call, scope = node.targets[0], node.expression, c.scope
    if len(node.targets) > 1 or node.operator or not isinstance(scope, Function):
        return False
    names = target.elements if isinstance(target, Display) else []
    if len(names) != 2 or not isinstance(call, Call):
        return False
    kept = {n for d in scope.nodes(Declaration) for n in d.names} | c.live_after(node)
    read = [i for i, n in enumerate(names) if not isinstance(n, Name) or n.id in kept]
    if len(read) != 1 or not picked(c, call, call, f"[{read[0]}]"):
        return False
    c.changes.replace(target, lambda _: names[read[0]])
    return True


def picked(c: Conversion, node: Expression, call: Expression, which: str) -> bool:
    """A rule for one result alone, where there is one: `x.max(1)[0]`, `x.max(1).values`."""
    if not isinstance(call, Call):
        return False
    value, found = known(call.function), method_of(call)
    if isinstance(value, Torch):
        name, arguments = value.name, arguments_of(call)
    elif found is not None and isinstance(found.receiver, Tensor):
        name = f"torch.Tensor.{found.name}"
        assert isinstance(call.function, Attribute)
        arguments = [asked(call.function, found.name), *arguments_of(call)]
    else:
        return False
    rules = c.rulebook.find(name + which)
    try:
        use = Use.of(c.rulebook, rules, arguments) if rules else None
    except Refused:
        return False
    if use is not None:
        c.apply_use(node, use, name, arguments)
    return use is not None


def _index(c: Conversion, node: Subscript) -> bool:
    """Indices that torch takes and JAX does not, or takes for another thing."""
    if window(c, node):
        return True
    parts = parts_of(node.index)
    tell_masks(c, node)
    for i, part in enumerate(parts):
        place(c, node, i, part)
    if numbers := numbers_apart(node.index):
        c.changes.replace(node, lambda n: Subscript(*numbers_first(n, numbers)))
    elif len(parts) > 1 and is_mask(parts[0]) and all(is_whole(part) for part in parts[1:]):
        c.changes.replace(
            node, lambda n: Subscript(n.object, parts_of(n.index)[0])
        )  # `x[mask, :, :]`
    c.visit_all(node.children())
    return True


def tell_masks(c: Conversion, node: Subscript | Put) -> None:
    """Report a mask that stays an index where the code is traced."""
    if any(is_mask(part) for part in parts_of(node.index)) and c.facts.in_forward(c.scope):
        message = "a mask chooses as much as the data make of it, which jax.jit cannot know"
        c.changes.report("data-dependent-shape", node, message)


def numbers_apart(index: Expression) -> list[int]:
    """The places of the numbers of `x[0, :, j]`. torch chooses by them before it does by arrays;
    NumPy takes them for arrays, whose dims go to the front where a slice parts them.
    """
    parts = parts_of(index)
    numbers = [i for i, part in enumerate(parts) if is_number(part)]
    slices = [i for i, part in enumerate(parts) if isinstance(part, Slice) or _is_new_dim(part)]
    arrays = [i for i in range(len(parts)) if i not in numbers and i not in slices]
    if not numbers or not arrays or any(is_mask(part) for part in parts[: numbers[-1]]):
        return []
    first, last = arrays[0], arrays[-1]
    parted = any(min(first, numbers[0]) < i < max(last, numbers[-1]) for i in slices)
    in_front = slices[0] > first or any(first < i < last for i in slices) if slices else True
    return [] if in_front or not parted else numbers


def _is_new_dim(part: Node) -> bool:
    return literal(part) in (None, ...)


def numbers_first(node: Subscript | Put, numbers: list[int]) -> tuple[Subscript, Expression]:
    """`x[0]` and `:, j` of `x[0, :, j]`"""
    parts = parts_of(node.index)
    base = node.object if isinstance(node, Subscript) else clone(node.base)
    dots = [i for i in range(numbers[-1]) if literal(parts[i]) is ...]
    first: list[Expression] = []
    for i, part in enumerate(parts[: None if dots else numbers[-1] + 1]):
        if i in numbers or i in dots:
            first.append(clone(part))
        elif literal(part) is not None and (not first or literal(first[-1]) is not ...):
            first.append(Slice(None, None, None))
    rest = [part for i, part in enumerate(parts) if i not in numbers]
    made = Subscript(base, _index_of(first))
    made.value = Tensor()
    return made, _index_of(rest)


def _index_of(parts: list[Expression]) -> Expression:
    return parts[0] if len(parts) == 1 else Display("tuple", parts)


def place(c: Conversion, node: Subscript | Put, i: int, part: Expression) -> None:
    """A list as an index is an index array, so is a range; bytes are a mask."""
    value = known(part)
    made: Callable[[Expression], Expression] | None = None
    only = _only_place(node, part)
    if only is not None:
        c.changes.change(node, lambda n: parts_of(n.index)[i].replace(only))
    elif isinstance(part, Display) and part.kind == "list" and _are_bools(part):
        made = _array("np.array", Tensor(kind="b"))  # which jit knows, and so how many it chooses
    elif isinstance(part, Display) and part.kind == "list":
        made = _array("jnp.array", Tensor(kind="i"))
    elif isinstance(value, Sequence) and not value.tuple and not isinstance(part, Display):
        made = _array("jnp.array", Tensor())
    elif isinstance(value, Static) and value.type == "range":
        if isinstance(part, Call) and known(part.function) == External("builtins.range"):
            c.put(part.function, expression("jnp.arange"))
        else:
            made = _array("jnp.array", Tensor(kind="i"))
    elif isinstance(value, Tensor) and value.kind == "u":
        made = not_zero
    if made is not None:  # of what stands there by then
        c.changes.change(node, lambda n: parts_of(n.index)[i].wrap(made))


def _are_bools(part: Display) -> bool:
    """`[True, False]`"""
    found = literal(part)
    return isinstance(found, list) and bool(found) and all(isinstance(v, bool) for v in found)


def _only_place(node: Subscript | Put, part: Expression) -> Slice | None:
    """`-1:` of `x[:, [-1]]`, where nothing else chooses."""
    number = literal(part) if isinstance(part, Display) and part.kind == "list" else None
    if not isinstance(number, list) or len(number) != 1 or type(number[0]) is not int:
        return None
    if isinstance(node, Put) or not all(is_whole(p) for p in parts_of(node.index) if p is not part):
        return None
    first = number[0]
    return Slice(
        expression(repr(first)), expression(repr(first + 1)) if first != -1 else None, None
    )


def _array(function: str, value: Tensor) -> Callable[[Expression], Expression]:
    def make(node: Expression) -> Expression:
        made = Call(expression(function), [node])
        made.value = value
        return made

    return make


def not_zero(node: Expression) -> Expression:
    """`x[mask.byte()]` is `x[mask.byte() != 0]`."""
    made = Compare([node, Constant(0)], ["!="])
    made.value = Tensor(kind="b")
    return made


def is_mask(part: Expression) -> bool:
    value = known(part)
    return isinstance(value, Tensor) and value.kind in ("b", "u") and not value.number
