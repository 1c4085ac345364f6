"""What the output looks like: small programs, the lines that an engineer would have typed, and the
numbers of torch."""

import pytest
import torch

from transpile.command import engine

from .small import HEAD, TARGETS, program
from .verified import given, verify

NONE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y=None, z=None):
        if z == None:
            z = torch.ones(4)
        if y != None and x.sum() > 0:
            x = x + y
        return self.fc(x) * (2 if None == z else z)
"""
INITIAL = """
import math

INI = 1e-2


class Net(nn.Module):
    def __init__(self, n=4, m=4, std=0.5, scale=0.1):
        super().__init__()
        self.w = nn.Parameter(torch.Tensor(n, m))
        nn.init.uniform_(self.w, -INI, INI)
        self.v = nn.Parameter(torch.zeros(n, m))
        nn.init.normal_(self.v, 0, std)
        self.u = nn.Linear(n, m)
        self.scale = scale
        self.u.weight.data.normal_(0, math.sqrt(2.0 / n))
        self.u.weight.data.uniform_(-0.5 / n**0.5, 0.5 / n**0.5)
        nn.init.constant_(self.u.bias, 1.0)
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, nn.Linear):
            m.weight.data.normal_(mean=0.0, std=self.scale)

    def forward(self, x, y):
        return x @ self.w @ self.v + self.u(x)
"""
HELD = """
class Net(nn.Module):
    def __init__(self, n=4, bias=True):
        super().__init__()
        proj = nn.Linear(n, n, bias=bias)
        nn.init.zeros_(proj.weight)
        nn.init.zeros_(proj.bias)
        self.q = nn.Linear(n, n, bias=bias)
        self.k = nn.Linear(n, n, bias=bias)
        nn.init.constant_(self.q.bias, 2.0)
        nn.init.constant_(self.k.weight, 1)
        self.proj = proj

    def forward(self, x, y):
        b = torch.cat([self.q.bias, self.k.bias])
        return self.proj(x).relu() + self.q(y) + b[:4]
"""
FILLED = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.fc.bias.data.fill_(1.0)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x, y):
        d = self.fc(x) @ y.t()
        d.view(-1)[::4].fill_(-1)
        d[0].zero_()
        d[1, 1:].fill_(1)
        d[1, :1].fill_(2.5)
        e = torch.zeros_like(y)
        e[:, 1].fill_(float("-inf"))
        m = y > 0
        m[0].fill_(False)
        self.seen.fill_(1)
        return d, e.exp(), y.masked_fill(m, 0.0)
"""
NUMBERS = """
class Net(nn.Module):
    def __init__(self, window_size=4, config=3.0):
        super().__init__()
        self.config = config
        rel = torch.arange(4)[:, None] * torch.tensor([2 * window_size - 1, 1])
        self.register_buffer("rel", rel)

    def forward(self, x, y):
        b = x[:, :2] * torch.tensor([self.config, 2.0])
        scale = y.size(0) / 2
        c = b * torch.tensor(scale)
        d = torch.tensor([1.0, 2.0]) + torch.tensor(x.shape[0])
        m = x.max().item()
        k = x.argmax().item()
        if x.mean().item() > 0:
            c = c + k
        return b + c + d.sum() * m
"""
CONSTANTS = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.fc = nn.Linear(n, n)
        used = torch.arange(n)
        self.register_buffer("used", used.float() + 1, persistent=False)
        self.re = self.used.shape[0]

    def forward(self, x, y):
        device = x.device
        z = torch.zeros(3, device=device)
        if y.shape[0] > self.used.shape[0]:
            y = y + 1
        x = x + self.used.to(device, dtype=x.dtype)
        x = x * self.used[0] + self.used * 2
        return self.fc(x) + self.used.to(x.device) + z.sum() + y
"""
LISTED = """
class Net(nn.Module):
    def __init__(self, n=4, depth=2):
        super().__init__()
        self.fcs = []
        for _ in range(depth):
            self.fcs.append(nn.Linear(n, n))
            self.fcs += [nn.Tanh()]
        # all of them
        self.fcs = nn.ModuleList(self.fcs)
        self.pair = nn.ModuleList(nn.Linear(n, n) for _ in range(2))

    def forward(self, x, y):
        for fc in self.fcs:
            x = fc(x)
        return self.pair[0](x) + self.pair[1](y)
"""
MADE_IN_PLACE = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.fc = nn.Linear(n, n)
        # sines
        self.pe = torch.zeros(3, n)  # of places
        self.pe.requires_grad = False
        where = torch.arange(3).unsqueeze(1)
        self.pe[:, 0::2] = torch.sin(where / 3.0)
        for i in range(3):
            self.pe[i][1] = i * 0.5  # each
        self.pe[2] += self.pe[0]
        self.half = self.pe[:1] * 0.5

    def forward(self, x, y):
        return self.fc(x) + self.pe + self.half
"""
PIECES = """
class Net(nn.Module):
    def __init__(self, n=1):
        super().__init__()
        self.n = n
        self.w = nn.Parameter(torch.ones(4))

    def forward(self, x, y):
        x = x * self.w
        a, b = torch.split(x, x.shape[1] // 2, 1)
        c, d = torch.split(x, y.shape[1] - 1, dim=1)
        e, f, g = torch.split(x, [self.n, 2 * self.n, y.shape[1] - 3], dim=1)
        h, i, j = x.split(x.size(0) // 3)
        k, *rest = x.split(3, 1)
        l, m = x.split(3, 1)
        return a * b, c, d, e, f, g, h, i, j, k, rest[0], l, m
"""
COMMENTED = """
class Net(nn.Module):
    def __init__(self, n=4, affine=True):
        super().__init__()
        self.n = n
        # of the first
        self.scale = nn.Parameter(torch.ones(n))  # whole
        if affine:
            self._init()

    def _init(self):
        # of the second
        self.weight = nn.Parameter(torch.ones(self.n))  # each

        if self.n:
            # of the third
            self.bias = nn.Parameter(  # here
                torch.zeros(self.n)
            )

    def forward(self, x, y):
        return x * self.weight * self.scale + self.bias
"""
STILL = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.rnn = nn.LSTM(n, n, batch_first=True)
        self.gru = nn.GRU(n, n, 2, True, False, 0)
        self.rnns = nn.ModuleList([nn.RNN(n, n) for _ in range(2)])
        self.attention = nn.MultiheadAttention(n, 2, dropout=0.0)

    def forward(self, x, y):
        x = self.rnn(x)[0] + self.gru(y)[0]
        for rnn in self.rnns:
            x, _ = rnn(x)
        return self.attention(x, y, y)[0]
"""
STATE_OF_ENTRIES = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.norms = nn.ModuleList([nn.BatchNorm1d(n) for _ in range(3)])

    def forward(self, x, y):
        made = [[0] * 2 for _ in range(3)]
        for i in range(3):
            made[i][-1] = self.norms[i](x)
            made[i][0] = made[i][1] + self.norms[i](y)
        return made
"""
KEPT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 4)
        self.attn = None

    def forward(self, x, y):
        x, self.attn = self.attention(self.q(x), x)
        self.out = self.q(x)
        return self.out * 2 + y

    def attention(self, q, k):
        p = F.softmax(q @ k.T, -1)
        return p @ k, p
"""
# what is written, the lines of it, and those that are not
MADE_BEFORE = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x, y):
        return self.spread(self.fc(x), 4) + y

    def spread(self, x, n):
        steps = torch.linspace(0.0, 1.0, steps=n)
        return x + steps.expand(list(x.shape[:-1]) + [n])
"""
SIZED = """
class Net(nn.Module):
    def __init__(self, n=1, k=2):
        super().__init__()
        self.l = nn.Linear(4, 4)
        self.n, self.k = n, k
        self.sizes = [n, 2, n]

    def forward(self, x, y):
        h, v = self.l(x), y[0]
        b, c = h.shape
        made = torch.zeros((b, c))
        for i in range(2):
            low = max(i - 1, 0)
            high = min(low + 2, c)
            low = max(high - 2, 0)
            part = h[:, low:high]
            made += F.pad(part, (int(low), int(made.shape[1] - high)))
        limit, p = 0.5, max(5 - c, 0)
        halves = F.pad(h, (p // 2, p - p // 2))
        mean = h.mean(dim=1, keepdim=True).repeat(1, self.k)
        later = F.pad(y, (0, 0, 0, self.k))
        ones = y[:1][None].expand(self.n, 1, c)
        i = torch.arange(self.n)
        wrong = F.pad(x, (0, int(made.shape[0] - high)))
        fewer = v[None].expand(b, -1, -1)
        more = h[None].expand(b, -1, -1)
        d, e, f = torch.split(h, self.sizes, dim=1)
        picked = torch.gather(h[..., None], 1, (y > 0).long().reshape(h.shape[0], -1, 1))
        limited = torch.clamp(h, max=limit)
        return made, halves, mean, later, ones, wrong, fewer, more, d, e, f, picked, limited
"""
HANDED_ON = """
class Inner(nn.Module):
    def __init__(self, dim, norm=nn.LayerNorm):
        super().__init__()
        self.norm = norm(dim)

    def forward(self, x):
        return self.norm(x)


class Once(nn.Module):
    def __init__(self, dim, norm=None):
        super().__init__()
        norm = norm or nn.LayerNorm
        self.make = norm
        self.first = Inner(dim, norm=norm)

    def forward(self, x):
        return self.first(x)


class Twice(Once):
    def __init__(self, dim, *args, **kwargs):
        super().__init__(dim, *args, **kwargs)
        self.last = Inner(dim, norm=self.make)

    def forward(self, x):
        return self.last(self.first(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.twice = Twice(4)

    def forward(self, x, y):
        return self.twice(x) * y
"""
HANDED_MORE = HANDED_ON.replace("Twice(4)", "Twice(4, *[nn.BatchNorm1d])")
ENTERED = """
import contextlib


class Inner(nn.Module):
    def __init__(self, n, context):
        super().__init__()
        self.l = nn.Linear(n, n)
        self.context = context

    def forward(self, x):
        with self.context():
            x = self.l(x)
        return x


class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.inner = Inner(n, contextlib.nullcontext)

    def forward(self, x, y):
        return self.inner(x) * y
"""
TAKEN_APART = """
import operator


class One(nn.Module):
    def forward(self, x, rows):
        return x + torch.stack([rows[:, 0], rows[:, 1]], 1).sum()


class Two(nn.Module):
    def forward(self, x, lin, rows):
        return lin(x) + rows


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.inter = One()

    def forward(self, x, y):
        return self.inter(x, operator.itemgetter(1)((x, y)))


class Net(Base):
    def __init__(self):
        super().__init__()
        self.two = Two()
        self.inter = One()

    def forward(self, x, y):
        return super().forward(x, y) + self.two(x, self.lin, y)


class Other(Base):
    def __init__(self):
        super().__init__()
        self.inter = Two()

    def forward(self, x, y):
        return self.inter(x, self.lin, operator.itemgetter(1)((x, y)))
"""
DECORATED = """
import functools


def betas(
    n,  # how many
    last=0.02,  # the last one
):
    # all of them
    return torch.linspace(1e-4, last, n, dtype=torch.float64).cumprod(0).float()


@functools.lru_cache(maxsize=None)
# a comment
def cached(
    n,  # how many
):
    return torch.linspace(1e-4, 1, n, dtype=torch.float64).cumprod(0).float()


class Net(nn.Module):
    def __init__(
        self,
        n=4,  # of them
    ):
        super().__init__()
        self.register_buffer("b", self.made(n))

    # above
    @staticmethod
    def made(n):  # beside
        return betas(n) + cached(n)

    def forward(self, x, y):
        return x * self.b + y
"""
RENAMED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(
        self,
        x,  # what
        params: torch.Tensor,  # of all
        key=2.0,  # a number
        *state,  # more
    ):
        return self.l(x) + params * key
"""
RESET = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.w = nn.Parameter(torch.empty(n, n))
        self.reset(0.5)

    def reset(
        self,
        std,  # how wide
        *rest,  # more
    ):
        nn.init.constant_(self.w, std)  # all

    def forward(self, x, y):
        return x @ self.w + y
"""
LINES = {
    "comments of a method that init calls": (RESET, ["std,  # how wide", "*rest,  # more", "# all"], []),
    "comments of parameters that have other names": (RENAMED, ["# what", ": jax.Array,  # of all", "# a number", "# more"], []),
    "comments of what is decorated": (
        DECORATED,
        ["n,  # how many", "last=0.02,  # the last one", "# a comment", "n=4,  # of them", "made(n):  # beside"],
        [],
    ),
    "what no module has is asked of what a call gives": (TAKEN_APART, [], ["params, state", "training=False"]),
    "what is entered is no module": (ENTERED, ["with self.context():"], ["as_module", ".apply("]),
    "a class that a constructor hands on with its other arguments": (HANDED_ON, [], [".apply(", "nn.call(", "state["]),
    "a class that the project gives among those": (HANDED_MORE, ["__call__"], []),
    "what is known of sizes": (
        SIZED,
        [
            "jnp.pad(part, [(0, 0)] * (part.ndim - 1) + [(int(low), int(made.shape[1] - high))])",
            "jnp.pad(h, [(0, 0), (p // 2, p - p // 2)])",
            "jnp.pad(y, [(0, 0)] * (y.ndim - 2) + [(0, self.k), (0, 0)])",
            "[(0, 0, 0)] * (x.ndim - 1) + [(0, int(made.shape[0] - high), 0)]",  # which may crop
            "jnp.broadcast_to(y[:1][None], (self.n, 1, c))",
            "nn.expand_to(v[None], (b, -1, -1))",  # of one dim, so that the new one is kept
            "jnp.broadcast_to(h[None], (b, *h.shape[-2:]))",
            "jnp.split(h, np.cumsum(self.sizes[:-1]), axis=1)",
            "jnp.take_along_axis(h[..., None], ",
            "jnp.where(h > limit, limit, h)",
        ],
        [],
    ),
    "a list that becomes one of modules": (
        LISTED,
        ["# all of them"],
        ["nnx.List(self.fcs)", "list(self.fcs)", "list(nn.Linear", "fcs: Callable"],
    ),
    "a size that an array was made of": (MADE_BEFORE, ["jnp.broadcast_to(steps"], ["nn.expand_to"]),
    "whether something is None is known": (
        NONE,
        ["if z is None:", "if y is not None:", "(2 if z is None else z)"],
        ["== None", "None =="],
    ),
    "initial values of numbers that a run tells": (
        INITIAL,
        ["minval=-INI, maxval=INI", "self.scale", "math.sqrt(2.0 / n)"],
        ["nn.init_uniform", "nn.init_normal", "nn.normal_", "nn.uniform_", "nn.array_of"],
    ),
    "numbers of arrays": (
        NUMBERS,
        ["* jnp.array([2 * window_size - 1, 1])", "k = x.argmax()", "x.mean() > 0", "m = lax.stop_gradient(x.max())"],
        [".reshape(())"],
    ),
    "constants, and where they stand": (
        CONSTANTS,
        [],
        ["device", "asarray(self.used).shape", "asarray(self.used).astype"],
    ),
    "what is there for certain is read at once": (HELD, ["jnp.full_like("], ["nn.array_of"]),
    "places that are filled with one number": (
        FILLED,
        [".at[::4].set(-1)", "d.at[0].set(0)", "d.at[1, :1].set(2.5)", ".set(-jnp.inf)", "m.at[0].set(False)"],
        ["full_like"],
    ),
}
LINES |= {
    "what a constructor fills": (
        MADE_IN_PLACE,
        ["# sines\n        pe = jnp.zeros((3, n))  # of places", "pe = pe.at[i, 1].set(i * 0.5)  # each", "(pe)\n"],
        ["self.pe.at", "self.pe[2]", "asarray(self.pe).at"],
    ),
    "pieces of a size": (
        PIECES,
        ["split(x, 2, axis=1)", "split(x, [y.shape[1] - 1], axis=1)", "split(x, 3)", "split(x, [3], axis=1)"],
        ["nn.split_sizes(x, [", "nn.split_sizes(x, x"],
    ),
    "comments of a method that begins arrays": (
        COMMENTED,
        ["# of the first", "# of the second", "# of the third", "# here", "# whole", "# each"],
        ["# of the second\n        # of", "# each  # each", "# of the third\n            # of"],
    ),
    "what a forward pass keeps": (
        KEPT,
        [" = self.attention("],
        ["value_1", '.get("out")', '"]\n    def __init__'],
    ),
    "layers that are made without dropout": (STILL, ["self.rnn("], ["key=None", "training", "keys[4]"]),
    "the state beside an entry of a list": (
        STATE_OF_ENTRIES,
        ["            made[i][-1]"],
        ["made[i][-1] = norms_out"],
    ),
}
ROWS = [(name, target) for name in LINES for target in TARGETS]


@pytest.mark.parametrize("name, target", ROWS)
def test_lines(name, target):
    program, wanted, unwanted = LINES[name]
    (made,), _, _ = engine.convert([given(HEAD + program)], "", target)
    assert [w for w in wanted if w not in made.code] == [], made.code
    assert [w for w in unwanted if w in made.code] == [], made.code
    torch.manual_seed(0)
    verify(HEAD + program, "Net", "", [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)], target)


LATER = {
    "given": ("n=4, p=0.0", "dropout=p", "pass"),
    "set by its holder": ("n=4", "num_layers=2", "self.rnn.dropout = 0.5"),
    "set in a walk": ("n=4", "num_layers=2", "for m in self.modules():\n            m.dropout = 0.5"),
    "set by its name": ("n=4", "num_layers=2", "setattr(self.rnn, 'dropout', 0.5)"),
}


@pytest.mark.parametrize("how", LATER)
def test_a_layer_may_have_dropout_later(how):
    given_, made_with, then = LATER[how]
    program = (
        f"class Net(nn.Module):\n    def __init__(self, {given_}):\n        super().__init__()\n"
        f"        self.rnn = nn.LSTM(n, n, {made_with})\n        {then}\n\n"
        "    def forward(self, x, y):\n        return self.rnn(x)[0]\n"
    )
    (made,), _, _ = engine.convert([given(HEAD + program)], "", "functional")
    assert "key=key, training=training" in made.code, made.code


@pytest.mark.parametrize("target", TARGETS)
def test_what_holds_dicts_is_written(target):
    program = (
        "class Net(nn.Module):\n    @torch.no_grad()\n    def forward(self, results, masks):\n"
        "        for i, m in enumerate(masks):\n            results[i]['masks'] = m * 2\n        return results\n"
    )
    (made,), _, _ = engine.convert([given(HEAD + program)], "", target)
    assert 'results[i]["masks"] = lax.stop_gradient(m * 2)' in made.code


EXCLUDING = """
class Net(nn.Module):
    def __init__(self, n=4, task="a"):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.task = task

    def first(self, x):
        return F.dropout(self.fc(x), 0.5, self.training)

    def second(self, x):
        x = F.dropout(x, 0.5, self.training)
        return F.dropout(self.fc(x), 0.5, self.training)

    def forward(self, x, y):
        if self.task == "a":
            return self.first(x)
        if self.task == "b":
            return self.second(x) + y
        elif self.task == "c":
            x = self.first(x)
        return self.second(y) + x
"""


@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_ways_that_exclude_each_other_share_their_keys(target):
    (made,), _, _ = engine.convert([given(HEAD + EXCLUDING)], "", target)
    forward = made.code[made.code.index("def __call__") :]
    assert "split(key, 2)" in forward and forward.count("key=keys[0]") == 3 and forward.count("key=keys[1]") == 1


def test_an_empty_line_stands_below_the_fields():
    program = (
        "class Net(nn.Module):\n    '''Of one layer'''\n    def __init__(self, a,\n                 b=1):\n"
        "        super().__init__()\n        self.b = b\n        self.fc = nn.Linear(a, b)\n\n"
        "    def forward(self, x):\n        return self.fc(x)\n"
    )
    (made,), _, _ = engine.convert([given(HEAD + program)], "", "equinox")
    assert "fc: nn.Linear\n\n    def __init__(self, a,\n                 b=1," in made.code


CALLED = {
    "made_by_none": ('layer = nn.taking(norm_layer, "params")', 'x = self.norm(params["norm"], x)'),
    "made_by_several_classes": ('layer = nn.taking(layer, "params", "state", ', 'x, state["body"] = self.body(params["body"]'),
    "left_empty": ('return self.norm(params["norm"], self.fc(params["fc"], x))', "self.end = nn.Identity()"),
    "asked_of_the_first": ('x, mean = layer(params["layers"][name], x)', "def __call__(self, params, x):"),
    "given_none": (
        'self.mlp(params["mlp"], self.norm(params["norm"], x), key=key',
        'y, mean = self.attn(params["attn"], x, key=keys[0], training=training)',
        'y = self.projection(params["projection"], y)',
        "def __call__(self, params, x, mask=None, *, key=None, training=False):",
    ),
    "keys_of_own_dicts": ('x = b(params[name], x)', 'x = self[k](params[k], x)'),
}


@pytest.mark.parametrize("name", CALLED)
def test_layers_of_known_classes_are_called_by_themselves(name):
    (made,), _, _ = engine.convert([given(program(name))], "", "functional")
    assert all(line in made.code for line in CALLED[name]), made.code
