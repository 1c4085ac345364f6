"""Functions, methods and lambdas as values; decorators and properties."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx

from transpile.command import engine

from .small import HEAD, TARGETS
from .verified import built, converted, given, verify

WRITTEN_TWICE = """
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @classmethod
    def made(cls, wide):
        model = cls()
        model(torch.ones(4))
        if wide:
            model.fc = nn.Linear(8, 4)
        return model

    @classmethod
    def made(cls):
        return cls()

    def forward(self, x):
        return self.fc(x) * 2

    def forward(self, x):
        return self.fc(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_that_another_of_its_name_follows_is_told_of(target):
    (made,), _, _ = engine.convert([given(HEAD + WRITTEN_TWICE)], "", target)
    assert {d.id for d in made.diagnostics} == {"unsupported"}, made.diagnostics
    assert made.code.count("raise NotImplementedError") == 2 and "self.fc(x) * 2" not in made.code


UNDER_A_CONDITION = """
MODE = "a"


class Conditional(nn.Module):
    if "b" in MODE:

        def forward(self, x):
            return x

    else:

        def forward(self, x, y=2):
            return x * y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_methods_of_a_class_that_differ_under_a_condition_are_refused(target):
    (made,), _, _ = engine.convert([given(HEAD + UNDER_A_CONDITION)], "", target)
    assert [d.id for d in made.diagnostics] == ["unsupported", "unsupported"]
    assert made.code.count("raise NotImplementedError") == 2


MADE_TWICE = """
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x, y):
        inner = x * 2

        def make(module):
            def inner(*inputs):
                return torch.tanh(module(*inputs))
            return inner

        x = checkpoint(make(self.a), checkpoint(make(self.b), x, use_reentrant=False), use_reentrant=False)
        ys = [checkpoint(make(layer), y, use_reentrant=False) for layer in self.layers]
        before = None
        for layer in self.layers:
            if before is not None:
                y = made(y)
            made = make(layer)
            before = layer
        return x + inner + ys[0] * ys[1] + made(y)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_functions_that_one_makes_twice_keep_apart(target):
    """In one statement, beside a name of the method's, in a comprehension, for the next turn."""
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + MADE_TWICE, "Net", "", inputs, target)


AROUND_LAYERS_OF_A_LOOP = """
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.bn = nn.BatchNorm1d(n)

    def forward(self, x, by):
        return self.bn(self.fc(x)) * by


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ModuleList([Block(4) for _ in range(3)])
        self.b = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x, y):
        fs, name = [], "b"
        for i, (block, layer) in enumerate(zip(self.a, self.b)):
            def run(z):
                return block(z, i + 1.0) + layer(y)
            x = run(x)
        for layer in self.b:
            def last(z):
                return layer(z)
            fs += [last]
        for outer in self.b:
            for layer in self.b:
                def both(z):
                    return torch.tanh(layer(outer(z)))
                x = both(x)
        for f in fs:
            x = f(x)
        return x + {name: y}[name]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_functions_in_a_loop_over_layers_know_which_it_is(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + AROUND_LAYERS_OF_A_LOOP, "Net", "", inputs, target)
    (made,), _, _ = engine.convert([given(HEAD + AROUND_LAYERS_OF_A_LOOP)], "", target)
    assert "nn.place(" not in made.code


SCORES = """
class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.scores = None

    def forward(self, x):
        self.scores = F.softmax(self.fc(x), -1)
        return self.scores


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Attend() for _ in range(3)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""


def test_equal_layers_keep_what_a_forward_pass_makes():
    (made,), support, _ = engine.convert([given(HEAD + SCORES)], "", "flax")
    net = converted(made.code, support)["Net"](rngs=nnx.Rngs(0))
    out = nnx.jit(lambda net, x: net(x))(net, jnp.ones((2, 4)))
    np.testing.assert_allclose(net.blocks[2].scores[...], out)


BY_NAMES = """
def checked(fn):
    def inner(self, x, y):
        return fn(self, x, y) * 2

    return inner


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.5)

    @checked
    def forward(self, x, y):
        return self.drop(self.fc(x)) + y
"""
DECORATED_CONSTRUCTORS = """
def nothing(init):
    pass


def named(init):
    def inner(self, n):
        init(self, n)

    return inner


class Net(nn.Module):
    @DECORATOR
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return self.fc(x)


class Other(nn.Module):
    def forward(self, x):
        return torch.tanh(x)
"""


@pytest.mark.parametrize("decorator", ["nothing", "named"])
@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_a_decorator_of_a_constructor_costs_its_class_alone(target, decorator):
    source = HEAD + DECORATED_CONSTRUCTORS.replace("DECORATOR", decorator)
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("unsupported", 19)]
    scope = converted(made.code, support)
    assert scope["Other"]()(jnp.zeros(2)).shape == (2,)
    with pytest.raises(NotImplementedError, match=decorator):
        built(partial(scope["Net"], 4), scope["Net"])


CALLED_BY_ITS_DEFAULT = """
def step(model, x):
    return model.fc(x)


def run(model, x, fn=step):
    return fn(model, x)


class Stepped(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return run(self, x)
"""
CALLED_BY_WHO_IS_GIVEN = CALLED_BY_ITS_DEFAULT.replace("fn=step", "fn").replace(
    "(self):\n        super().__init__()", "(self, fn=step):\n        super().__init__()\n        self.fn = fn"
).replace("run(self, x)", "run(self, x, self.fn)")


@pytest.mark.parametrize("target, told", [("flax", []), ("equinox", ["unsupported"]), ("functional", ["unsupported"])])
def test_a_decorator_that_does_not_hand_on_what_a_method_takes_is_told(target, told):
    (made,), _, _ = engine.convert([given(HEAD + BY_NAMES)], "", target)
    assert [d.id for d in made.diagnostics] == told


METHOD_UNDER_A_NAME = """
class Chosen(nn.Module):
    def __init__(self, kind="one"):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.fn = getattr(self, kind)

    def one(self, x):
        return self.fc(x)

    def forward(self, x):
        return self.fn(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_under_a_computed_name_is_not_kept(target):
    (made,), _, _ = engine.convert([given(HEAD + METHOD_UNDER_A_NAME)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"]


def test_a_method_under_a_computed_name_has_no_params():
    text = METHOD_UNDER_A_NAME.replace("self.fn = getattr(self, kind)", "self.kind = kind")
    text = text.replace("self.fn(x)", 'getattr(self, f"o{self.kind}")(x)')
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "functional")
    assert [d.id for d in made.diagnostics] == ["module-value"]


@pytest.mark.parametrize("target, told", [("flax", []), ("equinox", []), ("functional", ["module-value"])])
def test_a_module_that_an_unknown_function_calls_a_part_of_is_told(target, told):
    (made,), _, _ = engine.convert([given(HEAD + CALLED_BY_WHO_IS_GIVEN)], "", target)
    assert [d.id for d in made.diagnostics] == told


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_of_functions_alone_is_converted(target):
    source = "import torch\n\n\ndef f(x):\n    return torch.cat([x, x])\n"
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert (
        made.code
        == "import jax.numpy as jnp\n\n\ndef f(x):\n    return jnp.concatenate([x, x], axis=0)\n"
    )


NAMED_AS_A_METHOD = """
class Scale(nn.Module):
    def __init__(self, n, init="ones"):
        super().__init__()
        self.init = init
        if self.init == "ones":
            self.weight = nn.Parameter(torch.ones(n))
        else:
            self.weight = nn.Parameter(torch.randn(n))

    def forward(self, x):
        return x * self.weight


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.b = Scale(n), Scale(n, "drawn")

    def forward(self, x):
        return self.a(x) * len(self.a.init) + self.b(x) * len(getattr(self.b, "init"))
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_field_has_the_name_of_a_method_here(target):
    verify(HEAD + NAMED_AS_A_METHOD, "Net", "4", [torch.randn(2, 4, dtype=torch.float64)], target)


def test_a_submodule_with_the_name_of_a_method_here_is_refused():
    source = HEAD + NAMED_AS_A_METHOD.replace("self.a,", "self.init,").replace(
        "self.a", "self.init"
    )
    (made,), _, _ = engine.convert([given(source)], "", "functional")
    assert ["give it another name" in d.message for d in made.diagnostics] == [True]


BY_NAME = """
class Layer(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.norm = nn.BatchNorm1d(i)
        self.fc = nn.Linear(i, 2)

    def forward(self, *before):
        return self.fc(F.relu(self.norm(torch.cat(before, 1))))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(3):
            self.add_module("layer%d" % (i + 1), Layer(4 + i * 2))

    def forward(self, x, y):
        features = [x]
        for name, layer in self.named_children():
            features.append(layer(*features))
        return torch.cat(features, 1) * y[:, :1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
        self.dense = Dense()
        self.names = {"0": "first", "2": "second"}

    def forward(self, x, y):
        out = {}
        for name, module in self.net._modules.items():
            x = module(x)
            if name in self.names:
                out[self.names[name]] = x
        return self.dense(out["first"], y), out["second"]
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_modules_by_their_names_in_forward(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + BY_NAME, "Net", "", inputs, target)


METHODS_BY_NAME = """
from elsewhere import load_model


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forecast(self, x, marks):
        return self.norm(x) + marks

    def forward(self, x, marks):
        return self.forecast(x, marks)


class Pretrained(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = load_model("large")

    def forward(self, x):
        return self.model.forecast(x, prediction_length=3)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_that_cannot_be_called_so_is_not_meant(target):
    (made,), _, _ = engine.convert([given(HEAD + METHODS_BY_NAME)], "", target)
    assert "        return self.model.forecast(x, prediction_length=3)\n" in made.code, made.code
    assert "def __call__(self, x)" in made.code or "def __call__(self, x, *, key" in made.code


NAMED_PARTIAL = """
from functools import partial

activate = partial(F.relu, inplace=True)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = activate

    def forward(self, x):
        return self.act(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.block = nn.Linear(4, 4), Block()

    def forward(self, x, y):
        h = self.fc(y)
        return activate(self.fc(activate(self.fc(x)))) + activate(h) * h + self.block(h)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_partial_with_a_name_writes_what_it_is_given(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + NAMED_PARTIAL, "Net", "", inputs, target)
    (made,), _, _ = engine.convert([given(HEAD + NAMED_PARTIAL)], "", target)
    assert "partial" not in made.code


KEPT_FUNCTIONS = """
def pick(net, kind):
    return net.one if kind else net.two


def twice(f):
    return lambda x: f(f(x))


def composed(f):
    def run(x):
        return f(f(x))

    return run


class Sub(nn.Module):
    def __init__(self, f=None):
        super().__init__()
        self.fc, self.f = nn.Linear(4, 4), f

    def run(self, x):
        return self.fc(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.sub, self.fs = nn.Linear(4, 4), Sub(), []
        KEEPS

    def one(self, x):
        return self.fc(x) * 2

    def two(self, x):
        return self.fc(x) * 3

    def forward(self, x):
        return USES
"""
KEEPING_FUNCTIONS = {
    "self.f = pick(self, True)": "self.f(x)",
    "f = self.two; self.f = f": "self.f(x)",
    "self.fs.append(self.one)": "self.fs[0](x)",
    "self.f = self.sub.run": "self.f(x)",
    "self.fs = {'run': self.sub.run}": "self.fs['run'](x)",
    "self.other = Sub(self.one)": "self.other.f(x)",
    "self.other = Sub(lambda t: self.fc(t))": "self.other.f(x)",
    "self.f = partial(self.one)": "self.f(x)",
    "self.f = partial(F.relu) if self.fs else partial(lambda m, x: m(x), self.fc)": "self.f(x)",
    "self.f = twice(self.one)": "self.f(x)",
    "self.f = composed(self.one)": "self.f(x)",
    "self.f = composed(self.fc)": "self.f(x)",
    "self.f = twice(self.fc)": "self.f(x)",
}
WITHOUT_PARAMS = [
    "self.fs.append(self.one)",
    "self.f = self.sub.run",
    "self.f = partial(self.one)",
    "self.f = composed(self.one)",
    "self.f = composed(self.fc)",
]


@pytest.mark.parametrize(
    "target, keeps",
    [(t, k) for t in ("flax", "equinox") for k in KEEPING_FUNCTIONS]
    + [("functional", keeps) for keeps in WITHOUT_PARAMS],
)
def test_functions_that_hold_modules_are_refused_where_they_are_kept(target, keeps):
    source = f"{HEAD}from functools import partial\n{KEPT_FUNCTIONS}".replace("KEEPS", keeps)
    source = source.replace("USES", KEEPING_FUNCTIONS[keeps])
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert ("module-value", 36) in [(d.id, d.line) for d in made.diagnostics]
    with pytest.raises(NotImplementedError):
        cls = converted(made.code, support)["Net"]
        model = built(cls, cls)
        if target == "functional":  # where it is called
            (model.fs[-1] if ".fs" in keeps else model.f)(jnp.ones((3, 4)))


REPLACED_FORWARDS = [
    "self.forward = self.two",
    "self.fc.forward = lambda x: x",
    "self.forward = lambda x: self.fc(x)",
    "self.forward, self.two = self.two, self.forward",
]


@pytest.mark.parametrize("replaced", REPLACED_FORWARDS)
@pytest.mark.parametrize("target", TARGETS)
def test_what_stands_in_for_a_forward_is_refused(target, replaced):
    source = HEAD + KEPT_FUNCTIONS.replace("KEEPS", replaced).replace("USES", "self.fc(x)")
    source = source.replace("def two(self, x)", "def two(self, x, y=1)")
    (made,), support, _ = engine.convert([given(source)], "", target)
    assert ("module-value", 35) in [(d.id, d.line) for d in made.diagnostics]
    with pytest.raises(NotImplementedError):
        cls = converted(made.code, support)["Net"]
        built(cls, cls)


def test_a_property_that_is_kept_is_its_value():
    source = KEPT_FUNCTIONS.replace("KEEPS", "self.scale = self.size").replace("USES", "x * self.scale")
    source += "\n    @property\n    def size(self):\n        return self.fc.out_features\n"
    verify(HEAD + source, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], "equinox")


@pytest.mark.parametrize("target", TARGETS)
def test_a_method_as_forward_is_told(target):
    source = "class Net(nn.Module):\n    def run(self, x):\n        return x * 2\n\n    forward = run\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"]


# A static method that is given the module it is asked of is a method: its cache is one.
GIVEN_ITSELF = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.made_for = None
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x, y):
        return self.fc(x) * self.grid(self, x) + self.counted(self, y)

    @staticmethod
    def grid(self, x):
        if self.made_for == (x.size(0), x.size(1)):
            return self.made
        self.made_for = x.size(0), x.size(1)
        self.made = torch.arange(4) * 2.0
        return self.made

    @staticmethod
    def counted(self, y):
        self.calls += 1
        return self.fc(y) * self.calls
"""


@pytest.mark.parametrize("target", TARGETS)
def test_static_methods_that_are_given_the_module(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + GIVEN_ITSELF, "Net", "4", inputs, target)


CONSTRUCTOR_DECORATED = """
def has_config(init):
    def wrapper(self, *args, **kwargs):
        self.config = dict(kwargs)
        init(self, *args, **kwargs)

    return wrapper


class Net(nn.Module):
    @has_config
    def __init__(self, n=4):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return self.fc(x)
"""


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_what_a_decorator_sets_of_all_that_a_constructor_is_given_is_told(target):
    (made,), _, _ = engine.convert([given(HEAD + CONSTRUCTOR_DECORATED)], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("unsupported", 9)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kept", ["[lambda t, fc=self.fc: fc(t)]", "[lambda t, *, fc=self.fc: t + fc(t)]"])
def test_a_kept_lambda_with_a_module_as_a_default_is_told(kept, target):
    source = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += f"        self.fc = nn.Linear(4, 4)\n        self.fs = {kept}\n\n"
    source += "    def forward(self, x):\n        return self.fs[0](x)\n"
    (made,), _, _ = engine.convert([given(HEAD + source)], "", target)
    assert [d.id for d in made.diagnostics] == ["module-value"], made.code


GIVEN_BACK = """
def default(value, other):
    return value if value is not None else other


def chunked(x, size):
    chunks = []
    for i, chunk in enumerate(x.split(size)):
        start = i * size
        if start > 1:
            chunk = chunk * 2
        chunks.append(chunk)
    return torch.cat(chunks)


class Block(nn.Module):
    def __init__(self, size=2):
        super().__init__()
        self.size = size

    def forward(self, x, context=None, size=None):
        return chunked(default(context, x), default(size, self.size))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(Block())

    def forward(self, x):
        return self.block(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_number_and_an_array_that_a_function_gives_back(target):
    verify(HEAD + GIVEN_BACK, "Net", "", [torch.rand(5, 3, dtype=torch.float64)], target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_part_of_the_forward_of_a_layer_is_overridden(target):
    source = "class Net(nn.TransformerEncoderLayer):\n    def _ff_block(self, x):\n        return x * 0.5\n"
    inputs = [torch.randn(2, 3, 4, dtype=torch.float64)]
    verify(HEAD + source, "Net", "4, 2, 8, 0.0, batch_first=True", inputs, target)


def test_the_forward_of_a_layer_kept_under_another_name_runs_that_layer():
    text = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text += "        self.fc = nn.Linear(4, 4)\n        self.run = self.fc.forward\n\n"
    text += "    def forward(self, x):\n        return self.run(x)\n"
    verify(HEAD + text, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], "flax")


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_that_a_function_by_default_calls_a_part_of(target):
    x = torch.randn(3, 4, dtype=torch.float64)
    verify(HEAD + CALLED_BY_ITS_DEFAULT, "Stepped", "", [x], target)
