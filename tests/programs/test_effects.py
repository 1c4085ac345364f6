"""What code does beside computing: prints and warnings happen when it runs, anything else stays under Python's branches and loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from transpile import convert_source

from ..proof.comparison import assert_close
from ..small_programs import HEAD, load


def converted(source, *ids):
    """The namespace of a converted program; its diagnostics must be these."""
    result = convert_source(HEAD + source)
    assert [d.id for d in result.diagnostics] == list(ids), (result.diagnostics, result.code)
    return load(result)


PRINTS = {
    "alone": "def f(x):\n    if x.sum() > 0:\n        print('positive', x.sum())\n    return x * 2\n",
    "beside values": "def f(x):\n    if x.sum() > 0:\n        print('positive')\n        x = x * 1\n    return x * 2\n",
    "before a return": "def f(x):\n    if x.sum() > 0:\n        print('positive')\n        return x * 2\n    return x + x\n",
}


@pytest.mark.parametrize("name", PRINTS)
def test_a_branch_prints_where_it_is_taken(name, capfd):
    f = jax.jit(converted(PRINTS[name])["f"])
    for x, words in ((jnp.ones(3), 1), (-jnp.ones(3), 0), (jnp.ones(3), 1)):
        np.testing.assert_allclose(f(x), 2 * x)
        jax.effects_barrier()
        assert capfd.readouterr().out.count("positive") == words


def test_a_branch_warns_where_it_is_taken(caplog):
    source = "import logging\nlogger = logging.getLogger('m')\ndef f(x):\n    m = x.sum()\n    if m > 0:\n        logger.warning('sum {}'.format(m))\n    return x\n"
    f = jax.jit(converted(source)["f"])
    for x in (jnp.ones(3), -jnp.ones(3)):
        f(x)
    jax.effects_barrier()
    assert [r.message for r in caplog.records if r.name == "m"] == ["sum 3.0"]


KEPT = {
    "a function that is given": "def f(x, best, save):\n    if x.sum() < best.sum():\n        best = x\n        save(x)\n    return best\n",
    "a branch of nothing else": "def f(x, best, save):\n    if x.sum() < best.sum():\n        save(x)\n        return x\n    return best\n",
}


@pytest.mark.parametrize("name", KEPT)
def test_other_effects_stay_under_a_branch_of_python(name):
    f = converted(KEPT[name], "traced-branch")["f"]
    saved = []
    assert f(jnp.ones(2), jnp.zeros(2), saved.append).sum() == 0 and saved == []
    assert f(-jnp.ones(2), jnp.zeros(2), saved.append).sum() == -2 and len(saved) == 1


STORED = {
    "None in a dict that is given": "def f(x, found):\n    found['a'] = x.sum()\n    if torch.isnan(found['a']):\n        found['a'] = None\n",
    "in a dict in a dict": "def f(x, found):\n    found['in'] = {'a': 1}\n    if torch.isnan(x.sum()):\n        found['in']['a'] = None\n    found['a'] = found['in']['a']\n",
    "in a dict around": "def f(x, found: dict):\n    found['a'] = 1\n    def g(y):\n        if torch.isnan(y):\n            found['a'] = None\n    g(x.sum())\n",
    "in a loop on data": "def f(x, found: dict):\n    found['a'] = 1\n    while torch.isnan(x.sum()):\n        x = x[:1]\n        found['a'] = None\n",
}


@pytest.mark.parametrize("name", STORED)
def test_what_an_argument_is_to_hold_is_stored_in_it(name):
    f = converted(STORED[name], "traced-loop" if "loop" in name else "traced-branch")["f"]
    for x, stored in ((jnp.ones(3), False), (jnp.array([1.0, jnp.nan]), True)):
        found = {}
        f(x, found)
        assert (found["a"] is None) == stored


def test_a_list_that_is_given_gets_what_a_branch_appends():
    f = converted("def f(x, found):\n    if x.sum() > 0:\n        found.append(x)\n", "traced-branch")["f"]
    found = []
    f(jnp.ones(3), found), f(-jnp.ones(3), found)
    assert len(found) == 1


def test_nothing_returned_on_one_side():
    f = converted("def f(x):\n    if x.sum() > 10:\n        return None\n    return x\n", "traced-branch")["f"]
    assert f(jnp.ones(20)) is None and f(jnp.ones(2)).sum() == 2


def test_a_loop_that_draws_from_the_host_stays_a_loop():
    source = "import random\ndef f(x):\n    h = x[0]\n    for t in range(x.shape[0]):\n        h = h + x[t] * random.random()\n    return h\n"
    f = converted(source)["f"]
    assert f(jnp.ones((50, 1))).sum() != f(jnp.ones((50, 1))).sum()


# each turn of the loop calls `{call}`: what is made before it, and the diagnostics
MOVED = {
    "an iterator": ("numbers = itertools.count(1)", "next(numbers)", []),
    "an object": ("counter = Counter()", "counter.next()", []),
    "an object that is given": ("counter = given", "counter.draw()", []),
    "a generator": ("rng = np.random.default_rng(0)", "rng.uniform()", ["host-draw"]),
    "a generator of the module": ("", "self.rng.uniform()", ["host-draw"]),
    "a function with a generator": ("", "scale(self.rng)", ["host-draw"]),
    "a function that is local": ("n = 0\n        def count():\n            nonlocal n\n            n += 1\n            return n", "count()", []),
}
MOVING = """
import itertools
import random

import numpy as np

class Counter:
    def __init__(self):
        self.n = 0

    def next(self):
        self.n += 1
        return self.n

    draw = next

def scale(rng):
    return rng.uniform(0, 1)

class M(nn.Module):
    def __init__(self, rng=None):
        super().__init__()
        self.rng = random.Random(0) if rng is None else rng

    def forward(self, x, given=None):
        {before}
        h = x[0] * 0
        for t in range(x.shape[0]):
            h = h + x[t] * {call}
        return h
"""


@pytest.mark.parametrize("name", MOVED)
def test_a_loop_that_moves_on_what_python_keeps_stays_a_loop(name):
    before, call, ids = MOVED[name]
    source = MOVING.replace("{before}", before or "pass").replace("{call}", call)
    code = convert_source(HEAD + source)
    assert [d.id for d in code.diagnostics] == ids and "nn.scan" not in code.code, (code.diagnostics, code.code)


def test_a_loop_that_calls_a_function_of_arrays_is_a_scan():
    source = "def f(x: torch.Tensor, act=torch.tanh):\n    h = x[0]\n    for t in range(x.shape[0]):\n        h = act(h + x[t])\n    return h\n"
    assert "nn.scan" in convert_source(HEAD + source).code


def test_a_draw_of_the_host_in_forward_is_reported():
    source = "import random\nclass M(nn.Module):\n    def forward(self, x):\n        if random.random() < 0.5:\n            x = x * 2\n        return x\n"
    converted(source, "host-draw")


def test_a_handler_of_an_index_error_is_reported():
    """JAX's arrays raise none: an index out of range means the last element."""
    source = "def f(x):\n    y = x * 2\n    try:\n        return y[5]\n    except IndexError:\n        return y[0]\n"
    converted(source, "taken-for-granted")
    converted("def f(xs, i):\n    xs = [x * 2 for x in xs]\n    try:\n        return xs[i]\n    except IndexError:\n        return xs[0]\n")


def test_what_torch_raises_and_jax_does_not_is_reported():
    body = "def f(x, y):\n    try:\n        z = (x * 2) @ y\n    except {}:\n        z = (x * 2) @ y.t()\n    return z\n"
    converted(body.format("(RuntimeError, KeyError)"), "taken-for-granted")
    converted(body.format("KeyError"))


def test_a_lambda_that_is_mapped_draws_apart():
    source = "class M(nn.Module):\n    def forward(self, x):\n        a, b = map(lambda v: v + torch.rand_like(v), (x, x))\n        return a - b\n"
    module = converted(source)["M"]()
    assert (module(jnp.zeros(50), key=jax.random.key(0)) != 0).all()


LAMBDAS = {
    "called twice": "        f = lambda v: v + torch.rand_like(v)\n        return f(x) - f(x)\n",
    "returned": "        return lambda v: v + torch.rand_like(v)\n",
    "called in a comprehension": "        f = lambda v: v + torch.rand_like(v)\n        return [f(row) for row in x]\n",
    "called in a loop": "        f = lambda v: v + torch.rand_like(v)\n        for i in range(3):\n            x = f(x)\n        return x\n",
}


@pytest.mark.parametrize("name", LAMBDAS)
def test_a_lambda_that_draws_again_draws_anew(name):
    module = converted("class M(nn.Module):\n    def forward(self, x):\n" + LAMBDAS[name])["M"]()
    x, key = jnp.zeros((3, 50)), jax.random.key(0)
    got = module(x, key=key)
    if name == "returned":
        got = got(x) - got(x)
    elif name == "called in a comprehension":
        got = got[0] - got[1]
    assert (got != 0).all() and np.unique(got).size == got.size


def test_a_lambda_that_is_called_once_draws():
    module = converted("class M(nn.Module):\n    def forward(self, x):\n        f = lambda v: v + torch.rand_like(v)\n        return f(x)\n")["M"]()
    assert module(jnp.zeros(3), key=jax.random.key(0)).sum() > 0


MODES = {
    "of a part": ("self.bn.eval()", []),
    "of a part, in a branch": ("if x.ndim > 2: self.bn.eval()", ["module-mode"]),
    "set": ("self.bn.training = False", []),
    "its own": ("self.training = False", ["module-mode"]),
    "its own, called": ("self.eval()", ["module-mode"]),
}


@pytest.mark.parametrize("name", MODES)
def test_a_mode_that_forward_sets_is_followed_or_reported(name):
    line, ids = MODES[name]
    converted(f"class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm1d(3)\n        self.bn.eval()\n\n    def forward(self, x):\n        {line}\n        return self.bn(x)\n", *ids)


def test_a_method_that_sets_the_mode_is_left_out():
    head = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm1d(3)\n\n    def forward(self, x):\n        return self.bn(x)\n\n"
    plain = converted(head + "    def train(self, mode=True):\n        super().train(mode)\n        return self\n")
    more = converted(head + "    def train(self, mode=True):\n        super(M, self).train(mode)\n        self.bn.weight.requires_grad = False\n", "frozen-param")
    own = converted(head + "    def train(self, rows):\n        return [self(row) for row in rows]\n")
    assert not hasattr(plain["M"], "train") and not hasattr(more["M"], "train") and hasattr(own["M"], "train")


def test_functions_by_default_are_some_of_many():
    source = "class M(nn.Module):\n    def __init__(self, acts=(F.relu, torch.sigmoid), more={'a': torch.exp}, act=F.relu):\n        super().__init__()\n        self.a, self.b = acts\n        self.more, self.act = more, act\n\n    def forward(self, x):\n        return self.act(self.more['a'](self.a(self.b(x))))\n"
    module = converted(source)["M"]
    x = jnp.linspace(-1, 1, 5)
    np.testing.assert_allclose(module()(x), jnp.exp(jax.nn.sigmoid(x)), rtol=1e-6)
    np.testing.assert_allclose(module((jnp.sin, jnp.cos), {"a": jnp.tan}, jnp.tanh)(x), jnp.tanh(jnp.tan(jnp.sin(jnp.cos(x)))), rtol=1e-6)


def test_functions_beside_modules_are_wrapped():
    source = "def same(x, **kwargs):\n    return x\n\n\nclass M(nn.Module):\n    def __init__(self, squash=False, drop=False):\n        super().__init__()\n        self.clamp = nn.Hardtanh() if squash else lambda x: x\n        self.drop = same\n        if drop:\n            self.drop = nn.Dropout()\n        self.act = torch.tanh if squash else nn.PReLU()\n\n    def forward(self, x):\n        return self.act(self.drop(self.clamp(x)))\n"
    made, x = converted(source)["M"], jnp.linspace(-2, 2, 5)
    for squash in (False, True):
        for drop in (False, True):
            module = made(squash, drop)
            params, state = module.init(jax.random.key(0)), module.init_state(jax.random.key(0))
            want = jnp.tanh(jnp.clip(x, -1, 1)) if squash else jnp.where(x > 0, x, 0.25 * x)
            assert_close(module(params, state, x)[0], want)


def test_what_a_call_gives_back_with_the_state_is_returned():
    body = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.n = nn.BatchNorm1d(3)\n    def inner(self, x):\n        return self.n(x) + 1\n    def forward(self, x):\n        return self.inner(x * 2)\n"
    code = convert_source(HEAD + body).code
    assert "return self.inner(params, state, x * 2, training=training)" in code and "state = dict(state)" in code, code


def test_starred_parameters_named_like_the_params():
    source = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lin = nn.Linear(3, 3)\n    def forward(self, x, *params, **state):\n        y = self.lin(x)\n        for p in params:\n            y = y + p\n        return y + state['a']\n"
    m = converted(source)["M"]()
    params = m.init(jax.random.key(0))
    x = jnp.ones((2, 3))
    expected = x @ params["lin"]["weight"].T + params["lin"]["bias"] + 1 + 2 + 4
    np.testing.assert_allclose(m(params, x, 1.0, 2.0, a=4.0), expected, rtol=1e-6)


SHAKE = """class Mixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, training):
        alpha = torch.rand(a.size(0), 1) if training else 0.5
        return alpha * a + (1 - alpha) * b

    @staticmethod
    def backward(ctx, grad):
        beta = torch.rand(grad.size(0), 1)
        return beta * grad, (1 - beta) * grad, None


class M(nn.Module):
    def forward(self, a, b):
        {call}
"""


@pytest.mark.parametrize("call", ["return Mixed.apply(a, b, self.training)", "mixed = Mixed.apply\n        return mixed(a, b, self.training)"])
def test_a_function_whose_backward_draws(call):
    """Forward and backward draw apart: the weights of the gradients are not those of the values, and sum to 1."""
    m = converted(SHAKE.format(call=call))["M"]()
    a, b = jnp.ones((4, 3)), jnp.zeros((4, 3))

    def total(a, b, key, training):
        y = m(a, b, key=key, training=training)
        return y.sum(), y

    for training in (False, True):
        (da, db), y = jax.jit(jax.grad(total, (0, 1), has_aux=True), static_argnums=3)(a, b, jax.random.key(1), training)
        np.testing.assert_allclose(da + db, 1.0, rtol=1e-6)
        assert (np.unique(da).size, np.unique(y).size) == (4, 4 if training else 1)
        assert not np.allclose(da, y)
