"""Arrays of which a constructor asks the shape and dtype alone: they need not be made for that."""

from ....facts.memory.indices import number
from ....facts.shapes.asked_shapes import asked_of_row
from ....model.copy import clone
from ....model.effects import Declare, Read, Support
from ....model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ....model.names import dotted, rebound, root
from ....model.node import Expression
from ....model.program import Function

_OF_SIZES = frozenset("jnp.zeros jnp.ones jnp.empty jnp.full".split())


def spell_out_sizes(function: Function) -> None:
    """`self.pos.shape[-1]` below `self.pos = nn.Parameter(jnp.zeros((1, n, dim)))` is `dim`: to ask
    the array would make the params of a module that is half built."""
    me = function.receiver
    declares = function.nodes(Declare)
    made = {d.name: d for d in declares}
    changing = rebound(function)
    for read in list(function.nodes(Read)):
        declare, shape = made.get(read.name), read.parent
        item = shape.parent if isinstance(shape, Attribute) and shape.name == "shape" else None
        if declare is None or dotted(read.object) != me or not isinstance(item, Subscript):
            continue
        once = sum(d.name == read.name for d in declares) == 1
        if once and declare.end < read.start and declare.parent is function.body:
            size = _size(declare.expression, item.index)
            name = root(size) if size is not None else None
            if size is not None and (name is None or name.id not in changing):
                item.replace(clone(size))


def _size(made: Expression | None, index: Expression) -> Expression | None:
    """The size of one dim of `jnp.zeros((n, dim))`, where it is named or a number."""
    if not isinstance(made, Call) or dotted(made.function) not in _OF_SIZES:
        return None
    sizes = made.arguments[0] if made.arguments else None
    known = isinstance(sizes, Display) and not any(isinstance(e, Starred) for e in sizes.elements)
    at = number(index)
    if not known or at is None:
        return None
    elements = sizes.elements  # type: ignore[union-attr]
    size = elements[at] if -len(elements) <= at < len(elements) else None
    return size if isinstance(size, Constant) or dotted(size) is not None else None


def like(node: Read) -> Call:
    """The shape and dtype of an array of a module, in the place of the array."""
    return Call(Support("like"), [node.object, Constant(node.name)])


def measure(node: Read) -> None:
    """Ask the module for what `is_measured`: `w[0].size` is `math.prod(w.shape[1:])`."""
    around, made = node.parent, like(node)
    asked = asked_of_row(around)
    if asked is None:
        node.replace(made)
        return
    shape = Subscript(Attribute(made, "shape"), Slice(Constant(1), None, None))
    asked.replace(
        shape if asked.name == "shape" else Call(Attribute(Name("math"), "prod"), [shape])
    )
