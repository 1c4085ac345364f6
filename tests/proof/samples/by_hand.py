"""Samples that people write, for functions of which torch has none and whose arguments nothing
tells.

They stand in `tests/rules/samples.py`, in a table SAMPLES of torch's names, each with a function
that gives calls:

    SAMPLES = {"torch.foo": lambda: [given(torch.ones(2, 3), dim=1), given(torch.zeros(0))]}
"""

from pathlib import Path
from typing import Any

import torch

from ..functions import imported
from .calls import Call
from .modules import Sample

FILE = Path("tests/rules/samples.py")


def given(*args: Any, **kwargs: Any) -> Call:
    """One call by hand; what it gives in float64 is compared in gradients too."""
    call = Call(args, kwargs, "by hand")
    dtypes = {t.dtype for t in call.tensors()}
    call.wide = not dtypes or bool(dtypes & {torch.float64, torch.complex128})
    return call


def built(*args: Any, **kwargs: Any) -> Sample:
    """How a layer is constructed; `built(3, bias=False).called(x)` is a sample of it."""
    return Sample(args, kwargs)


def calls(path: Path) -> dict[str, list[Any]]:
    """The calls of a file by torch's names; none where there is no file. Raises what the file
    raises."""
    if not path.exists():
        return {}
    return _Lazily(vars(imported(path))["SAMPLES"])


class _Lazily(dict[str, Any]):
    """Calls that are made when they are asked for."""

    def get(self, name: str, default: Any = None) -> Any:
        return self[name]() if name in self else default
