"""Classes and constructors: bases, mixins, enums, what is built."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile.command import engine

from .small import HEAD, TARGETS, program
from .verified import built, converted, given, verify


def test_classes_given_at_all_constructions_are_called_as_they_are():
    (made,), _, _ = engine.convert([given(program("given_classes"))], "", "functional")
    assert ".apply(" not in made.code
    assert 'self.mlp(params["mlp"], self.norm(params["norm"], x))' in made.code


MADE_INTO_A_TENSOR = """
class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        {}
        if {} is not None:
            self.size = torch.tensor({}, dtype=torch.float64)

    def forward(self, x):
        return x if self.size is None else x / self.size[0]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = Scale(None), Scale((4, 3)), Scale(5)

    def forward(self, x, y):
        return self.one(x) + self.two(x) + self.three(y)
"""
TWO_WAYS = "self.size = (size, size) if isinstance(size, int) else size"
EITHER = "if isinstance(size, int):\n            {} = (size, size)\n        else:\n            {} = size"
MADE_OF = {
    "the attribute": (TWO_WAYS, "self.size", "self.size"),
    "the attribute, set on both ways": (EITHER.format("self.size", "self.size"), "self.size", "self.size"),
    "the parameter": ("if isinstance(size, int):\n            size = (size, size)\n        self.size = size", "size", "size"),
    "a local name": (EITHER.format("given", "given") + "\n        self.size = given", "given", "given"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", MADE_OF)
def test_what_a_constructor_makes_a_tensor_of_may_be_none(case, target):
    inputs = [torch.randn(3, 4, dtype=torch.float64) for _ in range(2)]
    verify(HEAD + MADE_INTO_A_TENSOR.format(*MADE_OF[case]), "Net", "", inputs, target)


ABSTRACT_IN_NAME = """
import abc


class Base(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = Act(4)
        self.scale = scale

    @abc.abstractmethod
    def penalty(self, x):
        pass

    def forward(self, x):
        return self.act(self.fc(x)) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = Base(2.0)

    def forward(self, x):
        return self.base(x)


Act = functools.partial(nn.PReLU, init=0.5)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_abstract_in_name_alone_is_built(target):
    """And what a partial builds is no type of a field."""
    source = HEAD + "import functools\n" + ABSTRACT_IN_NAME
    verify(source, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)
    (made,), _, _ = engine.convert([given(source)], "", target)
    assert ("abc" in made.code) is (target == "functional")


def test_a_constructor_behind_a_layer_that_has_no_place_is_told():
    text = """
class Mixin(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}


class Net(nn.Linear, Mixin):
    def __init__(self, n):
        if n > 1:
            super().__init__(n, n)
        else:
            super().__init__(1, n)

    def forward(self, x):
        return super().forward(x) + len(self.cache)
"""
    (made,), _, _ = engine.convert([given(HEAD + text)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["skipped-constructor"]


HANDED_CLASS = """
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x):
        return torch.tanh(self.fc(x))


class Net(nn.Module):
    def __init__(self, block, n=2):
        super().__init__()
        self.b = block(3)
        self.bs = nn.ModuleList([block(3) for _ in range(n)])
        layers = []
        for i in range(n):
            layers.append(block(3))
        self.seq = nn.Sequential(*layers)

    def forward(self, x):
        for b in self.bs:
            x = b(x)
        return self.seq(self.b(x))
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_class_that_nobody_in_the_project_hands(target):
    inputs = [torch.randn(2, 3, dtype=torch.float64)]
    verify(HEAD + HANDED_CLASS, "Net", "Block", inputs, target)


BUFFERS_OF_A_MIXIN = """
class Scaled(object):
    def __init__(self, n, width):
        self.n = n
        for i in range(self.n):
            self.register_buffer("u%d" % i, torch.ones(1, width) * (i + 1))

    @property
    def scales(self):
        return [getattr(self, "u%d" % i) for i in range(self.n)]


class Own(nn.Linear, Scaled):
    def __init__(self, width, n):
        nn.Linear.__init__(self, width, width)
        Scaled.__init__(self, n, width)

    def forward(self, x):
        return F.linear(x, self.weight * self.scales[1].sum(), self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = Own(4, 2)

    def forward(self, x, y):
        return self.fc(x) + y
"""


def test_a_mixin_reads_the_arrays_that_it_sets_under_computed_names():
    (made,), support, _ = engine.convert([given(HEAD + BUFFERS_OF_A_MIXIN)], "", "equinox")
    assert [d.id for d in made.diagnostics] == ["buffer-in-list"]
    cls = converted(made.code, support)["Net"]
    net, x = built(cls, cls), jnp.ones((3, 4))
    np.testing.assert_allclose(net(x, x), x @ (net.fc.weight * 8).T + net.fc.bias + x, rtol=1e-5)


NOT_ALIKE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.k = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.k.load_state_dict(self.q.state_dict())

    def forward(self, x):
        return self.q(x) + self.k(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_not_built_alike_is_refused_where_it_is_given_values(target):
    (made,), support, _ = engine.convert([given(HEAD + NOT_ALIKE)], "", target)
    assert [(d.line, d.id) for d in made.diagnostics] == [(12, "array-while-building")]
    cls = converted(made.code, support)["Net"]
    with pytest.raises(NotImplementedError):
        built(cls, cls)


STOOD_IN_FOR = """
class Plain(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)
        self.skip_add = nn.quantized.FloatFunctional()
    def forward(self, x):
        out = self.skip_add.add_relu(self.fc(x), x)
        return self.skip_add.cat([self.skip_add.mul(out, x), x], dim=1)
try:
    from xformers.ops import Fast
except ImportError:
    Fast = Plain
class Fused(Fast):
    def __init__(self, size):
        super().__init__(size)
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fused = Fused(n)
    def forward(self, x):
        return self.fused(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_class_is_made_from_what_stands_in_for_a_failed_import(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + STOOD_IN_FOR, "Net", "4", inputs, target)


NORMED_LAYER_IS_ASKED_FOR = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.utils.spectral_norm(nn.Linear(4, 4))
        self.out = nn.utils.weight_norm(nn.utils.weight_norm(nn.Linear(4, 4)), "bias")

    def forward(self, x):
        for layer in [self.fc, self.out]:
            x = layer(x) if isinstance(layer, nn.Linear) else x * 0
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_layer_with_a_norm_is_of_its_class(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + NORMED_LAYER_IS_ASKED_FOR, "Net", "", inputs, target)


BEGUN_WITHOUT = """
class Net(nn.Module):
    def __init__(self, scaled=True):
        super().__init__()
        self.down, self.scale = None, None
        self.a = nn.Parameter(torch.ones(4))
        self.b = nn.Parameter(torch.ones(4) * 2)
        self.up = nn.GRU(4, 4)
        del self.b
        self.shifts = nn.ParameterList(None)
        if scaled:
            self.scale = nn.Parameter(torch.ones(4) * 3)
            self.down = nn.Linear(4, 4)
        self.b = nn.Parameter(torch.ones(4) * 5)
        self.end = nn.Linear(4, 4)

    def forward(self, x):
        for i, p in enumerate(self.parameters()):
            x = x * (i + 1) / 4 + p.sum()
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_constructor_sets_to_none_first_has_no_place_yet(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)]
    verify(HEAD + BEGUN_WITHOUT, "Net", "", inputs, target)


EXTENDS_A_LIST = """
class Layers(nn.ModuleList):
    def __init__(self, n):
        super().__init__([nn.Linear(4, 4) for i in range(n)])
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = Layers(2)

    def forward(self, x):
        return self.layers(x)
"""
EXTENDS_A_LIST_OF_PARAMS = """
class Scales(nn.ParameterList):
    pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = Scales([nn.Parameter(torch.ones(4) * 3)])

    def forward(self, x):
        return x * self.scales[0] + len(self.scales)
"""
FORWARDS = """
class Wrapped(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.model, name)

    def forward(self, x):
        return self.model(x)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.dim = nn.Linear(4, 4), 4

    def forward(self, x):
        return self.fc(x)

    def twice(self, x):
        return self.fc(x) * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wrapped = Wrapped(Inner())

    def forward(self, x):
        return self.wrapped(x) + self.wrapped.twice(x) + self.wrapped.dim
"""
FORWARDS_A_PARAM = (
    FORWARDS.replace("self.wrapped.twice(x)", "self.wrapped.bias")
    .replace("Wrapped(Inner())", "Wrapped(nn.Linear(4, 4))")
    .replace("wrapped.dim", "wrapped.in_features")
)


@pytest.mark.parametrize(
    "program", ["EXTENDS_A_LIST", "EXTENDS_A_LIST_OF_PARAMS", "FORWARDS", "FORWARDS_A_PARAM"]
)
@pytest.mark.parametrize("target", TARGETS)
def test_classes_that_have_no_form_in_one_output_are_told_there(target, program):
    refusing = {
        "flax": "EXTENDS_A_LIST",
        "functional": "EXTENDS_A_LIST_OF_PARAMS FORWARDS FORWARDS_A_PARAM",
    }
    if program not in refusing.get(target, "").split():
        verify(
            HEAD + globals()[program], "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target
        )
        return
    (made,), _, _ = engine.convert([given(HEAD + globals()[program])], "", target)
    assert {d.id for d in made.diagnostics} <= {"unsupported", "module-value"} and made.diagnostics


# `isinstance` says which of the classes of a container a layer has.
NARROWED = """
class Masked(nn.Linear):
    def __init__(self, n, m):
        super().__init__(n, m)
        self.register_buffer("mask", torch.ones(m, n))

    def set_mask(self, mask):
        self.mask.data.copy_(mask)

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(Masked(n, n), nn.ReLU(), Masked(n, n))
        for m in self.net:
            if isinstance(m, Masked):
                m.set_mask(torch.ones(n, n).triu())

    def forward(self, x, y):
        for m in self.net:
            if not isinstance(m, Masked):
                y = m(y)
                continue
            x = m(x) * m.mask[0]
        return x + y
"""


@pytest.mark.parametrize("target", TARGETS)
def test_classes_are_narrowed_by_isinstance(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64)] * 2
    verify(HEAD + NARROWED, "Net", "4", inputs, target)


# The fields of a mixin whose constructor no one calls, in a class that has no constructor.
FIELDS_OF_A_MIXIN = """
class Counted:
    def __init__(self, *args):
        self.start(2)
        self.args = args

    def start(self, n):
        if getattr(self, "begun", False):
            return
        self.begun = True


class Base(nn.Module, Counted):
    def size(self):
        return sum(1 for _ in self.children())


class Net(Base):
    def __init__(self):
        super().__init__()
        self.start(1)
        self.fc = nn.Linear(4, 4)
        self.out = nn.Linear(4, 4)

    def forward(self, x, y):
        for layer in self.children():
            x = torch.tanh(layer(x))
        return x + y
"""


def test_fields_of_a_mixin_that_is_not_constructed():
    (made,), support, _ = engine.convert([given(HEAD + FIELDS_OF_A_MIXIN)], "", "equinox")
    net = converted(made.code, support)["Net"]
    model, state = eqx.nn.make_with_state(net)(key=jax.random.key(0))
    x = jnp.ones((3, 4))
    out, _ = model(x, x, state)
    assert jnp.allclose(out, jnp.tanh(model.out(jnp.tanh(model.fc(x)))) + x)


# Equinox takes a module without five of its fields for one that has all.
FIVE_ARE_UNSET = """
class Net(nn.Module):
    def __init__(self, n=0):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        if n > 0:
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        if n > 1:
            self.w, self.act = nn.Parameter(torch.ones(4)), nn.Tanh()
        if n > 2:
            self.scale = n / 2

    def forward(self, x):
        x = self.fc(x)
        if hasattr(self, "a"):
            x = self.b(self.a(x))
        if hasattr(self, "w"):
            x = self.act(x * self.w)
        return x * getattr(self, "scale", 2.0)
"""


@pytest.mark.parametrize("n", [0, 1, 3])
def test_fields_that_a_constructor_leaves_unset(n):
    verify(
        HEAD + FIVE_ARE_UNSET, "Net", f"{n}", [torch.randn(3, 4, dtype=torch.float64)], "equinox"
    )


OF_LIBRARIES = """
try:
    from apex.normalization import FusedLayerNorm as _Fused

    class Norm(_Fused):
        def forward(self, x):
            return super().forward(x)
except ImportError:
    from torch.nn import LayerNorm as Norm


class Rows(nn.Embedding):
    def forward(self, x):
        return F.embedding(
            x, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.rows = Rows(5, n, 1)
        self.norm = Norm(n)

    def masked(x, mask):
        return x.masked_fill(mask, 0.5)

    def forward(self, x, tokens):
        x = Net.masked(self.norm(x + self.rows(tokens)), (tokens == 1).unsqueeze(-1))
        assert list(x.size()) == [3, 4]
        return x
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_stands_in_for_a_library_and_is_asked_of_a_class(target):
    inputs = [torch.randn(3, 4, dtype=torch.float64), torch.tensor([0, 1, 2])]
    verify(HEAD + OF_LIBRARIES, "Net", "4", inputs, target)
