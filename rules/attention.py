"""Attention as a function."""

import math

import jax
import jax.numpy as jnp

from transpile.rule import Unsupported, rule

from .dropout import dropout
from .products import linear


@rule("torch.nn.functional.scaled_dot_product_attention")
def scaled_dot_product_attention(
    query, key_, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, *, key=None
):
    """``softmax(query @ key.T * scale) @ value`` over (..., heads, length, width).

    A bool mask is True where a query looks, a float mask is added. A query that sees no key gives 0.
    (``jax.nn.dot_product_attention`` gives it the mean of all values, and has its softmax in float32 always.)
    """
    if enable_gqa:
        key_, value = (jnp.repeat(x, query.shape[-3] // x.shape[-3], axis=-3) for x in (key_, value))
    if is_causal:
        attn_mask = jnp.tril(jnp.ones((query.shape[-2], key_.shape[-2]), bool))
    scores = attention_scores(query, key_, attn_mask, scale)
    if attn_mask is None or is_causal:
        weights = jax.nn.softmax(scores, axis=-1)
    else:
        blind = jnp.all(scores == -jnp.inf, axis=-1, keepdims=True)
        weights = jnp.where(blind, 0, jax.nn.softmax(jnp.where(blind, 0, scores), axis=-1))
    return dropout(weights.astype(value.dtype), dropout_p, key=key) @ value


def attention_scores(query, key_, attn_mask=None, scale=None):
    """The scaled and masked products of queries and keys (..., queries, keys), half types in float32."""
    dtype = jnp.promote_types(query.dtype, jnp.float32)
    scores = jnp.matmul(query, key_.mT, preferred_element_type=dtype)
    scores = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if attn_mask is None:
        return scores
    return jnp.where(attn_mask, scores, -jnp.inf) if attn_mask.dtype == bool else scores + attn_mask


@rule("torch.nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(
    query,
    key_,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
    *,
    key=None,
):
    """Over (length, batch, width) or (length, width); returns the output and the weights of each key, or None."""
    if static_k is not None or static_v is not None:
        raise Unsupported("static_k and static_v; project the keys before and call scaled_dot_product_attention")
    batched = query.ndim == 3
    inputs = [x.swapaxes(0, 1) if batched else x[None] for x in (query, key_, value)]
    weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    projected = project_heads(inputs, None if use_separate_proj_weight else in_proj_weight, weights, in_proj_bias)
    output, seen = multi_head_attention(
        *projected,
        num_heads=num_heads,
        bias_k=bias_k,
        bias_v=bias_v,
        add_zero_attn=add_zero_attn,
        key_padding_mask=key_padding_mask if batched or key_padding_mask is None else key_padding_mask[None],
        need_weights=need_weights,
        attn_mask=attn_mask,
        average_attn_weights=average_attn_weights,
        is_causal=is_causal,
        dropout_p=dropout_p if training else 0.0,
        key=key,
    )
    output = linear(output, out_proj_weight, out_proj_bias)
    if batched:
        return output.swapaxes(0, 1), seen
    return output[0], None if seen is None else seen[0]


def project_heads(inputs, in_proj_weight, separate_weights, in_proj_bias):
    """Queries, keys and values from their inputs, with one stacked weight (3 * width, width) or one for each."""
    weights = separate_weights if in_proj_weight is None else jnp.split(in_proj_weight, 3)
    biases = [None] * 3 if in_proj_bias is None else jnp.split(in_proj_bias, 3)
    return [linear(x, weight, bias) for x, weight, bias in zip(inputs, weights, biases)]


def multi_head_attention(
    q,
    k,
    v,
    num_heads,
    *,
    bias_k=None,
    bias_v=None,
    add_zero_attn=False,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    average_attn_weights=True,
    is_causal=False,
    dropout_p=0.0,
    key=None,
):
    """Attention of each head on its part of (batch, length, width); True in a mask means: do not look.

    Where every key is masked the output is 0, but NaN with ``need_weights``, as in torch.
    """
    if is_causal and attn_mask is None:
        raise ValueError("is_causal is a hint about attn_mask: pass the mask too")
    is_causal = is_causal and key_padding_mask is None and not need_weights
    mask = None if is_causal else merge_masks(attn_mask, key_padding_mask, num_heads, q.dtype)
    one_key = (k.shape[0], 1, k.shape[2])
    if bias_k is not None:
        k = jnp.concatenate([k, jnp.broadcast_to(bias_k, one_key)], axis=1)
        v = jnp.concatenate([v, jnp.broadcast_to(bias_v, one_key)], axis=1)
    if add_zero_attn:
        k, v = (jnp.concatenate([x, jnp.zeros(one_key, x.dtype)], axis=1) for x in (k, v))
    if mask is not None:  # the keys added above are seen by all
        mask = jnp.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, k.shape[1] - mask.shape[-1])])
    q, k, v = (x.reshape(*x.shape[:2], num_heads, -1).swapaxes(1, 2) for x in (q, k, v))
    if need_weights:
        weights = jax.nn.softmax(attention_scores(q, k, mask), axis=-1).astype(v.dtype)
        weights = dropout(weights, dropout_p, key=key)
        output = weights @ v
        weights = weights.mean(axis=1) if average_attn_weights else weights
    else:
        output, weights = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal, key=key), None
    return output.swapaxes(1, 2).reshape(q.shape[0], q.shape[2], -1), weights


def merge_masks(attn_mask, key_padding_mask, num_heads, dtype):
    """Both masks of a MultiheadAttention as one that is added to the scores (batch, heads, queries, keys)."""
    if attn_mask is not None and attn_mask.ndim == 3:  # (batch * heads, queries, keys)
        attn_mask = attn_mask.reshape(-1, num_heads, *attn_mask.shape[1:])
    if key_padding_mask is not None:
        key_padding_mask = key_padding_mask[:, None, None]
    masks = [
        jnp.where(mask, -jnp.inf, jnp.zeros((), dtype)) if mask.dtype == bool else mask
        for mask in (attn_mask, key_padding_mask)
        if mask is not None
    ]
    return sum(masks) if masks else None


@rule("torch.nn.functional._mha_shape_check")
def mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the input is batched; shapes that do not fit fail where they are used."""
    return query.ndim == 3
