"""Compare a layer of the functional output with torch's: the same weights and inputs, outputs and gradients, in
float64 under jax.jit."""

import contextlib
import types

import jax
import jax.numpy as jnp
import numpy as np
import torch

from transpile import convert_source


@contextlib.contextmanager
def float64():
    """Both libraries compute in float64 inside."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    try:
        with jax.enable_x64(True), jax.default_matmul_precision("highest"):
            yield
    finally:
        torch.set_default_dtype(before)


def written(*names, asked=()):
    """The support file for these layers, named as in ``torch.nn``, and methods of theirs: what the functional output makes of them."""
    layers = ", ".join(f"nn.{name}" for name in names)
    result = convert_source(f"from torch import nn\n\nLAYERS = [{layers}]\nASKED = {list(asked)}\n")
    assert not {d.id for d in result.diagnostics} - {"taken-for-granted"}, result.diagnostics
    support = types.ModuleType("jax_nn")
    exec(compile(result.support, "jax_nn.py", "exec"), support.__dict__)
    return support


def nested(named_tensors):
    """The dict of a state_dict's arrays, split on the dots of its names."""
    tree = {}
    for name, tensor in named_tensors:
        *parents, leaf = name.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = to_jax(tensor)
    return tree


def to_jax(value):
    if isinstance(value, torch.Tensor):
        return jnp.asarray(value.detach().numpy())
    return type(value)(map(to_jax, value)) if isinstance(value, (tuple, list)) else value


def params_of(module):
    return nested(module.named_parameters())


def leaves(outputs):
    if isinstance(outputs, (tuple, list)):
        return [leaf for output in outputs for leaf in leaves(output)]
    return [] if outputs is None else [outputs]


def assert_same(got, want):
    got, want = leaves(got), leaves(want)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        np.testing.assert_allclose(np.asarray(g), w.detach().numpy(), 1e-7, 1e-9)


def fill(template, tree):
    """``tree`` in the order of ``template``, with its empty dicts: those of layers without params."""
    return {k: fill(v, tree.get(k, {})) if isinstance(v, dict) else tree[k] for k, v in template.items()}


def assert_equivalent(torch_module, layer, *inputs, **masks):
    """Outputs, and the gradients of sum(cos(output)) with respect to all params and the float inputs."""
    template = jax.eval_shape(layer.init, jax.random.key(0))
    params = fill(template, params_of(torch_module))
    assert jax.tree.map(jnp.shape, params) == jax.tree.map(lambda x: x.shape, template)
    inputs = [x.clone().requires_grad_() for x in inputs]
    want = torch_module(*inputs, **masks)
    sum(y.cos().sum() for y in leaves(want)).backward()
    options = {name: value for name, value in masks.items() if not isinstance(value, torch.Tensor)}

    @jax.jit
    def run(params, inputs, masks):
        def loss(params, inputs):
            got = leaves(layer(params, *inputs, **masks, **options))
            return sum(jnp.cos(y).sum() for y in got), got

        return jax.grad(loss, argnums=(0, 1), has_aux=True)(params, inputs)

    arrays = {name: to_jax(value) for name, value in masks.items() if name not in options}
    (slopes, input_slopes), got = run(params, to_jax(inputs), arrays)
    assert_same(got, want)
    want = fill(template, nested((name, p.grad) for name, p in torch_module.named_parameters()))
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, 1e-6, 1e-8), slopes, want)
    for g, x in zip(input_slopes, inputs):
        np.testing.assert_allclose(g, x.grad.numpy(), 1e-6, 1e-8)
