"""Run the rules as functions on torch's own OpInfo samples: values in float32, gradients in float64.

    python -m benchmarks.rules [--only REGEX] [--samples N] [--dtype float32] [--grad] [-v]

Last line: how many operations are right, refused (Unsupported), missing (no rule), wrong.
"""

import argparse
import collections
import inspect
import re
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import torch

from tests.proof.arrays import leaves, to_jax, to_numpy
from tests.proof.functions import overloads, plain_keywords, rule_modules, select
from tests.proof.samples.torch_samples import sample_inputs
from transpile.rule import Unsupported

NOT_OPERATIONS = re.compile(r"^(jiterator|_|ops\.)|\._|_refs")
RANDOM = set(
    "bernoulli multinomial normal rand_like randn_like randint_like randint randn uniform exponential geometric cauchy"
    " log_normal nn.functional.dropout nn.functional.dropout2d nn.functional.dropout3d nn.functional.alpha_dropout"
    " nn.functional.feature_alpha_dropout_with_train nn.functional.rrelu pca_lowrank svd_lowrank empty empty_like"
    " new_empty new_empty_strided empty_strided empty_permuted nn.functional.fractional_max_pool2d"
    " nn.functional.fractional_max_pool3d nn.functional.feature_alpha_dropout_without_train".split()
)


def check_values(got, want, tolerance, values=True):
    got, want = leaves(got, jax.Array), leaves(want, torch.Tensor)
    assert len(got) == len(want), f"{len(got)} results for {len(want)}"
    for g, w in zip(got, want):
        if not isinstance(w, torch.Tensor):
            assert g == w or isinstance(w, float) and np.isclose(float(g), w, *tolerance, equal_nan=True), f"{g!r} for {w!r}"
            continue
        w, g = to_numpy(w), np.asarray(g)
        assert g.shape == w.shape, f"shape {g.shape} for {w.shape}"
        kind = lambda d: "i" if d.kind == "u" and d.itemsize > 1 else d.kind
        assert kind(g.dtype) == kind(w.dtype), f"dtype {g.dtype} for {w.dtype}"
        if values:
            if g.dtype == jnp.bfloat16:
                g, w = g.astype(np.float32), w.astype(np.float32)
            np.testing.assert_allclose(g, w, *tolerance, equal_nan=True)


def check_gradient(function, call, args, kwargs, torch_args, torch_kwargs):
    """jax.vjp against torch's gradient of sum(y * cos(y)) over the float tensors in args (one level of lists too)."""
    flat, spec = torch.utils._pytree.tree_flatten((list(torch_args), torch_kwargs))
    where = [i for i, x in enumerate(flat) if isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())]
    if not where:
        return
    inputs = [flat[i].detach().clone().requires_grad_() for i in where]
    full = list(flat)
    for i, x in zip(where, inputs):
        full[i] = x
    a, k = torch.utils._pytree.tree_unflatten(full, spec)
    out = [y for y in leaves(call(*a, **k), torch.Tensor) if isinstance(y, torch.Tensor) and y.requires_grad and y.numel()]
    out = [y.to_dense() if y.layout != torch.strided else y for y in out]
    if not out:
        return
    total = sum((torch.view_as_real(y.resolve_conj()) if y.is_complex() else y).cos().sum() for y in out)
    want = torch.autograd.grad(total, inputs, allow_unused=True)
    mask = [isinstance(y, torch.Tensor) and y.requires_grad and y.numel() > 0 for y in leaves(call(*a, **k), torch.Tensor)]

    def loss(xs):
        full = list(flat)
        for i, x in zip(where, xs):
            full[i] = x
        a, k = torch.utils._pytree.tree_unflatten(full, spec)
        key = {"key": jax.random.key(0)} if "key" in inspect.signature(function).parameters else {}
        a = [to_jax(v) for v in a]
        k = plain_keywords(function, {n: to_jax(v) for n, v in k.items()})
        ys = [y for y, m in zip(leaves(function(*a, **k, **key), jax.Array), mask) if m]
        return sum((jnp.stack([y.real, y.imag]) if jnp.iscomplexobj(y) else y).__array_namespace__().cos(jnp.stack([y.real, y.imag]) if jnp.iscomplexobj(y) else y).sum() for y in ys)

    got = jax.grad(loss)([jnp.asarray(to_numpy(x)) for x in inputs])
    for g, w, x in zip(got, want, inputs):
        w = torch.zeros_like(x) if w is None else w
        w = to_numpy(w)
        np.testing.assert_allclose(np.conj(np.asarray(g)), w, 1e-6, 1e-7, equal_nan=True)


def torch_callee(op):
    target = torch
    for part in op.name.split("."):
        target = getattr(target, part, None)
    if callable(target):
        return f"torch.{op.name}", target
    method = getattr(torch.Tensor, op.name, None)
    return (f"torch.Tensor.{op.name}", method) if callable(method) else None


def outcome(op, table, options):
    dtype = getattr(torch, options.dtype)
    name, call = torch_callee(op)
    candidates = table.get(name)
    tolerance = (1e-4, 1e-5) if dtype in (torch.float32, torch.complex64) else (1e-2, 1e-2) if dtype == torch.bfloat16 else (1e-9, 1e-9)
    torch.manual_seed(0)
    refused = ""
    gradient = options.grad and op.supports_autograd and dtype in (torch.float64, torch.complex128)
    for number, sample in enumerate(sample_inputs(op, dtype)):
        if options.samples and number >= options.samples:
            break
        torch_args, torch_kwargs = (sample.input, *sample.args), sample.kwargs
        detached = torch.utils._pytree.tree_map(lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, (torch_args, torch_kwargs))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = call(*detached[0], **detached[1])
        except Exception:
            continue
        if not candidates:
            return "missing", ""
        described = f"{brief(torch_args)}, {brief(torch_kwargs)}"
        args, kwargs = [to_jax(a) for a in torch_args], {k: to_jax(v) for k, v in torch_kwargs.items()}
        function = select(candidates, args, kwargs)
        if function is None:
            refused = refused or f"no overload for {described}"
            continue
        try:
            key = {"key": jax.random.key(0)} if "key" in inspect.signature(function).parameters else {}
            got = function(*args, **plain_keywords(function, kwargs), **key)
            check_values(got, want, tolerance, op.name not in RANDOM)
            if gradient and op.name not in RANDOM:
                check_gradient(function, call, args, kwargs, torch_args, torch_kwargs)
        except Unsupported as e:
            refused = refused or f"{described}: {e}"
        except Exception as e:
            if options.verbose:
                import traceback
                traceback.print_exc()
            return "wrong", f"{described}: {type(e).__name__}: {' '.join(str(e).split())}"[:400]
    return ("refused", refused[:300]) if refused else ("right", "")


def brief(value):
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype)[6:]}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(map(brief, value)) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}={brief(v)}" for k, v in value.items()) + "}"
    return repr(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="regular expression on the operation's name")
    parser.add_argument("--samples", type=int, default=0, help="at most this many samples an operation (0: all)")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--grad", action="store_true", help="gradients too (use --dtype float64)")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.dtype in ("float64", "complex128", "int64"):
        jax.config.update("jax_enable_x64", True)
    if options.dtype in ("float64", "complex128"):
        torch.set_default_dtype(torch.float64)
    jax.config.update("jax_default_matmul_precision", "highest")
    from torch.testing._internal.common_methods_invocations import op_db

    table = overloads(rule_modules())
    count, seen = collections.Counter(), {}
    for op in op_db:
        supported = getattr(torch, options.dtype) in op.supported_dtypes("cpu")
        if not supported or NOT_OPERATIONS.search(op.name) or not re.search(options.only, op.full_name) or not torch_callee(op):
            continue
        kind, why = outcome(op, table, options)
        if seen.get(op.name, "right") == "right":
            seen[op.name] = kind
        if kind != "right":
            print(f"{kind:8} {op.full_name:40} {why}", flush=True)
    count.update(seen.values())
    print(f"{count['right']} of {len(seen)} right ({count['refused']} refused, {count['missing']} missing, {count['wrong']} wrong)")


if __name__ == "__main__":
    main()
