"""Copies of torch modules in which nothing leads back to the original."""

import copy
import types
from typing import Any


def copied(module: Any) -> Any:
    """A deep copy, the closures of functions that the module holds included.

    `self.mlpf = lambda x: m.c_proj(m.act(m.c_fc(x)))`: deepcopy takes functions as they are, so
    that the copy would call the submodules of the original, in their dtype. What was computed with
    gradients, as the weight that `weight_norm` leaves on a layer, has no deep copy in torch: its
    values go along.
    """
    kept = (v for child in module.modules() for v in vars(child).values())
    memo: dict[int, Any] = {
        id(v): v.detach().clone() for v in kept if getattr(v, "grad_fn", None) is not None
    }
    new = copy.deepcopy(module, memo)
    for child in new.modules():
        for name, value in vars(child).items():
            if isinstance(value, types.FunctionType) and value.__closure__:
                vars(child)[name] = _over(value, memo)
    return new


def _over(function: types.FunctionType, memo: dict[int, Any]) -> types.FunctionType:
    """The same function over the copies of what it closes over."""
    cells = tuple(
        types.CellType(memo.get(id(cell.cell_contents), cell.cell_contents))
        for cell in function.__closure__ or ()
    )
    new = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, cells
    )
    new.__kwdefaults__ = function.__kwdefaults__
    return new
