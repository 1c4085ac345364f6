"""Calls of torch's modules, its own (module_db; importing it takes seconds) or by hand, and a
constructor's arguments as JAX's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import torch
from torch.utils import _pytree as pytree

from transpile.rule import PLACEMENT

Table = Mapping[str, list[Callable[..., Any]]]
_recorded: dict[torch.nn.Module, dict[str, Any]] = {}


@dataclass(eq=False)
class Sample:
    """How a module is constructed, and what it is then called with."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    inputs: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)

    def called(self, *inputs: Any, **keywords: Any) -> Sample:
        """The same construction, called with these arguments."""
        return Sample(self.args, self.kwargs, inputs, keywords)

    def text(self) -> str:
        """Both calls in one line, tensors by dtype and shape."""
        first = _written(
            self.args, {k: v for k, v in self.kwargs.items() if k not in ("dtype", "device")}
        )
        return first + _written(self.inputs, self.keywords)

    @property
    def size(self) -> int:
        leaves = pytree.tree_leaves((self.inputs, self.keywords))
        numbers = sum(int(x.numel()) for x in leaves if isinstance(x, torch.Tensor))
        return numbers + len(self.text())


def _written(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    words = [*map(_brief, args), *(f"{k}={_brief(v)}" for k, v in kwargs.items())]
    return f"({', '.join(words)})"


def _brief(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype)[6:]}{list(value.shape)}"
    return repr(value)[:60]


def entries(name: str) -> list[Any]:
    """The entries of torch's module_db for a class, as `torch.nn.Linear`; or none."""
    from torch.testing._internal.common_modules import module_db

    return [info for info in module_db if f"torch.{info.name}" == name]


def samples(info: Any, training: bool) -> Iterator[Sample]:
    """torch's own samples of an entry of its module_db."""
    record_constructors()
    torch.manual_seed(0)
    made = info.module_inputs_func(
        info, device="cpu", dtype=torch.float64, requires_grad=False, training=training
    )
    for sample in made:
        first, then = sample.constructor_input, sample.forward_input
        yield Sample(first.args, first.kwargs, then.args, then.kwargs)


def without_placement(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in kwargs.items() if k not in PLACEMENT and k != "dtype"}


# ------------------------------------------------------------------ arguments of constructors


def to_jax(value: Any, table: Table) -> Any:
    """An argument as JAX's; modules and functions of torch's as the table has them."""
    if isinstance(value, torch.Tensor):
        return jnp.asarray(value.detach().numpy())
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, torch.dtype):
        return jnp.dtype(str(value).removeprefix("torch."))
    if isinstance(value, (list, tuple)):
        return type(value)(to_jax(v, table) for v in value)
    if isinstance(value, torch.nn.Module):
        return _module_like(value, table)
    return _function_like(value, table) if callable(value) else value


def _function_like(function: Any, table: Table) -> Any:
    names = [f"{prefix}.{function.__name__}" for prefix in ("torch.nn.functional", "torch")]
    return next((table[name][0] for name in names if name in table), function)


def _module_like(module: Any, table: Table) -> Any:
    """The layer for a module passed to a constructor, from the torch module's attributes."""
    cls = table[f"torch.nn.{type(module).__name__}"][0]
    given = recorded(module)
    names = [
        n for n in inspect.signature(type(module).__init__).parameters.items() if n[0] != "self"
    ]
    arguments = {
        n: given.get(n, p.default) for n, p in names if n not in PLACEMENT and n != "dtype"
    }
    taken = inspect.signature(cls).parameters
    return cls(**{n: to_jax(v, table) for n, v in arguments.items() if n in taken})


def recorded(module: torch.nn.Module) -> dict[str, Any]:
    """What a module was constructed with, if that was recorded."""
    return _recorded.get(module, {})


def record_constructors() -> None:
    """From now on, remember what the modules that are handed to other modules are constructed
    with."""
    for cls in (torch.nn.TransformerEncoderLayer, torch.nn.TransformerDecoderLayer):
        built = cls.__init__
        if hasattr(built, "recording"):
            continue

        def init(self: Any, *args: Any, _built: Any = built, **kwargs: Any) -> None:
            given = dict(inspect.signature(_built).bind(self, *args, **kwargs).arguments)
            del given["self"]
            _recorded[self] = given
            _built(self, *args, **kwargs)

        init.__signature__ = inspect.signature(built)  # type: ignore[attr-defined]
        init.recording = True  # type: ignore[attr-defined]
        cls.__init__ = init
