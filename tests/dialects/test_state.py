"""Buffers and what a forward pass keeps for the next one."""

import jax.numpy as jnp
import pytest
import torch

from transpile.command import engine

from .small import HEAD, TARGETS, alone, program
from .verified import built, compare, converted, given, in_float64, namespace, verify


@pytest.mark.parametrize("target", TARGETS)
def test_a_state_that_torch_updates_twice_is_told(target):
    text = HEAD + alone("checkpoints").replace("nn.Dropout(0.0)", "nn.BatchNorm1d(4)")
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [
        ("taken-for-granted", n) for n in (21, 23)
    ]
    assert all("again in backward" in d.message for d in made.diagnostics)


MADE_AROUND_LAYERS = """
from torch.utils.checkpoint import checkpoint

scale = 3.0


def made(norm, conv):
    def joined(*inputs):
        # all that came before
        return conv(norm(torch.cat(inputs, 1))) * scale

    return joined


class Layer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = nn.BatchNorm1d(n)
        self.conv = nn.Linear(n, 4)

    def forward(self, *before):
        joined = made(self.norm, self.conv)
        return checkpoint(joined, *before, use_reentrant=False) if self.training else joined(*before)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(4) for _ in range(2)])
        self.last = Layer(8)

    def forward(self, x, y):
        for layer in self.layers:
            if self.training:
                def custom(module):
                    def run(*inputs):
                        return module(*inputs) * 0.5
                    return run
                x = custom(layer)(x)
            else:
                x = layer(x) * 0.5
        return self.last(x, y)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_function_that_another_makes_around_layers_has_their_state(target):
    text = HEAD + MADE_AROUND_LAYERS
    (made,), support, _ = engine.convert([given(text)], "", target)
    assert "def custom" not in made.code and made.code.count("# all that came before") == 2
    assert not {d.id for d in made.diagnostics} - {"taken-for-granted"}
    theirs = namespace(text, "program")["Net"]().double()
    cls = converted(made.code, support)["Net"]
    with in_float64():
        ours = built(lambda **keys: cls(**keys), cls)
        inputs = [*torch.randn(2, 3, 4, dtype=torch.float64)]
        compare(theirs.eval(), ours, inputs, target, False)


@pytest.mark.parametrize(
    "body",
    [
        "scale = 2.0\n        f = made(self.fc, self.fc)\n        return f(x) * scale",
        "fc = self.fc\n        f = made(fc, fc)\n        fc = self.other\n        return f(x) + fc(x)",
        "fs = [made(self.fc, self.other)]\n        return fs[0](x)",
    ],
)
def test_a_function_of_other_names_stays_where_it_is_made(body):
    head = HEAD + MADE_AROUND_LAYERS.partition("class Layer")[0]
    text = f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.other = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        {body}
"""
    (made,), _, _ = engine.convert([given(head + text)], "", "flax")
    assert "made(" in made.code.partition("def __call__")[2]


@pytest.mark.parametrize("target", ["functional", "equinox"])
@pytest.mark.parametrize("kept", [
    "fs = [lambda t: self.norm(t), torch.tanh]\n        return fs[0](x)",
    "f = (lambda t: self.norm(t)) if x.ndim else torch.tanh\n        return f(x)",
    "def run(t):\n            return self.norm(t)\n        f = run if x.ndim else torch.tanh\n        return f(x)",
    "def run(t, s):\n            return self.norm(t) + s\n        return functools.reduce(run, [x], x)",
])
def test_a_function_with_a_state_that_is_kept_is_told(kept, target):
    source = "import functools\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += f"        self.norm = nn.BatchNorm1d(4)\n\n    def forward(self, x):\n        {kept}\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert [d.id for d in made.diagnostics] == ["state-in-expression"], made.code
    assert 'unconverted("state-in-expression"' in made.code, made.code


KEPT_METHODS = """
class Net(nn.Module):
    def __init__(self, causal=True):
        super().__init__()
        self.fc, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)
        if causal:
            self.mix = self._causal
        else:
            self.mix = self._same
        self.act = self._act
        self.last = self._same if causal else self._causal

    def forward(self, x, y):
        return self.mix(x) + self.act(self.last(y, scale=3.0))

    def _causal(self, x, scale=2.0):
        return self.norm(self.fc(x)) * scale

    def _same(self, x, scale=2.0):
        return self.fc(x).relu() * scale

    def _act(self, x):
        return torch.tanh(x)
"""


@pytest.mark.parametrize("causal", (True, False))
@pytest.mark.parametrize("target", TARGETS)
def test_a_constructor_keeps_methods_of_its_own(target, causal):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + KEPT_METHODS, "Net", str(causal), inputs, target)


STORED_INTO_TORCH = ["nn.Own = Net", "torch.nn.one, x = 1, 2"]


@pytest.mark.parametrize("stored", STORED_INTO_TORCH)
@pytest.mark.parametrize("target", TARGETS)
def test_what_can_not_be_stored_into_is_refused_as_a_statement(target, stored):
    source = f"{HEAD}class Net(nn.Module):\n    def forward(self, x):\n        {stored}\n        return x\n"
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert {d.id for d in made.diagnostics} == {"no-rule"}
    with pytest.raises(NotImplementedError):
        converted(made.code, support)["Net"]()(jnp.ones(3))


CALLS_ITSELF = """
class Tree(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("hits", torch.zeros(()))
        self.left = Tree(depth - 1) if depth else None

    def clear(self):
        self.hits.zero_()
        if self.left is not None:
            self.left.clear()

    def forward(self, x):
        self.clear()
        self.hits += 1
        x = self.fc(x)
        return x if self.left is None else self.left(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_that_calls_itself_of_another_module_writes_state(target):
    verify(HEAD + CALLS_ITSELF, "Tree", "2", [torch.randn(3, 4, dtype=torch.float64)], target)


BUFFERS_BY_CLASS = """
class Net(nn.Module):
    def __init__(self, n, device="cpu"):
        super().__init__()
        self.register_buffer("a", torch.full((n,), 2.0).to(device))
        self.b = nn.Buffer(torch.full((n,), 4.0))
        self.c = nn.Buffer(torch.full((n,), 3.0), persistent=False)
        self.fc = nn.Linear(n, n).requires_grad_()

    def forward(self, x):
        self.a += 1
        self.b.mul_(2)
        return self.fc(x) * self.a * self.b + self.c
"""


@pytest.mark.parametrize("target", TARGETS)
def test_buffers_that_torch_has_a_class_for(target):
    verify(HEAD + BUFFERS_BY_CLASS, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_that_is_frozen_where_it_is_made_is_told(target):
    frozen = BUFFERS_BY_CLASS.replace("requires_grad_()", "requires_grad_(False)")
    (made,), _, _ = engine.convert([given(HEAD + frozen)], "", target)
    assert [d.id for d in made.diagnostics] == ["frozen-param"]
    assert "requires_grad" not in made.code


INSTANCE_NORMS = """
import functools


class Block(nn.Module):
    def __init__(self, norm_layer):
        super().__init__()
        self.norm = norm_layer(3)

    def forward(self, x):
        return self.norm(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        norm = functools.partial(nn.InstanceNorm1d, affine=True{tracked})
        self.blocks = nn.Sequential(Block(norm), nn.InstanceNorm1d(3))

    def forward(self, x, y):
        return self.blocks(torch.stack([x, y]))
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("tracked", ["", ", track_running_stats=False", ", track_running_stats=True"])
def test_an_instance_norm_keeps_state_where_it_tracks_some(target, tracked):
    source = HEAD + INSTANCE_NORMS.replace("{tracked}", tracked)
    verify(source, "Net", "", [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)], target)
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert ("TrackedInstanceNorm1d" in made.code) is ("True" in tracked)
    if target != "flax":
        assert ("state" in made.code) is ("True" in tracked)
    source = f"{HEAD}made = lambda n: nn.InstanceNorm1d(n{tracked})\n"
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert ("TrackedInstanceNorm1d" in made.code) is ("True" in tracked)


TYPES_OF_BUFFERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4, dtype=torch.long))
        self.register_buffer("low", torch.zeros(4, dtype=torch.float16))
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, x):
        self.seen = self.seen + x.detach().sum(0)
        self.low = x.detach().sum(0).float() + 0.0001
        self.steps = self.steps + 1
        return x + self.seen * self.steps + self.low
"""


@pytest.mark.parametrize("target", ("functional", "flax"))
def test_a_buffer_that_is_given_another_type_has_that(target):
    verify(HEAD + TYPES_OF_BUFFERS, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


def test_a_count_stays_one_in_flax():
    (made,), _, _ = engine.convert([given(HEAD + TYPES_OF_BUFFERS)], "", "flax")
    assert "self.steps[...] += 1" in made.code


MADE_TO_FIT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("grid", torch.arange(5.0), persistent=False)

    def fit(self, n):
        if self.grid.shape[0] != n:
            self.grid = torch.arange(float(n))

    def scaled(self, x):
        return x * self.grid

    def forward(self, x):
        self.fit(x.shape[1])
        return self.scaled(x) + self.grid
"""


@pytest.mark.parametrize("target", ("flax", "equinox"))
def test_a_buffer_is_made_anew_to_fit(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + MADE_TO_FIT, "Net", "", inputs, target)


# Tables that a forward pass keeps for the next one: rotary embeddings, masks.
CACHES = """
class Rotary(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (10.0 ** (torch.arange(0, n, 2).double() / n)))
        self._seq_len = 0
        self._cos, self._sin = None, None
        self.longest = 3
        self._set(3)

    def _update(self, n, device=None, dtype=None):
        if n != self._seq_len or self._cos is None or self._cos.dtype != dtype:
            self._seq_len = n
            t = torch.arange(n, device=device).type_as(self.inv_freq)
            freqs = torch.einsum("i,j->ij", t, self.inv_freq)
            emb = torch.cat((freqs, freqs), dim=-1)
            self._cos = emb.cos().to(dtype)
            self._sin = emb.sin().to(dtype)

    def _set(self, n):
        self.longest = n
        self.register_buffer("table", torch.arange(n).double()[:, None], persistent=False)

    def forward(self, x):
        self._update(x.shape[0], device=x.device, dtype=x.dtype)
        if x.shape[0] != self.longest:
            self._set(x.shape[0])
        return x * self._cos + self._sin * self.table[: x.shape[0]]


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.rotary = Rotary(n)
        self.register_buffer("mask", None, persistent=False)

    def causal(self, n, device):
        if self.mask is not None and self.mask.shape[-1] == n:
            return self.mask[:n, :n].to(device)
        mask = torch.ones((n, n), device=device, dtype=torch.bool).triu(1)
        self.register_buffer("mask", mask, persistent=False)
        return mask

    def forward(self, x, y):
        weights = (self.fc(x) @ y.T).masked_fill(self.causal(len(x), x.device), -1e9)
        return weights.softmax(-1) @ self.rotary(y)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_pass_keeps_for_the_next_one(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + CACHES, "Net", "4", inputs, target)


@pytest.mark.parametrize("target", TARGETS)
def test_the_truth_of_one_element_keeps_its_comments(target):
    (made,), _, _ = engine.convert([given(program("truth_of_one_element"))], "", target)
    assert "# a number" in made.code and "# below it" in made.code, made.code
