"""Attention as a layer."""

import math

import jax
import jax.numpy as jnp

from transpile.layer import Module, Parameter, draw_key, layer

from ..attention import multi_head_attention, project_heads
from .linear import Linear


def xavier_weight(key, shape):
    """Xavier-uniform values for a matrix (outputs, inputs)."""
    return jax.nn.initializers.glorot_uniform(in_axis=1, out_axis=0)(key, shape)


@layer("torch.nn.MultiheadAttention")
class MultiheadAttention(Module):
    """Attention of several heads between (length, batch, width), or (batch, length, width).

    The second is that of ``batch_first``. Returns the output and, with ``need_weights``, what each
    query gave to each key. True in a mask means: do not look.
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
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim {embed_dim} must be divisible by num_heads {num_heads}")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(xavier_weight(draw_key(), (3 * embed_dim, embed_dim)))
        else:
            self.q_proj_weight = Parameter(xavier_weight(draw_key(), (embed_dim, embed_dim)))
            self.k_proj_weight = Parameter(xavier_weight(draw_key(), (embed_dim, self.kdim)))
            self.v_proj_weight = Parameter(xavier_weight(draw_key(), (embed_dim, self.vdim)))
        self.in_proj_bias = Parameter(jnp.zeros(3 * embed_dim)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if bias:
            self.out_proj.bias = jnp.zeros(embed_dim)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            shape = (1, 1, embed_dim)
            scale = 1 / math.sqrt(embed_dim)
            self.bias_k = Parameter(scale * jax.random.normal(draw_key(), shape))
            self.bias_v = Parameter(scale * jax.random.normal(draw_key(), shape))

    def __call__(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        batched = query.ndim == 3
        inputs = [query, key, value]
        if not batched:
            inputs = [x[None] for x in inputs]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        elif not self.batch_first:
            inputs = [x.swapaxes(0, 1) for x in inputs]
        q, k, v = self.project(inputs)
        dropout_p = self.dropout if self.training else 0.0
        output, weights = multi_head_attention(
            q,
            k,
            v,
            self.num_heads,
            bias_k=self.bias_k,
            bias_v=self.bias_v,
            add_zero_attn=self.add_zero_attn,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            dropout_p=dropout_p,
            key=draw_key() if dropout_p else None,
        )
        output = self.out_proj(output)
        if not batched:
            return output[0], None if weights is None else weights[0]
        return output if self.batch_first else output.swapaxes(0, 1), weights

    def project(self, inputs):
        """Queries, keys and values, with one weight for the three or one for each."""
        if self._qkv_same_embed_dim:
            return project_heads(inputs, self.in_proj_weight, None, self.in_proj_bias)
        separate = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        return project_heads(inputs, None, separate, self.in_proj_bias)
