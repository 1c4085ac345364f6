"""Transformer layers and stacks against torch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from rules import transformer
from rules.normalization_layers import LayerNorm

from .against_torch import assert_equivalent, assert_same, float64

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


@pytest.mark.filterwarnings("ignore")
def test_whole_transformer():
    sizes = {"d_model": 8, "nhead": 2, "num_encoder_layers": 2, "num_decoder_layers": 2, "dim_feedforward": 16}
    module, layer = torch.nn.Transformer(**sizes).eval(), transformer.Transformer(**sizes)
    masks = {"tgt_mask": CAUSAL, "src_key_padding_mask": PADDING, "memory_key_padding_mask": PADDING}
    assert_equivalent(module, layer, torch.randn(3, 2, 8), torch.randn(3, 2, 8), **masks)


def test_mask_and_first_params():
    assert_same(transformer.Transformer.generate_square_subsequent_mask(3), CAUSAL)
    one = transformer.TransformerEncoderLayer(8, 2, 16)
    encoder = transformer.TransformerEncoder(one, 2, LayerNorm(8))
    params = encoder.init(jax.random.key(0))
    first, second = params["layers"].values()
    assert all(jax.tree.leaves(jax.tree.map(lambda a, b: bool((a == b).all()) and a is not b, first, second)))
    whole = transformer.Transformer(8, 2, 2, 2, 16).init(jax.random.key(0))
    first, second = (whole["encoder"]["layers"][i]["linear1"]["weight"] for i in "01")
    bound = np.sqrt(6 / (8 + 16))
    assert not (first == second).all() and 0.9 * bound < jnp.abs(first).max() <= bound


def test_dropout_acts_in_training():
    layer, x = transformer.TransformerEncoderLayer(8, 2, 16, dropout=1.0, norm_first=True), jnp.ones((3, 2, 8))
    params = layer.init(jax.random.key(0))
    assert_all = lambda y: np.testing.assert_array_equal(y, x)
    assert_all(layer(params, x, key=jax.random.key(1), training=True))
    assert not np.array_equal(layer(params, x), x)
