"""The adaptive softmax against torch."""

import jax
import pytest
import torch

from ..against_torch import assert_equivalent, assert_same, float64, params_of, to_jax, written


@pytest.fixture(autouse=True)
def in_float64():
    with float64():
        yield


class Stateless:
    """A layer whose state is empty, as a function of params alone."""

    def __init__(self, layer):
        self.layer, self.init = layer, layer.init

    def __call__(self, params, *args, **kwargs):
        return self.layer(params, self.layer.init_state(jax.random.key(0)), *args, **kwargs)[0]


def test_adaptive_softmax():
    options = {"cutoffs": [3, 7], "div_value": 2.0, "head_bias": True}
    nn = written("AdaptiveLogSoftmaxWithLoss", asked=("predict", "log_prob"))
    module, layer = (library.AdaptiveLogSoftmaxWithLoss(8, 12, **options) for library in (torch.nn, nn))
    x, target = torch.randn(6, 8), torch.tensor([0, 2, 3, 6, 7, 11])
    assert_equivalent(module, Stateless(layer), x, target_=target)
    params, state = params_of(module), layer.init_state(jax.random.key(0))
    assert_same(layer.log_prob(params, state, to_jax(x))[0], module.log_prob(x))
    assert_same(layer.predict(params, state, to_jax(x))[0], module.predict(x))
    assert_same(layer(params, state, to_jax(x[0]), to_jax(target[0]))[0], module(x[0], target[0]))
