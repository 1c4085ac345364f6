"""Classes in the layers' words as Equinox: the text, and what it computes."""

import types
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from transpile import convert_source
from transpile.facts.values import lattice
from transpile.model.control_flow import Cond
from transpile.model.effects import Apply, Read, Tie
from transpile.model.expressions import Attribute, Name
from transpile.model.statements import For

from .equinox_programs import written
from .programs import controlled

EXPECTED = Path(__file__).with_name("equinox_expected")
HEAD = """import jax
import jax.numpy as jnp
from jax import lax
import math
from transpile.layer import Module, Parameter, Buffer, draw_key
from .linear import Linear
from .dropout import Dropout
from .batch_norm import BatchNorm2d
from .convolution import Conv2d
from .embedding import Embedding
from .normalization import LayerNorm
from .activation import GELU
from .containers import Sequential, ModuleList
"""
GATED = """


class Gated(Module):
    # effects under control of data

    def __init__(self, channels, steps=4, limit=1.0, dropout=0.1):
        self.steps, self.limit = steps, limit
        self.norm = BatchNorm2d(channels)
        self.conv = Conv2d(channels, channels, 3, padding=1)
        self.drop = Dropout(dropout)
        self.hits = Buffer(jnp.zeros((), int))

    def __call__(self, x):
        if jnp.abs(x).mean() > self.limit:
            x = self.norm(x)
            self.hits = self.hits + 1
        running = True
        for _ in range(self.steps):
            if running:
                x = self.drop(jnp.tanh(self.conv(x)))
                running = jnp.abs(x).max() >= 0.5
        return x
"""
GPT = """


class Attention(Module):
    def __init__(self, config):
        self.heads = config.heads
        self.qkv = Linear(config.dim, 3 * config.dim)
        self.proj = Linear(config.dim, config.dim)
        self.drop = Dropout(config.dropout)
        mask = jnp.tril(jnp.ones((config.context, config.context)))
        self.mask = Buffer(mask.reshape(1, 1, config.context, config.context))

    def __call__(self, x):
        B, T, C = x.shape
        q, k, v = jnp.split(self.qkv(x), 3, axis=2)
        q, k, v = (t.reshape(B, T, self.heads, C // self.heads).swapaxes(1, 2) for t in (q, k, v))
        att = q @ k.swapaxes(-2, -1) / math.sqrt(k.shape[-1])
        att = jnp.where(self.mask[:, :, :T, :T] == 0, -jnp.inf, att)
        att = self.drop(jax.nn.softmax(att, axis=-1))
        y = (att @ v).swapaxes(1, 2).reshape(B, T, C)
        return self.proj(y)


class Block(Module):
    def __init__(self, config):
        self.norm = LayerNorm(config.dim)
        self.attn = Attention(config)
        self.mlp = Sequential(
            Linear(config.dim, 4 * config.dim), GELU(), Linear(4 * config.dim, config.dim)
        )

    def __call__(self, x):
        x = x + self.attn(self.norm(x))
        return x + self.mlp(x)


class GPT(Module):
    def __init__(self, config):
        self.config = config
        self.tokens = Embedding(config.vocab, config.dim)
        self.positions = Parameter(0.02 * jax.random.normal(draw_key(), (config.context, config.dim)))
        self.blocks = ModuleList([Block(config) for _ in range(config.layers)])
        self.head = Linear(config.dim, config.vocab, bias=False)

    def __call__(self, idx):
        B, T = idx.shape
        x = self.tokens(idx) + self.positions[:T]
        for layer in self.blocks:
            x = layer(x)
        return self.head(x)
"""
RESIDUAL = """


class BasicBlock(Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        self.conv1 = Conv2d(in_planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = BatchNorm2d(planes)
        self.shortcut = Sequential()
        if stride != 1 or in_planes != planes:
            self.shortcut = Sequential(
                Conv2d(in_planes, planes, 1, stride=stride, bias=False),
                BatchNorm2d(planes),
            )

    def __call__(self, x):
        out = self.bn1(self.conv1(x))
        out = out + self.shortcut(x)
        return jax.nn.relu(out)
"""


def gated(file):
    for function in file.functions():
        if function.name == "__call__":
            controlled(function)
            for node in function.nodes(Cond):
                node.total = isinstance(node.test, Name)


def gpt(file):
    """The loop over equal blocks as Layers, and the head tied to the tokens."""
    block = next(c for c in file.classes() if c.name == "Block")
    for function in file.functions():
        if function.qualified == "GPT.__call__":
            for loop in function.nodes(For):
                call = loop.body.body[0].expression
                call = call if isinstance(call, Apply) else _applied(call)
                held = lattice.Module(frozenset([block]))
                loop.unwrap()
                call.function.replace(loop.iterable)
                loop.iterable.value = lattice.Module(element=held)
                call.each = "block"
        if function.qualified == "GPT.__init__":
            sides = [
                Read(Attribute(Name("self"), name), "weight", "param")
                for name in ("head", "tokens")
            ]
            for side, layer in zip(sides, ("Linear", "Embedding")):
                side.object.value = lattice.Module(frozenset([f"torch.nn.{layer}"]))
            function.body.append([Tie(*sides)])


def _applied(call):
    made = Apply(call.function, call.arguments, call.keywords)
    call.become(made)
    return made


PROGRAMS = {
    "gated": (GATED, gated),
    "gpt": (GPT, gpt),
    "residual": (RESIDUAL, lambda file: None),
}


def classes_of(text):
    return text[text.index("class ") :]


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name):
    text, change = PROGRAMS[name]
    made, _, found = written(HEAD + text, change)
    assert not found
    expected = EXPECTED / f"{name}.txt"
    assert classes_of(made) == expected.read_text()


def running(name):
    """The written program as a module, with its support file."""
    text, change = PROGRAMS[name]
    made, support, _ = written(HEAD + text, change)
    nn, module = types.ModuleType("jax_nn"), types.ModuleType("program")
    exec(support, nn.__dict__)
    head = "import equinox as eqx, jax, math\nimport jax.numpy as jnp\nfrom jax import lax\n"
    module.nn = nn
    exec(f"{head}from typing import Any\n{classes_of(made)}", module.__dict__)
    return module


def test_gated_runs():
    """Two steps change the statistics where the branch is taken, and draw by the key."""
    model, state = eqx.nn.make_with_state(running("gated").Gated)(3, key=jax.random.key(0))
    call = eqx.filter_jit(lambda model, x, state, key: model(x, state, key=key))
    x = 3 * jax.random.normal(jax.random.key(1), (2, 3, 4, 4))
    y, new = call(model, x, state, jax.random.key(2))
    z, _ = call(model, x, state, jax.random.key(3))
    assert not jnp.allclose(y, z)
    assert new.get(model.hits) == 1 and new.get(model.norm.num_batches_tracked) == 1
    _, small = call(model, x / 100, new, jax.random.key(2))
    assert small.get(model.hits) == 1
    evaluated = eqx.nn.inference_mode(model)
    np.testing.assert_array_equal(
        evaluated(x, new)[0], eqx.filter_jit(lambda m, x, s: m(x, s))(evaluated, x, new)[0]
    )


def test_residual_trains():
    program = running("residual")
    model, state = eqx.nn.make_with_state(program.BasicBlock)(3, 5, 2, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (2, 3, 6, 6))

    def loss(model, state):
        y, state = model(x, state)
        return (y**2).mean(), state

    grads, new = eqx.filter_jit(eqx.filter_grad(loss, has_aux=True))(model, state)
    assert all(jnp.any(g) for g in jax.tree.leaves(grads))
    assert new.get(model.shortcut[1].num_batches_tracked) == 1


def test_tied_weight_has_one_owner():
    config = types.SimpleNamespace(vocab=7, context=4, layers=2, heads=2, dim=4, dropout=0.0)
    model = running("gpt").GPT(config, key=jax.random.key(0))
    assert model.head.weight is None
    ids = jnp.zeros((1, 4), int)
    grads = eqx.filter_grad(lambda model: (model(ids) ** 2).mean())(model)
    assert jnp.any(grads.tokens.weight[3])  # as the head it has a gradient at every row


CONFIGS = {
    "nobody assigns": ("", "@dataclass(frozen=True)"),
    "somebody assigns": (
        "\n\ndef wide(config):\n    config.dim = 8\n    return config\n",
        "@dataclass",
    ),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_configs_are_frozen(name):
    more, mark = CONFIGS[name]
    made, _, _ = written(f"@dataclass\nclass Config:\n    dim: int = 4\n{more}")
    assert f"{mark}\nclass Config:" in made


def test_a_config_of_another_library_stays_open():
    """Its base may be a dataclass that is not frozen."""
    made, _, _ = written(
        "from simple_parsing.helpers import Serializable\n\n\n"
        "@dataclass\nclass Config(Serializable):\n    dim: int = 4\n"
    )
    assert "@dataclass(unsafe_hash=True)\nclass Config(Serializable):" in made


def test_the_state_gets_a_list_with_another_entry():
    """Set in place, the entry would change in the state that the caller still has, too."""
    text = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.sums = {"a": torch.zeros(2)}

    def forward(self, x):
        self.sums["a"] = x + 1
        return self.sums["a"] * 2
"""
    code = convert_source(text, "equinox").code
    assert 'nn.put(state, self.sums, nn.with_entry(state.get(self.sums), "a", x + 1))' in code
