"""One call of a torch function: its arguments in torch, and the words that say what is special
about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

BIG, SMALL = 1e4, 1e-4
CLASSES = {
    torch.float64: ("float64",),
    torch.float32: ("float32",),
    torch.float16: ("float16", "half"),
    torch.bfloat16: ("bfloat16", "half"),
    torch.complex64: ("complex",),
    torch.complex128: ("complex",),
    torch.bool: ("bool",),
}


@dataclass(eq=False)
class Call:
    """Arguments for a torch function; `origin` says who gave them.

    `wide`: both sides have x64 on, and float64 is what they make of nothing. `settled`: OpInfo's
    function that keeps of a result what is determined, None where all is.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    origin: str = "edges"
    wide: bool = True
    settled: Any = None

    def flat(self) -> tuple[list[Any], Any]:
        """All arguments, lists and tuples taken apart, and how to put them together again."""
        leaves, spec = pytree.tree_flatten((list(self.args), self.kwargs))
        return leaves, spec

    def tensors(self) -> list[Any]:
        return [x for x in self.flat()[0] if isinstance(x, torch.Tensor)]

    def mapped(self, function: Any) -> Call:
        """The same call with `function(tensor)` for each tensor."""
        leaves, spec = self.flat()
        changed = [function(x) if isinstance(x, torch.Tensor) else x for x in leaves]
        args, kwargs = pytree.tree_unflatten(changed, spec)
        return Call(tuple(args), kwargs, self.origin, self.wide, self.settled)

    def replaced(self, place: int, value: Any) -> Call:
        """The same call with another value at one place of `flat`."""
        leaves, spec = self.flat()
        args, kwargs = pytree.tree_unflatten([*leaves[:place], value, *leaves[place + 1 :]], spec)
        return Call(tuple(args), kwargs, self.origin, self.wide, self.settled)

    @property
    def size(self) -> int:
        """How much there is to read in it."""
        return sum(int(t.numel() + t.ndim) for t in self.tensors()) + len(self.flat()[0])

    @property
    def signature(self) -> str:
        """What jit compiles for: shapes, dtypes, and all that is no tensor."""
        leaves, spec = self.flat()
        return f"{self.wide} {spec} {[_brief(x) for x in leaves]}"

    def text(self, name: str) -> str:
        """The call as Python, with the numbers of small tensors."""
        words = [_written(a) for a in self.args]
        words += [f"{k}={_written(v)}" for k, v in self.kwargs.items()]
        return f"{name}({', '.join(words)})"

    def brief(self, name: str) -> str:
        """The call in one line, tensors by dtype and shape."""
        words = [_brief(a) for a in self.args] + [
            f"{k}={_brief(v)}" for k, v in self.kwargs.items()
        ]
        return f"{name}({', '.join(words)})"

    def words(self, given: dict[str, Any]) -> frozenset[str]:
        """What a known difference may name it by; `given` are the arguments by the names that the
        rule has for them."""
        found: set[str] = set()
        tensors = self.tensors()
        for tensor in tensors:
            found |= _words_of(tensor)
        if len({t.shape for t in tensors}) > 1:
            found.add("shapes")
        if len({t.dtype for t in tensors}) > 1:
            found.add("dtypes")
        for name, value in given.items():
            found.add(name)
            if value is None or isinstance(value, (bool, int, float, str)):
                found.add(f"{name}={value}")
        return frozenset(found)


def _words_of(tensor: Any) -> set[str]:
    found = set(CLASSES.get(tensor.dtype, ("int",)))
    if tensor.ndim == 0:
        found.add("0-dim")
    if tensor.numel() == 0:
        return found | {"empty"}
    if 1 in tensor.shape:
        found.add("size-1")
    tests: dict[str, Callable[[Any], Any]] = {
        "nan": lambda x: x.isnan().any(),
        "inf": lambda x: x.isinf().any(),
        "zeros": lambda x: (x == 0).any(),
        "ties": lambda x: x.reshape(-1).unique().numel() < x.numel(),
        "big": lambda x: (x.abs() > BIG).any(),
        "small": lambda x: ((x.abs() < SMALL) & (x != 0)).any(),
        "negative": lambda x: (x < 0).any(),
    }
    dense = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    if dense.is_complex():
        dense = torch.view_as_real(dense.resolve_conj())
    dense = dense.double()
    return found | {word for word, test in tests.items() if bool(test(dense))}


def _brief(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype)[6:]}{list(value.shape)}"
    if isinstance(value, list):
        return f"[{', '.join(map(_brief, value))}]"
    if type(value) is tuple:
        return f"({''.join(f'{_brief(v)}, ' for v in value).rstrip()})"
    return repr(value)


def _written(value: Any) -> str:
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and value.numel() <= 12:
        if value.numel() == 0 and value.ndim != 1:
            return f"torch.empty({tuple(value.shape)}, dtype={value.dtype})"
        return f"torch.tensor({value.detach().tolist()}, dtype={value.dtype})"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if type(value) is tuple:
        return f"({''.join(f'{_written(v)}, ' for v in value).rstrip()})"
    return _brief(value)
