"""An element that is made an int in order to index by it is one in JAX.

    out[i, int(labels[i])] = 1          ->          out[i, jnp.asarray(labels[i], int)] = 1

Where labels may be an array or a list, both are served: under jax.jit an element of an array has no
value that `int` could give.
"""

from collections.abc import Iterator

from ...facts.values.lattice import External, Tensor
from ...model.effects import Put
from ...model.expressions import Call, Name, Slice, Subscript
from ...model.names import is_target
from ...model.node import Expression, Node
from ...model.statements import Assign
from ...source.lower_ast import expression
from .conversion import Conversion
from .literals import known
from .windows import parts_of


def element_index(c: Conversion, node: Call) -> bool:
    """`int(labels[i])` that only makes an index of arrays; False of any other call."""
    if not c.traced or known(node.function) != External("builtins.int") or node.keywords != [None]:
        return False
    element = node.arguments[0]
    value = known(element)
    if not isinstance(element, Subscript) or not isinstance(value, Tensor) or not value.assumed:
        return False
    if not _only_indexes(c, node):
        return False
    c.changes.replace(node, _as_index)
    c.visit(element)
    return True


def _only_indexes(c: Conversion, node: Call) -> bool:
    """Whether it stands in an index, or is a local that is nothing but an index."""
    used = set(_indices(c))
    if node in used:
        return True
    assign = node.parent
    if not isinstance(assign, Assign) or assign.expression is not node or assign.operator:
        return False
    target = assign.targets[0]
    if len(assign.targets) > 1 or not isinstance(target, Name):
        return False
    # a function inside may read it for another purpose
    names = [n for own in c.scope.own() for n in own.walk() if isinstance(n, Name)]
    reads = [n for n in names if n.id == target.id and not is_target(n)]
    return bool(reads) and all(n in used for n in reads)


def _indices(c: Conversion) -> Iterator[Node]:
    """The parts of indices of arrays in the scope, but for slices."""
    indexed = [(n.object, n.index) for n in c.scope.nodes(Subscript)]
    indexed += [(n.base, n.index) for n in c.scope.nodes(Put)]
    for base, index in indexed:
        if isinstance(known(base), Tensor):
            yield from (part for part in parts_of(index) if not isinstance(part, Slice))


def _as_index(node: Node) -> Expression:
    assert isinstance(node, Call)
    made = Call(expression("jnp.asarray"), [node.arguments[0], Name("int")])
    made.value = Tensor(kind="i")
    return made
