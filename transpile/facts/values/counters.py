"""Numbers of a module that one call leaves to the next: `self.step += 1`, `self.started = True`.

def forward(self, x):
    if not self.started:            read before it is written: of the call before
        self.mean.copy_(x.mean(0))
        self.started = True
    self.height = x.shape[2]        of this call: Python knows it, under jit too
"""

from ...model.expressions import Attribute
from ...model.names import dotted, everywhere, stored_by
from ...model.program import Class, Function
from ...model.statements import Assign
from .lattice import MISSING, Static, Tensor, Value
from .tables import Facts

_KINDS = {"bool": "b", "int": "i", "float": "f"}


def counted(facts: Facts, cls: Class, target: Attribute, value: Value) -> Value:
    """What an attribute of self is that a forward pass sets: the number that jit makes an array of,
    where a later call reads it."""
    if not isinstance(value, Static) or value.type not in _KINDS:
        return value
    left = _is_left(facts, cls, target.name) if _follows(target, value) else _asks(facts, target)
    return Tensor(kind=_KINDS[value.type], number=True) if left else value


def _asks(facts: Facts, target: Attribute) -> bool:
    """Whether the forward pass that sets it asks first what a call before left there: a size too is
    an array then. `if n != self.n: self.n = n`"""
    method = target.nearest(Function)
    asks = method is not None and target.name in _read_first(facts, method)
    return asks and facts.in_forward(method)


def _follows(target: Attribute, value: Static) -> bool:
    """Whether it is a number that is written out, or goes by what it was: no size of this call."""
    assign = target.parent
    if value.const is not MISSING or not isinstance(assign, Assign) or assign.expression is None:
        return value.const is not MISSING
    path = dotted(target)
    return bool(assign.operator) or any(dotted(node) == path for node in assign.expression.walk())


def _is_left(facts: Facts, cls: Class, name: str) -> bool:
    """Whether a method that a forward pass runs reads it before it sets it."""
    methods = (m for c in facts.project.family(cls) for m in facts.project.methods(c).values())
    return any(name in _read_first(facts, m) for m in methods if facts.in_forward(m))


def _read_first(facts: Facts, method: Function) -> frozenset[str]:
    """The attributes of self that a method reads before it sets them."""
    key = "read first", method
    if key not in facts.memory:
        own, first = facts.project.self_name(method), dict[str, bool]()
        for node in everywhere(method, Attribute):
            if dotted(node.object) == own:
                set_ = stored_by(node)
                first.setdefault(node.name, set_ is None or bool(set_.operator))
        facts.memory[key] = frozenset(name for name, read in first.items() if read)
    return facts.memory[key]  # type: ignore[no-any-return]
