"""Programs in the layers' words, before and after, in Flax NNX."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from transpile.model.control_flow import Cond, Loop, Scan
from transpile.model.effects import Apply, Put, Tie, Write
from transpile.model.expressions import Call
from transpile.model.statements import For

from .flax_programs import same, written
from .programs import controlled

HEAD = "import jax\nimport jax.numpy as jnp\nfrom flax import nnx\n\nimport jax_nn as nn\n"

# name: before, after (the imports left out)
CASES = {
    "params": (
        "class Linear2(Module):\n"
        "    def __init__(self, a, b):\n"
        "        self.weight = Parameter(jax.random.normal(draw_key(), (b, a)))\n"
        "        self.bias = Parameter(jnp.zeros(b))  # kept\n\n"
        "    def __call__(self, x):\n"
        "        return x @ self.weight.T + self.bias\n",
        "class Linear2(nnx.Module):\n"
        "    def __init__(self, a, b, *, rngs: nnx.Rngs):\n"
        "        self.weight = nnx.Param(rngs.params.normal((b, a)))\n"
        "        self.bias = nnx.Param(jnp.zeros(b))  # kept\n\n"
        "    def __call__(self, x):\n"
        "        return x @ self.weight[...].T + self.bias[...]\n",
    ),
    "no rngs where nothing draws": (
        "from .normalization import LayerNorm\n\n\n"
        "class A(Module):\n"
        "    def __init__(self, n):\n"
        "        self.norm = LayerNorm(n)\n",
        "class A(nnx.Module):\n    def __init__(self, n):\n        self.norm = nn.LayerNorm(n)\n",
    ),
    "own layers, lists and dropout": (
        "from .linear import Linear\nfrom .dropout import Dropout\n"
        "from .containers import ModuleList, Sequential\n\n\n"
        "class A(Module):\n"
        "    def __init__(self, n, p=0.1):\n"
        "        self.layers = ModuleList([Linear(n, n) for _ in range(3)])\n"
        "        self.drop = Dropout(p=p, inplace=True)\n"
        "        self.half = Dropout()\n"
        "        self.both = Sequential(Linear(n, n), Dropout(p, True))\n",
        "class A(nnx.Module):\n"
        "    def __init__(self, n, p=0.1, *, rngs: nnx.Rngs):\n"
        "        self.layers = nnx.List([nn.Linear(n, n, rngs=rngs) for _ in range(3)])\n"
        "        self.drop = nnx.Dropout(rate=p, rngs=rngs)\n"
        "        self.half = nnx.Dropout(0.5, rngs=rngs)\n"
        "        self.both = nn.Sequential(nn.Linear(n, n, rngs=rngs), nnx.Dropout(p, rngs=rngs))\n",
    ),
    "buffers and optional arrays": (
        "class A(Module):\n"
        "    def __init__(self, n, bias):\n"
        "        self.bias = Parameter(jnp.zeros(n)) if bias else None\n"
        "        self.running_mean = Buffer(jnp.zeros(n))\n"
        "        self.hits = Buffer(jnp.zeros(()), persistent=False)\n\n"
        "    def __call__(self, x):\n"
        "        self.hits = self.hits + 1\n"
        "        self.running_mean = x.mean(0)\n"
        "        y = x if self.bias is None else f(x, self.bias)\n"
        "        return f(y, self.bias), self.running_mean[:2], self.hits.shape\n",
        "class A(nnx.Module):\n"
        "    def __init__(self, n, bias):\n"
        "        self.bias = nnx.Param(jnp.zeros(n)) if bias else None\n"
        "        self.running_mean = nnx.BatchStat(jnp.zeros(n))\n"
        "        self.hits = nn.Buffer(jnp.zeros(()), persistent=False)\n\n"
        "    def __call__(self, x):\n"
        "        self.hits[...] += 1\n"
        "        self.running_mean[...] = x.mean(0)\n"
        "        y = x if self.bias is None else f(x, self.bias[...])\n"
        "        return f(y, nn.array_of(self.bias)), self.running_mean[:2], self.hits.shape\n",
    ),
    "the mode, and a stream of its own": (
        "class A(Module):\n"
        "    def __call__(self, x):\n"
        "        if not self.training:\n"
        "            return x\n"
        "        return x + jax.random.normal(draw_key(), x.shape) * f(draw_key(), self.training)\n",
        "class A(nnx.Module):\n"
        "    def __init__(self, *, rngs: nnx.Rngs):\n"
        "        self.noise = rngs.noise.fork()\n"
        "        self.deterministic = False\n\n"
        "    def set_view(self, deterministic: bool | None = None):\n"
        "        if deterministic is not None:\n"
        "            self.deterministic = deterministic\n\n"
        "    def __call__(self, x):\n"
        "        if self.deterministic:\n"
        "            return x\n"
        "        return x + self.noise.normal(x.shape) * f(self.noise(), not self.deterministic)\n",
    ),
    "first None, then an array": (
        "class A(Module):\n"
        "    def __init__(self, n, bias):\n"
        "        self.bias = None\n"
        "        if bias:\n"
        "            self.bias = Parameter(jnp.zeros(n))\n",
        "class A(nnx.Module):\n"
        "    def __init__(self, n, bias):\n"
        "        self.bias = nnx.data(None)\n"
        "        if bias:\n"
        "            self.bias = nnx.Param(jnp.zeros(n))\n",
    ),
    "functions that draw take a key": (
        "def noisy(x):\n"
        "    return x + jax.random.normal(draw_key(), x.shape)\n\n\n"
        "class A(Module):\n"
        "    def __call__(self, x):\n"
        "        return noisy(x)\n",
        "def noisy(x, *, key):\n"
        "    return x + jax.random.normal(key, x.shape)\n\n\n"
        "class A(nnx.Module):\n"
        "    def __init__(self, *, rngs: nnx.Rngs):\n"
        "        self.noise = rngs.noise.fork()\n\n"
        "    def __call__(self, x):\n"
        "        return noisy(x, key=self.noise())\n",
    ),
    "functions that draw more than once take a stream": (
        "def noisy(x):\n"
        "    return x + jax.random.normal(draw_key(), x.shape)\n\n\n"
        "def often(x):\n"
        "    for _ in range(3):\n"
        "        x = noisy(x)\n"
        "    return x\n\n\n"
        "class A(Module):\n"
        "    def __call__(self, x):\n"
        "        return often(x)\n",
        "def noisy(x, *, key):\n"
        "    return x + jax.random.normal(key, x.shape)\n\n\n"
        "def often(x, *, rngs: nnx.Rngs):\n"
        "    for _ in range(3):\n"
        "        x = noisy(x, key=rngs())\n"
        "    return x\n\n\n"
        "class A(nnx.Module):\n"
        "    def __init__(self, *, rngs: nnx.Rngs):\n"
        "        self.noise = rngs.noise.fork()\n\n"
        "    def __call__(self, x):\n"
        "        return often(x, rngs=self.noise)\n",
    ),
    "a key of the user's": (
        "def attend(query, key):\n"
        "    return query @ key + jax.random.normal(draw_key(), query.shape)\n\n\n"
        "class A(Module):\n"
        "    def __call__(self, x):\n"
        "        return attend(x, key=x)\n",
        "def attend(query, key, *, rngs: nnx.Rngs):\n"
        "    return query @ key + rngs.normal(query.shape)\n\n\n"
        "class A(nnx.Module):\n"
        "    def __init__(self, *, rngs: nnx.Rngs):\n"
        "        self.noise = rngs.noise.fork()\n\n"
        "    def __call__(self, x):\n"
        "        return attend(x, key=x, rngs=self.noise)\n",
    ),
    "a builder gives rngs on": (
        "from .linear import Linear\n\n\n"
        "class A(Module):\n"
        "    def __init__(self, n):\n"
        "        self.one = self._make(n)\n\n"
        "    def _make(self, n):\n"
        "        return Linear(n, n)\n",
        "class A(nnx.Module):\n"
        "    def __init__(self, n, *, rngs: nnx.Rngs):\n"
        "        self.one = self._make(n, rngs=rngs)\n\n"
        "    def _make(self, n, *, rngs: nnx.Rngs):\n"
        "        return nn.Linear(n, n, rngs=rngs)\n",
    ),
    "a script": (
        "from .linear import Linear\n\n\n"
        "def main():\n"
        "    one = Linear(2, 3)\n\n\n"
        "def both():\n"
        "    one = Linear(2, 3)\n"
        "    two = Linear(2, 3)\n",
        "def main():\n"
        "    one = nn.Linear(2, 3, rngs=nnx.Rngs(0))\n\n\n"
        "def both():\n"
        "    rngs = nnx.Rngs(0)\n"
        "    one = nn.Linear(2, 3, rngs=rngs)\n"
        "    two = nn.Linear(2, 3, rngs=rngs)\n",
    ),
    "the layers of others": (
        "from .batch_norm import BatchNorm1d\n\n\n"
        "class A(BatchNorm1d):\n"
        "    def __init__(self, n):\n"
        "        super().__init__(n)\n\n"
        "    def __call__(self, x):\n"
        "        return super().__call__(x) + self.weight\n",
        "class A(nn.BatchNorm1d):\n"
        "    def __init__(self, n):\n"
        "        super().__init__(n)\n\n"
        "    def __call__(self, x):\n"
        "        return super().__call__(x) + self.weight[...]\n",
    ),
}


def body(text):
    return "\n".join(
        line for line in text.splitlines() if not line.startswith(("import ", "from "))
    )


@pytest.mark.parametrize("name", CASES)
def test_before_and_after(name):
    before, after = CASES[name]
    text, _, diagnostics = written("import jax\nimport jax.numpy as jnp\n" + before)
    assert diagnostics == []
    assert same(body(text), after), text


def run(text, support):
    jax_nn = types.ModuleType("jax_nn")
    exec(compile(support or "", "jax_nn.py", "exec"), jax_nn.__dict__)
    scope = {"jax_nn": jax_nn}
    exec(compile(text.replace("import jax_nn as nn", "nn = jax_nn"), "program.py", "exec"), scope)
    return types.SimpleNamespace(**scope), jax_nn


GATED = """
import jax.numpy as jnp

from .batch_norm import BatchNorm2d
from .convolution import Conv2d
from .dropout import Dropout


class Gated(Module):
    def __init__(self, channels, steps=4, limit=1.0, dropout=0.5):
        self.steps, self.limit = steps, limit
        self.norm = BatchNorm2d(channels)
        self.conv = Conv2d(channels, channels, 3, padding=1)
        self.drop = Dropout(dropout)
        self.hits = Buffer(jnp.zeros((), int))

    def __call__(self, x):
        if jnp.abs(x).mean() > self.limit:
            x = self.norm(x)
            self.hits = self.hits + 1
        for _ in range(self.steps):
            x = self.drop(jnp.tanh(self.conv(x)))
        while jnp.abs(x).max() < 3:
            x = x * 2 + self.hits
            self.hits = self.hits + 1
        return x
"""


def control(file):
    for function in file.functions():
        if function.name == "__call__":
            controlled(function)
            assert function.nodes(Cond) or function.nodes(Scan) or function.nodes(Loop)


def test_effects_under_control(graph_mode):
    text, support, _ = written(GATED, control)
    assert "nnx.cond(" in text and "nnx.scan(" in text and "nnx.while_loop(" in text
    scope, _ = run(text, support)
    model = scope.Gated(2, rngs=nnx.Rngs(0))
    call = nnx.jit(lambda model, x: model(x))
    x = 3 * jax.random.normal(jax.random.key(1), (4, 2, 5, 5))
    first, hits = call(model, x), int(model.hits[...])
    assert hits >= 1 and model.norm.num_batches_tracked[...] == 1
    assert model.drop.rngs.count[...] == 4
    second = call(model, x)
    assert not jnp.array_equal(first, second)
    call(model, x * 0.01)
    assert model.norm.num_batches_tracked[...] == 2
    model.eval()
    assert model.norm.use_running_average and model.drop.deterministic


def test_pure_control_is_lax():
    text, _, _ = written(
        "import jax.numpy as jnp\n\n\nclass A(Module):\n"
        "    def __init__(self):\n        self.w = Parameter(jnp.ones(()))\n\n"
        "    def __call__(self, x):\n        if x.sum() > 0:\n            x = x * self.w\n"
        "        return x\n",
        control,
    )
    assert "lax.cond(x.sum() > 0, lambda x: x * self.w[...], lambda x: x, x)" in text


TIED = """
from .embedding import Embedding
from .linear import Linear


class Tied(Module):
    def __init__(self, n, d):
        self.tokens = Embedding(n, d)
        self.head = Linear(d, n, bias=False)
        self.head.weight = self.tokens.weight

    def __call__(self, ids):
        return self.head(self.tokens(ids)) + self.head.weight.sum()
"""


def ties(file):
    (write,) = [w for f in file.functions() for w in f.nodes(Write)]
    write.become(Tie(write.target, write.value))


def test_ties(graph_mode):
    text, support, _ = written(TIED, ties)
    assert "nn.tied(self.head, weight=self.tokens.weight)(self.tokens(ids))" in text
    assert "self.tokens.weight[...].sum()" in text
    scope, _ = run(text, support)
    model = scope.Tied(5, 3, rngs=nnx.Rngs(0))
    weight = model.tokens.weight[...]
    ids = jnp.array([1, 2])
    got = nnx.jit(lambda model: model(ids))(model)
    assert jnp.allclose(got, weight[ids] @ weight.T + weight.sum(), atol=1e-5)
    assert len(jax.tree.leaves(nnx.state(model, nnx.Param))) == 1


STACK = """
import jax.numpy as jnp

from .batch_norm import BatchNorm1d
from .containers import ModuleList
from .dropout import Dropout
from .linear import Linear


class Block(Module):
    def __init__(self, n):
        self.fc = Linear(n, n)
        self.norm = BatchNorm1d(n)
        self.drop = Dropout(0.5)
        self.calls = Buffer(jnp.zeros((), int))

    def __call__(self, x):
        self.calls = self.calls + 1
        return x + self.drop(self.norm(self.fc(x)))


class Stack(Module):
    def __init__(self, n):
        self.blocks = ModuleList([Block(n) for _ in range(3)])

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""


def stacked(file):
    for function in file.functions():
        for loop in function.nodes(For):
            call = loop.body.body[0].expression
            assert isinstance(call, Call)
            loop.unwrap()
            call.become(Apply(loop.iterable, call.arguments, each="block"))


def test_equal_layers(graph_mode):
    loop, scan = written(STACK), written(STACK, stacked)
    assert "x = nn.scan_layers(self.blocks, x)" in scan[0]
    x = jax.random.normal(jax.random.key(0), (4, 3))
    models = []
    for text, support, _ in (loop, scan):
        model = run(text, support)[0].Stack(3, rngs=nnx.Rngs(0))
        y = nnx.jit(lambda model: model(x))(model)
        models.append((y, nnx.state(model)))
    for a, b in zip(*map(jax.tree.leaves, models), strict=True):
        if not jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
            assert jnp.allclose(a, b, atol=1e-5)


def test_copies_draw_other_numbers():
    text, support, _ = written(
        "import copy\n\nfrom .containers import ModuleList\nfrom .dropout import Dropout2d\n\n\n"
        "class A(Module):\n"
        "    def __init__(self):\n"
        "        one = Dropout2d(0.5)\n"
        "        self.layers = ModuleList([copy.deepcopy(one) for _ in range(2)])\n"
    )
    assert "nn.copied(one)" in text
    a, b = run(text, support)[0].A(rngs=nnx.Rngs(0)).layers
    x = jnp.ones((8, 16, 2, 2))
    assert not jnp.array_equal(a(x), b(x))


def test_parts_written_in_place():
    def puts(file):
        (write,) = [w for f in file.functions() for w in f.nodes(Write)]
        call = write.value
        put = Put(call.arguments[0], call.arguments[1], "set", call.arguments[2])
        call.replace(put)

    text, _, _ = written(
        "import jax.numpy as jnp\n\n\nclass A(Module):\n"
        "    def __init__(self):\n        self.cache = Buffer(jnp.zeros((3, 4)))\n\n"
        "    def __call__(self, x, i):\n        self.cache = put(self.cache, i, x)\n",
        puts,
    )
    assert "        self.cache[i] = x\n" in text


def test_what_is_not_written_is_refused():
    text, _, diagnostics = written(
        "from .lazy import LazyLinear\n\n\nclass A(Module):\n"
        "    def __init__(self):\n        self.fc = LazyLinear(3)\n",
    )
    assert 'nn.unconverted("unsupported", "LazyLinear(3)")' in text
    assert [d.id for d in diagnostics] == ["unsupported"]


def test_donation_by_number(graph_mode):
    text, support, _ = written(STACK)
    model = run(text, support)[0].Stack(3, rngs=nnx.Rngs(0))
    step = nnx.jit(lambda model, x: model(x).sum(), donate_argnums=(0,))
    x = jnp.ones((4, 3))
    assert jnp.isfinite(step(model, x)) and jnp.isfinite(step(model, x))
    assert model.blocks[0].calls[...] == 2


def test_a_step_donates_model_and_optimizer_by_number(graph_mode):
    text, support, _ = written(STACK)
    model = run(text, support)[0].Stack(3, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)

    def step(model, optimizer, x):
        graph, params, rest = nnx.split(model, nnx.Param, ...)
        loss_fn = lambda params, rest: nnx.merge(graph, params, rest)(x).mean()
        loss, grads = nnx.value_and_grad(loss_fn)(params, rest)
        optimizer.update(model, grads)
        return loss

    donating = nnx.jit(step, donate_argnums=(0, 1))
    x, before = jnp.ones((4, 3)), np.asarray(model.blocks[0].norm.bias[...])
    for _ in range(2):
        assert jnp.isfinite(donating(model, optimizer, x))
    assert model.blocks[0].calls[...] == 2 and optimizer.step[...] == 2
    assert not np.allclose(model.blocks[0].norm.bias[...], before)


def test_split_keys_draw_masks_of_their_own():
    text, support, _ = written(STACK)
    drop = run(text, support)[0].Stack(3, rngs=nnx.Rngs(0)).blocks[0].drop
    axes = nnx.StateAxes({nnx.RngState: 0, ...: None})
    each = nnx.split_rngs(splits=4)(nnx.vmap(lambda drop, x: drop(x), in_axes=(axes, 0)))
    rows = np.asarray(each(drop, jnp.ones((4, 64))))
    assert len({row.tobytes() for row in rows}) == 4
