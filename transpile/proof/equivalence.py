"""Prove that a converted module computes what the torch module does: outputs, gradients, state,
initial values, lowering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .copies import copied
from .sides import (
    arrays_of,
    caller,
    cast,
    flatten,
    is_random,
    jax_side,
    leaves,
    quiet,
    torch_side,
    without_dropout,
)
from .weights import _tensors, from_torch

STRICT = 1e-7  # float64, relative and absolute
DRAWS = 4000  # elements of a tensor compared by distribution
SIGMAS = 6.0


@dataclass(frozen=True)
class Row:
    """One comparison: `error` is the largest difference, scaled by max(1, the largest value)."""

    check: str
    name: str
    ok: bool
    error: float | None = None
    note: str = ""


@dataclass
class Report:
    """All comparisons of one module."""

    rows: list[Row] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return bool(self.rows) and all(row.ok for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, "rows": [asdict(row) for row in self.rows]}


def verify(
    torch_module: Any,
    jax_module: Any,
    *inputs: Any,
    training: bool = False,
    dtype: str = "float64",
    **keywords: Any,
) -> Report:
    """Compare outputs and gradients under jit, and in training mode the new state.

    `inputs` are torch tensors or anything else that both sides take. float64 is strict (1e-7); in
    float32 the JAX error against float64 may be at most twice torch's own. Weights are carried over
    by `from_torch`.
    """
    report = Report()
    _compare(report, torch_module, jax_module, inputs, keywords, training, dtype)
    return report


def _compare(
    report: Report,
    torch_module: Any,
    jax_module: Any,
    inputs: Any,
    keywords: Any,
    training: bool,
    dtype: str,
) -> None:
    import jax
    import torch

    mode = "train" if training else "eval"
    tag = f"{mode} {dtype}"
    wide = dtype == "float64"
    default = torch.get_default_dtype()
    x64 = jax.config.jax_enable_x64
    try:
        torch.set_default_dtype(torch.float64)
        jax.config.update("jax_enable_x64", True)
        reference = copied(torch_module).double().train(training)
        silenced = without_dropout(reference) if training else []
        args = [cast(x, torch.float64) for x in inputs]
        kwargs = {k: cast(v, torch.float64) for k, v in keywords.items()}
        if training and is_random(reference, args, kwargs):
            report.rows.append(
                Row(
                    "output", tag, True, None, "not compared: draws random numbers in training mode"
                )
            )
            return
        before = copied(reference)
        want, want_grads, want_state = torch_side(reference, args, kwargs)
        exact = (want, want_grads, want_state)
        if not wide:
            torch.set_default_dtype(torch.float32)
            jax.config.update("jax_enable_x64", False)
            narrow = copied(before).float()
            args = [cast(x, torch.float32) for x in inputs]
            kwargs = {k: cast(v, torch.float32) for k, v in keywords.items()}
            before = copied(narrow)
            want, want_grads, want_state = torch_side(narrow, args, kwargs)
        with quiet(jax_module, silenced), jax.default_matmul_precision("highest"):
            got, got_grads, got_state = jax_side(jax_module, before, args, kwargs, training)
        narrowest = max(
            (float(np.finfo(y.dtype).eps) for y in want if y.dtype.kind in "fc"), default=0.0
        )
        strict = max(
            STRICT, 64 * narrowest
        )  # what the model itself makes in float32 is right to a few units in its last place
        bound = (lambda mine, theirs, true: _strict(mine, theirs, strict)) if wide else _twice
        _rows(report, "output", tag, got, want, exact[0], bound)
        _rows(report, "gradient", tag, got_grads, want_grads, exact[1], bound)
        if training and got_state:
            _rows(
                report,
                "state",
                tag,
                got_state,
                {k: v for k, v in want_state.items() if k in got_state},
                exact[2],
                bound,
            )
    finally:
        torch.set_default_dtype(default)
        jax.config.update("jax_enable_x64", x64)


def _strict(mine: Any, theirs: Any, bound: float) -> tuple[bool, float]:
    if mine.shape != theirs.shape:
        return False, float("inf")
    if not mine.size:
        return True, 0.0
    ok = bool(np.allclose(mine, theirs, bound, bound, equal_nan=True))
    return ok, _error(mine, theirs)


def _twice(mine: Any, theirs: Any, true: Any) -> tuple[bool, float]:
    """The JAX error against float64 at most twice torch's own, beyond a few last units."""
    if mine.shape != true.shape:
        return False, float("inf")
    if not mine.size:
        return True, 0.0
    floor = 64 * float(np.finfo(np.float32).eps)
    own, other = _error(mine, true), _error(theirs, true)
    return own <= max(2 * other, floor), own


def _error(a: Any, b: Any) -> float:
    a, b = np.asarray(a, np.complex128 if np.iscomplexobj(a) else np.float64), np.asarray(b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    scale = max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0.0)))
    difference = np.abs(a - b)[~same]
    return float(difference.max(initial=0.0)) / scale


def _rows(
    report: Report, check: str, tag: str, got: Any, want: Any, exact: Any, bound: Any
) -> None:
    if isinstance(want, list):
        if len(got) != len(want):
            report.rows.append(Row(check, tag, False, None, f"{len(got)} arrays for {len(want)}"))
            return
        triples = [(str(i), g, w, e) for i, (g, w, e) in enumerate(zip(got, want, exact))]
    else:
        triples = [(k, got[k], w, exact.get(k, w)) for k, w in want.items() if k in got]
        missing = [k for k in want if k not in got and np.abs(want[k]).max(initial=0.0) > 0]
        if missing:
            report.rows.append(Row(check, tag, False, None, f"missing: {', '.join(missing[:5])}"))
    worst, ok, note = 0.0, True, ""
    for name, g, w, e in triples:
        fine, error = bound(g, w, e)
        if not fine:
            ok, note = False, note or f"{name} differs"
        worst = max(worst, error)
    report.rows.append(Row(check, tag, ok, worst, note or f"{len(triples)} arrays"))


def verify_init(make_torch: Callable[[], Any], jax_module: Any) -> Report:
    """Compare the distributions of initial values: mean, spread and bounds over many draws."""
    import jax
    import torch

    report = Report()
    torch.manual_seed(0)
    first = make_torch()
    size = min((p.numel() for p in first.parameters()), default=1)
    times = max(2, min(64, DRAWS // max(size, 1)))
    torch_draws = [_tensors(m) for m in [first, *(make_torch() for _ in range(times - 1))]]
    for where, make, called in (
        ("params", jax_module.init, "params"),
        ("state", jax_module.init_state, "buffers"),
    ):
        made = jax.jit(make)
        jax_draws = [flatten(made(k)) for k in jax.random.split(jax.random.key(0), times)]
        names = [n for n, (kind, _) in torch_draws[0].items() if kind == where]
        bad = []
        missing = (
            set(flatten(from_torch(first, jax_module)[0])) - set(jax_draws[0])
            if where == "params"
            else set()
        )
        if missing:
            bad.append(f"not made: {', '.join(sorted(missing)[:5])}")
        for name in names:
            if name not in jax_draws[0]:
                continue  # tied: stored once under another name; a constant is no state
            a = np.stack([np.asarray(d[name][1], np.float64) for d in torch_draws])
            b = np.stack([np.asarray(d[name], np.float64) for d in jax_draws])
            why = _distribution(a, b)
            if why:
                bad.append(f"{name}: {why}")
        extra = (
            set(jax_draws[0]) - set(names) if where == "params" else ()
        )  # what is no buffer of torch can be state here
        if extra:
            bad.append(f"not in torch: {', '.join(sorted(extra)[:5])}")
        if names:
            report.rows.append(
                Row(
                    "init",
                    f"{times} draws",
                    not bad,
                    None,
                    "; ".join(bad[:3]) or f"{len(names)} {called}",
                )
            )
    return report


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


def verify_lowering(
    torch_module: Any,
    jax_module: Any,
    *inputs: Any,
    platforms: tuple[str, ...] = ("cpu", "cuda", "tpu"),
) -> Report:
    """Lower the jitted module for each platform, which needs none of them."""
    import jax

    report = Report()
    params, state = from_torch(torch_module, jax_module)
    call = caller(jax_module, False)
    arrays = arrays_of(list(inputs))
    places = [i for i, a in enumerate(arrays) if hasattr(a, "dtype")]

    def run(params: Any, xs: Any) -> Any:
        full = list(arrays)
        for i, x in zip(places, xs):
            full[i] = x
        return leaves(call(params, state, full, {})[0])

    for platform in platforms:
        try:
            exported = jax.export.export(jax.jit(run), platforms=[platform])(
                params, [arrays[i] for i in places]
            )
            report.rows.append(Row("lowering", platform, bool(exported.mlir_module_serialized)))
        except Exception as error:
            report.rows.append(
                Row(
                    "lowering", platform, False, None, f"{type(error).__name__}: {str(error)[:120]}"
                )
            )
    return report
