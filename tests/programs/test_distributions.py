"""Distributions against torch: densities, moments, divergences, their gradients, and draws."""

import importlib
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import tensor

from transpile import convert_source

from ..against_torch import float64, to_jax

FILES = ("distributions", "positive_distributions", "simplex_distributions", "discrete_distributions")
CLASSES = {
    name: cls
    for file in (*FILES, "multivariate_distributions")
    for name, cls in vars(importlib.import_module(f"rules.{file}")).items()
    if inspect.isclass(cls)
}
COVARIANCE = [[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]]
OTHER_COVARIANCE = [[1.0, -0.1, 0.0], [-0.1, 2.0, 0.4], [0.0, 0.4, 1.5]]

# class, its parameters, those of another for the divergence, a value of the same batch shape
CASES = [
    ("Normal", {"loc": [0.5, -1.0], "scale": [0.7, 2.0]}, {"loc": [0.0, 1.0], "scale": [1.5, 0.3]}, [0.1, 0.4]),
    ("LogNormal", {"loc": [0.5, -1.0], "scale": [0.7, 0.4]}, {"loc": [0.0, 1.0], "scale": [1.5, 0.3]}, [0.1, 0.4]),
    ("Laplace", {"loc": [0.5, -1.0], "scale": [0.7, 2.0]}, {"loc": [0.5, 1.0], "scale": [1.5, 0.3]}, [0.5, 0.4]),
    ("Gumbel", {"loc": [0.5, -1.0], "scale": [0.7, 2.0]}, None, [0.1, 0.4]),
    ("Cauchy", {"loc": [0.5, -1.0], "scale": [0.7, 2.0]}, {"loc": [0.0, 1.0], "scale": [1.5, 0.3]}, [0.1, 0.4]),
    ("StudentT", {"df": [9.0, 1.5], "loc": [0.5, -1.0], "scale": [0.7, 2.0]}, None, [0.1, 0.4]),
    ("Uniform", {"low": [0.5, -1.0], "high": [0.7, 2.0]}, {"low": [0.0, -2.0], "high": [1.5, 3.0]}, [0.6, 0.4]),
    ("Exponential", {"rate": [0.5, 3.0]}, {"rate": [1.5, 2.0]}, [0.6, 0.4]),
    ("Gamma", {"concentration": [0.5, 3.0], "rate": [2.0, 0.3]}, {"concentration": [1.0, 2.0], "rate": [1.0, 0.5]}, [0.6, 2.0]),
    ("Chi2", {"df": [3.0, 5.0]}, None, [0.6, 2.0]),
    ("Beta", {"concentration1": [0.5, 3.0], "concentration0": [0.6, 1.5]}, {"concentration1": [1.0, 2.0], "concentration0": [1.0, 0.5]}, [0.6, 0.2]),
    ("Dirichlet", {"concentration": [[0.5, 3.0, 1.2], [0.1, 0.2, 0.3]]}, {"concentration": [[1.0, 2.0, 3.0], [1.0, 1.0, 0.5]]}, [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]),
    ("Bernoulli", {"probs": [0.2, 0.9]}, {"probs": [0.5, 0.3]}, [1.0, 0.0]),
    ("Bernoulli", {"logits": [-2.0, 0.5]}, {"logits": [1.0, 0.3]}, [1.0, 0.0]),
    ("Categorical", {"probs": [[0.2, 0.5, 0.3], [4.0, 1.0, 5.0]]}, {"probs": [[1.0, 2.0, 1.0], [1.0, 1.0, 1.0]]}, [2, 0]),
    ("Categorical", {"logits": [[0.2, 0.5, 0.3], [4.0, 1.0, -5.0]]}, {"logits": [[1.0, 2.0, 1.0], [1.0, 1.0, 1.0]]}, [2, 0]),
    ("OneHotCategorical", {"logits": [[0.2, 0.5, 0.3]]}, {"logits": [[1.0, 2.0, 1.0]]}, [[0.0, 1.0, 0.0]]),
    ("OneHotCategoricalStraightThrough", {"probs": [[0.2, 0.5, 0.3]]}, None, [[0.0, 1.0, 0.0]]),
    ("MultivariateNormal", {"loc": [[0.1, 0.2, 0.3], [1.0, 0.0, 1.0]], "covariance_matrix": COVARIANCE}, {"loc": [[0.0, 1.0, 0.0]], "covariance_matrix": OTHER_COVARIANCE}, [[0.0, 1.0, 2.0]]),
    ("MultivariateNormal", {"loc": [0.1, 0.2, 0.3], "precision_matrix": COVARIANCE}, {"loc": [0.0, 1.0, 0.0], "precision_matrix": OTHER_COVARIANCE}, [0.0, 1.0, 2.0]),
    ("MultivariateNormal", {"loc": [0.1, 0.2, 0.3], "scale_tril": np.tril(COVARIANCE)}, {"loc": [0.0, 1.0, 0.0], "scale_tril": np.tril(OTHER_COVARIANCE)}, [0.0, 1.0, 2.0]),
]  # fmt: skip
IDS = [f"{name}-{list(options)[-1]}" for name, options, *_ in CASES]


@pytest.fixture(autouse=True)
def in_float64():
    with float64():
        yield


def tensors(options):
    return {name: tensor(value).requires_grad_() for name, value in options.items()}


def torch_class(name):
    return getattr(torch.distributions, name)


def quantities(distribution, value):
    """What can be asked of a distribution; a torch class refuses some of it, and then so must ours."""
    asked = {}
    for name in ("mean", "mode", "variance", "stddev", "probs", "logits", "covariance_matrix", "precision_matrix"):
        if hasattr(type(distribution), name) or hasattr(distribution, name):
            asked[name] = getattr(distribution, name)
    for name, argument in (("log_prob", value), ("cdf", value), ("icdf", 0.3 + 0 * value), ("entropy", None)):
        try:
            asked[name] = getattr(distribution, name)(*([] if argument is None else [argument]))
        except (NotImplementedError, AttributeError):
            continue
    return asked


def check_gradients(call, torch_call, options, *values):
    """Values, and the gradient of sum(cos) of all that are finite with respect to the options and the float values."""
    variables = [*options.values(), *(value for value in values if value.requires_grad)]
    want = torch_call(options, *values)
    # torch has no derivative of igamma
    smooth = [n for n, y in want.items() if y.requires_grad and y.isfinite().all() and "Igamma" not in str(y.grad_fn)]
    slopes = torch.autograd.grad(sum(want[name].cos().sum() for name in smooth), variables, allow_unused=True)

    @jax.jit
    def run(options, floats):
        def loss(options, floats):
            got = call(dict(zip(names, options)), *(floats or to_jax(values)))
            return sum(jnp.cos(got[name]).sum() for name in smooth), got

        return jax.grad(loss, argnums=(0, 1), has_aux=True)(options, floats)

    names = list(options)
    (found, found_floats), got = run(*([to_jax(v) for v in vs] for vs in (options.values(), variables[len(options) :])))
    assert got.keys() == want.keys()
    for name, y in want.items():
        assert got[name].dtype.kind == y.detach().numpy().dtype.kind, name
        np.testing.assert_allclose(got[name], y.detach().numpy(), 1e-8, 1e-10, err_msg=name)
    for name, g, w in zip([*names, *values], [*found, *found_floats], slopes):
        w = np.zeros(g.shape) if w is None else w.numpy()
        if name == "scale_tril":  # torch's precision_matrix has a gradient even where nothing is read
            g, w = np.tril(g), np.tril(w)
        np.testing.assert_allclose(g, w, 1e-6, 1e-8, err_msg=str(name))


@pytest.mark.parametrize("name, options, other, value", CASES, ids=IDS)
def test_quantities(name, options, other, value):
    value = tensor(value)
    check_gradients(
        lambda options, value: quantities(CLASSES[name](**options), value),
        lambda options, value: quantities(torch_class(name)(**options), value),
        tensors(options),
        value.requires_grad_() if value.is_floating_point() and "OneHot" not in name else value,
    )


@pytest.mark.parametrize("name, options, other, value", [case for case in CASES if case[2]], ids=lambda x: str(x)[:20])
def test_divergence(name, options, other, value):
    both = tensors({f"p_{n}": v for n, v in options.items()} | {f"q_{n}": v for n, v in other.items()})

    def split(both):
        return [{n[2:]: v for n, v in both.items() if n.startswith(start)} for start in ("p_", "q_")]

    def divergence(both):
        p, q = (CLASSES[name](**options) for options in split(both))
        return {"kl": p.kl_divergence(q)}

    def torch_divergence(both):
        p, q = (torch_class(name)(**options) for options in split(both))
        return {"kl": torch.distributions.kl_divergence(p, q)}

    check_gradients(divergence, torch_divergence, both)


@pytest.mark.parametrize("name, options, other, value", CASES, ids=IDS)
def test_draws(name, options, other, value):
    options = tensors(options)
    ours, theirs = CLASSES[name](**{n: to_jax(v) for n, v in options.items()}), torch_class(name)(**options)
    assert (ours.batch_shape, ours.event_shape) == (tuple(theirs.batch_shape), tuple(theirs.event_shape))
    n = 4000
    draws, wanted = ours.sample((n,), key=jax.random.key(1)), theirs.sample((n,))
    assert draws.shape == tuple(wanted.shape)
    assert draws.dtype.kind == wanted.numpy().dtype.kind
    if name == "Cauchy":  # without moments: compare the quartiles
        draws, wanted = jnp.arctan(draws), wanted.arctan()
    if name == "StudentT":
        draws, wanted = draws[:, 0], wanted[:, 0]
    error = np.sqrt(wanted.double().var(0).numpy() / n)
    assert (np.abs(draws.mean(0) - wanted.double().mean(0).numpy()) < 6 * error).all()
    np.testing.assert_allclose(draws.std(0), wanted.double().std(0).numpy(), 0.1, 1e-3)


@pytest.mark.parametrize("name, options, other, value", CASES, ids=IDS)
def test_draws_carry_gradients_as_in_torch(name, options, other, value):
    options = {n: to_jax(v) for n, v in tensors(options).items()}

    def total(options, method):
        return getattr(CLASSES[name](**options), method)((500,), key=jax.random.key(0)).mean(axis=0).sum()

    if not torch_class(name).has_rsample:
        assert not hasattr(CLASSES[name], "rsample")
        return
    assert all((slope == 0).all() for slope in jax.tree.leaves(jax.grad(total)(options, "sample")))
    if name in ("Cauchy", "StudentT", "Dirichlet", "OneHotCategoricalStraightThrough"):
        return  # no moments, or constant ones
    slopes = jax.grad(total)(options, "rsample")
    wanted = jax.grad(lambda options: CLASSES[name](**options).mean.sum())(options)
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, 0.3, 0.3), slopes, wanted)


def test_numbers_are_default_floats():
    standard = CLASSES["Normal"](0, 1)
    assert standard.log_prob(jnp.zeros(2)).shape == (2,)
    assert standard.sample(key=jax.random.key(0)).dtype == jnp.zeros(()).dtype
    assert CLASSES["Normal"](jnp.zeros(2, jnp.bfloat16), 1.0).scale.dtype == jnp.bfloat16


def test_outside_the_support():
    assert CLASSES["Uniform"](0.0, 1.0).log_prob(jnp.array([-1.0, 1.0, 0.5])).tolist() == [-jnp.inf, -jnp.inf, 0.0]
    assert CLASSES["Uniform"](0.0, 1.0).kl_divergence(CLASSES["Uniform"](0.5, 2.0)) == jnp.inf
    impossible = CLASSES["Categorical"](probs=jnp.array([0.5, 0.5, 0.0]))
    assert (impossible.sample((1000,), key=jax.random.key(0)) < 2).all()
    p = torch.distributions.Categorical(tensor([0.5, 0.5, 0.0]))
    np.testing.assert_allclose(impossible.log_prob(jnp.arange(3)), p.log_prob(torch.arange(3)).numpy())
    assert impossible.kl_divergence(CLASSES["Categorical"](probs=jnp.array([1.0, 0.0, 0.0]))) == jnp.inf


def test_independent():
    options = tensors({"loc": [[0.1, 0.2, 0.3]], "scale": [[1.0, 2.0, 3.0]]})

    def build(module, options):
        get = CLASSES.__getitem__ if module is CLASSES else torch_class
        p = get("Independent")(get("Normal")(**options), 1)
        q = get("Independent")(get("Normal")(2 * options["loc"], options["scale"]), 1)
        kl = p.kl_divergence(q) if module is CLASSES else torch.distributions.kl_divergence(p, q)
        assert (tuple(p.batch_shape), tuple(p.event_shape)) == ((1,), (3,))
        return {"log_prob": p.log_prob(options["loc"] + 1), "entropy": p.entropy(), "mean": p.mean, "kl": kl}

    check_gradients(lambda options: build(CLASSES, options), lambda options: build(torch, options), options)


def test_a_distribution_passes_through_jit_and_vmap():
    scales = jnp.array([1.0, 2.0])
    build = jax.jit(lambda scale: CLASSES["Independent"](CLASSES["Normal"](jnp.zeros(3), scale), 1))
    assert build(1.0).log_prob(jnp.zeros((2, 3))).shape == (2,)
    batched = jax.vmap(build)(scales)
    assert batched.batch_shape == (2,)
    np.testing.assert_allclose(batched.entropy(), [build(scale).entropy() for scale in scales])
    assert batched.expand((4, 2)).sample(key=jax.random.key(0)).shape == (4, 2, 3)


def test_a_base_class_is_a_class():
    """A rule that is a function, `TransformedDistribution`, is none."""
    head = "import torch.distributions as d\n\n\n"
    result = convert_source(f"{head}class Tanh(d.TransformedDistribution):\n    pass\n\n\nclass Own(d.Normal):\n    pass\n")
    assert "class Tanh(object)" in result.code and "class Own(nn.Normal)" in result.code
    assert [d.id for d in result.diagnostics] == ["no-rule"]


def test_exactly_one_parametrization():
    with pytest.raises(ValueError, match="either probs or logits"):
        CLASSES["Categorical"]()
    with pytest.raises(NotImplementedError, match="no KL divergence of Normal from Laplace"):
        CLASSES["Normal"](0, 1).kl_divergence(CLASSES["Laplace"](0, 1))
