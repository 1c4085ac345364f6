"""Tests of arrays that have a dim and one element: torch takes their truth, under jit a condition
has no dims.

    self.register_buffer("ready", torch.zeros(1))
    if not self.ready:                  ->                  if not self.ready.reshape(()):
"""

from collections.abc import Iterator
from dataclasses import replace

from ...facts.values.lattice import Tensor
from ...model.expressions import Attribute, Call, Display
from ...model.node import Expression, Node
from ...model.operators import Boolean, Compare, Conditional, Unary
from ...model.statements import If, While
from .conversion import Conversion
from .literals import known


def condition(c: Conversion, node: Node) -> bool:
    """Ask for the element; what is below is seen to as everywhere."""
    assert isinstance(node, (If, While, Conditional))
    if c.traced:
        for part in _arrays(node.test):
            c.changes.wrap(part, _element)
    return False


def _arrays(test: Expression) -> Iterator[Expression]:
    """The arrays with a dim that a test is of."""
    if isinstance(test, Boolean):
        yield from _arrays(test.left)
        yield from _arrays(test.right)
    elif isinstance(test, Unary) and test.operator == "not":
        yield from _arrays(test.operand)
    elif isinstance(test, Compare):
        if not {"is", "is not", "in", "not in"}.intersection(test.operators):
            for operand in test.operands:
                yield from _arrays(operand)
    else:
        value = known(test)
        if isinstance(value, Tensor) and value.dims and not (value.assumed or value.none):
            yield test


def _element(node: Expression) -> Expression:
    made = Call(Attribute(node, "reshape"), [Display("tuple", [])])
    value = known(node)
    made.value = replace(value, dims=0) if isinstance(value, Tensor) else None
    return made
