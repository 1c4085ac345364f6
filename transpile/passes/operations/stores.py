"""What is put into an array at the places of a mask: a choice of two wholes, for a mask that only
the data tell has no places under jit."""

from collections.abc import Callable
from functools import partial

from ...facts.memory.access_paths import spelled
from ...facts.memory.indices import covers
from ...facts.values.lattice import Mapping, Sequence, Static, Tensor
from ...model.constants import is_whole
from ...model.copy import clone
from ...model.effects import Put, Support
from ...model.expressions import Call, Constant, Lambda, Name, Slice, Subscript
from ...model.node import Expression, Node
from ...model.operators import Binary
from ...model.program import Parameter
from ...source.lower_ast import expression
from .conversion import Conversion
from .literals import known, literal
from .subscripts import is_mask, not_zero, numbers_apart, numbers_first, place, tell_masks
from .windows import OPERATORS, WORDS, parts_of, window

_WHOLE = ("data", "item")


def put(c: Conversion, node: Node) -> bool:
    """`x[m] = 0`, `x[m] += y[m]`; False of any other index."""
    assert isinstance(node, Put)
    built = c.facts.stage(c.scope) in ("host", "building", "import")
    if node.how in _WHOLE or isinstance(node.index, Lambda):
        c.changes.replace(node, _whole(node, built))
        c.visit_all(node.children())
        return True
    if node.how == "set" and isinstance(known(node.base), (Mapping, Sequence)):
        c.changes.replace(node, _entry)
        c.visit_all(node.children())
        return True
    if window(c, node):
        return True
    first, *rest = parts_of(node.index)
    if not built and _is_behind(node):
        c.changes.replace(node, _where_behind)
        c.visit_all(node.children())
        return True
    by_mask = is_mask(first) and all(map(is_whole, rest))
    if not by_mask:
        tell_masks(c, node)
    if not is_mask(first):
        for i, part in enumerate(parts_of(node.index)):
            place(c, node, i, part)
        if (
            node.how == "set"
            and not isinstance(known(node.new), Static)
            and c.leading.may_lead(node)
        ):
            c.changes.replace(node, _without_leading)
            c.visit_all(node.children())
            return True
    if not by_mask:
        if numbers := numbers_apart(node.index):
            c.changes.replace(node, partial(_numbers_first, numbers=numbers))
        return False
    if built:
        return False
    if node.how != "set" and node.how not in OPERATORS:
        return False
    new, scalar = node.new, isinstance(known(node.new), Static)
    chosen = isinstance(new, Subscript) and spelled(new.index) == spelled(node.index)
    plain = scalar and covers(first, node.base) and spelled(node.base) is not None
    again = not chosen and _is_again(node)
    make = _where if plain else _of_whole if chosen else _again if again else _updated
    c.changes.replace(node, make)
    if again:
        assert isinstance(new, Binary)
        c.visit_all([node.base, node.index, new.right])
    elif chosen:
        assert isinstance(new, Subscript)
        c.visit_all([node.base, node.index, new.object])
    else:
        c.visit_all(node.children())
    return True


def _numbers_first(node: Put, numbers: list[int]) -> Put:
    """`x[0, :, j] = y` puts `y` at `:, j` of `x[0]`."""
    inner, rest = numbers_first(node, numbers)
    new = Put(inner, rest, node.how, node.new)
    return Put(node.base, clone(inner.index), "set", new)


def _without_leading(node: Put) -> Expression:
    """torch leaves out dims of size 1 that the value has in front."""
    return Call(Support("store"), [node.base, _spelled_out(node.index), node.new])


def _spelled_out(index: Expression) -> Expression:
    """`jnp.s_[:, t]` of an index with slices."""
    if any(isinstance(part, Slice) for part in parts_of(index)):
        return Subscript(expression("jnp.s_"), index)
    return index


def _whole(node: Put, built: bool) -> Callable[[Put], Expression]:
    if isinstance(node.index, Lambda):
        return _through
    if node.how == "item":
        return _item
    return _new if built else _data


def _through(node: Put) -> Expression:
    """What only the view itself tells the places of: `z.diagonal().fill_(3)`."""
    return Call(Support("write_view"), [node.base, node.index, node.new])


def _entry(node: Put) -> Expression:
    """A module's list or dict of arrays with another one in it: `self.hidden[i] = h`."""
    return Call(Support("with_entry"), [node.base, node.index, node.new])


def _data(node: Put) -> Expression:
    """Other numbers, and the gradient that it has: `nn.set_data(x, new)`."""
    return Call(Support("set_data"), [node.base, node.new])


def _new(node: Put) -> Expression:
    return node.new


def _item(node: Put) -> Expression:
    """What is put at an index that may choose a copy: only the run tells."""
    return Call(Support("write_item"), [node.base, _spelled_out(node.index), node.new])


def _is_behind(node: Put) -> bool:
    """Whether a number is put where a mask of the last dims is: `x[..., m] = 0`, `x[:, m] += 1`."""
    *before, last = parts_of(node.index)
    number = node.how in ("set", *OPERATORS) and isinstance(known(node.new), Static)
    return number and bool(before) and is_mask(last) and all(map(is_whole, before))


def _where_behind(node: Put) -> Expression:
    *before, _ = parts_of(node.index)
    if any(literal(part) is ... for part in before):  # the mask has the last dims
        return _where(node)
    mask, new = _mask(node), _combined(node, clone(node.base), node.new)
    return Call(Support("fill_masked"), [node.base, Constant(len(before)), mask, new])


def _mask(node: Put) -> Expression:
    mask = next(filter(is_mask, parts_of(node.index)))
    value = known(mask)
    return not_zero(mask) if isinstance(value, Tensor) and value.kind == "u" else mask


def _combined(node: Put, old: Expression, new: Expression) -> Expression:
    """`old + new`, of what the store does; new alone where it only sets."""
    if node.how == "set":
        return new
    made = Binary(old, OPERATORS[node.how], new)
    made.value = node.base.value
    return made


def _where(node: Put) -> Expression:
    """`jnp.where(m, 0, x)`"""
    new = _combined(node, clone(node.base), node.new)
    return Call(expression("jnp.where"), [_mask(node), new, node.base])


def _of_whole(node: Put) -> Expression:
    """What is put there is chosen by the same mask: `x[m] = y[m]`."""
    assert isinstance(node.new, Subscript)
    whole = node.new.object
    if node.how == "set":
        return Call(Support("assign_where"), [node.base, _mask(node), whole])
    new = _combined(node, clone(node.base), whole)
    return Call(Support("assign_where"), [node.base, _mask(node), new])


def _is_again(node: Put) -> bool:
    """Whether what is put there is computed from what was there: `x[m] = x[m] * y`."""
    new = node.new
    if node.how != "set" or not isinstance(new, Binary) or new.operator not in WORDS:
        return False
    old, base = new.left, spelled(node.base)
    if not isinstance(old, Subscript) or base is None or spelled(old.object) != base:
        return False
    return spelled(old.index) == spelled(node.index) is not None


def _again(node: Put) -> Expression:
    assert isinstance(node.new, Binary)
    return _updated(Put(node.base, node.index, WORDS[node.new.operator], node.new.right))


def _updated(node: Put) -> Expression:
    if node.how == "set":
        return Call(Support("store"), [node.base, _mask(node), node.new])
    if isinstance(known(node.new), Static):
        old = Name("old")
        function: Expression = Lambda([Parameter("old")], _combined(node, old, node.new))
        return Call(Support("update"), [node.base, _mask(node), function])
    function = expression(f"jnp.{node.how}")
    return Call(Support("update"), [node.base, _mask(node), function, node.new])
