"""Prove that a converted model of any target computes what the torch module does: outputs,
gradients, state, lowering."""

import contextlib
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .copies import copied
from .models import filled
from .sides import arrays_of, cast, is_random, jax_side, leaves, quiet, torch_side, without_dropout

STRICT = 1e-7  # float64, relative and absolute


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
    jax_model: Any,
    *inputs: Any,
    training: bool = False,
    dtype: str = "float64",
    **keywords: Any,
) -> Report:
    """Compare outputs, gradients for params and inputs, and what is held after the call, under jit.

    `jax_model` is a module of the functional output, an nnx.Module, an eqx.Module, or
    (eqx.Module, state); it stays as it is, as weights are carried over to a copy. `inputs` are
    torch tensors or anything else that both sides take. float64 is strict (1e-7); in float32 the
    JAX error against float64 may be at most twice torch's own.
    """
    report = Report()
    model = jax_model[0] if isinstance(jax_model, tuple) else jax_model
    _compare(report, torch_module, model, inputs, keywords, training, dtype)
    return report


def _compare(
    report: Report,
    torch_module: Any,
    model: Any,
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
    with contextlib.ExitStack() as around:
        around.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        around.enter_context(jax.enable_x64(True))
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
        exact = want = torch_side(ran := reference, args, kwargs)
        if not wide:
            torch.set_default_dtype(torch.float32)
            around.enter_context(jax.enable_x64(False))
            narrow = copied(before).float()
            args = [cast(x, torch.float32) for x in inputs]
            kwargs = {k: cast(v, torch.float32) for k, v in keywords.items()}
            before = copied(narrow)
            want = torch_side(ran := narrow, args, kwargs)
        with quiet(model, silenced), jax.default_matmul_precision("highest"):
            got = jax_side(filled(before, model, training), args, kwargs)
        bound = _bound(want[0]) if wide else _twice
        _rows(report, "output", tag, got[0], want[0], exact[0], bound)
        _rows(report, "gradient", tag, got[1], _once(before, want[1], got[1]), exact[1], bound)
        held = _held(before, want[2], got[2], set(ran.state_dict()))
        if held:
            _rows(report, "state", tag, got[2], held, exact[2], bound)


def _bound(want: list[Any]) -> Any:
    """What the model itself makes in float32 is right to a few units in its last place."""
    kinds = (float(np.finfo(y.dtype).eps) for y in want if y.dtype.kind in "fc")
    strict = max(STRICT, 64 * max(kinds, default=0.0))
    return lambda mine, theirs, true: _strict(mine, theirs, strict)


def _once(module: Any, want: dict[str, Any], got: dict[str, Any]) -> dict[str, Any]:
    """Of the names of a tied weight those that it has in JAX, or else the first."""
    names: dict[int, list[str]] = {}
    for name, param in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(param), []).append(name)
    left = set()
    for tied in names.values():
        left |= set(tied) - ({n for n in tied if n in got} or {tied[0]})
    return {name: value for name, value in want.items() if name not in left}


def _held(
    before: Any, want: dict[str, Any], got: dict[str, Any], saved: set[str]
) -> dict[str, Any]:
    """The buffers that JAX has too, and those that the call has changed: it must have them, but for
    new ones that torch does not save either, as caches."""
    begun = {k: v.detach().numpy() for k, v in before.named_buffers(remove_duplicate=False)}
    changed = {
        k for k, v in want.items() if (k in saved if k not in begun else _differs(v, begun[k]))
    }
    return {k: v for k, v in want.items() if k in got or k in changed}


def _differs(value: Any, begun: Any) -> bool:
    return not np.array_equal(value, begun, equal_nan=value.dtype.kind in "fc")


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


def verify_lowering(
    torch_module: Any,
    jax_model: Any,
    *inputs: Any,
    platforms: tuple[str, ...] = ("cpu", "cuda", "tpu"),
) -> Report:
    """Lower the jitted model for each platform, which needs none of them."""
    import jax

    report = Report()
    model = filled(torch_module, jax_model, False)
    arrays = arrays_of(list(inputs))
    places = [i for i, a in enumerate(arrays) if hasattr(a, "dtype")]

    def run(params: Any, rest: Any, xs: Any) -> Any:
        full = list(arrays)
        for i, x in zip(places, xs):
            full[i] = x
        return leaves(model.run(params, rest, full, {})[0])

    for platform in platforms:
        try:
            exported = jax.export.export(jax.jit(run), platforms=[platform])(
                model.params, model.rest, [arrays[i] for i in places]
            )
            report.rows.append(Row("lowering", platform, bool(exported.mlir_module_serialized)))
        except Exception as error:
            report.rows.append(
                Row(
                    "lowering", platform, False, None, f"{type(error).__name__}: {str(error)[:120]}"
                )
            )
    return report
