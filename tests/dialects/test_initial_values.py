"""How arrays begin, and what fills them while a model is built."""

import equinox as eqx
import jax
import numpy as np
import pytest
import torch

from transpile import from_torch, to_torch
from transpile.command import engine
from transpile.proof.models import constructed

from .small import HEAD, TARGETS, alone, program
from .verified import built, converted, given, namespace, verify

LOCAL_PARAMS_FILLED = """
class Filled(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(2):
            w = nn.Parameter(torch.empty(4, 4))
            nn.init.orthogonal_(w)
            setattr(self, "w%d" % i, w)
"""


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_a_local_param_is_filled_before_it_is_set(target):
    (made,), support, _ = engine.convert([given(HEAD + LOCAL_PARAMS_FILLED)], "", target)
    cls = converted(made.code, support)["Filled"]
    for array in to_torch(built(cls, cls)).values():
        assert np.allclose(array @ array.T, np.eye(4), atol=1e-5)


@pytest.mark.parametrize("target, told", list(zip(TARGETS, (0, 1, 1), strict=True)))
def test_what_fills_a_layer_stays_though_its_value_is_not_read(target, told):
    """An array that is given back has no value yet, or would have to come beside the module."""
    text = alone("writing_lambdas").replace("    nn.init.zeros_(m", "    return nn.init.zeros_(m")
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert len(made.diagnostics) == told and "done = zero(self.c" in made.code


KEPT_BEHIND_MADE_LAYERS = """
class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.planes = 4
        self.layer1 = self._make_layer(4)
        self.layer2 = self._make_layer(4)

    def _make_layer(self, n):
        layers = nn.Sequential(nn.Linear(self.planes, n), nn.Tanh())
        self.planes = n
        return layers

    def forward(self, x, y):
        self.seen = self.layer1(x)
        return self.layer2(self.seen) + y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_run_keeps_begins_before_layers_that_a_method_makes(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + KEPT_BEHIND_MADE_LAYERS, "Net", "", inputs, target)


CACHED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(2, 4), persistent=False)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        x = self.fc(x)
        self.seen[1:] = x.detach()[1:]
        self.mean.copy_(x.detach().mean(0))
        return x + self.seen
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_buffer_that_is_not_saved_is_filled(target):
    verify(HEAD + CACHED, "Net", "", [torch.randn(2, 4, dtype=torch.float64)], target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_buffer_that_is_not_saved_is_in_no_checkpoint(target):
    (made,), support, _ = engine.convert([given(HEAD + CACHED)], "", target)
    theirs = namespace(HEAD + CACHED, "program")["Net"]()
    theirs(torch.ones(2, 4))
    net = converted(made.code, support)["Net"]
    for source, begun in ((theirs, theirs.seen), (theirs.state_dict(), torch.zeros(2, 4))):
        filled = from_torch(source, constructed(net, (), {}, jax.random.key(0)))
        if target == "functional":
            model = constructed(net, (), {}, jax.random.key(0))
            seen, held = filled[1]["seen"], to_torch(*filled, model)
        elif target == "flax":
            seen, held = filled.seen[...], to_torch(filled)
        else:
            seen, held = filled[1].get(filled[0].seen), to_torch(*filled)
        np.testing.assert_array_equal(seen, begun)
        assert held.keys() == theirs.state_dict().keys()


@pytest.mark.parametrize("target", TARGETS)
def test_a_checkpoint_lacks_no_buffer_that_torch_saves(target):
    (made,), support, _ = engine.convert([given(HEAD + CACHED)], "", target)
    saved = namespace(HEAD + CACHED, "program")["Net"]().state_dict()
    del saved["mean"]
    net = converted(made.code, support)["Net"]
    with pytest.raises(ValueError, match="missing: mean$"):
        from_torch(saved, constructed(net, (), {}, jax.random.key(0)))


HANDED_INITIALISERS = """
def init(module, weight_init, bias_init, gain=1):
    weight_init(module.weight.data, gain=gain)
    bias_init(module.bias.data)
    return module


class Net(nn.Module):
    def __init__(self, n, hidden=8):
        super().__init__()
        # with room for relu
        init_ = lambda m: init(
            m, nn.init.orthogonal_, lambda x: nn.init.constant_(x, 2), nn.init.calculate_gain("relu")
        )
        self.main = nn.Sequential(init_(nn.Linear(n, hidden)), nn.ReLU(), init_(nn.Linear(hidden, n)))
        init_ = lambda m: init(m, nn.init.orthogonal_, lambda x: nn.init.constant_(x, 0))  # plain
        self.critic = init_(nn.Linear(n, n))
        self.train()

    def forward(self, x):
        return self.critic(self.main(x))
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_initialisers_are_handed_to_what_a_constructor_calls(target):
    source = HEAD + HANDED_INITIALISERS
    verify(source, "Net", "4", [torch.randn(2, 4, dtype=torch.float64)], target)
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert "# with room for relu" in made.code and "# plain" in made.code
    model = built(lambda **k: scope["Net"](4, **k), (scope := converted(made.code, support))["Net"])
    arrays = (
        to_torch(model.init(jax.random.key(0)), {}) if target == "functional" else to_torch(model)
    )
    assert (arrays["main.0.bias"] == 2).all() and (arrays["critic.bias"] == 0).all()
    for name, gain in (("main.0.weight", 2), ("main.2.weight", 2), ("critic.weight", 1)):
        weight = arrays[name] if name == "main.2.weight" else arrays[name].T
        torch.testing.assert_close(weight @ weight.T, gain * torch.eye(4), rtol=1e-4, atol=1e-4)


SOMETIMES = """
class Net(nn.Module):
    def __init__(self, learned=False):
        super().__init__()
        self.scale = torch.tensor([1.0])
        if learned:
            self.scale = nn.Parameter(self.scale)

    def forward(self, x):
        return x * self.scale
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_param_of_another_configuration_is_filled(target):
    (made,), support, _ = engine.convert([given(HEAD + SOMETIMES)], "", target)
    theirs = namespace(HEAD + SOMETIMES, "program")["Net"]()
    theirs.scale *= 3
    cls = converted(made.code, support)["Net"]
    filled = from_torch(theirs, built(cls, cls))
    assert (filled.scale[...] if target == "flax" else to_torch(*filled)["scale"]) == 3


def begun(source, target):
    """The arrays of a new model, by torch's names."""
    (made,), support, _ = engine.convert([given(HEAD + source)], "", target)
    cls = converted(made.code, support)["Net"]
    model = built(cls, cls)
    if target == "functional":
        model = model.init(jax.random.key(0)), {}
    return to_torch(*model) if isinstance(model, tuple) else to_torch(model)


WALKED_NORMED = """
def init_weights(m):
    if m.__class__.__name__.find("Conv") != -1:
        m.weight.data.normal_(0.0, 0.01)
        m.bias.data.fill_(0.3)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(
            [nn.utils.weight_norm(nn.Conv1d(1, 1, 3, padding=1)) for _ in range(2)]
        )
        self.convs.apply(init_weights)
        self.last = nn.utils.weight_norm(nn.Linear(4, 4))
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.constant_(m.bias, 0.7)

    def forward(self, x, y):
        h = x[:, None]
        for conv in self.convs:
            h = h + conv(F.leaky_relu(h, 0.1))
        return self.last(h[:, 0]) * y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_walks_see_the_layer_that_weight_norm_is_around(target):
    found = begun(WALKED_NORMED, target)
    np.testing.assert_allclose(found["convs.1.bias"], [0.3], rtol=1e-6)
    np.testing.assert_allclose(found["last.bias"], [0.7] * 4, rtol=1e-6)


ASKED_OF_PARAMS = """
def weights_init(m):
    if m is not None and hasattr(m, "weight") and hasattr(m.weight, "requires_grad"):
        nn.init.constant_(m.weight, 0.3)
    elif hasattr(m, "bias") and hasattr(m.bias, "data"):
        m.bias.data.fill_(0.7)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(4, 4), nn.LayerNorm(4, elementwise_affine=False)
        self.apply(weights_init)

    def forward(self, x):
        return self.norm(self.fc(x))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_param_has_what_tensors_have(target):
    found = begun(ASKED_OF_PARAMS, target)
    np.testing.assert_allclose(found["fc.weight"], np.full((4, 4), 0.3), rtol=1e-6)


SHAPE_SET_ELSEWHERE = """
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient.reshape(ctx.shape)


def weights_init(m):
    if m.__class__.__name__.find("Linear") != -1:
        nn.init.normal_(m.weight.data, 5.0, 0.02)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.apply(weights_init)

    def forward(self, x):
        return Same.apply(self.fc(x))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_the_shape_of_a_param_that_begins_anew_is_its_own(target):
    found = begun(SHAPE_SET_ELSEWHERE, target)
    np.testing.assert_allclose(np.asarray(found["fc.weight"]), np.full((4, 4), 5.0), rtol=0.05)


RESETS_UNKNOWN_LAYERS = """
class Layers(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.layers = nn.ModuleList([make() for _ in range(3)])
        self.reset_parameters()

    def reset_parameters(self):
        for layer in self.layers:
            layer.reset_parameters()

    def forward(self, x):
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(4, 4))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.constant_(self.weight, 0.3)

    def forward(self, x):
        return x @ self.weight
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_that_may_call_itself_by_its_name_is_of_the_constructor_still(target):
    found = begun(RESETS_UNKNOWN_LAYERS, target)
    np.testing.assert_allclose(np.asarray(found["weight"]), np.full((4, 4), 0.3), rtol=1e-6)


RESETS_IN_TURN = """
class Core(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(4, 4))

    def reset_parameters(self):
        nn.init.constant_(self.weight, 0.3)

    def forward(self, x):
        return x @ self.weight


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.core, self.norm = Core(), nn.LayerNorm(4)
        for part in (self.core, self.norm):
            if hasattr(part, "reset_parameters"):
                part.reset_parameters()

    def forward(self, x):
        return self.norm(self.core(x))
"""


@pytest.mark.parametrize("target", ("functional", "flax"))  # Equinox: a part is written in a loop
def test_parts_are_reset_turn_by_turn(target):
    found = begun(RESETS_IN_TURN, target)
    np.testing.assert_allclose(np.asarray(found["core.weight"]), np.full((4, 4), 0.3), rtol=1e-6)


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_built_alike_and_given_the_values_of_another_begins_as_that(target):
    found = begun(alone("copied_starts"), target)
    for one, other in (("q.fc.0.weight", "k.fc.0.weight"), ("online.bias", "target.bias")):
        np.testing.assert_array_equal(found[one], found[other])


GIVEN_OR_CACHED = """
class Net(nn.Module):
    def __init__(self, last=None):
        super().__init__()
        self.last = last
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = self.fc(x)
        if self.last is not None:
            y = y + self.last
        self.last = y.detach().mean(0)
        return y
"""


def test_what_calls_set_may_begin_as_none_that_a_constructor_is_given():
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + GIVEN_OR_CACHED, "Net", "", inputs, "equinox")


CACHES_ARE_SET_UP = """
class Cache(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("k", torch.zeros(n, 4))
    def update(self, pos, k):
        out = self.k
        out[pos] = k.detach()
        return out[pos] + out.sum()
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.cache = None
    def forward(self, x, pos):
        x = self.fc(x)
        if self.cache is not None:
            x = self.cache.update(pos, x)
        return x
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
    def forward(self, x, pos):
        return self.attention(x, pos)
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(2))
        self.setup(n)
    def setup(self, n):
        for b in self.layers:
            b.attention.cache = Cache(n)
    def forward(self, x, pos):
        for layer in self.layers:
            x = layer(x, pos)
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
def test_caches_are_put_into_layers_that_begin_without(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64), torch.tensor([0, 2, 4])]
    verify(HEAD + CACHES_ARE_SET_UP, "Net", "5", inputs, target)


def test_what_a_member_of_an_enum_fills_has_the_value():
    (made,), support, _ = engine.convert([given(program("enum_that_fills"))], "", "flax")
    model = converted(made.code, support)["Net"]()
    assert np.array_equal(model.scale[...], np.full(4, 0.5))
    assert np.array_equal(model.shift[...], np.ones(4))


def test_what_is_filled_in_turn_has_the_values():
    (made,), support, _ = engine.convert([given(program("filled_in_turn"))], "", "functional")
    net = converted(made.code, support)["Net"]
    params = net().init(jax.random.key(0))
    assert {name: float(array.sum()) for name, array in params.items()} == {"w": 6.0, "bias": 6.0}
    assert list(net(bias=False).init(jax.random.key(0))) == ["w"]


FORGET_GATES = """
def begin(lstm):
    for names in lstm._all_weights:
        for name in names:
            if name.startswith("weight_"):
                wt = getattr(lstm, name)
                wt.data.uniform_(2.0, 3.0)
            else:
                bias = getattr(lstm, name)
                bias.data.fill_(0.0)
                bias.data[4:8].fill_(1.0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.LSTM(4, 4, bidirectional=True), nn.LSTM(4, 4), nn.GRU(4, 4)
        begin(self.first)
        for names in self.second._all_weights:
            for name in filter(lambda n: "bias" in n, names):
                bias = getattr(self.second, name)
                n = bias.size(0)
                bias.data[n // 4 : n // 2].fill_(1.0)
        for weights in self.third.all_weights:
            for w in weights:
                w.data.fill_(1.0)

    def forward(self, x):
        return self.first(x)[0], self.second(x)[0], self.third(x)[0]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_the_lists_of_a_recurrent_layers_weights_begin_them(target):
    inputs = [torch.randn(2, 3, 4, dtype=torch.float64)]
    verify(HEAD + FORGET_GATES, "Net", "", inputs, target)
    (made,), support, _ = engine.convert([given(HEAD + FORGET_GATES)], "", target)
    cls = converted(made.code, support)["Net"]
    model = built(cls, cls)
    arrays = to_torch(model.init(jax.random.key(0)) if target == "functional" else model)
    begun = {name: np.asarray(value) for name, value in arrays.items()}
    assert all(v.min() >= 2 for name, v in begun.items() if name.startswith("first.weight"))
    gates = [v.reshape(4, 4)[1] for name, v in begun.items() if ".bias" in name and "third" not in name]
    assert len(gates) == 6 and all((gate == 1).all() for gate in gates)
    assert (begun["first.bias_ih_l0"][:4] == 0).all() and (begun["third.bias_hh_l0"] == 1).all()


# A method that is run while a model is built, and sets its state anew as it runs.
NOISY_FROM_THE_START = """
class Noisy(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.ones(n))
        self.register_buffer("noise", torch.zeros(n))
        self.register_buffer("count", torch.zeros(()))
        self.reset_noise(2.0)

    def reset_noise(self, scale):
        self.noise.copy_(scale + torch.rand(len(self.noise)))
        self.count += 1

    def forward(self, x):
        return x * self.w * self.noise


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.b = Noisy(n), Noisy(n)
        self.b.reset_noise(4.0)

    def reset_noise(self):
        self.a.reset_noise(8.0)
        self.b.reset_noise(8.0)

    def forward(self, x):
        return self.b(self.a(x))
"""


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_a_method_begins_the_state_that_it_sets_later(target):
    verify(HEAD + NOISY_FROM_THE_START, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


def test_what_a_method_sets_in_a_constructor_is_what_the_state_begins_with():
    (made,), support, _ = engine.convert([given(HEAD + NOISY_FROM_THE_START)], "", "equinox")
    net, state = eqx.nn.make_with_state(converted(made.code, support)["Net"])(4, key=jax.random.key(0))
    assert (state.get(net.a.noise) > 2).all() and (state.get(net.b.noise) > 4).all()
    assert (state.get(net.a.count), state.get(net.b.count)) == (1, 2)
    state = net.reset_noise(state, key=jax.random.key(1))
    assert (state.get(net.a.noise) > 8).all()


TIED_WHERE_NONE_IS = """
class Head(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.dense = nn.Linear(dim, dim)
        BEGUN
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return F.linear(self.dense(x), self.weight) + self.bias


class Net(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.tokens = nn.Embedding(size, dim)
        self.head = Head(dim, size)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        return self.head(self.tokens(ids))
"""
HEADS_WITHOUT = ["pass", "self.weight = None", 'self.register_parameter("weight", None)']


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("begun", HEADS_WITHOUT)
def test_a_param_put_where_a_module_has_none_is_tied(target, begun):
    source = HEAD + TIED_WHERE_NONE_IS.replace("BEGUN", begun)
    verify(source, "Net", "4, 5", [torch.tensor([0, 1, 2])], target)


WALKS_OF_SEVERAL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)), nn.Sequential(nn.Linear(4, 4))
        for block in [self.a, self.b]:
            for name, param in block.named_parameters():
                if name.endswith("0.bias"):
                    nn.init.constant_(param, 0.25)

    def forward(self, x):
        return self.b(self.a(x))
"""


def test_a_loop_of_walks_stays_one():
    (made,), support, _ = engine.convert([given(HEAD + WALKS_OF_SEVERAL)], "", "functional")
    assert made.code.count("nn.reinitialise_all(block, begin)") == 1
    params = converted(made.code, support)["Net"]().init(jax.random.key(0))
    assert all(np.all(params[name]["0"]["bias"] == 0.25) for name in "ab")
    assert np.all(params["a"]["1"]["bias"] == 0)
