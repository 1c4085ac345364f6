"""Both sides of a comparison, run: outputs, gradients and buffers of torch and of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .copies import copied
from .weights import from_torch, in_each


def cast(value: Any, dtype: Any) -> Any:
    return in_each(
        lambda v: v.to(dtype) if hasattr(v, "is_floating_point") and v.is_floating_point() else v,
        value,
    )


def arrays_of(value: Any) -> Any:
    """JAX's arrays for torch's tensors, also in dicts and lists."""
    import jax.numpy as jnp

    return in_each(lambda v: jnp.asarray(v.detach().numpy()) if hasattr(v, "detach") else v, value)


def without_dropout(module: Any) -> list[str]:
    """Set every dropout rate to 0; random masks cannot agree between the two sides."""
    names = []
    for name, child in module.named_modules():
        for attribute in ("p", "dropout", "attn_drop", "dropout_p"):
            if isinstance(getattr(child, attribute, None), float) and (
                "rop" in type(child).__name__ or attribute != "p"
            ):
                setattr(child, attribute, 0.0)
                names.append(f"{name}.{attribute}" if name else attribute)
    return names


class quiet:
    """The same rates set to 0 in the JAX module for a while."""

    def __init__(self, module: Any, names: list[str]) -> None:
        self.module, self.names, self.saved = module, names, []

    saved: list[tuple[Any, str, Any]]

    def __enter__(self) -> None:
        self.saved = []
        for dotted in self.names:
            *path, attribute = dotted.split(".")
            target: Any = self.module
            for part in path:
                target = getattr(target, part, None)
            if target is not None and hasattr(target, attribute):
                self.saved.append((target, attribute, getattr(target, attribute)))
                setattr(target, attribute, 0.0)

    def __exit__(self, *_: object) -> None:
        for target, attribute, value in self.saved:
            setattr(target, attribute, value)


def is_random(module: Any, args: Any, kwargs: Any) -> bool:
    import torch

    results = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        with torch.no_grad():
            results.append(leaves(copied(module)(*cloned(args), **cloned(kwargs))))
    return any(not torch.equal(a, b) for a, b in zip(*results))


def cloned(values: Any) -> Any:
    return in_each(lambda v: v.clone() if hasattr(v, "clone") else v, values)


def leaves(value: Any) -> list[Any]:
    """The arrays of an output, in order; dicts by sorted key."""
    if isinstance(value, dict):
        return [leaf for k in sorted(value, key=str) for leaf in leaves(value[k])]
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v)]
    return [value] if hasattr(value, "shape") and hasattr(value, "dtype") else []


def torch_side(module: Any, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
    import torch

    floats: list[Any] = []

    def track(value: Any) -> Any:
        if hasattr(value, "is_floating_point") and value.is_floating_point():
            leaf = value.detach().clone().requires_grad_()
            floats.append(leaf)
            return leaf.clone()  # a module may write its input in place
        return cloned(value)

    args, kwargs = [track(a) for a in args], {k: track(v) for k, v in kwargs.items()}
    out = leaves(module(*args, **kwargs))
    total = sum((y * torch.cos(y)).sum() for y in out if y.is_floating_point() and y.requires_grad)
    named = {k: p for k, p in module.named_parameters() if p.requires_grad}
    grads: dict[str, Any] = {}
    if isinstance(total, torch.Tensor):
        found = torch.autograd.grad(total, [*named.values(), *floats], allow_unused=True)
        values = [
            torch.zeros_like(p) if g is None else g
            for p, g in zip([*named.values(), *floats], found)
        ]
        grads = dict(zip([*named, *(f"input {i}" for i in range(len(floats)))], values))
    state = {k: v.detach().numpy() for k, v in module.named_buffers()}
    return [y.detach().numpy() for y in out], {k: g.numpy() for k, g in grads.items()}, state


def jax_side(
    module: Any, original: Any, args: Any, kwargs: Any, training: bool
) -> tuple[Any, Any, Any]:
    import jax
    import jax.numpy as jnp

    params, state = from_torch(original, module)
    call = caller(module, training)
    arrays, named = arrays_of((args, kwargs))
    places = [i for i, a in enumerate(arrays) if hasattr(a, "dtype")]
    floats = [i for i in places if jnp.issubdtype(arrays[i].dtype, jnp.floating)]
    float_names = [
        k for k, v in named.items() if hasattr(v, "dtype") and jnp.issubdtype(v.dtype, jnp.floating)
    ]

    def run(params: Any, inputs: Any, by_name: Any) -> Any:
        full = list(arrays)
        for i, x in zip(floats, inputs):
            full[i] = x
        return call(params, state, full, {**named, **by_name})

    def loss(params: Any, inputs: Any, by_name: Any) -> Any:
        out, new_state = run(params, inputs, by_name)
        total = sum(
            jnp.sum(y * jnp.cos(y)) for y in leaves(out) if jnp.issubdtype(y.dtype, jnp.floating)
        )
        return total, (out, new_state)

    inputs, by_name = [arrays[i] for i in floats], {k: named[k] for k in float_names}
    out, new_state = jax.jit(run)(params, inputs, by_name)
    ys = leaves(out)
    grads: dict[str, Any] = {}
    if any(jnp.issubdtype(y.dtype, jnp.floating) for y in ys):
        (tree, more, named_more) = jax.jit(
            jax.grad(lambda *a: loss(*a)[0], (0, 1, 2), allow_int=True)
        )(params, inputs, by_name)
        grads = {k: np.asarray(v) for k, v in flatten(tree).items()}
        grads |= {f"input {i}": np.asarray(g) for i, g in enumerate([*more, *named_more.values()])}
    return (
        [np.asarray(y) for y in ys],
        grads,
        {k: np.asarray(v) for k, v in flatten(new_state).items()},
    )


def caller(module: Any, training: bool) -> Callable[..., Any]:
    """`call(params, state, args, kwargs) -> (output, state)` for any converted module."""
    import jax

    key = jax.random.key(0)

    def call(params: Any, state: Any, args: Any, kwargs: Any) -> Any:
        return module.apply(params, state, *args, key=key, training=training, **kwargs)

    return call


def flatten(tree: Any, prefix: str = "") -> dict[str, Any]:
    """Nested dicts as a flat one with dotted names."""
    found: dict[str, Any] = {}
    for name, value in tree.items() if isinstance(tree, dict) else ():
        if isinstance(value, dict):
            found |= flatten(value, f"{prefix}{name}.")
        elif value is not None and np.asarray(value).dtype.kind in "fiubc":
            found[prefix + name] = value
    return found
