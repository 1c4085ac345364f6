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
from tests.against_torch import written
from tests.proof.functions import overloads, select
from tests.small_programs import HEAD, load
from transpile import convert_source
from transpile.proof.initial import verify_init

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
    layer, build = getattr(written(name), name)(*args, **kwargs), lambda: getattr(torch.nn, name)(*args, **kwargs).state_dict()
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


# constructors of a class M, whose params must start as torch's do
CONSTRUCTORS = {
    "arrays by name": """
self.bn, self.plain = nn.BatchNorm2d(8), nn.BatchNorm2d(8, affine=False)
for m in (self.bn, self.plain):
    if getattr(m, "weight", None) is not None:
        nn.init.zeros_(m.weight)
if getattr(self.bn, "bias", None) is None:
    raise ValueError("no bias")
""",
    "weights that layers compute": """
self.spectral, self.weight_norm = nn.utils.spectral_norm(nn.Conv2d(8, 9, 3)), nn.utils.weight_norm(nn.Linear(8, 9))
nn.init.normal_(self.spectral.weight.data, std=3.0)
nn.init.normal_(self.weight_norm.weight, std=3.0)
self.weight_norm.weight_g.data.fill_(1)
self.weight_norm.weight_g.requires_grad = False
self.weight_norm.bias.requires_grad_(False)
""",
    "weights that layers compute, by a walk": """
self.spectral, self.weight_norm = nn.utils.spectral_norm(nn.Conv2d(8, 9, 3)), nn.utils.weight_norm(nn.Linear(8, 9))
for m in self.modules():
    if isinstance(m, (nn.Conv2d, nn.Linear)):
        nn.init.normal_(m.weight, std=3.0)
        if m.bias is not None:
            m.bias.data.zero_()
""",
    "names that layers make": """
self.rnn = nn.GRU(20, 30)
nn.init.xavier_normal_(self.rnn.weight_ih_l0)
nn.init.orthogonal_(self.rnn.weight_hh_l0)
nn.init.constant_(self.rnn.bias_ih_l0, 0)
""",
    "state_dict": """
self.fc = nn.Linear(30, 40)
nn.init.xavier_normal(self.fc.state_dict()['weight'])
""",
    "a path from a module of a walk": """
self.blocks = nn.Sequential(Block(), Block())
for m in self.modules():
    if isinstance(m, Block):
        nn.init.normal_(m.fc.weight, std=math.sqrt(2 / m.fc.weight.shape[0]))
        if m.fc.bias:
            nn.init.zeros_(m.fc.bias)
""",
    "a param of a layer that is passed": """
self.fc = nn.Linear(30, 40)
fill(self.fc)
""",
    "params by name, of a layer just made": """
self.lstm = made_lstm()
""",
    "locals of a branch": """
n = 30
if n == 30:
    w = torch.empty(30, 40)
    nn.init.normal_(w, std=0.02)
    self.w = nn.Parameter(w)
    b = torch.rand(1, 40) * 2 - 1
    self.b = nn.Parameter(b)
else:
    raise NotImplementedError
""",
    "locals of two branches": """
n = 30
if n > 20:
    w = torch.rand(n, n)
else:
    w = torch.zeros(n)
self.w = nn.Parameter(w)
""",
    "a local that a condition on data changes": """
w = torch.linalg.qr(torch.FloatTensor(30, 30).normal_())[0].abs()
if torch.det(w) < 100:
    w[:, 0] = -1 * w[:, 0]
self.w = nn.Parameter(w)
""",
    "a walk after a path": """
self.fc = nn.Linear(30, 40)
nn.init.constant_(self.fc.weight, 3.0)
self.fc.bias.data.fill_(2)
self.apply(widen)
""",
    "an attribute set by its name": """
self.fc = nn.Linear(30, 40)
setattr(self.fc, "bias", nn.Parameter(torch.ones(40)))
""",
    "by a name that the run tells": """
self.fc, kind = nn.Linear(30, 40), "xavier_normal"
fill = getattr(nn.init, kind + "_")
fill(self.fc.weight, gain=2.0)
getattr(nn.init, "ones_")(self.fc.bias)
""",
    "a path after a walk": """
self.fc = nn.Linear(30, 40)
self.w = nn.Parameter(torch.empty(3))
for p in self.parameters():
    nn.init.normal_(p)
nn.init.constant_(self.fc.weight, 3.0)
nn.init.constant_(self.w, 3.0)
""",
    "a walk over what another class has filled": """
self.blocks = nn.ModuleList([Filled(), Filled()])
self.apply(widen)
""",
    "a method that walks and asks for a shape": """
self.weight, self.bias = nn.Parameter(torch.empty(30, 40)), nn.Parameter(torch.empty(40))
self.reset()
""",
    "a method that walks and fills": """
self.fc, self.head = nn.Linear(30, 40), nn.Linear(30, 40)
self.w = nn.Parameter(torch.empty(3))
self.walk()
""",
    "a method that fills, then a walk": """
self.fc = nn.Linear(30, 40)
self.w = nn.Parameter(torch.empty(3))
self.fill()
self.apply(widen)
""",
    "fans of a module of a walk": """
self.fc = nn.Linear(30, 40)
for m in self.modules():
    if isinstance(m, nn.Linear):
        fan_in, _ = nn.init._calculate_fan_in_and_fan_out(m.weight)
        nn.init.uniform_(m.bias, -3 / fan_in, 3 / fan_in)
""",
    "a choice of fillers as a statement": """
self.mlp = nn.Linear(30, 40)
self.head = nn.Linear(30, 40)
for name, m in self.named_children():
    nn.init.normal_(m.bias, std=3.0) if "mlp" in name else nn.init.ones_(m.bias) if name == "none" else nn.init.zeros_(m.bias)
""",
}

HELPERS = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(30, 40, bias=False)


class Filled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(30, 40)
        nn.init.constant_(self.fc.weight, 3.0)


def fill(layer):
    nn.init.xavier_uniform_(layer.weight.data)


def widen(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, std=2.0)


def made_lstm():
    m = nn.LSTM(20, 30)
    for name, param in m.named_parameters():
        if "weight" in name:
            param.data.uniform_(-0.1, 0.1)
    return m
"""

METHODS = {
    "reset": """
    def reset(self):
        bound = 1 / math.sqrt(self.weight.size(1))
        for weight in self.parameters():
            weight.data.uniform_(-bound, bound)
        self.bias.data.fill_(0)
""",
    "walk": """
    def walk(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, std=2.0)
        nn.init.constant_(self.head.weight, 3.0)
        nn.init.constant_(self.w, 3.0)
""",
    "fill": """
    def fill(self):
        nn.init.constant_(self.fc.weight, 3.0)
        nn.init.constant_(self.w, 3.0)
""",
}


def assert_starts_as_in_torch(source):
    """The M of a file starts with the values, or the distributions, that torch's has, and without a diagnostic."""
    result = convert_source(source)
    assert not {d.id for d in result.diagnostics} - {"frozen-param"}, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    torch.manual_seed(0)
    report = verify_init(scope["M"], load(result)["M"]())
    assert report.ok, ([row for row in report.rows if not row.ok], result.code)


@pytest.mark.parametrize("name", CONSTRUCTORS)
@pytest.mark.filterwarnings("ignore")  # the old names
def test_constructors_start_as_in_torch(name):
    body = "".join(f"        {line}\n" for line in CONSTRUCTORS[name].strip().splitlines())
    methods = "".join(text for method, text in METHODS.items() if f"self.{method}()" in body)
    source = f"{HEAD}\n{HELPERS}\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{body}{methods}"
    assert_starts_as_in_torch(source)


def test_an_initialiser_that_is_passed_in_is_refused_where_it_is_called():
    source = HEAD + """
class M(nn.Module):
    def __init__(self, init_=None):
        super().__init__()
        self.w, self.init_ = nn.Parameter(torch.zeros(50)), init_
        for name, p in self.named_parameters():
            if self.init_ is None:
                p.data.uniform_(2, 3)
            else:
                self.init_(p)
"""
    result = convert_source(source)
    assert [d.id for d in result.diagnostics] == ["aliased-write"]
    module = load(result)["M"]
    assert module().init(KEY)["w"].min() >= 2
    with pytest.raises(NotImplementedError):
        module(lambda p: None).init(KEY)


def test_a_loop_over_the_params_of_a_module_alone_is_refused():
    """`recurse=False` leaves those of the modules inside as they are, which a walk over all does not."""
    source = HEAD + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.w = nn.Linear(2, 2), nn.Parameter(torch.ones(2))
        for p in self.parameters(recurse=False):
            p.data.fill_(7.0)
"""
    result = convert_source(source)
    assert "parameter-write" in {d.id for d in result.diagnostics} and "reinitialise_all" not in result.code, result.code


def test_what_a_loop_over_params_writes_of_their_gradients_stays_theirs():
    source = HEAD + """
def scaled(module):
    for p in module.parameters():
        p.data = p.data * 2
        if p._grad is not None:
            p._grad.data = p._grad.data * 2


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        scaled(self)
"""
    assert "def initial(name, p, key):" in convert_source(source).code


def test_a_function_that_tells_none_is_asked_of_init():
    source = HEAD + """
def exists(value):
    return value is not None


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(30, 40), nn.Linear(30, 40, bias=False)
        self.apply(self.fill)

    @staticmethod
    def fill(m):
        if isinstance(m, nn.Linear) and exists(m.bias):
            nn.init.constant_(m.bias, 3.0)

    def forward(self, x):
        return self.a(x) + self.b(x)
"""
    assert_starts_as_in_torch(source)


def test_a_walk_stays_in_the_constructor_beside_what_cannot_be_converted():
    source = HEAD + """
def fill(model):
    for m in model.modules():
        if isinstance(m, nn.Linear):
            m.weight.data.fill_(3.0)


class M(nn.Module):
    def __init__(self, path=None):
        super().__init__()
        self.head = nn.Linear(4, 4)
        if path is not None:
            torch.hub.load(path, 'model')
        else:
            fill(self)
"""
    result = convert_source(source)
    assert [d.id for d in result.diagnostics] == ["no-rule"]
    module = load(result)["M"]
    assert (module().init(KEY)["head"]["weight"] == 3).all()
    with pytest.raises(NotImplementedError):
        module("weights.pt").init(KEY)


def test_an_initialiser_that_is_passed_in_gets_a_key_where_it_draws():
    source = HEAD + """
def halves(w):
    return nn.init.constant_(w, 0.5)


class Unit(nn.Module):
    def __init__(self, make, first, second=nn.init.kaiming_normal_):
        super().__init__()
        unit = make(30, 40)
        if first is not None:
            first(unit.bias)
        second(unit.weight.data, mode="fan_out")
        self.unit = unit


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Unit(nn.Linear, halves), Unit(nn.Linear, None, second=nn.init.kaiming_uniform_)
        self.w = nn.init.uniform_(nn.Parameter(torch.zeros(50)), 1, 2)
"""
    assert_starts_as_in_torch(source)


def test_initialisers_by_name_and_names_that_a_lambda_has_too():
    source = HEAD + """
KINDS = {"halves": lambda w: nn.init.constant_(w, 0.5), "wide": nn.init.xavier_uniform_, "narrow": lambda w: nn.init.normal_(w, std=0.01)}


def three(n):
    return torch.full((n,), 3.0)


class M(nn.Module):
    def __init__(self, kind="wide", bias=0.25, own=nn.init.zeros_, key="halves", last=lambda w: nn.init.uniform_(w, 2, 3)):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(30, 40), nn.Linear(30, 40), nn.Linear(30, 40)
        self.w = nn.Parameter(torch.randn(50))
        own(self.w)
        self.v = nn.Parameter(torch.zeros(50))
        last(self.v)
        kind = KINDS[kind]
        kind(self.a.weight)
        KINDS["narrow"](self.c.bias)
        KINDS[key](self.a.bias)

        def fill(m):
            if isinstance(m, nn.Linear):
                m.bias.data.fill_(bias)

        self.b.apply(fill)
        weight = three(30)
        for m in self.c.modules():
            m.weight.data.copy_(weight)
        for key in ("p", "q"):
            setattr(self, key, nn.Parameter(torch.full((2,), float(len(key)))))
"""
    assert_starts_as_in_torch(source)


def test_names_of_params_and_parts_of_layers():
    source = HEAD + """
def fill(conv, branches):
    weight = conv.weight
    n = weight.size(0)
    nn.init.normal_(weight, 0, math.sqrt(2.0 / (n * branches)))


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(30, 40, 3)
        fill(self.conv, 3)
        bias = self.conv.bias
        bias.data.fill_(0.5)
        self.p = nn.Parameter(data=torch.zeros(50), requires_grad=True)
        self.a, self.b = nn.MultiheadAttention(30, 2), nn.MultiheadAttention(30, 2)
        nn.init.normal_(self.a.out_proj.weight, std=0.5)
        for attention in [self.b]:
            nn.init.ones_(attention.out_proj.weight)
"""
    assert_starts_as_in_torch(source)


def test_a_copy_of_a_module_starts_with_the_same_params():
    source = HEAD + """
import copy


class M(nn.Module):
    def __init__(self, twin=True):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        self.target = copy.deepcopy(self.online)
        if twin:
            self.third = copy.deepcopy(self.online)

    def forward(self, x):
        return self.online(x) + self.target(x)
"""
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    params = load(result)["M"]().init(KEY)
    for name in ("target", "third"):
        assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), params["online"], params[name]))
    assert sorted(load(result)["M"](False).init(KEY)) == ["online", "target"]


def test_parameters_of_a_comprehension_have_the_shapes_of_their_turns():
    source = HEAD + """
class M(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.by_name = nn.ParameterDict({f"d{i}": nn.Parameter(torch.ones(shape[i], 2)) for i in range(len(shape))})
        self.listed = nn.ParameterList([nn.Parameter(torch.zeros(n, k)) for n, k in zip(shape, shape)])
"""
    result = convert_source(source)
    assert not result.diagnostics
    params = load(result)["M"]((3, 4, 5)).init(KEY)
    assert [params["by_name"][f"d{i}"].shape for i in range(3)] == [(3, 2), (4, 2), (5, 2)], result.code
    assert [params["listed"][str(i)].shape for i in range(3)] == [(3, 3), (4, 4), (5, 5)], result.code


ASKING = {
    "a net that is rebound in parallel": ("if len(gpus) > 0:\n        net = torch.nn.DataParallel(net, gpus)\n    init_weights(net)", {"no-rule"}),
    "a net that is made by who calls": ("init_weights(net)", set()),
}


@pytest.mark.parametrize("name", ASKING)
def test_a_function_that_goes_over_a_net_asks_init_for_params(name):
    body, diagnostics = ASKING[name]
    source = HEAD + f"""
def init_weights(net):
    def fill(m):
        if hasattr(m, "weight"):
            nn.init.constant_(m.weight.data, 3.0)
            if hasattr(m, "bias") and m.bias is not None:
                nn.init.constant_(m.bias.data, 2.0)

    net.apply(fill)


def init_net(net, gpus=()):
    {body}
    return net


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return self.fc(x)


def make():
    return init_net(Net(3))
"""
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} == diagnostics
    params = load(result)["make"]().init(KEY)["fc"]
    assert (params["weight"] == 3).all() and (params["bias"] == 2).all()


def test_what_a_function_fills_is_asked_for_params():
    """Nothing calls it here: that it gives `m.weight` values says that m is a module."""
    source = HEAD + """
def init_weights(m):
    if hasattr(m, "weight"):
        nn.init.constant_(m.weight.data, 3.0)
    if getattr(m, "bias", None) is not None:
        m.bias.data.zero_()
"""
    code = convert_source(source).code
    assert 'nn.has(m, "weight")' in code and 'nn.has(m, "bias")' in code and "attr(" not in code


def test_an_initialiser_that_is_a_default_gets_a_key():
    source = HEAD + "class M(nn.Module):\n    def __init__(self, n=40, init=nn.init.xavier_normal_, zero=nn.init.zeros_):\n        super().__init__()\n        self.w = nn.Parameter(init(torch.empty(n, n)))\n        self.b = nn.Parameter(zero(torch.empty(n)))\n\n    def forward(self, x):\n        return x @ self.w + self.b\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    params = load(result)["M"]().init(jax.random.key(0))
    assert 0.1 < np.std(params["w"]) < 0.2 and not np.any(params["b"]), result.code


def test_an_initialiser_of_a_method_that_fills_a_param_gets_a_key():
    source = HEAD + "class M(nn.Module):\n    def __init__(self, n=4):\n        super().__init__()\n        self.fc = nn.Linear(n, n)\n        self.fc.weight.data.copy_(self.start(self.fc.weight))\n\n    def start(self, w, init=nn.init.kaiming_normal_):\n        return init(torch.zeros(2, 4)).repeat(2, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n"
    result = convert_source(source)
    assert not result.diagnostics and "nn.initial(init, jnp.zeros((2, 4)), key=key)" in result.code, result.code
    module = load(result)["M"]()
    weight, other = (module.init(jax.random.key(seed))["fc"]["weight"] for seed in (0, 1))
    np.testing.assert_array_equal(weight[:2], weight[2:])
    assert weight.std() > 0.4 and (weight != other).all()  # kaiming_normal_ of 4 inputs has 0.7


STARTS = {
    "handed to a function": "def start(w, init):\n    init(w)\n\n\ndef begin(w, std):\n    start(w, partial(nn.init.constant_, val=std))\n",
    "of a function that makes one": "def rows(init):\n    def start(w):\n        for i in range(w.shape[0]):\n            init(w[i].view(5, 8))\n    return start\n\n\ndef begin(w, std):\n    w.data.zero_()\n",
    "that draws": "def start(w, init):\n    init(w)\n\n\ndef begin(w, std):\n    start(w, partial(nn.init.normal_, std=math.sqrt(std)))\n",
}


@pytest.mark.parametrize("name", STARTS)
def test_a_partial_of_an_initialiser_writes_what_it_is_given(name):
    made = "init = rows(partial(nn.init.constant_, val=2.0))\n        init(self.w)" if "rows" in STARTS[name] else ""
    source = f"import math\nfrom functools import partial\n{HEAD}{STARTS[name]}\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.zeros(40, 40))\n        begin(self.w, 4.0)\n        {made}\n\n    def forward(self, x):\n        return x @ self.w\n"
    assert_starts_as_in_torch(source)


def test_a_partial_of_an_initialiser_that_changes_is_refused():
    source = f"from functools import partial\n{HEAD}def start(w, init):\n    init(w)\n\n\nclass M(nn.Module):\n    def __init__(self, std):\n        super().__init__()\n        self.w = nn.Parameter(torch.zeros(4, 4))\n        init = [partial(nn.init.constant_, val=v) for v in (std, 2 * std)]\n        start(self.w, init[0])\n"
    assert "unsupported" in {d.id for d in convert_source(source).diagnostics}
