"""One module or parameter under two names: one set of params, whose gradient is the sum of both uses, or it is reported."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..dialects.verified import verify
from ..small_programs import HEAD, load

pytestmark = pytest.mark.usefixtures("wide")

CLASSES = '''class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(6, 6)

    def forward(self, x):
        return torch.tanh(self.l(x))


class B(nn.Module):
    def __init__(self, l):
        super().__init__()
        self.l = l

    def forward(self, x):
        return torch.tanh(self.l(x))


'''
TWO = "self.b(self.a(x))"
LOOP = "x"  # after a loop over self.ls
ONCE = {
    "handed to two": ("l = nn.Linear(6, 6)\nself.s = B(l)\nself.t = B(l)", "self.t(self.s(x))"),
    "an attribute": ("self.a = nn.Linear(6, 6)\nself.b = self.a", TWO),
    "of a class of the user's": ("self.a = A()\nself.b = self.a", TWO),
    "only the second is called": ("self.a = nn.Linear(6, 6)\nself.b = self.a", "self.b(x)"),
    "a third name": ("self.a = nn.Linear(6, 6)\nself.b = self.a\nself.c = self.b", "self.c(self.b(x))"),
    "a local name": ("l = nn.Linear(6, 6)\nself.a = l\nself.b = l", TWO),
    "in one statement": ("self.a = self.b = nn.Linear(6, 6)", TWO),
    "a tuple": ("l = nn.Linear(6, 6)\nself.a, self.b = l, l", TWO),
    "on a condition": ("self.a = nn.Linear(6, 6)\nself.b = self.a if True else nn.Linear(6, 6)", TWO),
    "on no condition": ("self.a = nn.Linear(6, 6)\nself.b = self.a if False else nn.Linear(6, 6)", TWO),
    "in a branch": ("self.a = nn.Linear(6, 6)\nif self.a is not None:\n    self.b = self.a\nelse:\n    self.b = nn.Linear(6, 6)", TWO),
    "by add_module": ("l = nn.Linear(6, 6)\nself.add_module('a', l)\nself.add_module('b', l)", TWO),
    "in a list": ("l = nn.Linear(6, 6)\nself.ls = nn.ModuleList([l, l])", "self.ls[1](self.ls[0](x))"),
    "in a list before another": ("l = nn.Linear(6, 6)\nself.ls = nn.ModuleList([l, l, nn.Linear(6, 6)])", "self.ls[2](self.ls[1](x))"),
    "a list times three": ("l = nn.Linear(6, 6)\nself.ls = nn.ModuleList([l] * 3)", "self.ls[2](self.ls[0](x))"),
    "a display times three": ("self.ls = nn.ModuleList([A()] * 3)", LOOP),
    "in every turn of a comprehension": ("l = nn.Linear(6, 6)\nself.ls = nn.ModuleList([l for _ in range(3)])", LOOP),
    "appended in every turn": ("l = nn.Linear(6, 6)\nself.ls = nn.ModuleList()\nfor i in range(3):\n    self.ls.append(l)", "self.ls[1](x)"),
    "its own layer appended": ("self.ls = nn.ModuleList([nn.Linear(6, 6)])\nself.ls.append(self.ls[0])", "self.ls[1](self.ls[0](x))"),
    "two lists": ("l = nn.ModuleList([nn.Linear(6, 6)])\nself.ls = l + l", LOOP),
    "in a dict": ("l = nn.Linear(6, 6)\nself.d = nn.ModuleDict({'a': l, 'b': l})", "self.d['b'](self.d['a'](x))"),
    "in a Sequential": ("act = nn.PReLU()\nself.s = nn.Sequential(act, nn.Linear(6, 6), act)", "self.s(x)"),
    "a Sequential of a list times two": ("l = [nn.Linear(6, 6), nn.Tanh()]\nself.s = nn.Sequential(*(l * 2))", "self.s(x)"),
    "with state": ("bn = nn.BatchNorm1d(6)\nself.s = nn.Sequential(bn, nn.Linear(6, 6), bn)", "self.s(x)"),
    "a second name, with state": ("self.a = nn.BatchNorm1d(6)\nself.b = self.a", "self.b(self.a(x) * 2)"),
    "part of a list": ("self.ls = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])\nself.m = self.ls[1:]", "self.m[0](self.ls[0](x))"),
    "a parameter": ("self.p = nn.Parameter(torch.randn(6, 6))\nself.q = self.p", "x @ self.p @ self.q"),
    "a local parameter": ("p = nn.Parameter(torch.randn(6, 6))\nself.p = p\nself.q = p", "x @ self.p @ self.q"),
    "a parameter in one statement": ("self.p = self.q = nn.Parameter(torch.randn(6, 6))", "x @ self.p @ self.q"),
    "a parameter and a local name": ("p = self.p = nn.Parameter(torch.randn(6, 6))\nself.q = p", "x @ self.p @ self.q"),
    "a parameter in a tuple": ("p = nn.Parameter(torch.randn(6, 6))\nself.p, self.q = p, p", "x @ self.p @ self.q"),
    "a registered parameter": ("p = nn.Parameter(torch.randn(6, 6))\nself.register_parameter('p', p)\nself.register_parameter('q', p)", "x @ self.p @ self.q"),
    "a parameter of a layer": ("self.a = nn.Linear(6, 6)\nself.w = self.a.weight", "self.a(x) @ self.w"),
    "in a list of parameters": ("p = nn.Parameter(torch.randn(6, 6))\nself.ps = nn.ParameterList([p, p])", "x @ self.ps[0] @ self.ps[1]"),
    "parameters times two": ("self.ps = nn.ParameterList([nn.Parameter(torch.randn(6, 6))] * 2)", "x @ self.ps[0] @ self.ps[1]"),
    "in two containers": ("act = nn.PReLU()\nself.s = nn.Sequential(act, nn.Linear(6, 6))\nself.t = nn.Sequential(nn.Linear(6, 6), act)", "self.t(self.s(x))"),
    "in two containers, with state": ("bn, l = nn.BatchNorm1d(6), nn.Linear(6, 6)\nself.s = nn.Sequential(l, bn)\nself.t = nn.Sequential(bn, nn.Tanh(), l)", "self.t(self.s(x))"),
    "in lists of modules": ("self.s = A()\nself.ls = nn.ModuleList([self.s.l, nn.Linear(6, 6), self.s.l])", LOOP),
}  # fmt: skip
REPORTED = {
    "what two comprehensions go over": ("ms = [nn.Linear(6, 6), nn.Linear(6, 6)]\nself.a = nn.Sequential(*[nn.Sequential(m, nn.Tanh()) for m in ms])\nself.b = nn.Sequential(*[nn.Sequential(m) for m in ms])", TWO),
    "a layer of a submodule": ("self.s = A()\nself.t = A()\nself.t.l = self.s.l", "self.t(self.s(x))"),
    "handed from a submodule": ("self.s = A()\nself.t = B(self.s.l)", "self.t(self.s(x))"),
    "in two containers, one gone over": ("act = nn.PReLU()\nself.s = nn.Sequential(act, nn.Linear(6, 6))\nself.t = nn.Sequential(nn.Linear(6, 6), act)", "sum(m(x).sum() for m in self.t) + self.s(x)"),
    "in containers in a list": ("act = nn.PReLU()\nself.s, self.t = nn.Sequential(act), nn.Sequential(nn.Linear(6, 6), act)\nself.ls = nn.ModuleList([self.s, self.t])", "self.ls[1](self.ls[0](x))"),
    "a list in two containers": ("ls = [nn.Linear(6, 6) for _ in range(3)]\nself.ls = nn.ModuleList(ls)\nself.m = nn.Sequential(*ls)", "self.m(self.ls[0](x))"),
    "a list and its reverse": ("ls = [nn.Linear(6, 6) for _ in range(3)]\nself.ls = nn.ModuleList(ls)\nself.m = nn.ModuleList(ls[::-1])", "self.m[0](self.ls[0](x))"),
    "in each of a list": ("l = nn.Linear(6, 6)\nself.ls = nn.ModuleList([B(l) for _ in range(2)])", "self.ls[1](self.ls[0](x))"),
    "in what goes through": ("l = nn.Linear(6, 6)\nself.ls = nn.ModuleList([nn.Sequential(a, b) for a, b in zip([l, l], [nn.Tanh(), nn.ReLU()])])", "self.ls[1](self.ls[0](x))"),
    "put into a dict": ("l = nn.Linear(6, 6)\nself.s = nn.Sequential(l)\nself.d = nn.ModuleDict()\nself.d['a'] = l", "self.d['a'](self.s(x))"),
    "put into a list on some turns": ("l, ls = nn.Linear(6, 6), []\nfor i in range(2):\n    ls.append(l if i else nn.Linear(6, 6))\nself.s = nn.Sequential(l)\nself.t = nn.Sequential(*ls)", "self.t(self.s(x))"),
    "the data of another": ("self.s, self.t = A(), A()\nself.t.l.weight.data = self.s.l.weight.data", "self.t(self.s(x))"),
    "a parameter of a view of another": ("self.s, self.t = A(), A()\nself.t.l.weight = nn.Parameter(self.s.l.weight.t())", "self.t(self.s(x))"),
    "its own parameter of a view": ("self.s = A()\nself.p = nn.Parameter(self.s.l.weight.t())", "self.s(x) @ self.p"),
    "a view of the data of another": ("self.s, self.t = A(), A()\nself.t.l.weight.data = self.s.l.weight.data.transpose(0, 1)", "self.t(self.s(x))"),
    "made anew on some turns": ("l = nn.Linear(6, 6)\nself.ls = nn.ModuleList()\nfor i in range(2):\n    if i == 5:\n        l = nn.Linear(6, 6)\n    self.ls.append(nn.Sequential(l))", LOOP),
    "of a list of what a submodule holds": ("self.s = nn.Sequential(nn.Linear(6, 6), nn.Tanh())\nls = list(self.s.children())\nself.t = nn.Sequential(ls[0], nn.Tanh())", "self.t(self.s(x))"),
    "in a comprehension over a submodule": ("self.s = nn.Sequential(nn.Linear(6, 6), nn.Tanh())\nself.t = nn.Sequential(*[m for m in self.s])", "self.t(self.s(x))"),
    "in a loop over a submodule": ("self.s, ls = nn.Sequential(nn.Linear(6, 6), nn.Tanh()), []\nfor m in self.s.children():\n    ls.append(m)\nself.t = nn.Sequential(*ls)", "self.t(self.s(x))"),
    "of all below a submodule": ("self.s = nn.Sequential(A(), A())\nself.ls = nn.ModuleList([m for m in self.s.modules() if isinstance(m, nn.Linear)])", "self.ls[1](self.s(x))"),
    "of a dict of what a submodule holds": ("self.s = nn.Sequential(nn.Linear(6, 6), nn.Tanh())\nself.d = nn.ModuleDict(dict(self.s.named_children()))", "self.d['0'](self.s(x))"),
    "by setattr": ("l = nn.Linear(6, 6)\nfor n in 'ab':\n    setattr(self, n, l)", TWO),
}  # fmt: skip
# What is made once for all objects of a class.
MADE_ONCE = {
    "a default": "class D(nn.Module):\n    def __init__(self, l=nn.PReLU()):\n        super().__init__()\n        self.l = l\n\n    def forward(self, x):\n        return self.l(x) - 1\n\n\n",
    "an attribute of the class": "class D(nn.Module):\n    l = nn.Linear(6, 6)\n\n    def __init__(self):\n        super().__init__()\n        self.m = self.l\n\n    def forward(self, x):\n        return self.m(x)\n\n\n",
}  # fmt: skip


def source_of(body, result, classes=CLASSES):
    """A module M whose constructor has these lines and whose forward returns this."""
    made = "".join(f"        {line}\n" for line in body.splitlines())
    loop = "        for l in self.ls:\n            x = l(x)\n" if result == LOOP else ""
    init = f"    def __init__(self):\n        super().__init__()\n{made}"
    lines = f"{init}\n    def forward(self, x):\n{loop}        return {result}\n"
    return f"{HEAD}{classes}class M(nn.Module):\n{lines}"


def leaves(tree, path=""):
    if not isinstance(tree, dict):
        return {path[:-1]: np.asarray(tree)}
    return {name: leaf for key, part in tree.items() for name, leaf in leaves(part, f"{path}{key}.").items()}


_NOT_YET = ("in a list of parameters", "parameters times two")
_APART = pytest.mark.xfail(strict=True, reason="one parameter twice in a ParameterList is reported: it would be drawn twice")


@pytest.mark.parametrize("name", [pytest.param(n, marks=_APART) if n in _NOT_YET else n for n in ONCE])
def test_one_set_of_params(name):
    source = source_of(*ONCE[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    torch.manual_seed(0)
    torch_module, jax_module = scope["M"](), load(result)["M"]()
    params, state = from_torch(torch_module, jax_module)
    assert {k: v.shape for k, v in leaves(jax_module.init(jax.random.key(0))).items()} == {k: v.shape for k, v in leaves(params).items()}
    assert sum(p.numel() for p in torch_module.parameters()) == sum(leaf.size for leaf in leaves(params).values())
    x = torch.randn(4, 6)
    want = torch_module(x)
    want.sin().sum().backward()
    got, back, new_state = jax.vjp(lambda p: jax_module.apply(p, state, jnp.asarray(x.numpy()), training=True), params, has_aux=True)
    np.testing.assert_allclose(got, want.detach().numpy(), 1e-9, 1e-9, err_msg=result.code)
    parameters = dict(torch_module.named_parameters(remove_duplicate=False))
    for path, slope in leaves(back(jnp.cos(got))[0]).items():
        wanted = parameters[path].grad
        np.testing.assert_allclose(slope, 0 if wanted is None else wanted.numpy(), 1e-9, 1e-9, err_msg=f"{path}\n{result.code}")
    _, want_state = from_torch(torch_module, jax_module)
    for path, value in leaves(new_state).items():
        np.testing.assert_allclose(value, leaves(want_state)[path], 1e-9, 1e-9, err_msg=path)


_OWNED_IN_EQUINOX = {n for n in ONCE if "parameter" in n and n not in _NOT_YET} | {
    *("in two containers", "in two containers, with state", "in lists of modules"),
    *("an attribute", "of a class of the user's", "only the second is called", "a third name", "a local name"),
    *("in one statement", "a tuple", "by add_module", "a second name, with state", "part of a list", "handed to two"),
}


@pytest.mark.parametrize("name", sorted(_OWNED_IN_EQUINOX))
def test_equinox_has_one_owner(name):
    verify(source_of(*ONCE[name]), "M", "", [torch.randn(4, 6, dtype=torch.float64)], "equinox")


@pytest.mark.parametrize("name", [n for n in [*ONCE, *REPORTED] if n not in _OWNED_IN_EQUINOX])
def test_equinox_reports_what_it_trains_apart(name):
    """Its trees have a module in each place that it has."""
    found = {d.id for d in convert_source(source_of(*{**ONCE, **REPORTED}[name]), "equinox").diagnostics}
    assert found == {"shared-module"}


@pytest.mark.parametrize("name", REPORTED)
def test_what_stays_apart_is_reported(name):
    assert {d.id for d in convert_source(source_of(*REPORTED[name])).diagnostics} == {"shared-module"}


@pytest.mark.parametrize("value", ["self.a.weight.data.clone()", "self.a.weight.data * 2", "self.b.weight.data.t()", "torch.eye(6)"])
def test_data_of_its_own_are_not_reported(value):
    body = f"self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)\nself.b.weight.data = {value}"
    assert not convert_source(source_of(body, "self.b(self.a(x))")).diagnostics


NAMED_ALIKE = {
    "what two comprehensions make": "self.s = nn.Sequential(*[nn.Sequential(m, nn.Tanh()) for m in [nn.Linear(6, 6), nn.Linear(6, 6)]])\nself.t = nn.Sequential(*[nn.Sequential(m) for m in [nn.Linear(6, 6)]])",
    "what two loops make": "s, t = [], []\nfor m in [nn.Linear(6, 6), nn.Linear(6, 6)]:\n    s.append(nn.Sequential(m, nn.Tanh()))\nfor m in [nn.Linear(6, 6)]:\n    t.append(nn.Sequential(m))\nself.s, self.t = nn.Sequential(*s), nn.Sequential(*t)",
    "a name set anew": "ls = [nn.Linear(6, 6), nn.Tanh()]\nself.s = nn.Sequential(*ls)\nls = [nn.Linear(6, 6), nn.Tanh()]\nself.t = nn.Sequential(ls[0], ls[1])",
    "what only asks the layers of another": "self.s = nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 6))\nself.t = nn.Sequential(*[nn.Linear(m.out_features, 6) for m in self.s])\nfor m in self.s:\n    nn.init.ones_(m.weight)",
    "the names of another's": "self.s = nn.Sequential(nn.Linear(6, 6), nn.Tanh())\nself.t = nn.Sequential()\nfor name, m in self.s.named_children():\n    self.t.add_module(name, nn.Linear(6, 6))",
    "the functions of another": "self.s = nn.Sequential(nn.Linear(6, 6), nn.Tanh())\nself.t = nn.Sequential(self.s[1], nn.Linear(6, 6))",
}  # fmt: skip


@pytest.mark.parametrize("target", ["functional", "equinox"])
@pytest.mark.parametrize("name", NAMED_ALIKE)
def test_layers_apart_are_not_reported(name, target):
    found = convert_source(source_of(NAMED_ALIKE[name], "self.t(self.s(x))"), target).diagnostics
    assert "shared-module" not in [d.id for d in found], found


@pytest.mark.parametrize("target", ["functional", "equinox"])
@pytest.mark.parametrize("made", ["if i:\n    l = nn.Tanh()\nelse:\n    l = nn.Linear(6, 6)\nsetattr(self, f'l{i}', l)", "if i < 5:\n    ls = []\n    ls.append(nn.Linear(6, 6))\n    self.ls.append(nn.Sequential(*ls))"])
def test_what_each_turn_makes_is_not_reported(made, target):
    body = "self.ls = nn.ModuleList()\nfor i in range(2):\n" + "".join(f"    {line}\n" for line in made.splitlines())
    assert not convert_source(source_of(body, LOOP), target).diagnostics


@pytest.mark.parametrize("name", MADE_ONCE)
def test_what_is_made_once_for_a_class_is_reported(name):
    source = source_of("self.s = D()\nself.t = D()", "self.t(self.s(x))", MADE_ONCE[name])
    assert [d.id for d in convert_source(source).diagnostics] == ["shared-module"]
