"""A converted class of a target beside torch's, in float64: outputs, gradients, and state after two
calls in training; weights are torch's, and nothing draws."""

import contextlib
import inspect
import re
import sys
import types
from pathlib import PurePosixPath

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import torch
from flax import nnx

from transpile import from_torch, to_torch
from transpile.command import engine
from transpile.source.files import Source


def verify(source: str, cls: str, init: str, inputs, target: str, told=(), modes=(False, True)):
    """Raises AssertionError where the two differ; `told`: the diagnostics there are."""
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert [d.id for d in made.diagnostics] == list(told), (made.diagnostics, made.code)
    torch_side, scope = namespace(source, "program"), converted(made.code, support)
    with in_float64():
        torch.manual_seed(0)
        theirs = eval(f"{cls}({init})", torch_side)
        ours = built(eval(f"lambda **k: {cls}({init}{', ' if init else ''}**k)", scope), scope[cls])
        draws = any(isinstance(m, torch.nn.Dropout) and m.p for m in theirs.modules())
        if not has_modes(source, made.code, support or ""):
            modes = modes[-1:]
        for training in modes[: 2 - draws]:
            compare(theirs.train(training), ours, inputs, target, training)


def has_modes(*texts: str) -> bool:
    """Whether a program, or what it was converted to, may compute something else in training."""
    return any(MODES.search(text) for text in texts)


MODES = re.compile("train|eval|inference|deterministic|average|Norm|Drop|drop|RReLU|rrelu|Transf|LSTM|GRU")


@contextlib.contextmanager
def in_float64():
    """Both sides make float64 of what has no dtype."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with jax.enable_x64(True):
            yield
    finally:
        torch.set_default_dtype(default)


def given(source: str) -> Source:
    return Source(PurePosixPath("module.py"), source, "utf-8", False, "\n")


def namespace(source: str, name: str) -> dict:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    return module.__dict__


def converted(code: str, support: str | None) -> dict:
    namespace(support or "", "jax_nn")
    return namespace(code, "converted")


def built(make, cls):
    """The model, with random streams or a key where its constructor takes them."""
    takes = inspect.signature(cls.__init__).parameters
    if "rngs" in takes:
        return make(rngs=nnx.Rngs(0))
    return make(key=jax.random.key(0)) if "key" in takes else make()


def compare(theirs, ours, inputs, target, training, values=True, varied=()):
    """Outputs, gradients for params and the inputs that are varied, and state; without `values`
    shapes and dtypes alone."""
    arrays = [jnp.asarray(x.detach().numpy()) for x in inputs]
    runs = {"flax": flax_run, "equinox": equinox_run, "functional": functional_run}
    run = runs[target](theirs, ours, training, arrays, varied)
    for _ in range(1 + training):
        theirs.zero_grad()
        given = [x.detach().clone().requires_grad_(i in varied) for i, x in enumerate(inputs)]
        want = leaves(theirs(*(x.clone() for x in given)))
        losses = [(y * y.cos()).sum() for y in want if y.requires_grad]
        if losses:  # a model without params has no gradients
            sum(losses).backward()
        got, (grads, slopes), arrays_after = run()
        for a, b in zip(leaves(got), want, strict=True):
            close(a, b, values)
        for name, param in theirs.named_parameters():
            if name in grads and param.requires_grad:  # else it may be a buffer here
                close(grads[name], torch.zeros_like(param) if param.grad is None else param.grad, values)
        for slope, x in zip(slopes, (given[i] for i in varied), strict=True):
            close(slope, torch.zeros_like(x) if x.grad is None else x.grad, values)
        for name, value in theirs.state_dict().items():
            if name in arrays_after:
                close(arrays_after[name], value, values)


def differentiated(loss):
    """The gradients for both arguments of the loss, and what more it gives."""
    return jax.jit(jax.grad(loss, argnums=(0, 1), has_aux=True))


def total(out):
    """What is differentiated: a sum over the outputs that are no integers."""
    return sum(jnp.sum(y * jnp.cos(y)) for y in leaves(out) if jnp.issubdtype(y.dtype, jnp.inexact))


def filled(arrays, varied, floats):
    """The inputs, with these in the places that are varied."""
    return [floats[varied.index(i)] if i in varied else x for i, x in enumerate(arrays)]


def flax_run(theirs, ours, training, arrays, varied=()):
    model = from_torch(theirs, ours)
    model.train() if training else model.eval()
    graph, params, rest = nnx.split(model, nnx.Param, ...)

    @differentiated
    def gradients(params, floats, rest):
        inputs = filled(arrays, varied, floats)
        model = nnx.merge(graph, params, rest, copy=True)
        out = model(*inputs)
        return total(out), (out, nnx.split(model, nnx.Param, ...)[2])

    def run():
        nonlocal rest
        (grads, slopes), (out, rest) = gradients(params, [arrays[i] for i in varied], rest)
        named = {k: v.numpy() for k, v in to_torch(nnx.merge(graph, grads, rest)).items()}
        return out, (named, slopes), to_torch(nnx.merge(graph, params, rest))

    return run


def equinox_run(theirs, ours, training, arrays, varied=()):
    model, state = from_torch(theirs, ours)
    model = eqx.nn.inference_mode(model, not training)
    params, static = eqx.partition(model, eqx.is_inexact_array)
    takes = inspect.signature(model.__call__).parameters

    @differentiated
    def gradients(params, floats, state):
        inputs = filled(arrays, varied, floats)
        model = eqx.combine(params, static)
        words = {"key": jax.random.key(0)} if "key" in takes else {}
        words |= {} if state is None else {"state": state}
        out = model(*inputs, **words)
        out, new = (out, None) if state is None else out
        return total(out), (out, new)

    def run():
        nonlocal state
        (grads, slopes), (out, state) = gradients(params, [arrays[i] for i in varied], state)
        whole = eqx.combine(params, static)
        return out, (to_torch(eqx.combine(grads, static), state), slopes), to_torch(whole, state)

    return run


def functional_run(theirs, ours, training, arrays, varied=()):
    params, state = from_torch(theirs, ours)
    for begun, loaded in ((ours.init, params), (ours.init_state, state)):
        begun = jax.eval_shape(begun, jax.random.key(0))
        assert jax.tree.map(jnp.shape, begun) == jax.tree.map(jnp.shape, loaded)
    call = vars(sys.modules["jax_nn"])["call"]

    @differentiated
    def gradients(params, floats, state):
        inputs = filled(arrays, varied, floats)
        out, new = call(ours.__call__, params, state, *inputs, key=jax.random.key(0), training=training)
        return total(out), (out, new)

    def run():
        nonlocal state
        (grads, slopes), (out, state) = gradients(params, [arrays[i] for i in varied], state)
        named = {k: v.numpy() for k, v in to_torch(grads, {}).items()}
        return out, (named, slopes), to_torch(params, state)

    return run


def leaves(value):
    if isinstance(value, dict):
        value = [value[name] for name in sorted(value)]  # as jit gives it back
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value] if hasattr(value, "dtype") else []


def close(ours, theirs, values=True):
    ours, theirs = np.asarray(ours), theirs.detach().numpy()
    if values:
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
    assert (ours.shape, ours.dtype.kind) == (theirs.shape, theirs.dtype.kind)
