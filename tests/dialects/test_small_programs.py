"""Small programs of many real ones' idioms, in three dialects, beside torch."""

import ast
import re
from functools import partial
from pathlib import PurePosixPath

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from flax import nnx

from transpile import from_torch, to_torch
from transpile.command import engine
from transpile.proof.models import constructed
from transpile.source.files import Source

from ..proof.comparison import assert_close
from .verified import (
    built,
    close,
    compare,
    converted,
    equinox_run,
    functional_run,
    given,
    in_float64,
    namespace,
    verify,
)

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
FUNCTIONS = """
def squared(x, y, weight=1.0):
    return ((x - y) ** 2 * weight).mean()


def absolute(x, y, weight=1.0, **kwargs):
    return (x - y).abs().mean() * weight


class Net(nn.Module):
    def __init__(self, robust=False):
        super().__init__()
        if robust:
            self.criterion = absolute
        else:
            self.criterion = squared
        self.fc = nn.Linear(4, 4)
        self.other = {"squared": squared, "absolute": absolute}["absolute"]

    def forward(self, x, y):
        x = self.fc(x)
        return self.criterion(x, y, weight=2.0) + self.other(x, y)
"""
# `resize` and `resize_as`, which torch calls deprecated, are views.
RESIZED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = self.fc(x).resize(2, 6)
        x = x * 1
        x.resize(12)[0] = 5.0
        return h * y.t().resize_as(h) + x.reshape(2, 6)
"""
# The constructor of what extends a layer calls the method by which others begin it anew.
BEGUN_BY_A_METHOD = """
class Own(nn.Linear):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.clear()

    def clear(self):
        self.held = None
        self.mean = torch.ones(4)
        self.n = 0

    def step(self, x):
        if self.held is None:
            self.held = torch.zeros_like(x)
        self.held = self.held * 0.5 + x.detach()
        self.mean = self.mean * 0.5 + x.mean(0).detach()
        self.n += 1
        return F.linear(x + self.held, self.weight, self.bias) * self.mean + self.n


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = Own(4, 4)

    def forward(self, x, y):
        x = self.fc.step(self.fc.step(x))
        self.fc.clear()
        x = x + self.fc.step(y)
        self.fc.clear()
        return x
"""
# Names for the arrays of layers, which are filled by them.
FILLED_BY_A_NAME = """
def branch(conv, branches):
    weight = conv.weight
    n = weight.size(0)
    nn.init.normal_(weight, 0, (2.0 / (n * branches)) ** 0.5)
    nn.init.constant_(conv.bias, 0)


class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.fcs = nn.ModuleList([nn.Linear(4, 4) for _ in range(n)])
        for fc in self.fcs:
            branch(fc, n)
        self.last(self.fcs[0])

    def last(self, fc):
        if fc.bias is not None:
            bias = fc.bias
            nn.init.ones_(bias.data)

    def forward(self, x, y):
        for fc in self.fcs:
            x = fc(x)
        return x * y
"""
NUMBER_THEN_LOSS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss, self.hidden = 0, 0
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = self.fc(x)
        if y.sum() > 100:
            self.loss = 0
        else:
            self.loss = h.mean()
        self.hidden = (h * 2).mean(0)
        return h + self.loss + self.hidden
"""
METHODS_OF_SEVERAL = """
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def start(self, x):
        self.n += 1
        return x * self.n


class Projected(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.0)

    def start(self, x):
        return self.drop(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Counted(), Projected()])

    def forward(self, x, y):
        for block in self.blocks:
            x = block.start(x)
        return x * y
"""
NUMBER_OR_PARAM = """
class Learned(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))


class Fixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gains = nn.ModuleList([Learned(), Fixed()])

    def forward(self, x, y):
        for gain in self.gains:
            x = x * gain.scale
        return x * y
"""
SIZE_KEPT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.width = 0

    def flat(self, x):
        for i in range(self.rows):
            x = x + i
        return x.reshape(self.rows * 2, self.width // 2)

    def forward(self, x, y):
        self.rows, self.width = x.size(0), x.size(1)
        return self.flat(self.fc(x) * y)
"""
LONE_SIZES = """
class Sized(nn.Module):
    def __init__(self, n, dim, sizes, settings):
        super().__init__()
        self.n = n
        self.a = nn.Parameter(torch.rand(n))
        self.b = nn.Parameter(torch.randn(dim))
        self.c = nn.Parameter(torch.empty(dim).uniform_(-1, 1))
        self.d = nn.Parameter(torch.randn(sizes))
        self.e = nn.Parameter(torch.randn(settings.dim))
        self.register_buffer("steps", torch.arange(self.n))

    def forward(self, x, drawn):
        x = x * self.a + self.b + self.c + self.d + self.e + self.steps
        return x + torch.rand(drawn).shape[0] + torch.rand(self.n).shape[0]


class Settings:
    dim = 4


def sized(cls, *sizes):
    return cls(*sizes)


class Net(nn.Module):
    def __init__(self, known={"number": 4, "shape": (3, 4)}):
        super().__init__()
        self.own = sized(Sized, known["number"], known["number"], known["shape"], Settings)

    def forward(self, x, y):
        return self.own(x, (3, 4)) + self.own(y, 4)
"""
CACHES_SET_UP = """
class Cache(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.register_buffer("kept", torch.zeros(rows, 4))

    def update(self, x):
        self.kept[:3] = x.detach()
        return self.kept


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4, bias=False)
        self.cache = None

    def forward(self, x):
        x = self.proj(x)
        return x if self.cache is None else x + self.cache.update(x)[:3]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        return self.attention(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.set_up(5)

    def set_up(self, rows):
        for layer in self.layers:
            layer.attention.cache = Cache(rows)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x)
        return x * y
"""
SET_ONCE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        if not hasattr(self, "cache"):
            self.cache = torch.ones(4) * 2
        return self.fc(x) * y + self.cache
"""
PARAMS_PUT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ps = nn.ParameterList([nn.Parameter(torch.ones(4)) for _ in range(2)])
        self.ps[0] = nn.Parameter(torch.zeros(4))

    def forward(self, x, y):
        for p in self.ps:
            x = x * 2 + p
        return x * y
"""
DEFAULTS = """
class Branches(nn.Module):
    def __init__(self, n, norm_layer=None):
        super().__init__()
        if norm_layer is None:
            norm_layer = nn.BatchNorm1d
        self.norm_layer = norm_layer
        self.branches = self._make(n)

    def _make(self, n):
        layers = []
        for _ in range(n):
            layers.append(nn.Sequential(nn.Linear(4, 4), self.norm_layer(4), nn.Tanh()))
        return nn.ModuleList(layers)

    def forward(self, x):
        for branch in self.branches:
            x = branch(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Branches(2)
        self.second = Branches(1, nn.LayerNorm)
        self.conv1, self.conv2 = nn.Linear(4, 4), nn.Linear(4, 4)
        self.bn1, self.bn2 = nn.BatchNorm1d(4), nn.BatchNorm1d(4)

    def forward(self, x, y):
        def stem(x):
            for conv, bn in [(self.conv1, self.bn1), (self.conv2, self.bn2)]:
                x = torch.tanh(bn(conv(x)))
            return x

        return self.second(self.first(stem(x))) + y
"""
CALLED_NAMES = """
from functools import partial

import numpy as np


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        betas = torch.linspace(0.1, 0.5, 4, dtype=torch.float64)
        keep = lambda name, val: self.register_buffer(name, val.to(torch.float64))
        keep("betas", betas)
        keep("alphas", torch.cumprod(1.0 - betas, dim=0))
        to_torch = partial(torch.tensor, dtype=torch.float64)
        register = partial(self.register_buffer, persistent=False)
        register("gammas", to_torch(np.linspace(0.1, 0.5, 4)))
        add = self.add_module
        add("fc0", nn.Linear(4, 4))
        add("fc1", nn.Linear(4, 4))
        zero = lambda m: nn.init.ones_(m.weight)
        zero(self.fc1)

    def forward(self, x, y):
        up = partial(F.interpolate, scale_factor=2, mode="nearest")
        x = self.fc1(x * self.betas + self.alphas) * self.gammas
        return up(self.fc0(x)[None]) + up(y[None])
"""
# Modules that begin with the values of others, which are built in the same words.
COPIED_STARTS = """
class Encoder(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, out)

    def forward(self, x):
        return self.fc(self.bn(x))


class Net(nn.Module):
    def __init__(self, base=Encoder, mlp=True):
        super().__init__()
        self.q = base(4)
        self.k = base(4)
        if mlp:
            width = self.q.fc.weight.shape[1]
            self.q.fc = nn.Sequential(nn.Linear(width, width), nn.Tanh(), self.q.fc)
            self.k.fc = nn.Sequential(nn.Linear(width, width), nn.Tanh(), self.k.fc)
        for q, k in zip(self.q.parameters(), self.k.parameters()):
            k.data.copy_(q.data)
        self.target = nn.Linear(4, 4)
        self.online = nn.Linear(4, 4)
        self.target.load_state_dict(self.online.state_dict())

    def forward(self, x, y):
        return self.q(x) * self.k(y) + self.online(x) * self.target(x)
"""
# Methods of what is built already, which set its buffers, params and fields.
METHODS_OF_PARTS = """
class Masked(nn.Linear):
    def __init__(self, n, m):
        super().__init__(n, m)
        self.register_buffer("mask", torch.ones(m, n))
        self.gain = 1.0

    def set_mask(self, mask):
        self.mask.copy_(mask.t())

    def zero(self, gain=2.0):
        nn.init.zeros_(self.bias)
        self.gain = gain

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias) * self.gain


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.other = Masked(4, 4), nn.Linear(4, 4)

    def init_weights(self):
        self.fc.set_mask(torch.ones(4, 4).tril())
        nn.init.normal_(self.other.weight, std=0.02)

    def forward(self, x):
        return self.other(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.pair = Masked(4, 4), Pair()
        self.pair.init_weights()
        self.pair.fc.zero(0.5)
        self.fcs = nn.Sequential(Masked(4, 4), nn.Tanh(), Masked(4, 4))
        for m in self.fcs.modules():
            if isinstance(m, Masked):
                m.set_mask(torch.ones(4, 4).tril())
        self.reset()

    def reset(self):
        self.fc.zero()

    def forward(self, x, y):
        return self.fcs(self.pair(self.fc(x))) + y
"""
# Methods that a method chooses, static ones beside those with params, and one of a dict.
GIVEN_METHODS = """
class Net(nn.Module):
    def __init__(self, cosine=True, kind="scaled"):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.0)
        self.similarity = self._chosen(cosine)
        self.combined = self._product
        self.f = {"scaled": self.scaled, "dropped": self.dropped}[kind]
        self.set_last(False)

    def _chosen(self, cosine):
        if cosine:
            self._cosine = nn.CosineSimilarity(dim=-1)
            return self._cos
        else:
            return self._product

    def set_last(self, scaled):
        self.last = self.scaled if scaled else self.dropped

    @staticmethod
    def _product(x, y):
        return torch.tensordot(x, y.T, dims=1)

    def _cos(self, x, y):
        return self._cosine(self.fc(x).unsqueeze(1), y.unsqueeze(0))

    def scaled(self, x):
        return self.fc(x) * 2

    def dropped(self, x):
        return self.drop(self.fc(x))

    def forward(self, x, y):
        return self.similarity(x, y) + self.combined(x, y), self.last(self.f(x))
"""
# A static method that takes nothing makes an object, and writes what it holds.
MADE_BY_STATIC = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.scale = nn.Parameter(torch.ones(4))

    @staticmethod
    def made():
        part = Part()
        part.seen += 1
        part.scale.data.fill_(2)
        return part

    def forward(self, x):
        return x * self.scale + self.seen


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part.made()

    def forward(self, x, y):
        return self.part(x) + y
"""
# Classes in the bodies of others, asked for by self, by the class and in a class below.
INNER_CLASSES = """
class Base(nn.Module):
    class Inner(nn.Module):
        scale = 2

        def __init__(self, n, k=1):
            super().__init__()
            self.fc, self.norm, self.k = nn.Linear(n, n), nn.BatchNorm1d(n), k

        def forward(self, x):
            return self.norm(self.fc(x)) * self.k

    class Config:
        n = 4


class Net(Base):
    class Other(Base.Inner):
        def forward(self, x):
            return super().forward(x) * 2

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([self.Inner(self.Config.n, k=i) for i in range(2)])
        self.other, self.base = self.Other(4), Base.Inner(4)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x)
        return self.base(self.drop(self.other(x))) + y * self.Inner.scale
"""
# Masks of the layers that a constructor chooses, as in MADE.
MASKS_OF_CHOSEN = """
class Masked(nn.Linear):
    def __init__(self, n, m):
        super().__init__(n, m)
        self.register_buffer("mask", torch.ones(m, n))

    def set_mask(self, mask):
        self.mask.data.copy_(mask.t())

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(Masked(4, 4), nn.Tanh(), Masked(4, 4))
        self.set_masks()

    def set_masks(self):
        masks = [torch.ones(4, 4).tril(), torch.ones(4, 4).triu()]
        layers = [m for m in self.net.modules() if isinstance(m, Masked)]
        for layer, mask in zip(layers, masks):
            layer.set_mask(mask)

    def forward(self, x, y):
        return self.net(x) + y
"""
# Mixins in front of a base, whose methods are found by the order of the class that has both.
MIXED_IN = """
class Rescale:
    def run(self, x):
        return self.shifted(x) * 2

    def rescale(self, x):
        return x * self.scale


class Base(nn.Module):
    def shifted(self, x):
        return x + self.shift

    def rescale(self, x):
        return x

    def forward(self, x):
        return self.rescale(x)


class Scaled(Rescale, Base):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4) * 2)
        self.shift = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return super().forward(self.run(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Scaled(), Base()

    def forward(self, x, y):
        return self.a(x) + self.b(y)
"""
# Methods that are called as those that make the arrays in the functional output.
NAMED_INIT = """
class Base(nn.Module):
    def init(self, x):
        return x

    def init_state(self, n):
        return torch.ones(n, 4, dtype=torch.float64)


class A(Base):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.fill()

    def fill(self):
        nn.init.constant_(self.lin.weight, 0.5)

    def init(self, x):
        return super().init(self.lin(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = A()
        self.init()

    def init(self):
        nn.init.ones_(self.a.lin.bias)

    def forward(self, x, y):
        return self.a.init(x) + self.a.init_state(y.size(0))
"""
REGISTERED_NAMES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        v = torch.linspace(0, 1, 4)
        for name in ["a", "b"]:
            self.register_buffer(name, v.clone())
        for name in ("c", "d"):
            self.register_parameter(name, nn.Parameter(torch.ones(4)))

    def forward(self, x, y):
        return self.lin(x) * self.a + self.b + y * self.c - self.d
"""
CLASSES = """
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)

    def forward(self, x):
        return self.fc(x)


class Other(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d, bias=False)

    def forward(self, x):
        return torch.tanh(self.fc(x))


KINDS = {"block": Block, "other": Other}


class Stage(nn.Module):
    def __init__(self, d, n, made):
        super().__init__()
        self.layers = nn.ModuleList()
        self.build(d, n, made)

    def build(self, d, n, made):
        for _ in range(n):
            self.layers.append(made(d))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Stage(4, 2, KINDS["block"])
        self.second = Stage(4, 1, KINDS["other"])

    def forward(self, x, y):
        return self.second(self.first(x)) + y
"""
INITIALISERS = """
KINDS = {"xavier": nn.init.xavier_uniform_, "zeros": nn.init.zeros_}


class Unit(nn.Sequential):
    def __init__(self, d, kind=None, layer=None, init=nn.init.kaiming_normal_, name=""):
        super().__init__()
        unit = layer(d, d)
        init(unit.weight)
        if kind is not None:
            KINDS[kind](unit.weight)
        nn.init.constant_(unit.bias, 0)
        self.add_module(name + "unit", unit)
        self.add_module(name + "activation", nn.ReLU())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Unit(4, "xavier", nn.Linear)
        self.second = Unit(4, layer=nn.Linear, init=nn.init.ones_)

    def forward(self, x, y):
        return self.second(self.first(x)) + y
"""
MADE = """
class Attend(nn.Module):
    def forward(self, q, k):
        return F.softmax(q @ k.transpose(-2, -1), dim=-1) @ k


class Scaled(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.act = nn.Sequential(nn.Sigmoid(), nn.Tanh())

    def forward(self, x):
        return self.act(x) * self.n


class Event:
    def __init__(self, source, q):
        self.source = source
        self.q = q


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = Scaled(3)(Attend()(x, self.fc(x)))
        event = Event(self, h)
        loss_fct = nn.SmoothL1Loss()
        return loss_fct(event.q, y) + nn.CrossEntropyLoss(reduction="sum")(h, F.softmax(y, -1))
"""
CHECKPOINTS = """
import torch.utils.checkpoint as cp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0))
        self.plain = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.0)

    def impl(self, x, y):
        return self.plain(x) + self.drop(y)

    def forward(self, x, y):
        x = cp.checkpoint(self.block, x, use_reentrant=False)
        x = cp.checkpoint(self.plain, x, use_reentrant=False)
        return cp.checkpoint(self.impl, x, y, use_reentrant=False)
"""
CLOSURES = """
import torch.utils.checkpoint as cp


class Inner(nn.Module):
    def __init__(self, with_cp):
        super().__init__()
        self.with_cp = with_cp
        self.conv = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0))
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        def _inner_forward(x):
            if self.with_cp is None:
                return self.conv(x)
            else:
                return x + self.conv(x) * self.lin.weight.sum()

        if self.with_cp:
            out = cp.checkpoint(_inner_forward, x, use_reentrant=False)
        else:
            out = _inner_forward(x)
        return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Inner(True)
        self.other = Inner(False)

    def forward(self, x, y):
        return self.one(x) + self.other(y)
"""
DATA = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        w = self.proj.weight.data
        nn.init.xavier_uniform_(w.view([w.shape[0], -1]))
        self.reset()

    def reset(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight = nn.init.kaiming_normal(m.weight, mode="fan_out")
                m.bias.data.zero_()

    def forward(self, x, y):
        z = self.proj(x) * 2
        w = z.data
        w.mul_(2)
        v = z.detach()
        v[0] = 0
        return z * y
"""
PLACED = """
class Scaled(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


class Mixed(nn.Linear):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        where = {"device": kwargs.get("device", None), "dtype": kwargs.get("dtype", None)}
        self.out = Scaled(4, 4, **where)

    def forward(self, x):
        return self.out(super().forward(x))


class Net(nn.Module):
    def __init__(self, device=None, dtype=None):
        super().__init__()
        factory_kwargs = {"device": device, "dtype": dtype}
        self.weight = nn.Parameter(torch.empty((4, 4), **factory_kwargs))
        self.bias = nn.Parameter(torch.zeros(4, **factory_kwargs))
        self.fc = nn.Linear(4, 4, bias=False, **factory_kwargs)
        self.mixed = Mixed(4, 4, device=device)
        nn.init.normal_(self.weight, std=0.5)

    def forward(self, x, y):
        return self.mixed(self.fc(F.linear(x, self.weight, self.bias))) + y
"""
MARKS = """
def mark(p):
    setattr(p, "_no_weight_decay", True)
    return p


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.fc.bias._no_reinit = True
        self.scale = mark(nn.Parameter(torch.ones(4)))
        for p in self.parameters():
            p.tag = str(p.ndim)

    def forward(self, x, y):
        x.seen = True
        return self.fc(x) * self.scale + y
"""
NAMED = """
from collections import OrderedDict


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = OrderedDict([("fc", nn.Linear(4, 4)), ("act", nn.GELU())])
        self.mlp = nn.Sequential(layers)
        nn.init.normal_(self.mlp.fc.weight, std=0.1)

    def forward(self, x, y):
        return self.mlp(x) + self.mlp.fc(y)
"""
ATTENTION = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.MultiheadAttention(4, 2)

    def forward(self, x, y):
        out, _ = F.multi_head_attention_forward(
            x[:, None], y[:, None], y[:, None], 4, 2, self.inner.in_proj_weight,
            self.inner.in_proj_bias, None, None, False, 0, self.inner.out_proj.weight,
            self.inner.out_proj.bias, training=self.training,
        )
        return out
"""
WORDS = """
class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, key, value, state=None):
        if state is not None:
            key = key + state
        return self.lin(key) * value, state


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = Attend()
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x, state):
        out, key = self.attend(x, state, state=x)
        if out.sum() > 0:
            state = state + 1
            out = self.norm(out)
        return self.drop(out) + key * state
"""
SECOND_NAMES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.shared = self.blocks[0]
        self.norm = nn.BatchNorm1d(4)
        self.net = nn.Sequential(nn.Linear(4, 4), self.norm, nn.ReLU())
        self.first = self.net[0]

    def forward(self, x, y):
        return self.net(self.shared(x)) + self.blocks[0](y) * self.first(self.blocks[1](y))
"""
REBOUND = """
class Branch(nn.Module):
    def __init__(self, size, wide):
        super().__init__()
        self.n = 1
        if wide:
            self.n = size
            self.net = nn.Sequential(nn.Linear(size, size), nn.LayerNorm(size))
            nn.init.constant_(self.net[1].weight, 2)
            self.w = nn.Parameter(torch.ones(self.n))
            self.n = 7
        elif size > 3:
            self.n = 2
            self.net = nn.Linear(size, size)
            nn.init.constant_(self.net.weight, 0.5)
            self.w = nn.Parameter(torch.ones(self.n))
            self.n = 8

    def forward(self, x):
        return self.net(x) * self.n * self.w.sum()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = Branch(4, True)
        self.other = Branch(4, False)
        self.fc = nn.Linear(4, 3)
        nn.init.zeros_(self.fc.bias)
        self.scale = nn.Parameter(torch.ones(self.fc.in_features))
        self.fc = nn.Linear(4, 4, bias=False)

    def forward(self, x, y):
        return self.fc(self.wide(x) * self.scale + self.other(y))
"""
BEGUN = """
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.block = nn.Sequential(nn.ELU(inplace=True), nn.BatchNorm1d(d), nn.Linear(d, d))

    def forward(self, x):
        return x + self.block(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), Block(4), Block(4))
        self.head = nn.Sequential(nn.Identity(), nn.ELU(inplace=True), nn.Linear(4, 4))

    def forward(self, x, y):
        x = self.net(x)
        z = self.head(x)
        return x * z + y
"""
# parse is handed a dict that only the constructor knows: what is in it is no tensor.
PARSED = """
from copy import deepcopy

try:
    autocast = torch.cuda.amp.autocast
except AttributeError:

    class autocast:
        def __init__(self, enabled):
            pass


SPEC = {"backbone": [[1, [4, "2 + 2"]]], "head": [[2, [4, 4]]]}


def parse(d, ch):
    layers = []
    for i, (n, args) in enumerate(d["backbone"] + d["head"]):
        for j, a in enumerate(args):
            args[j] = eval(a) if isinstance(a, str) else a
        layers += [nn.Linear(*args) for _ in range(n)]
    return nn.Sequential(*layers)


class Net(nn.Module):
    def __init__(self, spec=SPEC):
        super().__init__()
        self.net = parse(deepcopy(spec), 4)

    def forward(self, x, y):
        with autocast(enabled=False):
            return self.net(x) + y
"""
MAYBE = """
class Block(nn.Module):
    def __init__(self, shift, mask: torch.Tensor = None):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        if shift > 0:
            bias = torch.ones(4) * shift
            bias = bias.masked_fill(bias != 0, -1.5)
        else:
            bias = None
        self.register_buffer("bias", bias)
        self.mask = mask

    def attend(self, x, bias=None):
        return self.fc(x) if bias is None else self.fc(x) + bias

    def forward(self, x):
        self.mask = self.mask.to(dtype=x.dtype, device=x.device) if self.mask is not None else None
        x = self.attend(x, bias=self.bias)
        return x if self.mask is None else x * self.mask


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ModuleList([Block(i) for i in range(2)])
        self.b = Block(0, self.build())

    def build(self):
        mask = torch.empty(3, 4)
        mask.fill_(2.0)
        mask.triu_(1)
        return mask

    def forward(self, x, y):
        for block in self.a:
            x = block(x)
        return x * self.b(y).exp()
"""
TIES = """
class Side(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Linear(4, 4, bias=False)

    def forward(self, x):
        return torch.tanh(self.emb(x))

    def encode(self, x):
        return self(x) * self.emb.weight.sum()


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Side()
        self.b = Side()
        self.c = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.c(self.b(self.a(x))) + self.a.encode(y) * self.b.emb.weight.mean()


class Net(Base):
    def __init__(self, share=True, other=False):
        super().__init__()
        self.head = nn.Linear(4, 4)
        if share:
            self.head.weight = self.b.emb.weight
        if other:
            self.extra = nn.Linear(4, 4)
            self.c.weight = self.extra.weight
        self.a.emb.weight = self.b.emb.weight

    def forward(self, x, y):
        x = self.head(super().forward(x, y))
        return self.a(x) + self.head.weight.mean() * y
"""


def tied(tie):
    return f"""
class Net(nn.Module):
    def __init__(self, x=False):
        super().__init__()
        self.a, self.b, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.c = nn.Linear(4, 4, bias=False)
        {tie}

    def forward(self, x, y):
        return self.head(self.c(self.a(x) + self.b(y)))
"""


CHAINED = tied("self.b.weight = self.a.weight; self.head.weight = self.b.weight")
# Ties of what stands in a container under a number.
TIED_ITEM = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.last = nn.Linear(4, 4), nn.Linear(4, 4)
        self.outs = nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4, bias=False))
        self.outs[-1].weight = self.words.weight
        self.last.weight = self.outs[0].weight

    def forward(self, x, y):
        return self.outs(self.words(x)) * F.linear(y, self.words.weight) + self.last.weight
"""
TIED_ITEMS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ins = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.outs = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.outs[0].weight = self.ins[1].weight
        self.outs[1].weight = self.ins[0].weight

    def forward(self, x, y):
        return self.outs[0](self.ins[0](x)) * self.outs[1](self.ins[1](y)) + self.outs[-1].weight[:3]
"""
UNSEEN_TIES = {  # what is tied can not be told from a model that is built
    "to one of two": """if x:
            self.head.weight = self.a.weight
        else:
            self.head.weight = self.b.weight""",
    "of what may have none": "if x:\n            self.c.bias = self.b.bias",
}
STEPS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(2, 4))
        self.register_buffer("var", torch.ones(2, 4))
        self.weight = nn.Parameter(torch.ones(2, 4))

    def forward(self, x, y, step=1):
        x = F.batch_norm(x, self.mean[step], self.var[step], self.weight[step], training=True)
        return F.batch_norm(x, self.mean[0], self.var[0], training=self.training) * y
"""
# Adaptive instance norm: batch_norm updates copies that nobody reads again; in a loop, the next turn does.
REPEATED_STATISTICS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("var", torch.ones(4))

    def forward(self, x, y):
        mean, var = self.mean.repeat(2), self.var.repeat(2)
        x = F.batch_norm(x.repeat(1, 2), mean, var, y.mean(0).repeat(2), None, True, 0.1, 1e-5)
        mean, var = self.mean + 1, self.var * 2
        for step in range(3):
            y = F.batch_norm(x[:, :4] * y, mean, var, None, None, step < 2)
        return x[:, 4:] + y
"""
# Python calls `self.__fc` by another name in each class, and so does a checkpoint.
PRIVATE_NAMES = """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.__fc = nn.Linear(4, 4)
        self.__scale = nn.Parameter(torch.full((4,), 2.0))
        nn.init.zeros_(self.__fc.bias)
        self.__norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.__norm(self.__fc(x)) * self.__scale


class Net(Base):
    def __init__(self):
        super().__init__()
        self.__out = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.__out(super().forward(x)) + y
"""
# What may be no module is handed to what asks, and to what calls it.
OPTIONAL = """
def exists(value):
    return value is not None


def run(f, x):
    return f(x) if exists(f) else x


class Block(nn.Module):
    def __init__(self, size=None):
        super().__init__()
        self.norm = nn.LayerNorm(size) if exists(size) else None
        self.fc = None if size is None else nn.Linear(size, size)

    def forward(self, x):
        if exists(self.norm):
            x = self.norm(x)
        return run(self.fc, x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Block(), Block(4)

    def forward(self, x, y):
        return self.b(self.a(x)) + y
"""
EITHER_IS_HANDED_ON = """
def run(f, x):
    return x if f is None else f(x)


class Block(nn.Module):
    def __init__(self, n, first):
        super().__init__()
        self.first, self.fc = first, nn.Linear(4, 4)
        if n > 0:
            self.norm = nn.LayerNorm(4)
            self.drop = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0))

    def forward(self, x):
        norm = getattr(self, "norm", None)
        if norm is not None:
            x = norm(x)
        x = run(getattr(self, "drop", None), x) + run(self.fc if self.first else self.norm, x)
        return run(self.norm if hasattr(self, "norm") else None, x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Block(0, True), Block(1, False), Block(1, True)

    def forward(self, x, y):
        return self.c(self.b(self.a(x))) + y
"""
ITEM_IS_A_SIZE = """
class Net(nn.Module):
    def __init__(self, levels=(3, 2)):
        super().__init__()
        self.register_buffer("levels", torch.tensor(levels, dtype=torch.int32), persistent=False)
        self.size = self.levels.prod().item()
        codes = self.codes(torch.arange(self.size))
        self.register_buffer("book", codes, persistent=False)

    def codes(self, i):
        return i[:, None] % self.levels

    def forward(self, x, y):
        every = torch.arange(self.size)
        return x * self.book.sum() + y * every.sum()
"""
LISTED_AT_TIMES = """
class Scaled(nn.Module):
    def __init__(self, learned):
        super().__init__()
        values = [torch.linspace(-1, 1, n) for n in (3, 5)]
        if learned:
            self.values = nn.ParameterList([nn.Parameter(v) for v in values])
        else:
            self.values = values

    def forward(self, x):
        return x * self.values[0][1] + sum(v.sum() for v in self.values)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Scaled(True), Scaled(False)

    def forward(self, x, y):
        return self.a(x) * self.b(y)
"""
NAMED_LAYERS = """
class Net(nn.Module):
    def __init__(self, kind="GRU", act="Tanh"):
        super().__init__()
        self.rnn, self.act = getattr(nn, kind)(4, 4), getattr(nn, act)()

    def forward(self, x, y):
        return self.act(self.rnn(x)[0]) + y
"""

# What one name may run, a method or a property, is called in one way.
# Lists of params that a loop fills before they are one of torch's.
FILLED_LISTS = """
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        first = []
        for i in range(n):
            first.append(nn.Parameter(torch.ones(4) * i))
        self.first = nn.ParameterList(first)
        more = [nn.Parameter(torch.zeros(4))]
        more.extend([nn.Parameter(torch.ones(4) * i) for i in range(n)])
        more += [nn.Parameter(torch.randn(4))]
        self.more = nn.ParameterList(more)

    def forward(self, x, y):
        for scale in self.more:
            x = x * scale + y
        return x * self.first[0] + self.first[1]
"""
# A method stands in for forward, and a constructor keeps a function of its own.
CHOSEN_FORWARDS = """
class Norm(nn.Module):
    def __init__(self, fused=False, twice=False):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        if fused:
            self.forward = self.fused
        elif twice:
            self.forward = self.doubled

        def scale(x, by=2):
            return self.norm(x) * by

        self.scaled = scale

    def fused(self, x):
        return self.norm(x) * 3

    def doubled(self, x):
        return self.scaled(x) + self.scaled(x, by=3)

    def forward(self, x):
        return self.norm(x)


class Other(nn.Module):
    def __init__(self, plain=True):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.forward = self.plain if plain else self.forward

    def plain(self, x):
        return self.fc(x) * 2

    def forward(self, x):
        return self.fc(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Norm(), Norm(True), Norm(twice=True)
        self.d, self.e = Other(), Other(False)

    def forward(self, x, y):
        return self.a(x) + self.b(y) + self.c(self.e(self.d(x)))
"""
SEVERAL_METHODS = """
class Base(nn.Module):
    def forward(self, x):
        raise NotImplementedError()

    @property
    def total(self):
        raise NotImplementedError()

    @property
    def active(self):
        raise NotImplementedError()


class Dummy(Base):
    def forward(self, x):
        return x * x * self.total

    @property
    def total(self):
        return 1

    @property
    def active(self):
        return self.total

    def doubled(self):
        return 2


class Counting(Base):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.n = n
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += 1
        return self.fc(x) * self.active + self.total

    @property
    def total(self):
        return self.n

    @property
    def active(self):
        return self.n + self.seen * 0

    def doubled(self):
        return 2 * self.active


class Net(nn.Module):
    def __init__(self, count=True):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.q: Base = Counting(2) if count else Dummy()

    @property
    def total(self):
        return self.q.total

    def forward(self, x, y):
        return y + self.q(self.fc(x)) + self.total + self.q.active + self.q.doubled()
"""
# A mixin in front of a layer of torch's writes a buffer.
MIXED_IN_STATE = """
class Counted:
    def forward(self, x):
        self.calls += 1
        return super().forward(x) * 2


class Lin(Counted, nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o)
        self.register_buffer("calls", torch.zeros(()))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(Lin(4, 4), nn.Tanh())

    def forward(self, x, y):
        return self.a(x) + y
"""
# Submodules whose names are none of Python's.
ODD_NAMES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fcs = nn.Sequential()
        self.fcs.add_module("pool-norm", nn.Linear(4, 4))
        self.add_module("pool-act", nn.Linear(4, 4))
        self.add_module("in", nn.Linear(4, 4))

    def forward(self, x, y):
        x = getattr(self, "in")(x + self.fcs(x))
        return self._modules["pool-act"](x) + y
"""
# Numbers that one call leaves to the next decide, in another method or by a parameter too.
COUNTED = """
def gate(x, step, after):
    if step > after:
        return torch.tanh(x)
    return x


class Warm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.started = False
        self.step = 0
        self.rate = 1.0

    def begin(self, x):
        self.mean.copy_(x.detach().mean(0))
        self.started = True

    def forward(self, x):
        if not self.training:
            return x
        if not self.started:
            self.begin(x)
        self.step += 1
        self.rate = self.rate * 0.5
        if self.step % 2 == 0:
            x = self.lin(x)
        self.width = x.shape[1]
        return gate(x - self.mean, self.step, 1).reshape(-1, self.width) * self.rate


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.warm, self.fc = Warm(), nn.Linear(4, 4)

    def forward(self, x, y):
        return self.warm(self.fc(x)) + y
"""
# What monocular depth networks do: a dict of modules that a list registers, and one of results.
REGISTERED_DICTS = """
from collections import OrderedDict


class ConvBlock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return torch.tanh(self.fc(x))


class Decoder(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.scales = range(2)
        self.convs = OrderedDict()
        for i in range(2, -1, -1):
            self.convs["upconv", i, 0] = ConvBlock(4, 4)
            self.convs["upconv", i, 1] = ConvBlock(4, 4)
        for s in self.scales:
            self.convs["dispconv", s] = nn.Linear(4, 4)
        self.decoder = nn.ModuleList(list(self.convs.values()))
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        self.outputs = {}
        for i in range(2, -1, -1):
            x = self.convs["upconv", i, 0](x)
            x = self.convs["upconv", i, 1](x)
            if i in self.scales:
                self.outputs["disp", i] = self.sigmoid(self.convs["dispconv", i](x))
        return self.outputs


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = Decoder()
        self.convs = {}
        self.convs[0] = nn.Linear(4, 4)
        self.convs[1] = nn.Linear(4, 4)
        self.num_convs = len(self.convs)
        self.net = nn.ModuleList(list(self.convs.values()))
        self.parts = {"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)}
        self.rest = nn.ModuleList(self.parts.values())

    def forward(self, x, y):
        for i in range(self.num_convs):
            x = self.convs[i](x)
        for name in ("b", "c"):
            if name in self.parts:
                x = self.parts[name](x)
        for name, part in self.parts.items():
            x = part(x) * len(name)
        for part in self.parts.values():
            x = part(x)
        o = self.d(x)
        return o["disp", 0] + o[("disp", 1)] + y
"""
# Classes of layers, of which the project's own constructions say all; but for Net's, which others make.
# Modules that a constructor is given, all of which take the same.
GIVEN_ALIKE = """
class Scores(nn.Module):
    def __init__(self, p=0.0):
        super().__init__()
        self.drop = nn.Dropout(p)

    def forward(self, q, k):
        return self.drop(torch.softmax(q @ k.t(), -1)) @ k


class Att(nn.Module):
    def __init__(self, scores, n):
        super().__init__()
        self.scores = scores
        self.q = nn.Linear(n, n)

    def forward(self, x, y):
        return self.scores(self.q(x), self.q(y))


class Layer(nn.Module):
    def __init__(self, attention, norm=None):
        super().__init__()
        self.attention = attention
        self.norm = norm

    def forward(self, x, y):
        x = x + self.attention(x, y)
        return x if self.norm is None else self.norm(x)


class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        made = [Layer(Att(Scores(), n), nn.LayerNorm(n)), Layer(Att(Scores(), n))]
        self.layers = nn.ModuleList(made)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x, y)
        return x
"""
# Containers that are given, and what stands in where nothing is.
GIVEN_HOLDERS = """
class Res(nn.Module):
    def __init__(self, fn, skip=None):
        super().__init__()
        self.fn = fn
        self.skip = skip or nn.Identity()

    def forward(self, x):
        return self.fn(x) + self.skip(x)


class Wrap(nn.Module):
    def __init__(self, fn, norm=None):
        super().__init__()
        if norm is None:
            norm = nn.BatchNorm1d(4)
        self.fn = fn
        self.norm = norm

    def forward(self, x):
        return self.norm(self.fn(x))


class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.a = Res(nn.Sequential(nn.Linear(n, n), nn.ReLU()))
        self.b = Res(nn.Sequential(nn.Linear(n, n), nn.BatchNorm1d(n)), nn.Linear(n, n))
        self.c = Wrap(nn.Linear(n, n), nn.LayerNorm(n))
        self.d = Wrap(nn.Linear(n, n))
        self.e = Wrap(nn.Sequential(nn.Linear(n, n), nn.Dropout(0.0)))

    def forward(self, x, y):
        return self.e(self.d(self.c(self.b(self.a(x)))))
"""
# Lists of modules that are given, kept and taken apart.
GIVEN_LISTS = """
class Att(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.q = nn.Linear(n, n)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, y):
        return self.drop(self.q(x)) * y


class Layer(nn.Module):
    def __init__(self, attention, n):
        super().__init__()
        self.attention = attention
        self.norm = nn.LayerNorm(n)

    def forward(self, x, y):
        return self.norm(x + self.attention(x, y))


class Encoder(nn.Module):
    def __init__(self, layers, conv_layers=None, norm=None):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.convs = nn.ModuleList(conv_layers) if conv_layers is not None else None
        self.norm = norm

    def forward(self, x, y):
        if self.convs is not None:
            for layer, conv in zip(self.layers, self.convs):
                x = conv(layer(x, y))
            x = self.layers[-1](x, y)
        else:
            for layer in self.layers:
                x = layer(x, y)
        if self.norm is not None:
            x = self.norm(x)
        return x


class Net(nn.Module):
    def __init__(self, n=4, distil=True):
        super().__init__()
        self.a = Encoder([Layer(Att(n), n) for _ in range(2)], [nn.Linear(n, n)] if distil else None, norm=nn.LayerNorm(n))
        self.b = Encoder([Layer(Att(n), n), Layer(Att(n), n)])

    def forward(self, x, y):
        return self.b(self.a(x, y), y)
"""
GIVEN_LISTS_APPENDED = """
class Enc(nn.Module):
    def __init__(self, blocks=None):
        super().__init__()
        self.n = 0
        self.blocks = nn.ModuleList()
        if blocks is not None:
            for b in blocks:
                self.blocks.append(b)
                self.n += 1

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x * self.n


class Net(nn.Module):
    def __init__(self, n=4, distil=True):
        super().__init__()
        self.a = Enc([nn.Linear(n, n), nn.Linear(n, n)])
        self.b = Enc()

    def forward(self, x, y):
        return self.b(self.a(x))
"""
GIVEN_LISTS_SPREAD = """
class Enc(nn.Module):
    def __init__(self, *blocks):
        super().__init__()
        self.net = nn.Sequential(*blocks)

    def forward(self, x):
        return self.net(x)


class Enc2(nn.Module):
    def __init__(self, blocks, n):
        super().__init__()
        self.net = nn.Sequential(*blocks, nn.Linear(n, n))

    def forward(self, x):
        return self.net(x)


class Net(nn.Module):
    def __init__(self, n=4, distil=True):
        super().__init__()
        self.a = Enc(nn.ReLU(), nn.Linear(n, n))
        self.b = Enc2([nn.ReLU(), nn.BatchNorm1d(n)], n)

    def forward(self, x, y):
        return self.b(self.a(x))
"""
GIVEN_CLASSES = """
class Mlp(nn.Module):
    def __init__(self, d, act_layer=nn.GELU, drop=0.):
        super().__init__()
        self.fc1 = nn.Linear(d, d)
        self.act = act_layer()
        self.fc2 = nn.Linear(d, d)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, d, act_layer=nn.GELU, norm_layer=nn.LayerNorm):
        super().__init__()
        self.norm = norm_layer(d)
        self.mlp = Mlp(d, act_layer=act_layer)

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Net(nn.Module):
    def __init__(self, norm_layer=nn.LayerNorm):
        super().__init__()
        self.blocks = nn.ModuleList([Block(4), Block(4, act_layer=nn.ReLU)])
        self.last = Block(4, norm_layer=nn.LayerNorm)
        self.norm = norm_layer(4)

    def forward(self, x, y):
        for b in self.blocks:
            x = b(x)
        return self.norm(self.last(x)) + y
"""
STARRED = """
from torch.nn import *
from torch.nn.functional import *


class Net(Module):
    def __init__(self):
        super(Net, self).__init__()
        self.net = Sequential(Linear(4, 4), ReLU())
        self.scale = Parameter(torch.ones(4))

    def forward(self, x, y):
        return softmax(self.net(x), dim=1) * self.scale + y
"""
# What may be None, or a number, and an array that a forward pass casts then.
GIVEN_OR_NOT = """
class Net(nn.Module):
    def __init__(self, alpha=None, w=None):
        super().__init__()
        self.alpha = alpha
        if isinstance(alpha, (float, int)):
            self.alpha = torch.Tensor([alpha, 1 - alpha])
        self.fc = nn.Linear(4, 4)
        self.register_buffer("w", w)

    def forward(self, x, y):
        if self.alpha is not None:
            if self.alpha.type() != x.data.type():
                self.alpha = self.alpha.type_as(x.data)
            x = x * self.alpha[0]
        if self.w is not None:
            x = x * self.w
        return self.fc(x) + y
"""
# A number on one side of a branch, where the other sets an array.
NUMBER_OR_ARRAY = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("hits", torch.zeros(()))

    def forward(self, x, y):
        diff = self.fc(x) - y
        if diff.sum() > 0:
            self.loss = diff.mean()
        else:
            self.loss = 0
        return self.loss + diff
"""
LISTED = """
class Net(nn.Module):
    def __init__(self, last=True):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.both = [self.a, self.norm]
        self.lins = [self.a]
        if last:
            self.b = nn.Linear(4, 4)
            self.lins += [self.b]
        self.fcs = []
        for i in range(2):
            fc = nn.Linear(4, 4)
            self.add_module("fc{}".format(i + 1), fc)
            self.fcs.append(fc)
        for layer in self.fcs:
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        inner = []
        for i in range(2):
            fc = nn.Linear(4, 4)
            setattr(self, f"inner{i}", fc)
            inner.append(fc)
        self.inner = inner[::-1]
        layers = [nn.Linear(4, 4), nn.Tanh()]
        self.net = nn.Sequential(*layers)
        self.layers = layers
        self.made = []
        for _ in range(2):
            self.made.append(nn.Linear(4, 4))
        self.seq = nn.Sequential(*self.made)
        self.head = self.tail = nn.Linear(4, 4)

    def forward(self, x, y):
        for layer in self.both:
            x = layer(x)
        for layer in self.lins:
            x = layer(x)
        for layer in self.fcs:
            x = torch.tanh(layer(x))
        for layer in self.inner:
            y = torch.tanh(layer(y))
        for layer in self.layers:
            y = layer(y)
        return self.tail(x) + self.net(y) * self.head(self.seq(y))
"""
# A method without a result that data may end; a function that draws, or torch's, by a flag.
EXITS = """
def uniform(*shape: int):
    t = torch.empty(shape)
    nn.init.kaiming_uniform_(t)
    return t


def shuffled(samples, n):
    return samples[torch.arange(n) % samples.shape[0]]


class Net(nn.Module):
    def __init__(self, n=4, zero=False, flag=True):
        super().__init__()
        make = uniform if not zero else torch.zeros
        embed = make(n, n)
        self.flag = flag
        self.fc = nn.Linear(4, 4)
        self.register_buffer("ready", torch.Tensor([not zero]))
        self.register_buffer("embed", embed)
        self.register_buffer("average", embed.clone())
        self.register_buffer("hits", torch.zeros(n))
        self.register_buffer("count", torch.zeros(()))

    def fill_(self, x):
        if self.ready:
            return
        self.embed.data.copy_(shuffled(x, 4))
        self.ready.data.copy_(torch.Tensor([True]))

    def note(self, x):
        if not self.flag:
            return
        if x.sum() > 0:
            self.count += 1
            if x.max() > 2:
                self.hits += 3
                return
            self.hits += 2
        else:
            self.hits += 1
            return
        self.count += 5

    def forward(self, x, y):
        self.fill_(x)
        self.note(x)
        self.note(y)
        self.average.add_(1)
        return F.linear(self.fc(x), self.embed) * y * self.hits + self.count + self.average.sum()
"""
# A layer that stands for another has its attributes.
WRAPPED = """
from torch.nn.utils import weight_norm


def wrapped(module: nn.Module, kind: str):
    if kind == "weight":
        return weight_norm(module)
    return module


def behind(x, size: int, more: int):
    return x.shape[-1] - size + more


class Net(nn.Module):
    def __init__(self, *args, kind="weight"):
        super().__init__()
        self.fc = wrapped(nn.Linear(4, 4, *args), kind)

    def forward(self, x, y):
        size = self.fc.out_features
        return self.fc(x) * y + behind(x, size, 2)
"""
PRIVATE = """
class Around(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.__norm = nn.BatchNorm1d(d)
        self.__w = nn.Parameter(torch.ones(d) * 2)

    def __scaled(self, x):
        return self.__norm(x) * self.__w

    def __call__(self, x, *args):
        return super().__call__(x, *args) + 1

    def forward(self, x):
        return self.__scaled(x)


class Last(nn.Module):
    def __init__(self, f=float):
        super().__init__()
        for k in range(2):
            scale = f(k + 1)
        self.w: torch.Tensor = nn.Parameter(torch.ones(4) * scale)
        for k in range(2):
            self.v: torch.Tensor = nn.Parameter(torch.ones(4) * k)

    def forward(self, x):
        return x * self.w + self.v


class Below(Around):
    __power = 2

    def __init__(self, d):
        super().__init__(d)
        self.__w = nn.Parameter(torch.ones(d) * 3)

    def forward(self, x):
        return super().forward(x) * self.__w**self.__power


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Around(4), Below(4), Last()

    def forward(self, x, y):
        return self.a(x) * 2 + self.c(self.b(y))
"""
HELD_OR_MADE_HERE = """
class KeptHere(nn.Module):
    def __init__(self, norm="bn", fc=None, layers=None):
        super().__init__()
        self.norm = norm
        self.fc = fc
        self.layers = layers
        if norm == "bn":
            self.norm = nn.BatchNorm1d(4)
        elif norm == "ln":
            self.norm = nn.LayerNorm(4)
        if self.fc is None:
            self.fc = nn.Linear(4, 4)
        if not layers:
            self.layers = nn.ModuleList([nn.Linear(4, 4)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = KeptHere()
        self.b = KeptHere("ln", nn.Linear(4, 4, bias=False))

    def forward(self, x, y):
        return self.a(x) + self.b(y)
"""
HELD_OR_NOT = """
class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.bn = nn.BatchNorm1d(d)

    def forward(self, x):
        return self.bn(x)


class Net(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.m = nn.Sequential(*(Norm(d) for _ in range(2)))

    def forward(self, x, y):
        return self.m(x) + y


class Other(Net):
    def __init__(self, d=4):
        super().__init__(d)
        self.m = Norm(d)
"""
KEY_GIVEN = """
class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.0)

    def forward(self, query, key=None, value=None):
        return self.drop(query + key)


class Rest(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.0)

    def forward(self, query, **kwargs):
        return self.drop(query)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend, self.rest, self.fc = Attend(), Rest(), nn.Linear(4, 4)

    def forward(self, x, y):
        x = self.attend(self.fc(x), key=y, value=x)
        return self.rest(x, key=x)
"""
GENERATORS_OF_TORCH = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        begun = torch.Generator()
        self.register_buffer("zero", torch.randn(4, generator=begun) * 0.0)
        self.generator = torch.Generator(device="cpu")  # what only `sample` draws from
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.fc(x) + y * self.zero + 0 * torch.rand(4, generator=self.generator)

    def sample(self, n, own=False):
        generator = None
        if own:
            generator = self.generator
        return torch.multinomial(self.zero + 1, n, generator=generator)
"""
NUMBERS_BESIDE_LISTED_LAYERS = """
class Scaled(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return x / self.size


def ones(scale=1.0):
    def init(shape):
        return torch.ones(shape) * scale

    return init


class Config:
    width = 4


class Net(nn.Module):
    def __init__(self, config=Config()):
        super().__init__()
        self.width = width = config.width
        layers = [Scaled(width)]
        layers.append(nn.Linear(4, width * 2))
        layers[-1].weight.data = ones(2.0)(layers[-1].weight.shape)
        nn.init.zeros_(layers[-1].bias)
        self.all = nn.ModuleList(layers)

    def forward(self, x, y):
        return self.all[1](self.all[0](x)) * self.width + y.sum()
"""
TOLD_OF_TORCH = """
def fused():
    return hasattr(F, "scaled_dot_product_attention")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.flash = hasattr(torch.nn.functional, "scaled_dot_product_attention")
        self.flags = [hasattr(torch, "no_such_thing"), fused()]
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        if self.flash and self.flags[1] and not self.flags[0]:
            return self.fc(x)
        return y
"""
TRIED_OF_TORCH = """
try:
    from torch.nn import SiLU
    from torch.nn.functional import scaled_dot_product_attention as attend
except ImportError:
    SiLU = None

    def attend(query, key, value, scale=None):
        return (query * scale @ key.transpose(-2, -1)).softmax(-1) @ value


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = SiLU()

    def forward(self, x, y):
        return attend(self.act(x), y, x, scale=0.5)
"""
MEASURED = """
class Net(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.v = nn.Parameter(torch.rand(size))
        bound = 1.0 / self.v.size(0) ** 0.5
        self.v.data.uniform_(-bound, bound)
        n = self.v.size(0)
        self.w = nn.Parameter(torch.ones(n, n))
        nn.init.constant_(self.w, 1 / n)

    def forward(self, x, y):
        return x @ self.w * self.v + y
"""


# Arrays under two names, and the params of others in a list; layers that a Sequential gets by name.
ARRAYS = """
class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5, 4)

    def forward(self, ids):
        return self.emb(ids)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        p = nn.Parameter(torch.randn(4))
        self.a = p
        self.b = p
        self.c = self.d = nn.Parameter(torch.randn(4))
        self.body = Body()
        self.features = nn.Sequential(nn.Linear(4, 4))
        for i in range(2):
            self.features.add_module("block%d" % i, nn.Linear(4, 4))

    def forward(self, x, y):
        x = self.features(x + self.body(torch.arange(3)))
        return x * self.a + y * self.b + self.c * self.d
"""
# Equal layers without arrays, and none at all.
LAYERS = """
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.own = nn.Linear(4, 4)
        self.pools = nn.ModuleList()
        for i in range(n):
            self.pools.append(nn.AvgPool1d(3, stride=1, padding=1))
        self.none = nn.ModuleList([nn.Linear(4, 4) for _ in range(n - 2)])

    def forward(self, x, y):
        x = self.own(x)
        for pool in self.pools:
            x = pool(x)
        for layer in self.none:
            x = layer(x)
        return x + y
"""
# Types that mean nothing, or something else, when the class is made.
NAMED_TYPES = """
import sys

from torch import Tensor

networks = sys.modules[__name__]
KINDS = (networks.Tensor, float)


class Net(nn.Module):
    def __init__(self, robust=False):
        super().__init__()
        if robust:
            self.nn = nn.Linear(4, 4)
        self.loss = networks.Loss(4)
        self.out = nn.Linear(4, 4)

    def forward(self, x, y):
        assert isinstance(y, KINDS) and isinstance(x, networks.Tensor)
        return self.out(self.loss(x)) + y


class Loss(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.nn = nn.Linear(d, d)
        self.jax = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.nn(x) * self.jax
"""
# Builtins that a dialect writes, where the words are the user's.
OWN_BUILTINS = """
def zip(url):
    return url


class Net(nn.Module):
    def __init__(self, n=3, len=2):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(1, n):
            self.layers.append(nn.Sequential(nn.Linear(4, len * i), nn.Linear(len * i, 4)))

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x)
        return x + zip(y)
"""
METACLASS = """
class Registering(type):
    known = {}

    def __new__(mcs, name, bases, scope):
        made = super().__new__(mcs, name, bases, scope)
        mcs.known[name.lower()] = made
        return made


class Counting(Registering):
    made = 0

    def __call__(cls, *args, **kwargs):
        Counting.made += 1
        return super().__call__(*args, **kwargs)


class Base(nn.Module, metaclass=Counting):
    pass


class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.fc(x) + y
"""
ELIF = """
class Net(nn.Module):
    def __init__(self, momentum=0.5):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("low", torch.zeros(()))
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        x = self.fc(x)
        low = x.detach().min()
        if self.low == 0:
            self.low += low
        elif self.momentum == -1:
            self.low = torch.min(self.low, low)
        else:
            # moving
            self.low = self.low * self.momentum + low * (1 - self.momentum)
        return x * self.low + y
"""
PRESENT = """
class Scale(nn.Module):
    def __init__(self, kernel, bias=True):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4)) if kernel else None
        self.b = nn.Parameter(torch.randn(4)) if kernel and bias else None

    def forward(self, x):
        w = self.w.to(x.dtype) if self.w is not None else None
        b = self.b.to(x.dtype) if self.b is not None else None
        if w is not None:
            x = x * w
        if b is not None:
            x = x.add_(b)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.plain, self.none = Scale(4), Scale(4, False), Scale(0)

    def forward(self, x, y):
        return self.scale(x) + self.plain(x) * self.none(x) + x * y
"""
CLASS_DEFAULTS = """
import abc


class Base(abc.ABC, nn.Module):
    @property
    @abc.abstractmethod
    def rate(self):
        ...


class Net(Base):
    # the assignment is in the place of the property
    rate: float = 0
    size = 2
    bias = None

    def __init__(self, wide=False):
        super().__init__()
        self.rate = 3
        if wide:
            self.size = 4
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        assert self.bias is None
        return self.fc(x) * self.rate * self.size + y
"""
LISTS_OF_THE_CLASS = """
class Net(nn.Module):
    dims = [4, 4]
    kinds = ("a", "b")
    names = []
    scales = {}

    def __init__(self, scaled=False):
        super().__init__()
        self.dims = self.dims + [4]
        self.kinds = self.kinds + ("c",)
        self.names = ["fc", "fc"]
        if scaled:
            self.scales = {"fc": 2.0}
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        for name in self.names:
            x = getattr(self, name)(x) * self.scales.get(name, 0.5)
        return x + y * len(self.dims) + len(self.kinds)
"""
EXPERTS = """
class FF(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(d, 8), nn.Linear(8, d), nn.Linear(d, 8)

    def forward(self, x):
        return self.b(F.silu(self.a(x)) * self.c(x))


class Moe(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(FF(4) for _ in range(3))
        self.gate = nn.Linear(4, 3)

    def forward(self, inputs):
        weights, selected = torch.topk(self.gate(inputs), 2)
        weights = F.softmax(weights, dim=1)
        results = torch.zeros_like(inputs)
        for i, expert in enumerate(self.experts):
            batch_idx, nth_expert = torch.where(selected == i)
            results[batch_idx] += weights[batch_idx, nth_expert, None] * expert(inputs[batch_idx])
        return results


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList([FF(4) if i < 3 else None for i in range(3)])

    def forward(self, x):
        x = x.view(-1, 4)
        b, hidden_dim = x.shape
        weights, selected = torch.topk(F.softmax(self.gate(x), dim=-1), 2, dim=-1)
        out = torch.zeros((b, hidden_dim), dtype=x.dtype, device=x.device)
        mask = F.one_hot(selected, num_classes=3).permute(2, 1, 0)
        for e in range(3):
            layer = self.experts[e]
            idx, top_x = torch.where(mask[e])
            if top_x.shape[0] == 0:
                continue
            state = x[None, top_x].reshape(-1, hidden_dim)
            state = layer(state) * weights[top_x, idx, None]
            out.index_add_(0, top_x, state.to(x.dtype))
        return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.moe = Moe()
        self.sparse = Sparse()

    def forward(self, x, y):
        return self.moe(x) + self.sparse(y)
"""


LEARNED_ON_ONE_WAY = """
class Net(nn.Module):
    def __init__(self, learned=True):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        if learned:
            self.gain = nn.Parameter(torch.full((1,), 0.5))
        else:
            self.gain = 1.0
        self.offset = nn.Parameter(torch.ones(4)) if learned else 2.0

    def forward(self, x, y):
        return self.fc(x) * self.gain + self.offset * y
"""
HOST_ARRAYS = """
import numpy as np


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.ratios = np.array([0.5, 1.0, 2.0, 3.0])

    def forward(self, x, y):
        table = np.tile(self.ratios, (x.shape[0], 1))
        return self.fc(x) * torch.from_numpy(table) + y * float(self.ratios[1])
"""
WRITING_LAMBDAS = """
def zero(m):
    nn.init.zeros_(m.weight)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        fill = lambda m, value: nn.init.constant_(m.weight, value)
        fill(self.a, 0.5)
        for layer in (self.b,):
            fill(layer, 0.25)
        done = zero(self.c)

    def forward(self, x, y):
        add = lambda t: t.add_(1)
        x = self.a(x)
        add(x)
        return self.c(x) + self.b(y)
"""
# NumPy's arrays stay on the host, but for those that a param is made of in the end.
KEPT_NUMPY = """
import numpy as np


class Inner(nn.Module):
    def __init__(self, n, ratios=None):
        super().__init__()
        self.coords = np.arange(n).astype(np.float64)
        self.coords = nn.Parameter(torch.from_numpy(self.coords))
        self.scales = np.array([1.0, 2.0])
        self.scales *= 2
        self.rows = np.linspace(0, 1, n)
        if ratios is None:
            self.ratios = np.array([0.5, 1, 2])

    def forward(self, x):
        steps = np.round(self.rows * self.scales[1]).astype(np.int64)
        return x * self.coords * self.scales[1] + int(self.ratios[0] * 2) + steps[-1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner(4)

    def forward(self, x, y):
        return self.inner(x) + y * self.inner.scales[0] + torch.from_numpy(self.inner.rows)
"""
# A window for the channels of the last images, kept beside their number.
WINDOW_FOR_ITS_CHANNELS = """
def create_window(size, channel):
    line = torch.arange(1.0, size + 1).unsqueeze(1)
    return line.mm(line.t())[None, None].expand(channel, 1, size, size).contiguous()


class Similarity(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.width = width
        self.channel = 1
        self.window = create_window(width, self.channel)

    def forward(self, x, y):
        _, channel, _, _ = x.size()
        if channel == self.channel and self.window.data.type() == x.data.type():
            window = self.window
        else:
            window = create_window(self.width, channel)
            if x.is_cuda:
                window = window.cuda(x.get_device())
            window = window.type_as(x)
            self.window = window
            self.channel = channel
        means = [F.conv2d(z, window, padding=self.width // 2, groups=channel) for z in (x, y)]
        return means[0] * means[1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.similarity = Similarity()

    def forward(self, x, y):
        one = self.similarity(x.view(1, 1, 3, 4), y.view(1, 1, 3, 4))
        return one, self.similarity(x.view(1, 3, 2, 2), y.view(1, 3, 2, 2))
"""
# The first of the params is the one that was set first.
ASKS_FOR_THE_FIRST = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.second = nn.Linear(4, 4)
        self.first = nn.LayerNorm(4)

    def forward(self, x, y):
        weight = next(self.parameters())
        if (y > 0).any():
            y = y * 2 if next(self.parameters()).dtype == torch.float16 else y * 3
        return self.first(x) * weight[0] + self.second(y).to(weight.dtype)
"""
# Masks that constructors make choose.
CHOOSING = """
import numpy as np


class Loss(nn.Module):
    def __init__(self, n, given):
        super().__init__()
        self.n = n
        self.mask = self._mask().type(torch.bool)
        self.same = torch.eye(2 * n, dtype=torch.bool)
        self.register_buffer("given", given > 0)
        self.register_buffer("pairs", torch.triu(torch.ones(2 * n, 2 * n), 1) == 1)

    def _mask(self):
        diag = np.eye(2 * self.n) + np.eye(2 * self.n, 2 * self.n, k=-self.n)
        return (1 - torch.from_numpy(diag)).type(torch.bool)

    def forward(self, x, y):
        z = torch.cat([x, y], dim=0)
        s = z @ z.t()
        filled = torch.zeros_like(s)
        filled[self.pairs] = z.view(-1)[:15]
        pairs = s.masked_select(self.pairs).view(3, -1)
        return s[self.mask].view(9, -1), s[~self.same] * (s * self.same).sum(), pairs, filled, s[self.given]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.loss = nn.Linear(4, 4), Loss(3, torch.eye(6))

    def forward(self, x, y):
        return self.loss(self.lin(x), y)
"""
# A `__call__` behind torch's in the order of the bases never runs.
ABSTRACT_CALL = """
from abc import ABCMeta, abstractmethod


class Scoring(object, metaclass=ABCMeta):
    @abstractmethod
    def __call__(self, x):
        raise NotImplementedError()


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x)


class Scored(Base, Scoring):
    def forward(self, x):
        return super().forward(x) * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scored = Scored()

    def forward(self, x, y):
        return self.scored(x) + y
"""
# Layers under names that are computed, and Sequentials, are given to what calls them.
HANDED_SEQUENTIALS = """
class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.n = n
        for i in range(n):
            setattr(self, "layer" + str(i), nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
        self.last = nn.Sequential(nn.Tanh(), nn.Linear(4, 4))

    def single(self, model, x):
        return [model(x)]

    def forward(self, x, y):
        result = []
        for i in range(self.n):
            model = getattr(self, "layer" + str(i))
            result.append(self.single(model, x))
        return result, self.single(self.last, y)
"""
# Pieces of a size that a layer says, and of sizes that are written out; a dim that a number of
# pieces does not divide; pieces that stay a tuple.
PIECES = """
class Net(nn.Module):
    def __init__(self, dim=4, heads=2):
        super().__init__()
        self.to_qkv = nn.Linear(dim, dim * heads * 3, bias=False)
        self.to_kv = nn.Conv1d(dim, out_channels=12, kernel_size=1)
        self.wide = nn.Linear(dim, 7)
        self.near, self.far = dim, 2

    def pair(self, x):
        return self.to_kv(x[..., None]).chunk(2, dim=1)

    def forward(self, x, y):
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: t[:, :4], qkv)
        a, b, c = self.wide(x).chunk(3, dim=-1)
        d, e = torch.split(qkv[0], [self.near, self.near], dim=1)
        f, g, h = self.wide(y).split((self.far, self.far, 3), dim=-1)
        l, m = self.to_kv(y[..., None]).chunk(2, dim=1)
        pair = self.pair(x) + (l, m)
        assert isinstance(pair, tuple)
        z = q * k + v + d * e + (l * m + pair[0] * pair[1] - pair[3]).sum((1, 2))[:, None]
        return z + (a * b).sum(1, keepdim=True) * c + (f * g).sum() + h.mean()
"""

# Constructors of a layer and of a mixin by their names; what the mixin sets belongs to the class
# below, and a property's buffer takes what has a dim more in front.
NAMED_CONSTRUCTORS = """
class Spectral(object):
    def __init__(self, n_dim, num_iters=1):
        self.num_iters = num_iters
        self.register_buffer("sn_u", torch.ones(1, n_dim))
        self.register_buffer("sn_sigma", torch.ones(1))

    @property
    def sigma(self):
        return getattr(self, "sn_sigma")

    def sn_weights(self):
        u = self.sn_u
        with torch.no_grad():
            for _ in range(self.num_iters):
                v = F.normalize(torch.matmul(u, self.weight))
                u = F.normalize(torch.matmul(v, self.weight.t()))
        sigma = torch.mm(u, torch.mm(self.weight, v.t()))
        if self.training:
            with torch.no_grad():
                self.sigma[:] = sigma
                self.sn_u[:] = u
        return self.weight / sigma


class SNLinear(nn.Linear, Spectral):
    def __init__(self, i, o, *args, **kwargs):
        nn.Linear.__init__(self, i, o, *args, **kwargs)
        Spectral.__init__(self, n_dim=o, num_iters=kwargs.get("num_iters", 1))

    def forward(self, x):
        return F.linear(x, self.sn_weights(), self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = SNLinear(4, 3), SNLinear(3, 4, bias=False)

    def forward(self, x, y):
        return self.b(torch.tanh(self.a(x))) + y
"""
# Tensors of one size that say how far to pad.
PADDED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, y):
        x = self.fc(x)[1:]
        d = torch.tensor([y.size()[1] - x.size()[1]])
        e = torch.tensor(y.shape[0] - x.shape[0])
        m = (4 - e % 4) % 4
        return F.pad(x, [d // 2, d - d // 2, e // 2, e - e // 2]) * y, F.pad(y, (0, m))
"""
SIZES = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.n = n
        self.c_attn = nn.Linear(n, 3 * n)
        self.conv = nn.Conv1d(3, 5, 1)
        self.start = nn.Parameter(torch.zeros(1, n))
        self.cls = nn.Parameter(torch.randn(1, 1, n))
        self.bound = nn.Parameter(torch.tensor([0.0, -0.5, 0.5, 0.25]))

    def forward(self, x, y):
        x = torch.stack([x, y])
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(self.n, dim=2)
        h = self.start.expand(b, -1)
        cls = self.cls.expand(b, t, -1)
        two = torch.split(x, [1, 1], dim=0)
        assert isinstance(two, tuple)
        flat = self.conv(x).flatten(1), torch.flatten(self.conv(x), 1, 2), self.conv(x).flatten(-2, -1)
        w = self.start.expand(x.shape[:-1] + (c,))
        gate, shift = (q * k).chunk(2, dim=-1)
        dots = gate * shift
        limit = -torch.finfo(dots.dtype).max
        dots = dots.masked_fill(dots > 0, limit).clamp(min=-1e3)
        mask = dots > 0
        mask = F.pad(mask, (1, 0), value=True)
        padded = F.pad(dots, (1, 2, 0, 1), value=0.5) + F.pad(x, (0, 1, 1, 0), mode="replicate").sum()
        ints = (mask.sum(-1) * 0.5).to(torch.int32).clamp(min=1)
        kept = self.bound.clamp(min=0.0) + self.bound.clamp(max=0.5) + (self.bound * 2).clamp(-1, 1)
        p = torch.cumprod(torch.cat([x, x], -1), -1)
        z = (v + w + cls + h[:, None]) * kept
        return z, *flat, padded, ints.to(x.dtype), p, two[1]
"""
# Sizes that a layer or an array of the constructor has, or that are taken modulo one; -1 is none.
HELD_SIZES = """
import math


class Net(nn.Module):
    def __init__(self, classes=4, kept=-1):
        super().__init__()
        self.classes, self.kept = classes, kept
        self.window = window = 5
        self.centers = nn.Parameter(torch.randn(self.classes, 4))
        self.fc = nn.Linear(4, self.window)

    def grid(self, h, w):
        return torch.arange(h)[:, None].expand(h, w) * torch.arange(w)[None].expand(h, w)

    def forward(self, x, y):
        b, t = x.shape
        squares = (x ** 2).sum(1, keepdim=True).expand(b, self.classes)
        squares = squares + (self.centers ** 2).sum(1, keepdim=True).expand(self.classes, b).t()
        rest = (self.window - t % self.window) % self.window
        padded = F.pad(y, (0, rest)).masked_fill(y[:, :1] > 9, -math.inf) + self.fc(x)
        z = x / x.norm(dim=1, keepdim=True)
        return squares + self.grid(3, 4), padded, z, y[:1].expand(self.kept, 4)
"""
# What a dict of modules is asked for like any module.
COUNTED_PARAMETERS = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.blocks = nn.ModuleDict(dict(a=nn.Linear(n, n), b=nn.Linear(n, n)))
        self.size = sum(p.numel() for p in self.blocks.parameters())

    def forward(self, x, y):
        return self.blocks.b(self.blocks.a(x)) * self.size + y
"""

# Classes by names that only the run tells, built by a function too.
NAMED_CLASSES = """
class Conv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return torch.tanh(self.fc(x))


class Bottleneck(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.cv = Conv(i, o)

    def forward(self, x):
        return self.cv(x)


def parse(d, ch):
    layers = []
    for name, args in d:
        m = eval(name) if isinstance(name, str) else name
        c1, c2 = ch[-1], args[0]
        m_ = nn.Sequential(*(m(c1, c2) for _ in range(1))) if c1 == c2 else m(c1, c2)
        layers.append(m_)
        ch.append(c2)
    return nn.Sequential(*layers), ch


class Net(nn.Module):
    def __init__(self, d=(("Conv", [4]), ("Bottleneck", [5])), kind="Conv"):
        super().__init__()
        self.model, self.ch = parse(d, [4])
        self.last = globals()[kind](5, 4)

    def forward(self, x, y):
        return self.last(self.model(x)) + y * len(self.ch)
"""
# A partial of a layer, and dicts of arguments, are told nothing of placement.
PARTIALS_THAT_PLACE = """
from functools import partial


def told(x):
    return {"dtype": x.dtype, "device": x.device}


class Net(nn.Module):
    def __init__(self, norm=partial(nn.LayerNorm, device=None), device=None, dtype=None, **kwargs):
        super().__init__()
        kwargs["device"] = device
        self.options = dict(device=device, dtype=dtype)
        self.fc = nn.Linear(4, 4, **kwargs)
        self.first = partial(nn.LayerNorm, eps=1e-3, device=device, dtype=dtype)(4)
        self.norm, self.act = norm(4), partial(nn.LeakyReLU, 0.1, inplace=True)()
        self.scale = nn.Parameter(torch.ones(4, **self.options))

    def forward(self, x, y):
        x = self.act(self.norm(self.first(self.fc(x)))).to(**self.options)
        return x * self.scale + y + torch.full((4,), 2.0, **told(x))
"""
PACKED_ANEW = """
import torch.nn.utils.rnn as rnn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.fc = nn.GRU(4, 4), nn.Linear(4, 4)

    def forward(self, x, y):
        packed = rnn.pack_sequence([y, x[:2]])
        packed = packed._replace(data=self.fc(packed.data))
        return rnn.pad_packed_sequence(self.rnn(packed)[0], total_length=3)[0].sum(1) + y
"""
REDUCED = """
from functools import reduce


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)])

    def forward(self, x, y):
        if y.shape[0] > 1:
            h = reduce(lambda out, f: f(out.clone().add_(1.0)), self.layers, x + y)
            x = h * 2
        return reduce(lambda a, b: b(a), self.layers, x)
"""
# What is behind a call, or may not be evaluated, stays where it is.
REDUCED_IN_PLACE = """
from functools import reduce
from itertools import accumulate


class Net(nn.Module):
    def __init__(self, deep=True):
        super().__init__()
        self.deep = deep
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x, y):
        h = F.relu(y) + reduce(lambda h, f: torch.tanh(f(h)), self.layers, x)
        h = reduce(lambda h, f: f(h), self.layers, h) if self.deep else h
        return sum(accumulate(self.layers, lambda h, f: f(h), initial=h))
"""
# A Sequential of what self has, by a name that is called alone.
SEQUENTIAL_BY_A_NAME = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.fc = nn.BatchNorm1d(4), nn.Linear(4, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x, y):
        run = nn.Sequential(self.fc, nn.ReLU(), self.layers[1], self.norm)
        return run(run(x)) + run(y)
"""
# A partial with self has its params and state where it is called.
PARTIAL_WITH_SELF = """
from functools import partial


def step(self, x, y, k):
    return self.norm(self.fc(x)) * k + y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.fc = nn.BatchNorm1d(4), nn.Linear(4, 4)

    def forward(self, x, y):
        run = partial(step, self, k=2)
        return run(x, y) + run(y, x, k=3)
"""
# A function inside, whatever writes it, gives the state back; so does one of two.
RUN_BY_LAMBDAS = """
class Net(nn.Module):
    def __init__(self, deep=True):
        super().__init__()
        self.deep = deep
        self.norm, self.fc = nn.BatchNorm1d(4), nn.Linear(4, 4)

    def forward(self, x, y):
        run = lambda t: self.norm(self.fc(t))  # by a name
        if self.deep:
            def last(t):
                return self.fc(run(t))
        else:
            def last(t):
                return self.norm(t)
        return last(run(x)) + last(y)
"""
# A layer's constructor goes on to that of the base behind it, which no class below one calls again.
CONSTRUCTORS_BEHIND_LAYERS = """
class Named(nn.Module):
    def __init__(self, name=None):
        super().__init__()
        self._name = name
        self.scale = nn.Parameter(torch.full((4,), 0.5))
        self.norm = nn.BatchNorm1d(4)


class Loss(Named):
    def scaled(self, x):
        return self.norm(x) * self.scale


class Distance(nn.SmoothL1Loss, Loss):
    'What the layer has, with a name.'


class Far(Distance):
    pass


class Line(nn.Linear, Named):
    def __init__(self, n):
        super().__init__(n, n)
        self.times = 2

    def forward(self, x):
        return super().forward(x) * self.scale * self.times


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.far, self.line = Far(reduction="none"), Line(4)

    def forward(self, x, y):
        return self.far.scaled(self.far(x, self.line(y))) + (1 if self.far._name is None else 2)
"""
# One of many values of a statement, by names that others have: those of a function around it too.
REDUCED_AMONG_OTHERS = """
from functools import reduce


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x, y):
        def run():
            return reduce(lambda x, f: torch.tanh(f(x)), self.layers, x)

        z = x + reduce(lambda x, f: torch.tanh(f(x)), self.layers, y)
        h = F.relu(nn.Sequential(*self.layers)(z + y)) * 2
        return h + reduce(lambda h, f: f(h), self.layers, h), run()
"""
# What is None, or an array of one element, is asked for its truth as torch asks.
TRUTH_OF_ONE_ELEMENT = """
class Scaled(nn.Module):
    def __init__(self, scale):
        super().__init__()
        if scale is None:
            self.scale = None
        else:
            self.scale = nn.Parameter(torch.full((1,), scale))
        self.shift = nn.Parameter(torch.ones(1) * 2)

    def forward(self, x):
        if self.scale:  # a number
            # below it
            x = x * 2 + self.scale
        if self.shift:
            return x + self.shift
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Scaled(None), Scaled(0.0), Scaled(3.0)])

    def forward(self, x, y):
        return self.layers[0](x) + self.layers[1](y) * self.layers[2](x)
"""
# A tensor that is known when a function is traced says which module of a list is meant.
PICKED_BY_A_TENSOR = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.last = torch.tensor(2)

    def forward(self, x, y):
        i = torch.tensor(0)
        return self.layers[torch.tensor(1)](x) * self.layers[i](y) + self.layers[self.last](x)
"""
# A default that no call replaces is a part of self.
KEPT_WITH_DEFAULTS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)
        act = self.other

        def run(t, *, fc=self.fc):
            return fc(t)

        self.f = lambda t, scale=2.0, fc=self.fc: fc(t) * scale
        self.run = run
        self.g = lambda t, act=self.fc: act(t)

    def forward(self, x, y):
        return self.f(x) + self.f(y, 3.0) * self.run(x) + self.g(y) + self.other(x)
"""
# A Sequential that stands for one call is what its layers make, one after the other.
SEQUENTIAL_FOR_ONE_CALL = """
def kept_layers(layers, p):
    if p == 1:
        return layers
    drops = [False, True, False]
    layers = [layer for (layer, drop) in zip(layers, drops) if not drop]
    return layers


class Net(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)])

    def forward(self, x, y):
        layers = self.layers if self.training else kept_layers(self.layers, self.p)
        h = nn.Sequential(*layers)(x + y)
        x = nn.Sequential(*self.layers[1:])(x + h)
        if y.shape[0] == 1:
            return nn.Sequential(
                *layers  # those that are kept
            )(y)
        return x * nn.Sequential(self.layers[0], nn.ReLU(), self.layers[2])(y)
"""
FINITE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        s = self.fc(x)
        ok = s.isfinite()
        s[~ok] = s[ok].min()
        return s + y
"""
# What sets the mode around a method is written out.
EVALUATED_BY_A_DECORATOR = """
def in_eval(fn):
    def inner(model, *args, **kwargs):
        was_training = model.training
        model.eval()
        out = fn(model, *args, **kwargs)
        model.train(was_training)
        return out

    return inner


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.5)

    @torch.no_grad()
    @in_eval
    def generate(self, x, n=2):
        return self.drop(self.fc(x)) * n

    def forward(self, x, y):
        return self.fc(x) + y + self.generate(x, n=3)
"""
# A decorator whose class extends the one that it is given, and keeps what that is built with.
DECORATED = """
import copy

_decorators = set()


def persistent_class(orig_class):
    class Decorator(orig_class):
        _orig_module_src = "x"
        _orig_class_name = orig_class.__name__

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._init_args = copy.deepcopy(args)
            self._init_kwargs = copy.deepcopy(kwargs)

        @property
        def init_args(self):
            return copy.deepcopy(self._init_args)

        @property
        def init_kwargs(self):
            return copy.deepcopy(self._init_kwargs)

    Decorator.__name__ = orig_class.__name__
    _decorators.add(Decorator)
    return Decorator


@persistent_class
class Lin(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return self.fc(x)



@persistent_class
class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("s", torch.ones(n) * 2)
    def forward(self, x):
        return x * self.s


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Lin(4, 4), Scale(4)
    def forward(self, x, y):
        return self.b(self.a(x)) + y * len(self.a.init_args)
"""
HINTS = """
class Base(nn.Module):
    kind: str = "a"
    first: nn.Module

    def run(self, x):
        return self.first(x)


class Net(Base):
    second: nn.Module
    rate: float

    def __init__(self, rate=2.0):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.rate = rate

    def forward(self, x, y):
        return self.second(self.run(x)) * self.rate + y
"""
APPENDING = """
class Layers(nn.Sequential):
    def __init__(self, n):
        super().__init__()
        for _ in range(n):
            self.append(nn.Linear(4, 4))
        self.append(nn.Tanh()).append(nn.BatchNorm1d(4))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = Layers(2)

    def forward(self, x, y):
        return self.layers(x) + y
"""
MODE_WITHOUT_A_CONSTRUCTOR = """
class Net(nn.Module):
    rate: float = 0.0

    def forward(self, x, y):
        return F.dropout(x, self.rate, self.training) * (2 if self.training else 1) + y
"""
NUMPY_FIRST = """
import numpy as np


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.grid = np.zeros((3, 4), dtype=np.float32)
        for i in range(4):
            self.grid[:, i] = np.arange(3) + i
        self.grid = torch.from_numpy(self.grid.astype(np.float32))
        self.angle = self.grid[:, 1:2] * np.pi
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.fc(x) * self.grid + y * self.angle.sin() * self.grid.shape[1]
"""


TRANSFORMER = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(3)

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        return self.norm(self.fc(src))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        width = dict(num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=8, dropout=0.0)
        self.whole = nn.Transformer(4, 2, **width, batch_first=True)
        self.own = nn.Transformer(4, 2, **width, custom_encoder=Encoder())

    def forward(self, x, y):
        x, y = x[None], y[None]
        return self.own(x, self.whole(x, y))
"""
# Equal layers, the constants of which the constructor or a checkpoint changes.
CONSTANTS_OF_EQUAL_LAYERS = """
class Masked(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.register_buffer("mask", torch.ones(d))

    def forward(self, x):
        return self.lin(x) * self.mask


class Net(nn.Module):
    def __init__(self, d=4, n=3):
        super().__init__()
        self.masked = nn.Sequential(*[Masked(d) for _ in range(n)])
        self.masked[1].mask.fill_(3)
        nn.init.constant_(self.masked[2].mask, 5.0)
        self.norm = nn.LayerNorm(d)

    def forward(self, x, y):
        return self.norm(self.masked(x + y))
"""
# U-Nets: the parts of an encoder that is kept itself, in containers beside it.
PARTS_OF_AN_ENCODER = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU()
        self.layer1 = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.layer2 = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x):
        return self.layer2(self.layer1(self.relu(self.bn(self.conv(x)))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.first = nn.Sequential(self.encoder.conv, self.encoder.bn, self.encoder.relu)
        self.second = self.encoder.layer1
        self.third = nn.Sequential(self.encoder.layer2, nn.Linear(4, 4))
        self.stages = nn.ModuleList([self.encoder.layer1, nn.Linear(4, 4)])

    def forward(self, x, y):
        a = self.first(x)
        b = self.second(a)
        for stage in self.stages:
            y = stage(y)
        return self.third(b) + self.encoder(x) + y
"""
# Equal layers of which a class above changes one.
CHANGED_LAYERS = """
class Blk(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.act = nn.ReLU()
        self.scale = 1.0

    def forward(self, x):
        return self.act(self.lin(x)) * self.scale


class Inner(nn.Module):
    def __init__(self, d=4, n=3):
        super().__init__()
        self.blocks = nn.Sequential(*[Blk(d) for _ in range(n)])
        self.more = nn.ModuleList([Blk(d) for _ in range(n)])

    def forward(self, x):
        x = self.blocks(x)
        for m in self.more:
            x = m(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.inner.blocks[1].scale = 3.0
        self.inner.more[2].act = nn.Identity()

    def forward(self, x, y):
        return self.inner(x + y)
"""
# A method under a second name, which a class below does not change.
SECOND_METHOD = """
class Flip(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x).flip(-1)

    inverse = forward


class Twice(Flip):
    def forward(self, x):
        return super().forward(x) * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Flip(), Twice()

    def forward(self, x, y):
        return self.a(x) + self.a.inverse(y) + self.b(x) * self.b.inverse(y)
"""
# Sums of bytes are signed: what is taken from them may be negative.
BYTES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        mask = (y > 0).byte()
        places = mask.cumsum(1) - 2 + mask.cumprod(dim=1) - torch.prod(mask + 1, 1, keepdim=True)
        return self.fc(x) * places + (mask.sum(1) - 5)[:, None] + torch.sum(mask) - 20
"""
# Which rows and columns are chosen is written out.
CHOSEN_BY_BOOLS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        z = self.fc(x)
        z[[True, False, True]] = 2.0
        z[:, [False, True, True, False]] += y[:, :2]
        return x[[True, False, True]] * 2, z[:, [True, False, False, True]], z[[0, 2]]
"""
PARTIAL_OF_A_LAYER = """
from functools import partial


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        linear = partial(nn.Linear, bias=False)
        self.first, self.second = linear(4, 4), linear(4, out_features=3)

    def forward(self, x, y):
        return self.second(self.first(x) * y)
"""
# Methods that a class has one way or the other.
ONE_WAY_OR_THE_OTHER = """
MODE = "a"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    if "b" in MODE:

        def forward(self, x, y):
            return self.fc(x)

    else:

        def forward(self, x, y):
            return self.fc(x) * y
"""
# What a layer around another one has itself: DINO's head.
ARRAYS_OF_WEIGHT_NORM = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.utils.weight_norm(nn.Linear(4, 3, bias=False))
        self.last.weight_g.data.fill_(1)
        nn.init.normal_(self.last.weight_v)

    def forward(self, x, y):
        return self.last(x + y) * self.last.weight_g.sum()
"""
NARROW = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4, dtype=torch.float16))
        self.register_buffer("seen", torch.zeros(4, dtype=torch.uint8))

    def forward(self, x, y):
        self.mean += x.mean(0).detach() / 3
        self.mean.mul_(0.5).add_(y[0].detach(), alpha=0.5)
        self.seen += (x > 0).sum(0) + 130
        kept = torch.zeros(4, dtype=torch.bfloat16)
        kept += y.mean(0)
        kept.mul_(1 + x[0] / 7)
        kept *= 2
        return self.mean.float() * y + self.seen + kept.double()
"""
# In torch a buffer has the dtype of what it is given last: floats, where it was of integers.
OF_ANOTHER_DTYPE = """
class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("counts", torch.zeros(4, dtype=torch.long))

    def forward(self, x):
        return x * self.counts


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Counts()
        self.register_buffer("mean", torch.zeros(4, dtype=torch.long))
        self.register_buffer("seen", torch.ones(3, dtype=torch.bool))

    def forward(self, x, y):
        z = self.inner(x)
        self.inner.counts = self.inner.counts / 2 + 0.75
        self.mean = self.mean + 0.5
        self.seen = self.seen + torch.ones(3)
        return self.inner(x) + y * self.mean + z * self.seen[:, None]
"""
# What is written through its data keeps its gradient, which `detach` takes as ever.
DETACHED_DATA = """
class Net(nn.Module):
    def forward(self, x, y):
        z, u = x * 3, x * y
        z.data[0] = 5
        with torch.no_grad():
            u.clamp_(-0.5, 0.5)
        return z * u, z.detach(), z.mul(2).detach(), u.detach()
"""
# A second name of a buffer, and what torch's tensors have that arrays have under another name.
SECOND_NAME_OF_A_BUFFER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.full((4,), 2.0))
        self.gain = self.scale

    def forward(self, x, y):
        x = x.mul(self.gain)
        if hasattr(x, "fix"):
            x = x.trunc()
        return x * y if hasattr(x, "detach") else y * self.scale
"""
ELEMENT = """
class Net(nn.Module):
    def forward(self, x, y):
        for j in range(4):
            if y[0, j] > 0.5:
                x = x + j
        return x
"""
OWN_CONTAINERS = """
class Stages(nn.ModuleList):
    def __init__(self, n, d):
        super().__init__([nn.Linear(d, d) for _ in range(n)])
        self.append(nn.BatchNorm1d(d))
        self.extend([nn.Tanh(), nn.Linear(d, d)])

    def forward(self, x):
        for i, m in enumerate(self):
            x = m(x) + len(self) + i
        return x


class Heads(nn.ModuleDict):
    def __init__(self, d):
        super().__init__({"b": nn.Linear(d, d), "a": nn.Linear(d, d)})
        self["c"] = nn.Linear(d, d)

    def forward(self, x):
        for k, m in self.items():
            x = m(x) + ("a" in self) * (1 if k == "a" else 0)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = Stages(2, 4)
        self.heads = Heads(4)

    def forward(self, x, y):
        return self.heads(x) + self.stages(y)
"""
ENUM_THAT_FILLS = """
import enum


class Start(enum.Enum):
    CONSTANT = "constant"
    ONES = "ones"

    @classmethod
    def from_str(cls, name):
        try:
            return cls(name)
        except ValueError:
            raise ValueError("no such start")

    def fill(self, x, value):
        if self == Start.CONSTANT:
            nn.init.constant_(x, value)
        elif self == Start.ONES:
            nn.init.ones_(x)


class Net(nn.Module):
    def __init__(self, start="constant"):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(4))
        self.shift = nn.Parameter(torch.zeros(4))
        chosen, ones = Start.from_str(start), Start.ONES
        chosen.fill(self.scale, 0.5)
        ones.fill(self.shift, 0.5)

    def forward(self, x, y):
        return x * self.scale + y * self.shift
"""
# What one member of an enum fills, each in its turn.
FILLED_IN_TURN = """
import enum


class Begin(enum.Enum):
    HALF = "half"
    ONE = "one"

    @classmethod
    def from_str(cls, name):
        return cls(name)

    def apply(self, x, scale):
        if self == Begin.HALF:
            nn.init.constant_(x, 0.5 * scale)
        elif self == Begin.ONE:
            nn.init.ones_(x)


class Net(nn.Module):
    def __init__(self, bias=True, begin="half"):
        super().__init__()
        begin_ = Begin.from_str(begin)
        self.w = nn.Parameter(torch.Tensor(4))
        self.bias = nn.Parameter(torch.Tensor(4)) if bias else None
        for parameter in [self.w, self.bias]:
            if parameter is not None:
                begin_.apply(parameter, 3)

    def forward(self, x, y):
        x = x * self.w + y
        return x if self.bias is None else x + self.bias
"""
# A function in the place of a class, which comes to the blocks by an attribute.
MADE_BY_A_LAMBDA = """
class Block(nn.Module):
    def __init__(self, n, norm_layer=nn.BatchNorm1d):
        super().__init__()
        self.norm = norm_layer(n)

    def forward(self, x):
        return self.norm(x)


class Base(nn.Module):
    def __init__(self, norm_layer=nn.BatchNorm1d):
        super().__init__()
        self.norm_layer = norm_layer
        self.body = self.make(4)

    def make(self, n):
        return nn.Sequential(nn.Linear(n, n), Block(n, self.norm_layer))

    def forward(self, x, y):
        return self.body(x) * y


class Net(Base):
    def __init__(self, groups=2):
        super().__init__(norm_layer=lambda n: nn.GroupNorm(groups, n))
"""
# What is left of a move to a device, beside state and a key.
NAMED_ANEW = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x, y=None):
        if y is not None:
            y = y
        return F.dropout(self.norm(x) * y, 0.5, self.training and y is None)
"""
MAPPED_METHODS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)

    def step(self, x, scale=2):
        return self.bn(x) * scale

    def forward(self, x, y):
        a, b = map(self.step, [x, y])
        c = sum(map(lambda t: self.step(t) + x, (a, b)))
        return a + b + c, torch.stack(list(map(self.step, (x, y), (3, 4))))
"""
LISTS_IN_LISTS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = []
        for _ in range(2):
            self.rows.append([nn.LeakyReLU(0.2), nn.Tanh()])
        self.more = [[nn.Tanh()], [nn.Softplus(), nn.ReLU()]]
        self.table = {"a": [nn.Sigmoid(), nn.ELU()]}
        self.all = [[nn.Softsign() for _ in range(2)] for _ in range(2)]

    def forward(self, x, y):
        for row in [*self.rows, *self.all]:
            for layer in row:
                x = layer(x)
        for row in self.more:
            for layer in row:
                y = layer(y)
        for layer in self.table["a"]:
            y = layer(y)
        return x + y
"""
METHODS_BY_A_KEPT_NAME = """
class Net(nn.Module):
    def __init__(self, which="run_norm"):
        super().__init__()
        self.which = which
        self.norm = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, 4)

    def run_norm(self, x):
        return self.norm(x)

    def run_fc(self, x):
        return self.fc(x)

    def forward(self, x, y):
        for name in ("norm", "fc"):
            x = getattr(self, "run_" + name)(x)
        return getattr(self, self.which)(y) + x
"""
LOCAL_PARAMS_BY_NAMES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = []
        for name, shape in [("w", (4,)), ("v", (4, 4))]:
            param = nn.Parameter(torch.full(shape, 0.5))
            setattr(self, name + "_p", param)
            self.names.append(name + "_p")

    def forward(self, x, y):
        for name in self.names:
            param = getattr(self, name)
            x = x * param if param.dim() == 1 else x @ param
        return x + y
"""
KEPT_PAIRS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fcs = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.drops = nn.ModuleList([nn.Dropout(0.0) for _ in range(2)])

    def forward(self, x, y):
        pairs = zip(self.fcs, self.drops)
        for i, (fc, drop) in enumerate(pairs):
            x = drop(fc(x)) * (i + 1)
        drops = reversed(self.drops)
        for drop in drops:
            x = drop(x + 1)
        return x + y
"""
LISTED_AND_SET_IN_A_LOOP = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = [nn.Linear(4, 4) for _ in range(3)]
        for i, expert in enumerate(self.experts):
            self.add_module(f"expert_{i}", expert)
        self.norms = [nn.BatchNorm1d(4), nn.BatchNorm1d(4)]
        for i, norm in enumerate(self.norms):
            setattr(self, "norm%d" % i, norm)
        self.n = len(self.norms)

    def forward(self, x, y):
        x = sum(expert(x) * y[:, i : i + 1] for i, expert in enumerate(self.experts))
        for i in range(self.n):
            x = self.norms[i](x)
        return x
"""
GIVEN_IN_TURNS = """
class Blur(nn.Module):
    def __init__(self, n, kernel, act):
        super().__init__()
        self.conv = nn.Linear(n, n)
        self.kernel = kernel
        self.act = act

    def forward(self, x):
        return self.act(self.conv(x)) * self.kernel[1]


class Net(nn.Module):
    def __init__(self, kernel=[1, 3, 3, 1]):
        super().__init__()
        act = nn.SiLU()
        self.convs = nn.ModuleList()
        for _ in range(2):
            self.convs.append(Blur(4, kernel, act))
            self.convs.append(Blur(4, kernel=kernel, act=act))

    def forward(self, x, y):
        for a, b in zip(self.convs[::2], self.convs[1::2]):
            x = b(a(x)) + y
        return x
"""
# Loops with keys over ranges of every kind, and results of which one is read.
RANGES_OF_KEYS = """
class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        layers = []
        for i in range(1, n):
            layers.append(nn.Linear(4, 4 + 0 * i))
        for i in range(4, 2):
            layers.append(nn.Linear(4, i))
        for i in range(n, n + 1):
            layers.append(nn.Linear(4, 4 + 0 * i))
        for i in range(n, 0, -2):
            layers.append(nn.Linear(4, 4 + 0 * i))
        for i in range(-1, n - 3):
            layers.append(nn.Linear(4, 4 + i + 1))
        self.layers = nn.ModuleList(layers)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, y):
        best = x
        for i in range(2, len(self.layers)):
            low, _ = torch.min(x * y, 1, keepdim=True)
            _, order = torch.sort(self.drop(self.layers[i](x)), dim=1)
            best = best * i + order * low
            if i > 2:
                best = best + where
            _, where = best.max(0)
        return best
"""
# Modules and containers that loops go over together, by one name several times.
OVER_SEVERAL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x, y):
        for layer in (self.first, *self.blocks, self.norm):
            x = torch.tanh(layer(x))
        for layer in [self.first] + list(self.blocks):
            x = layer(x) + y
        return x
"""
# Modules of a list of the constructor's own, which are given values before they are kept.
FILLED_IN_A_LIST = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        modules = [nn.Linear(4, 4) for _ in range(2)]
        modules[0].weight.data = modules[0].weight.data * 0.1
        modules[1].bias.data.zero_()
        self.layers = nn.ModuleList(modules)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x) * y
        return x
"""
# Methods called by the class, `__call__` around a layer's own.
CALLED_BY_THEIR_CLASS = """
class Scaled(nn.Linear):
    def __call__(self, x):
        return super().__call__(x) * 2


class Norm(nn.BatchNorm1d):
    def __call__(self, x, scale=1.0):
        return nn.BatchNorm1d.__call__(self, x) * scale


class Base(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc, self.bn = Scaled(n, n), Norm(n)

    def forward(self, x):
        return self.bn(self.fc(x), scale=2.0)


class Middle(Base):
    def forward(self, x):
        return Base.forward(self, x) + x


class Net(Middle):
    def __init__(self):
        Middle.__init__(self, 4)

    def forward(self, x, y):
        h = Middle.forward(self, x)
        return Base.forward(self, h) * y + Net.twice(self, x)

    def twice(self, x):
        return self.bn(x) * 2
"""
# Objects of the user's whose methods have names of a tensor's.
OBJECTS_LIKE_TENSORS = """
from dataclasses import dataclass, replace


@dataclass
class Hidden:
    h: torch.Tensor
    c: torch.Tensor
    t: int = 0

    def detach(self):
        return Hidden(self.h.detach(), self.c, self.t)

    def squeeze(self, k):
        return self.h * k


def begin(t):
    return Hidden(t, t)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        s = Hidden(self.fc(x), y)
        s = replace(s, t=s.t + 1, c=s.c * 2)
        d = s.detach()
        return s.h * s.c + d.h * s.t + begin(x).squeeze(3) + d.squeeze(2)
"""
OUT_UNDER_NO_GRAD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = torch.empty(3, 4, dtype=x.dtype)
        with torch.no_grad():
            torch.add(x, y * 2, out=h)
            torch.mul(h, self.fc(x), out=h)
        return self.fc(x) + h
"""
BLOCKS_KEPT_AS_DEFAULTS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x, y):
        steps, outs = [lambda t, block=block: block(t) + 1 for block in self.blocks], []
        for block in self.blocks:

            def run(t, block=block):
                return block(t) * 2

            outs.append(run(y))
        return steps[0](x) * steps[1](y) + outs[0] - outs[1]
"""
# What a cache of Python's keeps of one trace is nothing in another.
CACHED_TABLES = """
import functools
from functools import lru_cache


@functools.lru_cache(maxsize=None)
def table(n):
    return torch.arange(n, dtype=torch.float64) / n


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @lru_cache(maxsize=8)
    def mask(self, n, device):
        return torch.ones(n, n, device=device).tril()

    def forward(self, x, y):
        return self.fc(x) + table(4) * self.mask(4, x.device)[1] + y
"""
# Constants of which functions, and modules, choose by arrays.
CHOSEN_OF = """
def table(n):
    angles = torch.arange(n).float()[:, None] * torch.ones(1, 4)
    return torch.cos(angles), torch.sin(angles)


def turned(x, cos, places):
    cos = cos[:8]
    return x * cos[places]


class Block(nn.Module):
    def forward(self, x, sin, places):
        return turned(x, sin, places=places)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        cos, sin = table(8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.block = Block()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x, y):
        places = (y[:, 0] > 0).long()
        cos, sin = self.cos, self.sin
        x = turned(x, self.cos, places) + self.block(x, self.sin, places)
        return x * self.weight + cos[places] + sin[places]
"""
# A function of arrays, one of which comes from what nothing is known of.
SLICED = """
def conditioned(x, conditions, n):
    for t, val in conditions.items():
        x[:, t, n:] = val.clone()
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y, step=None):
        x = conditioned(x[None], {0: y[:1, 1:]}, 1)
        if step is not None:
            x, _ = step(self, x)
        x = conditioned(x, {1: y[:1, 2:]}, 2)
        return self.fc(x)
"""
# A size that a hyperparameter bounds is handed to a method, and to a module.
BOUNDED_SIZE = """
class Places(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = nn.Parameter(torch.ones(n, 4))

    def forward(self, n):
        return self.table[:n]


class Filter(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.places = Places(n)

    def made(self, n):
        return self.places(n)


class Net(nn.Module):
    def __init__(self, limit=2):
        super().__init__()
        self.limit = limit
        self.filter = Filter(limit)

    def forward(self, x, y):
        n = min(x.size(-2), self.limit)
        return x[:n] * self.filter.made(n) + y[:n]
"""
# Marks for an optimizer on params that a loop finds by their names, and on one that has a name.
OPTIMIZER_MARKS = """
class Net(nn.Module):
    def __init__(self, lr=None):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        for layer in self.net.children():
            for name, value in layer.state_dict().items():
                optim = {"weight_decay": 0.0, "lr": lr}
                setattr(getattr(layer, name), "_optim", optim)
        self.scale = nn.Parameter(torch.ones(4))
        setattr(self.scale, "_optim", {"lr": lr})

    def forward(self, x, y):
        return self.net(x) * self.scale + y
"""
# A tree that is mapped: what is None is given, too.
MAPPED_TREES = """
from torch.utils._pytree import tree_map


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        tree = {"x": (self.fc(x), [y]), "none": None}
        made = tree_map(lambda t: x if t is None else t.sin(), tree)
        return made["x"][0] * made["x"][1][0] + made["none"]
"""
# Where a window begins is counted from call to call.
POSITIONS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = nn.Embedding(16, 4)
        self.register_buffer("mask", torch.ones(16, 16).triu(1), persistent=False)
        self.register_buffer("begin", torch.tensor(1))

    def forward(self, x, y):
        n = x.shape[0]
        places = torch.arange(self.begin, self.begin + n, device=x.device)
        hidden = self.mask.bool()[self.begin : self.begin + n, :4]
        self.begin = self.begin + n
        return self.places(places) * y + x.masked_fill(hidden, 0.5)
"""
CONSTANTS_IN_LISTS = """
class Net(nn.Module):
    def __init__(self, sizes=(1.0, 2.0)):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.shifts = [torch.ones(4), torch.zeros(4) + 2]
        anchors = []
        for size in sizes:
            anchors.append(torch.full((4,), size))
        self.anchors = anchors
        self.table = {"a": torch.arange(4.0)}

    def forward(self, x, y):
        for shift in self.shifts:
            x = self.fc(x) + shift
        return x * self.anchors[1] + self.table["a"] * y
"""
# What a detector's loss chooses by a mask that stands once more for each place of the last dim.
MASKS_OF_ROWS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.classes = 4
        self.loss = nn.MSELoss(size_average=False)

    def forward(self, x, y):
        data = self.fc(x).view(3, 2, 2).repeat(1, 1, 2)
        t = y.view(3, 2, 2).repeat(1, 1, 2)
        labels = (y[:, :2] > 0).long() + (y[:, 2:] > 0.5).long()
        pos, neg = labels > 0, y[:, :2] < -0.5
        index = pos.unsqueeze(pos.dim()).expand_as(data)
        p = data[index].view(-1, 4)
        loss_t = t[index].view(-1, 4)
        a = F.smooth_l1_loss(p, loss_t, size_average=False) + self.loss(p, loss_t)
        index = pos.unsqueeze(2).expand_as(data)
        others = neg.unsqueeze(2).expand_as(data)
        scores = data[(index + others).gt(0)].view(-1, self.classes)
        b = F.cross_entropy(scores, labels[(pos + neg).gt(0)], reduction="sum")
        rows = data[pos, :]
        c = F.cross_entropy(rows.reshape(-1, data.size(2)), labels[pos], size_average=False)
        last = t[pos, :].contiguous().view(-1, 4)
        return a, b, c / max(last.size(0), 1)
"""
# A step of which a mask keeps some places, as in the sums of a conditional random field.
SCATTERED_BY_A_MASK = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        total = x[:, :2].clone()
        for i in range(2):
            step = torch.logsumexp(total.unsqueeze(2) + self.fc(y[:, :4]).view(3, 2, 2), 1)
            mask = (y[:, i] > 0).unsqueeze(1).expand(3, 2)
            total.masked_scatter_(mask, step.masked_select(mask))
        return total
"""
# Attributes that what they held is put into, and a size beside layers in a container.
PUT_INTO_ITSELF = """
class Doubled(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x) * 2


def normalization(size):
    return nn.LayerNorm(size)


class Net(nn.Module):
    def __init__(self, size=4, pool=True):
        super().__init__()
        self.size = size
        self.first = nn.Linear(4, 4)
        if pool:
            self.first = nn.Sequential(self.first, nn.Tanh())
        self.second = Doubled(nn.Linear(4, 4))
        self.second = Doubled(self.second)
        self.layers = [nn.Linear(4, 4)]
        self.layers.append(nn.ReLU())
        self.layers = nn.Sequential(*self.layers)
        self.a = nn.Sequential(normalization(self.size), nn.Linear(4, 4))
        self.b = nn.Sequential(normalization(self.size), nn.Linear(4, 4))

    def forward(self, x, y):
        return self.layers(self.second(self.first(x))) + self.a(y) * self.b(y)
"""
# A container of torch's with a forward pass of its own, that calls its items by their numbers.
ITEMS_OF_ITSELF = """
class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return {"a": self.norm(self.fc(x)), "b": x}


class Joiner(nn.Sequential):
    def __init__(self, backbone, position):
        super().__init__(backbone, position)
        self.channels = 4

    def forward(self, x):
        found = self[0](x)
        return [self[1](y) for _, y in sorted(found.items())]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Joiner(Backbone(), nn.Linear(4, 4))

    def forward(self, x, y):
        a, b = self.body(x)
        return a * y + b
"""
# A number that calls write is an array, which NumPy cannot take.
ANNEALED_BY_NUMPY = """
import numpy as np


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.temp = 2.0

    def forward(self, x, y):
        if self.training:
            self.temp = np.maximum(self.temp * np.exp(-0.1), 0.5)
        return self.fc(x) / self.temp + y * np.sqrt(self.temp)
"""
# What a sum begins with is None.
ADDED_TO_WHAT_THERE_IS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x, y):
        total = last = None
        for layer in self.layers:
            x = layer(x)
            total = total.add_(x * y) if total is not None else x + y
            last = last.unsqueeze(-1).squeeze(-1) if last is not None else x
        return total * last
"""
# Of a container and layers, only the layers have a bias.
CLIPPED_BY_NUMPY = """
import numpy as np


def between(a, b):
    low = a[:, 1:] - b[:, :3]
    return np.clip(low, a_min=0, a_max=np.inf)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        z = self.fc(x).detach()
        return between(z, y.detach()) + x[:, 1:] * np.clip(z, a_max=0.5, a_min=-1.0).sum()
"""
# Arrays that are no params, which a method fills, or that are filled behind one that reads them.
FILLED_BY_A_METHOD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = torch.ones(3, 4)
        self.fill()
        self.double = self.mask * 2
        self.fill(3.0)

    def fill(self, value=2.0):
        self.mask[0] = value

    def forward(self, x, y):
        return x * self.mask + self.double
"""
FILLED_BEHIND_A_METHOD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4))
        self.mask = torch.ones(3, 4)
        self.check()
        self.mask[0] = 2.0

    def check(self):
        self.total = self.mask.sum().item()

    def forward(self, x, y):
        return x * self.w * self.mask + self.total
"""
FILLED_WHAT_IS_CHOSEN = """
class Net(nn.Module):
    def __init__(self, wide=False, window="hann_window"):
        super().__init__()
        self.a = nn.Sequential(nn.Sequential(nn.Linear(4, 4)), nn.Linear(4, 4), nn.LayerNorm(4))
        self.b = nn.Sequential(nn.Linear(4, 4))
        self.window = getattr(torch, window)(4)
        nn.init.orthogonal_(self.a[1].weight if wide else self.b[0].weight, gain=2.0)
        for block in self._modules:
            for m in self._modules[block]:
                fill(m)

    def forward(self, x, y):
        return self.b(self.a(x)) * y + self.window.to(x)


def fill(m):
    if isinstance(m, nn.Linear):
        if m.bias is not None:
            m.bias.data.fill_(0.5)
    elif isinstance(m, nn.LayerNorm):
        m.weight.data.fill_(2)
"""
# Sizes of the arrays of a module that a constructor was given, and of a row of its own.
SIZES_OF_GIVEN = """
def factor(layer):
    size = layer.weight.size()
    return (2.0 / size[1]) ** 0.5


class Scaled(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.scale = factor(self.layer)

    def forward(self, x):
        return self.layer(x) * self.scale


class Wide(Scaled):
    def __init__(self, size):
        super().__init__(nn.Linear(size, 6))


class Standard(nn.Linear):
    def __init__(self, size, out, gamma=2.0):
        super().__init__(size, out)
        self.scale = gamma * self.weight[0].numel() ** -0.5

    def forward(self, x):
        return F.linear(x, self.weight * self.scale, self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.out = Wide(4), Standard(6, 4)
        self.gain = nn.Parameter(torch.Tensor(size=(4,)))
        nn.init.ones_(self.gain)

    def forward(self, x, y):
        return self.out(self.wide(x)) * self.gain + y
"""
# First values by the names of what is saved.
SAVED_WALK = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 3, 1, bias=False)
        self.bn = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, 4)
        for key in self.state_dict():
            if key.split(".")[-1] == "weight":
                if "conv" in key:
                    nn.init.kaiming_normal_(self.state_dict()[key], mode="fan_out")
                if "bn" in key:
                    self.state_dict()[key][...] = 2
            elif key.split(".")[-1] == "bias":
                self.state_dict()[key][...] = 0

    def forward(self, x, y):
        return self.fc(self.bn(self.conv(x))) * y
"""
# A choice between methods of which one has a state.
CHOSEN_METHODS = """
class Net(nn.Module):
    def __init__(self, fast=False, kind="plain"):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.bn = nn.BatchNorm1d(4)
        self.fast, self.kind = fast, kind

    def slow(self, x, scale=1.0):
        return self.bn(self.fc(x)) * scale

    def quick(self, x, scale=1.0):
        return self.fc(x) + scale

    def forward(self, x, y):
        run = self.quick if self.fast else self.slow
        x = run(x + y, scale=2.0)
        if self.kind == "plain":
            again = self.quick
        elif self.kind == "normed":
            again = self.slow
        else:
            again = self.slow
        return again(x)
"""
# A buffer that is made of one that is drawn; a fill that asks whether there is a tensor.
DRAWN_INVERSE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("order", torch.randperm(4))
        self.register_buffer("inverse", torch.argsort(self.order))
        self.fc = nn.Linear(4, 4)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                if hasattr(m, "bias") and isinstance(m.bias, torch.Tensor):
                    nn.init.constant_(m.bias, 0)

    def forward(self, x, y):
        return self.fc(x[:, self.order])[:, self.inverse] + y
"""
# Objects of plain classes: their methods draw, write what they are given, and have others below.
PLAIN_POSTERIOR = """
class Gaussian:
    def __init__(self, parameters):
        self.mean, self.logvar = torch.chunk(parameters, 2, dim=1)

    def sample(self):
        return self.mean + 0 * torch.randn(self.mean.shape)

    def kl(self):
        return 0.5 * (self.mean**2 + self.logvar.exp() - 1.0 - self.logvar).sum(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)

    def encode(self, x):
        return Gaussian(self.fc(x))

    def forward(self, x, y, sample=True):
        posterior = self.encode(x)
        z = posterior.sample() if sample else posterior.mean
        return z * y + posterior.kl()[:, None]
"""
PLAIN_FAMILY = """
class Augment:
    def __init__(self, scale):
        self.scale = scale

    def run(self, x):
        return self.step(x) * self.scale

    def step(self, x):
        raise NotImplementedError


class Noise(Augment):
    def step(self, x):
        return x + 0 * torch.rand(4)


class Twice(Augment):
    def step(self, x):
        return x * 2

    def __call__(self, x):
        return Noise(2.0).run(x) + x


class Net(nn.Module):
    def __init__(self, noisy=True):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.first = Noise(2.0) if noisy else Twice(3.0)
        self.second = {"noise": Noise, "twice": Twice}["twice"](2.0)
        self.third = Twice(4.0)

    def forward(self, x, y):
        return self.first.run(self.fc(x)) + self.second.run(y) + self.third(x)
"""
PLAIN_WRITES = """
class Shift:
    def __init__(self, by):
        self.by, self.calls = by, 0

    def apply_(self, x):
        self.calls += 1
        x += self.by

    def keep(self, buffer, value):
        buffer.copy_(value)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.shift = Shift(2.0)
        self.register_buffer("last", torch.zeros(3, 4))

    def forward(self, x, y):
        shift, z = Shift(1.0), self.fc(x)
        self.shift.apply_(z)
        shift.apply_(z)
        self.shift.keep(self.last, y)
        return z * shift.calls + self.last
"""
PLAIN_INITIALISER = """
class Filler:
    def __init__(self, kind):
        self.kind = kind

    @classmethod
    def named(cls, kind):
        return cls(kind)

    def fill(self, x, d):
        if self.kind == "uniform":
            nn.init.uniform_(x, a=-d, b=d)
        else:
            nn.init.normal_(x, std=d)


class Net(nn.Module):
    def __init__(self, init="uniform"):
        super().__init__()
        self.emb = nn.Embedding(5, 4)
        self.bias = nn.Parameter(torch.Tensor(5, 4))
        filler = Filler.named(init)
        filler.fill(self.emb.weight, 4)
        filler.fill(self.bias, 4)

    def forward(self, x, y):
        return x + self.emb(torch.arange(3)) + self.bias[:3]
"""
# A param under a second name, of what a Sequential has at a place.
ITEM_TIED = """
class Same(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Tanh(), nn.Linear(n, n))
        self.weight = self.net[1].weight

    @staticmethod
    def ones():
        return torch.ones(1)

    def forward(self, x):
        return self.net(x) * self.weight.sum() + self.ones()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.same = Same(4)

    def forward(self, x, y):
        return self.same(x) + y
"""
# What has a state is handed to a method or function that only calls it.
STATE_HANDED = """
def chunked(function, size, *inputs):
    if size > 0:
        parts = zip(*(i.chunk(size, 0) for i in inputs))
        return torch.cat([function(*p) for p in parts], 0)
    return function(*inputs)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 0
        self.norm = nn.BatchNorm1d(4)
        self.first = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.rest = nn.ModuleList([nn.BatchNorm1d(4), nn.BatchNorm1d(4)])

    def feed(self, x):
        return self.norm(x) * 2

    def twice(self, layer, x, y):
        return layer(layer(x) + y)

    def forward(self, x, y):
        x = self.twice(self.first, x, y) + chunked(self.feed, self.size, y)
        for layer in self.rest:
            x = self.twice(layer, x, y)
        return x
"""
# Lists of modules are handed to what goes over them, counts and indexes them, or maps over them.
LISTS_HANDED = """
import functools


def multi_apply(func, *args, **kwargs):
    run = functools.partial(func, **kwargs) if kwargs else func
    return tuple(map(list, zip(*map(run, *args))))


def chain(x, layers):
    for layer in layers:
        x = layer(x)
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.loc = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])
        self.conf = nn.ModuleList([nn.Linear(4, 3), nn.Linear(4, 3)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(4), nn.BatchNorm1d(4)])
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)})

    def boxes(self, features, locs, confs):
        return [torch.cat([l(f), c(f)], 1) for f, l, c in zip(features, locs, confs)]

    @staticmethod
    def normed(x, norms, scale=1.0):
        for i in range(len(norms)):
            x = norms[i](x) * scale
        return x

    def both(self, x, heads):
        return heads["a"](x) + sum([h(x) for _, h in heads.items()])

    def single(self, x, loc, conf, scale=1.0):
        return loc(x) * scale, conf(x)

    def forward(self, x, y):
        x = self.normed(x, self.norms, scale=2.0) + self.both(y, self.heads)
        x = chain(x, [self.heads["b"], self.norms[0]]) + chain(y, self.norms[:1])
        locs, confs = multi_apply(self.single, [x, y], self.loc, self.conf, scale=3.0)
        return self.boxes([x, y], self.loc, self.conf) + locs + confs
"""
# Functions that only ask what a module is are given it as it is.
ASKED_ALONE = """
def width(layer):
    return layer.in_features


def factor(layer):
    return 2 if isinstance(layer, nn.Linear) else 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x, y):
        return self.fc(x) * width(self.fc) * factor(self.fc) + self.norm(y) * factor(self.norm)
"""
# A list that arrays are put into while a model is built is data, also where it begins empty.
ARRAYS_APPENDED = """
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.shifts = []
        for i in range(n):
            self.shifts.append(torch.arange(4) * i)
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.fc(x + self.shifts[0]) + self.shifts[1] * y
"""
# Params that get their names in a loop, and are read by those names.
NAMES_COUNTED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(2):
            self.register_parameter(f"g{i}", nn.Parameter(torch.ones(4, 4)))
            setattr(self, "h_%d" % i, nn.Parameter(torch.ones(4)))

    def forward(self, x, y):
        return x @ self.g0 * self.h_0 + y @ self.g1 * self.h_1
"""
# A layer of its own stands in for one that a method may be given.
OWN_LAYER_OR_GIVEN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.own = nn.Linear(4, 4)

    def either(self, x, layer=None):
        layer = layer or self.own
        return layer(x)

    def chosen(self, x, layer=None):
        layer = self.own if layer is None else layer
        return layer(x)

    def filled(self, x, layer=None):
        if layer is None:
            layer = self.own
        return layer(x)

    def forward(self, x, y):
        x = self.either(x, self.fc) + self.either(y)
        x = self.chosen(x, self.fc) + self.chosen(y)
        return self.filled(x, self.fc) + self.filled(y)
"""
# What torch does not save is drawn for each model, and a model is given torch's.
DRAWN_UNSAVED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        order = torch.randperm(4)
        self.order = order
        self.inverse = torch.argsort(order)
        self.scale = torch.rand(4)
        self.register_buffer("shift", torch.randn(4), persistent=False)
        self.flat = torch.ones(self.scale.shape[0])
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        y = y * self.scale + self.shift * self.flat
        return self.fc(x[:, self.order])[:, self.inverse] + y
"""
# What lists are filled with is drawn, and one array is made of it.
DRAWN_INTO_LISTS = """
class Net(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        tables = []
        noise = []
        layers = []
        for n in (1, 2):
            table = torch.empty(n, d)
            nn.init.trunc_normal_(table, std=0.02)
            tables.append(table)
            layers.append(nn.Linear(d, d))
            noise.append(torch.rand(n, d))
        self.layers = nn.ModuleList(layers)
        self.table = nn.Parameter(torch.cat(tables))
        self.register_buffer("noise", torch.cat(noise))

    def forward(self, x, y):
        return self.layers[1](self.layers[0](x)) * self.table[2] + y + self.noise[2]
"""
# Objects that write what they are called with.
OBJECTS_THAT_FILL = """
class Fill:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, w):
        w.data.uniform_(-self.scale, self.scale)


class Grow:
    def __call__(self, x):
        x.mul_(2)


def grown(f, x):
    f(x)
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(4))
        self.fc = nn.Linear(4, 4)
        init = Fill(0.5)
        init(self.w)
        Fill(0.1)(self.fc.weight)

    def forward(self, x, y):
        grow = Grow()
        x = x * 3
        z = x
        grow(x)
        return self.fc(z) * self.w + x + grown(Grow(), y + 1)
"""
# A weight that a constructor is handed, and keeps under a name of its own; a method makes both.
WEIGHT_KEPT = """
class Head(nn.Module):
    def __init__(self, size, n, weight):
        super().__init__()
        self.dense = nn.Linear(size, size)
        self.weight = weight
        self.bias = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        return F.linear(self.dense(x), self.weight) + self.bias


class Net(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.size = size
        self._make()

    def _make(self):
        self.words = nn.Embedding(7, self.size)
        self.head = Head(size=self.size, n=7, weight=self.words.weight)

    def forward(self, x, y):
        ids = (x > 0).long()
        return self.head(self.words(ids)[:, 0] * y)
"""
# A weight that constructors are handed, one behind the other, in order to share it.
WEIGHT_HANDED_ON = """
class Predictions(nn.Module):
    def __init__(self, size, weights):
        super().__init__()
        self.transform = nn.Linear(size, size)
        self.decoder = nn.Linear(weights.size(1), weights.size(0), bias=False)
        self.decoder.weight = weights
        self.bias = nn.Parameter(torch.zeros(weights.size(0)))

    def forward(self, x):
        return self.decoder(self.transform(x)) + self.bias


class Heads(nn.Module):
    def __init__(self, size, weights):
        super().__init__()
        self.predictions = Predictions(size, weights)
        self.relation = nn.Linear(size, 2)

    def forward(self, x):
        return self.predictions(x), self.relation(x)


class Embeddings(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.words = nn.Embedding(7, size)

    def forward(self, ids):
        return self.words(ids)


class Net(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.embeddings = Embeddings(size)
        self.cls = Heads(size, self.embeddings.words.weight)
        self.apply(self.begin)

    def begin(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            m.weight.data.normal_(mean=0.0, std=0.02)

    def forward(self, x, y):
        ids = (x > 0).long()
        scores, relation = self.cls(self.embeddings(ids)[:, 0] * y)
        return scores, relation
"""
# Names that a pattern binds are what it is asked of.
PARTS_OF_A_MATCH = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        match x.shape:
            case (n, 4):
                h = self.fc(x) * n
            case _:
                h = x
        match (self.training, y):
            case (True, t):
                h = h + t
            case (False, t) if t.dim() == 2:
                h = h - t
        return h
"""
# Constants that are indexed in functions of torch's.
WEIGHTS_BY_CLASS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("weight", torch.tensor([1.0, 2.0, 3.0, 4.0]))
        self.register_buffer("table", torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]))

    def forward(self, x, y):
        h, ids = self.fc(x), y.argmax(1)
        loss = F.cross_entropy(h, ids, weight=self.weight) + F.multi_margin_loss(h, ids, weight=self.weight)
        return loss, F.embedding(ids, self.table, padding_idx=1), F.embedding_bag(ids[None], self.table, mode="sum")
"""
# torch chooses by numbers before it does by arrays: the dim of the array stays where it stands.
NUMBERS_BESIDE_INDEX_ARRAYS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = torch.stack([self.fc(x), y, x * y])
        j, cubes = torch.tensor([2, 0, 1]), torch.stack([h, h + 1])
        put = cubes.clone()
        for b in range(2):
            put[b, 0, :, j] = cubes[b, ..., [1, 2, 0], 0]
            put[b, :, :, j] -= h[..., :3] * 2
        put[..., j, :, 0] = x[:, :1]
        front = cubes[j[:2] % 2, :, 0], cubes[0, j], cubes[:, j, 0, j]
        return put, h[0, :, j], cubes[:, j, :, 0], h[0, ..., j], h[0, None, j], cubes[..., 1, :, j], front
"""
# A tensor without dims does not widen an array of its own kind.
NARROW_BESIDE_ONE_NUMBER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("scale", torch.tensor(1.25, dtype=torch.float32))
        self.s = nn.Parameter(torch.ones([]) * 1.5)

    def forward(self, x, y):
        h, t = x.half(), (y > 0).float().sum() / 4 + 1.5
        u, n = (y.abs() * 80).to(torch.uint8), torch.tensor(300) - 1
        halves = h * t, t - h, h * self.scale, x.half() + t, (h + 1) * self.scale, h.mul(t), torch.where(h > 0, h, t)
        most = x.abs().float().ceil().max()
        halves += h + most.item(), torch.minimum(h, most), h - h.max(), h * self.s.float().ceil(), h * t.double()
        whole = u - n, u + u.sum(), u.max() - u, u // n, u / n, u * t
        near = h.max().float() + 1e-6  # which is the half itself, once it is a half
        halves += h == near, near <= h, torch.eq(h, near), h.lt(near), torch.relu(h) * 1 > near
        return self.fc(x) * self.s / y.mean(), [v.double() for v in (*halves, *whole)]
"""
# Which method of a tensor it is only the run tells; it takes torch's arguments.
REDUCTIONS_BY_NAME = """
class Net(nn.Module):
    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = reduction
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h, other = self.fc(x), "amax" if x.ndim > 1 else "amin"
        return getattr(h, self.reduction)(dim=1, keepdim=True) * getattr(h, other)(0) + y
"""
# A second name of the last module of one loop is called after another loop has bound the first.
LAST_OF_A_LOOP_BEFORE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(4)])
        self.norms = nn.ModuleList([nn.LayerNorm(4) for _ in range(3)])

    def forward(self, x, y):
        for i, (layer, norm) in enumerate(zip(self.layers, self.norms)):
            x = norm(layer(x)) * (i + 1)
        last = layer
        for layer in self.layers:
            before = y
            y = layer(y)
        return last(x), y - before, layer(x)
"""
# Of two elements as near a quantile torch takes the one with the even rank.
QUANTILES_BETWEEN_TWO = """
class Net(nn.Module):
    def forward(self, x, y):
        q = torch.tensor([0.1, 0.5, 0.9], dtype=x.dtype)
        rows = torch.quantile(x, q, 1, interpolation="nearest"), x.quantile(0.5, 1, keepdim=True, interpolation="nearest")
        return rows, y.quantile(0.5, interpolation="nearest"), y[0].quantile(0.5, interpolation="lower"), y[0, :1].quantile(0.3, 0, interpolation="nearest")
"""
# A loop that has no turn in one of the modes.
NO_TURNS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(5, 4))
        self.register_buffer("u", torch.ones(5))

    def forward(self, x, y):
        u = self.u
        with torch.no_grad():
            for _ in range(1 if self.training else 0):
                v = F.normalize(torch.mv(self.w.t(), u), dim=0)
                u = F.normalize(torch.mv(self.w, v), dim=0)
            v = F.normalize(torch.mv(self.w.t(), u), dim=0)
            if self.training:
                self.u.copy_(u)
        return F.linear(x, self.w / torch.dot(u, torch.mv(self.w, v))) + y.sum()
"""
EMPTY_PARAMETER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.none = nn.Parameter()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.fc(x) + self.none.sum() + self.none.numel() + y
"""
# Plain functions that read parts of the module that they are given.
PARTS_IN_FUNCTIONS = """
def scaled(net, x):
    return net.lin(x) * net.scale


def step(net, x):
    if net.training:
        net.seen += 1
    for layer in net.layers:
        x = layer(x)
    return net.bn(x) + scaled(net, x) + net.more(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.bn, self.lin = nn.BatchNorm1d(4), nn.Linear(4, 4)
        self.again = self.lin
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer("seen", torch.zeros(()))

    def more(self, x):
        return x + self.seen

    def forward(self, x):
        return step(self, x) + self.again(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Block(), Block()

    def forward(self, x, y):
        return self.a(x) + step(self.a, y) + step(x=y, net=self.b)
"""
# Arrays that are tied before all modules are begun, and a model that is begun by what holds it.
BEGUN_WHERE_TIED = """
class Language(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.words = nn.Embedding(7, size)
        self.out = nn.Linear(size, 7)
        self.out.weight = self.words.weight
        self.apply(self.begin)

    def begin(self, m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=0.02)
            if m.bias is not None:
                nn.init.zeros_(m.bias)
        elif isinstance(m, nn.Embedding):
            m.weight.data.normal_(mean=0.0, std=0.02)

    def forward(self, ids):
        return self.out(self.words(ids))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Language()
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.mul_(0.5)

    def forward(self, x, y):
        return self.model((x > 0).long()).mean(1)[:, :4] * y
"""
# A property whose setter calls a method of the model, while that is built.
SETS_BY_A_METHOD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self._scale, self.doubled = 1.0, 2.0
        self.scale = 3.0

    @property
    def scale(self):
        return self._scale

    @scale.setter
    def scale(self, value):
        self._scale = value
        self.doubled = self.twice(value)

    def twice(self, value):
        return 2 * value

    def forward(self, x, y):
        return self.fc(x) * self.scale + y * self.doubled
"""
# Rows of new arrays that a loop over several at once writes.
ROWS_AT_ONCE = """
def padded(images):
    made = images[0].new_zeros((len(images), 3, 5))
    mask = torch.ones((len(images), 3, 5), dtype=torch.bool)
    for image, row, m in zip(images, made, mask):
        row[: image.shape[0], : image.shape[1]].copy_(image)
        m[: image.shape[0], : image.shape[1]] = False
    return made, mask


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        x, y = x.detach(), y.detach()
        made, mask = padded([x, y[:2], y[:, :3]])
        return self.fc(made[..., :4]), mask
"""
# Branches that are fused, by a layer that works in place, where there is more than one.
FUSED_BRANCHES = """
class Net(nn.Module):
    def __init__(self, branches=2):
        super().__init__()
        self.branches = branches
        layers = [[nn.Linear(4, 4) for _ in range(branches)] for _ in range(branches)]
        self.fuse = nn.ModuleList([nn.ModuleList(row) for row in layers])
        self.relu = nn.ReLU(True)

    def forward(self, x, y):
        xs = [x * 2, y * 3]
        if self.branches == 1:
            return [self.fuse[0][0](xs[0])]
        fused = []
        for i in range(len(self.fuse)):
            out = xs[0] if i == 0 else self.fuse[i][0](xs[0])
            for j in range(1, self.branches):
                if i == j:
                    out = out + xs[j]
                else:
                    out = out + self.fuse[i][j](xs[j])
            fused.append(self.relu(out))
        return fused
"""
# What one call may run is called in one way.
CHOSEN_FUNCTIONS = """
def first(net, z):
    return net.fc(z * 2)


def second(net, z, scale=1):
    return net.norm(z) * scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x, y):
        run = second if x.dim() == 2 else first
        for f in (first, second):
            y = f(self, y)
        return run(self, x) + y
"""
# Functions inside of a method, handed to one outside, have its params and its mode already.
HANDED_CLOSURES = """
def add_residual(x, residual, ratio=0.0):
    part = x[:2]
    return torch.cat([part + residual(part), x[2:]])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, y):
        def first(x):
            return self.drop(self.a(x))

        def second(x):
            return self.b(x)

        x = add_residual(x, residual=first)
        return add_residual(x, residual=second) + y
"""
CLOSURES_BESIDE_FUNCTIONS = """
def plain(z):
    return z * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = nn.Linear(4, 4)

    def forward(self, x, y):
        def own(x):
            return self.b(x)

        for f in [own, plain]:
            y = f(y)
        return x + y
"""
# Dicts of modules by inheritance hold what is set on them, in that order, and no numbers.
DICT_BELOW = """
class Layer(nn.Module):
    def __init__(self, n, growth):
        super().__init__()
        self.norm = nn.BatchNorm1d(n)
        self.fc = nn.Linear(n, growth)

    def forward(self, features):
        return self.fc(torch.relu(self.norm(torch.cat(features, 1))))


class Dense(nn.ModuleDict):
    def __init__(self, layers, n, growth):
        super().__init__()
        for i in range(layers):
            self.add_module("layer%d" % (i + 1), Layer(n + i * growth, growth))

    def forward(self, x):
        features = [x]
        for name, layer in self.items():
            features.append(layer(features))
        return torch.cat(features, 1)


class Scaled(nn.ModuleDict):
    def __init__(self, n):
        super().__init__()
        self.add_module("z", nn.Linear(n, n))
        self.add_module("a", nn.Linear(n, n))
        self.scale = 2.0

    def forward(self, x):
        for name, layer in self.items():
            x = torch.tanh(layer(x)) * self.scale
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = Dense(11, 4, 2)
        self.scaled = Scaled(4)
        self.out = nn.Linear(26, 4)

    def forward(self, x, y):
        walked = sum(i * p.sum() for i, p in enumerate(self.scaled.parameters()))
        return self.out(self.dense(x)) + self.scaled(y) + walked
"""
CHOSEN_CLOSURES = """
def last(z):
    return z * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        fs = []
        for layer in (self.norm, self.fc):

            def each(z, layer=layer):
                return layer(z)

            fs += [last, each]
        for f in fs:
            x = f(x)
        return x + y
"""
# An object of no module that builds some.
BUILT_BY_AN_OBJECT = """
class Parts:
    def __init__(self, n):
        self.fc = nn.Linear(n, n)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        parts = Parts(4)
        self.fc = parts.fc

    def forward(self, x, y):
        return self.fc(x) + y
"""
# A param under a second name that nobody asks for, of a container that grows on some ways.
SECOND_NAME_UNREAD = """
class Net(nn.Module):
    def __init__(self, plain=False):
        super().__init__()
        layers = [nn.Linear(4, 4)]
        if not plain:
            layers += [nn.ReLU()]
        self.out = nn.Sequential(*layers)
        self.out_weight = self.out[0].weight

    def forward(self, x, y):
        return self.out(x) + y
"""

# A layer's bias is asked for its truth by what fills it, while the model is built: several numbers have none.
TRUTH_OF_A_BIAS = """
def fill(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.5)
        if m.bias:
            nn.init.constant_(m.bias, 3.0)
        if not m.bias:
            nn.init.constant_(m.weight, 0.25)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4, bias=False)
        self.one = nn.Linear(4, 1)
        self.apply(fill)

    def forward(self, x, y):
        return self.fc(x) + self.one(y)
"""# A Sequential with a call of its own, of nothing, of what has no state, of what has one.
SEQUENTIAL_OF_ITS_OWN = """
class Chain(nn.Sequential):
    def forward(self, x, z=None):
        for m in self:
            x = m(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.empty = Chain()
        self.fc = Chain(nn.Linear(4, 4))
        self.norm = Chain(nn.BatchNorm1d(4))

    def forward(self, x, y):
        return self.norm(self.fc(self.empty(x))) + y
"""

PROGRAMS = [name for name, text in list(globals().items()) if "class Net(" in str(text)]
TARGETS = ("flax", "equinox", "functional")
# Flax tells of the closures, which are not run again there, and functional of a list of the
# constructor's own that is turned around.
APART = (
    ("CLOSURES", "flax"),
    ("CONSTANTS_IN_LISTS", "equinox"),  # reported: they would be trained
    ("LISTED_AT_TIMES", "equinox"),  # the same
    ("LISTED", "functional"),
    ("CHOSEN_CLOSURES", "functional"),  # refused: a function inside has the params, another has not
    ("MASKS_OF_CHOSEN", "equinox"),  # refused: there is no place for what is new
    ("SETS_BY_A_METHOD", "equinox"),  # refused: modules are not set once they are built
    ("SECOND_NAME_OF_A_BUFFER", "functional"),  # refused: state is there when the model is built
    ("KEPT_PAIRS", "functional"),  # refused: where the params of a pair are is not known
    ("METHODS_BY_A_KEPT_NAME", "functional"),  # refused: a method has its own params
    ("NUMBER_THEN_LOSS", "functional"),  # torch's model keeps no array that these tests could load
)
ROWS = [(p, t) for p in PROGRAMS for t in TARGETS if (p, t) not in APART]


@pytest.mark.parametrize("program, target", ROWS)
def test_beside_torch(program, target):
    torch.manual_seed(0)
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + globals()[program], "Net", "", inputs, target)


def test_a_second_name_that_is_read_is_refused():
    source = HEAD + SECOND_NAME_UNREAD.replace("+ y", "+ y @ self.out_weight")
    (made,), _, _ = engine.convert([given(source)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["tied-weight"], made.code


def test_the_dict_of_an_object_is_no_field():
    unpickled = "    def __setstate__(self, state):\n        self.__dict__ = state\n"
    source = HEAD + "class Net(nn.Module):\n" + unpickled
    (made,), _, _ = engine.convert([given(source)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["parameter-write"]
    assert "__dict__:" not in made.code


def test_a_walk_over_what_is_saved_begins_params():
    (made,), support, _ = engine.convert([given(HEAD + SAVED_WALK)], "", "functional")
    params = converted(made.code, support)["Net"]().init(jax.random.key(0))
    assert float(params["bn"]["weight"].min()) == 2 and not params["fc"]["bias"].any()
    buffer = SAVED_WALK.replace("self.fc = ", "self.register_buffer('weight', torch.ones(3))\n        self.fc = ")
    (made,), _, _ = engine.convert([given(HEAD + buffer)], "", "functional")
    assert "array-while-building" in {d.id for d in made.diagnostics}


MASKS_BY_VIEWS = """
class Net(nn.Module):
    def forward(self, x, y):
        a, b = (y > 0).chunk(2, dim=1)
        chosen = torch.where(y > 0, x > 0, y < -0.5)
        rows = 0
        for i, m in enumerate(chosen.unbind(0)):
            rows = rows + x[i][m].sum()
        z = x.T.clone()
        z[(y > 0).T] = 1
        x = x.clone()
        x[:, :2][a] = 0
        return x, z, rows, x[chosen].sum(), x[:, 2:][b].mean(), x.T[chosen.T].sum()
"""


@pytest.mark.parametrize("target", TARGETS)
def test_views_of_masks_are_masks(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + MASKS_BY_VIEWS, "Net", "", inputs, target)


OF_ANOTHER_SHAPE = """
class Grown(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("last", torch.tensor([]))
        self.register_buffer("hidden", torch.zeros(1, 4))
        self.register_buffer("hits", torch.zeros(1))
        self.register_buffer("mean", torch.ones(1, 1))

    def forward(self, x, y):
        h = self.fc(x) + self.hidden
        if self.last.numel() > 0:
            h = h + self.last
        self.last = h.detach()
        self.hidden = torch.tanh(h.detach())
        self.hits = self.hits + 1
        self.mean = self.mean * 0.9 + 0.1 * x.mean(0)
        return h * self.hits + y * self.mean
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_buffer_is_given_another_shape(target):
    (made,), support, _ = engine.convert([given(HEAD + OF_ANOTHER_SHAPE)], "", target)
    assert not made.diagnostics
    theirs, scope = namespace(HEAD + OF_ANOTHER_SHAPE, "program"), converted(made.code, support)
    with in_float64():
        inputs = [torch.randn(3, 4) for _ in range(2)]
        compare(theirs["Grown"](), built(scope["Grown"], scope["Grown"]), inputs, target, True)


PARAMS_BY_OTHER_NAMES = """
class Listed(nn.Module):
    def __init__(self, at_once=False):
        super().__init__()
        self.stacks, self.params = [], []
        for _ in range(2):
            self.stacks.append(self.stack())
        self.params = nn.ParameterList(self.params)

    def stack(self):
        layers = []
        for _ in range(2):
            fc = nn.Linear(4, 4)
            self.params.extend(fc.parameters())
            layers.append(fc)
        return layers

    def forward(self, x):
        for stack in self.stacks:
            for layer in stack:
                x = layer(x)
        return x


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.own = nn.ParameterList([nn.Parameter(torch.ones(4))])
        self.params = nn.ParameterList(self.parameters())
"""


@pytest.mark.parametrize("target", TARGETS)
def test_params_of_modules_under_other_names_are_reported(target):
    (made,), _, _ = engine.convert([given(HEAD + PARAMS_BY_OTHER_NAMES)], "", target)
    lines = [d.line for d in made.diagnostics if d.id == "tied-weight"]
    text = (HEAD + PARAMS_BY_OTHER_NAMES).splitlines()
    assert [text[n - 1].strip() for n in lines] == [
        "self.params = nn.ParameterList(self.params)",
        "self.params = nn.ParameterList(self.parameters())",
    ]


def test_a_method_by_a_name_that_is_kept_gets_no_params():
    (made,), _, _ = engine.convert([given(HEAD + METHODS_BY_A_KEPT_NAME)], "", "functional")
    assert {d.id for d in made.diagnostics} == {"module-value"}, made.code


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
    lines = [d.line for d in made.diagnostics if d.id == "draw-in-value"]
    text = (HEAD + DRAWING_FUNCTIONS_KEPT).splitlines()
    assert [text[n - 1].strip().partition("(")[0] for n in sorted(lines)] == [
        "def __init__",
        'self.chosen = noise if kind == "noise" else ones',
        'self.table = {"noise": noise, "ones": ones}',
    ]


WRITTEN_TWICE = """
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @classmethod
    def made(cls, wide):
        model = cls()
        model(torch.ones(4))
        if wide:
            model.fc = nn.Linear(8, 4)
        return model

    @classmethod
    def made(cls):
        return cls()

    def forward(self, x):
        return self.fc(x) * 2

    def forward(self, x):
        return self.fc(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_that_another_of_its_name_follows_is_told_of(target):
    (made,), _, _ = engine.convert([given(HEAD + WRITTEN_TWICE)], "", target)
    assert {d.id for d in made.diagnostics} == {"unsupported"}, made.diagnostics
    assert made.code.count("raise NotImplementedError") == 2 and "self.fc(x) * 2" not in made.code


UNDER_A_CONDITION = """
MODE = "a"


class Conditional(nn.Module):
    if "b" in MODE:

        def forward(self, x):
            return x

    else:

        def forward(self, x, y=2):
            return x * y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_methods_of_a_class_that_differ_under_a_condition_are_refused(target):
    (made,), _, _ = engine.convert([given(HEAD + UNDER_A_CONDITION)], "", target)
    assert [d.id for d in made.diagnostics] == ["unsupported", "unsupported"]
    assert made.code.count("raise NotImplementedError") == 2


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


@pytest.mark.parametrize("target", TARGETS)
def test_pieces_by_their_names_in_jax(target):
    (made,), _, _ = engine.convert([given(HEAD + PIECES)], "", target)
    assert made.code.count("jnp.split(") == 5 and made.code.count("nn.chunk(") == 1
    assert ", [self.far, self.far + self.far], axis=-1)" in made.code


COMMENTED = """
class Rope(nn.Module):
    def __init__(
        self,
        dim: int,
        p: float = 0.0, # proportion of frequencies set to 0
    ):
        super().__init__()
        n = round(p * dim)
        omega = torch.cat((torch.zeros(n), torch.linspace(0, 1, dim - n)))
        # above the buffer
        self.register_buffer(
            "freqs",  # as torch calls them
            omega,
        )

    def forward(self, x):
        return x * self.freqs


class Net(nn.Module):
    def __init__(
        self,
        dim,
        add = True,  # in the paper, they did not
        heads = 4,
        dropout = 0.
    ):
        super().__init__()
        self.rope = Rope(dim)
        self.drop = nn.Dropout(dropout)
        self.add = add
        self.lin = nn.Linear(dim, dim)
        # the mask
        self.register_buffer("bias", torch.tril(torch.ones(dim, dim))
                                     .view(1, 1, dim, dim))
        self.heads = heads

    def forward(
        self,
        x,  # the input
        y=None,  # another
    ):
        if self.add and x.mean() > 0:  # only then
            x = x + 1
        x = F.scaled_dot_product_attention(
            x, x, x,
            dropout_p = 0.1 if self.training else 0.,
            scale = 1.  # already scaled
        )
        x = self.lin(  # first
            x
        )  # then
        return self.drop(self.rope(x))  # last
"""


@pytest.mark.parametrize("target", TARGETS)
def test_comments_stay_wherever_they_stand(target):
    (made,), _, _ = engine.convert([given(HEAD + COMMENTED)], "", target)
    said = [re.findall(r"# *(.+)", text) for text in (COMMENTED, made.code)]
    assert sorted(said[0]) == sorted(said[1])


COMMENTED_PARAMETERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)

    def forward(
        self,
        x,  # in
        y  # out
    ):
        return self.drop(self.bn(x)) + y


def run(
    *,
    model: Net,
    x,
    y,  # more
):
    return model(x, y) + y


def begin(net: Net, x):
    net = net.eval()
    return run(model=net, x=x, y=x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_comments_of_parameters_stay_beside_them(target):
    (made,), _, _ = engine.convert([given(HEAD + COMMENTED_PARAMETERS)], "", target)
    ast.parse(made.code)
    for line in ("        x,  # in\n", "        y,  # out\n", "    y,  # more\n"):
        assert line in made.code or line.replace(",", "") in made.code, made.code
    assert "def run(\n" in made.code, made.code


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_are_told_are_said_in_jax(target):
    (made,), _, _ = engine.convert([given(HEAD + SIZES)], "", target)
    assert set(re.findall(r"nn\.([a-z_]+)\(", made.code)) <= {"clamp"}
    assert "jnp.pad(padded" not in made.code and made.code.count("nn.clamp(") <= 2


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_a_constructor_tells_are_said_in_jax(target):
    (made,), _, _ = engine.convert([given(HEAD + HELD_SIZES)], "", target)
    assert re.findall(r"nn\.([a-z_]+)\(", made.code) == ["expand_to"], made.code
    assert "nn.expand_to(y[:1], (self.kept, 4))" in made.code


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_not_converted_is_said_on_lines_that_fit(target):
    call = "torch.utils.data.DataLoader(\n    a,\n    b, name='c'" + ", aa=1" * 30 + ",\n)"
    (made,), _, _ = engine.convert([given(f"import torch\na = {call}\n")], "", target)
    (text,) = [
        n
        for n in ast.walk(ast.parse(made.code))
        if isinstance(n, ast.Constant) and "DataL" in str(n.value)
    ]
    assert text.value == "torch.utils.data.DataLoader(a, b, name='c'" + ", aa=1" * 30 + ",)"
    assert max(map(len, made.code.splitlines())) < 100


def test_classes_given_at_all_constructions_are_called_as_they_are():
    (made,), _, _ = engine.convert([given(HEAD + GIVEN_CLASSES)], "", "functional")
    assert ".apply(" not in made.code
    assert 'self.mlp(params["mlp"], self.norm(params["norm"], x))' in made.code


def test_what_is_given_is_called_as_all_that_are_known_are():
    """What takes less may be given too; it is one module, wherever it is given."""
    (made,), support, _ = engine.convert([given(HEAD + GIVEN_ALIKE)], "", "functional")
    assert ".apply(" not in made.code
    assert 'self.norm(params["norm"], x)' in made.code
    names = converted(made.code, support)
    nn, x, y = names["nn"], jnp.arange(12.0).reshape(3, 4), jnp.ones((3, 4))
    both = jnp.tanh(x + x * y)
    layer = names["Layer"](lambda x, y: x * y, jnp.tanh)
    assert layer.init(jax.random.key(0)) == {"attention": {}, "norm": {}}
    assert jnp.array_equal(layer(layer.init(jax.random.key(0)), x, y), both)
    (made,), _, _ = engine.convert([given(HEAD + GIVEN_HOLDERS)], "", "functional")
    assert 'self.fn(params["fn"], state["fn"], x, training=training)' in made.code
    assert 'self.norm = nn.as_module(norm, ["params", "state", "training"])' in made.code
    (made,), _, _ = engine.convert([given(HEAD + GIVEN_LISTS)], "", "functional")
    assert ".apply(" not in made.code and "state" not in made.code
    assert 'x = layer(params["layers"][name], x, y, key=k, training=training)' in made.code

    class Scaled(nn.Module):
        def init(self, key):
            return {"by": jnp.full(4, 2.0)}

        def __call__(self, params, x, y):
            return x * y * params["by"]

    shared = Scaled()
    pair = nn.ModuleList([names["Layer"](shared), names["Layer"](shared, names["Layer"](shared).norm)])
    assert pair[0].attention is pair[1].attention and isinstance(pair[0].attention, Scaled)
    params = pair[0].init(jax.random.key(0))
    assert params["attention"]["by"].shape == (4,)
    for run in (pair[0], lambda *given: pair[0].apply(given[0], {}, *given[1:])[0]):
        assert jnp.array_equal(run(params, x, y), x + x * y * 2)
    with pytest.raises(TypeError, match="takes state"):
        names["Layer"](None, type("Stateful", (nn.Module,), {"__call__": lambda self, state, x: x})())


@pytest.mark.parametrize("target", TARGETS)
def test_a_state_that_torch_updates_twice_is_told(target):
    text = HEAD + CHECKPOINTS.replace("nn.Dropout(0.0)", "nn.BatchNorm1d(4)")
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [
        ("taken-for-granted", n) for n in (21, 23)
    ]
    assert all("again in backward" in d.message for d in made.diagnostics)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("init", ["other=True", "share=False"])
def test_ties_under_a_condition(init, target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + TIES, "Net", init, inputs, target)


@pytest.mark.parametrize("target", ("equinox", "functional"))
def test_a_tie_in_what_a_loop_goes_over_is_refused(target):
    looped = TIED_ITEM.replace("self.outs(", "sum(out(y) for out in self.outs) + (")
    (made,), _, _ = engine.convert([given(HEAD + looped)], "", target)
    assert {d.id for d in made.diagnostics} == {"tied-weight"}


REGISTERED_OF_A_LIST = (
    "self.register_parameter('a', self.kept[0])",
    "self.a = self.kept[0]",
    "for i in range(2): self.register_parameter('a%d' % i, self.kept[i])",
    "for i, p in enumerate(self.kept): setattr(self, f'a{i}', p)",
    "self.all = nn.ParameterList(self.kept)",
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("tie", REGISTERED_OF_A_LIST)
def test_params_of_a_plain_list_that_are_registered_too_are_told(tie, target):
    text = f"""{HEAD}class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = [nn.Parameter(torch.ones(4, 4)) for _ in range(2)]
        {tie}

    def forward(self, x):
        return x @ self.kept[0] @ self.kept[1]
"""
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert "tied-weight" in {d.id for d in made.diagnostics}


@pytest.mark.parametrize("init", ["True", "False"])
@pytest.mark.parametrize("tie", UNSEEN_TIES)
def test_ties_by_one_variable(tie, init):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + tied(UNSEEN_TIES[tie]), "Net", init, inputs, "flax")


@pytest.mark.parametrize("target", TARGETS)
def test_a_tie_that_is_changed_on_some_ways_is_refused(target):
    changed = "self.head.weight = self.a.weight\n        if x:\n            self.head.weight = self.b.weight"
    (made,), _, _ = engine.convert([given(HEAD + tied(changed))], "", target)
    assert {d.id for d in made.diagnostics} == {"tied-weight"}


@pytest.mark.parametrize("target", ("equinox", "functional"))
@pytest.mark.parametrize("tie", UNSEEN_TIES)
def test_ties_that_are_refused(tie, target):
    text = HEAD + tied(UNSEEN_TIES[tie])
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert {d.id for d in made.diagnostics} == {"tied-weight"}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("learned", [True, False])
def test_what_is_learned_on_one_way_is_trained_there(learned, target):
    (made,), support, _ = engine.convert([given(HEAD + LEARNED_ON_ONE_WAY)], "", target)
    theirs = namespace(HEAD + LEARNED_ON_ONE_WAY, "program")["Net"](learned)
    cls = converted(made.code, support)["Net"]
    ours = from_torch(theirs, built(lambda **rngs: cls(learned, **rngs), cls))
    if target == "functional":
        trained = to_torch(ours[0])
    elif target == "flax":
        trained = to_torch(ours) if learned else nnx.to_pure_dict(nnx.state(ours, nnx.Param))["fc"]
        assert {type(v).__name__ for v in (ours.gain, ours.offset)} == {
            "Param" if learned else "Constant"
        }
    else:
        trained = jax.tree.leaves(eqx.filter(ours[0], eqx.is_inexact_array))
    assert len(trained) == (4 if learned else 2)


def test_each_way_of_an_array_in_flax_is_what_torch_makes_it():
    for other in ("self.gain = torch.ones(4)", "self.register_buffer('gain', torch.ones(4))"):
        text = LEARNED_ON_ONE_WAY.replace("self.gain = 1.0", other)
        (made,), support, _ = engine.convert([given(HEAD + text)], "", "flax")
        assert not made.diagnostics
        ours = converted(made.code, support)["Net"](False, rngs=nnx.Rngs(0))
        theirs = namespace(HEAD + text, "program")["Net"](False)
        assert to_torch(from_torch(theirs, ours)).keys() == theirs.state_dict().keys()
        (told,), _, _ = engine.convert([given(HEAD + text)], "", "equinox")
        assert [(d.id, d.line) for d in told.diagnostics] == [("frozen-param", 14)]


@pytest.mark.parametrize("target, told", list(zip(TARGETS, (0, 1, 1), strict=True)))
def test_what_fills_a_layer_stays_though_its_value_is_not_read(target, told):
    """An array that is given back has no value yet, or would have to come beside the module."""
    text = WRITING_LAMBDAS.replace("    nn.init.zeros_(m", "    return nn.init.zeros_(m")
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert len(made.diagnostics) == told and "done = zero(self.c" in made.code


@pytest.mark.parametrize("target", TARGETS)
def test_a_mark_that_is_read_is_told(target):
    asked = "x = -x if getattr(x, 'seen', False) else x\n        return self.fc(x)"
    text = HEAD + MARKS.replace("return self.fc(x)", asked)
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("array-attribute", 23)]


@pytest.mark.parametrize("target", TARGETS)
def test_leaves_of_a_tree_and_the_way_back(target):
    """What a branch gives beside its first array comes back as it was; dicts are told to be sorted."""
    text = f"""{HEAD}from torch.utils._pytree import tree_flatten, tree_unflatten


class Net(nn.Module):
    def forward(self, x, y):
        (out, *rest), spec = tree_flatten((x * 2, None, [y + 1]))
        a, b, (c,) = tree_unflatten((out.tanh(), *rest), spec)
        return a * c if b is None else y
"""
    (made,), support, _ = engine.convert([given(text)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("taken-for-granted", 11)]
    x, y = torch.randn(2, 3, 4).unbind(0)
    net = constructed(converted(made.code, support)["Net"], (), {}, jax.random.key(0))
    want = namespace(text, "program")["Net"]()(x, y)
    assert_close(net(jnp.asarray(x), jnp.asarray(y)), want)


@pytest.mark.parametrize("target", TARGETS)
def test_names_that_a_star_brings(target):
    net = NAMED.replace("nn.GELU()", "Inner(4, 4)").replace("self.mlp(x)", "F.relu(self.mlp(x))")
    net = Source(PurePosixPath("net.py"), "from module import *\n" + net, "utf-8", False, "\n")
    inner = given(HEAD + "class Inner(nn.Linear):\n    pass\n")
    files, support, _ = engine.convert([inner, net], "", target)
    assert not [d for file in files for d in file.diagnostics]
    converted(files[0].code, support)
    namespace(files[0].code, "module")
    cls = namespace(files[1].code, "net")["Net"]
    assert built(cls, cls).mlp is not None


@pytest.mark.parametrize("target", TARGETS)
def test_layers_of_a_dtype(target):
    """Those of the constructor's own, those by a dict, and those of a class that is handed in."""
    text = (
        HEAD
        + """class Net(nn.Module):
    def __init__(self, norm=nn.LayerNorm, dtype=None):
        super().__init__()
        placed = {"device": None, "dtype": dtype}
        self.table = nn.Embedding(4, 4, dtype=torch.bfloat16)
        self.conv = nn.Conv1d(4, 4, 1, **placed)
        self.norm = norm(4, dtype=torch.bfloat16)
        self.other = nn.Linear(4, 4, device=None, dtype=None)

    def forward(self, x):
        return self.other(self.norm(self.table(x)).float())
"""
    )
    (made,), support, _ = engine.convert([given(text)], "", target)
    assert not made.diagnostics
    cls, torch_side = converted(made.code, support)["Net"], namespace(text, "program")
    model = built(lambda **k: cls(dtype=jnp.bfloat16, **k), cls)
    theirs = torch_side["Net"](dtype=torch.bfloat16)
    arrays = to_torch(model.init(jax.random.key(0)) if target == "functional" else model)
    wanted = {name: value.dtype for name, value in theirs.state_dict().items()}
    assert {name: value.dtype for name, value in arrays.items()} == wanted
    filled = from_torch({n: v.float() for n, v in theirs.state_dict().items()}, model)
    given_back = {"flax": lambda: to_torch(filled)}.get(target, lambda: to_torch(*filled))()
    assert {value.dtype for value in given_back.values()} == {torch.float32}


def test_a_function_that_draws_under_a_branch():
    draws = EXITS.replace("torch.arange(n) % samples.shape[0]", "torch.randint(0, 3, (n,))")
    torch.manual_seed(0)
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + draws, "Net", "", inputs, "flax")


SHARED = {
    "one name": "self.ps = nn.ParameterList([p, p])",
    "a comprehension": "self.ps = nn.ParameterList([p for _ in range(2)])",
    "a loop": "self.ps = nn.ParameterList()\n        for _ in range(2):\n            self.ps.append(p)",
    "a dict": "self.ps = nn.ParameterDict({'a': p, 'b': p})",
}
LISTS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        p = nn.Parameter(torch.zeros(4))
        {}

    def forward(self, x):
        for p in {}:
            x = x + p
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SHARED)
def test_a_param_in_several_places_is_told(name, target):
    text = HEAD + LISTS.format(SHARED[name], "self.ps.values()" if name == "a dict" else "self.ps")
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert "shared-module" in {d.id for d in made.diagnostics}, made.code


KEPT_ELSEWHERE = """
class Head(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.decoder = nn.Linear(weights.size(1), weights.size(0), bias=False)
        self.decoder.weight = weights

    def forward(self, x):
        return self.decoder(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.head = Head(self.emb.weight)

    def forward(self, ids):
        return self.head(self.emb(ids))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_param_that_another_constructor_keeps_is_tied(target):
    verify(HEAD + KEPT_ELSEWHERE, "Net", "", [torch.tensor([0, 1, 2])], target)


# Two lists whose params become one in a loop: nnx keeps them one.
TIED_IN_LISTS = """
class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList()
        for _ in range(2):
            self.scales.append(nn.Parameter(torch.randn(4)))


class Tied(nn.Module):
    def __init__(self, ties):
        super().__init__()
        self.a, self.b = Half(), Half()
        for i, tie in enumerate(ties):
            if tie:
                self.b.scales[i] = self.a.scales[i]

    def forward(self, x):
        return x * self.a.scales[0] * self.b.scales[0]
"""


@pytest.mark.parametrize("target", ("functional", "equinox"))
def test_params_of_lists_that_become_one_are_reported(target):
    (made,), _, _ = engine.convert([given(HEAD + TIED_IN_LISTS)], "", target)
    assert {d.id for d in made.diagnostics} <= {"tied-weight", "shared-module"} and made.diagnostics


LISTED_PARAMS = (
    "self.ps = nn.ParameterList([self.p, self.q])",
    "ps = [self.p]\n        self.ps = nn.ParameterList(ps)",
    "self.ps = nn.ParameterDict({'p': self.p})",
    "q = nn.Parameter(torch.ones(4))\n        self.q = q\n        self.ps.append(q)",
)


FREEZING = {
    "for p in self.fc.parameters():\n            p.requires_grad = learned": "p is trained in torch by learned",
    "self.fc.weight.requires_grad_(False)": "self.fc.weight is not trained in torch",
    "self.w = nn.Parameter(torch.ones(4), requires_grad=learned)": "this parameter is trained in torch by learned",
}


@pytest.mark.parametrize("statement, told", FREEZING.items())
def test_what_is_trained_by_a_flag_is_told_with_it(statement, told):
    text = f"""
class Net(nn.Module):
    def __init__(self, learned=False):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        {statement}

    def forward(self, x):
        return self.fc(x)
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "functional")
    (one,) = made.diagnostics
    assert one.id == "frozen-param" and told in str(one)


NEVER_TRAINED = """
class Net(nn.Module):
    def __init__(self, flag=False):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        MADE
        nn.init.ones_(self.fc.weight)
        for p in self.fc.parameters():
            p.requires_grad = True

    def forward(self, x, y):
        RUNS
        return self.fc(x * self.w) + y.to(next(self.parameters()).device)
"""
NEVER_TRAINED_WAYS = {
    "named before": (
        "self.v = nn.Parameter(torch.ones(4), requires_grad=False)\n        self.w = torch.ones(4)\n"
        "        self.w = self.w.repeat(1)\n        self.w = nn.Parameter(self.w + self.v, requires_grad=False)",
        "",
    ),
    "given values": ("self.w = nn.Parameter(torch.zeros(4), requires_grad=False)\n        self.w.data.copy_(torch.arange(4.0))", ""),
    "drawn": ("self.w = nn.Parameter(data=torch.randn(4) * 3, requires_grad=False)", ""),
    "a statement": ("self.w = nn.Parameter(torch.ones(4))\n        self.w.requires_grad = False", ""),
    "a call": ("self.w = nn.Parameter(torch.ones(4))\n        self.w.requires_grad_(False)", ""),
    "counts": ("self.w = nn.Parameter(torch.zeros(1).long(), requires_grad=False)", "self.w += 1"),
    "an average": (
        "self.w = nn.Parameter(torch.zeros(4), requires_grad=False)",
        "if self.training:\n            self.w.data.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)",
    ),
    "of two ways": (
        "self.w = None\n        if flag:\n            self.w = nn.Parameter(torch.zeros(4), requires_grad=False)\n"
        "        else:\n            self.w = nn.Parameter(torch.ones(4), requires_grad=False)",
        "",
    ),
}


@pytest.mark.parametrize("way", NEVER_TRAINED_WAYS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_param_that_nothing_trains_is_no_param(target, way):
    made, runs = NEVER_TRAINED_WAYS[way]
    text = NEVER_TRAINED.replace("MADE", made).replace("RUNS", runs or "pass")
    text = HEAD + text.replace("        for p in self.fc.parameters():\n            p.requires_grad = True\n", "")
    verify(text, "Net", "", [*torch.randn(2, 3, 4, dtype=torch.float64)], target)
    (made,), support, _ = engine.convert([given(text)], "", target)
    cls = converted(made.code, support)["Net"]
    if target == "functional":
        trained = cls().init(jax.random.key(0))
    elif target == "flax":
        trained = nnx.state(cls(rngs=nnx.Rngs(0)), nnx.Param)
    else:
        model, _ = eqx.nn.make_with_state(cls)(key=jax.random.key(0))
        trained = eqx.filter(model, eqx.is_inexact_array)
    assert len(jax.tree.leaves(trained)) == 2


@pytest.mark.parametrize(
    "made",
    [
        "self.w = nn.Parameter(torch.ones(4), requires_grad=False)",  # a walk trains params
        "self.w = nn.Parameter(torch.ones(4), requires_grad=False)\n        self.w.requires_grad = flag",
        "self.w = nn.Parameter(torch.ones(4))\n        if flag:\n            self.w.requires_grad = False",
        "if flag:\n            self.w = nn.Parameter(torch.zeros(4))\n        else:\n"
        "            self.w = nn.Parameter(torch.ones(4), requires_grad=False)",
        "self.w = nn.Parameter(torch.ones(4), requires_grad=False)\n        sum(p.numel() for p in self.parameters())",
        "self.w = nn.Parameter(torch.ones(4), requires_grad=False)\n        print(isinstance(self.w, nn.Parameter))",
        # what one of them may begin with stays as well
        "self.v = nn.Parameter(torch.ones(4), requires_grad=False)\n        if flag:\n"
        "            self.w = nn.Parameter(self.v + 1)\n        else:\n"
        "            self.w = nn.Parameter(self.v + 0, requires_grad=False)",
    ],
)
def test_a_param_that_may_be_trained_stays_one(made):
    text = NEVER_TRAINED.replace("MADE", made).replace("RUNS", "pass")
    if "\n" in made:
        text = text.replace("        for p in self.fc.parameters():\n            p.requires_grad = True\n", "")
    (converted_,), _, _ = engine.convert([given(HEAD + text)], "", "functional")
    assert {d.id for d in converted_.diagnostics} - {"taken-for-granted"} == {"frozen-param"}
    assert 'params["w"]' in converted_.code


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


KEPT_AND_WRITES = """
def ones(m):
    with torch.no_grad():
        if hasattr(m, "weight"):
            m.weight.fill_(1.0 / m.weight.size(-1))


def named(m):
    m.kind = "named"


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.net.apply({"ones": ones, "named": named}[kind])

    def forward(self, x):
        return self.net(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_function_that_is_kept_and_writes_params_is_told(target):
    (made,), _, failed = engine.convert([given(HEAD + KEPT_AND_WRITES)], "", target)
    found = [(d.id, d.line) for d in made.diagnostics if d.id == "parameter-write"]
    line = (HEAD + KEPT_AND_WRITES).splitlines().index('        self.net.apply({"ones": ones, "named": named}[kind])')
    assert not failed and found == [("parameter-write", line + 1)]


NONE_AMONG_PARAMS = """
class Net(nn.Module):
    def __init__(self, use):
        super().__init__()
        self.ps = nn.ParameterList([nn.Parameter(torch.ones(4)) if use else None, None])
        self.qs = nn.ParameterList()
        for i in range(2):
            if use or i:
                self.qs.append(nn.Parameter(torch.ones(4)))
            else:
                self.qs.append(None)

    def scaled(self, x, by):
        return x if by is None else x * by

    def forward(self, x, y):
        x = self.scaled(x, self.qs[0])
        for p, q in zip(self.ps, self.qs):
            if p is not None:
                x = x * p
            if q is not None:
                x = x + q
        for i in range(len(self.ps)):
            y = self.scaled(y, self.ps[i])
        return x + y if self.qs[-1] is None else x + y * self.qs[-1]
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("use", ["True", "False"])
def test_none_stands_in_a_list_of_params(use, target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + NONE_AMONG_PARAMS, "Net", use, inputs, target)


MADE_INTO_A_TENSOR = """
class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        {}
        if {} is not None:
            self.size = torch.tensor({}, dtype=torch.float64)

    def forward(self, x):
        return x if self.size is None else x / self.size[0]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = Scale(None), Scale((4, 3)), Scale(5)

    def forward(self, x, y):
        return self.one(x) + self.two(x) + self.three(y)
"""
TWO_WAYS = "self.size = (size, size) if isinstance(size, int) else size"
EITHER = "if isinstance(size, int):\n            {} = (size, size)\n        else:\n            {} = size"
MADE_OF = {
    "the attribute": (TWO_WAYS, "self.size", "self.size"),
    "the attribute, set on both ways": (EITHER.format("self.size", "self.size"), "self.size", "self.size"),
    "the parameter": ("if isinstance(size, int):\n            size = (size, size)\n        self.size = size", "size", "size"),
    "a local name": (EITHER.format("given", "given") + "\n        self.size = given", "given", "given"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", MADE_OF)
def test_what_a_constructor_makes_a_tensor_of_may_be_none(case, target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + MADE_INTO_A_TENSOR.format(*MADE_OF[case]), "Net", "", inputs, target)


SAVES_LESS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("proj", torch.ones(4))

    def forward(self, x):
        return self.fc(x) * self.proj

    def state_dict(self, destination=None, prefix="", keep_vars=False):
        state_dict = super(Net, self).state_dict(destination, prefix, keep_vars)
        del state_dict[prefix + "proj"]
        return state_dict
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_state_dict_of_a_base_is_told(target):
    (made,), _, failed = engine.convert([given(HEAD + SAVES_LESS)], "", target)
    assert not failed and {d.id for d in made.diagnostics} == {"module-value"}


ABSTRACT_IN_NAME = """
import abc


class Base(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = Act(4)
        self.scale = scale

    @abc.abstractmethod
    def penalty(self, x):
        pass

    def forward(self, x):
        return self.act(self.fc(x)) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = Base(2.0)

    def forward(self, x):
        return self.base(x)


Act = functools.partial(nn.PReLU, init=0.5)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_abstract_in_name_alone_is_built(target):
    """And what a partial builds is no type of a field."""
    source = HEAD + "import functools\n" + ABSTRACT_IN_NAME
    verify(source, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert ("abc" in made.code) is (target == "functional")


MADE_TWICE = """
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x, y):
        inner = x * 2

        def make(module):
            def inner(*inputs):
                return torch.tanh(module(*inputs))
            return inner

        x = checkpoint(make(self.a), checkpoint(make(self.b), x, use_reentrant=False), use_reentrant=False)
        ys = [checkpoint(make(layer), y, use_reentrant=False) for layer in self.layers]
        before = None
        for layer in self.layers:
            if before is not None:
                y = made(y)
            made = make(layer)
            before = layer
        return x + inner + ys[0] * ys[1] + made(y)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_functions_that_one_makes_twice_keep_apart(target):
    """In one statement, beside a name of the method's, in a comprehension, for the next turn."""
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + MADE_TWICE, "Net", "", inputs, target)


AROUND_LAYERS_OF_A_LOOP = """
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.bn = nn.BatchNorm1d(n)

    def forward(self, x, by):
        return self.bn(self.fc(x)) * by


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ModuleList([Block(4) for _ in range(3)])
        self.b = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x, y):
        fs, name = [], "b"
        for i, (block, layer) in enumerate(zip(self.a, self.b)):
            def run(z):
                return block(z, i + 1.0) + layer(y)
            x = run(x)
        for layer in self.b:
            def last(z):
                return layer(z)
            fs += [last]
        for outer in self.b:
            for layer in self.b:
                def both(z):
                    return torch.tanh(layer(outer(z)))
                x = both(x)
        for f in fs:
            x = f(x)
        return x + {name: y}[name]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_functions_in_a_loop_over_layers_know_which_it_is(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + AROUND_LAYERS_OF_A_LOOP, "Net", "", inputs, target)
    (made,), _, _ = engine.convert([given(HEAD + AROUND_LAYERS_OF_A_LOOP)], "", target)
    assert "nn.place(" not in made.code


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


# The weights of a second network follow those of the first, as a moving average or within bounds.
FOLLOWING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fast = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
        self.slow = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))

    @torch.no_grad()
    def follow(self, m):
        for p, slow in zip(self.fast.parameters(), self.slow.parameters()):
            slow.data = slow.data * m + p.data * (1.0 - m)

    def bound(self):
        for name, p in self.fast[0].named_parameters():
            p.data.clamp_(-0.1, 0.1)
        for p in self.slow.parameters():
            p.data.mul_(0.9)

    def forward(self, x, y):
        self.follow(0.3)
        self.bound()
        return self.fast(x) * self.slow(y)
"""


@pytest.mark.parametrize("running", (equinox_run, functional_run))
def test_a_walk_over_params_writes_them_for_the_call(running):
    """Their gradients are those of the params; what the caller has stays as it is, which is told."""
    target = running.__name__.removesuffix("_run")
    (made,), support, _ = engine.convert([given(HEAD + FOLLOWING)], "", target)
    assert [d.id for d in made.diagnostics] == ["parameter-write"] * 3, made.code
    with in_float64():
        theirs = namespace(HEAD + FOLLOWING, "program")["Net"]()
        cls = converted(made.code, support)["Net"]
        run = running(theirs, built(lambda **keys: cls(**keys), cls), False)
        inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
        want = theirs(*inputs)
        (want * want.cos()).sum().backward()
        got, (grads, _), _ = run([jnp.asarray(x.numpy()) for x in inputs], ())
        close(got, want)
        for name, param in theirs.named_parameters():
            close(grads[name], param.grad)


@pytest.mark.parametrize(
    "loop",
    (
        "for p, q in zip(self.fc.parameters(), self.parameters()):\n            p.data.add_(q.data)",
        "for p in self.fc.parameters():\n            p.data.add_(1)\n            x = x + p.sum()",
        "for p in self.fc.parameters():\n            if p.dim() > 1:\n                p.data.add_(1)",
    ),
)
@pytest.mark.parametrize("target", ("equinox", "functional"))
def test_a_walk_that_reads_what_it_has_written_is_refused(target, loop):
    text = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        {loop}
        return self.fc(x)
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert made.diagnostics and "unconverted(" in made.code, made.code


@pytest.mark.parametrize("target", ("equinox", "functional"))
def test_a_module_of_a_list_that_stands_elsewhere_is_told_by_any_name(target):
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Linear(4, 4) for _ in range(2)]
        last = layers[0]
        self.layers = nn.Sequential(*layers)
        self.last = last

    def forward(self, x):
        return self.last(self.layers(x))
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == ["shared-module"]


@pytest.mark.parametrize("listed", LISTED_PARAMS)
def test_a_param_that_a_container_holds_too_is_told_where_it_is_another(listed):
    text = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p, self.q = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
        self.ps = nn.ParameterList()
        {listed}

    def forward(self, x):
        return x * sum(self.ps.values() if hasattr(self.ps, "values") else self.ps) + self.p
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "equinox")
    assert "shared-module" in {d.id for d in made.diagnostics}


def test_a_module_with_a_state_alone_in_two_places_is_told():
    text = """
class Seen(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def forward(self, x):
        self.n += x.sum()
        return x * self.n


class Half(nn.Module):
    def __init__(self, seen):
        super().__init__()
        self.seen = seen

    def forward(self, x):
        return self.seen(x) / 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        seen = Seen()
        self.a, self.b = Half(seen), Half(seen)

    def forward(self, x):
        return self.b(self.a(x))
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["shared-module"]


ONE_TENSOR = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        t = torch.zeros(4)
        self.register_buffer("a", t)
        {second}

    def forward(self, x, y):
        {write}
        return x * self.a + y * self.b
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "second, write, told",
    [
        ('self.register_buffer("b", t)', "self.a += 1", True),
        ('self.register_buffer("b", self.a)', "self.b.mul_(2)", True),
        ("self.b = nn.Parameter(t)", "y = y + 1", True),
        ('self.register_buffer("b", t)', "self.a = self.a + 1", False),
        ('self.register_buffer("b", t.clone())', "self.a += 1", False),
    ],
)
def test_two_arrays_of_one_tensor_are_told_where_one_is_written(target, second, write, told):
    text = ONE_TENSOR.format(second=second, write=write)
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == ["aliased-write"] * told


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


def test_a_constructor_behind_a_layer_that_has_no_place_is_told():
    text = """
class Mixin(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}


class Net(nn.Linear, Mixin):
    def __init__(self, n):
        if n > 1:
            super().__init__(n, n)
        else:
            super().__init__(1, n)

    def forward(self, x):
        return super().forward(x) + len(self.cache)
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["skipped-constructor"]


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


SCORES = """
class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.scores = None

    def forward(self, x):
        self.scores = F.softmax(self.fc(x), -1)
        return self.scores


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Attend() for _ in range(3)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""


def test_equal_layers_keep_what_a_forward_pass_makes():
    (made,), support, _ = engine.convert([given(HEAD + SCORES)], "", "flax")
    net = converted(made.code, support)["Net"](rngs=nnx.Rngs(0))
    out = nnx.jit(lambda net, x: net(x))(net, jnp.ones((2, 4)))
    np.testing.assert_allclose(net.blocks[2].scores[...], out)


TEACHER = """
class Average:
    def __init__(self, beta):
        self.beta = beta

    def of(self, old, new):
        return old * self.beta + (1 - self.beta) * new


def follow(average, slow, fast):
    for new, old in zip(fast.parameters(), slow.parameters()):
        was, now = old.data, new.data
        old.data = average.of(was, now)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.m, self.average = 0.9, Average(0.5)
        self.fast, self.slow, self.third = (nn.Linear(4, 4) for _ in range(3))

    @torch.no_grad()
    def step(self):
        for p, q in zip(self.slow.parameters(), self.fast.parameters()):
            p.data.mul_(self.m).add_((1 - self.m) * q.detach().data)
        for (_, p), q in zip(self.third.named_parameters(), self.fast.parameters()):
            p.mul_(self.m)
            p.add_(q, alpha=1 - self.m)

    def forward(self, x):
        self.step()
        follow(self.average, self.third, self.slow)
        kept = dict(self.fast.named_parameters())
        y = F.linear(x, kept["weight"], kept["bias"])
        return y, self.slow(x), self.third(x), sum(p.norm() for p in self.parameters())
"""


def test_params_that_follow_others_are_written_in_flax():
    (made,), support, _ = engine.convert([given(HEAD + TEACHER)], "", "flax")
    assert not made.diagnostics
    theirs = namespace(HEAD + TEACHER, "program")["Net"]()
    ours = from_torch(theirs, converted(made.code, support)["Net"](rngs=nnx.Rngs(0)))
    x = torch.randn(3, 4)
    for _ in range(2):
        found = nnx.jit(lambda model, x: model(x))(ours, jnp.asarray(x.numpy()))
        for got, want in zip(found, theirs(x), strict=True):
            assert np.allclose(got, want.detach().numpy(), atol=1e-5)
    slopes = nnx.grad(lambda model, x: sum(y.sum() for y in model(x)))(ours, jnp.asarray(x.numpy()))
    sum(y.sum() for y in theirs(x)).backward()
    for name, param in theirs.named_parameters():
        layer, _, leaf = name.partition(".")
        assert np.allclose(slopes[layer][leaf][...], param.grad.numpy(), atol=1e-4), name


@pytest.mark.parametrize("target", ("equinox", "functional"))
def test_params_that_follow_others_are_refused_where_a_model_is_frozen(target):
    (made,), *_ = engine.convert([given(HEAD + TEACHER)], "", target)
    refused = [d for d in made.diagnostics if d.id in ("parameter-write", "module-walk")]
    assert len({d.line for d in refused}) >= 3


def test_params_that_follow_others_are_refused_where_a_name_would_not():
    early = TEACHER.replace(
        "        self.step()\n", "        w = self.slow.weight\n        self.step()\n"
    )
    early = early.replace("return y,", "return y + x @ w,")
    (made,), *_ = engine.convert([given(HEAD + early)], "", "flax")
    assert {d.id for d in made.diagnostics} == {"parameter-write"}


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


BY_NAMES = """
def checked(fn):
    def inner(self, x, y):
        return fn(self, x, y) * 2

    return inner


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.5)

    @checked
    def forward(self, x, y):
        return self.drop(self.fc(x)) + y
"""
DECORATED_CONSTRUCTORS = """
def nothing(init):
    pass


def named(init):
    def inner(self, n):
        init(self, n)

    return inner


class Net(nn.Module):
    @DECORATOR
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return self.fc(x)


class Other(nn.Module):
    def forward(self, x):
        return torch.tanh(x)
"""


@pytest.mark.parametrize("decorator", ["nothing", "named"])
@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_a_decorator_of_a_constructor_costs_its_class_alone(target, decorator):
    source = HEAD + DECORATED_CONSTRUCTORS.replace("DECORATOR", decorator)
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("unsupported", 19)]
    scope = converted(made.code, support)
    assert scope["Other"]()(jnp.zeros(2)).shape == (2,)
    with pytest.raises(NotImplementedError, match=decorator):
        built(partial(scope["Net"], 4), scope["Net"])


CALLED_BY_WHO_IS_GIVEN = """
def step(model, x):
    return model.fc(x)


def run(model, x, fn=step):
    return fn(model, x)


class Stepped(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return run(self, x)
"""


@pytest.mark.parametrize("target, told", [("flax", []), ("equinox", ["unsupported"]), ("functional", ["unsupported"])])
def test_a_decorator_that_does_not_hand_on_what_a_method_takes_is_told(target, told):
    (made,), _, _ = engine.convert([given(HEAD + BY_NAMES)], "", target)
    assert [d.id for d in made.diagnostics] == told


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_layer_refuses_it_refuses_by_a_name_that_is_there(target):
    text = "class Rows(nn.Embedding):\n    def __init__(self, n, d, **kwargs):\n        super().__init__(n, d, **kwargs)\n"
    (_,), support, _ = engine.convert([given(HEAD + text)], "", target)
    assert "raise NotImplementedError(" in support and "Unsupported" not in support


METHOD_UNDER_A_NAME = """
class Chosen(nn.Module):
    def __init__(self, kind="one"):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.fn = getattr(self, kind)

    def one(self, x):
        return self.fc(x)

    def forward(self, x):
        return self.fn(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_under_a_computed_name_is_not_kept(target):
    (made,), _, _ = engine.convert([given(HEAD + METHOD_UNDER_A_NAME)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"]


def test_a_method_under_a_computed_name_has_no_params():
    text = METHOD_UNDER_A_NAME.replace("self.fn = getattr(self, kind)", "self.kind = kind")
    text = text.replace("self.fn(x)", 'getattr(self, f"o{self.kind}")(x)')
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "functional")
    assert [d.id for d in made.diagnostics] == ["module-value"]


@pytest.mark.parametrize("target, told", [("flax", []), ("equinox", []), ("functional", ["module-value"])])
def test_a_module_that_an_unknown_function_calls_a_part_of_is_told(target, told):
    (made,), _, _ = engine.convert([given(HEAD + CALLED_BY_WHO_IS_GIVEN)], "", target)
    assert [d.id for d in made.diagnostics] == told


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_of_functions_alone_is_converted(target):
    source = "import torch\n\n\ndef f(x):\n    return torch.cat([x, x])\n"
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert (
        made.code
        == "import jax.numpy as jnp\n\n\ndef f(x):\n    return jnp.concatenate([x, x], axis=0)\n"
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_class_of_params_is_one_of_arrays(target):
    source = HEAD + "class Bias(nn.Parameter):\n    pass\n\n\n"
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert "class Bias(jax.Array):" in made.code
    converted(made.code, support)


COMPUTED_DATA = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        for name in ("weight", "bias"):
            p = getattr(self.fc, name)
            p.data = p.data * 2
            getattr(self.fc, name).data.mul_(2)
        return self.fc(x)
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_data_under_a_computed_name_is_told(target):
    (made,), _, _ = engine.convert([given(HEAD + COMPUTED_DATA)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [
        ("parameter-write", 15),
        ("parameter-write", 16),
    ]


BOUNDED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        x, i = self.fc(x), 0
        while i < 3 and x.norm() > 0.5:
            x = x * 0.7 * self.fc.bias.cos()
            self.seen[i] += 1
            i += 1
        return x
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_loop_with_a_bound_that_writes_has_a_gradient(target):
    verify(HEAD + BOUNDED, "Net", "", [torch.randn(2, 4, dtype=torch.float64)], target)


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
KEPT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.stats = {}

    def forward(self, x):
        x = self.fc(x)
        self.stats["mean"] = x.mean()
        self.stats["mean"] += 1
        self.stats["x"] = x * 2
        self.stats["x"][:, 0] = 3.0
        self.stats["x"].mul_(2)
        return x + self.stats["mean"] + self.stats["x"]
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


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_entries_of_a_dict_of_the_state_are_written(target):
    verify(HEAD + KEPT, "Net", "", [torch.randn(2, 4, dtype=torch.float64)], target)


def test_a_dict_of_what_forward_keeps_is_no_weight():
    (made,), support, _ = engine.convert([given(HEAD + KEPT)], "", "flax")
    theirs = namespace(HEAD + KEPT, "program")["Net"]()
    model = from_torch(theirs, converted(made.code, support)["Net"](rngs=nnx.Rngs(0)))
    x = torch.randn(2, 4)
    got, want = model(jnp.asarray(x.numpy())), theirs(x).detach()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)  # as all of float32
    assert sorted(to_torch(model)) == ["fc.bias", "fc.weight"]


NAMED_AS_A_METHOD = """
class Scale(nn.Module):
    def __init__(self, n, init="ones"):
        super().__init__()
        self.init = init
        if self.init == "ones":
            self.weight = nn.Parameter(torch.ones(n))
        else:
            self.weight = nn.Parameter(torch.randn(n))

    def forward(self, x):
        return x * self.weight


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.b = Scale(n), Scale(n, "drawn")

    def forward(self, x):
        return self.a(x) * len(self.a.init) + self.b(x) * len(getattr(self.b, "init"))
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_field_has_the_name_of_a_method_here(target):
    verify(HEAD + NAMED_AS_A_METHOD, "Net", "4", [torch.randn(2, 4, dtype=torch.float64)], target)


def test_a_submodule_with_the_name_of_a_method_here_is_refused():
    source = HEAD + NAMED_AS_A_METHOD.replace("self.a,", "self.init,").replace(
        "self.a", "self.init"
    )
    (made,), _, _ = engine.convert([given(source)], "", "functional")
    assert ["give it another name" in d.message for d in made.diagnostics] == [True]


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


FILLED_UNDER_NAMES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)
        self.apply(self._fill)
        for name in ("weight", "bias"):
            nn.init.constant_(getattr(self.norm, name), 3.0)

    def _fill(self, module):
        if isinstance(module, nn.Linear):
            names = ["weight", "bias"]
            for name in names:
                array = getattr(module, name)
                if array is not None:
                    nn.init.ones_(array)

    def forward(self, x):
        return self.norm(self.fc(x))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_arrays_are_filled_under_listed_names(target):
    source = HEAD + FILLED_UNDER_NAMES
    verify(source, "Net", "", [torch.randn(2, 4, dtype=torch.float64)], target)
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert "getattr" not in made.code and "names" not in made.code and not made.diagnostics
    model = built((cls := converted(made.code, support)["Net"]), cls)
    tree = model.init(jax.random.key(0)) if target == "functional" else model
    arrays = to_torch(tree, {}) if target == "functional" else to_torch(tree)
    assert {n: float(v.min()) for n, v in arrays.items()} == {
        "fc.weight": 1, "fc.bias": 1, "norm.weight": 3, "norm.bias": 3
    }
    assert all(v.min() == v.max() for v in arrays.values())


@pytest.mark.parametrize("target", TARGETS)
def test_arrays_under_names_that_are_given_are_not_filled_silently(target):
    source = FILLED_UNDER_NAMES.replace('names = ["weight", "bias"]', "names = module.names")
    (made,), support, _ = engine.convert([given(HEAD + source)], "", target)
    assert "aliased-write" in [d.id for d in made.diagnostics]


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


MASKED = """
class Masked(nn.Conv1d):
    def __init__(self, kind, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.register_buffer("mask", {mask})
        self.mask.fill_(1)
        self.mask[:, :, self.weight.size(2) // 2 + (kind == "B"):] = 0

    def forward(self, x):
        {forward}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = Masked("A", 1, 2, 3, padding=1)

    def forward(self, x):
        return self.c(x.unsqueeze(1))
"""
OWN = "return F.conv1d(x, self.weight * self.mask, self.bias, padding=1)"
WRITTEN = "self.weight.data *= self.mask\n        return super().forward(x)"


@pytest.mark.parametrize("mask", ["self.weight.data.clone()", "torch.zeros_like(self.weight)"])
@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_constant_has_the_shape_of_a_param(target, mask):
    source = HEAD + MASKED.format(mask=mask, forward=OWN)
    verify(source, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


def test_a_param_that_forward_writes_holds_for_the_call_in_equinox():
    """Its gradient is that of the param; the caller's module stays as it is, which is told."""
    source = HEAD + MASKED.format(mask="torch.ones_like(self.weight)", forward=WRITTEN)
    (made,), support, _ = engine.convert([given(source)], "", "equinox")
    assert [(d.id, d.line) for d in made.diagnostics] == [("parameter-write", 15)], made.code
    theirs = namespace(source, "program")["Net"]()
    ours, _ = from_torch(theirs, converted(made.code, support)["Net"](key=jax.random.key(0)))
    x = torch.randn(3, 4)
    want = theirs(x)
    want.sin().sum().backward()
    loss = lambda model: jnp.sin(model(jnp.asarray(x))).sum()
    np.testing.assert_allclose(ours(jnp.asarray(x)), want.detach(), rtol=1e-5, atol=1e-6)
    grads = eqx.filter_grad(loss)(ours)
    np.testing.assert_allclose(grads.c.weight, theirs.c.weight.grad, rtol=1e-5, atol=1e-6)


LIKE_PARAMS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("u", torch.ones(self.fc.weight.size(0)))
        self.register_buffer("m", torch.zeros_like(self.fc.weight))
        self.n = self.u.shape[0]

    def forward(self, x, y):
        self.m.copy_(self.fc.weight.detach() * 0.5)
        self.u.mul_(0.5).add_(x.detach().mean(0))
        return self.fc(x) * self.u + y @ self.m * self.n
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_state_that_has_the_shape_of_a_param(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + LIKE_PARAMS, "Net", "", inputs, target)


HANDED_CLASS = """
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return torch.tanh(self.fc(x))


class Net(nn.Module):
    def __init__(self, block, n=2):
        super().__init__()
        self.b = block(3)
        self.bs = nn.ModuleList([block(3) for _ in range(n)])
        layers = []
        for i in range(n):
            layers.append(block(3))
        self.seq = nn.Sequential(*layers)

    def forward(self, x):
        for b in self.bs:
            x = b(x)
        return self.seq(self.b(x))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_class_that_nobody_in_the_project_hands(target):
    inputs = [torch.randn(2, 3, dtype=torch.float64)]
    verify(HEAD + HANDED_CLASS, "Net", "Block", inputs, target)


BY_NAME = """
class Layer(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.norm = nn.BatchNorm1d(i)
        self.fc = nn.Linear(i, 2)

    def forward(self, *before):
        return self.fc(F.relu(self.norm(torch.cat(before, 1))))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(3):
            self.add_module("layer%d" % (i + 1), Layer(4 + i * 2))

    def forward(self, x, y):
        features = [x]
        for name, layer in self.named_children():
            features.append(layer(*features))
        return torch.cat(features, 1) * y[:, :1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
        self.dense = Dense()
        self.names = {"0": "first", "2": "second"}

    def forward(self, x, y):
        out = {}
        for name, module in self.net._modules.items():
            x = module(x)
            if name in self.names:
                out[self.names[name]] = x
        return self.dense(out["first"], y), out["second"]
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_modules_by_their_names_in_forward(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + BY_NAME, "Net", "", inputs, target)


HELD = """
class Block(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv1 = {conv}
        self.bn = nn.BatchNorm1d(o)
        self.conv2 = nn.Conv1d(o, o, 1)
        self.net = nn.Sequential(self.conv1, self.bn, nn.ReLU(), self.conv2)
        self.init_weights()

    def init_weights(self):
        self.conv1.weight.data.fill_(0.01)
        nn.init.constant_(self.conv2.weight, 0.2)

    def forward(self, x):
        return F.relu(self.net(x)) + self.conv1(x).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block(1, 2)

    def forward(self, x, y):
        return self.block(x[:, None]).mean(1) * y + self.block.conv1.bias.sum()
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_what_a_container_holds_too_is_one_module(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    source = HEAD + HELD.format(conv="nn.Conv1d(i, o, 3, padding=1)")
    verify(source, "Net", "", inputs, target)


HELD_IN_BRANCHES = """
class Block(nn.Module):
    def __init__(self, n, kind, stride=1):
        super().__init__()
        self.conv = nn.Conv1d(n, n, 1)
        if kind == "batch":
            self.norm = nn.BatchNorm1d(n)
            if not stride == 1:
                self.norm3 = nn.BatchNorm1d(n)
        else:
            self.norm = nn.InstanceNorm1d(n)
            if not stride == 1:
                self.norm3 = nn.InstanceNorm1d(n)
        if stride == 1:
            self.downsample = None
        else:
            self.downsample = nn.Sequential(nn.Conv1d(n, n, 1, stride=stride), self.norm3)

    def forward(self, x):
        y = self.norm(self.conv(x))
        if self.downsample is not None:
            x = self.downsample(x)
        return x + y[..., :x.shape[-1]]


class Net(nn.Module):
    def __init__(self, kind="batch"):
        super().__init__()
        self.a = Block(3, kind)
        self.b = Block(3, kind, 2)

    def forward(self, x, y):
        return self.b(self.a(torch.stack([x, y])))
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
@pytest.mark.parametrize("kind", ["batch", "instance"])
def test_what_a_container_holds_may_be_made_in_branches(target, kind):
    """It is one where each of the branches comes to the container."""
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + HELD_IN_BRANCHES, "Net", repr(kind), inputs, target)
    other = HELD_IN_BRANCHES.replace("not stride == 1", "stride < 9")
    (made,), _, _ = engine.convert([given(HEAD + other)], "", target)
    told = {"shared-module"} if target != "flax" else set()
    assert {d.id for d in made.diagnostics} == told


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_what_weight_norm_computes_is_not_written(target):
    """In torch, too, the next call computes it anew."""
    conv = "nn.utils.weight_norm(nn.Conv1d(i, o, 3, padding=1))"
    (made,), _, _ = engine.convert([given(HEAD + HELD.format(conv=conv))], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("taken-for-granted", 17)], made.code
    assert "0.01" not in made.code


STANDING_IN = """
class Scaled(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(n) * 2)

    def forward(self, x):
        return x * self.gain if self.training else x + self.gain


class Net(nn.Module):
    def __init__(self, n=4, whole=True):
        super().__init__()
        self.fc = nn.Linear(4, n)
        self.scaled = Scaled(n) if whole else nn.Identity()
        self.act = nn.Tanh() if whole else nn.Identity()
        self.head = nn.Linear(n, 2) if whole else nn.Identity()

    def forward(self, x):
        return self.head(self.act(self.scaled(self.fc(x))))
"""
REFUSED_LATER = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(self.part(x))

    def use_checkpointing(self):
        self.part = torch.utils.checkpoint(self.part)
        self.fc = torch.utils.checkpoint(self.fc)
"""


@pytest.mark.parametrize("init", ["", "whole=False"])
@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_layer_or_an_identity_is_called_as_the_layer(target, init):
    source = HEAD + STANDING_IN
    verify(source, "Net", init, [torch.randn(3, 4, dtype=torch.float64)], target)
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert ".apply(" not in made.code and "nn.call(" not in made.code, made.code


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_what_raises_is_no_other_module_that_an_attribute_may_be(target):
    """Of `part` it is known that it is a Part, of `fc` that it takes no state."""
    source = HEAD + REFUSED_LATER
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert {d.line for d in made.diagnostics} == {26, 27}, made.diagnostics
    assert ".apply(" not in made.code and "nn.call(" not in made.code, made.code
    whole = source[: source.index("    def use_checkpointing")]
    verify(whole, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


LIST_OR_ONE = """
class Net(nn.Module):
    def __init__(self, apart=False):
        super().__init__()
        self.apart = apart
        if self.apart:
            self.heads = nn.ModuleList()
            for i in range(3):
                self.heads.append(nn.Linear(4, 4))
        else:
            self.heads = nn.Linear(4, 4)

    def forward(self, x):
        if self.apart:
            out = torch.zeros([3, 4], dtype=x.dtype)
            for i in range(3):
                out[i] = self.heads[i](x[i])
        else:
            out = self.heads(x)
        return out.tanh()
"""


@pytest.mark.parametrize("init", ["", "apart=True"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_list_of_layers_is_not_what_is_called(target, init):
    source = HEAD + LIST_OR_ONE
    verify(source, "Net", init, [torch.randn(3, 4, dtype=torch.float64)], target)
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert ".apply(" not in made.code and "nn.call(" not in made.code, made.code


METHODS_BY_NAME = """
from elsewhere import load_model


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forecast(self, x, marks):
        return self.norm(x) + marks

    def forward(self, x, marks):
        return self.forecast(x, marks)


class Pretrained(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = load_model("large")

    def forward(self, x):
        return self.model.forecast(x, prediction_length=3)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_that_cannot_be_called_so_is_not_meant(target):
    (made,), _, _ = engine.convert([given(HEAD + METHODS_BY_NAME)], "", target)
    assert "        return self.model.forecast(x, prediction_length=3)\n" in made.code, made.code
    assert "def __call__(self, x)" in made.code or "def __call__(self, x, *, key" in made.code


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


UNPLACED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.fc(x))


model = Net()


def evaluate(x, n=3):
    y = model(x)
    return y.sum() * n


def report(x):
    print(evaluate(x))


def main():
    net = Net()

    def score(x):
        out = net(x)
        return out.mean()

    print(score(torch.ones(3, 4)))


def load():
    return Net(), 3


def second(x):
    net, n = load()
    return net(x) * n


def wrapped(x):
    net = nn.DataParallel(Net())
    return net(x)


def drawn():
    net = Drawing()

    def draw(x):
        out = net.sample(x)
        return out

    return draw


class Drawing(Net):
    def sample(self, x):
        return torch.bernoulli(self.fc(x).sigmoid())
"""


def test_what_is_refused_in_a_function_asks_for_no_params():
    (made,), _, _ = engine.convert([given(HEAD + UNPLACED)], "", "functional")
    assert {d.line for d in made.diagnostics} == {20, 32, 44, 48, 49, 56}, made.diagnostics
    headers = "evaluate(x, n=3): report(x): main(): score(x): second(x): wrapped(x): drawn(): draw(x):".replace(
        ": ", ":|"
    )
    for line in (*(f"def {h}" for h in headers.split("|")), "score(jnp.ones((3, 4)))"):
        assert line in made.code, made.code


UNBOUNDED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        x = self.fc(x)
        while x.norm() > 1:
            x = x * 0.5
        return x
"""


@pytest.mark.parametrize(
    "program, told", [(UNBOUNDED, [14]), (UNBOUNDED.replace("(x)\n", "(x).detach()\n"), [])]
)
def test_a_loop_without_a_bound_has_no_gradient_and_says_so(program, told):
    (made,), _, _ = engine.convert([given(HEAD + program)], "", "functional")
    assert [d.line for d in made.diagnostics] == told


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


FIRST_NAME_ON_SOME_WAYS = """
class Down(nn.Module):
    def __init__(self, channels, use_conv=False, name="conv"):
        super().__init__()
        if use_conv:
            conv = nn.Linear(channels, channels)
        else:
            conv = nn.LayerNorm(channels)
        if name == "conv":
            self.conv_0 = conv
            self.conv = conv
        elif name == "other":
            self.conv = conv
        else:
            self.conv = conv

    def forward(self, x):
        return self.conv(x)


class Net(nn.Module):
    def __init__(self, name="conv"):
        super().__init__()
        self.a, self.b = Down(4, True), Down(4, False, "none")
        scale = nn.Linear(4, 4)
        if name:
            self.first_scale = scale
        self.scale = scale

    def forward(self, x, y):
        return self.scale(self.a(x)) + self.b(y)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_has_the_name_that_it_has_on_all_ways(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + FIRST_NAME_ON_SOME_WAYS, "Net", "", inputs, target)


NAMED_PARTIAL = """
from functools import partial

activate = partial(F.relu, inplace=True)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = activate

    def forward(self, x):
        return self.act(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.block = nn.Linear(4, 4), Block()

    def forward(self, x, y):
        h = self.fc(y)
        return activate(self.fc(activate(self.fc(x)))) + activate(h) * h + self.block(h)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_partial_with_a_name_writes_what_it_is_given(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + NAMED_PARTIAL, "Net", "", inputs, target)
    (made,), _, _ = engine.convert([given(HEAD + NAMED_PARTIAL)], "", target)
    assert "partial" not in made.code


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
    found = begun(COPIED_STARTS, target)
    for one, other in (("q.fc.0.weight", "k.fc.0.weight"), ("online.bias", "target.bias")):
        np.testing.assert_array_equal(found[one], found[other])


KEPT_FUNCTIONS = """
def pick(net, kind):
    return net.one if kind else net.two


def twice(f):
    return lambda x: f(f(x))


def composed(f):
    def run(x):
        return f(f(x))

    return run


class Sub(nn.Module):
    def __init__(self, f=None):
        super().__init__()
        self.fc, self.f = nn.Linear(4, 4), f

    def run(self, x):
        return self.fc(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.sub, self.fs = nn.Linear(4, 4), Sub(), []
        KEEPS

    def one(self, x):
        return self.fc(x) * 2

    def two(self, x):
        return self.fc(x) * 3

    def forward(self, x):
        return USES
"""
KEEPING_FUNCTIONS = {
    "self.f = pick(self, True)": "self.f(x)",
    "f = self.two; self.f = f": "self.f(x)",
    "self.fs.append(self.one)": "self.fs[0](x)",
    "self.f = self.sub.run": "self.f(x)",
    "self.fs = {'run': self.sub.run}": "self.fs['run'](x)",
    "self.other = Sub(self.one)": "self.other.f(x)",
    "self.other = Sub(lambda t: self.fc(t))": "self.other.f(x)",
    "self.f = partial(self.one)": "self.f(x)",
    "self.f = partial(F.relu) if self.fs else partial(lambda m, x: m(x), self.fc)": "self.f(x)",
    "self.f = twice(self.one)": "self.f(x)",
    "self.f = composed(self.one)": "self.f(x)",
    "self.f = composed(self.fc)": "self.f(x)",
    "self.f = twice(self.fc)": "self.f(x)",
}


WITHOUT_PARAMS = [
    "self.fs.append(self.one)",
    "self.f = self.sub.run",
    "self.f = partial(self.one)",
    "self.f = composed(self.one)",
    "self.f = composed(self.fc)",
]


@pytest.mark.parametrize(
    "target, keeps",
    [(t, k) for t in ("flax", "equinox") for k in KEEPING_FUNCTIONS]
    + [("functional", keeps) for keeps in WITHOUT_PARAMS],
)
def test_functions_that_hold_modules_are_refused_where_they_are_kept(target, keeps):
    source = f"{HEAD}from functools import partial\n{KEPT_FUNCTIONS}".replace("KEEPS", keeps)
    source = source.replace("USES", KEEPING_FUNCTIONS[keeps])
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert ("module-value", 36) in [(d.id, d.line) for d in made.diagnostics]
    with pytest.raises(NotImplementedError):
        cls = converted(made.code, support)["Net"]
        model = built(cls, cls)
        if target == "functional":  # where it is called
            (model.fs[-1] if ".fs" in keeps else model.f)(jnp.ones((3, 4)))


REPLACED_FORWARDS = [
    "self.forward = self.two",
    "self.fc.forward = lambda x: x",
    "self.forward = lambda x: self.fc(x)",
    "self.forward, self.two = self.two, self.forward",
]


@pytest.mark.parametrize("replaced", REPLACED_FORWARDS)
@pytest.mark.parametrize("target", TARGETS)
def test_what_stands_in_for_a_forward_is_refused(target, replaced):
    source = HEAD + KEPT_FUNCTIONS.replace("KEEPS", replaced).replace("USES", "self.fc(x)")
    source = source.replace("def two(self, x)", "def two(self, x, y=1)")
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert ("module-value", 35) in [(d.id, d.line) for d in made.diagnostics]
    with pytest.raises(NotImplementedError):
        cls = converted(made.code, support)["Net"]
        built(cls, cls)


STORED_INTO_TORCH = ["nn.Own = Net", "torch.nn.one, x = 1, 2"]


@pytest.mark.parametrize("stored", STORED_INTO_TORCH)
@pytest.mark.parametrize("target", TARGETS)
def test_what_can_not_be_stored_into_is_refused_as_a_statement(target, stored):
    source = f"{HEAD}class Net(nn.Module):\n    def forward(self, x):\n        {stored}\n        return x\n"
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert {d.id for d in made.diagnostics} == {"no-rule"}
    with pytest.raises(NotImplementedError):
        converted(made.code, support)["Net"]()(jnp.ones(3))


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


def test_a_property_that_is_kept_is_its_value():
    source = KEPT_FUNCTIONS.replace("KEEPS", "self.scale = self.size").replace("USES", "x * self.scale")
    source += "\n    @property\n    def size(self):\n        return self.fc.out_features\n"
    verify(HEAD + source, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], "equinox")


BUFFERS_OF_A_MIXIN = """
class Scaled(object):
    def __init__(self, n, width):
        self.n = n
        for i in range(self.n):
            self.register_buffer("u%d" % i, torch.ones(1, width) * (i + 1))

    @property
    def scales(self):
        return [getattr(self, "u%d" % i) for i in range(self.n)]


class Own(nn.Linear, Scaled):
    def __init__(self, width, n):
        nn.Linear.__init__(self, width, width)
        Scaled.__init__(self, n, width)

    def forward(self, x):
        return F.linear(x, self.weight * self.scales[1].sum(), self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = Own(4, 2)

    def forward(self, x, y):
        return self.fc(x) + y
"""


def test_a_mixin_reads_the_arrays_that_it_sets_under_computed_names():
    (made,), support, _ = engine.convert([given(HEAD + BUFFERS_OF_A_MIXIN)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["buffer-in-list"]
    cls = converted(made.code, support)["Net"]
    net, x = built(cls, cls), jnp.ones((3, 4))
    np.testing.assert_allclose(net(x, x), x @ (net.fc.weight * 8).T + net.fc.bias + x, rtol=1e-5)


NOT_ALIKE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.k = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.k.load_state_dict(self.q.state_dict())

    def forward(self, x):
        return self.q(x) + self.k(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_not_built_alike_is_refused_where_it_is_given_values(target):
    (made,), support, _ = engine.convert([given(HEAD + NOT_ALIKE)], "", target)
    assert [(d.line, d.id) for d in made.diagnostics] == [(12, "array-while-building")]
    cls = converted(made.code, support)["Net"]
    with pytest.raises(NotImplementedError):
        built(cls, cls)


ASKED_CONSTANTS = """
def made(n):
    f = torch.tensor(n, dtype=torch.float64)
    return f / f.sum()


def scaled(x, f):
    if isinstance(f, torch.Tensor):
        return x * f
    return x


class Net(nn.Module):
    def __init__(self, n=None):
        super().__init__()
        self.register_buffer("f", made(n) if n is not None else None, persistent=False)
        self.g = made([1, 1, 2, 3])

    def forward(self, x):
        x = self._again(x, f=self.f)
        g = self.g
        if torch.is_tensor(g):
            x = x + g
        if isinstance(self.g, torch.Tensor):
            x = x * 2
        return scaled(x, self.g)

    def _again(self, x, f):
        return scaled(x, f)
"""


@pytest.mark.parametrize("init", ["", "[1, 2, 3, 4]"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_constant_is_an_array_to_those_that_ask(target, init):
    verify(HEAD + ASKED_CONSTANTS, "Net", init, [torch.randn(3, 4, dtype=torch.float64)], target)


OF_A_FILE = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("order", torch.arange(n).flip(0))
        self.fc = nn.Linear(n, n, bias=False)

    def forward(self, x):
        return self.fc(x)[:, self.order]


net = Net(3)
first, order, weight = net.order[0] + 1, net.order, net.fc.weight.detach()
x = torch.zeros(2, 3)
x[0] = 1
y = net(x)
"""


@pytest.mark.parametrize("target", ("flax", "equinox"))
def test_a_file_reads_and_writes_arrays_of_its_own(target):
    (made,), support, _ = engine.convert([given(HEAD + OF_A_FILE)], "", target)
    assert not made.diagnostics, (made.diagnostics, made.code)
    scope = converted(made.code, support)
    assert int(scope["first"]) == 3 and list(scope["order"]) == [2, 1, 0]
    assert_close(scope["y"][0], scope["weight"].sum(1)[::-1])


def test_a_file_has_no_state_for_a_model():
    program = HEAD + "x = torch.zeros(2, 4)\nnet = nn.Sequential(nn.BatchNorm1d(4))\ny = net(x)\n"
    (made,), *_ = engine.convert([given(program)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["module-value"]


COMPARED = """import elsewhere


class Net(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.pad = pad

    def forward(self, ids):
        return self.mask(ids)

    def mask(self, ids):
        return (ids != self.pad).unsqueeze(1).unsqueeze(2)


def evaluate(words):
    net = Net(elsewhere.pad(words))
    for batch in elsewhere.batches(words):
        ids = batch.ids
        print(net(ids), (batch.a == batch.b).float().mean())
    return (elsewhere.a(words) == elsewhere.b(words)).mean()
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_comparison_of_unknown_things_gives_is_a_tensor_where_it_is_used_as_one(target):
    (made,), *_ = engine.convert([given(HEAD + COMPARED)], "", target)
    assert "jnp.expand_dims(ids != self.pad, (1, 2))" in made.code
    assert "(batch.a == batch.b).astype(jnp.float32).mean()" in made.code
    assert "(elsewhere.a(words) == elsewhere.b(words)).mean()" in made.code


GIVEN_TWICE = """
class Block(nn.Module):
    def __init__(self, act, twice=True):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act1 = act
        self.act2 = act
        if twice:
            act = nn.Linear(4, 4)
        self.act3 = act

    def forward(self, x):
        return self.act3(self.act2(self.act1(self.fc(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        acts = nn.Tanh(), nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.blocks = nn.Sequential(*[Block(act, i > 1) for i, act in enumerate(acts)])

    def forward(self, x):
        return self.blocks(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_that_is_kept_twice_has_its_arrays_under_its_first_name(target):
    inputs = [torch.randn(5, 4, dtype=torch.float64)]
    if target != "equinox":
        verify(HEAD + GIVEN_TWICE, "Net", "", inputs, target)
    again = "        if twice:\n            act = nn.Linear(4, 4)\n"
    verify(HEAD + GIVEN_TWICE.replace(again, ""), "Net", "", inputs, target)


A_LIST_OR_ONE = """
class Net(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        for i in range(2):
            net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
            if inner:
                for j in range(2):
                    setattr(self, f"scale{i}_layer{j}", net[j])
            else:
                setattr(self, f"layer{i}", net)

    def single(self, model, x):
        if not self.inner:
            return model(x)
        for i in range(len(model)):
            x = model[i](x)
        return x

    def forward(self, x):
        result = []
        for i in range(2):
            if self.inner:
                model = [getattr(self, f"scale{i}_layer{j}") for j in range(2)]
            else:
                model = getattr(self, f"layer{i}")
            result.append(self.single(model, x))
        return result
"""


@pytest.mark.parametrize("inner", (True, False))
@pytest.mark.parametrize("target", ("equinox", "flax"))
def test_a_module_that_may_be_a_list_of_modules_is_called(target, inner):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + A_LIST_OR_ONE, "Net", str(inner), inputs, target)


FILLS_ITS_OWN_LAYER = """
class Base(nn.Sequential):
    def __init__(self, size, norm):
        super().__init__()
        self.add_module("bn", norm(size))
        nn.init.constant_(self[0].weight, 2.0)


class Net(Base):
    def __init__(self, size):
        super().__init__(size, norm=nn.BatchNorm1d)
        self.add_module("fc", nn.Linear(size, size))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_sequential_writes_a_layer_of_its_own(target):
    verify(HEAD + FILLS_ITS_OWN_LAYER, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


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


REPLACES_CHILDREN = """
def replace(model, scale):
    for n, m in model.named_children():
        if len(list(m.children())) > 0:
            replace(m, scale)
        if isinstance(m, nn.AdaptiveAvgPool2d):
            setattr(model, n, nn.AvgPool2d(scale))


class Local:
    def convert(self, scale):
        replace(self, scale)


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.inner = nn.Sequential(nn.Conv2d(4, 4, 1), nn.AdaptiveAvgPool2d(1))

    def forward(self, x):
        return self.pool(self.conv(x)) + self.inner(x)


class Net(Local, Base):
    def __init__(self):
        Local.__init__(self)
        Base.__init__(self)
        self.convert(6)
"""


@pytest.mark.parametrize("target", ("equinox", "flax"))
def test_a_walk_puts_other_modules_in_the_place_of_some(target):
    inputs = [torch.randn(3, 4, 8, 8, dtype=torch.float64)]
    verify(HEAD + REPLACES_CHILDREN, "Net", "", inputs, target)


def test_another_module_under_a_name_that_is_not_that_of_the_walk_is_refused():
    source = HEAD + REPLACES_CHILDREN.replace("setattr(model, n,", "setattr(model, n + '_',")
    (made,), support, _ = engine.convert([given(source)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["parameter-write"]
    with pytest.raises(NotImplementedError):
        built(converted(made.code, support)["Net"], converted(made.code, support)["Net"])


REPLACES_A_NUMBERED_LAYER = """
def replace(model):
    for n, m in model.named_children():
        if isinstance(m, nn.ReLU):
            setattr(model, n, nn.Tanh())
        else:
            replace(m)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        replace(self.net)

    def forward(self, x):
        return self.net(x)
"""


@pytest.mark.parametrize("target", ("equinox", "flax"))
def test_a_layer_that_a_container_holds_under_a_number_is_put_in_its_place(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + REPLACES_A_NUMBERED_LAYER, "Net", "", inputs, target)


ASKED_ITEMS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = {}

    def forward(self, x):
        if x.device in self.seen:
            return self.seen[x.device]
        self.seen[x.device] = torch.arange(x.shape[-1]) * 2.0 + x.mean()
        return self.seen[x.device]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_none_in_a_dict_does_not_ask_whether_there_is_one(target):
    """A device is None in JAX, and `None in seen` asks of an item."""
    (made,), support, _ = engine.convert([given(HEAD + ASKED_ITEMS)], "", target)
    assert "internal-error" not in {d.id for d in made.diagnostics}
    ours = built((cls := converted(made.code, support)["Net"]), cls)
    x = jnp.zeros((2, 3))
    if target == "equinox":
        out, _ = ours(x, eqx.nn.State(ours))
    else:
        out = ours(x) if target == "flax" else ours(ours.init_state(jax.random.key(0)), x)[0]
    np.testing.assert_array_equal(out, [0.0, 2.0, 4.0])


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


# A number for a module of the user's, in a method that calls of it give a number.
TAKES_A_LENGTH = """
class Rotary(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / 10 ** (torch.arange(n) / n))
    def forward(self, seq_len, device):
        return torch.einsum("i,j->ij", torch.arange(seq_len, device=device).type_as(self.inv_freq), self.inv_freq)
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.rotary = Rotary(n)
    def embedding(self, n, device):
        return self.rotary(n, device=device)
    def forward(self, x, y):
        n, device = x.shape[0], x.device
        return x * self.embedding(n, device) + y[()]
"""
GONE_OVER_TO_THE_LONGEST = """
from itertools import zip_longest
class Counted(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc, self.bn, self.drop = nn.Linear(n, n), nn.BatchNorm1d(n), nn.Dropout(0.0)
    def forward(self, x):
        return self.drop(self.bn(self.fc(x)))
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList([])
        for _ in range(3):
            self.layers.append(Counted(n))
    def forward(self, x, y):
        for layer, more in zip_longest(self.layers, [y, y * 2]):
            x = layer(x)
            if more is not None:
                x = x + more
        return x
"""


@pytest.mark.parametrize("program", ["TAKES_A_LENGTH", "GONE_OVER_TO_THE_LONGEST"])
@pytest.mark.parametrize("target", TARGETS)
def test_lengths_are_given_and_layers_gone_over_to_the_longest(target, program):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + globals()[program], "Net", "4", inputs, target)


STOOD_IN_FOR = """
class Plain(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)
        self.skip_add = nn.quantized.FloatFunctional()
    def forward(self, x):
        out = self.skip_add.add_relu(self.fc(x), x)
        return self.skip_add.cat([self.skip_add.mul(out, x), x], dim=1)
try:
    from xformers.ops import Fast
except ImportError:
    Fast = Plain
class Fused(Fast):
    def __init__(self, size):
        super().__init__(size)
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fused = Fused(n)
    def forward(self, x):
        return self.fused(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_class_is_made_from_what_stands_in_for_a_failed_import(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + STOOD_IN_FOR, "Net", "4", inputs, target)


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


PICKED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.Linear(4, 4)
        self.value = nn.Linear(4, 1)

    def forward(self, x, y):
        x = self.heads(x)
        b, n, d = x.shape
        order = torch.argsort(torch.arange(n).expand(b, n), dim=1, descending=True)
        kept = torch.gather(x, 1, order[:, :2].unsqueeze(-1).repeat(1, 1, d))
        spread = torch.gather(x, dim=1, index=torch.argsort(x.new_zeros(b, n), dim=1)[..., None].expand(-1, -1, d))
        first = y.gather(1, order[:1, :1].unsqueeze(-1))
        value = self.value(x).squeeze(-1) + x.mean(1, keepdim=True)[..., 0].squeeze(1)[:, None]
        return kept.sum() + (spread * y).sum(), first, value, x.max(2, keepdim=True)[0].squeeze(1)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_picked_along_an_axis_is_as_large_at_the_others(target):
    """An index of size 1 there, `order[:1]`, takes the first in torch, where jnp repeats it, and a
    dim of another size is not left out."""
    verify(HEAD + PICKED, "Net", "", [torch.randn(3, 5, 4, dtype=torch.float64)] * 2, target)
    (made,), _, _ = engine.convert([given(HEAD + PICKED)], "", target)
    assert "jnp.take_along_axis(x, order[:, :2][..., None], axis=1)" in made.code
    assert (made.code.count("nn.gather("), made.code.count("nn.squeeze(")) == (1, 1)


BUILT_BY_ITSELF = """
from collections import OrderedDict


def build(made):
    for key in made.keys():
        value = made[key]
        if isinstance(value, OrderedDict):
            value = build(value)
            made[key] = value
    return nn.Sequential(made)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        inner = OrderedDict([("a", nn.Linear(4, 4)), ("b", nn.Tanh())])
        self.body = build(OrderedDict([("a", nn.Linear(4, 4)), ("b", inner)]))

    def forward(self, x):
        return self.body(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_function_that_gives_itself_more_each_time_is_followed_to_an_end(target):
    verify(HEAD + BUILT_BY_ITSELF, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


DETECTS = """
import math


class Detect(nn.Module):
    stride = None  # set when the model is built

    def __init__(self, anchors, ch):
        super().__init__()
        self.nl, self.na, self.no = len(anchors), len(anchors[0]) // 2, 5
        self.register_buffer("anchors", torch.tensor(anchors).float().view(self.nl, -1, 2))
        self.m = nn.ModuleList(nn.Conv2d(c, self.no * self.na, 1) for c in ch)

    def forward(self, x):
        for i in range(self.nl):
            x[i] = self.m[i](x[i])
            b, _, h, w = x[i].shape
            x[i] = x[i].view(b, self.na, self.no, h, w).permute(0, 1, 3, 4, 2)
        if self.training:
            return x
        return [v * s * self.anchors.sum() for v, s in zip(x, self.stride)]


class Segment(Detect):
    pass


def parse(sizes):
    layers = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        m = nn.Sequential(nn.Conv2d(a, b, 3, 2, 1), nn.ReLU()) if i else nn.Conv2d(a, b, 3, 2, 1)
        m.i, m.f = i, -1
        layers.append(m)
    return nn.ModuleList(layers)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = parse([3, 4, 8])
        self.detect = Detect([[10, 13, 16, 30], [33, 23, 30, 61]], [4, 8])
        m = self.detect

        def _forward(x):
            return self.forward(x)[0] if isinstance(m, Segment) else self.forward(x)

        s = 32
        m.stride = torch.tensor([s / x.shape[-2] for x in _forward(torch.zeros(1, 3, s, s))])
        m.anchors /= m.stride.view(-1, 1, 1)
        self.stride = m.stride
        self._initialize_biases()

    def forward(self, x):
        kept = []
        for m in self.body:
            x = m(x) + m.i
            kept.append(x)
        return self.detect(kept)

    def _initialize_biases(self):
        m = self.detect
        for mi, s in zip(m.m, m.stride):
            b = mi.bias.view(m.na, -1)
            b.data[:, 4] += math.log(8 / (640 / s) ** 2)
            mi.bias = nn.Parameter(b.view(-1), requires_grad=True)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_detector_runs_itself_for_its_strides(target):
    verify(HEAD + DETECTS, "Net", "", [torch.randn(2, 3, 32, 32, dtype=torch.float64)], target)


def test_what_a_member_of_an_enum_fills_has_the_value():
    (made,), support, _ = engine.convert([given(HEAD + ENUM_THAT_FILLS)], "", "flax")
    model = converted(made.code, support)["Net"]()
    assert np.array_equal(model.scale[...], np.full(4, 0.5))
    assert np.array_equal(model.shift[...], np.ones(4))


def test_what_is_filled_in_turn_has_the_values():
    (made,), support, _ = engine.convert([given(HEAD + FILLED_IN_TURN)], "", "functional")
    net = converted(made.code, support)["Net"]
    params = net().init(jax.random.key(0))
    assert {name: float(array.sum()) for name, array in params.items()} == {"w": 6.0, "bias": 6.0}
    assert list(net(bias=False).init(jax.random.key(0))) == ["w"]


REGISTERS_EITHER_WAY = """
class Net(nn.Module):
    def __init__(self, lr=0.1):
        super().__init__()
        self.register("A", torch.ones(4), lr)
        self.register("B", torch.ones(4) * 2, 0.0)
        self.register("C", torch.ones(4) * 3)

    def register(self, name, tensor, lr=None):
        if lr == 0.0:
            self.register_buffer(name, tensor)
        else:
            self.register_parameter(name, nn.Parameter(tensor))
            setattr(getattr(self, name), "_optim", {"lr": lr})

    def forward(self, x, y):
        return x * self.A + y * self.B - self.C
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_registers_a_param_or_a_buffer(target):
    source = HEAD + REGISTERS_EITHER_WAY
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert [d.id for d in made.diagnostics] == ["frozen-param"] * (target != "flax")
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    scope = converted(made.code, support)
    with in_float64():
        ours = built(scope["Net"], scope["Net"])
        compare(namespace(source, "program")["Net"](), ours, inputs, target, False)


LISTS_MADE_OF_THEMSELVES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = [nn.Parameter(torch.ones(4) * i) for i in range(2)]
        self.scales.append(nn.Parameter(torch.ones(4) * 3))
        self.scales = nn.ParameterList(self.scales)
        self.shifts = {"a": nn.Parameter(torch.ones(4))}
        self.shifts = nn.ParameterDict(self.shifts)
        gains = {}
        for name in "cd":
            gains[name] = nn.Parameter(torch.ones(4) * 2)
        self.gains = nn.ParameterDict(gains)

    def forward(self, x):
        for p in self.scales:
            x = x + p
        return x * self.shifts["a"] * self.gains["c"] - self.scales[1] * self.gains["d"]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_list_of_params_is_made_of_itself(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + LISTS_MADE_OF_THEMSELVES, "Net", "", inputs, target)


CLASSES_ASKED_FOR = """
import functools
from typing import Generic, TypeVar

T = TypeVar("T", bound=nn.Module)


class Box(nn.Module, Generic[T]):
    def __init__(self, inner: T):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


class Deep(nn.Module):
    def __init__(self, n, depth=1):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.child = self.__class__(n, depth - 1) if depth else None

    @functools.cached_property
    def freqs(self):
        return torch.arange(4.0) / 4

    def forward(self, x):
        x = self.fc(x) * self.freqs
        return x if self.child is None else self.child(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.deep = Deep(4, 2)
        self.more = type(self.deep)(4, 0)
        self.box: Box[nn.Linear] = Box[nn.Linear](nn.Linear(4, 4))

    def forward(self, x):
        return self.deep(x) + self.more(x) * self.box(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_modules_are_made_of_a_class_that_is_asked_for(target):
    verify(HEAD + CLASSES_ASKED_FOR, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


@pytest.mark.parametrize("target", TARGETS)
def test_what_no_layer_has_is_refused(target):
    source = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lstm = nn.LSTM(4, 4)\n\n"
    source += "    def forward(self, x):\n        return self.lstm(x)[0] * len(self.lstm._flat_weights) * self.lstm.hidden_size\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert [(d.id, "_flat_weights" in d.message) for d in made.diagnostics] == [("unsupported", True)]


LISTS_OF_THEIR_OWN = """
class Shifted(nn.Sequential):
    def forward(self, x, shift):
        for layer in self:
            x = layer(x) + shift
        return x


class Chain(nn.ModuleList):
    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Shifted(nn.Linear(4, 4))
        self.a.add_module("last", nn.Tanh())
        b = Chain()
        for _ in range(2):
            b.append(nn.Linear(4, 4))
        self.b = b

    def forward(self, x, y):
        return self.a(x, y) + self.b(y) * len(self.b)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_containers_of_own_classes_grow(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + LISTS_OF_THEIR_OWN, "Net", "", inputs, target)


@pytest.mark.parametrize("target", TARGETS)
def test_walks_over_buffers_raise_where_they_run(target):
    source = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('a', torch.ones(4))\n\n"
    source += "    def forward(self, x):\n        return x + sum(b.sum() for _, b in self.named_buffers())\n"
    (made,), support, _ = engine.convert([given(HEAD + source)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"]
    assert "named_buffers()" in made.code and "for _, b in self.named_buffers()" not in made.code


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


ASKS_FOR_PARAMETERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = self.wrapped(nn.Parameter(torch.full((4,), 2.0)))
        self.v = self.wrapped(torch.full((4,), 2.0))
        self.fc = nn.Linear(4, 4)
        if isinstance(self.fc.bias, nn.Parameter):
            nn.init.zeros_(self.fc.bias)

    def wrapped(self, t):
        return t if isinstance(t, nn.Parameter) else nn.Parameter(t * 3)

    def forward(self, x):
        return self.fc(x) * self.w + self.v
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_becomes_a_parameter_is_none_yet(target):
    (made,), _, _ = engine.convert([given(HEAD + ASKS_FOR_PARAMETERS)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("unsupported", 17)]
    a, b = (
        ASKS_FOR_PARAMETERS.index("    def wrapped"),
        ASKS_FOR_PARAMETERS.index("    def forward"),
    )
    whole = ASKS_FOR_PARAMETERS[:a] + ASKS_FOR_PARAMETERS[b:]
    whole = whole.replace("self.wrapped(nn.Parameter(", "nn.Parameter((").replace(
        "self.wrapped(", "nn.Parameter("
    )
    verify(HEAD + whole, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


PARAMETERS_GIVEN_MORE = """
class Net(nn.Module):
    def __init__(self, device="cpu"):
        super().__init__()
        self.a = nn.init.ones_(nn.Parameter(torch.empty(4)))
        self.b = nn.init.constant_(nn.Parameter(torch.empty(4)), 3.0)
        self.c = nn.Parameter(torch.full((4,), 1.5)).requires_grad_(True)
        self.d = nn.Parameter(torch.full((4,), 2.5)).requires_grad_(requires_grad=True)
        self.e = nn.Parameter(torch.full((4,), 3.5)).to(device)
        self.f = nn.Parameter(torch.full((4,), 4.5)).cpu().requires_grad_()

    def forward(self, x):
        return x * self.a * self.b + self.c * self.d + self.e * self.f
"""


@pytest.mark.parametrize("target", TARGETS)
def test_each_parameter_is_one_whatever_is_asked_of_it(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + PARAMETERS_GIVEN_MORE, "Net", "", inputs, target)


WRITTEN_WHERE_TIED = """
class Tied(nn.Module):
    def __init__(self, tied=True):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 4), nn.Linear(4, 4)
        if tied:
            self.decoder.weight = self.encoder.weight
        self.init_weights()

    def init_weights(self):
        self.encoder.weight.data.normal_(0, 0.01)
        self.decoder.weight.data.fill_(2.0)

    def forward(self, x, y):
        return self.decoder(self.encoder(x) * y)
"""


@pytest.mark.parametrize("tied", [True, False])
def test_a_method_begins_what_is_tied_by_its_owner(tied):
    (made,), support, _ = engine.convert([given(HEAD + WRITTEN_WHERE_TIED)], "", "functional")
    params = converted(made.code, support)["Tied"](tied).init(jax.random.key(0))
    assert ("weight" in params["decoder"]) is not tied
    np.testing.assert_array_equal(params["encoder" if tied else "decoder"]["weight"], 2.0)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("target", TARGETS)
def test_what_is_tied_is_written_where_it_is(target, tied):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + WRITTEN_WHERE_TIED, "Tied", str(tied), inputs, target)
    (made,), support, _ = engine.convert([given(HEAD + WRITTEN_WHERE_TIED)], "", target)
    if target == "functional":
        return
    cls = converted(made.code, support)["Tied"]
    model = cls(tied, rngs=nnx.Rngs(0)) if target == "flax" else cls(tied, key=jax.random.key(0))
    np.testing.assert_array_equal((model.encoder if tied else model.decoder).weight, 2.0)
    assert (model.decoder.weight is None) is tied


PARAMETERS_MADE_ELSEWHERE = """
from torch.nn import Parameter as Param
import torch.nn.parameter as tp
from torch.nn.init import xavier_uniform_, zeros_
def make(n):
    return nn.Parameter(torch.full((n,), 2.0))
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a = xavier_uniform_(Param(torch.empty(n, n)))
        self.b = zeros_(tp.Parameter(torch.empty(n)))
        self.c = make(n)
        self.register_parameter(name="d", param=Param(torch.ones(n)))
        setattr(self, "e", tp.Parameter(torch.full((n,), 3.0)))
        w = Param(torch.full((n,), 3.0))
        nn.init.constant_(w, 5.0)
        self.f = w
        self.g = Param(torch.full((n,), 3.0)).float()
        ps = [Param(torch.full((n,), 1.0 + i)) for i in range(2)]
        self.h = ps[0]
        self.i = ps[1]
    def forward(self, x, y):
        return (x @ self.a) + self.b * self.c + self.d * self.e * y * self.f + self.g * self.h * self.i
"""


@pytest.mark.parametrize("target", TARGETS)
def test_each_parameter_is_one_wherever_it_is_made(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + PARAMETERS_MADE_ELSEWHERE, "Net", "4", inputs, target)


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


SMALLER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3, 4))
        self.register_buffer("row", torch.zeros(3, 4))

    def forward(self, x, y):
        self.mean = (x + y).mean(0).detach()
        self.row = x.detach()[1]
        return x + self.mean + self.row, self.mean, self.row
"""


def test_a_buffer_that_becomes_a_smaller_one_is_not_broadcast_in_flax():
    (made,), support, _ = engine.convert([given(HEAD + SMALLER)], "", "flax")
    theirs, x = namespace(HEAD + SMALLER, "program")["Net"](), torch.randn(2, 3, 4)
    ours = from_torch(theirs, converted(made.code, support)["Net"]())
    for got, wanted in zip(ours(*x.numpy()), theirs(*x), strict=True):
        assert got.shape == wanted.shape
        assert_close(got, wanted.numpy())


HALF_NORMS = """
class Net(nn.Module):
    @torch.no_grad()
    def forward(self, x, y):
        large, small = (x.abs() * 300 + 300).half(), (y * 1e-4).half()
        return [v.double() for v in (large.norm(), small.norm(dim=1), large.norm() / 4, (large / 4).std(1))]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_norms_of_half_types_are_those_of_float32(target):
    verify(HEAD + HALF_NORMS, "Net", "", [torch.randn(3, 4, dtype=torch.float64)] * 2, target)


UNREGISTERED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)
        HIDDEN

    def forward(self, x, y):
        return self.net(x) + HELD(y)
"""
UNREGISTERED_WAYS = {
    "a list": ("self.nets = [nn.Linear(4, 4)]", "self.nets[0]"),
    "a list of its own": ("nets = []; nets.append(nn.Linear(4, 4)); self.nets = nets", "self.nets[0]"),
    "a comprehension": ("self.nets = [nn.Linear(4, 4) for _ in range(2)]", "self.nets[1]"),
    "a dict": ("self.nets = {}; self.nets['a'] = nn.Linear(4, 4)", "self.nets['a']"),
    "past the registration": ("object.__setattr__(self, 'hid', nn.Linear(4, 4))", "self.hid"),
    "the object's dict": ("self.__dict__['hid'] = nn.Linear(4, 4)", "self.hid"),
}


@pytest.mark.parametrize("way", UNREGISTERED_WAYS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_module_that_torch_does_not_register_is_told(target, way):
    hidden, held = UNREGISTERED_WAYS[way]
    text = HEAD + UNREGISTERED.replace("HIDDEN", hidden).replace("HELD", held)
    (made,), support, _ = engine.convert([given(text)], "", target)
    found = [d.id for d in made.diagnostics]
    if target == "functional" and "hid" not in text:
        assert found == ["frozen-param", "module-value"]  # its params have no name of torch's
        return
    assert found == ["frozen-param"]
    theirs = namespace(text, "program")["Net"]().double()
    held_there = eval(held, {"self": theirs}).double()
    x, y = torch.randn(2, 3, 4, dtype=torch.float64)
    with in_float64():
        net = converted(made.code, support)["Net"]
        if target == "functional":
            got = net()(from_torch(theirs, net())[0], x.numpy(), y.numpy())
        else:
            first = {"rngs": nnx.Rngs(0)} if target == "flax" else {"key": jax.random.key(0)}
            filled = from_torch(theirs, net(**first))
            got = (filled[0] if target == "equinox" else filled)(x.numpy(), y.numpy())
        wanted = (theirs.net(x) + held_there(y)).detach().numpy()
        np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("target", ("flax", "equinox"))
def test_a_list_whose_modules_a_sequential_has_too_is_told(target):
    text = UNREGISTERED.replace("HIDDEN", "self.nets = [nn.Linear(4, 4)]; self.all = nn.Sequential(*self.nets)")
    (made,), _, _ = engine.convert([given(HEAD + text.replace("HELD", "self.nets[0]"))], "", target)
    assert [d.id for d in made.diagnostics] == ["shared-module"]


@pytest.mark.parametrize("target", ("functional", "equinox"))
@pytest.mark.parametrize("held", ["nn.ModuleList(heads)", "nn.ModuleList(list(heads))", "heads"])
def test_a_list_that_is_given_and_fills_two_containers_is_told(target, held):
    text = "class Net(nn.Module):\n    def __init__(self, heads):\n        super().__init__()\n"
    text += f"        self.heads = {held}\n        self.all = nn.Sequential(*heads)\n\n"
    text += "    def forward(self, x):\n        return self.all(x) + self.heads[0](x)\n"
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert "shared-module" in [d.id for d in made.diagnostics]


@pytest.mark.parametrize("target", ("functional", "equinox"))
def test_a_shallow_copy_of_a_module_is_told(target):
    text = "import copy\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text += "        self.a = nn.Linear(4, 4)\n        self.c = copy.copy(self.a)\n\n"
    text += "    def forward(self, x):\n        return self.a(x) + self.c(x)\n"
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == ["shared-module"]


NORMED_LAYER_IS_ASKED_FOR = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.utils.spectral_norm(nn.Linear(4, 4))
        self.out = nn.utils.weight_norm(nn.utils.weight_norm(nn.Linear(4, 4)), "bias")

    def forward(self, x):
        for layer in [self.fc, self.out]:
            x = layer(x) if isinstance(layer, nn.Linear) else x * 0
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_layer_with_a_norm_is_of_its_class(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + NORMED_LAYER_IS_ASKED_FOR, "Net", "", inputs, target)


IN_AN_OBJECT = """
from typing import NamedTuple


class Parts(NamedTuple):
    net: nn.Module
    scale: float = 2.0


class Kept:
    def __init__(self, net, scale):
        self.net = net
        self.scale = scale


class Asked:
    def __init__(self, net, scale):
        self.size = net.in_features
        self.scale = scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.held = HELD

    def forward(self, x):
        return self.net(x) * self.held.scale
"""
OBJECTS = {
    "Parts(self.net)": ["module-value"],
    "Kept(self.net, 2.0)": ["module-value"],
    "[Kept(self.net, 2.0)][0]": ["module-value"],
    "types.SimpleNamespace(net=self.net, scale=2.0)": ["module-value"],
    "Asked(self.net, 2.0)": [],
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("held", OBJECTS)
def test_an_object_that_holds_a_module_is_refused(target, held):
    text = "import types\n" + HEAD + IN_AN_OBJECT.replace("HELD", held)
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert [d.id for d in made.diagnostics] == OBJECTS[held]


SECOND_NAMES_OF_BEFORE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.a, self.b = self.b, self.a
        self.old = self.a
        self.a = nn.Linear(4, 4, bias=False)
        self.c = self.a or self.b

    def forward(self, x):
        return self.a(x) + self.b(x * 2) + self.old(x * 3) + self.c(x * 4)
"""


@pytest.mark.parametrize("target", ("functional", "flax"))
def test_what_has_a_name_of_what_came_to_be_another_is_that_of_before(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + SECOND_NAMES_OF_BEFORE, "Net", "", inputs, target)


def test_a_choice_of_two_submodules_is_told_in_equinox():
    (made,), _, _ = engine.convert([given(HEAD + SECOND_NAMES_OF_BEFORE)], "", "equinox")
    assert "self.a is one module in a and c" in " ".join(d.message for d in made.diagnostics)


GOES_OVER = """
class Part(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.ones(n))
        self.b = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        return x * self.w + self.b


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.second = Part(n)
        self.first = nn.Linear(n, n)
        self.parts = nn.ModuleDict({"z": Part(n), "a": nn.Linear(n, n)})

    def forward(self, x):
        for i, p in enumerate(self.parameters()):
            x = x * (i + 1) / 4 + p.sum()
        ps = list(self.first.parameters())
        return F.linear(x, ps[0], ps[1])
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_runs_goes_over_params_as_they_were_set(target):
    verify(HEAD + GOES_OVER, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


WALKED_AND_NOT = """
class Walked(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.z = nn.Linear(n, n)
        self.a = nn.Linear(n, 2 * n)

    def forward(self, x):
        for layer in self.children():
            x = layer(x)
        return x


class Other(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.on = True

    def forward(self, x):
        return self.fc(x) if self.on else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.other = Other(4)
        self.walked = Walked(4)

    def calm(self, m):
        if isinstance(m, Other):
            m.on = False

    def switch(self, on):
        self.apply(self.calm)
        for m in self.modules():
            if isinstance(m, Other):
                m.on = on

    def forward(self, x):
        return self.walked(self.other(x))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_the_classes_that_are_walked_know_an_order(target):
    """No others do, nor those whose modules are each set apart."""
    (made,), _, _ = engine.convert([given(HEAD + WALKED_AND_NOT)], "", target)
    assert made.code.count("_order = tuple(") == (target != "functional")


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


def test_a_walk_whose_order_is_all_the_same_needs_none():
    text = GOES_OVER.replace("        ps = list(self.first.parameters())\n", "")
    text = text.replace("return F.linear(x, ps[0], ps[1])", "return x * sum(p.sum() for p in self.parameters())")
    text = text.replace("for i, p in enumerate(self.parameters())", "for i, p in enumerate((x, x))")
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "flax")
    assert "_order" not in made.code and not made.diagnostics
    text = ASKS_FOR_THE_FIRST.replace("* weight[0]", "+ weight.data.new(3, 4).zero_()")
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "flax")
    assert "_order" not in made.code and not made.diagnostics


ONE_MEMORY = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = torch.ones(4, dtype=torch.float64)
        self.u = self.t
        self.register_buffer("b", self.t)
        self.t += 1
        self.b[0] = 5

    def forward(self, x):
        return x * self.t + self.u + self.b
"""


@pytest.mark.parametrize("target", TARGETS)
def test_arrays_of_one_memory_are_written_together(target):
    verify(HEAD + ONE_MEMORY, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


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


ASKED_FOR_ATTRIBUTES = """
def doubled(v):
    if hasattr(v, "astype"):
        return torch.from_numpy(v.astype("float64"))
    if hasattr(v, "cpu"):
        return v * 2
    return torch.tensor(v)


class Net(nn.Module):
    def forward(self, x):
        z = torch.relu(x)
        if hasattr(x, "at") or hasattr(z, "flat") or not hasattr(x, "unsqueeze"):
            z = z * 100
        return doubled(z) + doubled(1.0)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_attributes_that_tensors_have_are_asked_for(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + ASKED_FOR_ATTRIBUTES, "Net", "", inputs, target)


PARAMS_IN_BRANCHES = """
class Net(nn.Module):
    def __init__(self, shared):
        super().__init__()
        p = nn.Parameter(torch.zeros(4))
        if shared:
            self.w = p
            self.v = p
        else:
            self.w = p
            self.v = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return x * self.w + x.sin() * self.v
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shared", ("True", "False"))
def test_a_param_under_two_names_in_a_branch_is_one(target, shared):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + PARAMS_IN_BRANCHES, "Net", shared, inputs, target)


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


@pytest.mark.parametrize("target", ("flax", "equinox"))
def test_a_set_of_modules_is_refused(target):
    text = IN_AN_OBJECT.replace("HELD", "{self.net}").replace("self.held.scale", "(self.net in self.held)")
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"]


BUFFER_OF_TWO = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("c", torch.zeros(4))

    def forward(self, x):
        self.c += x.detach().mean(0)
        return x + self.c


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Part()
        self.b = Part()
        self.b.c = self.a.c

    def forward(self, x):
        return self.b(self.a(x))
"""


HANDED_TO_SEVERAL = """
class Part(nn.Module):
    def __init__(self, b):
        super().__init__()
        self.register_buffer("b", b)

    def forward(self, x):
        WRITE
        return x * self.b


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        b = torch.ones(4)
        HELD

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
"""


@pytest.mark.parametrize(
    "held, write, told",
    [
        ("self.parts = nn.ModuleList([Part(b), Part(b)])", "self.b += 1", 1),
        ("self.parts = nn.ModuleList([Part(b) for _ in range(2)])", "self.b += 1", 1),
        ("self.register_buffer('b', b); self.parts = nn.ModuleList([Part(b)])", "self.b += 1", 1),
        ("self.parts = nn.ModuleList([Part(t) for t in torch.eye(4)])", "self.b += 1", 0),
        ("self.parts = nn.ModuleList([Part(b)])", "self.b += 1", 0),
        ("self.parts = nn.ModuleList([Part(b), Part(b)])", "self.b = self.b + 1", 0),
    ],
)
def test_a_tensor_that_several_modules_are_given_and_write_is_told(held, write, told):
    text = HANDED_TO_SEVERAL.replace("HELD", held).replace("WRITE", write)
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "functional")
    assert [d.id for d in made.diagnostics] == ["aliased-write"] * told, made.code


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("write, told", [("self.c += x", ["aliased-write"]), ("self.c = self.c + x", [])])
def test_a_buffer_of_two_modules_that_is_written_in_place_is_told(target, write, told):
    text = BUFFER_OF_TWO.replace("self.c += x", write)
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == told


APART_FROM_TORCH = """
class Scaled(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.w = KEPT

    def forward(self, x):
        return x * self.w


class Plain:
    def __init__(self):
        self.fc = nn.Linear(4, 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.made = MADE

    def forward(self, x):
        return x
"""
MADE_APART = {
    "Scaled(torch.randn(4))": ("flax", "equinox"),
    "{'a': torch.randn(4)}": ("flax", "equinox"),
    "Plain()": ("functional", "flax", "equinox"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("made", MADE_APART)
def test_what_torch_saves_nothing_of_is_told(target, made):
    source = HEAD + APART_FROM_TORCH.replace("MADE", made).replace("KEPT", "w")
    (told,), _, _ = engine.convert([given(source)], "", target)
    ids = {d.id for d in told.diagnostics} & {"buffer-in-list", "module-value", "random-in-init"}
    assert len(ids) == 1


@pytest.mark.parametrize("target", ("flax", "equinox"))
def test_what_a_module_makes_a_param_of_is_saved(target):
    source = APART_FROM_TORCH.replace("MADE", "Scaled(torch.randn(4))").replace("KEPT", "nn.Parameter(w)")
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert not made.diagnostics


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_as_forward_is_told(target):
    source = "class Net(nn.Module):\n    def run(self, x):\n        return x * 2\n\n    forward = run\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"]


FROZEN_INSIDE = """
class Frozen(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def train(self, mode=True):
        super().train(mode)
        self.inner.eval()
        return self

    def forward(self, x):
        return self.inner(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.frozen = Frozen(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))

    def forward(self, x):
        return self.frozen(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_that_is_given_runs_in_the_mode_that_its_holder_sets(target):
    verify(HEAD + FROZEN_INSIDE, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kept", ["self.all[k] = p", "self.all.append(p)"])
def test_a_param_that_a_plain_container_has_too_is_told(target, kept):
    text = "class Net(nn.Module):\n    def __init__(self, names):\n        super().__init__()\n"
    text += f"        self.all = {'[]' if 'append' in kept else '{}'}\n        for k in names:\n"
    text += "            p = nn.Parameter(torch.ones(4))\n            self.register_parameter(k, p)\n"
    text += f"            {kept}\n\n    def forward(self, x):\n        return x * self.all[0]\n"
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert {d.id for d in made.diagnostics} & {"aliased-write", "shared-module"}


SET_BY_METHODS = """
class Base(nn.Module):
    def __init__(self, flipped):
        super().__init__()
        self.build()
        if flipped:
            self.d = nn.Linear(4, 4)
            self.c = nn.Linear(4, 4)
        else:
            self.c = nn.Linear(4, 4)
            self.d = nn.Linear(4, 4)

    def build(self):
        self.z = nn.Linear(4, 4)


class Net(Base):
    def __init__(self, flipped):
        super().__init__(flipped)
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        for i, p in enumerate(self.parameters()):
            x = x * (i + 1) / 4 + p.sum()
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("flipped", ("True", "False"))
def test_params_are_gone_over_in_the_order_of_the_run(target, flipped):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + SET_BY_METHODS, "Net", flipped, inputs, target)


# A size of the call before is an array of the state; what is made anew of sizes is none.
SIZES_LEFT = """
class Net(nn.Module):
    def __init__(self, cached=True):
        super().__init__()
        self.cached = cached
        self.width = 0
        self.rows = 0
        self.labels = {}

    def truth(self, n, device):
        if self.rows != n or device not in self.labels:
            labels = torch.arange(n, device=device)
            if self.cached:
                self.labels[device] = labels
                self.rows = n
        else:
            labels = self.labels[device]
        return labels

    def forward(self, x, y):
        if self.width != x.shape[1]:
            x = x + 1
            self.width = x.shape[1] + 1
        return F.cross_entropy(x @ y.T, self.truth(len(x), x.device)) + y.sum() * (self.width > 0)
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("cached", ("True", "False"))
def test_sizes_that_a_call_leaves_are_state_unless_they_are_of_a_cache(target, cached):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + SIZES_LEFT, "Net", cached, inputs, target)


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


WRAPPED_BYTES = """
class Net(nn.Module):
    def forward(self, x):
        a = (x * 100).to(torch.uint8) + (-x * 300).byte() - (x * 500).type(torch.uint8)
        b = (x.sigmoid() * 255 + 0.5).to(device=x.device, dtype=torch.uint8)
        return a.double(), b.double(), (x > 0).to(torch.uint8).double()
"""


@pytest.mark.parametrize("target", TARGETS)
def test_floats_wrap_as_bytes(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + WRAPPED_BYTES, "Net", "", inputs, target)


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


BEGUN_WITHOUT = """
class Net(nn.Module):
    def __init__(self, scaled=True):
        super().__init__()
        self.down, self.scale = None, None
        self.a = nn.Parameter(torch.ones(4))
        self.b = nn.Parameter(torch.ones(4) * 2)
        self.up = nn.GRU(4, 4)
        del self.b
        self.shifts = nn.ParameterList(None)
        if scaled:
            self.scale = nn.Parameter(torch.ones(4) * 3)
            self.down = nn.Linear(4, 4)
        self.b = nn.Parameter(torch.ones(4) * 5)
        self.end = nn.Linear(4, 4)

    def forward(self, x):
        for i, p in enumerate(self.parameters()):
            x = x * (i + 1) / 4 + p.sum()
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_constructor_sets_to_none_first_has_no_place_yet(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + BEGUN_WITHOUT, "Net", "", inputs, target)


NO_LAYERS = """
class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.turns = len(sizes) - 1
        self.fcs = nn.ModuleList()
        for i in range(self.turns):
            self.fcs.append(nn.Linear(sizes[i], sizes[i + 1]))
        n = len(sizes)
        self.net = nn.Sequential(*[nn.Linear(sizes[i], sizes[i + 1]) for i in range(n - 1)])
        self.deep = nn.ModuleList([nn.Linear(4, 4) for _ in range(n - 2)])
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        for fc in [*self.fcs, *self.deep]:
            x = fc(x)
        return self.fc(self.net(x))
"""


@pytest.mark.parametrize("sizes", ["[]", "[4, 4, 4]"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_range_below_zero_has_no_turns(target, sizes):
    verify(HEAD + NO_LAYERS, "Net", sizes, [torch.randn(3, 4, dtype=torch.float64)], target)


KEEPS_PARAMS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fcs = nn.ModuleList([nn.Linear(4, 4)])
        self.ws = [fc.weight for fc in self.fcs]

    def forward(self, x):
        return self.fcs[0](x) * self.ws[0].sum()

    def again(self):
        self.ws = [fc.weight for fc in self.fcs]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_list_of_params_that_is_set_anew_is_no_state(target):
    """It would have copies of them, which nothing trains."""
    (made,), _, _ = engine.convert([given(HEAD + KEEPS_PARAMS)], "", target)
    assert ("module-value", 11) in [(d.id, d.line) for d in made.diagnostics]
    source = KEEPS_PARAMS.replace("def again", "def __setstate__")
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert made.diagnostics


EXTENDS_A_LIST = """
class Layers(nn.ModuleList):
    def __init__(self, n):
        super().__init__([nn.Linear(4, 4) for i in range(n)])
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = Layers(2)

    def forward(self, x):
        return self.layers(x)
"""
EXTENDS_A_LIST_OF_PARAMS = """
class Scales(nn.ParameterList):
    pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = Scales([nn.Parameter(torch.ones(4) * 3)])

    def forward(self, x):
        return x * self.scales[0] + len(self.scales)
"""
FORWARDS = """
class Wrapped(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.model, name)

    def forward(self, x):
        return self.model(x)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.dim = nn.Linear(4, 4), 4

    def forward(self, x):
        return self.fc(x)

    def twice(self, x):
        return self.fc(x) * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wrapped = Wrapped(Inner())

    def forward(self, x):
        return self.wrapped(x) + self.wrapped.twice(x) + self.wrapped.dim
"""


FORWARDS_A_PARAM = (
    FORWARDS.replace("self.wrapped.twice(x)", "self.wrapped.bias")
    .replace("Wrapped(Inner())", "Wrapped(nn.Linear(4, 4))")
    .replace("wrapped.dim", "wrapped.in_features")
)


@pytest.mark.parametrize(
    "program", ["EXTENDS_A_LIST", "EXTENDS_A_LIST_OF_PARAMS", "FORWARDS", "FORWARDS_A_PARAM"]
)
@pytest.mark.parametrize("target", TARGETS)
def test_classes_that_have_no_form_in_one_output_are_told_there(target, program):
    refusing = {
        "flax": "EXTENDS_A_LIST",
        "functional": "EXTENDS_A_LIST_OF_PARAMS FORWARDS FORWARDS_A_PARAM",
    }
    if program not in refusing.get(target, "").split():
        verify(
            HEAD + globals()[program], "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target
        )
        return
    (made,), _, _ = engine.convert([given(HEAD + globals()[program])], "", target)
    assert {d.id for d in made.diagnostics} <= {"unsupported", "module-value"} and made.diagnostics


@pytest.mark.parametrize(
    "said",
    [
        "sorted([x.sum(), y.sum()])[0]",
        "sorted([x, y], key=lambda t: t.sum())[0]",
        "max(x, y, key=lambda t: t.abs().sum())",
        "min([x.sum(), y.sum()], key=lambda t: t)",
        'len(f"{x.sum():.3f}")',
        'len("loss {:.3f}".format(x.mean().item()))',
        'len("loss %.3f" % x.mean().item())',
    ],
)
def test_what_python_asks_of_data_is_refused(said):
    source = f"def f(x: torch.Tensor, y: torch.Tensor):\n    return {said} * x\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "functional")
    assert [(d.id, d.line) for d in made.diagnostics] == [("unsupported", 7)], made.code


def test_what_python_knows_of_data_is_asked():
    source = "def f(xs, y):\n    first = sorted(xs, key=lambda t: t.shape[0])[0]\n    n = f'{y.shape[0]:3d}'\n"
    source += "    print(f'{y.mean():.3f}')\n    if y.shape[0] > 9:\n        raise ValueError(f'{y.sum():.1f}')\n"
    source += "    return first * len(n) + max(y.shape, key=lambda n: n % 3) + len(sorted({'b': y, 'a': 1}))\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "functional")
    assert not made.diagnostics, made.diagnostics


BASE_BY_A_DECORATOR = """
class State(object):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.key = "k"

    def full(self, key):
        return self.key + key

    def twice(self, kept, x):
        return x * (3 if kept is None else kept[self.full("a")])


def with_state(cls):
    cls.__bases__ = (State,) + tuple(b for b in cls.__bases__ if b != State)
    return cls


class Decoder(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n


@with_state
class Net(Decoder):
    '''Decodes.'''

    def __init__(self):
        super().__init__(4)
        self.fc = nn.Linear(4, self.n)

    def forward(self, x, kept=None):
        return self.twice(kept, self.fc(x))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_decorator_gives_a_class_its_first_base(target):
    verify(HEAD + BASE_BY_A_DECORATOR, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


LAYERS_SET_ANEW = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bns = nn.Sequential(nn.Linear(n, n), nn.BatchNorm1d(n), nn.ReLU(), nn.BatchNorm1d(n))
        for m in self.modules():
            if isinstance(m, nn.BatchNorm1d):
                m.momentum = 0.5
                m.eps = 0.01
        self.net = nn.Sequential(nn.Linear(n, n), nn.ReLU(), nn.Linear(n, n))
        self.net[1] = nn.Tanh()
        self.net[2].bias = None
        self.fc = nn.Linear(n, n)
        self.fc.weight.data[0] = 1
        self.fc.bias.data.fill_(0.5)
        with torch.no_grad():
            self.fc.weight[:, 1] = 2.0
            self.fc.bias += 1
    def forward(self, x, y):
        return self.net(self.bns(x)) + F.linear(y, self.fc.weight, self.fc.bias) + len(self.net) + self.net[0].weight.sum()
"""
DROPOUTS_SET_ANEW = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, n), nn.Dropout(0.9))
        for m in self.modules():
            if isinstance(m, nn.Dropout):
                m.p = 0.0
        self.d = nn.Dropout(0.5)
        self.d.p = 0.0
    def forward(self, x, y):
        return self.net(x) * (1 + self.d.p) + y
"""


@pytest.mark.parametrize("program", ["LAYERS_SET_ANEW", "DROPOUTS_SET_ANEW"])
@pytest.mark.parametrize("target", TARGETS)
def test_layers_are_set_anew_by_what_builds_them(target, program):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + globals()[program], "Net", "4", inputs, target)


def test_an_attribute_that_has_another_name_in_some_layers_is_told():
    source = DROPOUTS_SET_ANEW.replace("(m, nn.Dropout)", "(m, (nn.Dropout, nn.Dropout2d))")
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "flax")
    assert [d.id for d in made.diagnostics] == ["unsupported"]


TAKES_LAYERS_AWAY = """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.head = nn.Linear(4, 4), nn.Linear(4, 2)
        self.g = nn.Parameter(torch.ones(4))
        self.register_buffer("b", torch.ones(4))


class Net(Base):
    def __init__(self, i):
        super().__init__()
        w = self.g
        del self.head, self.b
        del self.g
        self.h = nn.Parameter(w.data * 2)
        self.sub = nn.ModuleList([nn.Tanh(), nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 4)])
        del self.sub[0]
        self.some = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)])
        del self.some[i:]
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.BatchNorm1d(4))
        del self.seq[0]
        del self.seq[-1]
        self.net = nn.Sequential()
        self.net.add_module("first", nn.Linear(4, 4))
        for _ in range(i):
            self.net.append(nn.Linear(4, 4))

    def forward(self, x):
        x = self.net(self.seq(self.sub[1](self.sub[0](x)))) * self.h
        for fc in self.some:
            x = fc(x)
        return self.fc(x) * self.sub[0].weight.sum() + len(self.seq)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_constructor_takes_layers_and_params_away(target):
    verify(HEAD + TAKES_LAYERS_AWAY, "Net", "2", [torch.randn(3, 4, dtype=torch.float64)], target)


@pytest.mark.parametrize("asked", ['hasattr(self, "g")', 'getattr(self, "g", None) is not None'])
def test_a_param_is_not_taken_away_where_it_is_asked_for_by_name(asked):
    asking = f"        self.fc = nn.Identity() if {asked} else self.fc\n"
    source = TAKES_LAYERS_AWAY.replace("        self.h =", asking + "        self.h =")
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "functional")
    assert [(d.id, d.line) for d in made.diagnostics] == [("module-value", 20)]


LISTS_AND_TABLES = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(n)) for _ in range(2)])
        self.table = nn.Embedding.from_pretrained(torch.arange(12.0).view(3, 4), freeze=False)
        self.bags = nn.EmbeddingBag.from_pretrained(torch.ones(3, 4), freeze=False)

    def forward(self, x, y):
        rows = self.table(torch.tensor([0, 2, 1])) + self.bags(torch.tensor([[0, 2]]))
        return x * rows * sum(p.sum() for p in self.scales) + y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_tables_that_are_given_and_sums_over_a_list_of_params(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + LISTS_AND_TABLES, "Net", "4", inputs, target)


# `isinstance` says which of the classes of a container a layer has.
NARROWED = """
class Masked(nn.Linear):
    def __init__(self, n, m):
        super().__init__(n, m)
        self.register_buffer("mask", torch.ones(m, n))

    def set_mask(self, mask):
        self.mask.data.copy_(mask)

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(Masked(n, n), nn.ReLU(), Masked(n, n))
        for m in self.net:
            if isinstance(m, Masked):
                m.set_mask(torch.ones(n, n).triu())

    def forward(self, x, y):
        for m in self.net:
            if not isinstance(m, Masked):
                y = m(y)
                continue
            x = m(x) * m.mask[0]
        return x + y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_classes_are_narrowed_by_isinstance(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + NARROWED, "Net", "4", inputs, target)


# A static method that is given the module it is asked of is a method: its cache is one.
GIVEN_ITSELF = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.made_for = None
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x, y):
        return self.fc(x) * self.grid(self, x) + self.counted(self, y)

    @staticmethod
    def grid(self, x):
        if self.made_for == (x.size(0), x.size(1)):
            return self.made
        self.made_for = x.size(0), x.size(1)
        self.made = torch.arange(4) * 2.0
        return self.made

    @staticmethod
    def counted(self, y):
        self.calls += 1
        return self.fc(y) * self.calls
"""


@pytest.mark.parametrize("target", TARGETS)
def test_static_methods_that_are_given_the_module(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + GIVEN_ITSELF, "Net", "4", inputs, target)


# Params that are made of those of a module that is built for them alone.
MADE_OF_LENT = """
class Pair(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.shift = nn.Parameter(torch.ones(n))


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        BUILD

    def forward(self, x, y):
        return self.fc(x) @ self.weight.reshape(-1, 4)[:4] + y
"""
LENT = [
    "layer = nn.Linear(n, n)\n        self.weight = layer.weight",
    "self.weight = nn.Linear(n, n).weight",
    "layer = nn.Linear(n, n)\n        self.weight = nn.Parameter(layer.weight * 2 + layer.bias)",
    "pair = Pair(n)\n        self.weight = nn.Parameter(pair.fc.weight + pair.shift)",
    "table = nn.Embedding(n, n)\n        nn.init.ones_(table.weight)\n"
    "        self.weight = nn.Parameter(table.weight.detach().clone())",
    "layer = nn.Linear(n, n)\n        self.size = layer.weight.shape[0]\n"
    "        self.weight = nn.Parameter(layer.weight.clone())",
    "self.weight = nn.Parameter(torch.empty(2, n, n))\n        with torch.no_grad():\n"
    "            for i in range(2):\n                layer = nn.Linear(n, n)\n"
    "                self.weight[i] = layer.weight.T",
]


@pytest.mark.parametrize("build", LENT)
@pytest.mark.parametrize("target", TARGETS)
def test_params_that_are_made_of_those_of_a_module_of_their_own(target, build):
    source = HEAD + MADE_OF_LENT.replace("BUILD", build)
    (made,), support, _ = engine.convert([given(source)], "", target)
    net = converted(made.code, support)["Net"]
    model = built(partial(net, 4), net)
    arrays = to_torch(model.init(jax.random.key(0)) if target == "functional" else model)
    assert set(arrays) == {"fc.weight", "fc.bias", "weight"}
    assert np.all(np.any(np.asarray(arrays["weight"]), axis=(-2, -1)))
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(source, "Net", "4", inputs, target)


# The fields of a mixin whose constructor no one calls, in a class that has no constructor.
FIELDS_OF_A_MIXIN = """
class Counted:
    def __init__(self, *args):
        self.start(2)
        self.args = args

    def start(self, n):
        if getattr(self, "begun", False):
            return
        self.begun = True


class Base(nn.Module, Counted):
    def size(self):
        return sum(1 for _ in self.children())


class Net(Base):
    def __init__(self):
        super().__init__()
        self.start(1)
        self.fc = nn.Linear(4, 4)
        self.out = nn.Linear(4, 4)

    def forward(self, x, y):
        for layer in self.children():
            x = torch.tanh(layer(x))
        return x + y
"""


def test_fields_of_a_mixin_that_is_not_constructed():
    (made,), support, _ = engine.convert([given(HEAD + FIELDS_OF_A_MIXIN)], "", "equinox")
    net = converted(made.code, support)["Net"]
    model, state = eqx.nn.make_with_state(net)(key=jax.random.key(0))
    x = jnp.ones((3, 4))
    out, _ = model(x, x, state)
    assert jnp.allclose(out, jnp.tanh(model.out(jnp.tanh(model.fc(x)))) + x)


# A class that extends a container, in a program that goes over the parts of modules in their order.
SEQUENCE_IN_ORDER = """
class Block(nn.Sequential):
    def __init__(self, n):
        super().__init__(nn.Linear(n, n), nn.Tanh())


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = Block(n)
        self.after = nn.Linear(n, n)

    def forward(self, x, y):
        for layer in self.children():
            x = layer(x)
        return x + y
"""


def test_a_container_of_the_users_in_a_walk():
    (made,), support, _ = engine.convert([given(HEAD + SEQUENCE_IN_ORDER)], "", "equinox")
    net = converted(made.code, support)["Net"]
    model, state = eqx.nn.make_with_state(net)(4, key=jax.random.key(0))
    x = jnp.ones((3, 4))
    out, _ = model(x, x, state)
    assert jnp.allclose(out, model.after(jnp.tanh(model.fc.layers[0](x))) + x)


# Lists and dicts that are filled with arrays of NumPy's are constants.
FILLED_WITH_NUMPY = """
import numpy as np


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.sizes = {}
        self.steps = [np.arange(4.0), 2]
        for i in range(3):
            self.sizes[i] = np.arange(i, i + n)
        self.ones = []
        self.ones.append(np.ones(n))

    def forward(self, x, y):
        x = self.fc(x) + torch.from_numpy(self.sizes[1]) * torch.tensor(self.steps[0])
        return x * self.steps[1] + y * torch.tensor(self.ones[0]) + len(self.sizes)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_lists_and_dicts_of_numpy(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + FILLED_WITH_NUMPY, "Net", "4", inputs, target)


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


def test_a_branch_on_a_flag_that_is_kept_reads_its_array():
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = True

    def forward(self, x):
        if self.first:
            self.first = False
            x = x * 2
        return x
"""
    (made,), support, _ = engine.convert([given(HEAD + source)], "", "flax")
    run = nnx.jit(lambda net, x: net(x))
    net = converted(made.code, support)["Net"]()
    assert [float(run(net, jnp.ones(()))) for _ in range(2)] == [2.0, 1.0]


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


# Equinox takes a module without five of its fields for one that has all.
FIVE_ARE_UNSET = """
class Net(nn.Module):
    def __init__(self, n=0):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        if n > 0:
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        if n > 1:
            self.w, self.act = nn.Parameter(torch.ones(4)), nn.Tanh()
        if n > 2:
            self.scale = n / 2

    def forward(self, x):
        x = self.fc(x)
        if hasattr(self, "a"):
            x = self.b(self.a(x))
        if hasattr(self, "w"):
            x = self.act(x * self.w)
        return x * getattr(self, "scale", 2.0)
"""


@pytest.mark.parametrize("n", [0, 1, 3])
def test_fields_that_a_constructor_leaves_unset(n):
    verify(
        HEAD + FIVE_ARE_UNSET, "Net", f"{n}", [torch.randn(3, 4, dtype=torch.float64)], "equinox"
    )


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


CONSTRUCTOR_DECORATED = """
def has_config(init):
    def wrapper(self, *args, **kwargs):
        self.config = dict(kwargs)
        init(self, *args, **kwargs)

    return wrapper


class Net(nn.Module):
    @has_config
    def __init__(self, n=4):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return self.fc(x)
"""


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_what_a_decorator_sets_of_all_that_a_constructor_is_given_is_told(target):
    (made,), _, _ = engine.convert([given(HEAD + CONSTRUCTOR_DECORATED)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("unsupported", 9)]


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


INDICES_AND_NUMBERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, pad_mask, ids):
        h = self.fc(x)
        h[pad_mask[..., None].tile(1, 1, 4)] = 0
        kept = pad_mask.unsqueeze(-1).repeat(1, 1, h.shape[-1])
        ids = ids.long()
        return h, x[kept].mean(), torch.sigmoid(ids), ids.rsqrt(), ids.exp()
"""


@pytest.mark.parametrize("target", TARGETS)
def test_indices_that_are_called_masks_and_functions_of_whole_numbers(target):
    inputs = [
        torch.randn(2, 3, 4, dtype=torch.float64),
        torch.randn(2, 3) > 0,
        torch.tensor([1, 2]),
    ]
    verify(HEAD + INDICES_AND_NUMBERS, "Net", "", inputs, target)
    source = (
        HEAD
        + "class Net(nn.Module):\n    def forward(self, x, mask):\n        return x[mask[..., None].tile(1, 4)]\n"
    )
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert [(d.line, d.id) for d in made.diagnostics] == [(8, "data-dependent-shape")]


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


OF_LIBRARIES = """
try:
    from apex.normalization import FusedLayerNorm as _Fused

    class Norm(_Fused):
        def forward(self, x):
            return super().forward(x)
except ImportError:
    from torch.nn import LayerNorm as Norm


class Rows(nn.Embedding):
    def forward(self, x):
        return F.embedding(
            x, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.rows = Rows(5, n, 1)
        self.norm = Norm(n)

    def masked(x, mask):
        return x.masked_fill(mask, 0.5)

    def forward(self, x, tokens):
        x = Net.masked(self.norm(x + self.rows(tokens)), (tokens == 1).unsqueeze(-1))
        assert list(x.size()) == [3, 4]
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_stands_in_for_a_library_and_is_asked_of_a_class(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64), torch.tensor([0, 1, 2])]
    verify(HEAD + OF_LIBRARIES, "Net", "4", inputs, target)


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


TAKES_ENTRIES_AWAY = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.d = nn.ModuleDict({name: nn.Linear(n, n) for name in "abc"})
        self.last = self.d.pop("b")
        del self.d["a"]
        self.scale = nn.Parameter(torch.ones(n))

    def forward(self, x):
        for name in self.d:
            x = self.d[name](x)
        return self.last(x) * len(self.d) * self.scale
"""


@pytest.mark.parametrize("target", TARGETS)
def test_entries_of_a_dict_of_modules_are_taken_away(target):
    verify(HEAD + TAKES_ENTRIES_AWAY, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


def test_a_param_that_a_method_sets_to_none_is_one_still():
    source = HEAD + TAKES_ENTRIES_AWAY + "\n    def remove(self):\n        self.scale = None\n"
    (made,), _, _ = engine.convert([given(source)], "", "flax")
    assert [d.id for d in made.diagnostics] == ["dynamic-attribute"]
    assert "self.scale = nnx.Param(" in made.code


@pytest.mark.parametrize("target", TARGETS)
def test_the_truth_of_an_array_that_may_lack_is_told_where_it_is_no_branch(target):
    source = "class Net(nn.Module):\n    def __init__(self, b=True):\n        super().__init__()\n"
    source += "        self.b = nn.Parameter(torch.ones(1)) if b else None\n\n"
    source += "    def forward(self, x):\n        return x + self.b if self.b else x\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert [d.id for d in made.diagnostics] == ["traced-branch"], made.code


@pytest.mark.parametrize("target", TARGETS)
def test_the_truth_of_one_element_keeps_its_comments(target):
    (made,), _, _ = engine.convert([given(HEAD + TRUTH_OF_ONE_ELEMENT)], "", target)
    assert "# a number" in made.code and "# below it" in made.code, made.code


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("picked", ["self.layers[x.argmax() % 2](x)", "self.layers[(x.sum() > 0).long().item()](x)"])
def test_a_module_that_data_pick_from_a_list_is_told(picked, target):
    source = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += "        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])\n\n"
    source += f"    def forward(self, x):\n        return {picked}\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert "traced-branch" in [d.id for d in made.diagnostics], made.code


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kept", ["[lambda t, fc=self.fc: fc(t)]", "[lambda t, *, fc=self.fc: t + fc(t)]"])
def test_a_kept_lambda_with_a_module_as_a_default_is_told(kept, target):
    source = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += f"        self.fc = nn.Linear(4, 4)\n        self.fs = {kept}\n\n"
    source += "    def forward(self, x):\n        return self.fs[0](x)\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"], made.code


def test_a_sequential_for_one_call_keeps_its_comments():
    (made,), _, _ = engine.convert([given(HEAD + SEQUENTIAL_FOR_ONE_CALL)], "", "functional")
    assert "# those that are kept" in made.code, made.code


CARRIED_MODULE = """
def default(value, other):
    return value if value is not None else other


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = nn.BatchNorm1d(n)

    def forward(self, x, f: nn.Module | None = None):
        if x.mean() > 0:
            f = default(f, self.norm)
            x = f(x)
        return x * 2
"""


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


GIVEN_BACK = """
def default(value, other):
    return value if value is not None else other


def chunked(x, size):
    chunks = []
    for i, chunk in enumerate(x.split(size)):
        start = i * size
        if start > 1:
            chunk = chunk * 2
        chunks.append(chunk)
    return torch.cat(chunks)


class Block(nn.Module):
    def __init__(self, size=2):
        super().__init__()
        self.size = size

    def forward(self, x, context=None, size=None):
        return chunked(default(context, x), default(size, self.size))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(Block())

    def forward(self, x):
        return self.block(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_number_and_an_array_that_a_function_gives_back(target):
    verify(HEAD + GIVEN_BACK, "Net", "", [torch.rand(5, 3, dtype=torch.float64)], target)


def test_a_module_that_a_branch_sets_goes_in_once():
    inputs = [torch.rand(3, 4, dtype=torch.float64)]
    verify(HEAD + CARRIED_MODULE, "Net", "4", inputs, "flax")


@pytest.mark.parametrize("target", TARGETS)
def test_a_part_of_the_forward_of_a_layer_is_overridden(target):
    source = "class Net(nn.TransformerEncoderLayer):\n    def _ff_block(self, x):\n        return x * 0.5\n"
    inputs = [torch.randn(2, 3, 4, dtype=torch.float64)]
    verify(HEAD + source, "Net", "4, 2, 8, 0.0, batch_first=True", inputs, target)


def test_a_generator_gives_no_changed_module():
    source = "def swapped(module):\n    module.scale = 2.0\n    yield\n    module.scale = 1.0\n\n\n"
    source += "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.scale = 1.0\n\n"
    source += "    def forward(self, x):\n        for _ in swapped(self):\n            x = x * self.scale\n        return x\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "equinox")
    assert "parameter-write" in [d.id for d in made.diagnostics]


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_the_truth_of_a_bias_is_whether_it_is_there(target):
    (made,), support, _ = engine.convert([given(HEAD + TRUTH_OF_A_BIAS)], "", target)
    cls = converted(made.code, support)["Net"]
    with in_float64():
        ours = built(lambda **keys: cls(**keys), cls)
    ours = ours[0] if isinstance(ours, tuple) else ours
    got = [np.unique(np.asarray(a)).tolist() for a in (ours.fc.weight, ours.one.weight, ours.one.bias)]
    assert got == [[0.25], [0.5], [3.0]], made.code


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


ORDERED_BY_A_CONSTANT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.order = torch.tensor([2, 0, 1])

    def forward(self, x):
        for i in self.order.tolist():
            x = torch.tanh(self.layers[i](x))
        return x
"""


@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_a_constant_is_known_under_jit(target):
    verify(HEAD + ORDERED_BY_A_CONSTANT, "Net", "", [torch.rand(3, 4, dtype=torch.float64)], target)
