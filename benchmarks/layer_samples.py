"""Modules for `benchmarks.layer_definitions` that torch's module_db has not: `build(nn)` makes one on either side."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import torch

from transpile.layer import Module


@dataclass
class Sample:
    name: str
    build: Callable[[Any], Any]
    inputs: Any
    kwargs: dict[str, Any] = field(default_factory=dict)
    values: bool = True


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


def ids(high, *shape):
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(0))


IMAGE, ROWS = (normal(2, 4, 6, 5),), (normal(3, 4),)

SAMPLES = [
    Sample("Linear", lambda nn: nn.Linear(4, 300), ROWS),
    Sample("Sequential", lambda nn: nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.BatchNorm1d(5)), ROWS),
    Sample("Sequential, names", lambda nn: nn.Sequential(OrderedDict(a=nn.Linear(4, 5), b=nn.Tanh())), ROWS),
    Sample("Sequential, shared", lambda nn: shared(nn), ROWS),
    Sample("InstanceNorm2d, tracked", lambda nn: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), IMAGE),
    Sample("InstanceNorm2d, one image", lambda nn: nn.InstanceNorm2d(4, track_running_stats=True), (IMAGE[0][0],)),
    Sample("BatchNorm2d, mean of all", lambda nn: nn.BatchNorm2d(4, momentum=None), IMAGE),
    Sample("BatchNorm2d, plain", lambda nn: nn.BatchNorm2d(4, affine=False, track_running_stats=False), IMAGE),
    Sample("BatchNorm2d, no bias", lambda nn: nn.BatchNorm2d(4, bias=False), IMAGE),
    Sample("Embedding, padding", lambda nn: nn.Embedding(7, 40, padding_idx=-1), (ids(7, 3, 5),)),
    Sample("Embedding, scaled", lambda nn: nn.Embedding(7, 3, scale_grad_by_freq=True), (ids(7, 3, 5),)),
    Sample("EmbeddingBag", lambda nn: nn.EmbeddingBag(7, 3, padding_idx=2), (ids(7, 3, 5),)),
    Sample("EmbeddingBag, offsets", lambda nn: nn.EmbeddingBag(7, 3, mode="sum"), (ids(7, 9), torch.tensor([0, 2, 6]))),
    Sample(
        "LSTM, all", lambda nn: nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True, proj_size=3), (normal(2, 6, 4),)
    ),
    Sample("LSTM, no bias", lambda nn: nn.LSTM(4, 5, bias=False), (normal(6, 2, 4),)),
    Sample("GRU, one sequence", lambda nn: nn.GRU(4, 5, 2), (normal(6, 4), normal(2, 5))),
    Sample("RNN, relu", lambda nn: nn.RNN(4, 5, nonlinearity="relu", bidirectional=True), (normal(6, 2, 4),)),
    Sample(
        "MultiheadAttention",
        lambda nn: nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True),
        (normal(5, 2, 8),) * 3,
    ),
    Sample(
        "MultiheadAttention, sizes",
        lambda nn: nn.MultiheadAttention(8, 2, bias=False, kdim=5, vdim=6, batch_first=True),
        (normal(2, 3, 8), normal(2, 4, 5), normal(2, 4, 6)),
        {"need_weights": False},
    ),
    Sample("weight_norm", lambda nn: nn.utils.weight_norm(nn.Conv2d(4, 3, 3), dim=0), IMAGE),
    Sample("weight_norm, whole", lambda nn: nn.utils.weight_norm(nn.Linear(4, 3, bias=False), dim=None), ROWS),
    Sample("weight_norm, hidden", lambda nn: nn.utils.weight_norm(nn.LSTM(4, 5), "weight_hh_l0"), (normal(6, 2, 4),)),
    Sample("weight_norm, twice", lambda nn: twice(nn.LSTM(4, 5), nn.utils.weight_norm), (normal(6, 2, 4),)),
    Sample(
        "parametrized weight_norm, twice",
        lambda nn: twice(nn.GRU(4, 5), nn.utils.parametrizations.weight_norm),
        (normal(6, 2, 4),),
    ),
    Sample("spectral_norm", lambda nn: nn.utils.spectral_norm(nn.ConvTranspose2d(4, 3, 3)), IMAGE),
    Sample("parametrized weight_norm", lambda nn: nn.utils.parametrizations.weight_norm(nn.Conv2d(4, 3, 3)), IMAGE),
    Sample("parametrized spectral_norm", lambda nn: nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3)), ROWS),
    Sample(
        "parametrized spectral_norm, bias",
        lambda nn: nn.utils.parametrizations.spectral_norm(nn.LayerNorm(4), "weight"),
        ROWS,
    ),
    Sample(
        "spectral_norm in a net",
        lambda nn: nn.Sequential(nn.Linear(4, 6), nn.utils.spectral_norm(nn.Linear(6, 3), n_power_iterations=2)),
        ROWS,
    ),
    Sample("LazyLinear", lambda nn: nn.LazyLinear(30), ROWS),
    Sample("LazyBatchNorm2d", lambda nn: nn.LazyBatchNorm2d(), IMAGE),
    Sample("LazyInstanceNorm2d", lambda nn: nn.LazyInstanceNorm2d(), IMAGE),
    Sample(
        "Lazy net",
        lambda nn: nn.Sequential(nn.LazyConv2d(5, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(3)),
        IMAGE,
    ),
    Sample("Flatten", lambda nn: nn.Sequential(nn.Flatten(1, 2), nn.Unflatten(1, (6, 4))), IMAGE),
    Sample(
        "PixelShuffle", lambda nn: nn.Sequential(nn.PixelShuffle(2), nn.PixelUnshuffle(2), nn.ChannelShuffle(2)), IMAGE
    ),
    Sample(
        "Upsample", lambda nn: nn.Sequential(nn.Upsample(scale_factor=2), nn.UpsamplingBilinear2d(size=(5, 4))), IMAGE
    ),
    Sample("UpsamplingNearest2d", lambda nn: nn.UpsamplingNearest2d(scale_factor=2), IMAGE),
    Sample("Unfold", lambda nn: nn.Sequential(nn.Unfold(3, padding=1), nn.Fold((6, 5), 3, padding=1)), IMAGE),
    Sample("MaxUnpool2d", lambda nn: nn.MaxUnpool2d(2), (normal(1, 2, 2), torch.tensor([[[0, 3], [8, 15]]]))),
    Sample("FractionalMaxPool2d", lambda nn: nn.FractionalMaxPool2d(2, output_ratio=0.5), IMAGE, values=False),
    Sample("CosineSimilarity", lambda nn: nn.CosineSimilarity(), ROWS * 2),
    Sample("PairwiseDistance", lambda nn: nn.PairwiseDistance(3, keepdim=True), ROWS * 2),
    Sample(
        "TripletMarginLoss",
        lambda nn: nn.TripletMarginLoss(swap=True),
        (normal(3, 4), normal(3, 4) + 1, normal(4, 3).T),
    ),
    Sample(
        "TripletMarginWithDistanceLoss",
        lambda nn: nn.TripletMarginWithDistanceLoss(),
        (normal(3, 4), normal(3, 4) + 1, normal(4, 3).T),
    ),
    Sample("CrossEntropyLoss, weights", lambda nn: nn.CrossEntropyLoss(weighted(nn)), (normal(3, 4), ids(4, 3))),
    Sample(
        "BCEWithLogitsLoss, weights",
        lambda nn: nn.BCEWithLogitsLoss(pos_weight=weighted(nn)),
        (normal(3, 4), normal(3, 4).sigmoid()),
    ),
    Sample(
        "register_parametrization",
        lambda nn: nn.utils.parametrize.register_parametrization(nn.Linear(4, 4), "weight", symmetric(nn)),
        ROWS,
    ),
    Sample("RReLU", lambda nn: nn.RReLU(0.2, 0.4), ROWS, values=False),
    Sample("RReLU, fixed", lambda nn: nn.RReLU(0.2, 0.2), ROWS),
    Sample(
        "AdaptiveLogSoftmaxWithLoss",
        lambda nn: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 12], div_value=2.0, head_bias=True),
        (normal(6, 8), ids(20, 6)),
    ),
    Sample("MaxUnpool1d", lambda nn: nn.MaxUnpool1d(2), (normal(1, 2), torch.tensor([[0, 3]]))),
    Sample("Identity", lambda nn: nn.Identity(3, unused=4), ROWS),
    Sample("Bilinear", lambda nn: nn.Bilinear(4, 3, 20), (normal(5, 4), normal(5, 3))),
    Sample("Dropout", lambda nn: nn.Sequential(nn.Dropout(0.0), nn.AlphaDropout(0.0), nn.Linear(4, 4)), ROWS),
    Sample(
        "Transformer",
        lambda nn: nn.Transformer(8, 2, 2, 1, 16, dropout=0.0, norm_first=True),
        (normal(5, 2, 8), normal(3, 2, 8)),
    ),
]


def shared(nn):
    """One module twice: its arrays have two names, and one gradient."""
    module = nn.Linear(4, 4)
    return nn.Sequential(module, nn.Tanh(), module)


def symmetric(nn):
    """A parametrization of one's own: the upper half of a matrix, mirrored."""
    compute = lambda self, x: x.triu() + x.triu(1).T if nn is torch.nn else jnp.triu(x) + jnp.triu(x, 1).T
    base, name = (torch.nn.Module, "forward") if nn is torch.nn else (Module, "__call__")
    return type("Symmetric", (base,), {name: compute})()


def twice(module, norm):
    return norm(norm(module, "weight_hh_l0"), "weight_ih_l0")


def weighted(nn):
    values = [0.5, 1.0, 2.0, 0.25]
    return torch.tensor(values, dtype=torch.float64) if nn is torch.nn else jnp.array(values)
