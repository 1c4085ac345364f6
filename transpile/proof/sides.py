"""Both sides of a comparison, run: outputs, gradients and buffers of torch and of JAX."""

from typing import Any

import numpy as np

from .copies import copied
from .models import Filled
from .weights import in_each


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
    """The same rates set to 0 in the JAX model for a while."""

    def __init__(self, model: Any, names: list[str]) -> None:
        self.model, self.names = model, names
        self.saved: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> None:
        self.saved = []
        for dotted in self.names:
            *path, attribute = dotted.split(".")
            owner: Any = self.model
            for part in path:
                owner = below(owner, part)
            if attribute == "p" and not hasattr(owner, "p"):
                attribute = "rate"  # of nnx.Dropout
            if hasattr(owner, attribute):
                self.saved.append((owner, attribute, getattr(owner, attribute)))
                object.__setattr__(owner, attribute, 0.0)  # past the frozen classes of Equinox

    def __exit__(self, *_: object) -> None:
        for owner, attribute, value in self.saved:
            object.__setattr__(owner, attribute, value)


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
    """Outputs, gradients and what is held after the call; a tied weight has all its names."""
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
    named = {k: p for k, p in module.named_parameters(remove_duplicate=False) if p.requires_grad}
    grads: dict[str, Any] = {}
    if isinstance(total, torch.Tensor):
        found = torch.autograd.grad(total, [*named.values(), *floats], allow_unused=True)
        values = [
            torch.zeros_like(p) if g is None else g
            for p, g in zip([*named.values(), *floats], found)
        ]
        grads = dict(zip([*named, *(f"input {i}" for i in range(len(floats)))], values))
    state = {k: v.detach().numpy() for k, v in module.named_buffers(remove_duplicate=False)}
    return [y.detach().numpy() for y in out], {k: g.numpy() for k, g in grads.items()}, state


def jax_side(model: Filled, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
    """The same of a converted model, under jit."""
    import jax
    import jax.numpy as jnp

    arrays, named = arrays_of((args, kwargs))
    places = [i for i, a in enumerate(arrays) if hasattr(a, "dtype")]
    floats = [i for i in places if jnp.issubdtype(arrays[i].dtype, jnp.floating)]
    float_names = [
        k for k, v in named.items() if hasattr(v, "dtype") and jnp.issubdtype(v.dtype, jnp.floating)
    ]

    def run(params: Any, rest: Any, inputs: Any, by_name: Any) -> Any:
        full = list(arrays)
        for i, x in zip(floats, inputs):
            full[i] = x
        return model.run(params, rest, full, {**named, **by_name})

    def loss(params: Any, rest: Any, inputs: Any, by_name: Any) -> Any:
        out = leaves(run(params, rest, inputs, by_name)[0])
        return sum(jnp.sum(y * jnp.cos(y)) for y in out if jnp.issubdtype(y.dtype, jnp.floating))

    given = (
        model.params,
        model.rest,
        [arrays[i] for i in floats],
        {k: named[k] for k in float_names},
    )
    out, state = jax.jit(run)(*given)
    ys = leaves(out)
    grads: dict[str, Any] = {}
    if any(jnp.issubdtype(y.dtype, jnp.floating) for y in ys):
        tree, more, named_more = jax.jit(jax.grad(loss, (0, 2, 3), allow_int=True))(*given)
        grads = {k: np.asarray(v) for k, v in model.named(tree).items()}
        grads |= {f"input {i}": np.asarray(g) for i, g in enumerate([*more, *named_more.values()])}
    kept = {k: np.asarray(v) for k, v in state.items() if hasattr(v, "dtype")}
    return [np.asarray(y) for y in ys], grads, kept


def below(owner: Any, part: str) -> Any:
    """What a model has under one part of a name of torch's; None where it has nothing."""
    try:
        held = isinstance(owner, dict) or not hasattr(owner, part) and hasattr(owner, "__getitem__")
        return owner[int(part) if part.isdigit() else part] if held else getattr(owner, part, None)
    except (IndexError, KeyError, TypeError):
        return None
