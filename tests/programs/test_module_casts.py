"""Where a module is put means nothing in JAX; a dtype that its params would get is reported."""

import jax
import pytest

from tests.small_programs import HEAD, load
from transpile import convert_source

MODULE = HEAD + "class M(nn.Module):\n    def __init__(self, device='cpu', dtype=None, half=False):\n        super().__init__()\n        self.l = nn.Linear(3, 3)\n        {}\n\n    def forward(self, x):\n        return self.l(x)\n"
GONE = ["self.l.cuda()", "self.float()", "self.to(device)", "self.l.to(torch.float32)", "self.l = self.l.to(device)", "self.l = nn.Linear(3, 3).cuda().float()", "self.to(device, non_blocking=True)"]
REPORTED = [
    "self.half()",
    "self.l.double()",
    "self.l.to(torch.float16)",
    "self.l.to(device, dtype=torch.bfloat16)",
    "self.l.type(torch.DoubleTensor)",
    "self.l = nn.Linear(3, 3).half()",
    "self.half().cuda()",
    "self.l.to(dtype)",
    "self.l.to(**dict(dtype=dtype))",
]


@pytest.mark.parametrize("line", GONE)
def test_it_is_gone(line):
    result = convert_source(MODULE.format(line))
    assert not result.diagnostics, (result.diagnostics, result.code)
    assert load(result)["M"]().init(jax.random.key(0))["l"]["weight"].shape == (3, 3)


@pytest.mark.parametrize("line", REPORTED)
def test_it_is_reported_and_the_params_are_the_loaders_affair(line):
    result = convert_source(MODULE.format(line))
    assert [d.id for d in result.diagnostics] == ["taken-for-granted"], result.code
    module = load(result)["M"]()
    params = jax.tree.map(lambda leaf: leaf.astype("float16"), module.init(jax.random.key(0)))
    assert module(params, jax.numpy.ones((2, 3), "float16")).dtype == "float16"


# name -> what a constructor does with a module of which no other code tells, and what is reported
HANDED = {
    "put on a device": ("self.net = net.cuda()", []),
    "set to eval": ("self.net = net.to(device).eval()", []),
    "added": ("self.add_module('net', net.eval())", []),
    "cast": ("self.net = net.half()", ["taken-for-granted"]),
    "added as half": ("self.add_module('net', net.half())", ["taken-for-granted"]),
    "set to eval by a statement": ("self.net = net\n        net.eval()", []),
    "set to eval by its attribute": ("self.net = net\n        self.net.eval()", []),
    "cast by a statement": ("self.net = net\n        self.net.half()", ["taken-for-granted"]),
    "frozen by a statement": ("self.net = net\n        self.net.eval()\n        self.net.requires_grad_(False)", ["frozen-param"]),
}
HOLDER = HEAD + "class M(nn.Module):\n    def __init__(self, net, device='cpu'):\n        super().__init__()\n        {}\n\n    def forward(self, x):\n        return self.net(x)\n"


@pytest.mark.parametrize("name", HANDED)
def test_a_module_that_is_handed_in(name):
    line, ids = HANDED[name]
    result = convert_source(HOLDER.format(line))
    assert [d.id for d in result.diagnostics] == ids, (result.diagnostics, result.code)
    scope = load(result)
    assert scope["M"](scope["nn"].Module()).init(jax.random.key(0)) == {"net": {}}


# name -> what a constructor does with what another library makes, and what is reported
MADE = {
    "called": ("self.net = load()\n        self.net.eval()\n        self.net.zero_grad()", []),
    "called and cast": ("self.net = load()\n        self.net.half()", ["taken-for-granted"]),
    "called and frozen": ("self.net = load()\n        self.net.requires_grad_(False)", ["frozen-param"]),
    "taken apart": ("net = load()\n        net.eval()\n        self.net = net.features", ["left-over"]),
    "maybe trained": ("trainer = load()\n        trainer.train()\n        self.net = trainer.model", []),
}


@pytest.mark.parametrize("name", MADE)
def test_a_module_of_unknown_make(name):
    lines, ids = MADE[name]
    result = convert_source("from models import load\n" + HOLDER.format(lines))
    assert [d.id for d in result.diagnostics] == ids, (result.diagnostics, result.code)
    assert ("eval()" in result.code) == ("left-over" in ids)


def test_a_mode_that_a_forward_pass_sets_of_a_module_of_unknown_make():
    source = HOLDER.format("self.net = net").replace("return", "self.net.eval()\n        return")
    result = convert_source(source)
    assert not result.diagnostics and "training=False" in result.code, result.code
    assert "eval" not in result.code
