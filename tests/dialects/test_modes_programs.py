"""Training and evaluation: what the mode changes, and what sets it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx

from transpile.command import engine

from .small import HEAD, TARGETS
from .verified import built, compare, converted, given, in_float64, namespace, verify

PROBED = """
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.fc = nn.Linear(4, 3)
        {call}

    def forward(self, x):
        self.calls += 1
        return self.fc(x) * self.calls


class Net(nn.Module):
    def __init__(self, shape=(3, 8, 8)):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.0))
        with torch.no_grad():
            n = self.conv(torch.zeros(2, *shape)).flatten(1).shape[1]
        self.fc = nn.Linear(n, 4)
        self.head = nn.Linear(self.feature_size(shape), 2)

    def feature_size(self, shape):
        return self.features(torch.zeros(2, *shape)).view(2, -1).size(1)

    def features(self, x):
        return torch.tanh(self.conv(x))

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1)), self.head(self.features(x).flatten(1))
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_modules_run_while_a_model_is_built_for_the_sizes_that_they_give(target):
    source = HEAD + PROBED.format(call="pass")
    verify(source, "Net", "", [torch.randn(2, 3, 8, 8, dtype=torch.float64)], target)


@pytest.mark.parametrize(
    "call", ["self.forward(torch.ones(1, 4))", "n = self(torch.ones(1, 4)).shape"]
)
@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_what_a_module_counts_while_it_is_built_is_no_size(target, call):
    (made,), _, _ = engine.convert([given(HEAD + PROBED.format(call=call))], "", target)
    assert made.diagnostics[-1].line == 12, made.diagnostics


CLASSES_GIVEN = """
from functools import partial


class Mlp(nn.Module):
    def __init__(self, d, act_layer=nn.GELU):
        super().__init__()
        self.fc, self.act = nn.Linear(d, d), act_layer()

    def forward(self, x):
        return self.act(self.fc(x))


class Block(nn.Module):
    def __init__(self, d, norm_layer=nn.LayerNorm, act_layer=nn.GELU, mlp_layer=Mlp):
        super().__init__()
        self.norm = norm_layer(d)
        self.mlp = mlp_layer(d, act_layer=act_layer)

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Net(nn.Module):
    def __init__(self, norm_layer=nn.LayerNorm, act_layer=None, block=Block):
        super().__init__()
        act_layer = act_layer or nn.GELU
        made = [block(4, norm_layer=norm_layer, act_layer=act_layer) for _ in range(2)]
        self.blocks = nn.ModuleList(made)
        self.norm = norm_layer(4)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


def net(**kwargs):
    return Net(norm_layer=partial(nn.LayerNorm, eps=1e-3), **kwargs)


def others():
    return nn.BatchNorm1d(4), nn.Dropout(), nn.Tanh(), nn.ReLU()
"""


@pytest.mark.parametrize(
    "init", ["", "partial(nn.LayerNorm, eps=1e-3), nn.Tanh", "act_layer=lambda: nn.ReLU()"]
)
@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_the_classes_that_a_model_is_given_by_default_are_what_its_layers_are(target, init):
    source = HEAD + CLASSES_GIVEN
    verify(source, "Net", init, [torch.randn(3, 4, dtype=torch.float64)], target)
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert "x, state" not in made.code and ".apply(" not in made.code, made.code


@pytest.mark.parametrize("init", ["nn.BatchNorm1d", "act_layer=lambda: nn.Dropout(0.5)"])
def test_a_class_that_takes_more_than_a_model_gives_is_refused_where_it_is_built(init):
    (made,), support, _ = engine.convert([given(HEAD + CLASSES_GIVEN)], "", "functional")
    scope = converted(made.code, support)
    with pytest.raises(TypeError, match="this model does not give it"):
        eval(f"Net({init})", scope)


NAMED_INFERENCE = """
class Encoder(nn.Module):
    def __init__(self, inference=True):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.0)
        self.inference = inference

    def forward(self, x):
        return self.drop(self.fc(x)) if self.inference else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.norm = Encoder(), nn.BatchNorm1d(4)

    def inference(self, x):
        return self.encoder(x) * 2

    def forward(self, x, y):
        if self.training:
            return self.norm(self.inference(x)) * y
        return self.encoder(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_called_inference_is_no_mode(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + NAMED_INFERENCE, "Net", "", inputs, target)


GIVEN_UNBOUND = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)


def predict(model, x):
    return model(x)


def main(x):
    return predict(Net(), x)


def later(x):
    model = Net()
    return predict(model, x)
"""


def test_a_model_that_a_function_builds_has_no_params_to_run_with():
    """`predict(model, x)` is given no params: it would raise a TypeError without a word."""
    (made,), *_ = engine.convert([given(HEAD + GIVEN_UNBOUND)], "", "functional")
    assert [d.id for d in made.diagnostics] == ["module-value"], made.code


RETURNS_EARLY = """
class Net(nn.Module):
    def __init__(self, affine):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.affine = affine
        if not affine:
            return
        self.scale = nn.Parameter(torch.full((4,), 2.0))

    def forward(self, x):
        x = self.fc(x)
        if self.training:
            x = x + 1
        return x * self.scale if self.affine else x
"""


@pytest.mark.parametrize("affine", (True, False))
@pytest.mark.parametrize("target", TARGETS)
def test_a_constructor_that_returns_early_has_a_mode(target, affine):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + RETURNS_EARLY, "Net", str(affine), inputs, target)


FROZEN = """
class Net(nn.BatchNorm1d):
    def train(self, mode=True):
        BODY
"""
TRAINS = {
    "return super().train(mode)": [],
    "super().train(mode)\n        return self": [],
    "return nn.Module.train(self, mode)": [],
    "return super().train(False)": ["module-mode"],
    "return super().train()": ["module-mode"],
    "if not mode:\n            super().train(mode)\n        return self": ["module-mode"],
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("body", TRAINS)
def test_a_layer_that_takes_no_mode_is_told(target, body):
    (made,), _, _ = engine.convert([given(HEAD + FROZEN.replace("BODY", body))], "", target)
    assert [d.id for d in made.diagnostics] == TRAINS[body]


EVALUATED = """
def drop_path(x, p, training):
    if p == 0.0 or not training:
        return x
    return x / (1 - p) * torch.bernoulli(torch.full((len(x), 1), 1 - p))


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("mean", torch.zeros(n))
        self.register_buffer("var", torch.ones(n))

    def forward(self, x):
        x = F.batch_norm(x, self.mean, self.var, training=self.training, momentum=0.2)
        return drop_path(x, 0.5, self.training)
"""


def test_a_model_that_is_evaluated_writes_no_variable():
    (made,), support, _ = engine.convert([given(HEAD + EVALUATED)], "", "flax")
    model = converted(made.code, support)["Net"](4, rngs=nnx.Rngs(0))
    x = jnp.arange(12.0).reshape(3, 4)
    model(x)
    assert model.noise.count[...] == 1 and not np.array_equal(model.mean[...], jnp.zeros(4))
    model.mean[...], model.var[...] = jnp.zeros(4), jnp.ones(4)
    model.eval()
    np.testing.assert_allclose(jax.jit(lambda x: model(x))(x), x, rtol=1e-4)


# What is None until the model runs: hidden states, caches, by whichever module they are set.
NONE_UNTIL_IT_RUNS = """
class Attention(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.qkv = nn.Linear(n, 3 * n)
        self.cache = None

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        if self.cache is not None:
            k, v = torch.cat((self.cache[0], k)), torch.cat((self.cache[1], v))
        self.cache = (k.detach(), v.detach())
        return F.softmax(q @ k.t(), dim=-1) @ v


class Cell(nn.Module):
    def __init__(self, n, start=None):
        super().__init__()
        self.cell, self.gru = nn.LSTMCell(n, n), nn.GRUCell(n, n)
        self.register_buffer("total", None, persistent=False)
        self.h, self.c = start, None
        self.last = torch.zeros(2, n) if n > 8 else None
        self.seen = None

    def forward(self, x):
        if self.h is None:
            self.h = (torch.zeros(x.size(0), 4), torch.zeros(x.size(0), 4))
        self.h = self.cell(x, self.h)
        c = self.gru(self.h[0], self.c)
        self.h, self.c = (self.h[0].detach(), self.h[1].detach()), c.detach()
        if self.total is None:
            self.total = torch.zeros_like(x)
        self.total += self.c
        if self.last is not None and self.last.shape == x.shape:
            x = x * self.last
        self.last = x.tanh().detach()
        self.seen = x.detach()
        return c + self.total


class Net(nn.Module):
    def __init__(self, n, resets):
        super().__init__()
        self.attention, self.resets = Attention(n), resets
        self.cells = nn.ModuleList([Cell(n) for _ in range(2)])

    def reset(self):
        self.attention.cache = None
        for cell in self.cells:
            cell.h = cell.c = None
            cell.last = None

    def step(self, x):
        x = self.attention(x)
        for cell in self.cells:
            x = cell(x)
        return x + self.cells[0].h[0] * sum(cell.c.mean() for cell in self.cells if cell.c is not None)

    def forward(self, x):
        x = self.step(x)
        if self.resets:
            self.reset()
        return self.step(x) + self.cells[1].seen
"""


@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_what_is_none_until_the_model_runs(target, resets):
    (made,), support, _ = engine.convert([given(HEAD + NONE_UNTIL_IT_RUNS)], "", target)
    assert not made.diagnostics, made.diagnostics
    scope = converted(made.code, support)
    with in_float64():
        theirs = namespace(HEAD + NONE_UNTIL_IT_RUNS, "program")["Net"](4, resets)
        ours = built(lambda **given: scope["Net"](4, resets, **given), scope["Net"])
        compare(theirs, ours, [torch.randn(3, 4)], target, True)


KEPT_BY_TRAIN = """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.rand(2, 4))
        self.register_buffer("places", torch.tensor([0, 1, 1]))

    @torch.no_grad()
    def train(self, mode=True):
        super().train(mode)
        if mode and hasattr(self, "bias"):
            del self.bias
        else:
            self.bias = self.table[:, self.places] * 2
        return self

    def forward(self, x):
        return x @ (self.table[:, self.places] if self.training else self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.other = Other()

    def forward(self, x):
        return self.attention(x) + self.other(x)
"""
KEPT_BY_TRAIN += KEPT_BY_TRAIN[: KEPT_BY_TRAIN.index("class Net")].replace("Attention", "Other")


@pytest.mark.parametrize("target", TARGETS)
def test_what_train_keeps_is_made_where_it_is_read(target):
    verify(HEAD + KEPT_BY_TRAIN, "Net", "", [torch.rand(5, 2, dtype=torch.float64)], target, 2 * ["taken-for-granted"])


@pytest.mark.parametrize("line", ["self.table = other", "self.bias = None"])
def test_what_train_keeps_of_what_others_set_is_told(line):
    source = HEAD + KEPT_BY_TRAIN.replace("    def forward", f"    def change(self, other):\n        {line}\n\n    def forward", 1)
    (made,), _, _ = engine.convert([given(source)], "", "functional")
    assert "module-mode" in [d.id for d in made.diagnostics], made.code


CHANGED_BY_DATA = """
def fill(m, x):
    if x.sum() > 2:
        m.fc.weight.data.fill_(0.25)
    else:
        m.fc.bias.data.fill_(4.0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(2, 2), nn.BatchNorm1d(2)
        fill(self, torch.ones(3))
        fill(self, torch.zeros(3))
        self.double(torch.ones(1))
        while self.norm.weight.sum() < 5:
            self.norm.weight.data.add_(1.0)
        layers = [nn.Linear(2, 2), nn.Tanh()]
        layers = nn.Sequential(*layers)
        layers.apply(begin)
        self.layers = layers

    def double(self, x):
        if x.sum() > 0:
            self.fc.weight.data.mul_(2.0)


def begin(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 7.0)
"""


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_what_data_change_while_a_model_is_built(target):
    (made,), support, _ = engine.convert([given(HEAD + CHANGED_BY_DATA)], "", target)
    cls = converted(made.code, support)["Net"]
    with in_float64():
        ours = built(lambda **keys: cls(**keys), cls)
    ours = ours[0] if isinstance(ours, tuple) else ours
    parts = (ours.fc.weight, ours.fc.bias, ours.norm.weight, ours.layers[0].weight)
    assert [np.unique(np.asarray(a)).tolist() for a in parts] == [[0.5], [4.0], [3.0], [7.0]], made.code
