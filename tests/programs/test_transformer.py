"""Transformer layers and stacks against torch."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from ..against_torch import assert_equivalent, assert_same, float64, params_of, to_jax, written

transformer = written(
    "TransformerEncoderLayer", "TransformerDecoderLayer", "TransformerEncoder", "TransformerDecoder", "LayerNorm"
)

PADDING = torch.tensor([[False, False, True], [False] * 3])
FUTURE = torch.ones(3, 3).bool().triu(1)
CAUSAL = torch.nn.Transformer.generate_square_subsequent_mask(3, dtype=torch.float64)
LAYERS = {
    "after": ({}, {}),
    "first": ({"norm_first": True, "activation": "gelu", "bias": False, "layer_norm_eps": 1e-3}, {}),
    "masked": ({"batch_first": True}, {"src_mask": FUTURE, "src_key_padding_mask": PADDING}),
    "causal": ({"batch_first": True}, {"src_mask": CAUSAL, "is_causal": True}),
}


@pytest.fixture(autouse=True)
def in_float64():
    with float64():
        yield


@pytest.mark.parametrize("case", LAYERS)
def test_encoder_layer(case):
    options, masks = LAYERS[case]
    pair = (library.TransformerEncoderLayer(8, 2, 16, **options) for library in (torch.nn, transformer))
    module, layer = pair
    x = torch.randn(2, 3, 8) if "batch_first" in options else torch.randn(3, 2, 8)
    module.eval()
    assert_equivalent(module, layer, x, **masks)


@pytest.mark.parametrize("norm_first", [False, True])
def test_decoder_layer(norm_first):
    options = {"dim_feedforward": 16, "batch_first": True, "norm_first": norm_first}
    module = torch.nn.TransformerDecoderLayer(8, 2, **options).eval()
    layer = transformer.TransformerDecoderLayer(8, 2, **options)
    masks = {"tgt_mask": FUTURE, "tgt_key_padding_mask": PADDING}
    assert_equivalent(module, layer, torch.randn(2, 3, 8), torch.randn(2, 5, 8), **masks)


class Stacks(torch.nn.Module):
    """What Transformer runs, with the parts in its place."""

    def __init__(self, nn):
        super().__init__()
        sizes = {"d_model": 8, "nhead": 2, "dim_feedforward": 16}
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**sizes), 2, nn.LayerNorm(8))
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**sizes), 2, nn.LayerNorm(8))


@pytest.mark.filterwarnings("ignore")
def test_stacks():
    theirs, ours = Stacks(torch.nn).eval(), SimpleNamespace()
    ours.encoder = transformer.TransformerEncoder(transformer.TransformerEncoderLayer(8, 2, 16), 2, transformer.LayerNorm(8))
    ours.decoder = transformer.TransformerDecoder(transformer.TransformerDecoderLayer(8, 2, 16), 2, transformer.LayerNorm(8))
    params = params_of(theirs)
    src, tgt = torch.randn(3, 2, 8), torch.randn(3, 2, 8)
    memory = theirs.encoder(src, mask=CAUSAL, src_key_padding_mask=PADDING)
    want = theirs.decoder(tgt, memory, tgt_mask=CAUSAL, memory_key_padding_mask=PADDING)
    run = lambda name, *args, **masks: getattr(ours, name)(params[name], *map(to_jax, args), **{k: to_jax(v) for k, v in masks.items()})
    got = run("encoder", src, mask=CAUSAL, src_key_padding_mask=PADDING)
    assert_same(got, memory)
    assert_same(run("decoder", tgt, memory, tgt_mask=CAUSAL, memory_key_padding_mask=PADDING), want)


def test_copies_start_equal():
    one = transformer.TransformerEncoderLayer(8, 2, 16)
    params = transformer.TransformerEncoder(one, 2, transformer.LayerNorm(8)).init(jax.random.key(0))
    first, second = params["layers"].values()
    assert all(jax.tree.leaves(jax.tree.map(lambda a, b: bool((a == b).all()) and a is not b, first, second)))


def test_dropout_acts_in_training():
    layer, x = transformer.TransformerEncoderLayer(8, 2, 16, dropout=1.0, norm_first=True), jnp.ones((3, 2, 8))
    params = layer.init(jax.random.key(0))
    assert_all = lambda y: np.testing.assert_array_equal(y, x)
    assert_all(layer(params, x, key=jax.random.key(1), training=True))
    assert not np.array_equal(layer(params, x), x)
