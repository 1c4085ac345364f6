"""Convert a small program, run it under jit and compare it with torch in float64, with its derivatives."""

import functools
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import torch

from transpile import convert_source, from_torch
from transpile.proof.models import constructed

HEAD = "import math\n\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
# Dropout and rates of its own, running statistics, a tie under the name that torch does not list, a buffer that no
# checkpoint has, one that counts, and arguments by name.
SPEAKER = """
class M(nn.Module):
    def __init__(self, n=5, d=4, dropout=0.5):
        super().__init__()
        self.tokens = nn.Embedding(n, d)
        self.body = nn.Sequential(nn.Linear(d, d), nn.Dropout(dropout))
        self.norm = nn.BatchNorm1d(d)
        self.dropout = dropout
        self.head = nn.Linear(d, n, bias=False)
        self.tokens.weight = self.head.weight
        self.register_buffer("scale", torch.ones(d), persistent=False)
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, ids, bias=None):
        self.calls += 1
        x = F.dropout(self.body(self.tokens(ids)), self.dropout, self.training)
        x = self.head(self.norm(x * self.scale))
        return x if bias is None else x + bias
"""


def source_of(body):
    """A whole file from the body of `def f(x, y)`, or from definitions that end in an `f`."""
    if "def f(" in body:
        return HEAD + body + "\n"
    return f"{HEAD}def f(x, y):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def load(result):
    """The namespace of converted code."""
    support = types.ModuleType("jax_nn")
    exec(compile(result.support, "jax_nn.py", "exec"), support.__dict__)
    sys.modules["jax_nn"] = support
    scope = {}
    exec(compile(result.code, "converted.py", "exec"), scope)
    return scope


def both_modules(source, result, *args):
    """An instance of the class M of a source, and one of what it was converted to."""
    torch_side = {}
    exec(compile(source, "program.py", "exec"), torch_side)
    return torch_side["M"](*args), load(result)["M"](*args)


def speakers(target, changed=("", ""), **given):
    """The class M of the source above, and how one is made in a target from a key, of a source in which something may be
    another."""
    scope = {}
    exec(compile(HEAD + SPEAKER, "program.py", "exec"), scope)
    result = convert_source(HEAD + SPEAKER.replace(*changed), target)
    assert not result.diagnostics
    cls = load(result)["M"]
    return scope["M"], lambda key: constructed(cls, (), given, key)


def compare_twice(source, running):
    """Run the class M of a source twice against torch, as `running` of the module says, and compare outputs and then the state."""
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch.manual_seed(0)
    torch_module, jax_module = both_modules(source, result)
    params, state = from_torch(torch_module, jax_module)
    run = running(jax_module)
    for x in torch.randn(2, 4, 3):
        want = leaves(torch_module(x))
        got, state = run(params, state, jnp.asarray(x.numpy()))
        for g, w in zip(leaves(got), want, strict=True):
            np.testing.assert_allclose(g, array(w), 1e-5, 1e-6, err_msg=result.code)
    want = held(torch_module, state)
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, 1e-5, 1e-6, err_msg=result.code), state, want)


def both(body, diagnostics=()):
    """torch's f, the converted f, and the converted code; the diagnostics must be these."""
    source = source_of(body)
    result = convert_source(source)
    assert [d.id for d in result.diagnostics] == list(diagnostics), (result.diagnostics, result.code)
    torch_side = {}
    exec(compile(source, "program.py", "exec"), torch_side)
    return torch_side["f"], load(result)["f"], result.code


def reported(body):
    """The ids of the diagnostics that a program gives."""
    return {d.id for d in convert_source(source_of(body)).diagnostics}


def held(module, state):
    """What torch's module, or a dict that one keeps, holds by the names of a state: buffers, whose shapes may have changed, and what
    forward passes set."""
    if not isinstance(state, dict):
        return array(module)
    part = module.get if isinstance(module, dict) else lambda name: getattr(module, name)
    return {name: held(part(name), value) for name, value in state.items()}


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v)]
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in leaves(v)]
    return [] if value is None else [value]


def array(value):
    return value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)


def compare(body, inputs, diagnostics=()):
    """Outputs under jit, and derivatives along a fixed direction (backwards too, where no while_loop is in the way)."""
    torch_f, jax_f, code = both(body, diagnostics)
    run = jax.jit(jax_f)
    # once for all inputs whose outputs have slopes in the same places
    slopes_of = functools.cache(lambda differentiable: _derivatives(jax_f, code, differentiable))
    for tensors in inputs:
        tensors = [t.clone().requires_grad_() for t in tensors]
        want = leaves(torch_f(*[t.clone() for t in tensors]))
        arrays = [jnp.asarray(array(t)) for t in tensors]
        got = leaves(run(*arrays))
        assert len(got) == len(want), code
        for g, w in zip(got, want):
            assert np.shape(g) == np.shape(array(w)), code
            np.testing.assert_allclose(g, array(w), 1e-9, 1e-9, err_msg=code)
        differentiable = tuple(isinstance(w, torch.Tensor) and w.requires_grad for w in want)
        if not any(differentiable):
            continue
        total = sum((w * w.cos()).sum() for w, d in zip(want, differentiable) if d)
        slopes = torch.autograd.grad(total, tensors, allow_unused=True)
        slopes = [np.zeros(t.shape) if g is None else g.numpy() for g, t in zip(slopes, tensors)]
        direction = [np.sin(np.arange(a.size, dtype=float) + 1).reshape(a.shape) for a in arrays]
        forward, backward = slopes_of(differentiable)(arrays, direction)
        if forward is not None:
            along = sum((d * s).sum() for d, s in zip(direction, slopes))
            np.testing.assert_allclose(forward, along, 1e-8, 1e-9, err_msg=code)
        for g, s in zip(backward, slopes):
            np.testing.assert_allclose(g, s, 1e-8, 1e-9, err_msg=code)


def _derivatives(jax_f, code, differentiable):
    """What gives, for arrays and a direction, the slope of a sum along it, and the gradients; None and none where JAX
    has no such derivative: forward of custom_vjp, backward through a while_loop."""

    def loss(*xs):
        return sum((o * jnp.cos(o)).sum() for o, d in zip(leaves(jax_f(*xs)), differentiable) if d)

    @jax.jit
    def derivatives(arrays, direction):
        forward = None if "Function)" in code else jax.jvp(loss, arrays, direction)[1]
        if "while_loop" in code or "fori_loop" in code:
            return forward, ()
        return forward, jax.grad(loss, tuple(range(len(arrays))))(*arrays)

    return derivatives


def three(shape=(4, 6)):
    """Three pairs of inputs that take different branches: mixed, mostly positive, mostly negative."""
    generator = torch.Generator().manual_seed(7)
    for shift in (0.0, 1.5, -1.5):
        yield [torch.randn(shape, generator=generator, dtype=torch.float64) + shift for _ in range(2)]
