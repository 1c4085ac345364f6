"""Activations, losses, distances and embeddings at their corners: values and gradients against torch, in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from rules import (
    activation,
    class_loss,
    ctc,
    distance,
    embedding,
    extrema,
    loss,
    loss_legacy,
    norms,
    softmax,
)

from ..against_torch import float64

RULES = {}
for module in (activation, class_loss, ctc, distance, embedding, loss, softmax):
    RULES |= {n: getattr(module, n) for n in dir(module) if hasattr(getattr(module, n), "torch_names")}

CORNERS = np.array([-20.0, -6, -3, -2, -1, -0.5, -0.1, 0, 0.1, 0.5, 1, 2, 3, 6, 20, 25, np.inf, -np.inf])
SOME = np.array([0.0, 1, 0.3, 0.5, 0, 1, -2, 3])
OTHER = np.array([0.0, 1, 1, 0.2, 0.5, 0.5, -2, 2])
ROWS = np.array([[0.0, 0, 0], [1e-10, 0, 1e-10], [1, 2, 3], [-1, 0.5, 2], [1, 2, 3]])
OTHERS = np.array([[0.0, 0, 0], [1, 2, 3], [1, 2, 3], [2, 2, 0.5], [0, 0, 0]])
SMOOTH = ["relu", "leaky_relu", "gelu", "silu", "mish", "elu", "selu", "celu", "softplus", "logsigmoid", "softsign"]
HARD = ["relu6", "hardtanh", "hardsigmoid", "hardswish", "hardshrink", "softshrink", "tanhshrink", "rrelu"]
SIGNS = np.array([1, -1, 1, -1, 1])


@pytest.fixture(autouse=True)
def in_float64():
    with float64():
        yield


def assert_equal_to_torch(torch_function, function, inputs, rest=(), **kwargs):
    """``function(*inputs, *rest)`` gives torch's values and its gradients for ``inputs``."""
    tensors = [torch.tensor(x, requires_grad=True) for x in inputs]
    others = [torch.tensor(x) if isinstance(x, np.ndarray) else x for x in rest]
    want = torch_function(*tensors, *others, **kwargs)
    slopes = torch.autograd.grad(want.sin().nan_to_num(0).sum(), tensors, allow_unused=True)
    arrays = [jnp.asarray(x) for x in inputs]
    others = [jnp.asarray(x) if isinstance(x, np.ndarray) else x for x in rest]
    call = lambda *xs: function(*xs, *others, **kwargs)
    np.testing.assert_allclose(jax.jit(call)(*arrays), want.detach().numpy(), 1e-7, 1e-9)
    total = lambda *xs: jnp.nan_to_num(jnp.sin(call(*xs))).sum()
    for got, slope in zip(jax.jit(jax.grad(total, tuple(range(len(arrays)))))(*arrays), slopes):
        np.testing.assert_allclose(got, np.zeros_like(got) if slope is None else slope.numpy(), 1e-6, 1e-7)


@pytest.mark.parametrize(
    "name, args",
    [(n, ()) for n in SMOOTH]
    + [(n, ()) for n in HARD]
    + [("leaky_relu", (0.2,)), ("gelu", ("tanh",)), ("elu", (2.0,)), ("celu", (2.0,)), ("softplus", (2.0,))]
    + [("softplus", (2.0, 1.0)), ("hardtanh", (-2.0, 3.0)), ("threshold", (0.5, 3.0)), ("threshold", (0.0, 0.0))],
)
def test_activations(name, args):
    finite = CORNERS[:-2] if name in ("tanhshrink", "softsign", "hardswish") else CORNERS
    kwargs = {"approximate": args[0]} if name == "gelu" and args else {}
    assert_equal_to_torch(getattr(F, name), RULES[name], [finite], () if kwargs else args, **kwargs)


def test_nan_stays():
    for name in ["relu", "leaky_relu", "elu", "selu", "celu", *HARD]:
        assert jnp.isnan(RULES[name](jnp.array([jnp.nan]))).all()
    assert jnp.isnan(activation.threshold(jnp.array([jnp.nan]), 0.5, 3.0)).all()


@pytest.mark.parametrize(
    "shape, slopes", [((), 1), ((3,), 1), ((4, 3), 3), ((2, 3, 4), 3), ((2, 3, 4), 1), ((2, 3, 2, 2), 3)]
)
def test_prelu(shape, slopes):
    x = np.round(np.random.RandomState(0).randn(*shape))
    assert_equal_to_torch(F.prelu, activation.prelu, [np.asarray(x), np.linspace(-1, 1, slopes)])


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.filterwarnings("ignore:Implicit dimension")
def test_softmax_without_dim(name):
    function = RULES["softmin" if name == "softmin" else f"functional_{name}"]
    for shape in (5,), (2, 3), (2, 3, 4), (2, 3, 4, 2):
        assert_equal_to_torch(getattr(F, name), function, [np.random.RandomState(0).randn(*shape)])


def test_half_types_are_computed_in_float32():
    x = jnp.linspace(-4, 4, 50).astype(jnp.bfloat16)
    got = softmax.in_float32(jax.nn.softmax, x)
    want = F.softmax(torch.tensor(np.asarray(x, np.float32)).bfloat16(), 0)
    np.testing.assert_array_equal(np.asarray(got, np.float32), want.float().numpy())


@pytest.mark.parametrize("hard", [False, True])
def test_gumbel_softmax(hard):
    logits, key = jnp.array([[1.0, 2, 0.5], [0, 0, 3]]), jax.random.key(0)
    function = lambda x: softmax.gumbel_softmax(x, 0.7, hard, key=key)
    soft = lambda x: softmax.gumbel_softmax(x, 0.7, key=key)
    np.testing.assert_allclose(function(logits).sum(axis=-1), 1)
    assert not hard or set(np.unique(np.round(function(logits), 12))) == {0.0, 1.0}
    for f, g in ((function, soft), (soft, function)):
        got, want = (jax.grad(lambda x, h=h: h(x)[:, 0].sum())(logits) for h in (f, g))
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize(
    "name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "hinge_embedding_loss", "kl_div"]
)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.filterwarnings("ignore:reduction")
def test_losses(name, reduction):
    inputs, rest = ([SOME], (OTHER,)) if name in ("kl_div", "hinge_embedding_loss") else ([SOME, OTHER], ())
    rest = (np.maximum(OTHER, 0),) if name == "kl_div" else rest
    assert_equal_to_torch(getattr(F, name), RULES[name], inputs, rest, reduction=reduction)


def test_other_losses():
    p, q = np.array([0.0, 1, 0.3, 0.5, 0, 1, 1e-30]), np.array([0.0, 1, 1, 0.2, 0.5, 0.5, 1])
    assert_equal_to_torch(F.binary_cross_entropy, loss.binary_cross_entropy, [p], (q,))
    with_logits = F.binary_cross_entropy_with_logits, loss.binary_cross_entropy_with_logits
    assert_equal_to_torch(*with_logits, [CORNERS[:-2]], (np.abs(np.sin(CORNERS[:-2])),))
    assert_equal_to_torch(*with_logits, [CORNERS[:-2]], (np.ones(16),), pos_weight=None, reduction="sum")
    assert_equal_to_torch(
        F.soft_margin_loss, loss.soft_margin_loss, [np.array([1e3, -1e3, 8])], (np.array([1.0, 1, -1]),)
    )
    gaussian = F.gaussian_nll_loss, loss.gaussian_nll_loss
    x, y = np.random.RandomState(0).randn(2, 3, 2)
    assert_equal_to_torch(*gaussian, [x, y, np.array([[0.0, 1e-9], [1, 2], [3, 1e-6]])])
    assert_equal_to_torch(*gaussian, [x, y, np.array([0.0, 1, 3])], full=True)
    assert_equal_to_torch(*gaussian, [x, y], (2.0,))
    zeros = np.zeros(5)
    assert_equal_to_torch(F.margin_ranking_loss, loss.margin_ranking_loss, [zeros, zeros], (SIGNS,))


@pytest.mark.parametrize("size_average", [None, True, False])
@pytest.mark.parametrize("reduce", [None, True, False])
@pytest.mark.filterwarnings("ignore:size_average")
def test_old_words_for_reduction(size_average, reduce):
    assert_equal_to_torch(
        F.mse_loss, loss_legacy.mse_loss_legacy, [SOME], (OTHER,), size_average=size_average, reduce=reduce
    )


@pytest.mark.parametrize("shape", [(3,), (4, 3), (4, 3, 2), (2, 3, 2, 2)])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy(shape, reduction, smoothing):
    random = np.random.RandomState(0)
    x, p, weight = random.randn(*shape), random.rand(*shape), np.array([1.0, 2.0, 0.5])
    target = np.asarray(random.randint(0, 3, shape[:1] * (len(shape) > 1) + shape[2:]))
    if target.ndim:
        target.flat[0] = -100
    for options in ((), (weight,)):
        both, words = (F.cross_entropy, class_loss.cross_entropy), {
            "reduction": reduction,
            "label_smoothing": smoothing,
        }
        assert_equal_to_torch(*both, [x], (target, *options), **words)
        assert_equal_to_torch(*both, [x, p], options, **words)
        assert_equal_to_torch(F.nll_loss, class_loss.nll_loss, [x], (target, *options), reduction=reduction)


def test_nothing_but_ignored_targets():
    assert jnp.isnan(class_loss.cross_entropy(jnp.ones((2, 3)), jnp.array([-100, -100])))


def test_margins_that_are_just_met():
    scores, weight = np.array([[1.0, 0, 1], [0, 0, 0]]), np.array([1.0, 2, 3])
    for p in (1, 2):
        both = F.multi_margin_loss, class_loss.multi_margin_loss
        assert_equal_to_torch(*both, [scores], (np.array([0, 2]), p, 1.0, weight))
    labels = np.array([[3, 0, -1, 1], [1, 1, 2, -1]])
    both = F.multilabel_margin_loss, class_loss.multilabel_margin_loss
    assert_equal_to_torch(*both, [np.array([[0.1, 0, 1.1, 0.2], [0, 0, 1, -1]])], (labels,))


def test_distances_of_equal_vectors():
    assert_equal_to_torch(F.cosine_similarity, distance.cosine_similarity, [ROWS, OTHERS])
    assert_equal_to_torch(F.cosine_similarity, distance.cosine_similarity, [ROWS[:, None], OTHERS[None]], dim=-1)
    for p in (0.0, 1.0, 2.0, 3.0, np.inf):
        assert_equal_to_torch(F.pairwise_distance, distance.pairwise_distance, [ROWS, OTHERS], (p, 0.0))
    for p in (1.0, 2.0, 3.0):
        assert_equal_to_torch(F.pdist, distance.pdist, [ROWS], (p,))
    assert_equal_to_torch(F.cosine_embedding_loss, distance.cosine_embedding_loss, [ROWS, OTHERS], (SIGNS,))
    for swap in (False, True):
        both = F.triplet_margin_loss, distance.triplet_margin_loss
        assert_equal_to_torch(*both, [ROWS, OTHERS, OTHERS[::-1].copy()], swap=swap)
    both = F.triplet_margin_with_distance_loss, distance.triplet_margin_with_distance_loss
    assert_equal_to_torch(*both, [ROWS, ROWS, ROWS])


@pytest.mark.parametrize("options", [{}, {"reduction": "none"}, {"reduction": "sum", "blank": 3}])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("impossible", [False, True])
def test_ctc(options, joined, impossible):
    log_probs = torch.randn(6, 4, 5).log_softmax(2).numpy()
    targets = np.array([[1, 2, 2], [4, 1, 0], [2, 2, 2], [0, 0, 0]])
    if options.get("blank") != 3:
        targets = np.where(targets == 0, 3, targets)
    lengths = np.array([6, 5, 3 if impossible else 5, 6]), np.array([3, 2, 3, 0])
    if joined:
        targets = np.concatenate([t[:n] for t, n in zip(targets, lengths[1])])
    rest, options = (targets, *lengths), options | {"zero_infinity": impossible}
    assert_equal_to_torch(F.ctc_loss, ctc.ctc_loss, [log_probs], rest, **options)


def test_impossible_ctc_is_infinite():
    log_probs = jnp.log(jnp.full((3, 1, 4), 0.25))
    assert jnp.isinf(ctc.ctc_loss(log_probs, jnp.array([[2, 2, 2]]), (3,), (3,)))


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": 1}, {"padding_idx": -1}, {"scale_grad_by_freq": True, "padding_idx": 0}]
)
def test_embedding(options):
    ids, weight = np.array([[0, 1, 1], [2, 4, 0]]), np.random.RandomState(0).randn(5, 3)
    torch_function = lambda w, i: F.embedding(i, w, **options)
    assert_equal_to_torch(torch_function, lambda w, i: embedding.embedding(i, w, **options), [weight], (ids,))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"padding_idx": -4}])
def test_embedding_bag(mode, options):
    options, weight = options | {"mode": mode}, np.random.RandomState(0).randn(5, 3)
    torch_function = lambda w, i, *offsets, **more: F.embedding_bag(i, w, *offsets, **options, **more)
    function = lambda w, i, *offsets, **more: embedding.embedding_bag(i, w, *offsets, **options, **more)
    assert_equal_to_torch(torch_function, function, [weight], (np.array([[0, 1, 1], [2, 4, 0]]),))
    ids, offsets = np.array([0, 1, 1, 2, 4, 0, 3]), np.array([0, 0, 3, 7])  # the first bag is empty
    for last in (False, True):
        assert_equal_to_torch(torch_function, function, [weight], (ids, offsets), include_last_offset=last)
    if mode == "sum":
        torch_function = lambda w, s, i, o: F.embedding_bag(i, w, o, per_sample_weights=s, **options)
        function = lambda w, s, i, o: embedding.embedding_bag(i, w, o, per_sample_weights=s, **options)
        assert_equal_to_torch(torch_function, function, [weight, SOME[1:]], (ids, offsets))


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extrema_of_bools(name):
    x = np.random.RandomState(0).rand(3, 6) > 0.5
    got, want = getattr(extrema, name)(jnp.asarray(x), 1), getattr(torch, name)(torch.tensor(x), 1)
    for g, w in zip(got, want):
        np.testing.assert_array_equal(g, w.numpy())


def test_a_norm_that_overflows_has_torchs_gradient():
    numbers = np.array([1e308, -1.5e308, 3.0])
    given = torch.tensor(numbers, requires_grad=True)
    torch.tanh(given.norm()).backward()
    got = jax.grad(lambda x: jnp.tanh(norms.vector_norm(x)))(jnp.asarray(numbers))
    np.testing.assert_array_equal(got, given.grad)
