"""Numbers beside arrays, NumPy's functions of arrays, and numbers that become whole."""

from functools import partial

from ...facts.values.lattice import (
    INT,
    NARROW,
    SHAPE,
    USUAL,
    Method,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_traced,
)
from ...facts.values.numpy_names import computes_with_arrays
from ...facts.values.zero_dim import keeps
from ...model.copy import clone
from ...model.effects import BUFFER, Read, Support
from ...model.expressions import Attribute, Call, ForClause, Name, Starred
from ...model.names import own_word
from ...model.node import Expression, Node
from ...model.operators import Binary, Compare
from ...model.statements import Assign, For
from ...source.lower_ast import expression
from .conversion import Conversion
from .literals import known, simple
from .windows import WORDS

# --- tensors of one number ------------------------------------------------------------------------

_COMPARING = {
    **{"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal"},
    **{">": "greater", ">=": "greater_equal"},
}


def mark(c: Conversion, node: Node) -> bool:
    """Note the numbers that meet an array in an operation: `x * torch.tensor(2.0)`.

    Beside an array of their kind they do not count in torch, as Python's numbers do not in JAX.
    """
    sides: list[Node] = []
    if isinstance(node, Binary):
        sides = [node.left, node.right]
    elif isinstance(node, Assign) and node.operator and node.expression is not None:
        sides = [*node.targets, node.expression]
    elif isinstance(node, Compare) and node.operators[0] in _COMPARING:
        sides = [*node.operands]  # of `a < b < c` none: there are three
    elif isinstance(node, Call):
        called = known(node.function)
        if isinstance(called, Torch) and called.name in c.rulebook.table("MEETING"):
            pairs = list(zip(node.keywords, node.arguments))[-2:]
            sides = [a for w, a in pairs if w is None and not isinstance(a, Starred)]
        elif isinstance(called, Method) and f"torch.{called.name}" in c.rulebook.table("MEETING"):
            sides = [node.function.object, *node.arguments]  # type: ignore[attr-defined]
    if len(sides) == 2:
        for one, other in (sides, sides[::-1]):
            augmented = isinstance(node, Assign)  # `n = 0; n += torch.tensor(2)` makes an array
            if is_traced(known(other)) and not _is_number(c, other) and not augmented:
                _add(c, one)
            if one in c.beside:
                continue
            operator = node.operator if isinstance(node, (Binary, Assign)) else ""
            narrow = getattr(known(one), "width", USUAL) >= NARROW
            kept = keeps(known(other), known(one), operator)
            if not narrow and kept is not False:
                _keep(c, node, one, other, bool(kept))
    return False


def _keep(c: Conversion, node: Node, number: Node, array: Node, certain: bool) -> None:
    """`x * t.astype(x.dtype)`, of a tensor without dims that does not widen x in torch."""
    dtype: Expression | None = None
    assert isinstance(array, Expression) and isinstance(number, Expression)
    if simple(array) and not certain:  # it does where x has no dims, or is of a lower kind
        c.changes.wrap(number, lambda n: Call(Support("beside"), [n, clone(array)]))
        return
    if simple(array):
        dtype = Attribute(clone(array), "dtype")
    elif certain and isinstance(array, Call) and isinstance(array.function, Attribute):
        named = [
            f"torch.{array.function.name}",
            *(v.name for v in map(known, array.arguments) if isinstance(v, Torch)),
        ]
        text = next(filter(None, map(c.rulebook.constant, named)), None)
        dtype = expression(text) if text is not None else None
    if dtype is not None:
        c.changes.wrap(number, lambda n: Call(Attribute(n, "astype"), [dtype]))
    elif isinstance(node, (Binary, Compare)) and (word := _word(node)) is not None:
        function = expression(f"jnp.{word}")
        c.changes.replace(node, lambda n: Call(Support("in_narrow"), [function, *_sides(n)]))


def _word(node: Binary | Compare) -> str | None:
    return WORDS.get(node.operator) if isinstance(node, Binary) else _COMPARING[node.operators[0]]


def _sides(node: Binary | Compare) -> list[Expression]:
    return [node.left, node.right] if isinstance(node, Binary) else node.operands


def _add(c: Conversion, node: Node) -> None:
    while isinstance(node, Call) and _is_number(c, node):
        c.beside.add(node)
        node = node.arguments[0]


def _is_number(c: Conversion, node: Node) -> bool:
    """Whether an expression makes a tensor of one number, or computes with such a one alone."""
    if not isinstance(node, Call) or not node.arguments or node.keywords[0] is not None:
        return False
    called = known(node.function)
    if not isinstance(called, Torch) or not c.rulebook.find(f"{called.name}[beside]"):
        return False
    made, first = known(node), node.arguments[0]
    floating = isinstance(made, Tensor) and made.kind == "f"
    if any(word != "dtype" or not floating for word in node.keywords[1:]):
        return False
    value = known(first)
    return isinstance(value, Static) and value.type in ("int", "float") or _is_number(c, first)


# --- NumPy's numbers and functions ----------------------------------------------------------------


def of_numpy(c: Conversion, node: Call, name: str) -> bool:
    """`np.mean(x)` of what is traced is `jnp.mean(x)`; of lists jax.numpy takes those alone that
    are joined.
    """
    values: list[Value] = [
        Tensor() if _reads_state(argument) else known(argument) for argument in node.arguments
    ]
    if not computes_with_arrays(c.rulebook, name, values):
        return False
    name = name.removeprefix("numpy.")
    c.put(node.function, expression(f"jnp.{name}"))
    joins = name in ("array", "asarray", "concatenate", "stack", "hstack", "vstack")
    if isinstance(values[0], Sequence) and not joins:
        first = node.arguments[0]
        c.changes.wrap(first, lambda n: Call(expression("jnp.array"), [n]))
    for word, argument in zip(node.keywords, node.arguments) if name == "clip" else ():
        if (new := _CLIPPED.get(word or "")) is not None:
            c.changes.change(argument, partial(_respell, new))
    c.visit_all(node.arguments)
    return True


_CLIPPED = {"a_min": "min", "a_max": "max"}  # what np.clip calls them, and jnp.clip


def _respell(word: str, argument: Expression) -> None:
    assert isinstance(argument.parent, Call)
    argument.parent.respell(argument, word)


def _reads_state(node: Node) -> bool:
    """Whether it computes with a number that calls write, which is an array here:
    `self.temperature * 0.9`."""
    if isinstance(node, Binary):
        return _reads_state(node.left) or _reads_state(node.right)
    return isinstance(node, Read) and node.kind == BUFFER


# --- sizes, and whole numbers ---------------------------------------------------------------------

# Reductions that torch's tracer wants of sizes: of how many, and what one of them must be.
_REDUCTIONS: dict[str, tuple[int, Value]] = {
    "torch.min": (2, INT),
    "torch.max": (2, INT),
    "torch.minimum": (2, INT),
    "torch.maximum": (2, INT),
    "torch.prod": (1, SHAPE),
}
_CASTS = (Torch("torch.as_tensor"), Torch("torch.tensor"))


def static_sizes(node: Call, name: str) -> bool:
    """Whether a reduction is of sizes alone: `torch.prod(torch.tensor(x.shape[1:]))`."""
    count, expected = _REDUCTIONS.get(name, (0, INT))
    casts = [a for a in node.arguments if isinstance(a, Call) and len(a.arguments) == 1]
    if not count or len(node.arguments) != count or len(casts) != count:
        return False
    values = [known(a.arguments[0]) for a in casts if known(a.function) in _CASTS]
    tensors = any(isinstance(v, Tensor) for v in values)
    return len(values) == count and expected in values and not tensors


_BINDING: tuple[type[Node], ...] = (Assign, For, ForClause)
_TO_WHOLE = frozenset("int long short floor ceil round trunc to type".split())


def becomes_whole(c: Conversion, node: Call) -> bool:
    """Whether what a call makes is cast or rounded: `torch.linspace(-1, n, s).int()`, where the
    last digit counts.
    """
    casts = [call for call in c.scope.nodes(Call) if own_word(call.function) in _TO_WHOLE]
    names: set[str] = set()
    if not casts:
        return False
    for assign in c.scope.nodes(*_BINDING):
        if isinstance(assign, Assign):
            source, targets = assign.expression, assign.targets
        else:
            assert isinstance(assign, (For, ForClause))
            source, targets = assign.iterable, [assign.target]
        if source is not None and any(n is node or _names(n) & names for n in source.walk()):
            names |= {name for target in targets for n in target.walk() for name in _names(n)}
    return any(n is node or _names(n) & names for call in casts for n in call.walk())


def _names(node: Node) -> set[str]:
    return {node.id} if isinstance(node, Name) else set()
