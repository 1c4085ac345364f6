"""Transformer layers and their stacks."""

import jax
import jax.numpy as jnp

from transpile.rule import layer

from .activation import gelu
from .attention_layers import MultiheadAttention
from .dropout_layers import Dropout
from .linear_layers import Linear
from .module import Copies, Module, modules, reinitialise_all, split
from .normalization_layers import LayerNorm


def activation_named(activation):
    """The function for "relu" or "gelu"; a function is returned as it is."""
    return {"relu": jax.nn.relu, "gelu": gelu}[activation] if isinstance(activation, str) else activation


@layer("torch.nn.TransformerEncoderLayer")
class TransformerEncoderLayer(Module):
    """Self-attention and a feed-forward network, each with dropout, a residual and a norm."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
    ):
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation_named(activation)

    def __call__(
        self, params, src, src_mask=None, src_key_padding_mask=None, is_causal=False, *, key=None, training=False
    ):
        attention_key, feed_key = split(key, 2)

        def attend(x):
            masks = {"attn_mask": src_mask, "key_padding_mask": src_key_padding_mask, "is_causal": is_causal}
            return attend_block(
                self.self_attn, self.dropout1, params["self_attn"], x, x, **masks, key=attention_key, training=training
            )

        def feed(x):
            return feed_block(self, self.dropout2, params, x, key=feed_key, training=training)

        if self.norm_first:
            src = src + attend(self.norm1(params["norm1"], src))
            return src + feed(self.norm2(params["norm2"], src))
        src = self.norm1(params["norm1"], src + attend(src))
        return self.norm2(params["norm2"], src + feed(src))


@layer("torch.nn.TransformerDecoderLayer")
class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's output, and a feed-forward network."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
    ):
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation_named(activation)

    def __call__(
        self,
        params,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
        *,
        key=None,
        training=False,
    ):
        self_key, memory_key, feed_key = split(key, 3)

        def attend(x):
            masks = {"attn_mask": tgt_mask, "key_padding_mask": tgt_key_padding_mask, "is_causal": tgt_is_causal}
            return attend_block(
                self.self_attn, self.dropout1, params["self_attn"], x, x, **masks, key=self_key, training=training
            )

        def attend_memory(x):
            masks = {
                "attn_mask": memory_mask,
                "key_padding_mask": memory_key_padding_mask,
                "is_causal": memory_is_causal,
            }
            attention, weights = self.multihead_attn, params["multihead_attn"]
            return attend_block(
                attention, self.dropout2, weights, x, memory, **masks, key=memory_key, training=training
            )

        def feed(x):
            return feed_block(self, self.dropout3, params, x, key=feed_key, training=training)

        if self.norm_first:
            tgt = tgt + attend(self.norm1(params["norm1"], tgt))
            tgt = tgt + attend_memory(self.norm2(params["norm2"], tgt))
            return tgt + feed(self.norm3(params["norm3"], tgt))
        tgt = self.norm1(params["norm1"], tgt + attend(tgt))
        tgt = self.norm2(params["norm2"], tgt + attend_memory(tgt))
        return self.norm3(params["norm3"], tgt + feed(tgt))


def attend_block(attention, dropout, params, x, memory, *, key, training, **masks):
    """Attention of ``x`` to ``memory``, then dropout."""
    attention_key, dropout_key = split(key, 2)
    x, _ = attention(params, x, memory, memory, need_weights=False, **masks, key=attention_key, training=training)
    return dropout(x, key=dropout_key, training=training)


def feed_block(block, last_dropout, params, x, *, key, training):
    """The feed-forward network of an encoder or decoder layer, then dropout."""
    inner_key, last_key = split(key, 2)
    x = block.activation(block.linear1(params["linear1"], x))
    x = block.linear2(params["linear2"], block.dropout(x, key=inner_key, training=training))
    return last_dropout(x, key=last_key, training=training)


class TransformerStack(Module):
    """Copies of one layer, one after another, and a norm at the end if there is one. All layers start equal."""

    def __init__(self, layer, num_layers, norm):
        self.layers = Copies(layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def run(self, params, x, *args, key, training, **kwargs):
        keys = split(key, self.num_layers)
        for (name, block), block_key in zip(self.layers.layers(), keys):
            x, _ = block.apply(params["layers"][name], {}, x, *args, key=block_key, training=training, **kwargs)
        if self.norm is not None:
            x, _ = self.norm.apply(params.get("norm", {}), {}, x, training=training)
        return x


@layer("torch.nn.TransformerEncoder")
class TransformerEncoder(TransformerStack):
    """A stack of encoder layers."""

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__(encoder_layer, num_layers, norm)

    def __call__(self, params, src, mask=None, src_key_padding_mask=None, is_causal=None, *, key=None, training=False):
        return self.run(
            params,
            src,
            src_mask=mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=bool(is_causal),
            key=key,
            training=training,
        )


@layer("torch.nn.TransformerDecoder")
class TransformerDecoder(TransformerStack):
    """A stack of decoder layers."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__(decoder_layer, num_layers, norm)

    def __call__(
        self,
        params,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
        *,
        key=None,
        training=False,
    ):
        return self.run(
            params,
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=bool(tgt_is_causal),
            memory_is_causal=memory_is_causal,
            key=key,
            training=training,
        )


def xavier_matrix(name, value, key):
    """The first value of a module's own param: xavier-uniform for a matrix."""
    if value.ndim < 2 or "." in name:
        return value
    return jax.nn.initializers.glorot_uniform(in_axis=1, out_axis=0)(key, value.shape, value.dtype)


@layer("torch.nn.Transformer")
class Transformer(Module):
    """An encoder and a decoder, each with a norm at its end; every matrix starts xavier-uniform."""

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
    ):
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias)
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias)
        )
        for module in modules(self):
            reinitialise_all(module, xavier_matrix)

    def __call__(
        self,
        params,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
        *,
        key=None,
        training=False,
    ):
        encoder_key, decoder_key = split(key, 2)
        memory, _ = self.encoder.apply(
            params["encoder"],
            {},
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
            key=encoder_key,
            training=training,
        )
        output, _ = self.decoder.apply(
            params["decoder"],
            {},
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
            key=decoder_key,
            training=training,
        )
        return output

    @staticmethod
    def generate_square_subsequent_mask(sz, dtype=None):
        """0 up to the diagonal, -inf above: (sz, sz)."""
        return jnp.triu(jnp.full((sz, sz), -jnp.inf, dtype), 1)
