"""Programs that draw: keys and streams reach every call, or it is told."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from flax import nnx

from transpile import to_torch
from transpile.command import engine

from .small import HEAD, TARGETS, alone
from .verified import built, converted, given, verify

DRAWING_FUNCTIONS_KEPT = """
def noise(n):
    return torch.randn(n, 4)


def ones(n):
    return torch.ones(n, 4)


class Sampled(nn.Module):
    def __init__(self, kind="noise", sample=noise):
        super().__init__()
        self.given = sample
        self.chosen = noise if kind == "noise" else ones
        self.table = {"noise": noise, "ones": ones}
        self.same = noise

    def forward(self, x):
        draw = noise
        return self.given(3) + self.chosen(3) + self.table["ones"](3) + self.same(3) + draw(3)
"""


def test_a_function_that_draws_is_kept_where_its_calls_do_not_know_it():
    (made,), _, _ = engine.convert([given(HEAD + DRAWING_FUNCTIONS_KEPT)], "", "flax")
    lines = {d.line for d in made.diagnostics if d.id == "draw-in-value"}
    assert "self.chosen(3, key=self.noise())" in made.code
    text = (HEAD + DRAWING_FUNCTIONS_KEPT).splitlines()
    assert [text[n - 1].strip().partition("(")[0] for n in sorted(lines)] == [
        "def __init__",
        'self.table = {"noise": noise, "ones": ones}',
    ]


CALLED_ALONE = """
def noise(x):
    return x + torch.rand_like(x)


def twice(f, x):
    return f(f(x))


class Net(nn.Module):
    def forward(self, x):
        return twice(noise, x)
"""


def test_what_is_called_alone_where_it_is_given_has_no_stream_of_its_own():
    (made,), _, _ = engine.convert([given(HEAD + CALLED_ALONE)], "", "flax")
    assert "return f(f(x, rngs=rngs), rngs=rngs)" in made.code
    assert "return twice(noise, x, rngs=self.noise)" in made.code


SEEDED = """
def seeded(seed, device):
    if isinstance(seed, list):
        return [torch.Generator(device).manual_seed(one) for one in seed]
    return torch.Generator(device).manual_seed(seed)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = torch.Generator()

    def forward(self, x, y):
        self.generator.manual_seed(3)
        return x + 0 * torch.rand(4, generator=self.generator if y is None else seeded(3, "cpu"))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_the_seeds_of_generators_are_told_of(target):
    (made,), _, _ = engine.convert([given(HEAD + SEEDED)], "", target)
    assert [(d.line, d.id) for d in made.diagnostics] == [(n, "taken-for-granted") for n in (9, 10, 19)]
    assert "Generator" not in made.code and "manual_seed" not in made.code


def test_a_function_that_draws_under_a_branch():
    draws = alone("exits").replace("torch.arange(n) % samples.shape[0]", "torch.randint(0, 3, (n,))")
    torch.manual_seed(0)
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + draws, "Net", "", inputs, "flax")


DEFAULT = """
class Net(nn.Module):
    def __init__(self, layer=nn.Linear(4, 4)):
        super().__init__()
        self.layer, self.own = layer, nn.Linear(4, 4)

    def forward(self, x):
        return self.own(self.layer(x))
"""


def test_a_default_draws_where_the_function_is_defined():
    (made,), support, _ = engine.convert([given(HEAD + DEFAULT)], "", "flax")
    scope = converted(made.code, support)
    assert not made.diagnostics and built(scope["Net"], scope["Net"]).layer.weight.shape == (4, 4)


def test_an_evaluation_in_flax_leaves_the_stream():
    text = (
        HEAD
        + """
class Net(nn.Module):
    def forward(self, x):
        x = F.dropout(x, 0.5, self.training)
        return F.scaled_dot_product_attention(x, x, x, dropout_p=0.5 if self.training else 0.0)
"""
    )
    (made,), support, _ = engine.convert([given(text)], "", "flax")
    model = converted(made.code, support)["Net"](rngs=nnx.Rngs(0))
    model.eval()
    with jax.enable_x64(True):  # under plain jit what mutates the stream raises
        x = jnp.arange(24.0).reshape(2, 3, 4)
        wanted = F.scaled_dot_product_attention(*[torch.tensor(np.array(x))] * 3)
        np.testing.assert_allclose(jax.jit(lambda x: model(x))(x), wanted)


NOISY = """
class Noise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        return x + s * torch.rand_like(x)

    @staticmethod
    def backward(ctx, g):
        return g * 0.5, None


class Net(nn.Module):
    def forward(self, x):
        return Noise.apply(x, 2.0)
"""
# Flax hands a key to an autograd Function that draws, which has a parameter of this name.
KEY_BESIDE_QUERY = """
class Hash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key):
        ctx.save_for_backward(query, key)
        codes = (key @ torch.randn(4, 2)).sign()
        return query * key + 0 * codes.sum()

    @staticmethod
    def backward(ctx, grad):
        query, key = ctx.saved_tensors
        return grad * key, grad * query


class Net(nn.Module):
    def forward(self, x, y):
        return Hash.apply(x, y)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_key_of_the_users_own_beside_that_of_a_draw(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + KEY_BESIDE_QUERY, "Net", "", inputs, target)


def test_an_autograd_function_draws_from_the_stream_of_the_module_in_flax():
    (made,), support, _ = engine.convert([given(HEAD + NOISY)], "", "flax")
    assert not made.diagnostics
    model, x = converted(made.code, support)["Net"](rngs=nnx.Rngs(0)), jnp.ones(4)
    first, second = model(x), model(x)
    assert (first >= 1).all() and (first != second).all()
    several = NOISY.replace(
        "return x + s", "'''Noise.'''\n        s = s * torch.rand(1)\n        return x + s"
    )
    several = several.replace("return g * 0.5", "return g * torch.rand(1) * torch.rand(1)")
    (made,), support, _ = engine.convert([given(HEAD + several)], "", "flax")
    assert not made.diagnostics
    model, x = converted(made.code, support)["Net"](rngs=nnx.Rngs(0)), jnp.ones(4)
    run = nnx.jit(nnx.value_and_grad(lambda x, model: model(x).sum()))
    first, second = run(x, model), run(x, model)
    assert first[0] != second[0] and (first[1] != second[1]).all()


DRAWN_WEIGHTS = """
class Drawn(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.initialize_weights()

    def initialize_weights(self):
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)

    def forward(self, x, y):
        return self.fc(x) + y + 0 * torch.rand_like(y)
"""


def test_weights_are_drawn_by_a_method_that_is_handed_on():
    """In Flax the stream that forward draws from is there by then."""
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + DRAWN_WEIGHTS, "Drawn", "", inputs, "flax")


DRAWN_BY_A_DISTRIBUTION = """
def begun(n, std=1.0):
    return torch.distributions.Normal(0.0, std / n).sample((n, n))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(begun(4))

    def forward(self, x):
        return x @ self.w
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_function_of_constructors_draws_by_a_distribution(target):
    verify(HEAD + DRAWN_BY_A_DISTRIBUTION, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)
    (made,), support, _ = engine.convert([given(HEAD + DRAWN_BY_A_DISTRIBUTION)], "", target)
    model = built((cls := converted(made.code, support)["Net"]), cls)
    tree = model.init(jax.random.key(0)) if target == "functional" else model
    arrays = to_torch(tree, {}) if target == "functional" else to_torch(tree)
    assert arrays["w"].shape == (4, 4) and arrays["w"].unique().numel() == 16


COMPLEX_DRAWS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(0.5 * torch.rand(4, 4, dtype=torch.cfloat))

    def forward(self, x):
        return (x.to(self.w.dtype) @ self.w).real
"""


@pytest.mark.parametrize("target", TARGETS)
def test_complex_weights_are_drawn_uniformly(target):
    (made,), support, _ = engine.convert([given(HEAD + COMPLEX_DRAWS)], "", target)
    model = built((cls := converted(made.code, support)["Net"]), cls)
    tree = model.init(jax.random.key(0)) if target == "functional" else model
    w = (to_torch(tree, {}) if target == "functional" else to_torch(tree))["w"]
    assert w.dtype == torch.complex64 and not made.diagnostics
    for part in (w.real, w.imag):
        assert part.min() >= 0 and 0.25 < part.max() <= 0.5 and part.unique().numel() == 16


KEPT_DISTRIBUTION = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.prior = torch.distributions.Normal(torch.zeros(4), torch.ones(4))
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.prior.log_prob(self.fc(x))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_distribution_that_a_module_keeps(target):
    verify(HEAD + KEPT_DISTRIBUTION, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)
    (made,), _, _ = engine.convert([given(HEAD + KEPT_DISTRIBUTION)], "", target)
    assert "nn.build" not in made.code and "key=keys" not in made.code


MODULE_AND_DISTRIBUTION = """
from torch.distributions import Distribution, Gamma


class Prior(Distribution, nn.Module):
    def log_prob(self, x):
        return super().log_prob(x * 2)


class GammaPrior(Prior, Gamma):
    def __init__(self, concentration, rate):
        nn.Module.__init__(self)
        Gamma.__init__(self, concentration=concentration, rate=rate)


class Net(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.prior = GammaPrior(torch.tensor(c), torch.tensor(1.5))

    def forward(self, x):
        return self.fc(x) + self.prior.log_prob(x.abs())
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_that_is_a_distribution_too_is_refused(target):
    (made,), support, _ = engine.convert([given(HEAD + MODULE_AND_DISTRIBUTION)], "", target)
    assert [d.id for d in made.diagnostics] == ["no-rule"] * 3
    scope = converted(made.code, support)
    with pytest.raises(NotImplementedError):
        built(lambda **k: scope["Net"](2.0, **k), scope["Net"])


KEPT_DRAWS = """
def noisy(x):
    return x + torch.rand(4)


def plain(x):
    return x


KINDS = {"noisy": noisy, "plain": plain}


class Net(nn.Module):
    def __init__(self, kind="noisy"):
        super().__init__()
        self.f = KIND

    def forward(self, x):
        return self.f(x)
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kept", ("KINDS[kind]", "noisy if kind else plain"))
def test_a_function_that_draws_and_is_kept_beside_others(target, kept):
    text = HEAD + KEPT_DRAWS.replace("= KIND\n", f"= {kept}\n")
    (made,), _, _ = engine.convert([given(text)], "", target)
    told = {d.id for d in made.diagnostics}
    assert told == ({"draw-in-value"} if target == "flax" else set())
    if not told:
        assert "def plain(x, *, key=None):" in made.code and "self.f(x, key=key)" in made.code


@pytest.mark.parametrize("layer", ("MultiheadAttention(4, 2, 0.5)", "RReLU()", "Dropout(0.5)"))
def test_layers_draw_nothing_in_inference_mode(layer):
    call = "self.f(x, x, x)[0]" if "Attention" in layer else "self.f(x)"
    source = f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.f = nn.{layer}\n\n"
    source += f"    def forward(self, x):\n        return {call}\n"
    (made,), support, _ = engine.convert([given(HEAD + source)], "", "equinox")
    scope = converted(made.code, support)
    net = eqx.nn.inference_mode(built(lambda **given: scope["Net"](**given), scope["Net"]))
    x = -jnp.ones((3, 4))
    one, other = (net(x, key=jax.random.key(i)) for i in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kept", ["self.m = p > 0.5", "self.register_buffer('m', p > 0.5)"])
def test_a_mask_that_is_drawn_is_state(kept, target):
    """Each model has its own, and torch's is loaded: it is no constant that a trace knows."""
    source = (
        HEAD
        + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + f"        p = torch.rand(4)\n        {kept}\n\n"
        + "    def forward(self, x):\n        return x[:, self.m]\n"
    )
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert [(d.line, d.id) for d in made.diagnostics] == [(13, "data-dependent-shape")]


def test_a_generator_gives_no_changed_module():
    source = "def swapped(module):\n    module.scale = 2.0\n    yield\n    module.scale = 1.0\n\n\n"
    source += "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.scale = 1.0\n\n"
    source += "    def forward(self, x):\n        for _ in swapped(self):\n            x = x * self.scale\n        return x\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "equinox")
    assert "parameter-write" in [d.id for d in made.diagnostics]
