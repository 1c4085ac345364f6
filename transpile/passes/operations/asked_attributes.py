"""`hasattr` of what may be an array: JAX's have other attributes than tensors.

hasattr(m.weight, "requires_grad")  ->  m.weight is not None
hasattr(x, "detach")                ->  isinstance(x, jax.Array)
hasattr(x, "astype")                ->  hasattr(x, "astype") and not isinstance(x, jax.Array)
hasattr(x, "cpu")                   ->  hasattr(x, "cpu") or isinstance(x, jax.Array)
"""

from ...facts.values.attribute_names import OF_ARRAYS_ALONE
from ...facts.values.lattice import External, Tensor
from ...model.copy import clone
from ...model.effects import Read
from ...model.expressions import Call, Constant, Name
from ...model.node import Expression
from ...model.operators import Boolean, Compare, Unary
from ...source.lower_ast import expression
from .conversion import Conversion
from .literals import known

_OF_TENSORS_ALONE = frozenset({"requires_grad", "grad_fn", "is_leaf", "is_cuda", "detach"})
# of tensors, and maybe of others, but not of JAX's arrays
_OF_TENSORS = frozenset("contiguous cpu cuda numel numpy permute to unsqueeze".split())


def attribute_asked(c: Conversion, node: Call) -> bool:
    """A call of `hasattr` that JAX would answer otherwise; False for any other."""
    if known(node.function) != External("builtins.hasattr") or len(node.arguments) != 2:
        return False
    subject, name = node.arguments
    text, value = name.constant if isinstance(name, Constant) else None, known(subject)
    of_tensors = c.rulebook.knows(f"torch.Tensor.{text}")
    if isinstance(subject, Read) and subject.kind in ("param", "buffer"):
        if not of_tensors:
            return False
        c.changes.replace(node, lambda n: Compare([n.arguments[0], Constant(None)], ["is not"]))
    elif isinstance(value, Tensor) and (value.host or value.number is not False):
        return False
    elif text in _OF_TENSORS_ALONE or of_tensors and isinstance(value, Tensor):
        c.changes.replace(node, lambda n: _is_array(n.arguments[0]))
    elif text in OF_ARRAYS_ALONE:
        c.changes.wrap(node, lambda n: Boolean(n, "and", Unary("not", _is_array(clone(subject)))))
    elif text in _OF_TENSORS:
        c.changes.wrap(node, lambda n: Boolean(n, "or", _is_array(clone(subject))))
    else:
        return False
    c.visit_all([subject])
    return True


def _is_array(subject: Expression) -> Call:
    return Call(Name("isinstance"), [subject, expression("jax.Array")])
