"""What is refused or told, and how it is said."""

import ast
import re
from pathlib import PurePosixPath

import jax
import jax.numpy as jnp
import pytest
import torch
from flax import nnx

from transpile import from_torch, to_torch
from transpile.command import engine
from transpile.source.files import Source

from ..proof.comparison import assert_close
from .small import HEAD, TARGETS, alone, program
from .verified import built, converted, given, namespace, verify

COMMENTED = """
class Rope(nn.Module):
    def __init__(
        self,
        dim: int,
        p: float = 0.0, # proportion of frequencies set to 0
    ):
        super().__init__()
        n = round(p * dim)
        omega = torch.cat((torch.zeros(n), torch.linspace(0, 1, dim - n)))
        # above the buffer
        self.register_buffer(
            "freqs",  # as torch calls them
            omega,
        )

    def forward(self, x):
        return x * self.freqs


class Net(nn.Module):
    def __init__(
        self,
        dim,
        add = True,  # in the paper, they did not
        heads = 4,
        dropout = 0.
    ):
        super().__init__()
        self.rope = Rope(dim)
        self.drop = nn.Dropout(dropout)
        self.add = add
        self.lin = nn.Linear(dim, dim)
        # the mask
        self.register_buffer("bias", torch.tril(torch.ones(dim, dim))
                                     .view(1, 1, dim, dim))
        self.heads = heads

    def forward(
        self,
        x,  # the input
        y=None,  # another
    ):
        if self.add and x.mean() > 0:  # only then
            x = x + 1
        x = F.scaled_dot_product_attention(
            x, x, x,
            dropout_p = 0.1 if self.training else 0.,
            scale = 1.  # already scaled
        )
        x = self.lin(  # first
            x
        )  # then
        return self.drop(self.rope(x))  # last
"""


@pytest.mark.parametrize("target", TARGETS)
def test_comments_stay_wherever_they_stand(target):
    (made,), _, _ = engine.convert([given(HEAD + COMMENTED)], "", target)
    said = [re.findall(r"# *(.+)", text) for text in (COMMENTED, made.code)]
    assert sorted(said[0]) == sorted(said[1])


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_not_converted_is_said_on_lines_that_fit(target):
    call = "torch.utils.data.DataLoader(\n    a,\n    b, name='c'" + ", aa=1" * 30 + ",\n)"
    (made,), _, _ = engine.convert([given(f"import torch\na = {call}\n")], "", target)
    (text,) = [
        n
        for n in ast.walk(ast.parse(made.code))
        if isinstance(n, ast.Constant) and "DataL" in str(n.value)
    ]
    assert text.value == "torch.utils.data.DataLoader(a, b, name='c'" + ", aa=1" * 30 + ",)"
    assert max(map(len, made.code.splitlines())) < 100


OPTIMIZED = """
class Net(nn.Module):
    def __init__(self, rate=1e-3):
        super().__init__()
        self.value = nn.Linear(4, 4)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=rate)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 10)
        self.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        self.to(self.device)

    def decay(self):
        self.schedule.step()

    def forward(self, x, y):
        return self.value(x) + y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_an_optimizer_that_a_model_keeps_raises_when_it_is_used(target):
    """The model without it is whole."""
    verify(HEAD + OPTIMIZED, "Net", "", [torch.randn(3, 4, dtype=torch.float64) for _ in "xy"], target, ("no-rule",) * 2)
    (made,), support, _ = engine.convert([given(HEAD + OPTIMIZED)], "", target)
    net = converted(made.code, support)["Net"]
    one, other = built(net, net), built(net, net)
    with pytest.raises(NotImplementedError, match="no-rule: torch.optim.lr_scheduler.StepLR"):
        one.decay()
    assert one.optimizer == other.optimizer != one.schedule


def test_what_is_given_is_called_as_all_that_are_known_are():
    """What takes less may be given too; it is one module, wherever it is given."""
    (made,), support, _ = engine.convert([given(program("given_alike"))], "", "functional")
    assert ".apply(" not in made.code
    assert 'self.norm(params["norm"], x)' in made.code
    names = converted(made.code, support)
    nn, x, y = names["nn"], jnp.arange(12.0).reshape(3, 4), jnp.ones((3, 4))
    both = jnp.tanh(x + x * y)
    layer = names["Layer"](lambda x, y: x * y, jnp.tanh)
    assert layer.init(jax.random.key(0)) == {"attention": {}, "norm": {}}
    assert jnp.array_equal(layer(layer.init(jax.random.key(0)), x, y), both)
    (made,), _, _ = engine.convert([given(program("given_holders"))], "", "functional")
    assert 'self.fn(params["fn"], state["fn"], x, training=training)' in made.code
    assert 'self.norm = nn.as_module(norm, ["params", "state", "training"])' in made.code
    (made,), _, _ = engine.convert([given(program("given_lists"))], "", "functional")
    assert ".apply(" not in made.code and "state" not in made.code
    assert 'x = layer(params["layers"][name], x, y, key=k, training=training)' in made.code

    class Scaled(nn.Module):
        def init(self, key):
            return {"by": jnp.full(4, 2.0)}

        def __call__(self, params, x, y):
            return x * y * params["by"]

    shared = Scaled()
    pair = nn.ModuleList([names["Layer"](shared), names["Layer"](shared, names["Layer"](shared).norm)])
    assert pair[0].attention is pair[1].attention and isinstance(pair[0].attention, Scaled)
    params = pair[0].init(jax.random.key(0))
    assert params["attention"]["by"].shape == (4,)
    for run in (pair[0], lambda *given: pair[0].apply(given[0], {}, *given[1:])[0]):
        assert jnp.array_equal(run(params, x, y), x + x * y * 2)
    with pytest.raises(TypeError, match="takes state"):
        names["Layer"](None, type("Stateful", (nn.Module,), {"__call__": lambda self, state, x: x})())


def test_each_way_of_an_array_in_flax_is_what_torch_makes_it():
    for other in ("self.gain = torch.ones(4)", "self.register_buffer('gain', torch.ones(4))"):
        text = alone("learned_on_one_way").replace("self.gain = 1.0", other)
        (made,), support, _ = engine.convert([given(HEAD + text)], "", "flax")
        assert not made.diagnostics
        ours = converted(made.code, support)["Net"](False, rngs=nnx.Rngs(0))
        theirs = namespace(HEAD + text, "program")["Net"](False)
        assert to_torch(from_torch(theirs, ours)).keys() == theirs.state_dict().keys()
        (told,), _, _ = engine.convert([given(HEAD + text)], "", "equinox")
        assert [(d.id, d.line) for d in told.diagnostics] == [("frozen-param", 14)]


@pytest.mark.parametrize("target", TARGETS)
def test_a_mark_that_is_read_is_told(target):
    asked = "x = -x if getattr(x, 'seen', False) else x\n        return self.fc(x)"
    text = HEAD + alone("marks").replace("return self.fc(x)", asked)
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("array-attribute", 23)]


@pytest.mark.parametrize("target", TARGETS)
def test_names_that_a_star_brings(target):
    net = alone("named").replace("nn.GELU()", "Inner(4, 4)").replace("self.mlp(x)", "F.relu(self.mlp(x))")
    net = Source(PurePosixPath("net.py"), "from module import *\n" + net, "utf-8", False, "\n")
    inner = given(HEAD + "class Inner(nn.Linear):\n    pass\n")
    files, support, _ = engine.convert([inner, net], "", target)
    assert not [d for file in files for d in file.diagnostics]
    converted(files[0].code, support)
    namespace(files[0].code, "module")
    cls = namespace(files[1].code, "net")["Net"]
    assert built(cls, cls).mlp is not None


@pytest.mark.parametrize("target", TARGETS)
def test_layers_of_a_dtype(target):
    """Those of the constructor's own, those by a dict, and those of a class that is handed in."""
    text = (
        HEAD
        + """class Net(nn.Module):
    def __init__(self, norm=nn.LayerNorm, dtype=None):
        super().__init__()
        placed = {"device": None, "dtype": dtype}
        self.table = nn.Embedding(4, 4, dtype=torch.bfloat16)
        self.conv = nn.Conv1d(4, 4, 1, **placed)
        self.norm = norm(4, dtype=torch.bfloat16)
        self.other = nn.Linear(4, 4, device=None, dtype=None)

    def forward(self, x):
        return self.other(self.norm(self.table(x)).float())
"""
    )
    (made,), support, _ = engine.convert([given(text)], "", target)
    assert not made.diagnostics
    cls, torch_side = converted(made.code, support)["Net"], namespace(text, "program")
    model = built(lambda **k: cls(dtype=jnp.bfloat16, **k), cls)
    theirs = torch_side["Net"](dtype=torch.bfloat16)
    arrays = to_torch(model.init(jax.random.key(0)) if target == "functional" else model)
    wanted = {name: value.dtype for name, value in theirs.state_dict().items()}
    assert {name: value.dtype for name, value in arrays.items()} == wanted
    filled = from_torch({n: v.float() for n, v in theirs.state_dict().items()}, model)
    given_back = {"flax": lambda: to_torch(filled)}.get(target, lambda: to_torch(*filled))()
    assert {value.dtype for value in given_back.values()} == {torch.float32}


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_layer_refuses_it_refuses_by_a_name_that_is_there(target):
    text = "class Rows(nn.Embedding):\n    def __init__(self, n, d, **kwargs):\n        super().__init__(n, d, **kwargs)\n"
    (_,), support, _ = engine.convert([given(HEAD + text)], "", target)
    assert "raise NotImplementedError(" in support and "Unsupported" not in support


STANDING_IN = """
class Scaled(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(n) * 2)

    def forward(self, x):
        return x * self.gain if self.training else x + self.gain


class Net(nn.Module):
    def __init__(self, n=4, whole=True):
        super().__init__()
        self.fc = nn.Linear(4, n)
        self.scaled = Scaled(n) if whole else nn.Identity()
        self.act = nn.Tanh() if whole else nn.Identity()
        self.head = nn.Linear(n, 2) if whole else nn.Identity()

    def forward(self, x):
        return self.head(self.act(self.scaled(self.fc(x))))
"""
REFUSED_LATER = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(self.part(x))

    def use_checkpointing(self):
        self.part = torch.utils.checkpoint(self.part)
        self.fc = torch.utils.checkpoint(self.fc)
"""


@pytest.mark.parametrize("init", ["", "whole=False"])
@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_layer_or_an_identity_is_called_as_the_layer(target, init):
    source = HEAD + STANDING_IN
    verify(source, "Net", init, [torch.randn(3, 4, dtype=torch.float64)], target)
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert ".apply(" not in made.code and "nn.call(" not in made.code, made.code


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_what_raises_is_no_other_module_that_an_attribute_may_be(target):
    """Of `part` it is known that it is a Part, of `fc` that it takes no state."""
    source = HEAD + REFUSED_LATER
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert {d.line for d in made.diagnostics} == {26, 27}, made.diagnostics
    assert ".apply(" not in made.code and "nn.call(" not in made.code, made.code
    whole = source[: source.index("    def use_checkpointing")]
    verify(whole, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


FIRST_NAME_ON_SOME_WAYS = """
class Down(nn.Module):
    def __init__(self, channels, use_conv=False, name="conv"):
        super().__init__()
        if use_conv:
            conv = nn.Linear(channels, channels)
        else:
            conv = nn.LayerNorm(channels)
        if name == "conv":
            self.conv_0 = conv
            self.conv = conv
        elif name == "other":
            self.conv = conv
        else:
            self.conv = conv

    def forward(self, x):
        return self.conv(x)


class Net(nn.Module):
    def __init__(self, name="conv"):
        super().__init__()
        self.a, self.b = Down(4, True), Down(4, False, "none")
        scale = nn.Linear(4, 4)
        if name:
            self.first_scale = scale
        self.scale = scale

    def forward(self, x, y):
        return self.scale(self.a(x)) + self.b(y)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_has_the_name_that_it_has_on_all_ways(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + FIRST_NAME_ON_SOME_WAYS, "Net", "", inputs, target)


ASKED_CONSTANTS = """
def made(n):
    f = torch.tensor(n, dtype=torch.float64)
    return f / f.sum()


def scaled(x, f):
    if isinstance(f, torch.Tensor):
        return x * f
    return x


class Net(nn.Module):
    def __init__(self, n=None):
        super().__init__()
        self.register_buffer("f", made(n) if n is not None else None, persistent=False)
        self.g = made([1, 1, 2, 3])

    def forward(self, x):
        x = self._again(x, f=self.f)
        g = self.g
        if torch.is_tensor(g):
            x = x + g
        if isinstance(self.g, torch.Tensor):
            x = x * 2
        return scaled(x, self.g)

    def _again(self, x, f):
        return scaled(x, f)
"""


@pytest.mark.parametrize("init", ["", "[1, 2, 3, 4]"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_constant_is_an_array_to_those_that_ask(target, init):
    verify(HEAD + ASKED_CONSTANTS, "Net", init, [torch.randn(3, 4, dtype=torch.float64)], target)


OF_A_FILE = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("order", torch.arange(n).flip(0))
        self.fc = nn.Linear(n, n, bias=False)

    def forward(self, x):
        return self.fc(x)[:, self.order]


net = Net(3)
first, order, weight = net.order[0] + 1, net.order, net.fc.weight.detach()
x = torch.zeros(2, 3)
x[0] = 1
y = net(x)
"""


@pytest.mark.parametrize("target", ("flax", "equinox"))
def test_a_file_reads_and_writes_arrays_of_its_own(target):
    (made,), support, _ = engine.convert([given(HEAD + OF_A_FILE)], "", target)
    assert not made.diagnostics, (made.diagnostics, made.code)
    scope = converted(made.code, support)
    assert int(scope["first"]) == 3 and list(scope["order"]) == [2, 1, 0]
    assert_close(scope["y"][0], scope["weight"].sum(1)[::-1])


DETECTS = """
import math


class Detect(nn.Module):
    stride = None  # set when the model is built

    def __init__(self, anchors, ch):
        super().__init__()
        self.nl, self.na, self.no = len(anchors), len(anchors[0]) // 2, 5
        self.register_buffer("anchors", torch.tensor(anchors).float().view(self.nl, -1, 2))
        self.m = nn.ModuleList(nn.Conv2d(c, self.no * self.na, 1) for c in ch)

    def forward(self, x):
        for i in range(self.nl):
            x[i] = self.m[i](x[i])
            b, _, h, w = x[i].shape
            x[i] = x[i].view(b, self.na, self.no, h, w).permute(0, 1, 3, 4, 2)
        if self.training:
            return x
        return [v * s * self.anchors.sum() for v, s in zip(x, self.stride)]


class Segment(Detect):
    pass


def parse(sizes):
    layers = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        m = nn.Sequential(nn.Conv2d(a, b, 3, 2, 1), nn.ReLU()) if i else nn.Conv2d(a, b, 3, 2, 1)
        m.i, m.f = i, -1
        layers.append(m)
    return nn.ModuleList(layers)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = parse([3, 4, 8])
        self.detect = Detect([[10, 13, 16, 30], [33, 23, 30, 61]], [4, 8])
        m = self.detect

        def _forward(x):
            return self.forward(x)[0] if isinstance(m, Segment) else self.forward(x)

        s = 32
        m.stride = torch.tensor([s / x.shape[-2] for x in _forward(torch.zeros(1, 3, s, s))])
        m.anchors /= m.stride.view(-1, 1, 1)
        self.stride = m.stride
        self._initialize_biases()

    def forward(self, x):
        kept = []
        for m in self.body:
            x = m(x) + m.i
            kept.append(x)
        return self.detect(kept)

    def _initialize_biases(self):
        m = self.detect
        for mi, s in zip(m.m, m.stride):
            b = mi.bias.view(m.na, -1)
            b.data[:, 4] += math.log(8 / (640 / s) ** 2)
            mi.bias = nn.Parameter(b.view(-1), requires_grad=True)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_detector_runs_itself_for_its_strides(target):
    verify(HEAD + DETECTS, "Net", "", [torch.randn(2, 3, 32, 32, dtype=torch.float64)], target)


@pytest.mark.parametrize("target", TARGETS)
def test_what_no_layer_has_is_refused(target):
    source = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lstm = nn.LSTM(4, 4)\n\n"
    source += "    def forward(self, x):\n        return self.lstm(x)[0] * len(self.lstm._flat_weights) * self.lstm.hidden_size\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert [(d.id, "_flat_weights" in d.message) for d in made.diagnostics] == [("unsupported", True)]


SECOND_NAMES_OF_BEFORE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.a, self.b = self.b, self.a
        self.old = self.a
        self.a = nn.Linear(4, 4, bias=False)
        self.c = self.a or self.b

    def forward(self, x):
        return self.a(x) + self.b(x * 2) + self.old(x * 3) + self.c(x * 4)
"""


@pytest.mark.parametrize("target", ("functional", "flax"))
def test_what_has_a_name_of_what_came_to_be_another_is_that_of_before(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + SECOND_NAMES_OF_BEFORE, "Net", "", inputs, target)


def test_a_choice_of_two_submodules_is_told_in_equinox():
    source = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)\n"
    source += "        self.c = self.a or self.b\n\n    def forward(self, x):\n        return self.a(x) + self.b(x * 2) + self.c(x * 4)\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "equinox")
    told = [d.message.partition(":")[0] for d in made.diagnostics]
    assert told == ["self.a is one module in a and c", "self.b is one module in b and c"]


LAYERS_SET_ANEW = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bns = nn.Sequential(nn.Linear(n, n), nn.BatchNorm1d(n), nn.ReLU(), nn.BatchNorm1d(n))
        for m in self.modules():
            if isinstance(m, nn.BatchNorm1d):
                m.momentum = 0.5
                m.eps = 0.01
        self.net = nn.Sequential(nn.Linear(n, n), nn.ReLU(), nn.Linear(n, n))
        self.net[1] = nn.Tanh()
        self.net[2].bias = None
        self.fc = nn.Linear(n, n)
        self.fc.weight.data[0] = 1
        self.fc.bias.data.fill_(0.5)
        with torch.no_grad():
            self.fc.weight[:, 1] = 2.0
            self.fc.bias += 1
    def forward(self, x, y):
        return self.net(self.bns(x)) + F.linear(y, self.fc.weight, self.fc.bias) + len(self.net) + self.net[0].weight.sum()
"""
DROPOUTS_SET_ANEW = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, n), nn.Dropout(0.9))
        for m in self.modules():
            if isinstance(m, nn.Dropout):
                m.p = 0.0
        self.d = nn.Dropout(0.5)
        self.d.p = 0.0
    def forward(self, x, y):
        return self.net(x) * (1 + self.d.p) + y
"""


@pytest.mark.parametrize("program", ["LAYERS_SET_ANEW", "DROPOUTS_SET_ANEW"])
@pytest.mark.parametrize("target", TARGETS)
def test_layers_are_set_anew_by_what_builds_them(target, program):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + globals()[program], "Net", "4", inputs, target)


def test_an_attribute_that_has_another_name_in_some_layers_is_told():
    source = DROPOUTS_SET_ANEW.replace("(m, nn.Dropout)", "(m, (nn.Dropout, nn.Dropout2d))")
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "flax")
    assert [d.id for d in made.diagnostics] == ["unsupported"]


ORDERED_BY_A_CONSTANT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.order = torch.tensor([2, 0, 1])

    def forward(self, x):
        for i in self.order.tolist():
            x = torch.tanh(self.layers[i](x))
        return x
"""


@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_a_constant_is_known_under_jit(target):
    verify(HEAD + ORDERED_BY_A_CONSTANT, "Net", "", [torch.rand(3, 4, dtype=torch.float64)], target)


MODE_OF_A_LAYER = """
def act(layer, x):
    return x * 2 if layer.training else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return act(self.l, x)
"""


def test_equinox_has_no_mode_of_a_layer_that_works_in_one_way():
    """A Linear has no field for it: the mode of what has one is asked for."""
    asked = MODE_OF_A_LAYER.replace("act(self.l", "act(self.drop")
    for source, told in ((MODE_OF_A_LAYER, ["module-mode"]), (asked, [])):
        (made,), _, _ = engine.convert([given(HEAD + source)], "", "equinox")
        assert [d.id for d in made.diagnostics] == told, made.code
    for target in ("functional", "flax"):
        inputs = [torch.rand(3, 4, dtype=torch.float64)]
        verify(HEAD + MODE_OF_A_LAYER, "Net", "", inputs, target)


QUEUES = {
    "begun in each call": ("pass", "self.q = deque(maxlen=2)", ["unsupported"]),
    "kept from call to call": ("self.q = deque(maxlen=2)", "pass", ["taken-for-granted"]),
}


@pytest.mark.parametrize("way", QUEUES)
@pytest.mark.parametrize("target", TARGETS)
def test_a_queue_that_a_model_keeps_is_told(target, way):
    made, begun, told = QUEUES[way]
    text = "from collections import deque\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
    text += f"        super().__init__()\n        self.fc = nn.Linear(4, 4)\n        {made}\n\n"
    text += f"    def forward(self, x):\n        {begun}\n        self.put(x)\n"
    text += "        return sum(self.q) + x\n\n    def put(self, x):\n        self.q.append(self.fc(x))\n"
    (found,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in found.diagnostics] == told


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_a_constructor_computes_are_taken_for_numbers(target):
    x = torch.randn(3, 4, dtype=torch.float64)
    told = ["taken-for-granted", "taken-for-granted"]
    verify(program("sizes_taken_for_numbers"), "Net", "", [x], target, told)


AGAIN = """
    def step(self, v):
        self.reset()
        self.mask.add_(v)

    def forward"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_buffer_that_is_set_later_is_begun_once(target):
    """A method that runs what the constructor does, where the buffer is another one by then, is
    told. Flax runs it."""
    source = program("begun_by_reset_and_set_later").replace("\n    def forward", AGAIN)
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert [d.id for d in made.diagnostics] == ([] if target == "flax" else ["parameter-write"])
    assert ("self.reset()\n        self.mask" in made.code) == (target == "flax")


AGAIN_IN_BACKWARD = {"functional": ("one key",), "flax": ("not run again",), "equinox": ()}


@pytest.mark.parametrize("target", TARGETS)
def test_a_backward_that_runs_forward_again_is_a_checkpoint(target):
    """What of the program's own it is that a run depends on is told, and what a dialect makes of
    a draw in it."""
    source = program("run_again_in_backward")
    (made,), _, _ = engine.convert([given(source)], "", target)
    for word, found in zip(("arguments alone", *AGAIN_IN_BACKWARD[target]), made.diagnostics):
        assert found.id == "taken-for-granted" and word in found.message
    x = torch.randn(3, 4, dtype=torch.float64)
    told = ["taken-for-granted"] * (1 + len(AGAIN_IN_BACKWARD[target]))
    verify(source, "Net", "", [x], target, told)


def test_what_raises_quotes_a_statement_and_no_class():
    """A tie that a pass has put behind the statement that hands a weight on, which runs twice."""
    source = program("weights_handed_on_one_way")
    source = source.replace("            self._init_large()\n", 2 * "            self._init_large()\n")
    source = source.replace("        self.head = ", "        for _ in range(2):\n            self.head = ")
    (made,), _, _ = engine.convert([given(source)], "", "functional")
    assert "tied-weight" in {d.id for d in made.diagnostics}
    assert '"self.head = Head(4, 5, weight=self.embed.weight)"' in made.code
