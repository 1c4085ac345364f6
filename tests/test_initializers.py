"""Initial values, random tensors and dropout have torch's distributions: many draws of each side are compared."""

import importlib
import math
import pkgutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from scipy import stats

import rules
from rules import initializers
from transpile.rule import overloads, select

KEY = jax.random.key(0)
TABLE = overloads(importlib.import_module(m.name) for m in pkgutil.walk_packages(rules.__path__, "rules."))


def assert_same_distribution(got, want):
    """Two samples of one distribution: by shape, spread, largest value, zeros, and the Kolmogorov-Smirnov test."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype
    got, want = got.ravel().astype(float), want.ravel().astype(float)
    if np.ptp(want) == 0:
        np.testing.assert_array_equal(got, want)
        return
    n = want.size
    assert abs(np.mean(got == 0) - np.mean(want == 0)) < 4 / math.sqrt(n)
    assert abs(got.mean() - want.mean()) < 6 * want.std() / math.sqrt(n)
    assert abs(got.std() / want.std() - 1) < 8 / math.sqrt(n)
    assert abs(np.abs(got).max() / np.abs(want).max() - 1) < 0.35
    assert stats.ks_2samp(got, want).pvalue > 1e-4


SQUARE, CONV, WIDE = (64, 96), (48, 32, 3, 3), (20, 200, 3)

DRAWS = [
    ("normal_", SQUARE, (), {}),
    ("normal_", SQUARE, (0, 0.02), {}),
    ("normal_", SQUARE, (1.0,), {"std": 0.5}),
    ("normal", SQUARE, (0.0, 0.1), {}),
    ("uniform_", SQUARE, (), {}),
    ("uniform_", SQUARE, (-0.1,), {"b": 0.3}),
    ("trunc_normal_", CONV, (), {}),
    ("trunc_normal_", CONV, (), {"std": 0.02}),
    ("trunc_normal_", CONV, (), {"mean": 1.0, "std": 2.0}),
    ("trunc_normal_", CONV, (), {"std": 0.02, "a": -0.04, "b": 0.04}),
    ("xavier_uniform_", SQUARE, (), {}),
    ("xavier_uniform_", CONV, (), {"gain": 2.0}),
    ("xavier_normal_", WIDE, (), {}),
    ("xavier_normal_", CONV, (0.5,), {}),
    ("kaiming_uniform_", CONV, (), {}),
    ("kaiming_uniform_", CONV, (), {"a": math.sqrt(5)}),
    ("kaiming_uniform_", WIDE, (), {"mode": "fan_out", "nonlinearity": "tanh"}),
    ("kaiming_normal_", CONV, (), {}),
    ("kaiming_normal_", CONV, (), {"mode": "fan_out", "nonlinearity": "relu"}),
    ("kaiming_normal_", CONV, (0.2,), {"mode": "fan_in", "nonlinearity": "leaky_relu"}),
    ("kaiming_normal_", WIDE, (0.2,), {"nonlinearity": "relu"}),
    ("kaiming_normal_", WIDE, (), {"nonlinearity": "selu"}),
    ("kaiming_normal_", WIDE, (), {"nonlinearity": "linear"}),
    ("orthogonal_", SQUARE, (), {}),
    ("orthogonal_", CONV, (), {"gain": 2.0}),
    ("sparse_", (100, 60), (0.3,), {}),
    ("sparse_", (100, 60), (), {"sparsity": 0.1, "std": 2.0}),
]


@pytest.mark.parametrize("name, shape, args, kwargs", DRAWS)
@pytest.mark.filterwarnings("ignore")  # the old names, and "mean is more than 2 std from [a, b]"
def test_init_functions_that_draw(name, shape, args, kwargs):
    torch.manual_seed(0)
    (function,) = TABLE[f"torch.nn.init.{name}"]
    got = jax.jit(lambda key, w: function(w, *args, **kwargs, key=key))(KEY, jnp.zeros(shape))
    assert_same_distribution(got, getattr(torch.nn.init, name)(torch.empty(shape), *args, **kwargs))


@pytest.mark.parametrize(
    "name, shape, args",
    [
        ("zeros_", (3, 4), ()),
        ("ones_", (3, 4), ()),
        ("constant_", (3, 4), (0,)),
        ("constant_", (3, 4), (1.0,)),
        ("constant_", (3, 4), (0.3,)),
        ("eye_", (3, 4), ()),
        ("dirac_", (4, 3, 3), ()),
        ("dirac_", (6, 4, 2, 5), (2,)),
        ("dirac_", (6, 4, 2, 1, 5), (3,)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_init_functions_that_do_not_draw(name, shape, args, dtype):
    (function,) = TABLE[f"torch.nn.init.{name}"]
    got = function(jnp.full(shape, 7, dtype), *args)
    want = getattr(torch.nn.init, name)(torch.full(shape, 7, dtype=getattr(torch, dtype)), *args)
    assert got.dtype == dtype and not got.weak_type
    np.testing.assert_allclose(np.asarray(got), want.numpy(), rtol=1e-6)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 2, 3), (8, 2, 2)])
def test_orthogonal(shape):
    weight = initializers.orthogonal(jnp.zeros(shape), key=KEY).reshape(shape[0], -1)
    short = weight if weight.shape[0] <= weight.shape[1] else weight.T
    np.testing.assert_allclose(short @ short.T, np.eye(len(short)), atol=1e-5)


def test_sparse_has_the_same_number_of_zeros_in_each_column():
    weight = initializers.sparse_normal(jnp.zeros((10, 5)), 0.25, key=KEY)
    assert ((weight == 0).sum(axis=0) == 3).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_draws_keep_the_dtype(dtype):
    weight = jnp.zeros((4, 6), dtype)
    for name, _, args, kwargs in DRAWS:
        if name != "orthogonal_":  # neither side has a QR decomposition of half types
            assert TABLE[f"torch.nn.init.{name}"][0](weight, *args, **kwargs, key=KEY).dtype == dtype


def test_gains_and_fans():
    gains = [(n,) for n in ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu")] + [
        ("leaky_relu", 0.2)
    ]
    for gain in gains:
        assert initializers.calculate_gain(*gain) == pytest.approx(torch.nn.init.calculate_gain(*gain))
    for shape in (3, 4), (3, 4, 5), (3, 4, 5, 6):
        weight = torch.empty(shape)
        want = torch.nn.init._calculate_fan_in_and_fan_out(weight)
        assert initializers.fan_in_and_fan_out(jnp.zeros(shape)) == want
        assert tuple(initializers.correct_fan(jnp.zeros(shape), mode) for mode in ("fan_in", "fan_out")) == want


@pytest.mark.parametrize(
    "name, args, kwargs",
    [
        ("Linear", (50, 120), {}),
        ("Linear", (50, 120), {"bias": False}),
        ("Bilinear", (20, 15, 30), {}),
        ("Embedding", (200, 30), {}),
        ("Embedding", (200, 30), {"padding_idx": -1}),
        ("EmbeddingBag", (200, 30), {"padding_idx": 3}),
        ("PReLU", (), {}),
        ("PReLU", (5,), {"init": 0.1}),
        ("Conv1d", (12, 32, 5), {}),
        ("Conv2d", (12, 32, 3), {"groups": 4}),
        ("Conv3d", (6, 32, 3), {"bias": False}),
        ("ConvTranspose1d", (12, 64, 5), {}),
        ("ConvTranspose2d", (12, 64, 3), {"groups": 2}),
        ("ConvTranspose3d", (6, 64, 3), {}),
        ("LSTM", (20, 30), {"num_layers": 2, "bidirectional": True}),
        ("LSTM", (20, 30), {"proj_size": 10}),
        ("GRU", (20, 30), {}),
        ("RNN", (20, 60), {}),
        ("LSTMCell", (20, 30), {}),
        ("GRUCell", (20, 30), {}),
        ("RNNCell", (20, 60), {}),
        ("LayerNorm", ((3, 4),), {}),
        ("GroupNorm", (2, 6), {}),
        ("BatchNorm2d", (5,), {}),
        ("InstanceNorm2d", (5,), {"affine": True}),
        ("MultiheadAttention", (48, 4), {}),
        ("MultiheadAttention", (48, 4), {"kdim": 20, "vdim": 30, "add_bias_kv": True}),
        ("TransformerEncoderLayer", (32, 4, 64), {}),
        ("Transformer", (32, 4, 1, 1, 64), {}),
    ],
)
def test_layers_start_as_in_torch(name, args, kwargs):
    """Every parameter and buffer by its name in the state_dict; small ones are drawn many times."""
    torch.manual_seed(0)
    layer_class = next(cls for cls in TABLE[f"torch.nn.{name}"] if cls.__name__ == name)
    layer, build = layer_class(*args, **kwargs), lambda: getattr(torch.nn, name)(*args, **kwargs).state_dict()
    smallest = min(value.numel() for value in build().values())
    times = 1 if smallest > 1000 else 40
    both = jax.vmap(lambda key: flat(layer.init(key)) | flat(layer.init_state(key)))(jax.random.split(KEY, times))
    wanted = [build() for _ in range(times)]
    assert both.keys() == wanted[0].keys()
    for path, got in both.items():
        want = np.stack([state[path].numpy() for state in wanted])
        if want.dtype.kind == "i":
            want = want.astype(got.dtype)
        assert_same_distribution(got, want)


def flat(tree, prefix=""):
    """Nested dicts as one, with torch's dotted names."""
    entries = {}
    for name, value in tree.items():
        entries |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return entries


N, BIG = (5000,), torch.zeros(5000)


@pytest.mark.parametrize(
    "name, args, kwargs",
    [
        ("torch.rand", (50, 100), {}),
        ("torch.randn", ((50, 100),), {}),
        ("torch.randint", (7, N), {}),
        ("torch.randint", (-3, 7), {"size": N}),
        ("torch.rand_like", (BIG,), {}),
        ("torch.randn_like", (BIG.double(),), {"dtype": torch.float32}),
        ("torch.randint_like", (BIG, 7), {}),
        ("torch.randint_like", (BIG, -3, 7), {}),
        ("torch.randperm", (5000,), {}),
        ("torch.normal", (BIG + 2, BIG + 0.5), {}),
        ("torch.normal", (BIG + 2,), {}),
        ("torch.normal", (3.0, BIG + 0.5), {}),
        ("torch.normal", (3, 0.5, N), {}),
        ("torch.bernoulli", (BIG + 0.3,), {}),
        ("torch.Tensor.bernoulli", (BIG, 0.3), {}),
        ("torch.multinomial", (torch.tensor([1.0, 0.0, 3.0]), 5000, True), {}),
        ("torch.multinomial", (torch.tensor([[1.0, 0.0, 3.0, 1.0]] * 2000), 2), {}),
        ("torch.poisson", (BIG + 3,), {}),
        ("torch.binomial", (BIG + 10, BIG + 0.3), {}),
        ("torch.Tensor.normal_", (BIG, 1, 2), {}),
        ("torch.Tensor.uniform_", (BIG, -1, 2), {}),
        ("torch.Tensor.uniform_", (BIG,), {"to": 3}),
        ("torch.Tensor.bernoulli_", (BIG.long(), 0.3), {}),
        ("torch.Tensor.exponential_", (BIG, 2.0), {}),
        ("torch.Tensor.geometric_", (BIG, 0.3), {}),
        ("torch.Tensor.random_", (BIG, 7), {}),
        ("torch.Tensor.random_", (BIG.long(), 3, 7), {}),
    ],
)
def test_random_tensors(name, args, kwargs):
    torch.manual_seed(0)
    target = torch
    for part in name.split(".")[1:]:
        target = getattr(target, part)
    jax_args = [jnp.asarray(a.numpy()) if isinstance(a, torch.Tensor) else a for a in args]
    jax_kwargs = {k: jnp.float32 if isinstance(v, torch.dtype) else v for k, v in kwargs.items()}
    got = select(TABLE[name], jax_args, jax_kwargs)(*jax_args, **jax_kwargs, key=KEY)
    want = target(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args], **kwargs).numpy()
    assert_same_distribution(got, want.astype(got.dtype) if want.dtype.kind == "i" else want)


@pytest.mark.parametrize("name", ["cauchy_", "log_normal_"])
def test_draws_with_heavy_tails(name):
    torch.manual_seed(0)
    got = TABLE[f"torch.Tensor.{name}"][0](jnp.zeros(5000), 1.0, 2.0, key=KEY)
    assert stats.ks_2samp(got, getattr(torch.zeros(5000), name)(1.0, 2.0).numpy()).pvalue > 1e-4


@pytest.mark.parametrize(
    "name, shape",
    [
        ("dropout", (60, 100)),
        ("dropout1d", (50, 80, 3)),
        ("dropout1d", (4000, 3)),
        ("dropout2d", (50, 80, 3, 2)),
        ("dropout2d", (50, 80, 3)),
        ("dropout3d", (50, 80, 1, 3, 2)),
        ("dropout3d", (4000, 1, 3, 2)),
        ("alpha_dropout", (60, 100)),
        ("feature_alpha_dropout", (50, 80, 3)),
    ],
)
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout(name, shape, p):
    torch.manual_seed(0)
    (function,) = TABLE[f"torch.nn.functional.{name}"]
    want = getattr(torch.nn.functional, name)(torch.ones(shape), p, True).numpy()
    slope = jax.grad(lambda x: function(x, p, True, key=KEY).sum())(jnp.ones(shape))
    got = np.asarray(function(jnp.ones(shape), p, True, key=KEY))
    assert np.isfinite(slope).all()
    whole = tuple(i for i in range(len(shape)) if np.ptp(want, axis=i).max() == 0)
    assert all(np.ptp(got, axis=i).max() == 0 for i in whole)
    assert p != 0.3 or bool(whole) == (name not in ("dropout", "alpha_dropout"))
    np.testing.assert_allclose(np.unique(got), np.unique(want), rtol=1e-6)
    assert abs(got.mean() - want.mean()) < 0.12
    assert function(jnp.ones(3), p, False) is not None  # no key is needed in eval
