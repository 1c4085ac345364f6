"""Attention as a layer."""

import math

import jax
import jax.numpy as jnp

from transpile.rule import layer

from .attention import multi_head_attention, project_heads
from .linear_layers import Linear
from .module import Module


class OutputProjection(Linear):
    """The last linear layer of attention: its bias starts at 0."""

    def init(self, key):
        params = super().init(key)
        return params | {"bias": jnp.zeros(self.out_features)} if self.bias else params


@layer("torch.nn.MultiheadAttention")
class MultiheadAttention(Module):
    """Attention of several heads between (length, batch, width), or (batch, length, width) with ``batch_first``.

    Returns the output and, with ``need_weights``, what each query gave to each key. True in a mask means: do not look.
    """

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
    ):
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise ValueError(f"embed_dim {embed_dim} must be divisible by num_heads {num_heads}")
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.dropout, self.batch_first = dropout, batch_first
        self.bias, self.add_bias_kv, self.add_zero_attn = bias, add_bias_kv, add_zero_attn
        self.out_proj = OutputProjection(embed_dim, embed_dim, bias)

    def init(self, key):
        keys = jax.random.split(key, 6)
        width = self.embed_dim
        xavier_uniform = jax.nn.initializers.glorot_uniform(in_axis=1, out_axis=0)
        params = {"out_proj": self.out_proj.init(keys[0])}
        if self._qkv_same_embed_dim:
            params["in_proj_weight"] = xavier_uniform(keys[1], (3 * width, width))
        else:
            params["q_proj_weight"] = xavier_uniform(keys[1], (width, width))
            params["k_proj_weight"] = xavier_uniform(keys[2], (width, self.kdim))
            params["v_proj_weight"] = xavier_uniform(keys[3], (width, self.vdim))
        if self.bias:
            params["in_proj_bias"] = jnp.zeros(3 * width)
        if self.add_bias_kv:
            params["bias_k"] = jax.random.normal(keys[4], (1, 1, width)) / math.sqrt(width)
            params["bias_v"] = jax.random.normal(keys[5], (1, 1, width)) / math.sqrt(width)
        return params

    def __call__(
        self,
        params,
        query,
        key_,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
        *,
        key=None,
        training=False,
    ):
        batched = query.ndim == 3
        inputs = [query, key_, value]
        if not batched:
            inputs = [x[None] for x in inputs]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        elif not self.batch_first:
            inputs = [x.swapaxes(0, 1) for x in inputs]
        separate = [params.get(f"{name}_proj_weight") for name in "qkv"]
        output, weights = multi_head_attention(
            *project_heads(inputs, params.get("in_proj_weight"), separate, params.get("in_proj_bias")),
            self.num_heads,
            bias_k=params.get("bias_k"),
            bias_v=params.get("bias_v"),
            add_zero_attn=self.add_zero_attn,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            dropout_p=self.dropout if training else 0.0,
            key=key,
        )
        output = self.out_proj(params["out_proj"], output)
        if not batched:
            return output[0], None if weights is None else weights[0]
        return output if self.batch_first else output.swapaxes(0, 1), weights
