"""The adaptive softmax against torch."""

import pytest
import torch

from rules.adaptive_softmax_layers import AdaptiveLogSoftmaxWithLoss

from .against_torch import assert_equivalent, assert_same, float64, params_of, to_jax


@pytest.fixture(autouse=True)
def in_float64():
    with float64():
        yield


def test_adaptive_softmax():
    options = {"cutoffs": [3, 7], "div_value": 2.0, "head_bias": True}
    module, layer = (c(8, 12, **options) for c in (torch.nn.AdaptiveLogSoftmaxWithLoss, AdaptiveLogSoftmaxWithLoss))
    x, target = torch.randn(6, 8), torch.tensor([0, 2, 3, 6, 7, 11])
    assert_equivalent(module, layer, x, target_=target)
    params = params_of(module)
    assert_same(layer.log_prob(params, to_jax(x)), module.log_prob(x))
    assert_same(layer.predict(params, to_jax(x)), module.predict(x))
    assert_same(layer(params, to_jax(x[0]), to_jax(target[0])), module(x[0], target[0]))
