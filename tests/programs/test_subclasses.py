"""The user's classes that extend torch's layers: with torch's weights they compute what torch does, in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tests.small_programs import HEAD, array, leaves, load, three
from transpile import convert_source, from_torch
from transpile.proof.initial import verify_init

pytestmark = pytest.mark.usefixtures("wide")

# name -> definitions that end in a module M; it is called with x of shape (4, 6)
MODULES = {
    "dtype of a weight": "class M(nn.Conv1d):\n    def __init__(self):\n        super().__init__(4, 4, 1, bias=False)\n        import numpy as np\n        self.eye = torch.from_numpy(np.eye(4, dtype='float32')[:, :, None]).type_as(self.weight)\n        nn.init.zeros_(self.weight)\n\n    def forward(self, x):\n        return F.conv1d(x[None], self.weight + self.eye)",
    "a number in the base, a parameter below": "class G(nn.Module):\n    def __init__(self, p=3):\n        super().__init__()\n        self.p = float(p)\n\n    def forward(self, x):\n        return x * self.p\n\n\nclass P(G):\n    def __init__(self):\n        super().__init__()\n        self.p = nn.Parameter(torch.ones(1) * 2)\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = G(), P()\n\n    def forward(self, x):\n        return self.a(x) + self.b(x)",
    "a partial in place as a layer": "from functools import partial\n\nact = partial(F.relu, inplace=True)\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.act = act\n\n    def forward(self, x):\n        return self.act(x * 2)",
    "inplace by its place": "class M(nn.LeakyReLU):\n    def __init__(self, slope=0.2, inplace=False):\n        super(M, self).__init__(slope, inplace)\n\n    def forward(self, x):\n        return F.leaky_relu(x * 2, self.negative_slope, self.inplace)",
    "inplace by its place, through the class": "class M(nn.ReLU):\n    def __init__(self, inplace=False):\n        nn.ReLU.__init__(self, inplace)\n\n    def forward(self, x):\n        return super().forward(x * 2)",
    "no constructor of its own": "class Mine(nn.Linear):\n    def forward(self, x):\n        return super().forward(x) * 2\n\n\nclass M(nn.Module):\n    def __init__(self, **kwargs):\n        super().__init__()\n        where = {'device': kwargs.get('device', None), 'dtype': kwargs.get('dtype', None)}\n        self.a = Mine(6, 5, device=None)\n        self.b = Mine(5, 3, bias=False, **where)\n\n    def forward(self, x):\n        return self.b(self.a(x))",
    "forward of the base by its name": "class M(nn.LayerNorm):\n    def __init__(self):\n        nn.LayerNorm.__init__(self, normalized_shape=4)\n\n    def forward(self, x):\n        return nn.LayerNorm.forward(self, x.t()).t()",
    "shape of a weight": "class M(nn.Linear):\n    def __init__(self):\n        super().__init__(6, 3, bias=False)\n        self.mask = torch.ones(self.weight.shape).tril()\n        self.n = self.weight.size(1) + (self.bias is not None)\n\n    def forward(self, x):\n        return F.linear(x, self.weight * self.mask, self.bias) * self.n",
    "a tag on a weight": "class M(nn.Linear):\n    def __init__(self):\n        super().__init__(6, 3)\n        self.weight.fast = None\n        if self.bias is not None:\n            self.bias.fast = None\n\n    def forward(self, x):\n        if self.weight.fast is not None and self.bias.fast is not None:\n            return F.linear(x, self.weight.fast, self.bias.fast)\n        return super().forward(x)",
    "named parameters": "from collections import OrderedDict\n\n\nclass M(nn.Linear):\n    def __init__(self):\n        super().__init__(6, 3, bias=False)\n\n    def forward(self, x, params=None):\n        if params is None:\n            params = OrderedDict(self.named_parameters())\n        return F.linear(x, params['weight'], params.get('bias', None))",
    "parameters in order": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(6, 3)\n        self.z = nn.Parameter(torch.ones(3))\n        self.a = nn.Parameter(torch.ones(3) * 2)\n\n    def forward(self, x):\n        names = [n for n, _ in self.named_parameters()]\n        first, second, third, fourth = self.parameters()\n        return self.fc(x) * first - second * len(names) + third.sum() * 2 + fourth.sum()",
    "method of a layer": "class M(nn.Conv1d):\n    def __init__(self):\n        super().__init__(4, 2, 3)\n\n    def forward(self, x):\n        return self._conv_forward(x.unsqueeze(0), self.weight * 2, self.bias)",
    "mixin before a layer": "class Flat(nn.Module):\n    def forward(self, x):\n        return super(Flat, self).forward(x.view(8, 3)).view(4, 6)\n\n\nclass M(Flat, nn.LayerNorm):\n    def __init__(self):\n        super().__init__(3)",
    "mixin before two layers": "class Flat(nn.Module):\n    def forward(self, x):\n        return super(Flat, self).forward(x.view(8, 3)).view(4, -1)\n\n\nclass Soft(Flat, nn.Softmax):\n    pass\n\n\nclass Line(Flat, nn.Linear):\n    pass\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.line = Line(3, 3)\n        self.soft = Soft(dim=1)\n\n    def forward(self, x):\n        return self.soft(self.line(x))",
    "mixin before a class of the user's": "class Norm(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n        self.w = nn.Parameter(torch.ones(d) * 2)\n\n    def forward(self, x):\n        return x * self.w\n\n\nclass Flat(nn.Module):\n    def forward(self, x):\n        return super().forward(x.view(8, 3)).view(4, 6)\n\n\nclass Both(Flat, Norm):\n    pass\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.n = Both(3)\n\n    def forward(self, x):\n        return self.n(x)",
    "arguments handed on": "class Watch(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('low', torch.zeros(1))\n\n    def forward(self, x):\n        self.low.copy_(x.min())\n\n\nclass Base(nn.Module):\n    def __init__(self, watch, bits):\n        super().__init__()\n        self.watch, self.bits = watch, bits\n\n    def forward(self, x):\n        if self.training:\n            self.watch(x)\n        return x * self.bits - self.watch.low\n\n\nclass Sub(Base):\n    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.q = Sub(bits=3, watch=Watch())\n\n    def forward(self, x):\n        return self.q(x)",
    "statistics that nobody reads": "class M(nn.BatchNorm1d):\n    def __init__(self):\n        super().__init__(6)\n\n    def forward(self, x):\n        zeros = torch.zeros(x.size(1))\n        ones = torch.ones(x.size(1))\n        return F.batch_norm(x, zeros, ones, self.weight, self.bias, training=True, momentum=1)",
    "a norm that holds a layer with state": "class M(nn.BatchNorm1d):\n    def __init__(self, act=nn.Identity):\n        super().__init__(6)\n        self.act = act()\n        self.register_buffer('seen', torch.zeros(1))\n\n    def forward(self, x):\n        x = super().forward(x)\n        self.seen += 1\n        return self.act(x) * self.seen",
    "forward of a Sequential of the user's": "class Base(nn.Sequential):\n    def __init__(self, n=6, layers=2):\n        core = [nn.Sequential(nn.Linear(n, n), nn.BatchNorm1d(n))]\n        for _ in range(layers - 1):\n            core.append(nn.BatchNorm1d(n))\n        super(Base, self).__init__(*core)\n\n\nclass M(Base):\n    def __init__(self, n=6):\n        super(M, self).__init__(n=n)\n\n    def forward(self, x):\n        x = super(M, self).forward(x)\n        return x.reshape(x.size(1), -1)",
    "inplace that nobody sets": "def relu_dropout(x, p=0, inplace=False, training=False):\n    if not training or p == 0:\n        return x.clamp_(min=0) if inplace else x.clamp(min=0)\n    return x.clamp(min=0) * (1 - p)\n\n\nclass M(nn.Dropout):\n    def forward(self, x):\n        return relu_dropout(x, p=self.p, inplace=self.inplace, training=self.training)",
    "attention that asks how it is built": "class M(nn.MultiheadAttention):\n    def __init__(self, *args, **kwargs):\n        super().__init__(6, 2, *args, **kwargs)\n\n    def forward(self, x):\n        weight = self.in_proj_weight if self._qkv_same_embed_dim else self.q_proj_weight\n        return F.linear(x, weight)",
    "an attribute that the layer sets too": "class M(nn.modules.loss._WeightedLoss):\n    def __init__(self, weight: torch.Tensor = None, reduction='sum'):\n        super().__init__(weight=weight, reduction=reduction)\n        self.weight = weight\n        self.reduction = reduction\n\n    def forward(self, x):\n        if self.weight is not None:\n            x = x * self.weight\n        return x.sum() if self.reduction == 'sum' else x",
    "eval at the end of a constructor": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(6, 3)\n        self.eval()\n\n    def forward(self, x):\n        return self.fc(x)",
    "a local of one branch": "class M(nn.Module):\n    def __init__(self, n=None):\n        super().__init__()\n        if n is None:\n            self.k = 2\n        else:\n            p = list(range(n))\n            self.p = nn.Parameter(torch.tensor(p))\n\n    def forward(self, x):\n        return x * self.k",
    "rebuilt by a method that nobody calls": "class M(nn.Module):\n    def __init__(self, d=6):\n        super().__init__()\n        self.d = d\n        assert self.d > 0\n        self.fc = nn.Linear(d, d)\n\n    def prune(self, n):\n        self.fc = nn.Linear(6, self.d - n)\n        self.d = self.d - n\n\n    def forward(self, x):\n        return self.fc(x) / self.d",
    "a buffer that is only moved": "class M(nn.Module):\n    def __init__(self, wide=True):\n        super().__init__()\n        if wide:\n            self.grid = torch.ones(2, 6)\n        else:\n            self.grid = torch.ones(1, 6)\n        self.n = self.grid.shape[0]\n\n    def forward(self, x):\n        self.grid = self.grid.to(x.device)\n        return x * self.grid.sum(0) * self.n",
    "a state that a method resets": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.reset()\n\n    def reset(self):\n        self.total = torch.zeros(1)\n\n    def forward(self, x):\n        self.total = self.total + x.sum()\n        return x + self.total",
    "a method named like a parameter above": "class B(nn.Module):\n    def __init__(self, n=3):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(n) * n)\n\n    def forward(self, x):\n        return x * self.a.sum()\n\n\nclass M(B):\n    def n(self, x):\n        return x * 10\n\n    def forward(self, x):\n        return self.n(super().forward(x))",
    "an attribute that is set again below": "class B(nn.Module):\n    def __init__(self, n=3):\n        super().__init__()\n        self.n = n * 2\n        self.a = nn.Parameter(torch.ones(self.n) * n)\n        self.register_buffer('t', torch.arange(self.n))\n\n    def forward(self, x):\n        return x * self.a.sum() + self.t.sum()\n\n\nclass M(B):\n    def __init__(self, n=5):\n        super().__init__(n + 1)\n        self.n = n",
    "an attribute that a method sets": "class M(nn.Module):\n    def __init__(self, n=3):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(n))\n        self.setup()\n\n    def setup(self):\n        self.n = 7\n\n    def forward(self, x):\n        return x * self.a.sum() * self.n",
    "an attribute of the class": "class M(nn.Module):\n    n = 9\n\n    def __init__(self, n=3):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(n))\n\n    def forward(self, x):\n        return x * self.a.sum() * self.n",
    "parameters named like methods of a module": "class M(nn.Module):\n    def __init__(self, init=0.5, apply=2):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(6) * init * apply)\n\n    def forward(self, x):\n        return x * self.a",
    "a stride of its own": "class M(nn.Conv1d):\n    def __init__(self, c=4, stride=2):\n        super().__init__(c, c, 1, stride=1)\n        self.p = nn.Parameter(torch.ones(1) * stride)\n\n    def forward(self, x):\n        return super().forward(x[None]) * self.p",
    "an eps of its own": "class M(nn.LayerNorm):\n    def __init__(self, d=6, eps=3.0):\n        super().__init__(d, eps=1e-6)\n        self.g = nn.Parameter(torch.ones(1) * eps)\n\n    def forward(self, x):\n        return super().forward(x) * self.g",
}  # fmt: skip

# a tag that is given where the module is not known, and what a module has no arrays for
REFUSED = {
    "a tag from outside": "class M(nn.Linear):\n    def __init__(self):\n        super().__init__(6, 3)\n        self.weight.fast = None\n\n    def forward(self, x):\n        return F.linear(x, self.weight if self.weight.fast is None else self.weight.fast)\n\n\ndef step(model, x):\n    for w in model.parameters():\n        w.fast = w - 0.1\n    return model(x)",
    "values of a weight in a constructor": "class M(nn.Linear):\n    def __init__(self):\n        super().__init__(6, 3)\n        self.first = float(self.weight.sum())\n\n    def forward(self, x):\n        return x * self.first",
    "buffers in forward": "class M(nn.BatchNorm1d):\n    def forward(self, x):\n        return x + sum(b.sum() for b in self.buffers())",
}  # fmt: skip


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", MODULES)
def test_module(name, training):
    source = HEAD + MODULES[name] + "\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    torch_module, jax_module = scope["M"](), load(result)["M"]()
    jax_module.init(jax.random.key(0))
    params, state = from_torch(torch_module, jax_module)
    torch_module.train(training)
    run = jax.jit(lambda params, state, x: jax_module.apply(params, state, x, key=jax.random.key(1), training=training))
    for x, _ in three():
        got, state = run(params, state, jnp.asarray(x.numpy()))
        for g, w in zip(leaves(got), leaves(torch_module(x.clone())), strict=True):
            np.testing.assert_allclose(g, array(w), 1e-9, 1e-9, err_msg=result.code)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    result = convert_source(HEAD + REFUSED[name] + "\n")
    found = {d.id for d in result.diagnostics}
    assert found and found <= {"module-value", "array-while-building", "array-attribute"}, result.code


# models whose constructors give all params and buffers fixed values: init gives the same
FILLED = {
    "params and buffers of the class above": "class B(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(6))\n        self.register_buffer('m', torch.ones(6))\n        self.register_buffer('k', torch.arange(6.0))\n\n    def forward(self, x):\n        return x * self.a + self.m * self.k\n\n\nclass M(B):\n    def __init__(self):\n        super().__init__()\n        nn.init.constant_(self.a, 9.0)\n        self.a.data.add_(1.0)\n        self.m = torch.ones(6) * 3",
    "in place on what is inherited": "class B(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(6))\n        self.register_buffer('m', torch.ones(6))\n        self.register_buffer('k', torch.arange(6.0))\n\n    def forward(self, x):\n        return x * self.a + self.m * self.k\n\n\nclass M(B):\n    def __init__(self):\n        super().__init__()\n        with torch.no_grad():\n            self.a *= 3\n        self.m.mul_(2.0)",
    "a module beside inherited params": "class B(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(6))\n        self.register_buffer('m', torch.ones(6))\n        self.register_buffer('k', torch.arange(6.0))\n\n    def forward(self, x):\n        return x * self.a + self.m * self.k\n\n\nclass M(B):\n    def __init__(self):\n        super().__init__()\n        self.lin = nn.Linear(6, 6)\n        nn.init.eye_(self.lin.weight)\n        nn.init.zeros_(self.lin.bias)\n\n    def forward(self, x):\n        return self.lin(super().forward(x))",
    "added to the bias of a submodule": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lin = nn.Linear(6, 6)\n        nn.init.eye_(self.lin.weight)\n        nn.init.zeros_(self.lin.bias)\n        with torch.no_grad():\n            self.lin.bias += 2\n\n    def forward(self, x):\n        return self.lin(x)",
    "a loop over the values of a submodule": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lin = nn.Linear(6, 6)\n        nn.init.eye_(self.lin.weight)\n        nn.init.zeros_(self.lin.bias)\n        for i in range(3):\n            self.lin.bias.data.add_(i)\n\n    def forward(self, x):\n        return self.lin(x)",
    "a loop that does more": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lin = nn.Linear(6, 6)\n        nn.init.eye_(self.lin.weight)\n        nn.init.zeros_(self.lin.bias)\n        for i in range(3):\n            self.last = i\n            self.lin.bias.data.add_(i)\n\n    def forward(self, x):\n        return self.lin(x) * self.last",
    "statistics of a submodule": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm1d(6)\n        self.bn.running_mean.fill_(3.0)\n        self.bn.running_var.data.copy_(torch.arange(6) + 1)\n\n    def forward(self, x):\n        return self.bn(x)",
    "statistics in a method": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm1d(6)\n        self.load()\n\n    def load(self):\n        self.bn.running_mean.data.copy_(torch.arange(6))\n        self.bn.weight.data.fill_(4.0)\n\n    def forward(self, x):\n        return self.bn(x)",
    "statistics by a walk": "def fill(m):\n    if isinstance(m, nn.BatchNorm1d):\n        m.running_var.fill_(9.0)\n        m.running_mean.fill_(1.0)\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = nn.Sequential(nn.BatchNorm1d(6))\n        self.bn = nn.BatchNorm1d(6)\n        self.bn.running_mean.fill_(5.0)\n        self.apply(fill)\n        self.net[0].running_mean.fill_(2.0)\n        self.bn.running_var.fill_(4.0)\n\n    def forward(self, x):\n        return self.net(self.bn(x))",
    "buffers of a submodule": "class S(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('b', torch.zeros(6))\n        self.register_buffer('k', torch.arange(6.0))\n\n    def forward(self, x):\n        return x * self.k + self.b\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.s = S()\n        self.t = nn.ModuleList([S(), S()])\n        self.s.b = torch.full((6,), 6.0)\n        self.s.k.fill_(5.0)\n        self.t[0].b.fill_(5.0)\n        for m in self.t:\n            m.k.add_(1.0)\n\n    def forward(self, x):\n        return self.t[0](self.s(x))",
    "copies of a submodule": "import copy\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lin = nn.Linear(6, 6)\n        nn.init.eye_(self.lin.weight)\n        nn.init.zeros_(self.lin.bias)\n        self.layers = nn.ModuleList([copy.deepcopy(self.lin) for _ in range(2)])\n        nn.init.ones_(self.lin.bias)\n\n    def forward(self, x):\n        return self.lin(self.layers[1](self.layers[0](x)))",
    "a copy before other values": "import copy\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lin = nn.Linear(6, 6)\n        nn.init.eye_(self.lin.weight)\n        nn.init.zeros_(self.lin.bias)\n        self.k = copy.deepcopy(self.lin)\n        nn.init.ones_(self.lin.bias)\n\n    def forward(self, x):\n        return self.k(self.lin(x))",
    "a copy with statistics": "import copy\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm1d(6)\n        self.bn.running_mean.fill_(2.0)\n        self.k = copy.deepcopy(self.bn)\n        self.bn.running_mean.fill_(3.0)\n\n    def forward(self, x):\n        return self.k(self.bn(x))",
}  # fmt: skip


@pytest.mark.parametrize("name", FILLED)
def test_filled(name):
    source = HEAD + FILLED[name] + "\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    torch_module, jax_module = scope["M"]().eval(), load(result)["M"]()
    params, state = jax_module.init(jax.random.key(0)), jax_module.init_state(jax.random.key(0))
    for x, _ in three():
        got, _ = jax_module.apply(params, state, jnp.asarray(x.numpy()))
        np.testing.assert_allclose(
            got, array(torch_module(x.to(torch.get_default_dtype()))), 1e-5, 1e-5, err_msg=result.code
        )


# layers that give the params they inherit values of their own
INITIALISED = {
    "a parameter of the same name above": "class B(nn.Module):\n    def __init__(self, n=3):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(n) * n)\n\n    def forward(self, x):\n        return x * self.a.sum()\n\n\nclass M(B):\n    def __init__(self, n=3):\n        super().__init__(n * 2)\n        self.b = nn.Parameter(torch.ones(n))\n\n    def forward(self, x):\n        return super().forward(x) + self.b.sum()",
    "an attribute named like a parameter above": "class B(nn.Module):\n    def __init__(self, n=3):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(n) * n)\n\n    def forward(self, x):\n        return x * self.a.sum()\n\n\nclass M(B):\n    def __init__(self):\n        super().__init__(6)\n        self.n = 100\n\n    def forward(self, x):\n        return super().forward(x) * self.n",
    "a bias of its own": "class M(nn.Linear):\n    def __init__(self, d=6, bias=True):\n        super().__init__(d, d, bias=False)\n        self.extra = nn.Parameter(torch.ones(d)) if bias else None\n\n    def forward(self, x):\n        y = super().forward(x)\n        return y + self.extra if self.extra is not None else y",
    "a bias that is taken away": "class M(nn.Linear):\n    def __init__(self):\n        super().__init__(6, 3)\n        self.bias = None\n\n    def forward(self, x):\n        return x @ self.weight.t() if self.bias is None else super().forward(x)",
    "a method that the base leaves to its subclasses": "class D(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.beta = nn.Parameter(torch.ones(1))\n\n    def forward(self, x):\n        return self.density(x, shift=1) + self.beta\n\n\nclass L(D):\n    def density(self, x, shift):\n        return x * self.beta + shift\n\n\nclass M(D):\n    def density(self, x, shift):\n        return x.sin() + shift",
    "a weight that is taken away": "class M(nn.Linear):\n    def __init__(self):\n        super().__init__(6, 6)\n        self.scale = nn.Parameter(torch.ones(6) * 2)\n        self.weight = None\n\n    def forward(self, x):\n        return x * self.scale + self.bias",
    "a bias that is taken away from a class above": "class N(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.ones(n))\n\n    def forward(self, x):\n        return F.layer_norm(x, x.shape[-1:], self.weight, self.bias)\n\n\nclass M(N):\n    def __init__(self):\n        super().__init__(6)\n        self.bias = None",
    "a bias that is taken away further down": "class N(nn.LayerNorm):\n    def __init__(self, n, **kwargs):\n        super().__init__(n, **kwargs)\n        self.eps = kwargs.get('eps', 1e-6)\n\n\nclass M(N):\n    def __init__(self):\n        super().__init__(6)\n        self.bias = None",
    "a param that is taken away": "class B(nn.Module):\n    def __init__(self, n=6, scaled=True):\n        super().__init__()\n        self.w = nn.Parameter(torch.ones(n) * n)\n        self.b = nn.Parameter(torch.ones(n)) if scaled else None\n\n    def forward(self, x):\n        return x * self.w if self.b is None else x + self.b\n\n\nclass M(B):\n    def __init__(self):\n        super().__init__()\n        self.w = None",
    "a param that may be there is taken away": "class B(nn.Module):\n    def __init__(self, n=6, scaled=True):\n        super().__init__()\n        self.w = nn.Parameter(torch.ones(n) * n)\n        self.b = nn.Parameter(torch.ones(n)) if scaled else None\n\n    def forward(self, x):\n        return x * self.w if self.b is None else x + self.b\n\n\nclass M(B):\n    def __init__(self):\n        super().__init__()\n        self.b = None",
    "in the constructor": "class M(nn.Linear):\n    def __init__(self, bias=0.5):\n        super().__init__(6, 3)\n        nn.init.xavier_normal_(self.weight)\n        if bias is not None:\n            nn.init.constant_(self.bias, bias)\n        self.weight.requires_grad_(False)",
    "in a method": "class M(nn.Conv2d):\n    def __init__(self):\n        super().__init__(6, 3, 3)\n        self.reset()\n\n    def reset(self):\n        nn.init.constant_(self.bias, 0.5)\n        self.weight.data.mul_(2)",
    "submodules made and initialised in a method": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.make()\n\n    def make(self):\n        self.l = nn.Linear(6, 3)\n        nn.init.normal_(self.l.weight)\n        nn.init.ones_(self.l.bias)",
}  # fmt: skip


@pytest.mark.parametrize("name", INITIALISED)
def test_initial_values(name):
    source = HEAD + INITIALISED[name] + "\n"
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} <= {"frozen-param"}, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    report = verify_init(scope["M"], load(result)["M"]())
    assert report.rows and all(row.ok for row in report.rows), (report.rows, result.code)


def test_one_attribute_for_what_is_handed_on():
    source = f"{HEAD}class B(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.a = nn.Parameter(torch.ones(n))\n\n\nclass C(B):\n    def __init__(self, n):\n        super().__init__(n)\n        self.b = nn.Parameter(torch.ones(n))\n"
    assert "_ = n" not in convert_source(source).code


def test_a_part_of_the_forward_of_torch_that_is_overridden():
    body = "class M(nn.TransformerEncoderLayer):\n    def _ff_block(self, x):\n        return self.linear1(x)\n"
    own = "class M(nn.Conv1d):\n    def _conv_forward(self, x, weight, bias):\n        return super()._conv_forward(x, weight * 2, bias)\n"
    assert not convert_source(HEAD + body).diagnostics
    assert not convert_source(HEAD + own).diagnostics


def test_a_class_made_in_a_function():
    """Its own forward is called, not that of torch's layer."""
    source = HEAD + """
def signed(scale):
    class Conv(nn.Conv1d):
        def forward(self, x):
            return super().forward(torch.sign(x) * scale)

    return Conv
"""
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    torch_module, jax_module = scope["signed"](2)(3, 4, 1), load(result)["signed"](2)(3, 4, 1)
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(2, 3, 5)
    got, _ = jax_module.apply(params, state, jnp.asarray(x.numpy()))
    want = torch_module(x.to(torch.get_default_dtype()))
    np.testing.assert_allclose(got, array(want), 1e-6, 1e-6, err_msg=result.code)
