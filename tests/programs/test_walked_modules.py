"""Walks over modules of which nothing is known but that they are walked over: `modules`, `children` and their named forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, load

BLOCK = "class Block(nn.Sequential):\n    def __init__(self):\n        act = nn.ReLU()\n        super().__init__(nn.Linear(3, 4), act, nn.Linear(4, 3), act)\n\n\n"
MODULE = "class M(nn.Module):\n    def __init__(self, block):\n        super().__init__()\n{constructor}\n    def forward(self, x):\n{forward}"
KEPT = "self.block = block"
# name -> the constructor of M, which is given a block that no other code shows, and its forward
PROGRAMS = {
    "named children": ("self.net = nn.Sequential()\nfor name, m in block.named_children():\n    self.net.add_module(name, m)", "return self.net(x)"),
    "some children": ("self.net = nn.Sequential(*list(block.children())[:-1])", "return self.net(x)"),
    "named children in forward": (KEPT, "found = {}\nfor n, m in self.block.named_children():\n    if isinstance(m, nn.Linear):\n        x = x.view(-1, m.in_features)\n    x = m(x)\n    found[n] = x\nreturn found['2'] + x"),
    "children in forward": (KEPT, "for m in self.block.children():\n    x = m(x)\nreturn x"),
    "counted in forward": (KEPT, "n = len([m for m in self.block.modules() if isinstance(m, nn.Linear)])\nk = sum(len(name) for name, _ in self.named_modules())\nreturn self.block(x) * n * k"),
    "children counted in forward": (KEPT, "return self.block(x) * len([m for m in self.block.children() if isinstance(m, nn.Linear)])"),
    "of a layer with one twice": ("act = nn.Tanh()\nself.net = nn.Sequential(act, nn.Linear(3, 3), act)", "for m in self.net.children():\n    x = m(x)\nreturn x"),
}  # fmt: skip


def source_of(name):
    constructor, forward = ("".join(f"        {line}\n" for line in body.splitlines()) for body in PROGRAMS[name])
    return HEAD + BLOCK + MODULE.format(constructor=constructor, forward=forward)


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_give_what_torch_gives(name):
    source = source_of(name)
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    here, there = {}, load(result)
    exec(compile(source, "program.py", "exec"), here)
    torch_module, module = here["M"](here["Block"]()), there["M"](there["Block"]())
    params, state = from_torch(torch_module, module)
    assert jax.tree.structure(params) == jax.tree.structure(module.init(jax.random.key(0)))
    x = torch.randn(2, 3)
    got = module.apply(params, state, jnp.asarray(x.numpy()))[0]
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)


def test_a_list_of_children_is_one_display():
    code = convert_source(source_of("some children")).code
    assert "nn.Sequential(*list(nn.children(block))[:-1])" in code


LISTS = {
    "a list alone": "fill([self.body])",
    "a list and one": "fill([self.body])\nfill(self.body)",
}
FILL = "def fill(nets):\n    if not isinstance(nets, list):\n        nets = [nets]\n    for net in nets:\n        for m in net.modules():\n            if isinstance(m, nn.Linear):\n                nn.init.ones_(m.weight)\n\n\n"


@pytest.mark.parametrize("name", LISTS)
def test_what_is_put_into_a_list_if_it_is_none(name):
    constructor = "".join(f"        {line}\n" for line in ["self.body = nn.Sequential(nn.Linear(3, 3))", *LISTS[name].splitlines()])
    result = convert_source(HEAD + FILL + MODULE.format(constructor=constructor, forward="        return self.body(x)\n"))
    assert not result.diagnostics, (result.diagnostics, result.code)
    assert (load(result)["M"](None).init(jax.random.key(0))["body"]["0"]["weight"] == 1).all()


MASKED = """class Masked(nn.Linear):
    def __init__(self, n):
        super().__init__(n, n)
        self.register_buffer("mask", torch.ones(n, n))

    def set_mask(self, mask):
        self.mask.data.copy_(mask)

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class M(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(Masked(n), nn.ReLU(), Masked(n))
        for layer in [m for m in self.net.modules() if isinstance(m, Masked)]:
            layer.set_mask(torch.eye(n))

    def forward(self, x):
        return self.net(x)
"""


def test_a_method_that_sets_state_of_what_is_walked_over():
    result = convert_source(HEAD + MASKED)
    assert not result.diagnostics, (result.diagnostics, result.code)
    here, module = {}, load(result)["M"](3)
    exec(compile(HEAD + MASKED, "program.py", "exec"), here)
    torch_module = here["M"](3)
    params, state = from_torch(torch_module, module)
    begun = module.init_state(jax.random.key(0))
    for i in ("0", "2"):
        np.testing.assert_array_equal(begun["net"][i]["mask"], torch_module.net[int(i)].mask.numpy())
    x = torch.randn(2, 3)
    got = module.apply(params, state, jnp.asarray(x.numpy()))[0]
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)


BEGUN = """class B(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    def begin(self, value=0.0):
        nn.init.constant_(self.w, value)

    def forward(self, x):
        return x * self.w


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([B(), B()])
        self.w = nn.Parameter(torch.ones(3))
        self.b = B()
        self.b.begin()
        for i, b in enumerate(self.blocks):
            b.begin(i + 2.0)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.b(x) * self.w
"""


def test_methods_that_give_other_modules_first_values():
    result = convert_source(HEAD + BEGUN)
    assert not result.diagnostics, (result.diagnostics, result.code)
    here, module = {}, load(result)["M"]()
    exec(compile(HEAD + BEGUN, "program.py", "exec"), here)
    params, begun = from_torch(here["M"](), module)[0], module.init(jax.random.key(0))
    assert jax.tree.structure(params) == jax.tree.structure(begun)
    for path, want in jax.tree_util.tree_leaves_with_path(params):
        got = begun
        for entry in path:
            got = got[entry.key]
        np.testing.assert_array_equal(got, want, err_msg=f"{path}\n{result.code}")


APART = """class B(nn.Sequential):
    def __init__(self):
        super().__init__()
        self.add_module("norm", nn.BatchNorm1d(3))
        fc = nn.Linear(3, 3)
        nn.init.ones_(fc.bias)
        self.add_module("fc", fc)

    def forward(self, x):
        norm, fc = self._modules.values()
        return fc(norm(x) * 2)
"""
TURNED = """

class M(B):
    def __init__(self):
        nn.Module.__init__(self)
        self.fc = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
"""


@pytest.mark.parametrize("name, below", [("B", ""), ("M", TURNED)])
def test_children_that_are_taken_apart(name, below):
    result = convert_source(HEAD + APART + below)
    assert not result.diagnostics, (result.diagnostics, result.code)
    assert below or "norm, fc = self.norm, self.fc" in result.code
    here, module = {}, load(result)[name]()
    exec(compile(HEAD + APART + below, "program.py", "exec"), here)
    torch_module = here[name]()
    params, state = from_torch(torch_module, module)
    x = torch.randn(4, 3)
    got = module.apply(params, state, jnp.asarray(x.numpy()), training=True)[0]
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)
