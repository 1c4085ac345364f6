"""Initial values: what constructors give params and buffers, by whatever way, is what `init` makes."""

import inspect

import jax
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules, load


def leaves(tree, path=""):
    """The arrays of a tree by their dotted names."""
    if not isinstance(tree, dict):
        return {path[:-1]: np.asarray(tree)}
    return {name: value for key, part in tree.items() for name, value in leaves(part, f"{path}{key}.").items()}


def begun(source, diagnostics=()):
    """torch's and our initial arrays by name, and what forward makes of torch's."""
    source = f"import copy\n{HEAD}{source}"
    result = convert_source(source)
    assert [d.id for d in result.diagnostics] == list(diagnostics), (result.diagnostics, result.code)
    ours, theirs = both_modules(source, result)[::-1]
    got = {**leaves(ours.init(jax.random.key(0))), **leaves(ours.init_state(jax.random.key(1)))}
    want = {name: value.detach().numpy() for name, value in theirs.state_dict().items()}
    x = torch.linspace(-1.0, 1.0, 6).view(2, 3)
    params, state = from_torch(theirs, ours)
    given = inspect.signature(ours.__call__).parameters
    arrays = [tree for name, tree in (("params", params), ("state", state)) if name in given]
    output = ours(*arrays, x.numpy())
    np.testing.assert_allclose(output[0] if "state" in given else output, theirs(x).detach(), 1e-5, 1e-6, err_msg=result.code)
    return got, want, result.code


def compare(source):
    """The initial arrays must be equal where torch's are no draws: all of one value."""
    got, want, code = begun(source)
    for name, value in want.items():
        if np.ptp(value) == 0:
            assert_close(got[name], value, err_msg=f'{name}\n{code}')


IN_TRAINING = {
    "asked of self": "self.fc = nn.Linear(3, 3)\nself.w = nn.Parameter(torch.zeros(3))\nnn.init.zeros_(self.fc.bias)\nif self.training:\n    self.start()",
}
IN_TRAINING_METHOD = "\n    def start(self):\n        nn.init.ones_(self.fc.weight)\n        nn.init.ones_(self.w)\n\n    def forward(self, x):\n        return self.fc(x) * self.w\n"


def module(body, methods):
    """A module M from the body of its constructor."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f"class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{lines}{methods}"


@pytest.mark.parametrize("name", IN_TRAINING)
def test_a_model_is_built_in_training_mode(name):
    compare(module(IN_TRAINING[name], IN_TRAINING_METHOD))


def test_none_is_no_memory_of_two_attributes():
    """`self.r = None` and `self.a = None` before both are filled."""
    filled = "self.r = None\nself.a = None\nfor i in range(2):\n    self.r = torch.zeros(3)\n    self.a = torch.zeros(3)\n    self.r[:2] = torch.ones(2)\n    self.a[:2] = 2 * self.r[:2]"
    assert not convert_source(HEAD + module(filled, "\n    def forward(self, x):\n        return x * self.r + self.a\n")).diagnostics


NO_STATE = {
    "a param made of a random buffer": "self.register_buffer('v', torch.randn(3))\nself.w = nn.Parameter(self.v * 2)",
    "a param filled from a buffer": "self.w = nn.Parameter(torch.empty(3))\nself.register_buffer('n', torch.ones(3))\nself.fill()",
}
NO_STATE_METHODS = """
    def start(self):
        self.size = 3
        self.h = torch.zeros(3)

    def fill(self):
        self.n.fill_(3.0)
        self.w.data.mul_(self.n)

    def forward(self, x):
        self.n = x.sum(0)
        self.h = x.sum(0)
        return x
"""


@pytest.mark.parametrize("name", NO_STATE)
def test_what_init_has_not_is_refused(name):
    result = convert_source(HEAD + module(NO_STATE[name], NO_STATE_METHODS))
    assert {"module-value", "array-while-building"} & {d.id for d in result.diagnostics}, result.code
    init = result.code.partition("def init(")[2].partition("def ")[0]
    assert "state" not in init.replace("state_", ""), result.code
    with pytest.raises(NotImplementedError):
        load(result)["M"]().init(jax.random.key(0))


def test_a_method_sets_a_buffer_and_more():
    start = NO_STATE_METHODS.partition("    def fill")[0] + "    def forward(self, x):\n        self.h = x.sum(0)\n        return x * self.size\n"
    compare(module("self.fc = nn.Linear(3, 3)\nself.start()", start))


# Attributes, objects and layers that are other ones once the model is built.
LATER = {
    "a layer of a list": """
class M(nn.Module):
    def __init__(self, c=1.0):
        super().__init__()
        self.extra = nn.ModuleList()
        self.c = c
        l = nn.Linear(3, 3)
        nn.init.constant_(l.weight, self.c)
        self.extra.append(l)
        self.c = 7.
    def forward(self, x):
        return self.extra[0](x) * self.c
""",
    "in a loop": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = 1.
        self.ls = nn.ModuleList()
        for i in range(3):
            l = nn.Linear(3, 3)
            nn.init.constant_(l.weight, self.c)
            self.ls.append(l)
            self.c = self.c * 2
    def forward(self, x):
        for l in self.ls:
            x = l(x)
        return x * self.c
""",
    "a walk": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = 1.
        self.ls = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.constant_(m.weight, self.c)
        self.c = 5.
    def forward(self, x):
        return self.ls(x) * self.c
""",
    "a walk by a method": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = 1.
        self.ls = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        self.apply(self._init)
        self.c = 5.
    def _init(self, m):
        if isinstance(m, nn.Linear):
            nn.init.constant_(m.weight, self.c)
    def forward(self, x):
        return self.ls(x) * self.c
""",
    "a method that counts": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = 1.
        self.ls = nn.ModuleList([self.make() for _ in range(3)])
    def make(self):
        l = nn.Linear(3, 3)
        nn.init.constant_(l.weight, self.c)
        self.c += 1
        return l
    def forward(self, x):
        for l in self.ls:
            x = l(x)
        return x * self.c
""",
    "a loop over params": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = 1.
        self.l = nn.Sequential(nn.Linear(3, 3))
        for p in self.l.parameters():
            nn.init.constant_(p, self.c)
        self.c = 5.
    def forward(self, x):
        return self.l(x) * self.c
""",
    "a list that grows": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = [1.]
        self.extra = nn.ModuleList()
        l = nn.Linear(3, 3)
        nn.init.constant_(l.weight, self.c[0])
        self.extra.append(l)
        self.c.insert(0, 7.)
    def forward(self, x):
        return self.extra[0](x) * self.c[0]
""",
    "a function inside": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = 1.
        def init(m):
            if isinstance(m, nn.Linear):
                nn.init.constant_(m.weight, self.c)
        self.ls = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        self.ls.apply(init)
        self.c = 5.
    def forward(self, x):
        return self.ls(x) * self.c
""",
    "of another object": """
class Conf:
    c = 1.
class M(nn.Module):
    def __init__(self):
        super().__init__()
        cfg = Conf()
        self.extra = nn.ModuleList()
        l = nn.Linear(3, 3)
        nn.init.constant_(l.weight, cfg.c)
        self.extra.append(l)
        cfg.c = 7.
        self.c = cfg.c
    def forward(self, x):
        return self.extra[0](x) * self.c
""",
    "set where the class has it": """
class A(nn.Module):
    value = 1.
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.full((3,), self.value))
    def forward(self, x):
        return x * self.w * self.value
class M(A):
    def __init__(self):
        super().__init__()
        self.value = 2.
""",
    "a list that a class below extends": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.dims = [3]
        self.w = nn.Parameter(torch.full((self.dims[0],), float(len(self.dims))))
    def forward(self, x):
        return x * self.w * len(self.dims)
class M(A):
    def __init__(self):
        super().__init__()
        self.dims.append(4)
""",
    "how many there are": """
class A(nn.Module):
    depth = 1
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(self.depth)])
        self.w = nn.ParameterList([nn.Parameter(torch.full((3,), float(self.depth))) for _ in range(self.depth)])
    def forward(self, x):
        for l, w in zip(self.layers, self.w):
            x = l(x) * w
        return x
class M(A):
    depth = 2
    def __init__(self):
        super().__init__()
        self.depth = 7
""",
    "of a mixin": """
class Mix:
    gain = 2.
    def setup(self):
        self.g = nn.Parameter(torch.full((3,), self.gain))
class M(Mix, nn.Module):
    gain = 4.
    def __init__(self):
        super().__init__()
        self.setup()
        self.gain = 6.
    def forward(self, x):
        return x * self.g * self.gain
""",
    "a dict that is given": """
class A(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.w = nn.Parameter(torch.full((3,), cfg["v"]))
    def forward(self, x):
        return x * self.w * self.cfg["v"]
class M(A):
    def __init__(self):
        super().__init__({"v": 1.})
        self.cfg["v"] = 2.
""",
    "in the branch that builds": """
class M(nn.Module):
    def __init__(self, deep=True):
        super().__init__()
        self.n = 1.
        if deep:
            self.n = 2.
            self.fc = nn.Linear(3, 3)
            nn.init.constant_(self.fc.weight, self.n)
            nn.init.zeros_(self.fc.bias)
            self.w = nn.Parameter(torch.full((3,), self.n))
            self.n = 3.
        else:
            self.fc = nn.Linear(3, 3, bias=False)
            nn.init.ones_(self.fc.weight)
            self.w = nn.Parameter(torch.full((3,), 4.))
            self.n = 4.
    def forward(self, x):
        return self.fc(x * self.w) * self.n
""",
    "of a layer that a class below replaces": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.out = nn.Linear(3, 3), nn.Linear(3, 3)
        for fc in (self.fc, self.out):
            nn.init.ones_(fc.weight)
        nn.init.zeros_(self.fc.bias)
        nn.init.zeros_(self.out.bias)
    def forward(self, x):
        return self.out(self.fc(x))
class M(A):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3, bias=False)
        nn.init.constant_(self.fc.weight, 0.5)
""",
    "of a layer that a method has built": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.build()
        nn.init.ones_(self.fc.weight)
        nn.init.ones_(self.fc.bias)
    def build(self):
        self.fc, self.out = nn.Linear(3, 3), nn.Linear(3, 3)
class M(A):
    def __init__(self):
        super().__init__()
        nn.init.zeros_(self.out.weight)
        nn.init.ones_(self.out.bias)
    def forward(self, x):
        return self.out(self.fc(x))
""",
    "of attention whose projection is another": """
class M(nn.MultiheadAttention):
    def __init__(self):
        super().__init__(3, 1)
        nn.init.ones_(self.in_proj_weight)
        self.out_proj = nn.Linear(3, 3)
        nn.init.ones_(self.out_proj.weight)
        nn.init.ones_(self.out_proj.bias)
    def forward(self, x):
        return super().forward(x, x, x)[0]
""",
    "set from outside": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 1.
        self.w = nn.Parameter(torch.full((3,), self.v))
    def forward(self, x):
        return x * self.w * self.v
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = A()
        self.a.v = 4.
    def forward(self, x):
        return self.a(x)
""",
}


@pytest.mark.parametrize("name", LATER)
def test_initial_values_are_made_of_what_is_there_by_then(name):
    compare(LATER[name])


def test_a_layer_that_comes_in_place_of_another_keeps_its_own_values():
    later = "        self.fc = nn.Linear(3, 3)\n        nn.init.constant_(self.fc.weight, 2.0)\n        self.fc = nn.Linear(3, 3)\n"
    below = later.replace("        self.fc = nn.Linear(3, 3)\n        nn", "        self.fc = nn.Linear(3, 3)\n        self.reset()\n\n    def reset(self):\n        nn").rpartition("        self")[0]
    forward = "\n    def forward(self, x):\n        return self.fc(x)\n"
    head = "class {}({}):\n    def __init__(self):\n        super().__init__()\n"
    heir = f"\n\n{head.format('M', 'A')}        self.fc = nn.Linear(3, 3)\n"
    above = head.format("A", "nn.Module") + later.rpartition("        self")[0]
    for source in (head.format("M", "nn.Module") + later + forward, head.format("A", "nn.Module") + below + forward + heir, above + forward + heir):
        got, _, code = begun(source)
        assert np.ptp(got["fc.weight"]) > 0, code


@pytest.mark.parametrize("later", ["self.c = 5.0", "self.d = 5.0"])
def test_a_method_that_fills_and_reads_what_is_set_later(later):
    body = f"self.c = 1.0\nself.fc = nn.Linear(3, 3)\nself.reset()\n{later}"
    reset = "\n    def reset(self):\n        nn.init.constant_(self.fc.weight, self.c)\n\n    def forward(self, x):\n        return self.fc(x) * self.c\n"
    compare(module(body, reset))


# A parameter or buffer has the memory of a local that is written afterwards: the body of a constructor, and whether that is said.
SHARED = {
    "in a branch": ("w = torch.empty(3)\nself.w = nn.Parameter(w)\nif len(w) > 2:\n    nn.init.constant_(w, 3.0)\nelse:\n    nn.init.ones_(w)", False),
    "in a loop": ("w = torch.zeros(3)\nself.w = nn.Parameter(w)\nfor i in range(3):\n    w[i] = 2.0", False),
    "by items": ("w = torch.zeros(3)\nself.w = nn.Parameter(w)\nw[:] = 2.0\nv = self.w.data\nv[0:3] = 4.0", False),
    "by a function": ("w = torch.empty(3)\nself.w = nn.Parameter(w)\nself.fill(w)", False),
    "by the parameter": ("w = torch.zeros(3)\nself.w = nn.Parameter(w)\nnn.init.constant_(self.w, 2.0)\nself.v = nn.Parameter(w.clone())", False),
    "in a list": ("w = torch.zeros(3)\nself.w = nn.Parameter(torch.ones(3))\nself.ws = nn.ParameterList([nn.Parameter(w)])\nw.fill_(2.0)", True),
}
SHARED_METHODS = "\n    def fill(self, w):\n        nn.init.constant_(w, 3.0)\n\n    def forward(self, x):\n        return x * self.w\n"


@pytest.mark.parametrize("name", SHARED)
def test_a_parameter_has_the_memory_that_it_is_given(name):
    body, said = SHARED[name]
    source = module(body, SHARED_METHODS)
    if said:
        begun(source, ["aliased-write"])
    else:
        compare(source)


# a method that fills `fc`, which it is given, and `n`, 3
DRAWN = {
    "repeated": "w = torch.empty(n // 3, 3)\nnn.init.kaiming_uniform_(w)\nw = w.repeat(3, 1)\nfc.weight.data.copy_(w)",
    "of two draws": "a = torch.randn(1, 3)\nb = torch.rand(2, 1) * 0 + a\nfc.weight.data.copy_(torch.cat([a, b]))",
    "in a branch": "if n == 3:\n    w = torch.empty(1, 3).normal_()\n    fc.weight.data.copy_(w.expand(3, 3))",
    "in turns": "for m in [fc]:\n    k = m.weight.size(0)\n    w = torch.randn(1, k)\n    m.weight.data.copy_(w.expand(k, k))",
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_value_is_made_where_the_key_is(name):
    fill = "\n    def fill(self, fc, n):\n" + "".join(f"        {line}\n" for line in DRAWN[name].splitlines()) + "\n    def forward(self, x):\n        return self.fc(x)\n"
    got, want, code = begun(module("self.fc = nn.Linear(3, 3)\nself.fill(self.fc, 3)", fill))
    for weight in (got["fc.weight"], want["fc.weight"]):
        assert (weight == weight[0]).all() and np.ptp(weight) > 0, code
    assert "w_=" not in code and "nn.unconverted" not in code


def test_a_drawn_value_for_two_params_is_refused():
    fill = "\n    def fill(self, fc):\n        w = torch.randn(3)\n        fc.bias.data.copy_(w)\n        fc.weight.data.copy_(w.expand(3, 3))\n\n    def forward(self, x):\n        return self.fc(x)\n"
    source = HEAD + module("self.fc = nn.Linear(3, 3)\nself.fill(self.fc)", fill)
    assert [d.id for d in convert_source(source).diagnostics] == ["random-in-init"]


def test_what_only_init_computes_in_a_branch_goes_along():
    """`fan_in` and `bound` are read by the draw alone."""
    lines = (
        "n = 3\nw = torch.empty(4, 3)\nb = torch.zeros(3)\nif n == 3:\n    nn.init.kaiming_uniform_(w)\n    fan_in, _ = nn.init._calculate_fan_in_and_fan_out(w)\n    bound = 1 / math.sqrt(fan_in)\n"
        "    nn.init.uniform_(b, -bound, bound)\nelse:\n    nn.init.normal_(w, std=0.02)\nself.weight = nn.Parameter(w)\nself.bias = nn.Parameter(b)"
    )
    result = convert_source(HEAD + module(lines, "\n    def forward(self, x):\n        return x @ self.weight + self.bias\n"))
    assert not result.diagnostics and "bound" not in result.code.partition("def init(")[0], (result.diagnostics, result.code)
