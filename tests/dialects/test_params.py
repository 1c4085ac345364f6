"""What is a param, and what trains or writes it."""

import ast
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx

from transpile import from_torch, to_torch
from transpile.command import engine

from ..proof.comparison import assert_close
from .small import HEAD, TARGETS, alone, program
from .verified import built, compare, converted, given, in_float64, namespace, verify

PARAMS_BY_OTHER_NAMES = """
class Listed(nn.Module):
    def __init__(self, at_once=False):
        super().__init__()
        self.stacks, self.params = [], []
        for _ in range(2):
            self.stacks.append(self.stack())
        self.params = nn.ParameterList(self.params)

    def stack(self):
        layers = []
        for _ in range(2):
            fc = nn.Linear(4, 4)
            self.params.extend(fc.parameters())
            layers.append(fc)
        return layers

    def forward(self, x):
        for stack in self.stacks:
            for layer in stack:
                x = layer(x)
        return x


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.own = nn.ParameterList([nn.Parameter(torch.ones(4))])
        self.params = nn.ParameterList(self.parameters())
"""


@pytest.mark.parametrize("target", TARGETS)
def test_params_of_modules_under_other_names_are_reported(target):
    (made,), _, _ = engine.convert([given(HEAD + PARAMS_BY_OTHER_NAMES)], "", target)
    lines = [d.line for d in made.diagnostics if d.id == "tied-weight"]
    text = (HEAD + PARAMS_BY_OTHER_NAMES).splitlines()
    assert [text[n - 1].strip() for n in lines] == [
        "self.params = nn.ParameterList(self.params)",
        "self.params = nn.ParameterList(self.parameters())",
    ]


def test_a_method_by_a_name_that_is_kept_gets_no_params():
    (made,), _, _ = engine.convert([given(program("methods_by_a_kept_name"))], "", "functional")
    assert {d.id for d in made.diagnostics} == {"module-value"}, made.code


COMMENTED_PARAMETERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)

    def forward(
        self,
        x,  # in
        y  # out
    ):
        return self.drop(self.bn(x)) + y


def run(
    *,
    model: Net,
    x,
    y,  # more
):
    return model(x, y) + y


def begin(net: Net, x):
    net = net.eval()
    return run(model=net, x=x, y=x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_comments_of_parameters_stay_beside_them(target):
    (made,), _, _ = engine.convert([given(HEAD + COMMENTED_PARAMETERS)], "", target)
    ast.parse(made.code)
    for line in ("        x,  # in\n", "        y,  # out\n", "    y,  # more\n"):
        assert line in made.code or line.replace(",", "") in made.code, made.code
    assert "def run(\n" in made.code, made.code


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("learned", [True, False])
def test_what_is_learned_on_one_way_is_trained_there(learned, target):
    (made,), support, _ = engine.convert([given(program("learned_on_one_way"))], "", target)
    theirs = namespace(program("learned_on_one_way"), "program")["Net"](learned)
    cls = converted(made.code, support)["Net"]
    ours = from_torch(theirs, built(lambda **rngs: cls(learned, **rngs), cls))
    if target == "functional":
        trained = to_torch(ours[0])
    elif target == "flax":
        trained = to_torch(ours) if learned else nnx.to_pure_dict(nnx.state(ours, nnx.Param))["fc"]
        assert {type(v).__name__ for v in (ours.gain, ours.offset)} == {
            "Param" if learned else "Constant"
        }
    else:
        trained = jax.tree.leaves(eqx.filter(ours[0], eqx.is_inexact_array))
    assert len(trained) == (4 if learned else 2)


FREEZING = {
    "for p in self.fc.parameters():\n            p.requires_grad = learned": "p is trained in torch by learned",
    "self.fc.weight.requires_grad_(False)": "self.fc.weight is not trained in torch",
    "self.w = nn.Parameter(torch.ones(4), requires_grad=learned)": "this parameter is trained in torch by learned",
}


@pytest.mark.parametrize("statement, told", FREEZING.items())
def test_what_is_trained_by_a_flag_is_told_with_it(statement, told):
    text = f"""
class Net(nn.Module):
    def __init__(self, learned=False):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        {statement}

    def forward(self, x):
        return self.fc(x)
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "functional")
    (one,) = made.diagnostics
    assert one.id == "frozen-param" and told in str(one)


NEVER_TRAINED = """
class Net(nn.Module):
    def __init__(self, flag=False):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        MADE
        nn.init.ones_(self.fc.weight)
        for p in self.fc.parameters():
            p.requires_grad = True

    def forward(self, x, y):
        RUNS
        return self.fc(x * self.w) + y.to(next(self.parameters()).device)
"""
NEVER_TRAINED_WAYS = {
    "named before": (
        "self.v = nn.Parameter(torch.ones(4), requires_grad=False)\n        self.w = torch.ones(4)\n"
        "        self.w = self.w.repeat(1)\n        self.w = nn.Parameter(self.w + self.v, requires_grad=False)",
        "",
    ),
    "given values": ("self.w = nn.Parameter(torch.zeros(4), requires_grad=False)\n        self.w.data.copy_(torch.arange(4.0))", ""),
    "drawn": ("self.w = nn.Parameter(data=torch.randn(4) * 3, requires_grad=False)", ""),
    "a statement": ("self.w = nn.Parameter(torch.ones(4))\n        self.w.requires_grad = False", ""),
    "a call": ("self.w = nn.Parameter(torch.ones(4))\n        self.w.requires_grad_(False)", ""),
    "counts": ("self.w = nn.Parameter(torch.zeros(1).long(), requires_grad=False)", "self.w += 1"),
    "an average": (
        "self.w = nn.Parameter(torch.zeros(4), requires_grad=False)",
        "if self.training:\n            self.w.data.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)",
    ),
    "of two ways": (
        "self.w = None\n        if flag:\n            self.w = nn.Parameter(torch.zeros(4), requires_grad=False)\n"
        "        else:\n            self.w = nn.Parameter(torch.ones(4), requires_grad=False)",
        "",
    ),
}


@pytest.mark.parametrize("way", NEVER_TRAINED_WAYS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_param_that_nothing_trains_is_no_param(target, way):
    made, runs = NEVER_TRAINED_WAYS[way]
    text = NEVER_TRAINED.replace("MADE", made).replace("RUNS", runs or "pass")
    text = HEAD + text.replace("        for p in self.fc.parameters():\n            p.requires_grad = True\n", "")
    verify(text, "Net", "", [*torch.randn(2, 3, 4, dtype=torch.float64)], target)
    (made,), support, _ = engine.convert([given(text)], "", target)
    cls = converted(made.code, support)["Net"]
    if target == "functional":
        trained = cls().init(jax.random.key(0))
    elif target == "flax":
        trained = nnx.state(cls(rngs=nnx.Rngs(0)), nnx.Param)
    else:
        model, _ = eqx.nn.make_with_state(cls)(key=jax.random.key(0))
        trained = eqx.filter(model, eqx.is_inexact_array)
    assert len(jax.tree.leaves(trained)) == 2


@pytest.mark.parametrize(
    "made",
    [
        "self.w = nn.Parameter(torch.ones(4), requires_grad=False)",  # a walk trains params
        "self.w = nn.Parameter(torch.ones(4), requires_grad=False)\n        self.w.requires_grad = flag",
        "self.w = nn.Parameter(torch.ones(4))\n        if flag:\n            self.w.requires_grad = False",
        "if flag:\n            self.w = nn.Parameter(torch.zeros(4))\n        else:\n"
        "            self.w = nn.Parameter(torch.ones(4), requires_grad=False)",
        "self.w = nn.Parameter(torch.ones(4), requires_grad=False)\n        sum(p.numel() for p in self.parameters())",
        "self.w = nn.Parameter(torch.ones(4), requires_grad=False)\n        print(isinstance(self.w, nn.Parameter))",
        # what one of them may begin with stays as well
        "self.v = nn.Parameter(torch.ones(4), requires_grad=False)\n        if flag:\n"
        "            self.w = nn.Parameter(self.v + 1)\n        else:\n"
        "            self.w = nn.Parameter(self.v + 0, requires_grad=False)",
    ],
)
def test_a_param_that_may_be_trained_stays_one(made):
    text = NEVER_TRAINED.replace("MADE", made).replace("RUNS", "pass")
    if "\n" in made:
        text = text.replace("        for p in self.fc.parameters():\n            p.requires_grad = True\n", "")
    (converted_,), _, _ = engine.convert([given(HEAD + text)], "", "functional")
    assert {d.id for d in converted_.diagnostics} - {"taken-for-granted"} == {"frozen-param"}
    assert 'params["w"]' in converted_.code


KEPT_AND_WRITES = """
def ones(m):
    with torch.no_grad():
        if hasattr(m, "weight"):
            m.weight.fill_(1.0 / m.weight.size(-1))


def named(m):
    m.kind = "named"


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.net.apply({"ones": ones, "named": named}[kind])

    def forward(self, x):
        return self.net(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_function_that_is_kept_and_writes_params_is_told(target):
    (made,), _, failed = engine.convert([given(HEAD + KEPT_AND_WRITES)], "", target)
    found = [(d.id, d.line) for d in made.diagnostics if d.id == "parameter-write"]
    line = (HEAD + KEPT_AND_WRITES).splitlines().index('        self.net.apply({"ones": ones, "named": named}[kind])')
    assert not failed and found == [("parameter-write", line + 1)]


TEACHER = """
class Average:
    def __init__(self, beta):
        self.beta = beta

    def of(self, old, new):
        return old * self.beta + (1 - self.beta) * new


def follow(average, slow, fast):
    for new, old in zip(fast.parameters(), slow.parameters()):
        was, now = old.data, new.data
        old.data = average.of(was, now)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.m, self.average = 0.9, Average(0.5)
        self.fast, self.slow, self.third = (nn.Linear(4, 4) for _ in range(3))

    @torch.no_grad()
    def step(self):
        for p, q in zip(self.slow.parameters(), self.fast.parameters()):
            p.data.mul_(self.m).add_((1 - self.m) * q.detach().data)
        for (_, p), q in zip(self.third.named_parameters(), self.fast.parameters()):
            p.mul_(self.m)
            p.add_(q, alpha=1 - self.m)

    def forward(self, x):
        self.step()
        follow(self.average, self.third, self.slow)
        kept = dict(self.fast.named_parameters())
        y = F.linear(x, kept["weight"], kept["bias"])
        return y, self.slow(x), self.third(x), sum(p.norm() for p in self.parameters())
"""


def test_params_that_follow_others_are_written_in_flax():
    (made,), support, _ = engine.convert([given(HEAD + TEACHER)], "", "flax")
    assert not made.diagnostics
    theirs = namespace(HEAD + TEACHER, "program")["Net"]()
    ours = from_torch(theirs, converted(made.code, support)["Net"](rngs=nnx.Rngs(0)))
    x = torch.randn(3, 4)
    for _ in range(2):
        found = nnx.jit(lambda model, x: model(x))(ours, jnp.asarray(x.numpy()))
        for got, want in zip(found, theirs(x), strict=True):
            assert np.allclose(got, want.detach().numpy(), atol=1e-5)
    slopes = nnx.grad(lambda model, x: sum(y.sum() for y in model(x)))(ours, jnp.asarray(x.numpy()))
    sum(y.sum() for y in theirs(x)).backward()
    for name, param in theirs.named_parameters():
        layer, _, leaf = name.partition(".")
        assert np.allclose(slopes[layer][leaf][...], param.grad.numpy(), atol=1e-4), name


@pytest.mark.parametrize("target", ("equinox", "functional"))
def test_params_that_follow_others_are_refused_where_a_model_is_frozen(target):
    (made,), *_ = engine.convert([given(HEAD + TEACHER)], "", target)
    refused = [d for d in made.diagnostics if d.id in ("parameter-write", "module-walk")]
    assert len({d.line for d in refused}) >= 3


def test_params_that_follow_others_are_refused_where_a_name_would_not():
    early = TEACHER.replace(
        "        self.step()\n", "        w = self.slow.weight\n        self.step()\n"
    )
    early = early.replace("return y,", "return y + x @ w,")
    (made,), *_ = engine.convert([given(HEAD + early)], "", "flax")
    assert {d.id for d in made.diagnostics} == {"parameter-write"}


@pytest.mark.parametrize("target", TARGETS)
def test_a_class_of_params_is_one_of_arrays(target):
    source = HEAD + "class Bias(nn.Parameter):\n    pass\n\n\n"
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert "class Bias(jax.Array):" in made.code
    converted(made.code, support)


UNPLACED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.fc(x))


model = Net()


def evaluate(x, n=3):
    y = model(x)
    return y.sum() * n


def report(x):
    print(evaluate(x))


def main():
    net = Net()

    def score(x):
        out = net(x)
        return out.mean()

    print(score(torch.ones(3, 4)))


def load():
    return Net(), 3


def second(x):
    net, n = load()
    return net(x) * n


def wrapped(x):
    net = nn.DataParallel(Net())
    return net(x)


def drawn():
    net = Drawing()

    def draw(x):
        out = net.sample(x)
        return out

    return draw


class Drawing(Net):
    def sample(self, x):
        return torch.bernoulli(self.fc(x).sigmoid())
"""


def test_what_is_refused_in_a_function_asks_for_no_params():
    (made,), _, _ = engine.convert([given(HEAD + UNPLACED)], "", "functional")
    assert {d.line for d in made.diagnostics} == {20, 32, 44, 48, 49, 56}, made.diagnostics
    headers = "evaluate(x, n=3): report(x): main(): score(x): second(x): wrapped(x): drawn(): draw(x):".replace(
        ": ", ":|"
    )
    for line in (*(f"def {h}" for h in headers.split("|")), "score(jnp.ones((3, 4)))"):
        assert line in made.code, made.code


REGISTERS_EITHER_WAY = """
class Net(nn.Module):
    def __init__(self, lr=0.1):
        super().__init__()
        self.register("A", torch.ones(4), lr)
        self.register("B", torch.ones(4) * 2, 0.0)
        self.register("C", torch.ones(4) * 3)

    def register(self, name, tensor, lr=None):
        if lr == 0.0:
            self.register_buffer(name, tensor)
        else:
            self.register_parameter(name, nn.Parameter(tensor))
            setattr(getattr(self, name), "_optim", {"lr": lr})

    def forward(self, x, y):
        return x * self.A + y * self.B - self.C
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_registers_a_param_or_a_buffer(target):
    source = HEAD + REGISTERS_EITHER_WAY
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert [d.id for d in made.diagnostics] == ["frozen-param"] * (target != "flax")
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    scope = converted(made.code, support)
    with in_float64():
        ours = built(scope["Net"], scope["Net"])
        compare(namespace(source, "program")["Net"](), ours, inputs, target, False)


ASKS_FOR_PARAMETERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = self.wrapped(nn.Parameter(torch.full((4,), 2.0)))
        self.v = self.wrapped(torch.full((4,), 2.0))
        self.fc = nn.Linear(4, 4)
        if isinstance(self.fc.bias, nn.Parameter):
            nn.init.zeros_(self.fc.bias)

    def wrapped(self, t):
        return t if isinstance(t, nn.Parameter) else nn.Parameter(t * 3)

    def forward(self, x):
        return self.fc(x) * self.w + self.v
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_becomes_a_parameter_is_none_yet(target):
    (made,), _, _ = engine.convert([given(HEAD + ASKS_FOR_PARAMETERS)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("unsupported", 17)]
    a, b = (
        ASKS_FOR_PARAMETERS.index("    def wrapped"),
        ASKS_FOR_PARAMETERS.index("    def forward"),
    )
    whole = ASKS_FOR_PARAMETERS[:a] + ASKS_FOR_PARAMETERS[b:]
    whole = whole.replace("self.wrapped(nn.Parameter(", "nn.Parameter((").replace(
        "self.wrapped(", "nn.Parameter("
    )
    verify(HEAD + whole, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


SMALLER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3, 4))
        self.register_buffer("row", torch.zeros(3, 4))

    def forward(self, x, y):
        self.mean = (x + y).mean(0).detach()
        self.row = x.detach()[1]
        return x + self.mean + self.row, self.mean, self.row
"""


def test_a_buffer_that_becomes_a_smaller_one_is_not_broadcast_in_flax():
    (made,), support, _ = engine.convert([given(HEAD + SMALLER)], "", "flax")
    theirs, x = namespace(HEAD + SMALLER, "program")["Net"](), torch.randn(2, 3, 4)
    ours = from_torch(theirs, converted(made.code, support)["Net"]())
    for got, wanted in zip(ours(*x.numpy()), theirs(*x), strict=True):
        assert got.shape == wanted.shape
        assert_close(got, wanted.numpy())


GOES_OVER = """
class Part(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.ones(n))
        self.b = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        return x * self.w + self.b


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.second = Part(n)
        self.first = nn.Linear(n, n)
        self.parts = nn.ModuleDict({"z": Part(n), "a": nn.Linear(n, n)})

    def forward(self, x):
        for i, p in enumerate(self.parameters()):
            x = x * (i + 1) / 4 + p.sum()
        ps = list(self.first.parameters())
        return F.linear(x, ps[0], ps[1])
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_runs_goes_over_params_as_they_were_set(target):
    verify(HEAD + GOES_OVER, "Net", "4", [torch.randn(3, 4, dtype=torch.float64)], target)


def test_a_walk_whose_order_is_all_the_same_needs_none():
    text = GOES_OVER.replace("        ps = list(self.first.parameters())\n", "")
    text = text.replace("return F.linear(x, ps[0], ps[1])", "return x * sum(p.sum() for p in self.parameters())")
    text = text.replace("for i, p in enumerate(self.parameters())", "for i, p in enumerate((x, x))")
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "flax")
    assert "Ordered" not in made.code and not made.diagnostics
    text = alone("asks_for_the_first").replace("* weight[0]", "+ weight.data.new(3, 4).zero_()")
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "flax")
    assert "Ordered" not in made.code and not made.diagnostics


TAKES_LAYERS_AWAY = """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.head = nn.Linear(4, 4), nn.Linear(4, 2)
        self.g = nn.Parameter(torch.ones(4))
        self.register_buffer("b", torch.ones(4))


class Net(Base):
    def __init__(self, i):
        super().__init__()
        w = self.g
        del self.head, self.b
        del self.g
        self.h = nn.Parameter(w.data * 2)
        self.sub = nn.ModuleList([nn.Tanh(), nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 4)])
        del self.sub[0]
        self.some = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)])
        del self.some[i:]
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.BatchNorm1d(4))
        del self.seq[0]
        del self.seq[-1]
        self.net = nn.Sequential()
        self.net.add_module("first", nn.Linear(4, 4))
        for _ in range(i):
            self.net.append(nn.Linear(4, 4))

    def forward(self, x):
        x = self.net(self.seq(self.sub[1](self.sub[0](x)))) * self.h
        for fc in self.some:
            x = fc(x)
        return self.fc(x) * self.sub[0].weight.sum() + len(self.seq)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_constructor_takes_layers_and_params_away(target):
    verify(HEAD + TAKES_LAYERS_AWAY, "Net", "2", [torch.randn(3, 4, dtype=torch.float64)], target)


@pytest.mark.parametrize("asked", ['hasattr(self, "g")', 'getattr(self, "g", None) is not None'])
def test_a_param_is_not_taken_away_where_it_is_asked_for_by_name(asked):
    asking = f"        self.fc = nn.Identity() if {asked} else self.fc\n"
    source = TAKES_LAYERS_AWAY.replace("        self.h =", asking + "        self.h =")
    (made,), _, _ = engine.convert([given(HEAD + source)], "", "functional")
    assert [(d.id, d.line) for d in made.diagnostics] == [("module-value", 20)]


# Params that are made of those of a module that is built for them alone.
MADE_OF_LENT = """
class Pair(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.shift = nn.Parameter(torch.ones(n))


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        BUILD

    def forward(self, x, y):
        return self.fc(x) @ self.weight.reshape(-1, 4)[:4] + y
"""
LENT = [
    "layer = nn.Linear(n, n)\n        self.weight = layer.weight",
    "self.weight = nn.Linear(n, n).weight",
    "layer = nn.Linear(n, n)\n        self.weight = nn.Parameter(layer.weight * 2 + layer.bias)",
    "pair = Pair(n)\n        self.weight = nn.Parameter(pair.fc.weight + pair.shift)",
    "table = nn.Embedding(n, n)\n        nn.init.ones_(table.weight)\n"
    "        self.weight = nn.Parameter(table.weight.detach().clone())",
    "layer = nn.Linear(n, n)\n        self.size = layer.weight.shape[0]\n"
    "        self.weight = nn.Parameter(layer.weight.clone())",
    "self.weight = nn.Parameter(torch.empty(2, n, n))\n        with torch.no_grad():\n"
    "            for i in range(2):\n                layer = nn.Linear(n, n)\n"
    "                self.weight[i] = layer.weight.T",
]


@pytest.mark.parametrize("build", LENT)
@pytest.mark.parametrize("target", TARGETS)
def test_params_that_are_made_of_those_of_a_module_of_their_own(target, build):
    source = HEAD + MADE_OF_LENT.replace("BUILD", build)
    (made,), support, _ = engine.convert([given(source)], "", target)
    net = converted(made.code, support)["Net"]
    model = built(partial(net, 4), net)
    arrays = to_torch(model.init(jax.random.key(0)) if target == "functional" else model)
    assert set(arrays) == {"fc.weight", "fc.bias", "weight"}
    assert np.all(np.any(np.asarray(arrays["weight"]), axis=(-2, -1)))
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(source, "Net", "4", inputs, target)
