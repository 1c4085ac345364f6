"""What moves out of a constructor sees the locals and attributes that its statement saw in torch."""

import inspect

import jax
import pytest
import torch

from tests.proof.comparison import assert_close
from tests.small_programs import HEAD, load
from transpile import convert_source

# The body of __init__(self, n=4, mode="a") after super().__init__(), and what forward returns.
CONSTRUCTORS = {
    # array updates in a statement that does more
    "an attribute beside it": ("b = torch.ones(n)\nif mode == 'a':\n    self.k = 5\n    b = b * 2\nself.register_buffer('b', b)", "x * self.b"),
    "an assert beside it": ("b = torch.ones(n)\nif mode == 'a':\n    assert n > 2\n    b *= torch.arange(n)\nself.b = nn.Parameter(b)", "x * self.b"),
    "a side that raises": ("b = torch.ones(n)\nif mode == 'a':\n    b *= 3\nelse:\n    raise ValueError(mode)\nself.register_buffer('b', b)", "x * self.b"),
    "layers in a loop": ("self.layers = nn.ModuleList()\nb = torch.zeros(n)\nfor i in range(3):\n    self.layers.append(nn.Identity())\n    b = b + i\nself.register_buffer('b', b)", "x + self.b"),
    "elements in a loop": ("b = torch.ones(n)\nfor i in range(n):\n    assert n > 2\n    b[i] = i\nself.b = b", "x + self.b"),
    "under try": ("b = torch.ones(n)\ntry:\n    b = b * n\nexcept ValueError:\n    pass\nself.register_buffer('b', b)", "x * self.b"),
    "a name in parentheses": ("if n > 2:\n    self.b = nn.Parameter(2.0 * torch.ones((n)))\nelse:\n    self.b = None", "x * self.b"),
    # a local that gets other values
    "rebound between": ("w = torch.full((n,), 2.0)\nself.a = nn.Parameter(w)\nw = torch.full((n,), 3.0)\nself.b = nn.Parameter(w)", "x * self.a + self.b"),
    "a parameter and a buffer": ("w = torch.full((n,), 2.0)\nself.a = nn.Parameter(w * 2)\nw = w * 5\nself.register_buffer('b', w)", "x * self.a + self.b"),
    "a plain attribute": ("w = torch.ones(n)\nself.a = w\nw = torch.full((n,), 5.0)\nself.b = w", "x * self.a + self.b"),
    "written to a clone": ("w = torch.ones(n)\nself.a = nn.Parameter(w.clone())\nw[0] = 9\nself.b = nn.Parameter(w.clone())", "x * self.a + self.b"),
    "written to the same memory": ("w = torch.ones(n, 2)\nself.register_buffer('a', w[0])\nw[0] = 9\nw *= 2\nself.b = nn.Parameter(w[:, 1])", "x * self.a[0] + self.b"),
    "of submodules": (
        "self.line = nn.Linear(n, n)\nw = torch.eye(n)\nself.line.weight.data = w * 2\nself.line.bias.data.zero_()\nw = w * 7\nself.k = nn.Parameter(w)",
        "self.line(x) + self.k @ x",
    ),
    "on one side": ("w = torch.ones(n)\nif mode == 'a':\n    self.a = nn.Parameter(w)\n    w = w * 5\nself.b = nn.Parameter(w)", "x * self.a + self.b"),
    "a number, by a loop": ("d = 1\nself.a = nn.Parameter(torch.ones(n) * d)\nfor i in range(3):\n    d *= 2\nself.b = nn.Parameter(torch.ones(n) * d)", "x * self.a + self.b"),
    "a list that grows": ("d = [1.0, 2.0]\nself.a = nn.Parameter(torch.ones(n) * d[-1])\nd.append(5.0)\nself.b = nn.Parameter(torch.ones(n) * d[-1])", "x * self.a + self.b"),
    "numbers for initialisers": (
        "self.line = nn.Linear(n, n)\ns = 1.0\nnn.init.constant_(self.line.weight, s)\ns = s * 2\nnn.init.constant_(self.line.bias, s)\ns = 7.0",
        "self.line(x)",
    ),
    # a list or an array of NumPy's that changes, and gives its name to a tensor
    "a table": (
        "pe = np.zeros((n, 4))\npe[:, 0::2] = np.sin(np.arange(2 * n)).reshape(n, 2)\npe = torch.tensor(pe, dtype=torch.float32)\nself.register_buffer('pe', pe)",
        "x + self.pe",
    ),
    "a table by a loop": ("d = np.zeros(n)\nfor i in range(n):\n    d[i] = i * i\nd = torch.from_numpy(d).float()\nself.d = d", "x * self.d"),
    "of a parameter": ("d = [1.0]\nfor i in range(n - 1):\n    d.append(2.0 + i)\nd = torch.tensor(d)\nself.w = nn.Parameter(d)", "x * self.w"),
    "of a submodule": (
        "w = np.zeros((n, n), dtype=np.float32)\nw[1] = 5\nw = torch.from_numpy(w)\nself.line = nn.Linear(n, n, bias=False)\nself.line.weight.data.copy_(w)",
        "self.line(x)",
    ),
    "sorted": ("d = [3.0, 1.0, 2.0, 0.0]\nd.sort()\nd = torch.tensor(d)\nself.register_buffer('d', d)", "x * self.d"),
    "filled": ("d = np.ones((n, n))\nnp.fill_diagonal(d, 0)\nd = torch.tensor(d).float()\nself.register_buffer('d', d)", "x @ self.d"),
    "by rows": ("d = [[1.0] * n for _ in range(n)]\nfor i, row in enumerate(d):\n    row[i] = 5.0\nd = torch.tensor(d)\nself.register_buffer('d', d)", "x @ self.d"),
    "read twice": ("d = [2, 0]\nd.extend([1, 3])\nd = torch.tensor(d)\nself.register_buffer('d', d)\nself.register_buffer('e', torch.argsort(d))", "x[self.d] * 2 + x[self.e]"),
    "kept by another name": ("d = [2.0]\nd *= n\nd.reverse()\ne = torch.tensor(d)\nd.append(3.0)\nself.register_buffer('e', e)", "x * self.e"),
    # written by another name, or by a view
    "a row": ("pe = torch.zeros(n, 4)\nrow = pe[0]\nrow += 3\nself.register_buffer('pe', pe)", "x + self.pe"),
    "columns": ("pe = torch.zeros(n, 4)\neven = pe[:, 0::2]\neven.copy_(torch.arange(n * 2.0).view(n, 2))\npe = pe.unsqueeze(0)\nself.register_buffer('pe', pe)", "x + self.pe[0]"),
    "the same": ("w = torch.zeros(n, 4)\na = w\na += 1\nself.w = nn.Parameter(w)", "x + self.w"),
    "two names at once": ("a = b = torch.zeros(n)\na += 1\nself.register_buffer('b', b)", "x + self.b"),
    "rows": ("m = torch.zeros(n, 4)\nfor row in m:\n    row[0] = 1\nself.w = nn.Parameter(m)", "x + self.w"),
    "parts": ("t = torch.zeros(2, n)\na, b = t\na.fill_(1.0)\nb[0] = 2.0\nself.w = nn.Parameter(t)", "x * self.w.sum(0)"),
    "while it is kept": ("w = torch.zeros(n)\nself.w = nn.Parameter(w.fill_(2))\nself.register_buffer('v', w)", "x * self.w + self.v"),
    "the row of a param": ("self.w = nn.Parameter(torch.zeros(n, 4))\nw = self.w.data\nrow = w[0]\nrow += 2", "x + self.w"),
    "of a submodule's, by a view": (
        "self.line = nn.Linear(n, n, bias=False)\nwith torch.no_grad():\n    w = self.line.weight\n    w.zero_()\n    top = w[:2]\n    top += 5",
        "self.line(x)",
    ),
    "in a function": ("self.register_buffer('t', self.table(n))", "x + self.t"),
    # an attribute that gets other values
    "set again": ("self.d = n\nself.a = nn.Parameter(torch.ones(n) * self.d)\nself.d = 7\nself.b = nn.Parameter(torch.ones(n) * self.d)", "x * self.a + self.b"),
    "augmented": ("self.n = n\nself.a = nn.Parameter(torch.ones(4) * n)\nself.register_buffer('b', torch.arange(4) * n)\nself.n *= 2", "x * self.a + self.b"),
    "by a method": ("self.d = n\nself.a = nn.Parameter(torch.ones(n) * self.d)\nself.grow()", "x * self.a * self.d"),
    "for initialisers": ("self.d = 1.0\nself.line = nn.Linear(n, n)\nnn.init.constant_(self.line.weight, self.d)\nnn.init.constant_(self.line.bias, self.d)\nself.d = 5.0", "self.line(x)"),
    "with the name of a method here": ("self.init = 3.0\nself.w = nn.Parameter(torch.ones(n))\nnn.init.constant_(self.w, self.init)", "x * self.w * self.init"),
    # a constructor that returns early
    "returns": ("self.w = nn.Parameter(torch.ones(n))\nif mode == 'a':\n    return\nnn.init.constant_(self.w, 3.0)", "x * self.w"),
    "does not return": ("self.w = nn.Parameter(torch.ones(n))\nif mode == 'b':\n    self.k = 1\n    return\nelif n > 2:\n    self.k = 2\nnn.init.constant_(self.w, 3.0)", "x * self.w * self.k"),
    # several statements on a line
    "one line": ("self.line = nn.Linear(n, n)\nfor m in self.modules():\n    if isinstance(m, nn.Linear): nn.init.eye_(m.weight); nn.init.ones_(m.bias)", "self.line(x)"),
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_constructors(name):
    body, result = CONSTRUCTORS[name]
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    grow = '\n    def grow(self):\n        self.d = 9\n' if 'grow' in body else ''
    grow += '\n    def table(self, n):\n        t = torch.zeros(n, 4)\n        row = t[0]\n        row += 3\n        return t\n' if 'self.table' in body else ''
    source = f"import numpy as np\n{HEAD}class M(nn.Module):\n    def __init__(self, n=4, mode='a'):\n        super().__init__()\n{lines}{grow}\n    def forward(self, x):\n        return {result}\n"
    converted = convert_source(source)
    assert not converted.diagnostics, converted.code
    torch_side = {}
    exec(compile(source, "program.py", "exec"), torch_side)
    x = torch.arange(4.0) - 1
    want = torch_side["M"]()(x)
    model = load(converted)["M"]()
    given = inspect.signature(model.__call__).parameters
    params = [model.init(jax.random.key(0))] if "params" in given else []
    state = [model.init_state(jax.random.key(0))] if "state" in given else []
    got = model(*params, *state, x.numpy())
    assert_close(got[0] if state else got, want.detach(), err_msg=converted.code)


def test_a_return_that_guards_no_side_is_reported():
    lines = "        self.w = nn.Parameter(torch.ones(n))\n        for i in range(n):\n            if i == 2:\n                return\n        nn.init.constant_(self.w, 3.0)\n"
    converted = convert_source(f"{HEAD}class M(nn.Module):\n    def __init__(self, n=4):\n        super().__init__()\n{lines}\n    def forward(self, x):\n        return x * self.w\n")
    assert [d.id for d in converted.diagnostics] == ["unsupported"]


def test_an_annotated_attribute_holds_a_parameter():
    source = HEAD + "class M(nn.Module):\n    def __init__(self, heads):\n        super().__init__()\n        self.heads: int = heads\n        self.s = nn.Parameter(torch.zeros(heads))\n\n    def forward(self, x):\n        return x * self.s\n"
    assert "self.heads_" not in convert_source(source).code


SHARED = {
    "a comprehension": "self.layers = nn.ModuleList([nn.Sequential(lin, nn.ReLU()) for _ in range(3)])",
    "an attribute": "self.lin = lin\nself.layers = nn.ModuleList([nn.Sequential(self.lin, nn.ReLU()) for _ in range(3)])",
    "a loop": "self.layers = nn.ModuleList()\nfor _ in range(3):\n    self.layers.append(nn.Sequential(lin, nn.ReLU()))",
    "made again in some turns": "self.layers = nn.ModuleList()\nfor i in range(3):\n    if i % 2:\n        lin = nn.Linear(4, 4)\n    self.layers.append(nn.Sequential(lin, nn.ReLU()))",
    "set on each": "self.lin = lin\nself.layers = nn.ModuleList([nn.Sequential(lin)])\nfor layer in self.layers:\n    layer.last = self.lin",
    "set on one that is kept later": "self.lin = lin\nlast = nn.Sequential()\nlast.lin = self.lin\nself.layers = nn.ModuleList([self.lin, last])",
    "two lists as one": "self.first = nn.ModuleList([lin])\nself.layers = nn.ModuleList(list(self.first) + [nn.ReLU()])",
}


def _of_layers(body):
    lines = "".join(f"        {line}\n" for line in f"lin = nn.Linear(4, 4)\n{body}".splitlines())
    return f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{lines}\n    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"


@pytest.mark.parametrize("name", SHARED)
def test_a_module_that_every_turn_puts_into_another_is_reported(name):
    assert "shared-module" in {d.id for d in convert_source(_of_layers(SHARED[name])).diagnostics}


NAMED = {
    "called by another class": ("self.backbone = backbone", "\n\nclass Outer(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = M(nn.Linear(4, 4))\n\n    def forward(self, x):\n        return self.net(x) + self.net.backbone(x)\n"),
    "of a known class": ("self.backbone = backbone", "\n\nnet = M(nn.Linear(4, 4))\n"),
    "of an unknown class": ("self.backbone = backbone", ""),
    "made by another library": ("self.backbone = backbone()", ""),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_module_that_a_container_holds_beside_its_own_name_is_reported(name):
    """Torch trains it under both names, whoever calls it by either, and also where nobody calls it by one."""
    line, after = NAMED[name]
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self, backbone):\n        super().__init__()\n        {line}\n        self.encoder = nn.Sequential(self.backbone, nn.Linear(4, 4))\n\n    def forward(self, x):\n        return self.encoder(x)\n{after}"
    assert "shared-module" in {d.id for d in convert_source(source).diagnostics}


def test_a_rate_that_later_gives_its_name_to_a_module_is_not_shared():
    body = "        self.drop = rate\n        self.net = nn.Sequential(nn.Dropout(self.drop), nn.Linear(4, 4))\n        if last:\n            self.drop = nn.Dropout(rate)\n"
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self, rate, last):\n        super().__init__()\n{body}\n    def forward(self, x):\n        return self.drop(self.net(x))\n"
    assert not convert_source(source).diagnostics


def test_a_module_of_each_turn_is_not_shared():
    body = "self.layers = nn.ModuleList()\nfor i in range(3):\n    lin = nn.Linear(4, 4)\n    self.layers.append(nn.Sequential(lin, nn.ReLU()))"
    assert not convert_source(_of_layers(body)).diagnostics


def test_modules_of_unknown_make_are_wrapped_one_by_one():
    body = "def __init__(self, enc, dec):\n        super().__init__()\n        self.enc, self.dec = enc, dec\n\n    def forward(self, x):\n        return self.dec(self.enc(x))\n"
    code = convert_source(f"{HEAD}class M(nn.Module):\n    {body}").code
    assert "self.enc = nn.as_module(enc)\n        self.dec = nn.as_module(dec)" in code


def test_a_tensor_that_becomes_a_parameter_is_one():
    """Neither is it said to be a plain tensor, nor does anything stay of the lines that change nothing."""
    source = HEAD + """
class M(nn.Module):
    def __init__(self, n, learn):
        super().__init__()
        self.w = torch.ones(n)
        self.w = nn.Parameter(self.w)
        self.n = n
        if learn:
            self.n = n * 2
        else:
            self.w = nn.Parameter(self.w)

    def forward(self, x):
        return x * self.w * self.n
"""
    result = convert_source(source)
    assert not result.diagnostics and 'return {"w": jnp.ones(self.n_)}' in result.code and "pass" not in result.code, (result.diagnostics, result.code)


@pytest.mark.parametrize("made", ["Drop", "build"])
def test_a_layer_of_another_library_is_of_any_class_whatever_it_is_given(made):
    """A rate that is an item of a tensor says nothing of what it makes: not that it is always the Identity beside it."""
    source = HEAD + f"""
from layers import {made}


class Block(nn.Module):
    def __init__(self, rate=0.0):
        super().__init__()
        self.drop = {made}(rate) if rate > 0.0 else nn.Identity()

    def forward(self, x):
        return x + self.drop(x)


class M(nn.Module):
    def __init__(self, rate):
        super().__init__()
        rates = [x.item() for x in torch.linspace(0, rate, 2)]
        self.blocks = nn.Sequential(*[Block(rates[i]) for i in range(2)])

    def forward(self, x):
        return self.blocks(x)
"""
    assert 'self.drop.apply(params["drop"], state["drop"], x, key=key, training=training)' in convert_source(source).code
