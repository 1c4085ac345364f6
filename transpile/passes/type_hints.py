"""Torch's types in type hints are JAX's.

def forward(self, x: torch.Tensor) -> Tensor:    →    (self, x: jax.Array) -> jax.Array:
"""

from collections.abc import Iterator
from typing import Any

from ..model.effects import Support
from ..model.expressions import Attribute, Constant, Display, Name
from ..model.names import dotted
from ..model.node import Expression
from ..model.program import File, Function, Parameter, Scope
from ..model.statements import Assign
from ..source.lower_ast import expression
from ..source.splice import show
from .pass_ import Changes, Pass

ARRAYS = frozenset(
    f"torch.{word}"
    for word in (
        "Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor "
        "ShortTensor ByteTensor CharTensor BoolTensor nn.Parameter autograd.Variable "
        "nn.parameter.Parameter Variable"
    ).split()
)
TYPES = {"torch.dtype": "jnp.dtype", "torch.Size": "tuple", "torch.device": "str"}
MODULES = ("torch.nn.Module", "torch.nn.modules.module.Module", "torch.nn.modules.Module")


def run(scope: Scope, facts: Any) -> Changes:
    """Write the annotations of one scope; what names a thing of torch's that has no counterpart
    goes, or is quoted: nobody needs it."""
    changes = Changes(scope)
    file = scope if isinstance(scope, File) else scope.file
    for whole in _annotations(scope) if file is not None else ():
        assert file is not None
        found = [(part, _meaning(part, file, facts)) for part in _names(whole)]
        made = [(p, _type(n, facts)) for p, n in found if n.partition(".")[0] == "torch"]
        if isinstance(whole, Constant) and (quoted := _quoted(whole, file, facts)) is not None:
            changes.replace(whole, Constant(quoted))
        elif all(new is not None for _, new in made):
            for part, new in made:
                changes.replace(part, lambda _, new=new: new)  # type: ignore[misc]
        elif isinstance(whole.parent, Parameter):
            changes.replace(whole.parent, lambda p: Parameter(p.name, p.kind, None, p.default))
        elif not isinstance(whole, Constant):
            changes.replace(whole, Constant(show(whole).replace('"', "'")))
    return changes


def _quoted(whole: Constant, file: File, facts: Any) -> str | None:
    """What stands in quotes beside a name alone: `"Optional[Tensor]"`; None where nothing of it is
    torch's, or has no counterpart.
    """
    text = whole.constant if isinstance(whole.constant, str) else ""
    if not text or text.replace(".", "").isidentifier():
        return None
    try:
        inner = Display("list", [expression(text)])
    except SyntaxError:
        return None
    found = [(part, _meaning(part, file, facts)) for part in _names(inner)]
    made = [(p, _type(n, facts)) for p, n in found if n.partition(".")[0] == "torch"]
    if not made or any(new is None or isinstance(new, Support) for _, new in made):
        return None
    for part, new in made:
        if new is not None:
            part.replace(new)
    return show(inner.elements[0])


def _meaning(part: Expression, file: File, facts: Any) -> str:
    """The dotted name of what an annotation names, if it is from outside of the project."""
    word = part.constant if isinstance(part, Constant) else dotted(part)
    found = facts.modules.project.resolve(file, word) if word else None
    return found if isinstance(found, str) else ""


def _annotations(scope: Scope) -> Iterator[Expression]:
    for function in scope.nodes(Function):
        given = [p.annotation for p in function.parameters]
        yield from (a for a in [*given, function.returns] if a is not None)
    for assign in scope.nodes(Assign):
        if assign.annotation is not None:
            yield assign.annotation


def _names(whole: Expression) -> Iterator[Expression]:
    """The names in an annotation; quoted ones too, where a name is all that is quoted."""
    if isinstance(whole, (Name, Attribute)):
        yield whole
    elif isinstance(whole, Constant):
        if isinstance(whole.constant, str) and whole.constant.replace(".", "").isidentifier():
            yield whole
    else:
        for child in whole.children():
            if isinstance(child, Expression):
                yield from _names(child)


def _type(name: str, facts: Any) -> Expression | None:
    layer = facts.modules.library.find(name)
    if layer is not None:
        return Support(layer.name)
    if name in ARRAYS:
        return expression("jax.Array")
    if name in MODULES:
        return Support("Module")
    return expression(TYPES[name]) if name in TYPES else None


PASS = Pass("type_hints", ("modules",), run)
