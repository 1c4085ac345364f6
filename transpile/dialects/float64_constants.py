"""Functions that compute constants in float64 do so without JAX's 64 bit types too, and round once.

    betas = torch.linspace(1e-4, 0.02, 1000, dtype=torch.float64)
    self.register_buffer("v", torch.cumprod(1 - betas, 0).float())

Computed in float32 the last of these differ from torch's by several units in the last place, and
`log(1 - alphas)` by all of its digits. What forward passes compute of data stays in JAX's dtypes.
"""

import re
from collections.abc import Iterable, Iterator

from ..facts.program import ProgramFacts
from ..facts.values.lattice import NUMPY, Static, Tensor
from ..model.effects import Support
from ..model.expressions import Attribute, Call, Name
from ..model.names import dotted
from ..model.node import Node
from ..model.operators import Compare
from ..model.program import Class, File, Function
from .support.definitions import PRELUDES

_WIDE = frozenset({"jnp.float64", "jnp.double", "jnp.complex128"})
_MADE_BY = frozenset({"jnp.asarray", "jnp.array"})
_WORD = re.compile(r"^[ \t]*((?:async\s+)?def\b)", re.MULTILINE)
# What the decorator is, in the support files of all dialects.
PRELUDE = PRELUDES / "precision.py"


def mark(files: Iterable[File], facts: ProgramFacts) -> None:
    """Decorate the functions that compute constants in float64, also by way of others: those that
    no forward pass runs, the methods and properties among them that make constants."""
    candidates = [f for file in files for f in _functions(file) if not facts.stages.in_forward(f)]
    wide: set[Function] = set()
    while True:
        found = {f for f in candidates if _is_wide(f, wide, facts)}
        if found <= wide:
            break
        wide |= found
    for function in [f for f in candidates if f in wide]:
        _decorate(function, Support("in_float64"))


def _decorate(function: Function, decorator: Support) -> None:
    """Put a decorator below those that there are; the parameters keep their layout and comments."""
    above = function.decorators[-1:]
    function.decorators.append(decorator)
    function.adopt()
    place = function.start
    if above and place >= 0 and function.file is not None:
        word = _WORD.search(function.file.text, above[0].end, function.body.start)
        place = -1 if word is None or above[0].start < 0 else word.start(1)
    if place < 0:
        function.restate()
        return
    decorator.slot = place, place
    function.touch()


def _functions(scope: File | Class) -> Iterator[Function]:
    """The functions of a file, and the methods of its classes."""
    for statement in scope.body.body:
        if isinstance(statement, Function) and statement.name not in ("__call__", "forward"):
            yield statement
        elif isinstance(statement, Class):
            yield from _functions(statement)


def _is_wide(function: Function, wide: set[Function], facts: ProgramFacts) -> bool:
    if function.yields:
        return False
    names = {f.name for f in wide if f.name != "__init__"}
    if function.name == "__init__" and function.owner is not None:  # `super().__init__()`
        above = set(facts.modules.lineage(function.owner)[1:])
        names |= {f.name for f in wide if f.name == "__init__" and f.owner in above}
    return any(_computes(node, names) for node in function.body.walk())


def _computes(node: Node, wide: set[str]) -> bool:
    """Whether a node names float64, hands on what NumPy has in it, or calls what is wide."""
    if isinstance(node, Attribute) and dotted(node) in _WIDE:
        return not any(isinstance(n, Compare) for n in node.ancestors())
    if not isinstance(node, Call):
        return False
    function = node.function
    word = dotted(function) or (function.name if isinstance(function, Attribute) else "")
    if isinstance(function, (Name, Attribute)) and word.rpartition(".")[2] in wide:
        return True
    return (word in _MADE_BY or isinstance(function, Support)) and _takes_numpy(node)


def _takes_numpy(call: Call) -> bool:
    """`jnp.asarray(betas)` of an array of NumPy's, which is float64 unless something says
    otherwise."""
    parent = call.parent
    cast = isinstance(parent, Attribute) and parent.name == "astype"
    if cast or len(call.arguments) != 1:
        return False
    function = call.function
    if isinstance(function, Support) and function.name != "tensor":
        return False
    value = call.arguments[0].value
    numbers = isinstance(value, Static) and value.type == NUMPY.type
    return numbers or isinstance(value, Tensor) and value.host
