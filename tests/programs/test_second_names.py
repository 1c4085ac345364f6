"""A submodule under a second name has one set of params: values and gradients are torch's, or it is reported."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..against_torch import float64
from ..small_programs import HEAD, load

SUB = "class Sub(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.out = nn.Linear(6, 6)\n        self.fc = nn.Linear(6, 6)\n\n    def forward(self, x):\n        return self.fc(self.out(x))\n\n\n"
CLASS = SUB + "class M(nn.Module):\n    def __init__(self, i=1):\n        super().__init__()\n{}\n\n    def forward(self, x):\n        return {}\n"
SHARED = {
    "of a list": ("self.mods = nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6)])\nself.shared = self.mods[0]\nself.again = self.shared", "self.again(self.mods[1](self.shared(self.mods[0](x))))"),
    "the last": ("self.mods = nn.ModuleList()\nfor i in range(3):\n    self.mods.append(nn.Linear(6, 6))\nself.last = self.mods[-1]", "self.last(self.mods[2](x)) * self.last.weight.sum()"),
    "of a submodule": ("self.sub = Sub()\nself.out = self.sub.out\nnn.init.constant_(self.out.weight, 0.5)", "self.out(self.sub(x))"),
    "part of a Sequential": ("self.net = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))\nself.head = self.net[:2]", "self.head(self.net(x))"),
    "with state": ("self.net = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6))\nself.bn = self.net[1]", "self.bn(self.net(x))"),
    "moved": ("self.sub = Sub()\nself.out = self.sub.fc\nself.sub.fc = nn.Linear(6, 6)", "self.out(self.sub(x))"),
    "put into a container": ("self.bn = nn.BatchNorm1d(6)\nself.net = nn.Sequential(nn.Linear(6, 6), self.bn, nn.ReLU())", "self.net(x)"),
    "a list put into a Sequential": ("self.mods = nn.ModuleList([nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6)])\nself.net = nn.Sequential(*self.mods)", "self.net(x)"),
    "a list that grows, put into a Sequential": ("self.mods = nn.ModuleList([nn.Linear(6, 6)])\nfor k in range(2):\n    self.mods.append(nn.Tanh())\n    self.mods.append(nn.Linear(6, 6))\nself.net = nn.Sequential(*self.mods)", "self.net(x)"),
    "put into a list in a container": ("self.one, self.two = nn.Linear(6, 6), 2\nself.three = nn.Linear(6, 6)\nself.net = nn.ModuleList([nn.Sequential(self.three, nn.ReLU())])", "self.net[0](self.one(x))"),
    "in a container": ("sub = Sub()\nself.sub = sub\nself.stem = nn.Sequential(sub.out, nn.ReLU())", "self.stem(self.sub(x))"),
    "in a container, of a submodule": ("self.sub = Sub()\nself.stem = nn.Sequential(self.sub.out, nn.Tanh(), self.sub.fc, nn.Linear(6, 6))", "self.stem(self.sub(x)) * self.stem[3](x)"),
}  # fmt: skip
REPORTED = {
    "an index of the run's": ("self.mods = nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6)])\nself.one = self.mods[i]", "self.one(self.mods[1](x))"),
    "children": ("self.sub = Sub()\nself.stem = nn.Sequential(*list(self.sub.children())[:1])", "self.stem(self.sub(x))"),
    "under a condition": ("self.sub = Sub()\nif i:\n    self.out = self.sub.out\nelse:\n    self.out = nn.Linear(6, 6)", "self.out(self.sub(x))"),
}  # fmt: skip


def _source(body, result):
    return HEAD + CLASS.format("\n".join(f"        {line}" for line in body.splitlines()), result)


@pytest.mark.parametrize("name", SHARED)
def test_values_and_gradients(name):
    source = _source(*SHARED[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    with float64():
        torch_module, jax_module = scope["M"]().double(), load(result)["M"]()
        params, state = from_torch(torch_module, jax_module)
        assert jax.tree.structure(params) == jax.tree.structure(jax_module.init(jax.random.key(0)))
        x = torch.randn(4, 6, dtype=torch.float64)
        want = torch_module.eval()(x)
        want.sin().sum().backward()
        got, back = jax.vjp(lambda params: jax_module.apply(params, state, jnp.asarray(x.numpy()))[0], params)
        (gradients,) = back(jnp.cos(got))
        np.testing.assert_allclose(got, want.detach().numpy(), rtol=1e-9, atol=1e-9, err_msg=result.code)
        for path, parameter in torch_module.named_parameters():
            leaf = gradients
            for key in path.split(".") if path.split(".")[0] in params else ():
                leaf = leaf[key]
            if leaf is not gradients:
                np.testing.assert_allclose(leaf, 0.0 if parameter.grad is None else parameter.grad.numpy(), rtol=1e-9, atol=1e-9, err_msg=f"{path}\n{result.code}")


@pytest.mark.parametrize("name", REPORTED)
def test_it_is_reported(name):
    assert [d.id for d in convert_source(_source(*REPORTED[name])).diagnostics] == ["shared-module"]


def test_who_asks_for_the_second_name_finds_it():
    module = load(convert_source(_source(*SHARED["of a list"])))["M"]()
    assert module.shared is module.mods[0]
    assert list(module.init(jax.random.key(0))) == ["mods"]


def test_parts_of_what_does_not_run_are_not_reported():
    body = "self.sub = Sub()\nself.a = nn.Sequential(self.sub.out, nn.ReLU())\nself.b = nn.Sequential(self.sub.fc, nn.ReLU())"
    assert not convert_source(_source(body, "self.b(self.a(x))")).diagnostics


def test_a_name_that_is_asked_for_stays():
    body = "self.bn = nn.BatchNorm1d(6)\nself.net = nn.Sequential(nn.Linear(6, 6), self.bn)"
    assert list(load(convert_source(_source(body, "self.net(x)")))["M"]().init(jax.random.key(0))) == ["net"]
    read = convert_source(_source(body, "self.net(x) * self.bn.eps"))
    assert list(load(read)["M"]().init(jax.random.key(0))) == ["net"] and "self.net[1].eps" in read.code
    for result in ("self.net(x) * getattr(x, 'ndim') * getattr(self, 'b' + 'n').eps", "self.net(x) + len(list(self.children()))"):
        assert list(load(convert_source(_source(body, result)))["M"]().init(jax.random.key(0))) == ["bn", "net"]
