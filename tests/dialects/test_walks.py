"""Walks over modules and params, and the order of trees."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
import torch

from transpile.command import engine
from transpile.proof.models import constructed

from ..proof.comparison import assert_close
from .small import HEAD, TARGETS, alone, program
from .verified import (
    built,
    close,
    converted,
    equinox_run,
    functional_run,
    given,
    in_float64,
    namespace,
    verify,
)


def test_a_walk_over_what_is_saved_begins_params():
    (made,), support, _ = engine.convert([given(program("saved_walk"))], "", "functional")
    params = converted(made.code, support)["Net"]().init(jax.random.key(0))
    assert float(params["bn"]["weight"].min()) == 2 and not params["fc"]["bias"].any()
    buffer = alone("saved_walk").replace("self.fc = ", "self.register_buffer('weight', torch.ones(3))\n        self.fc = ")
    (made,), _, _ = engine.convert([given(HEAD + buffer)], "", "functional")
    assert "array-while-building" in {d.id for d in made.diagnostics}


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
        inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
        arrays = [jnp.asarray(x.numpy()) for x in inputs]
        run = running(theirs, built(lambda **keys: cls(**keys), cls), False, arrays)
        want = theirs(*inputs)
        (want * want.cos()).sum().backward()
        got, (grads, _), _ = run()
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


@pytest.mark.parametrize("target", TARGETS)
def test_walks_over_buffers_raise_where_they_run(target):
    source = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('a', torch.ones(4))\n\n"
    source += "    def forward(self, x):\n        return x + sum(b.sum() for _, b in self.named_buffers())\n"
    (made,), support, _ = engine.convert([given(HEAD + source)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"]
    assert "named_buffers()" in made.code and "for _, b in self.named_buffers()" not in made.code


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
    """No others do, nor those whose modules are each set apart; nor in Equinox those whose fields
    tell it, and behind a branch they do not."""
    (made,), _, _ = engine.convert([given(HEAD + WALKED_AND_NOT)], "", target)
    assert made.code.count("(nn.OrderedModule)") == (target == "flax") and "_order" not in made.code
    branch = WALKED_AND_NOT.replace("self.z = nn.Linear(n, n)", "if n:\n            self.z = nn.Linear(n, n)")
    (made,), _, _ = engine.convert([given(HEAD + branch)], "", target)
    assert made.code.count("(nn.OrderedModule)") == (target == "flax")
    assert made.code.count("_order = tuple(") == (target == "equinox")


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
