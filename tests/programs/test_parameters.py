"""Params whose data forward writes: values and gradients of the call are torch's, and a diagnostic says what does not last."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..against_torch import float64
from ..small_programs import HEAD, load

OWN = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.randn(6))\n\n    def forward(self, x):\n"
WRITES = {
    "clamped": OWN + "        self.w.data.clamp_(-0.5, 0.5)\n        return x * self.w",
    "given data": OWN + "        self.w.data = F.normalize(self.w.data, dim=0)\n        return x * self.w",
    "divided": OWN + "        with torch.no_grad():\n            self.w /= self.w.norm()\n        return x * self.w",
    "in a branch": OWN + "        if x.shape[0] > 2:\n            self.w.data.mul_(0.5)\n        return x * self.w",
    "at the first call": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.randn(6))\n        self.register_buffer('ready', torch.tensor(0))\n\n    def forward(self, x):\n        if not self.ready:\n            self.w[None].data.copy_(x.mean(0)).view_as(self.w)\n            self.ready += 1\n        return x * self.w",
    "of a submodule": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.line = nn.Linear(6, 6)\n\n    def forward(self, x):\n        self.line.weight.data.clamp_(-0.1, 0.1)\n        return self.line(x)",
    "of layers": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lines = nn.ModuleList(nn.Linear(6, 6) for _ in range(2))\n\n    def forward(self, x):\n        for line in self.lines:\n            line.weight.data *= 0.5\n            x = line(x)\n        return x",
    "in a method that returns early": OWN + "        self.clip()\n        return x * self.w\n\n    def clip(self):\n        if len(self.w) > 9:\n            return\n        self.w.data.clamp_(-0.5, 0.5)",
    "of the layer extended": "class M(nn.Linear):\n    def __init__(self):\n        super().__init__(6, 6)\n\n    def forward(self, x):\n        self.weight.data *= 0.5\n        return super().forward(x)",
}


@pytest.mark.parametrize("name", WRITES)
def test_values_and_gradients(name):
    source = HEAD + WRITES[name] + "\n"
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} == {"parameter-write"}, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    with float64():
        torch_module, jax_module = scope["M"]().double(), load(result)["M"]()
        params, state = from_torch(torch_module, jax_module)
        x = torch.randn(4, 6, dtype=torch.float64)
        want = torch_module(x)
        want.sin().sum().backward()
        given = jax.tree.map(lambda leaf: leaf, params)
        got, back = jax.vjp(lambda params: jax_module.apply(params, state, jnp.asarray(x.numpy()))[0], params)
        (gradients,) = back(jnp.cos(got))
        assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), given, params)), "the caller's params changed"
        np.testing.assert_allclose(got, want.detach().numpy(), rtol=1e-12, atol=1e-12)
        for path, parameter in torch_module.named_parameters():
            leaf = gradients
            for key in path.split("."):
                leaf = leaf[key]
            np.testing.assert_allclose(leaf, parameter.grad.numpy(), rtol=1e-12, atol=1e-12)


def test_a_method_that_forward_does_not_call_leaves_a_param():
    result = convert_source(HEAD + OWN + "        return x * self.w\n\n    def clip(self):\n        self.w.data.clamp_(-0.5, 0.5)\n")
    assert [d.id for d in result.diagnostics] == ["parameter-write"]
    assert "def __call__(self, params, x):" in result.code
    assert "def clip(self, params):" in result.code


LOOPS = {
    "clipped": "for p in self.parameters():\n    p.data.clamp_(-1, 1)",
    "averaged": "for p, t in zip(self.line.parameters(), self.target.parameters()):\n    t.data.mul_(0.9).add_(0.1 * p.data)",
    "by name": "for name, p in self.named_parameters():\n    if 'weight' in name:\n        p.copy_(p * 0)",
    "given data": "for p, t in zip(self.line.parameters(), self.target.parameters()):\n    t.data = t.data * 0.9 + p.data * 0.1",
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_that_writes_params_is_refused(name):
    body = "".join(f"        {line}\n" for line in LOOPS[name].splitlines())
    made = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.line, self.target = nn.Linear(6, 6), nn.Linear(6, 6)\n\n"
    result = convert_source(HEAD + made + "    @torch.no_grad()\n    def update(self):\n" + body + "\n    def forward(self, x):\n        return self.line(x)\n")
    assert [d.id for d in result.diagnostics] == ["parameter-write"], result.code
    assert 'nn.unconverted("parameter-write"' in result.code


COPIES = {
    "averaged": "def soft_update(target, source, tau):\n    for t, p in zip(target.parameters(), source.parameters()):\n        t.data.copy_(t.data * (1.0 - tau) + p.data * tau)\n",
    "by name": "def copy(target, source):\n    found = dict(source.named_parameters())\n    for name, p in target.named_parameters():\n        p.data.copy_(found[name].data)\n",
    "clipped": "def clip(model, c):\n    for p in model.parameters():\n        p.data.clamp_(-c, c)\n",
}
PAIR = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.line, self.target = nn.Linear(6, 6), nn.Linear(6, 6)\n        {}\n\n    def forward(self, x):\n        return self.line(x) + self.target(x)\n"
STARTS = {
    "in a function": "def hard_update(target, source):\n    for t, p in zip(target.parameters(), source.parameters()):\n        t.data.copy_(p.data)\n\n\n" + PAIR.format("hard_update(self.target, self.line)"),
    "in the constructor": PAIR.format("for p, t in zip(self.line.parameters(), self.target.parameters()):\n            t.data.copy_(p.data)\n            t.requires_grad = False"),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_function_that_writes_the_params_of_what_it_is_given_is_refused(name):
    result = convert_source(HEAD + COPIES[name])
    assert "parameter-write" in {d.id for d in result.diagnostics}, result.code
    assert 'nn.unconverted("parameter-write"' in result.code


@pytest.mark.parametrize("name", STARTS)
def test_params_that_start_as_those_of_another_module_are_refused_where_it_is_built(name):
    source = HEAD + STARTS[name]
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} - {"frozen-param"} == {"module-walk"}, result.code
    with pytest.raises(NotImplementedError, match="module-walk"):
        load(result)["M"]()


def test_a_name_for_a_param_that_is_written_leaves_it_a_param():
    result = convert_source(HEAD + OWN + "        w = self.w\n        w.data.add_(1)\n        return x * self.w + w\n")
    assert [d.id for d in result.diagnostics] == ["parameter-write"], result.code
    assert 'params = nn.with_data(params, ("w",), w)' in result.code and "init_state" not in result.code


def test_params_that_a_caller_may_give():
    source = HEAD + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.vars = nn.ParameterList([nn.Parameter(torch.randn(6, 6)), nn.Parameter(torch.randn(6))])
        self.line = nn.Linear(6, 6)

    def forward(self, x, vars=None, line=None):
        if vars is None:
            vars = self.vars
        if line is None:
            line = self.line
        return line(F.linear(x, vars[0], vars[1]))
"""
    result = convert_source(source)
    assert not result.diagnostics
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    torch_module, jax_module = scope["M"](), load(result)["M"]()
    params, _ = from_torch(torch_module, jax_module)
    x, fast = torch.randn(4, 6), [torch.randn(6, 6), torch.randn(6)]
    for given in ((), (fast,), (fast, torch.tanh)):
        arrays = [[jnp.asarray(t.numpy()) for t in g] if isinstance(g, list) else jnp.tanh for g in given]
        got = jax_module(params, jnp.asarray(x.numpy()), *arrays)
        np.testing.assert_allclose(got, torch_module(x, *given).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_requires_grad_of_params_is_true_and_said_so():
    source = HEAD + OWN + """        reg = 0
        for p in self.parameters():
            if not p.requires_grad:
                continue
            reg = reg + (p ** 2).sum()
        return x * reg

    def count(self):
        return sum(p.numel() for p in self.parameters() if p.requires_grad)

    def trained(self):
        return list(filter(lambda p: p.requires_grad, self.parameters()))
"""
    result = convert_source(source)
    assert [d.id for d in result.diagnostics] == ["taken-for-granted"] * 2
    module = load(result)["M"]()
    params = {"w": jnp.arange(6.0)}
    assert module.count(params) == 6 and len(module.trained(params)) == 1
    np.testing.assert_allclose(module(params, jnp.ones(6)), 55)


def test_a_parameter_that_is_computed_on_another_way():
    source = HEAD + """
class M(nn.Module):
    def __init__(self, apart=False):
        super().__init__()
        self.apart = apart
        w = torch.randn(6, 6)
        if apart:
            self.l, self.u = nn.Parameter(torch.tril(w)), nn.Parameter(torch.triu(w))
        else:
            self.w = nn.Parameter(w)

    def forward(self, x):
        if self.apart:
            self.w = self.l @ self.u
        return F.linear(x, self.w)
"""
    result = convert_source(source)
    assert not result.diagnostics
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    made, x = load(result)["M"], torch.randn(4, 6)
    for apart in (False, True):
        torch_module, jax_module = scope["M"](apart), made(apart)
        params, _ = from_torch(torch_module, jax_module)
        assert sorted(params) == sorted(dict(torch_module.named_parameters()))
        assert jax.tree.structure(jax_module.init(jax.random.key(0))) == jax.tree.structure(params)
        np.testing.assert_allclose(jax_module(params, jnp.asarray(x.numpy())), torch_module(x).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_a_parameter_of_one_call_is_a_constant():
    source = HEAD + OWN + "        y = x * self.w + nn.Parameter(x * 2, requires_grad=False)\n        return y + nn.Parameter(self.w * 3)\n"
    result = convert_source(source)
    assert not result.diagnostics
    module, w, x = load(result)["M"](), jnp.arange(6.0), jnp.ones(6)
    np.testing.assert_allclose(module({"w": w}, x), 4 * w + 2)
    np.testing.assert_allclose(jax.grad(lambda p: module(p, x).sum())({"w": w})["w"], jnp.ones(6))


def test_a_parameter_that_forward_makes_and_keeps_is_state():
    result = convert_source(HEAD + OWN + "        if x.shape[0] > 2:\n            self.v = nn.Parameter(x[0])\n        return x * self.w\n")
    assert not result.diagnostics
    module, x = load(result)["M"](), jnp.arange(18.0).reshape(3, 6)
    y, state = module({"w": jnp.arange(6.0)}, {}, x)
    np.testing.assert_allclose(y, x * jnp.arange(6.0))
    np.testing.assert_allclose(state["v"], x[0])


FROZEN = {
    "made so": ("self.line.weight = nn.Parameter(torch.zeros(6, 6), requires_grad=False)", "this parameter"),
    "one param": ("self.line.weight.requires_grad = False", "self.line.weight"),
    "all of a layer": ("for p in self.line.parameters():\n            p.requires_grad = False", "p"),
    "some": ("for n, p in self.named_parameters():\n            if 'weight' in n:\n                p.requires_grad_(False)", "p"),
    "a layer": ("self.line.requires_grad_(False)", "self.line"),
}


@pytest.mark.parametrize("name", FROZEN)
def test_what_is_not_trained_is_said_once_a_method(name):
    lines, what = FROZEN[name]
    method = "\n\n    def freeze(self):\n        for m in self.children():\n            for p in m.parameters():\n                p.requires_grad = False\n"
    made = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.line = nn.Linear(6, 6)\n        "
    result = convert_source(HEAD + made + lines + method + "\n    def forward(self, x):\n        return self.line(x)\n")
    assert [d.id for d in result.diagnostics] == ["frozen-param"] * 2
    assert [d.message.partition(" is not trained")[0] for d in result.diagnostics] == [what, "p"]
    assert "def freeze(self):\n        pass" in result.code and "for " not in result.code


@pytest.mark.parametrize(
    "lines",
    [
        "if learned:\n    self.w = nn.Parameter(w)\nelse:\n    self.register_buffer('w', w)",
        "if learned:\n    self.w = nn.Parameter(w)\nelse:\n    self.w = w",
        "if not learned:\n    self.register_buffer('w', torch.ones(6) * 1)\nelse:\n    self.w = nn.Parameter(w)",
        "if not learned:\n    self.register_buffer('w', torch.ones(6))\nelse:\n    self.register_parameter('w', nn.Parameter(w))",
        "self.w = nn.Parameter(w, requires_grad=learned)",
        "self.w = nn.Parameter(w) if learned else torch.ones(6)",
    ],
)
def test_what_is_trained_on_one_way_only_is_said(lines):
    body = "".join(f"        {line}\n" for line in f"w = torch.ones(6)\n{lines}".splitlines())
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self, learned=False):\n        super().__init__()\n{body}\n    def forward(self, x):\n        return x * self.w\n"
    result = convert_source(source)
    assert [d.id for d in result.diagnostics] == ["frozen-param"], result.code
    assert (load(result)["M"]().init(jax.random.key(0))["w"] == 1).all()


@pytest.mark.parametrize("flag, said", [("False", ["frozen-param"]), ("learned", ["frozen-param"]), ("True", [])])
def test_a_function_that_makes_a_param_which_is_not_trained_is_said(flag, said):
    made = f"def made(n, learned):\n    return nn.Parameter(torch.zeros(n), requires_grad={flag})\n\n\n"
    cls = "class M(nn.Module):\n    def __init__(self, learned=True):\n        super().__init__()\n        self.w = made(6, learned)\n\n    def forward(self, x):\n        return x + self.w\n"
    assert [d.id for d in convert_source(HEAD + made + cls).diagnostics] == said


def test_of_a_loop_that_freezes_several_modules_nothing_stays():
    loops = "for m in [self.a, self.b]:\n            for p in m.parameters():\n                p.requires_grad = False\n        for name in ('a', 'b'):\n            for p in getattr(self, name).parameters():\n                p.requires_grad_(False)\n"
    made = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)\n        "
    result = convert_source(HEAD + made + loops + "\n    def forward(self, x):\n        return self.b(self.a(x))\n")
    assert {d.id for d in result.diagnostics} == {"frozen-param"}
    assert "for " not in result.code


def test_a_helper_that_freezes_any_module_is_said():
    helper = "def set_requires_grad(nets, requires_grad=False):\n    if not isinstance(nets, list):\n        nets = [nets]\n    for net in nets:\n        for param in net.parameters():\n            param.requires_grad = requires_grad\n"
    assert [d.id for d in convert_source(HEAD + helper).diagnostics] == ["frozen-param"]
