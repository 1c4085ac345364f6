"""Models that a script builds and runs: their params and state begin where they are built, and the
script does what it did in torch."""

import contextlib
import io
import sys

import pytest

from transpile.command import engine

from .verified import given

TARGETS = ("functional", "flax", "equinox")
HEAD = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 6)
        self.bn = nn.BatchNorm1d(6)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.bn(self.fc(x)))

    def encode(self, x):
        return self.fc(x)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)

    def forward(self, x):
        return self.fc(x)


def small(**kwargs):
    return Net(8, **kwargs)


def noise(n):
    return torch.randn(n)


x = torch.ones(3, 8)
"""
# What a script does, and what it is in the functional output and in Equinox.
SCRIPTS = {
    "without_state": (
        "net = Plain()\nprint(tuple(net(x).shape))\n",
        "net = Plain()\nparams = net.init(jax.random.key(0))\nprint(tuple(net(params, x).shape))\n",
        "net = Plain(key=jax.random.key(0))\nprint(tuple(net(x).shape))\n",
    ),
    "in_both_modes": (
        "net = Net(8)\ny = net(x)\nnet.eval()\ny = net(x)\nprint(bool((net(x) == y).all()))\n",
        """net = Net(8)
params = net.init(jax.random.key(0))
state = net.init_state(jax.random.key(1))
y, state = net(params, state, x, key=jax.random.key(2), training=True)
y, state = net(params, state, x, key=jax.random.key(3))
net_out, state = net(params, state, x, key=jax.random.key(4))
print(bool((net_out == y).all()))
""",
        """net, state = eqx.nn.make_with_state(Net)(8, key=jax.random.key(0))
y, state = net(x, state, key=jax.random.key(1))
net = eqx.nn.inference_mode(net)
y, state = net(x, state, key=jax.random.key(2))
net_out, state = net(x, state, key=jax.random.key(3))
print(bool((net_out == y).all()))
""",
    ),
    "of_a_function_in_evaluation": (
        "net = small().eval()\nprint(tuple(net(x).shape), tuple(net.encode(x).shape))\n",
        """net = small()
params = net.init(jax.random.key(0))
state = net.init_state(jax.random.key(1))
net_out, state = net(params, state, x, key=jax.random.key(2))
print(tuple(net_out.shape), tuple(net.encode(params, x).shape))
""",
        """net, state = eqx.nn.make_with_state(small)(key=jax.random.key(0))
net = eqx.nn.inference_mode(net)
net_out, state = net(x, state, key=jax.random.key(1))
print(tuple(net_out.shape), tuple(net.encode(x).shape))
""",
    ),
    "one_after_the_other": (
        "net = Plain()\ny = net(x)\nother = Net(8)\ny = other(x)\nnet = Net(8)\ny = net(x)\n",
        """net = Plain()
net_params = net.init(jax.random.key(0))
y = net(net_params, x)
other = Net(8)
other_params = other.init(jax.random.key(1))
other_state = other.init_state(jax.random.key(2))
y, other_state = other(other_params, other_state, x, key=jax.random.key(3), training=True)
net = Net(8)
net_params = net.init(jax.random.key(4))
net_state = net.init_state(jax.random.key(5))
y, net_state = net(net_params, net_state, x, key=jax.random.key(6), training=True)
""",
        """net = Plain(key=jax.random.key(0))
y = net(x)
other, other_state = eqx.nn.make_with_state(Net)(8, key=jax.random.key(1))
y, other_state = other(x, other_state, key=jax.random.key(2))
net, net_state = eqx.nn.make_with_state(Net)(8, key=jax.random.key(3))
y, net_state = net(x, net_state, key=jax.random.key(4))
""",
    ),
    "layers_of_torch": (
        "net = nn.Sequential(nn.Linear(8, 2), nn.BatchNorm1d(2))\nprint(tuple(net(x).shape))\n",
        """net = nn.Sequential(nn.Linear(8, 2), nn.BatchNorm1d(2))
params = net.init(jax.random.key(0))
state = net.init_state(jax.random.key(1))
net_out, state = net.run(params, state, x, training=True)
print(tuple(net_out.shape))
""",
        """net, state = eqx.nn.make_with_state(nn.Sequential)(nn.Linear(8, 2, key=jax.random.key(0)), nn.BatchNorm1d(2))
net_out, state = net(x, state)
print(tuple(net_out.shape))
""",
    ),
    "annotated": (
        "net: nn.Module = Net(8)  # small\ny = net(x)\n",
        """net: nn.Module = Net(8)  # small
params = net.init(jax.random.key(0))
state = net.init_state(jax.random.key(1))
y, state = net(params, state, x, key=jax.random.key(2), training=True)
""",
        """net, state = eqx.nn.make_with_state(Net)(8, key=jax.random.key(0))  # small
y, state = net(x, state, key=jax.random.key(1))
""",
    ),
    "in_a_loop": (
        "net = nn.Dropout(0.5)\nys = []\nfor _ in range(2):\n    ys.append(net(x))\n"
        "print(bool((ys[0] == ys[1]).all()))\n",
        """net = nn.Dropout(0.5)
ys = []
stream = nn.key_stream(jax.random.key(0))
for _ in range(2):
    ys.append(net(x, key=next(stream), training=True))
print(bool((ys[0] == ys[1]).all()))
""",
        """net = nn.Dropout(0.5)
ys = []
stream = nn.key_stream(jax.random.key(0))
for _ in range(2):
    ys.append(net(x, key=next(stream)))
print(bool((ys[0] == ys[1]).all()))
""",
    ),
    "counted": (
        "net = Plain()\nprint(sum(p.numel() for p in net.parameters()))\n"
        "for name, p in net.named_parameters():\n    print(name, tuple(p.shape))\n",
        """net = Plain()
params = net.init(jax.random.key(0))
print(sum(p.size for p in jax.tree.leaves(params)))
for name, p in nn.named_parameters(net, params):
    print(name, tuple(p.shape))
""",
        """net = Plain(key=jax.random.key(0))
print(sum(p.size for p in nn.trained_leaves(net)))
for name, p in nn.named_parameters(net):
    print(name, tuple(p.shape))
""",
    ),
    "built_by_a_function": (
        """def run(n):
    net = Net(8)
    y = net(torch.randn(n, 8))
    net.eval()
    for _ in range(2):
        print(tuple(net(x).shape))
    return net(x)


print(tuple(run(2).shape))
""",
        """def run(n, *, key=None):
    keys = nn.split(key, 6)
    net = Net(8)
    params = net.init(keys[0])
    state = net.init_state(keys[1])
    y, state = net(params, state, jax.random.normal(keys[2], (n, 8)), key=keys[3], training=True)
    for k in nn.split(keys[4], 2):
        net_out, state = net(params, state, x, key=k)
        print(tuple(net_out.shape))
    net_out, state = net(params, state, x, key=keys[5])
    return net_out


print(tuple(run(2, key=jax.random.key(0)).shape))
""",
        """def run(n, *, key=None):
    keys = nn.split(key, 5)
    net, state = eqx.nn.make_with_state(Net)(8, key=keys[0])
    y, state = net(jax.random.normal(keys[1], (n, 8)), state, key=keys[2])
    net = eqx.nn.inference_mode(net)
    for k in nn.split(keys[3], 2):
        net_out, state = net(x, state, key=k)
        print(tuple(net_out.shape))
    net_out, state = net(x, state, key=keys[4])
    return net_out


print(tuple(run(2, key=jax.random.key(0)).shape))
""",
    ),
    "drawn_by_a_function": (
        "y = noise(3)\nprint(tuple(y.shape), bool((noise(3) == y).all()))\n",
        *[
            """y = noise(3, key=jax.random.key(0))
print(tuple(y.shape), bool((noise(3, key=jax.random.key(1)) == y).all()))
"""
        ]
        * 2,
    ),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_does_what_it_did(name, target, tmp_path, monkeypatch):
    script, *expected = SCRIPTS[name]
    code, support = _converted(script, target)
    if target != "flax":
        assert (
            code.partition("jnp.ones((3, 8))\n")[2].lstrip() == expected[TARGETS.index(target) // 2]
        )
    _put(support, tmp_path, monkeypatch)
    assert _printed(code) == _printed(HEAD + script)


def _converted(script, target):
    (made,), support, _ = engine.convert([given(HEAD + script)], "", target)
    assert not made.diagnostics, made.diagnostics
    return made.code, support


def _put(support, folder, monkeypatch):
    (folder / "jax_nn.py").write_text(support)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "jax_nn", raising=False)


def _printed(code):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "script", "exec"), {"__name__": "script"})
    return out.getvalue()


READ_BY_A_FUNCTION = """
net = nn.Sequential(nn.BatchNorm1d(8))


def run(x):
    return net(x)


y = run(x)
"""
HANDED = """
def run(model, x):
    return model(x)


net = Net(8)
y = run(net, x)
"""


@pytest.mark.parametrize("script", (READ_BY_A_FUNCTION, HANDED))
@pytest.mark.parametrize("target", ("functional", "equinox"))
def test_what_functions_run_is_told(script, target):
    (made,), *_ = engine.convert([given(HEAD + script)], "", target)
    assert "module-value" in [d.id for d in made.diagnostics]


CHANGED_FIRST = """
def fill(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.5)


net = Plain()
net.apply(fill)
net.fc.bias.data.zero_()
net.head = nn.Linear(8, 6)
print(tuple(net(x).shape), bool(torch.allclose(net(x), torch.full((3, 6), 4.0))))
"""
CHANGED_LATER = """
net = Net(8)
y = net(x)
net.fc = nn.Linear(8, 6)
y = net(x)
"""


def test_params_begin_behind_what_changes_the_model(tmp_path, monkeypatch):
    (made,), support, _ = engine.convert([given(HEAD + CHANGED_FIRST)], "", "functional")
    _put(support, tmp_path, monkeypatch)
    assert "net.head = nn.Linear(8, 6)\nparams = net.init(jax.random.key(0))\n" in made.code
    assert _printed(made.code) == _printed(HEAD + CHANGED_FIRST) == "(3, 6) True\n"


@pytest.mark.parametrize(
    "script, target",
    [(CHANGED_LATER, "functional"), (CHANGED_LATER, "equinox"), (CHANGED_FIRST, "equinox")],
)
def test_what_changes_once_it_has_run_is_told(script, target):
    (made,), *_ = engine.convert([given(HEAD + script)], "", target)
    told = {d.id for d in made.diagnostics}
    assert told & {"module-value", "parameter-write"}
