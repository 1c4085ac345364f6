"""What is given alone for a shape, the `n` of `torch.rand(n)`: a number, or all of the shape? It is
told by what else is done with it in its function, and in the class that keeps it.

self.n = n; torch.arange(self.n)        self.w = torch.zeros(n, 3)        n * 2        a number
"""

from collections.abc import Iterator

from ...model.effects import Support
from ...model.expressions import Attribute, Call, Constant, Display, Name
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Binary, Compare
from ...model.program import Class, Function
from ...model.statements import Assign
from ..values.lattice import Method, is_anything

_COUNTING = frozenset("range arange linspace randperm eye Linear Embedding GRU LSTM".split())


# of jax.random, which take no number for a shape
DRAWS = frozenset(("jax.random.normal", "jax.random.uniform"))


def drawn_shape(size: Expression) -> Expression:
    """The shape of a draw: `(n,)` of a number, `nn.as_shape(n)` of what may be one."""
    name, value = dotted(size), size.value
    of_unknown = isinstance(value, Method) and is_anything(value.receiver)
    if name is None or "shape" in name.rpartition(".")[2]:
        return size  # it is made here, or called so
    if not of_unknown and not is_anything(value):
        return size
    if any(map(_is_counted, _uses(size))):
        return Display("tuple", [size])
    return Call(Support("as_shape"), [size])


def _uses(node: Expression) -> Iterator[Node]:
    """The places of its function, and of the class that keeps it, where it stands."""
    name, function, cls = dotted(node), node.nearest(Function), node.nearest(Class)
    if function is None:
        return
    kept = {
        dotted(target)
        for assign in function.nodes(Assign)
        if assign.expression is not None and dotted(assign.expression) == name
        for target in assign.targets
        if isinstance(target, Attribute)
    }
    yield from (
        n for n in function.walk() if isinstance(n, (Name, Attribute)) and dotted(n) == name
    )
    own = {*kept, name} if isinstance(node, Attribute) else kept
    for use in cls.walk() if cls is not None and own else ():
        if isinstance(use, Attribute) and dotted(use) in own:
            yield use


def _is_counted(use: Node) -> bool:
    around = use.parent
    if isinstance(around, Binary):
        other = around.right if around.left is use else around.left
        number = isinstance(other, Constant) and isinstance(other.constant, (int, float))
        return number or around.operator in ("-", "/", "//", "%", "**")
    if isinstance(around, Compare):
        return any(isinstance(n, Constant) and type(n.constant) is int for n in around.children())
    if isinstance(around, Display):
        return isinstance(around.parent, Call) and around.kind != "set"
    if isinstance(around, Call) and use is not around.function:
        called = around.function
        word = called.name if isinstance(called, (Support, Attribute)) else dotted(called)
        return word in _COUNTING
    return False
