"""Lists, dicts and Sequentials of modules, and what grows them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx

from transpile import from_torch, to_torch
from transpile.command import engine

from .small import HEAD, TARGETS, program
from .verified import built, converted, given, namespace, verify


def test_the_dict_of_an_object_is_no_field():
    unpickled = "    def __setstate__(self, state):\n        self.__dict__ = state\n"
    source = HEAD + "class Net(nn.Module):\n" + unpickled
    (made,), _, _ = engine.convert([given(source)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["parameter-write"]
    assert "__dict__:" not in made.code


REGISTERED_OF_A_LIST = (
    "self.register_parameter('a', self.kept[0])",
    "self.a = self.kept[0]",
    "for i in range(2): self.register_parameter('a%d' % i, self.kept[i])",
    "for i, p in enumerate(self.kept): setattr(self, f'a{i}', p)",
    "self.all = nn.ParameterList(self.kept)",
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("tie", REGISTERED_OF_A_LIST)
def test_params_of_a_plain_list_that_are_registered_too_are_told(tie, target):
    text = f"""{HEAD}class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = [nn.Parameter(torch.ones(4, 4)) for _ in range(2)]
        {tie}

    def forward(self, x):
        return x @ self.kept[0] @ self.kept[1]
"""
    (made,), _, _ = engine.convert([given(text)], "", target)
    assert "tied-weight" in {d.id for d in made.diagnostics}


# Two lists whose params become one in a loop: nnx keeps them one.
TIED_IN_LISTS = """
class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList()
        for _ in range(2):
            self.scales.append(nn.Parameter(torch.randn(4)))


class Tied(nn.Module):
    def __init__(self, ties):
        super().__init__()
        self.a, self.b = Half(), Half()
        for i, tie in enumerate(ties):
            if tie:
                self.b.scales[i] = self.a.scales[i]

    def forward(self, x):
        return x * self.a.scales[0] * self.b.scales[0]
"""


@pytest.mark.parametrize("target", ("functional", "equinox"))
def test_params_of_lists_that_become_one_are_reported(target):
    (made,), _, _ = engine.convert([given(HEAD + TIED_IN_LISTS)], "", target)
    assert {d.id for d in made.diagnostics} <= {"tied-weight", "shared-module"} and made.diagnostics


NONE_AMONG_PARAMS = """
class Net(nn.Module):
    def __init__(self, use):
        super().__init__()
        self.ps = nn.ParameterList([nn.Parameter(torch.ones(4)) if use else None, None])
        self.qs = nn.ParameterList()
        for i in range(2):
            if use or i:
                self.qs.append(nn.Parameter(torch.ones(4)))
            else:
                self.qs.append(None)

    def scaled(self, x, by):
        return x if by is None else x * by

    def forward(self, x, y):
        x = self.scaled(x, self.qs[0])
        for p, q in zip(self.ps, self.qs):
            if p is not None:
                x = x * p
            if q is not None:
                x = x + q
        for i in range(len(self.ps)):
            y = self.scaled(y, self.ps[i])
        return x + y if self.qs[-1] is None else x + y * self.qs[-1]
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("use", ["True", "False"])
def test_none_stands_in_a_list_of_params(use, target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + NONE_AMONG_PARAMS, "Net", use, inputs, target)


SAVES_LESS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("proj", torch.ones(4))

    def forward(self, x):
        return self.fc(x) * self.proj

    def state_dict(self, destination=None, prefix="", keep_vars=False):
        state_dict = super(Net, self).state_dict(destination, prefix, keep_vars)
        del state_dict[prefix + "proj"]
        return state_dict
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_state_dict_of_a_base_is_told(target):
    (made,), _, failed = engine.convert([given(HEAD + SAVES_LESS)], "", target)
    assert not failed and {d.id for d in made.diagnostics} == {"module-value"}


KEPT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.stats = {}

    def forward(self, x):
        x = self.fc(x)
        self.stats["mean"] = x.mean()
        self.stats["mean"] += 1
        self.stats["x"] = x * 2
        self.stats["x"][:, 0] = 3.0
        self.stats["x"].mul_(2)
        return x + self.stats["mean"] + self.stats["x"]
"""


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_entries_of_a_dict_of_the_state_are_written(target):
    verify(HEAD + KEPT, "Net", "", [torch.randn(2, 4, dtype=torch.float64)], target)


def test_a_dict_of_what_forward_keeps_is_no_weight():
    (made,), support, _ = engine.convert([given(HEAD + KEPT)], "", "flax")
    theirs = namespace(HEAD + KEPT, "program")["Net"]()
    model = from_torch(theirs, converted(made.code, support)["Net"](rngs=nnx.Rngs(0)))
    x = torch.randn(2, 4)
    got, want = model(jnp.asarray(x.numpy())), theirs(x).detach()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)  # as all of float32
    assert sorted(to_torch(model)) == ["fc.bias", "fc.weight"]


FILLED_UNDER_NAMES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)
        self.apply(self._fill)
        for name in ("weight", "bias"):
            nn.init.constant_(getattr(self.norm, name), 3.0)

    def _fill(self, module):
        if isinstance(module, nn.Linear):
            names = ["weight", "bias"]
            for name in names:
                array = getattr(module, name)
                if array is not None:
                    nn.init.ones_(array)

    def forward(self, x):
        return self.norm(self.fc(x))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_arrays_are_filled_under_listed_names(target):
    source = HEAD + FILLED_UNDER_NAMES
    verify(source, "Net", "", [torch.randn(2, 4, dtype=torch.float64)], target)
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert "getattr" not in made.code and "names" not in made.code and not made.diagnostics
    model = built((cls := converted(made.code, support)["Net"]), cls)
    tree = model.init(jax.random.key(0)) if target == "functional" else model
    arrays = to_torch(tree, {}) if target == "functional" else to_torch(tree)
    assert {n: float(v.min()) for n, v in arrays.items()} == {
        "fc.weight": 1, "fc.bias": 1, "norm.weight": 3, "norm.bias": 3
    }
    assert all(v.min() == v.max() for v in arrays.values())


@pytest.mark.parametrize("target", TARGETS)
def test_arrays_under_names_that_are_given_are_not_filled_silently(target):
    source = FILLED_UNDER_NAMES.replace('names = ["weight", "bias"]', "names = module.names")
    (made,), support, _ = engine.convert([given(HEAD + source)], "", target)
    assert "aliased-write" in [d.id for d in made.diagnostics]


HELD_IN_BRANCHES = """
class Block(nn.Module):
    def __init__(self, n, kind, stride=1):
        super().__init__()
        self.conv = nn.Conv1d(n, n, 1)
        if kind == "batch":
            self.norm = nn.BatchNorm1d(n)
            if not stride == 1:
                self.norm3 = nn.BatchNorm1d(n)
        else:
            self.norm = nn.InstanceNorm1d(n)
            if not stride == 1:
                self.norm3 = nn.InstanceNorm1d(n)
        if stride == 1:
            self.downsample = None
        else:
            self.downsample = nn.Sequential(nn.Conv1d(n, n, 1, stride=stride), self.norm3)

    def forward(self, x):
        y = self.norm(self.conv(x))
        if self.downsample is not None:
            x = self.downsample(x)
        return x + y[..., :x.shape[-1]]


class Net(nn.Module):
    def __init__(self, kind="batch"):
        super().__init__()
        self.a = Block(3, kind)
        self.b = Block(3, kind, 2)

    def forward(self, x, y):
        return self.b(self.a(torch.stack([x, y])))
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
@pytest.mark.parametrize("kind", ["batch", "instance"])
def test_what_a_container_holds_may_be_made_in_branches(target, kind):
    """It is one where each of the branches comes to the container."""
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + HELD_IN_BRANCHES, "Net", repr(kind), inputs, target)
    other = HELD_IN_BRANCHES.replace("not stride == 1", "stride < 9")
    (made,), _, _ = engine.convert([given(HEAD + other)], "", target)
    told = {"shared-module"} if target != "flax" else set()
    assert {d.id for d in made.diagnostics} == told


LIST_OR_ONE = """
class Net(nn.Module):
    def __init__(self, apart=False):
        super().__init__()
        self.apart = apart
        if self.apart:
            self.heads = nn.ModuleList()
            for i in range(3):
                self.heads.append(nn.Linear(4, 4))
        else:
            self.heads = nn.Linear(4, 4)

    def forward(self, x):
        if self.apart:
            out = torch.zeros([3, 4], dtype=x.dtype)
            for i in range(3):
                out[i] = self.heads[i](x[i])
        else:
            out = self.heads(x)
        return out.tanh()
"""


@pytest.mark.parametrize("init", ["", "apart=True"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_list_of_layers_is_not_what_is_called(target, init):
    source = HEAD + LIST_OR_ONE
    verify(source, "Net", init, [torch.randn(3, 4, dtype=torch.float64)], target)
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert ".apply(" not in made.code and "nn.call(" not in made.code, made.code


A_LIST_OR_ONE = """
class Net(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        for i in range(2):
            net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
            if inner:
                for j in range(2):
                    setattr(self, f"scale{i}_layer{j}", net[j])
            else:
                setattr(self, f"layer{i}", net)

    def single(self, model, x):
        if not self.inner:
            return model(x)
        for i in range(len(model)):
            x = model[i](x)
        return x

    def forward(self, x):
        result = []
        for i in range(2):
            if self.inner:
                model = [getattr(self, f"scale{i}_layer{j}") for j in range(2)]
            else:
                model = getattr(self, f"layer{i}")
            result.append(self.single(model, x))
        return result
"""


@pytest.mark.parametrize("inner", (True, False))
@pytest.mark.parametrize("target", ("equinox", "flax"))
def test_a_module_that_may_be_a_list_of_modules_is_called(target, inner):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + A_LIST_OR_ONE, "Net", str(inner), inputs, target)


FILLS_ITS_OWN_LAYER = """
class Base(nn.Sequential):
    def __init__(self, size, norm):
        super().__init__()
        self.add_module("bn", norm(size))
        nn.init.constant_(self[0].weight, 2.0)


class Net(Base):
    def __init__(self, size):
        super().__init__(size, norm=nn.BatchNorm1d)
        self.add_module("fc", nn.Linear(size, size))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_sequential_writes_a_layer_of_its_own(target):
    verify(HEAD + FILLS_ITS_OWN_LAYER, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


REPLACES_A_NUMBERED_LAYER = """
def replace(model):
    for n, m in model.named_children():
        if isinstance(m, nn.ReLU):
            setattr(model, n, nn.Tanh())
        else:
            replace(m)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        replace(self.net)

    def forward(self, x):
        return self.net(x)
"""


@pytest.mark.parametrize("target", ("equinox", "flax"))
def test_a_layer_that_a_container_holds_under_a_number_is_put_in_its_place(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + REPLACES_A_NUMBERED_LAYER, "Net", "", inputs, target)


ASKED_ITEMS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = {}

    def forward(self, x):
        if x.device in self.seen:
            return self.seen[x.device]
        self.seen[x.device] = torch.arange(x.shape[-1]) * 2.0 + x.mean()
        return self.seen[x.device]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_none_in_a_dict_does_not_ask_whether_there_is_one(target):
    """A device is None in JAX, and `None in seen` asks of an item."""
    (made,), support, _ = engine.convert([given(HEAD + ASKED_ITEMS)], "", target)
    assert "internal-error" not in {d.id for d in made.diagnostics}
    ours = built((cls := converted(made.code, support)["Net"]), cls)
    x = jnp.zeros((2, 3))
    if target == "equinox":
        out, _ = ours(x, eqx.nn.State(ours))
    else:
        out = ours(x) if target == "flax" else ours(ours.init_state(jax.random.key(0)), x)[0]
    np.testing.assert_array_equal(out, [0.0, 2.0, 4.0])


LISTS_MADE_OF_THEMSELVES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = [nn.Parameter(torch.ones(4) * i) for i in range(2)]
        self.scales.append(nn.Parameter(torch.ones(4) * 3))
        self.scales = nn.ParameterList(self.scales)
        self.shifts = {"a": nn.Parameter(torch.ones(4))}
        self.shifts = nn.ParameterDict(self.shifts)
        gains = {}
        for name in "cd":
            gains[name] = nn.Parameter(torch.ones(4) * 2)
        self.gains = nn.ParameterDict(gains)

    def forward(self, x):
        for p in self.scales:
            x = x + p
        return x * self.shifts["a"] * self.gains["c"] - self.scales[1] * self.gains["d"]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_list_of_params_is_made_of_itself(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + LISTS_MADE_OF_THEMSELVES, "Net", "", inputs, target)


LISTS_OF_THEIR_OWN = """
class Shifted(nn.Sequential):
    def forward(self, x, shift):
        for layer in self:
            x = layer(x) + shift
        return x


class Chain(nn.ModuleList):
    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Shifted(nn.Linear(4, 4))
        self.a.add_module("last", nn.Tanh())
        b = Chain()
        for _ in range(2):
            b.append(nn.Linear(4, 4))
        self.b = b

    def forward(self, x, y):
        return self.a(x, y) + self.b(y) * len(self.b)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_containers_of_own_classes_grow(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + LISTS_OF_THEIR_OWN, "Net", "", inputs, target)


@pytest.mark.parametrize("target", ("functional", "equinox"))
@pytest.mark.parametrize("held", ["nn.ModuleList(heads)", "nn.ModuleList(list(heads))", "heads"])
def test_a_list_that_is_given_and_fills_two_containers_is_told(target, held):
    text = "class Net(nn.Module):\n    def __init__(self, heads):\n        super().__init__()\n"
    text += f"        self.heads = {held}\n        self.all = nn.Sequential(*heads)\n\n"
    text += "    def forward(self, x):\n        return self.all(x) + self.heads[0](x)\n"
    (made,), _, _ = engine.convert([given(HEAD + text)], "", target)
    assert "shared-module" in [d.id for d in made.diagnostics]


APART_FROM_TORCH = """
class Scaled(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.w = KEPT

    def forward(self, x):
        return x * self.w


class Plain:
    def __init__(self):
        self.fc = nn.Linear(4, 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.made = MADE

    def forward(self, x):
        return x
"""
MADE_APART = {
    "Scaled(torch.randn(4))": ("flax", "equinox"),
    "{'a': torch.randn(4)}": ("flax", "equinox"),
    "Plain()": ("functional", "flax", "equinox"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("made", MADE_APART)
def test_what_torch_saves_nothing_of_is_told(target, made):
    source = HEAD + APART_FROM_TORCH.replace("MADE", made).replace("KEPT", "w")
    (told,), _, _ = engine.convert([given(source)], "", target)
    ids = {d.id for d in told.diagnostics} & {"buffer-in-list", "module-value", "random-in-init"}
    assert len(ids) == 1


@pytest.mark.parametrize("target", ("flax", "equinox"))
def test_what_a_module_makes_a_param_of_is_saved(target):
    source = APART_FROM_TORCH.replace("MADE", "Scaled(torch.randn(4))").replace("KEPT", "nn.Parameter(w)")
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert not made.diagnostics


KEEPS_PARAMS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fcs = nn.ModuleList([nn.Linear(4, 4)])
        self.ws = [fc.weight for fc in self.fcs]

    def forward(self, x):
        return self.fcs[0](x) * self.ws[0].sum()

    def again(self):
        self.ws = [fc.weight for fc in self.fcs]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_list_of_params_that_is_set_anew_is_no_state(target):
    """It would have copies of them, which nothing trains."""
    (made,), _, _ = engine.convert([given(HEAD + KEEPS_PARAMS)], "", target)
    assert ("module-value", 11) in [(d.id, d.line) for d in made.diagnostics]
    source = KEEPS_PARAMS.replace("def again", "def __setstate__")
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert made.diagnostics


LISTS_AND_TABLES = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(n)) for _ in range(2)])
        self.table = nn.Embedding.from_pretrained(torch.arange(12.0).view(3, 4), freeze=False)
        self.bags = nn.EmbeddingBag.from_pretrained(torch.ones(3, 4), freeze=False)

    def forward(self, x, y):
        rows = self.table(torch.tensor([0, 2, 1])) + self.bags(torch.tensor([[0, 2]]))
        return x * rows * sum(p.sum() for p in self.scales) + y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_tables_that_are_given_and_sums_over_a_list_of_params(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + LISTS_AND_TABLES, "Net", "4", inputs, target)


# Lists and dicts that are filled with arrays of NumPy's are constants.
FILLED_WITH_NUMPY = """
import numpy as np


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.sizes = {}
        self.steps = [np.arange(4.0), 2]
        for i in range(3):
            self.sizes[i] = np.arange(i, i + n)
        self.ones = []
        self.ones.append(np.ones(n))

    def forward(self, x, y):
        x = self.fc(x) + torch.from_numpy(self.sizes[1]) * torch.tensor(self.steps[0])
        return x * self.steps[1] + y * torch.tensor(self.ones[0]) + len(self.sizes)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_lists_and_dicts_of_numpy(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + FILLED_WITH_NUMPY, "Net", "4", inputs, target)


TAKES_ENTRIES_AWAY = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.d = nn.ModuleDict({name: nn.Linear(n, n) for name in "abc"})
        self.last = self.d.pop("b")
        del self.d["a"]
        self.scale = nn.Parameter(torch.ones(n))

    def forward(self, x):
        for name in self.d:
            x = self.d[name](x)
        return self.last(x) * len(self.d) * self.scale
"""


@pytest.mark.parametrize("target", TARGETS)
def test_entries_of_a_dict_of_modules_are_taken_away(target):
    verify(HEAD + TAKES_ENTRIES_AWAY, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


def test_a_param_that_a_method_sets_to_none_is_one_still():
    source = HEAD + TAKES_ENTRIES_AWAY + "\n    def remove(self):\n        self.scale = None\n"
    (made,), _, _ = engine.convert([given(source)], "", "flax")
    assert [d.id for d in made.diagnostics] == ["dynamic-attribute"]
    assert "self.scale = nnx.Param(" in made.code


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("picked", ["self.layers[x.argmax() % 2](x)", "self.layers[(x.sum() > 0).long().item()](x)"])
def test_a_module_that_data_pick_from_a_list_is_told(picked, target):
    source = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += "        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])\n\n"
    source += f"    def forward(self, x):\n        return {picked}\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert "traced-branch" in [d.id for d in made.diagnostics], made.code


def test_a_sequential_for_one_call_keeps_its_comments():
    (made,), _, _ = engine.convert([given(program("sequential_for_one_call"))], "", "functional")
    assert "# those that are kept" in made.code, made.code
