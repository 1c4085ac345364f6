"""Entries of lists and dicts of arrays in the state: the state gets a list with another entry.

self.sums["b"] = x    →    Write(self.sums, with_entry(self.sums, "b", x))

Set in place the entry would change in the state that the caller still has, too.
"""

from ...model.copy import clone
from ...model.effects import Read, Support, Write
from ...model.expressions import Call, Constant, Name, Subscript
from ...model.operators import Binary
from ...model.program import Function
from ...model.statements import Assign, Block
from ..threading.signatures import Signatures


def write(function: Function, signatures: Signatures) -> None:
    """Make the stores of entries of one function writes of the whole."""
    for assign in function.nodes(Assign):
        target, block = assign.targets[0], assign.parent
        if len(assign.targets) > 1 or not isinstance(block, Block):
            continue
        if not isinstance(target, Subscript) or assign.expression is None:
            continue
        held = target.object
        if isinstance(held, Read) and signatures.is_state(held):
            value = assign.expression
            if assign.operator:  # `self.sums["b"] += x`
                if not isinstance(target.index, (Constant, Name)):
                    continue
                value = Binary(clone(target), assign.operator, value)
            given = [clone(held), clone(target.index), value]
            whole = Call(Support("with_entry"), given)
            block.substitute(assign, [Write(held, whole)])
