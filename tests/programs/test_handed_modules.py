"""A module, or a lambda that draws, among the arguments of a call goes with its params, key and mode bound, whatever is called: what calls it by another name needs none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from transpile import convert_source

from ..small_programs import HEAD, load

ATTEND = "def attend(q, v, drop):\n    return drop(q) * v\n\n\n"
OUTER = "def outer(q, v, drop):\n    return attend(q, v, drop)\n\n\n"
INNER = "class Inner(nn.Module):\n    def forward(self, key, v, drop=None):\n        return attend(key, v, drop) if drop is not None else v\n\n\n"
CALLS = "class Inner(nn.Module):\n    def forward(self, key, v, drop=None):\n        if drop is not None:\n            key = drop(key)\n        return key * v\n\n\n"

DEFAULT = "def default(value, make):\n    if value is not None:\n        return value\n    return make() if callable(make) else make\n\n\n"

# what comes first, the call in forward, whether the module is known to be called once
PROGRAMS = {
    "a function": (ATTEND, "attend(x, y, self.dropout)", True),
    "through a function": (ATTEND + OUTER, "outer(x, y, self.dropout)", False),
    "a module": (CALLS, "self.inner(x, y, drop=self.dropout)", True),
    "through a module": (ATTEND + INNER, "self.inner(x, y, self.dropout)", False),
    "in a lambda": (DEFAULT, "default(None, lambda: self.dropout(x)) * y", True),
    "through both": (ATTEND + OUTER + INNER.replace("attend(", "outer("), "self.inner(x, y, self.dropout)", False),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_draws_with_the_key_of_the_caller(name):
    before, call, once = PROGRAMS[name]
    inner = "        self.inner = Inner()\n" if "Inner" in before else ""
    module = f"class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{inner}        self.dropout = nn.Dropout(0.5)\n\n    def forward(self, x, y):\n        return {call}\n"
    result = convert_source(HEAD + before + module)
    assert [d.id for d in result.diagnostics] == ["taken-for-granted"] * (not once), (result.diagnostics, result.code)
    assert result.code.count("key=None") == 1, result.code
    made, ones = load(result)["M"](), jnp.ones(4000)
    run = jax.jit(made.__call__, static_argnames="training")
    drawn = [np.asarray(run(ones, ones, key=jax.random.key(seed), training=True)) for seed in (0, 0, 1)]
    assert set(np.unique(drawn[0])) == {0, 2} and (drawn[0] == drawn[1]).all() and (drawn[0] != drawn[2]).any()
    assert (run(ones, ones, training=False) == 1).all()


# what a function that calls a module asks of it, which one that is bound to its params does not say
ASKED = (
    "isinstance(layer, nn.Linear)",
    "hasattr(layer, 'in_features')",
    "getattr(layer, 'in_features', 0)",
    "layer.in_features",
    "layer is not self.b",
)


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_called_and_asked_what_it_is_is_reported(asked):
    source = f"""{HEAD}class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def inner(self, layer, x):
        if {asked}:
            x = x * 2
        return layer(x)

    def one(self, x, layer):
        return self.inner(layer, x)

    def forward(self, x):
        return self.one(x, self.a)
"""
    result = convert_source(source)
    assert "module-value" in {d.id for d in result.diagnostics}, result.code


# name -> what the sides of a branch set, and what is done with it
MIXED = {
    "a list on one way": ("f = [self.a, self.b]", "f = self.a", "self.one(f, x)"),
    "computed names": ("f = [getattr(self, n) for n in ('a', 'b')]", "f = getattr(self, 'a')", "self.one(f, x)"),
    "called": ("f = [self.a, self.b]", "f = self.a", "x + f(x)"),
    "a Sequential on one way": ("f = [self.a, self.b]", "f = self.net", "self.one(f, x)"),
}


@pytest.mark.parametrize("name", MIXED)
def test_a_submodule_on_one_way_and_a_list_of_them_on_another_is_reported(name):
    one, other, used = MIXED[name]
    source = f"""{HEAD}class M(nn.Module):
    def __init__(self, deep):
        super().__init__()
        self.deep = deep
        self.a, self.b, self.net = nn.Linear(3, 3), nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def one(self, f, x):
        return [g(x) for g in f] if self.deep else [f(x)]

    def forward(self, x):
        if self.deep:
            {one}
        else:
            {other}
        return {used}
"""
    result = convert_source(source)
    found = {(d.id, d.line) for d in result.diagnostics}  # where it is used, or called
    assert found & {("module-value", 22), ("module-value", 15)}, (result.diagnostics, result.code)


def test_a_name_that_held_a_submodule_before_goes_on_as_what_it_is():
    source = HEAD + "class M(nn.Module):\n    def __init__(self, g):\n        super().__init__()\n        self.a, self.g = nn.Linear(3, 3), g\n\n    def forward(self, x):\n        f = self.a\n        y = f(x)\n        f = self.g.kernel\n        return f(y)\n"
    assert not convert_source(source).diagnostics


@pytest.mark.parametrize("given", ("self", "self.inner"))
def test_a_function_is_given_the_params_of_the_module_that_it_reads_parts_of(given):
    source = f"""{HEAD}def step(model, x):
    return model.a(x)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)


class M(Inner):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return step({given}, x)
"""
    result = convert_source(source)
    assert not result.diagnostics, result.code
    assert 'return model.a(params["a"], x)' in result.code
    params = {"self": "params", "self.inner": 'params["inner"]'}[given]
    assert f"return step({params}, {given}, x)" in result.code


def test_what_a_function_calls_of_one_of_two_modules_that_it_is_handed_is_reported():
    source = f"""{HEAD}def step(one, other, x):
    return one.a(x) + other.a(x)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = Inner(), Inner()

    def forward(self, x):
        return step(self.one, self.other, x)
"""
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} == {"module-value"}, result.code
    assert 'nn.unconverted("module-value", "one.a(x)")' in result.code
