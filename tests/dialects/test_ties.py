"""Arrays and modules that several places share: tied, read from their owner, or told."""

import jax
import numpy as np
import pytest
import torch
from flax import nnx

from transpile import from_torch
from transpile.command import engine

from .small import HEAD, TARGETS, alone, program
from .verified import converted, given, in_float64, namespace, verify


def tied(tie):
    return f"""
class Net(nn.Module):
    def __init__(self, x=False):
        super().__init__()
        self.a, self.b, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.c = nn.Linear(4, 4, bias=False)
        {tie}

    def forward(self, x, y):
        return self.head(self.c(self.a(x) + self.b(y)))
"""


UNSEEN_TIES = {  # what is tied can not be told from a model that is built
    "to one of two": """if x:
            self.head.weight = self.a.weight
        else:
            self.head.weight = self.b.weight""",
    "of what may have none": "if x:\n            self.c.bias = self.b.bias",
}


def test_a_second_name_that_is_read_is_refused():
    source = HEAD + alone("second_name_unread").replace("+ y", "+ y @ self.out_weight")
    (made,), _, _ = engine.convert([given(source)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["tied-weight"], made.code


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("init", ["other=True", "share=False"])
def test_ties_under_a_condition(init, target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(program("ties"), "Net", init, inputs, target)


@pytest.mark.parametrize("init", ["True", "False"])
@pytest.mark.parametrize("tie", UNSEEN_TIES)
def test_ties_by_one_variable(tie, init):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + tied(UNSEEN_TIES[tie]), "Net", init, inputs, "flax")


@pytest.mark.parametrize("target", TARGETS)
def test_a_tie_that_is_changed_on_some_ways_is_refused(target):
    changed = "self.head.weight = self.a.weight\n        if x:\n            self.head.weight = self.b.weight"
    (made,), _, _ = engine.convert([given(HEAD + tied(changed))], "", target)
    assert {d.id for d in made.diagnostics} == {"tied-weight"}


@pytest.mark.parametrize("target", ("equinox", "functional"))
@pytest.mark.parametrize("tie", UNSEEN_TIES)
def test_ties_that_are_refused(tie, target):
    text = HEAD + tied(UNSEEN_TIES[tie])
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert {d.id for d in made.diagnostics} == {"tied-weight"}


SHARED = {
    "one name": "self.ps = nn.ParameterList([p, p])",
    "a comprehension": "self.ps = nn.ParameterList([p for _ in range(2)])",
    "a loop": "self.ps = nn.ParameterList()\n        for _ in range(2):\n            self.ps.append(p)",
    "a dict": "self.ps = nn.ParameterDict({'a': p, 'b': p})",
}
LISTS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        p = nn.Parameter(torch.zeros(4))
        {}

    def forward(self, x):
        for p in {}:
            x = x + p
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SHARED)
def test_a_param_in_several_places_is_told(name, target):
    text = HEAD + LISTS.format(SHARED[name], "self.ps.values()" if name == "a dict" else "self.ps")
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert "shared-module" in {d.id for d in made.diagnostics}, made.code


KEPT_ELSEWHERE = """
class Head(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.decoder = nn.Linear(weights.size(1), weights.size(0), bias=False)
        self.decoder.weight = weights

    def forward(self, x):
        return self.decoder(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.head = Head(self.emb.weight)

    def forward(self, ids):
        return self.head(self.emb(ids))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_param_that_another_constructor_keeps_is_tied(target):
    verify(HEAD + KEPT_ELSEWHERE, "Net", "", [torch.tensor([0, 1, 2])], target)


LISTED_PARAMS = (
    "self.ps = nn.ParameterList([self.p, self.q])",
    "ps = [self.p]\n        self.ps = nn.ParameterList(ps)",
    "self.ps = nn.ParameterDict({'p': self.p})",
    "q = nn.Parameter(torch.ones(4))\n        self.q = q\n        self.ps.append(q)",
)


@pytest.mark.parametrize("target", ("equinox", "functional"))
def test_a_module_of_a_list_that_stands_elsewhere_is_told_by_any_name(target):
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Linear(4, 4) for _ in range(2)]
        last = layers[0]
        self.layers = nn.Sequential(*layers)
        self.last = last

    def forward(self, x):
        return self.last(self.layers(x))
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == ["shared-module"]


@pytest.mark.parametrize("listed", LISTED_PARAMS)
def test_a_param_that_a_container_holds_too_is_told_where_it_is_another(listed):
    text = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p, self.q = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
        self.ps = nn.ParameterList()
        {listed}

    def forward(self, x):
        return x * sum(self.ps.values() if hasattr(self.ps, "values") else self.ps) + self.p
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "equinox")
    assert "shared-module" in {d.id for d in made.diagnostics}


def test_a_module_with_a_state_alone_in_two_places_is_told():
    text = """
class Seen(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def forward(self, x):
        self.n += x.sum()
        return x * self.n


class Half(nn.Module):
    def __init__(self, seen):
        super().__init__()
        self.seen = seen

    def forward(self, x):
        return self.seen(x) / 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        seen = Seen()
        self.a, self.b = Half(seen), Half(seen)

    def forward(self, x):
        return self.b(self.a(x))
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["shared-module"]


ONE_TENSOR = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        t = torch.zeros(4)
        self.register_buffer("a", t)
        {second}

    def forward(self, x, y):
        {write}
        return x * self.a + y * self.b
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "second, write, told",
    [
        ('self.register_buffer("b", t)', "self.a += 1", True),
        ('self.register_buffer("b", self.a)', "self.b.mul_(2)", True),
        ("self.b = nn.Parameter(t)", "y = y + 1", True),
        ('self.register_buffer("b", t)', "self.a = self.a + 1", False),
        ('self.register_buffer("b", t.clone())', "self.a += 1", False),
    ],
)
def test_two_arrays_of_one_tensor_are_told_where_one_is_written(target, second, write, told):
    text = ONE_TENSOR.format(second=second, write=write)
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == ["aliased-write"] * told


HELD = """
class Block(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv1 = {conv}
        self.bn = nn.BatchNorm1d(o)
        self.conv2 = nn.Conv1d(o, o, 1)
        self.net = nn.Sequential(self.conv1, self.bn, nn.ReLU(), self.conv2)
        self.init_weights()

    def init_weights(self):
        self.conv1.weight.data.fill_(0.01)
        nn.init.constant_(self.conv2.weight, 0.2)

    def forward(self, x):
        return F.relu(self.net(x)) + self.conv1(x).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block(1, 2)

    def forward(self, x, y):
        return self.block(x[:, None]).mean(1) * y + self.block.conv1.bias.sum()
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_what_a_container_holds_too_is_one_module(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    source = HEAD + HELD.format(conv="nn.Conv1d(i, o, 3, padding=1)")
    verify(source, "Net", "", inputs, target)


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_what_weight_norm_computes_is_not_written(target):
    """In torch, too, the next call computes it anew."""
    conv = "nn.utils.weight_norm(nn.Conv1d(i, o, 3, padding=1))"
    (made,), _, _ = engine.convert([given(HEAD + HELD.format(conv=conv))], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("taken-for-granted", 17)], made.code
    assert "0.01" not in made.code


GIVEN_TWICE = """
class Block(nn.Module):
    def __init__(self, act, twice=True):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act1 = act
        self.act2 = act
        if twice:
            act = nn.Linear(4, 4)
        self.act3 = act

    def forward(self, x):
        return self.act3(self.act2(self.act1(self.fc(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        acts = nn.Tanh(), nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.blocks = nn.Sequential(*[Block(act, i > 1) for i, act in enumerate(acts)])

    def forward(self, x):
        return self.blocks(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_that_is_kept_twice_has_its_arrays_under_its_first_name(target):
    inputs = [torch.randn(5, 4, dtype=torch.float64)]
    if target != "equinox":
        verify(HEAD + GIVEN_TWICE, "Net", "", inputs, target)
    again = "        if twice:\n            act = nn.Linear(4, 4)\n"
    verify(HEAD + GIVEN_TWICE.replace(again, ""), "Net", "", inputs, target)


PARAMETERS_GIVEN_MORE = """
class Net(nn.Module):
    def __init__(self, device="cpu"):
        super().__init__()
        self.a = nn.init.ones_(nn.Parameter(torch.empty(4)))
        self.b = nn.init.constant_(nn.Parameter(torch.empty(4)), 3.0)
        self.c = nn.Parameter(torch.full((4,), 1.5)).requires_grad_(True)
        self.d = nn.Parameter(torch.full((4,), 2.5)).requires_grad_(requires_grad=True)
        self.e = nn.Parameter(torch.full((4,), 3.5)).to(device)
        self.f = nn.Parameter(torch.full((4,), 4.5)).cpu().requires_grad_()

    def forward(self, x):
        return x * self.a * self.b + self.c * self.d + self.e * self.f
"""


@pytest.mark.parametrize("target", TARGETS)
def test_each_parameter_is_one_whatever_is_asked_of_it(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + PARAMETERS_GIVEN_MORE, "Net", "", inputs, target)


WRITTEN_WHERE_TIED = """
class Tied(nn.Module):
    def __init__(self, tied=True):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 4), nn.Linear(4, 4)
        if tied:
            self.decoder.weight = self.encoder.weight
        self.init_weights()

    def init_weights(self):
        self.encoder.weight.data.normal_(0, 0.01)
        self.decoder.weight.data.fill_(2.0)

    def forward(self, x, y):
        return self.decoder(self.encoder(x) * y)
"""


@pytest.mark.parametrize("tied", [True, False])
def test_a_method_begins_what_is_tied_by_its_owner(tied):
    (made,), support, _ = engine.convert([given(HEAD + WRITTEN_WHERE_TIED)], "", "functional")
    params = converted(made.code, support)["Tied"](tied).init(jax.random.key(0))
    assert ("weight" in params["decoder"]) is not tied
    np.testing.assert_array_equal(params["encoder" if tied else "decoder"]["weight"], 2.0)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("target", TARGETS)
def test_what_is_tied_is_written_where_it_is(target, tied):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + WRITTEN_WHERE_TIED, "Tied", str(tied), inputs, target)
    (made,), support, _ = engine.convert([given(HEAD + WRITTEN_WHERE_TIED)], "", target)
    if target == "functional":
        return
    cls = converted(made.code, support)["Tied"]
    model = cls(tied, rngs=nnx.Rngs(0)) if target == "flax" else cls(tied, key=jax.random.key(0))
    np.testing.assert_array_equal((model.encoder if tied else model.decoder).weight, 2.0)
    assert (model.decoder.weight is None) is tied


PARAMETERS_MADE_ELSEWHERE = """
from torch.nn import Parameter as Param
import torch.nn.parameter as tp
from torch.nn.init import xavier_uniform_, zeros_
def make(n):
    return nn.Parameter(torch.full((n,), 2.0))
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a = xavier_uniform_(Param(torch.empty(n, n)))
        self.b = zeros_(tp.Parameter(torch.empty(n)))
        self.c = make(n)
        self.register_parameter(name="d", param=Param(torch.ones(n)))
        setattr(self, "e", tp.Parameter(torch.full((n,), 3.0)))
        w = Param(torch.full((n,), 3.0))
        nn.init.constant_(w, 5.0)
        self.f = w
        self.g = Param(torch.full((n,), 3.0)).float()
        ps = [Param(torch.full((n,), 1.0 + i)) for i in range(2)]
        self.h = ps[0]
        self.i = ps[1]
    def forward(self, x, y):
        return (x @ self.a) + self.b * self.c + self.d * self.e * y * self.f + self.g * self.h * self.i
"""


@pytest.mark.parametrize("target", TARGETS)
def test_each_parameter_is_one_wherever_it_is_made(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + PARAMETERS_MADE_ELSEWHERE, "Net", "4", inputs, target)


UNREGISTERED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)
        HIDDEN

    def forward(self, x, y):
        return self.net(x) + HELD(y)
"""
UNREGISTERED_WAYS = {
    "a list": ("self.nets = [nn.Linear(4, 4)]", "self.nets[0]"),
    "a list of its own": ("nets = []; nets.append(nn.Linear(4, 4)); self.nets = nets", "self.nets[0]"),
    "a comprehension": ("self.nets = [nn.Linear(4, 4) for _ in range(2)]", "self.nets[1]"),
    "a dict": ("self.nets = {}; self.nets['a'] = nn.Linear(4, 4)", "self.nets['a']"),
    "past the registration": ("object.__setattr__(self, 'hid', nn.Linear(4, 4))", "self.hid"),
    "the object's dict": ("self.__dict__['hid'] = nn.Linear(4, 4)", "self.hid"),
}


@pytest.mark.parametrize("way", UNREGISTERED_WAYS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_module_that_torch_does_not_register_is_told(target, way):
    hidden, held = UNREGISTERED_WAYS[way]
    text = HEAD + UNREGISTERED.replace("HIDDEN", hidden).replace("HELD", held)
    (made,), support, _ = engine.convert([given(text)], "", target)
    found = [d.id for d in made.diagnostics]
    if target == "functional" and "hid" not in text:
        assert found == ["frozen-param", "module-value"]  # its params have no name of torch's
        return
    assert found == ["frozen-param"]
    theirs = namespace(text, "program")["Net"]().double()
    held_there = eval(held, {"self": theirs}).double()
    x, y = torch.randn(2, 3, 4, dtype=torch.float64)
    with in_float64():
        net = converted(made.code, support)["Net"]
        if target == "functional":
            got = net()(from_torch(theirs, net())[0], x.numpy(), y.numpy())
        else:
            first = {"rngs": nnx.Rngs(0)} if target == "flax" else {"key": jax.random.key(0)}
            filled = from_torch(theirs, net(**first))
            got = (filled[0] if target == "equinox" else filled)(x.numpy(), y.numpy())
        wanted = (theirs.net(x) + held_there(y)).detach().numpy()
        np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("target", ("flax", "equinox"))
def test_a_list_whose_modules_a_sequential_has_too_is_told(target):
    text = UNREGISTERED.replace("HIDDEN", "self.nets = [nn.Linear(4, 4)]; self.all = nn.Sequential(*self.nets)")
    (made,), _, _ = engine.convert([given(HEAD + text.replace("HELD", "self.nets[0]"))], "", target)
    assert [d.id for d in made.diagnostics] == ["shared-module"]


HELD_TWICE = {
    "on one way": "if deep:\n            self.d = {'k': self.a}\n        else:\n            self.d = {}",
    "beside a layer": "self.d = dict(k=self.a, act=nn.ReLU())",
    "in a list in it": "self.d = {'k': self.a, 'more': [self.a, nn.ReLU()]}",
    "by a method": "self._build()\n\n    def _build(self):\n        self.d = {'k': self.a}",
}


@pytest.mark.parametrize("way", HELD_TWICE)
def test_a_plain_dict_with_a_module_of_the_model_is_told(way):
    text = "class Net(nn.Module):\n    def __init__(self, deep=True):\n        super().__init__()\n"
    text += f"        self.a = nn.Linear(4, 4)\n        {HELD_TWICE[way]}\n\n"
    text += "    def forward(self, x):\n        return self.d['k'](x) + self.a(x)\n"
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["shared-module"]


@pytest.mark.parametrize("target", ("functional", "equinox"))
def test_a_shallow_copy_of_a_module_is_told(target):
    text = "import copy\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text += "        self.a = nn.Linear(4, 4)\n        self.c = copy.copy(self.a)\n\n"
    text += "    def forward(self, x):\n        return self.a(x) + self.c(x)\n"
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == ["shared-module"]


IN_AN_OBJECT = """
from typing import NamedTuple


class Parts(NamedTuple):
    net: nn.Module
    scale: float = 2.0


class Kept:
    def __init__(self, net, scale):
        self.net = net
        self.scale = scale


class Asked:
    def __init__(self, net, scale):
        self.size = net.in_features
        self.scale = scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.held = HELD

    def forward(self, x):
        return self.net(x) * self.held.scale
"""
OBJECTS = {
    "Parts(self.net)": ["module-value"],
    "Kept(self.net, 2.0)": ["module-value"],
    "[Kept(self.net, 2.0)][0]": ["module-value"],
    "types.SimpleNamespace(net=self.net, scale=2.0)": ["module-value"],
    "Asked(self.net, 2.0)": [],
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("held", OBJECTS)
def test_an_object_that_holds_a_module_is_refused(target, held):
    text = "import types\n" + HEAD + IN_AN_OBJECT.replace("HELD", held)
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert [d.id for d in made.diagnostics] == OBJECTS[held]


PARAMS_IN_BRANCHES = """
class Net(nn.Module):
    def __init__(self, shared):
        super().__init__()
        p = nn.Parameter(torch.zeros(4))
        if shared:
            self.w = p
            self.v = p
        else:
            self.w = p
            self.v = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return x * self.w + x.sin() * self.v
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shared", ("True", "False"))
def test_a_param_under_two_names_in_a_branch_is_one(target, shared):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + PARAMS_IN_BRANCHES, "Net", shared, inputs, target)


@pytest.mark.parametrize("target", ("flax", "equinox"))
def test_a_set_of_modules_is_refused(target):
    text = IN_AN_OBJECT.replace("HELD", "{self.net}").replace("self.held.scale", "(self.net in self.held)")
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"]


BUFFER_OF_TWO = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("c", torch.zeros(4))

    def forward(self, x):
        self.c += x.detach().mean(0)
        return x + self.c


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Part()
        self.b = Part()
        self.b.c = self.a.c

    def forward(self, x):
        return self.b(self.a(x))
"""
HANDED_TO_SEVERAL = """
class Part(nn.Module):
    def __init__(self, b):
        super().__init__()
        self.register_buffer("b", b)

    def forward(self, x):
        WRITE
        return x * self.b


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        b = torch.ones(4)
        HELD

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
"""


@pytest.mark.parametrize(
    "held, write, told",
    [
        ("self.parts = nn.ModuleList([Part(b), Part(b)])", "self.b += 1", 1),
        ("self.parts = nn.ModuleList([Part(b) for _ in range(2)])", "self.b += 1", 1),
        ("self.register_buffer('b', b); self.parts = nn.ModuleList([Part(b)])", "self.b += 1", 1),
        ("self.parts = nn.ModuleList([Part(t) for t in torch.eye(4)])", "self.b += 1", 0),
        ("self.parts = nn.ModuleList([Part(b)])", "self.b += 1", 0),
        ("self.parts = nn.ModuleList([Part(b), Part(b)])", "self.b = self.b + 1", 0),
    ],
)
def test_a_tensor_that_several_modules_are_given_and_write_is_told(held, write, told):
    text = HANDED_TO_SEVERAL.replace("HELD", held).replace("WRITE", write)
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "functional")
    assert [d.id for d in made.diagnostics] == ["aliased-write"] * told, made.code


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("write, told", [("self.c += x", ["aliased-write"]), ("self.c = self.c + x", [])])
def test_a_buffer_of_two_modules_that_is_written_in_place_is_told(target, write, told):
    text = BUFFER_OF_TWO.replace("self.c += x", write)
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert [d.id for d in made.diagnostics] == told


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kept", ["self.all[k] = p", "self.all.append(p)"])
def test_a_param_that_a_plain_container_has_too_is_told(target, kept):
    text = "class Net(nn.Module):\n    def __init__(self, names):\n        super().__init__()\n"
    text += f"        self.all = {'[]' if 'append' in kept else '{}'}\n        for k in names:\n"
    text += "            p = nn.Parameter(torch.ones(4))\n            self.register_parameter(k, p)\n"
    text += f"            {kept}\n\n    def forward(self, x):\n        return x * self.all[0]\n"
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert {d.id for d in made.diagnostics} & {"aliased-write", "shared-module"}


def handed(kept="self.emb = emb", emb="nn.Linear(4, 4)", after="", calls="self.trunk(x) + self.emb(y)"):
    return f"""
class Trunk(nn.Module):
    def __init__(self, emb):
        super().__init__()
        {kept}

    def forward(self, x):
        return self.emb(x)


def twice(m, x):
    return m(m(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = {emb}
        self.trunk = Trunk(self.emb)
        {after}

    def forward(self, x, y):
        return {calls}
"""


UNTIED = {  # what is handed to a constructor, and cannot be tied there
    "state": handed(emb="nn.BatchNorm1d(4)"),
    "kept on one way": handed("if emb is not None:\n            self.emb = emb\n        else:\n            self.emb = nn.ReLU()"),
    "begun by what keeps it": handed("self.emb = emb\n        nn.init.ones_(self.emb.weight)"),
    "begun by a method of what keeps it": handed("self.emb = emb\n        self.start()\n\n    def start(self):\n        nn.init.ones_(self.emb.weight)"),
    "in a container too": handed(after="self.more = nn.Sequential(self.emb, nn.ReLU())", calls="self.trunk(x) + self.more(y)"),
    "run elsewhere": handed().replace("def twice(m, x):\n    return m(m(x))", "def twice(m, x):\n    return m.trunk(x)"),
    "handed on": handed(calls="twice(self.trunk, x) + self.emb(y)"),
    "under another name": handed(after="self.other = self.trunk", calls="self.other(x) + self.emb(y)"),
    "asked for its params": handed(calls="self.trunk(x) * len(list(self.trunk.parameters())) + self.emb(y)"),
}


@pytest.mark.parametrize("target", ["functional", "equinox"])
@pytest.mark.parametrize("source", UNTIED.values(), ids=UNTIED)
def test_what_cannot_be_tied_where_it_is_handed_to_is_told(source, target):
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert "shared-module" in {d.id for d in made.diagnostics}


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_is_handed_to_another_as_its_arrays(target):
    (made,), _, _ = engine.convert([given(HEAD + handed())], "", target)
    assert not made.diagnostics
    owned = {
        "functional": 'self.trunk({**params["trunk"], "emb": params["emb"]}, x)',
        "flax": "nn.tied(self.trunk, emb=self.emb)(x)",
        "equinox": 'nn.with_array(self.trunk, "emb", self.emb)(x)',
    }
    assert owned[target] in made.code


LARGE = """        if large:
            self.kind = "large"
            self._init_large()
        else:
            self.kind = "small"
            self.out = nn.Linear(4, 5)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_weight_that_is_handed_in_a_method_is_made_by_its_owner_alone(target):
    source = program("weights_handed_on_one_way")
    source = source.replace(LARGE, "        self._init_large()\n")
    source = source.replace('self.head(x) if self.kind == "large" else self.out(x)', "self.head(x)")
    assert "kind" not in source
    verify(source, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)
    if target == "functional":
        (made,), support, _ = engine.convert([given(source)], "", target)
        params = converted(made.code, support)["Net"]().init(jax.random.key(0))
        assert params["head"].keys() == {"dense", "bias"}
