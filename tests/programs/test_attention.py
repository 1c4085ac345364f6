"""Attention and transformer layers against torch, with every form of mask."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from rules.attention import scaled_dot_product_attention

from ..against_torch import assert_equivalent, assert_same, float64, params_of, to_jax, written

MultiheadAttention = written("MultiheadAttention").MultiheadAttention
inf = float("inf")


@pytest.fixture(autouse=True)
def in_float64():
    with float64():
        yield


BLIND_ROW = torch.tensor([[False] * 5, [True, False, True, False, False], [True] * 5])
SDPA = {
    "plain": ((2, 4, 3, 8), (2, 4, 5, 8), {}),
    "three axes, scale": ((4, 3, 8), (4, 5, 8), {"scale": 0.3}),
    "two axes": ((3, 8), (5, 8), {}),
    "causal, more keys": ((2, 4, 3, 8), (2, 4, 5, 8), {"is_causal": True}),
    "causal, fewer keys": ((2, 4, 5, 8), (2, 4, 3, 8), {"is_causal": True}),
    "bool mask with a blind row": ((2, 4, 3, 8), (2, 4, 5, 8), {"attn_mask": BLIND_ROW}),
    "float mask with a blind row": ((2, 4, 3, 8), (2, 4, 5, 8), {"attn_mask": torch.where(BLIND_ROW, 0.5, -inf)}),
    "mask for each sample": ((2, 4, 3, 8), (2, 4, 5, 8), {"attn_mask": torch.stack([BLIND_ROW, ~BLIND_ROW])[:, None]}),
    "grouped queries": ((2, 4, 3, 8), (2, 2, 5, 8), {"enable_gqa": True}),
}


@pytest.mark.parametrize("case", SDPA)
def test_scaled_dot_product_attention(case):
    query, key, options = SDPA[case]
    options = {k: v.double() if torch.is_tensor(v) and v.dtype != torch.bool else v for k, v in options.items()}
    inputs = [torch.randn(shape, requires_grad=True) for shape in (query, key, key)]
    want = F.scaled_dot_product_attention(*inputs, **options)
    want.cos().sum().backward()
    keywords = {k: to_jax(v) for k, v in options.items()}

    def loss(*inputs):
        got = scaled_dot_product_attention(*inputs, **keywords)
        return jnp.cos(got).sum(), got

    slopes, got = jax.jit(jax.grad(loss, argnums=(0, 1, 2), has_aux=True))(*to_jax(inputs))
    assert_same(got, want)
    assert_same(slopes, [x.grad for x in inputs])


def test_values_may_be_of_another_width():
    q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 6)
    assert_same(scaled_dot_product_attention(*map(to_jax, (q, k, v))), F.scaled_dot_product_attention(q, k, v))


def test_dropout_of_the_function_always_acts():
    x = jnp.ones((2, 3, 4))
    assert (scaled_dot_product_attention(x, x, x, dropout_p=1.0, key=jax.random.key(0)) == 0).all()


def test_half_types_compute_in_float32():
    q, k, v = (torch.randn(2, 4, 16, 8, dtype=torch.float32) * 3 for _ in range(3))
    want = F.scaled_dot_product_attention(q, k, v).numpy()
    half = [x.bfloat16() for x in (q, k, v)]
    torch_error = np.abs(F.scaled_dot_product_attention(*half).float().numpy() - want).max()
    got = jax.jit(scaled_dot_product_attention)(*(to_jax(x.float()).astype(jnp.bfloat16) for x in half))
    assert got.dtype == jnp.bfloat16
    assert np.abs(np.asarray(got, np.float32) - want).max() < 1.5 * torch_error
    slope = jax.jit(jax.grad(lambda q: scaled_dot_product_attention(q, q, q).sum()))(got)
    assert slope.dtype == jnp.bfloat16 and jnp.isfinite(slope).all()


PADDING = torch.tensor([[False, False, False, True, True], [False] * 5])
FLOAT_PADDING = torch.where(PADDING, -inf, 0.0).double()
MASK = torch.tensor([[False, True, False, False, False]] * 3)
EACH_HEAD = torch.arange(4 * 3 * 5).reshape(4, 3, 5) % 7 == 3
CAUSAL = torch.triu(torch.full((3, 5), -inf), 1).double()

MHA = {
    "need_weights": ({}, {}),
    "weights of each head": ({}, {"average_attn_weights": False, "key_padding_mask": PADDING}),
    "no weights": ({}, {"need_weights": False}),
    "both masks": ({}, {"attn_mask": MASK, "key_padding_mask": PADDING}),
    "both masks, no weights": ({}, {"attn_mask": EACH_HEAD, "key_padding_mask": PADDING, "need_weights": False}),
    "mask of each head": ({"batch_first": True}, {"attn_mask": EACH_HEAD}),
    "float masks": ({}, {"attn_mask": CAUSAL, "key_padding_mask": FLOAT_PADDING}),
    "causal hint": ({}, {"attn_mask": CAUSAL, "is_causal": True, "need_weights": False}),
    "causal hint with padding": ({}, {"attn_mask": CAUSAL, "key_padding_mask": FLOAT_PADDING, "is_causal": True}),
    "blind row": ({}, {"attn_mask": MASK | torch.tensor([[True], [False], [False]]), "need_weights": False}),
    "added keys": ({"add_bias_kv": True, "add_zero_attn": True}, {"attn_mask": MASK, "key_padding_mask": PADDING}),
    "added keys, causal": (
        {"add_bias_kv": True, "add_zero_attn": True},
        {"attn_mask": CAUSAL, "is_causal": True, "need_weights": False},
    ),
    "kdim, vdim": ({"kdim": 3, "vdim": 6, "bias": False, "batch_first": True}, {"need_weights": False}),
}


@pytest.mark.parametrize("case", MHA)
def test_multihead_attention(case):
    options, masks = MHA[case]
    module, layer = torch.nn.MultiheadAttention(8, 2, **options), MultiheadAttention(8, 2, **options)
    inputs = [torch.randn(3, 2, 8), torch.randn(5, 2, layer.kdim), torch.randn(5, 2, layer.vdim)]
    if layer.batch_first:
        inputs = [x.transpose(0, 1).contiguous() for x in inputs]
    assert_equivalent(module, layer, *inputs, **masks)


def test_unbatched():
    module, layer = torch.nn.MultiheadAttention(8, 2, batch_first=True), MultiheadAttention(8, 2, batch_first=True)
    masks = {"key_padding_mask": PADDING[0], "attn_mask": EACH_HEAD[:2]}
    assert_equivalent(module, layer, torch.randn(3, 8), torch.randn(5, 8), torch.randn(5, 8), **masks)


def test_blind_row_with_weights_is_nan():
    module, layer = torch.nn.MultiheadAttention(8, 2), MultiheadAttention(8, 2)
    x, mask = torch.randn(3, 1, 8), torch.eye(3).bool() | torch.tensor([[True], [False], [False]])
    got, want = layer(params_of(module), *[to_jax(x)] * 3, attn_mask=to_jax(mask)), module(x, x, x, attn_mask=mask)
    np.testing.assert_array_equal(np.isnan(got[0]), want[0].isnan().numpy())
    assert_same(jax.tree.map(jnp.nan_to_num, got), [y.nan_to_num() for y in want])


def test_dropout_of_the_layer_acts_in_training():
    layer, x = MultiheadAttention(8, 2, dropout=1.0), jnp.ones((3, 1, 8))
    params = layer.init(jax.random.key(0))
    output, weights = layer(params, x, x, x, key=jax.random.key(1), training=True)
    assert (output == 0).all() and (weights == 0).all()
    assert (layer(params, x, x, x)[1] > 0).all()
