"""Compare the initial values of a converted model with torch's, by their distributions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dialects.equinox import runtime as equinox
from ..dialects.flax import runtime as flax
from .checkpoints import from_torch
from .equivalence import Report, Row
from .weights import flatten, to_numpy

DRAWS = 4000  # elements of a tensor compared by distribution
SIGMAS = 6.0


def verify_init(make_torch: Callable[[], Any], jax_model: Any) -> Report:
    """Compare the distributions of initial values: mean, spread and bounds over many draws.

    `jax_model` is a module of the functional output, or a function from a key to a new model of
    another target.
    """
    import jax
    import torch

    report = Report()
    torch.manual_seed(0)
    first = make_torch()
    size = min((p.numel() for p in first.parameters()), default=1)
    times = max(2, min(64, DRAWS // max(size, 1)))
    ours, filled_params = _drawn(first, jax_model, jax.random.split(jax.random.key(0), times))
    made = [first, *(make_torch() for _ in range(times - 1))]
    for place, called in enumerate(("params", "buffers")):
        theirs = [_arrays(m)[place] for m in made]
        draws = [pair[place] for pair in ours]
        bad = []
        unmade = set(filled_params) - set(draws[0]) if called == "params" else set()
        if unmade:
            bad.append(f"not made: {', '.join(sorted(unmade)[:5])}")
        # tied: stored once under another name; a constant is no state
        for name in (n for n in theirs[0] if n in draws[0]):
            a = np.stack([np.asarray(d[name], np.float64) for d in theirs])
            b = np.stack([np.asarray(d[name], np.float64) for d in draws])
            why = _distribution(a, b)
            if why:
                bad.append(f"{name}: {why}")
        # what is no buffer of torch can be state here
        extra = set(draws[0]) - set(theirs[0]) if called == "params" else ()
        if extra:
            bad.append(f"not in torch: {', '.join(sorted(extra)[:5])}")
        if theirs[0]:
            note = "; ".join(bad[:3]) or f"{len(theirs[0])} {called}"
            report.rows.append(Row("init", f"{times} draws", not bad, None, note))
    return report


def _drawn(original: Any, model: Any, keys: Any) -> tuple[list[Any], Any]:
    """The initial params and state for each key, by torch's names; and the params that torch's
    weights fill."""
    import jax

    if hasattr(model, "init_state"):
        init, init_state = jax.jit(model.init), jax.jit(model.init_state)
        draws = [(flatten(init(k)), flatten(init_state(k))) for k in keys]
        return draws, flatten(from_torch(original, model)[0])
    from_torch(original, model(keys[0]))  # raises where a name is on one side alone
    made = jax.jit(lambda key: _held(model(key)))
    try:
        return [made(k) for k in keys], ()
    except jax.errors.JAXTypeError:  # a constructor that asks what it has made
        return [_held(model(k)) for k in keys], ()


def _held(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The params of a model that was just constructed, and what else it saves, by torch's names."""
    if flax.is_model(model):
        found = {name: v.get_value() for name, v in flax.arrays(model).items()}
        trained = list(flax.params(model))
    else:
        found, trained = equinox.arrays(model), equinox.params(model)
    params = {name: found.pop(name) for name in trained}
    return params, {name: value for name, value in found.items() if value is not None}


def _arrays(module: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The params and buffers of a torch module."""
    params = module.named_parameters(remove_duplicate=False)
    buffers = module.named_buffers(remove_duplicate=False)
    return {k: to_numpy(v) for k, v in params}, {k: to_numpy(v) for k, v in buffers}


def _distribution(a: Any, b: Any) -> str:
    """Why two samples are not of one distribution, or nothing."""
    if a.shape != b.shape:
        return f"shape {b.shape[1:]} for {a.shape[1:]}"
    a, b = a.ravel(), b.ravel()
    n = a.size
    if a.std() == 0:
        return "" if np.allclose(a, b) else f"{b.flat[0]:.4g} for {a.flat[0]:.4g}"
    if abs(a.mean() - b.mean()) > SIGMAS * np.sqrt((a.var() + b.var()) / n):
        return f"mean {b.mean():.4g} for {a.mean():.4g}"
    kurtosis = ((a - a.mean()) ** 4).mean() / a.var() ** 2
    spread = SIGMAS * a.std() * np.sqrt(max(kurtosis - 1, 0.1) / (2 * n))
    if n > 50 and abs(a.std() - b.std()) > spread + 1e-9:
        return f"standard deviation {b.std():.4g} for {a.std():.4g}"
    bounded = np.abs(a).max() < 2.0 * a.std()  # uniform: its bounds are sharp
    if bounded and np.abs(b).max() > 1.02 * np.abs(a).max() and n > 500:
        return f"bound {np.abs(b).max():.4g} for {np.abs(a).max():.4g}"
    return ""
