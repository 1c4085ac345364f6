"""Fractional pooling with the draws given: then it is torch's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from ..against_torch import float64, written

layers = written("FractionalMaxPool2d", "FractionalMaxPool3d")
SHAPES = [(2, (1, 3, 5, 7)), (2, (3, 5, 7)), (3, (2, 4, 5, 5, 5)), (3, (4, 5, 5, 5))]


@pytest.mark.parametrize(("rank", "shape"), SHAPES)
@pytest.mark.parametrize("options", [{"output_ratio": 0.5}, {"output_size": 3, "return_indices": True}])
def test_with_samples(rank, shape, options):
    with float64():
        x, samples = torch.randn(shape), torch.rand(2, shape[-rank - 1], rank)
        if len(shape) == rank + 2:
            samples = samples[: shape[0]]
        name = f"FractionalMaxPool{rank}d"
        want = getattr(torch.nn, name)(2, _random_samples=samples, **options)(x)
        layer = getattr(layers, name)(2, _random_samples=jnp.asarray(samples.numpy()), **options)
        got = jax.jit(layer)(jnp.asarray(x.numpy()))
        for g, w in zip(got, want) if options.get("return_indices") else [(got, want)]:
            np.testing.assert_array_equal(g, w.numpy())
