"""Tests of types answer as torch's do, under jit too: by dtype, of numbers that are arrays, of parameters, and in containers."""

import jax
import jax.numpy as jnp
import pytest
import torch

from transpile import convert_source

from ..small_programs import both, both_modules, compare, load, reported, three

TYPES = ["torch.Tensor", "int", "List[torch.Tensor]", "List[List[int]]", "Dict[str, torch.Tensor]", "Tuple[int, torch.Tensor]", "Optional[torch.Tensor]", "(int, List[int])"]
T = torch.ones(2)
VALUES = [T, 3, None, [T], [T, 1], [[1], [2]], [[1], [T]], {"a": T}, {1: T}, {"a": 1}, (1, T), (1, T, T), [1, 2]]


@pytest.mark.parametrize("kind", TYPES)
def test_as_torch_answers(kind):
    source = f"import torch\nfrom typing import Dict, List, Optional, Tuple\n\n\ndef f(v, x):\n    if torch.jit.isinstance(v, {kind}):\n        return x + 1\n    return x\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    jax_f = load(result)["f"]
    for value in VALUES:
        arrays = jax.tree.map(lambda leaf: jnp.ones(2) if isinstance(leaf, torch.Tensor) else leaf, value)
        got = jax.jit(lambda x, arrays=arrays: jax_f(jax.tree.map(lambda leaf: leaf * x if isinstance(leaf, jax.Array) else leaf, arrays), x))(0.0)
        assert got == scope["f"](value, 0.0), (kind, value, result.code)


TYPED = {
    "one type": "isinstance(x, torch.LongTensor)",
    "several": "isinstance(x, (torch.FloatTensor, torch.cuda.FloatTensor, torch.ByteTensor))",
    "not this one": "not isinstance(x, torch.FloatTensor)",
    "beside others": "isinstance(x, (list, torch.ByteTensor, torch.BoolTensor))",
    "any": "isinstance(x, (torch.Tensor, torch.LongTensor))",
}


@pytest.mark.parametrize("name", TYPED)
def test_types_of_tensors(name):
    torch_f, jax_f, code = both(f"def f(x):\n    if {TYPED[name]}:\n        return 1\n    return 2")
    for value in (
        torch.ones(2),
        torch.ones(2, dtype=torch.int64),
        torch.ones(2, dtype=torch.uint8),
        torch.ones(2).bool(),
        [1],
        2.0,
    ):
        given = (
            value
            if not isinstance(value, torch.Tensor)
            else jnp.asarray(value.numpy())
            if value.dtype != torch.int64
            else jnp.ones(2, int)
        )
        assert jax_f(given) == torch_f(value), (value, code)


NUMBERS = {
    "a float": "v = x.sum().item()\nif isinstance(v, float):\n    y = y * 2\nreturn x * y",
    "an int": "k = x.argmax().item()\nif type(k) == int and not isinstance(k, float):\n    y = y * 2\nif type(k) is not int:\n    y = y * 3\nreturn x * y + k",
    "either": "v = float(x.mean()) / 2\nassert isinstance(v, (int, float))\nif isinstance(v, (float, int)):\n    y = y * 2\nreturn x * y * v",
    "what was a tensor": "def number(v):\n    if isinstance(v, torch.Tensor):\n        v = v.item()\n    if not isinstance(v, (int, float)):\n        raise TypeError\n    return v * 2\n\n\ndef f(x, y):\n    return x * number(y.sum()) + number(3.0)",
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name):
    compare(NUMBERS[name], three())


def test_a_number_or_a_tensor_is_refused():
    body = "def pick(x, i):\n    return x[i] if isinstance(i, int) else x[i].sum()\n\n\ndef f(x, y):\n    return pick(x, y.argmax().item())"
    assert reported(body) == {"unsupported"}


COUNTED = """
import torch


class Meter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def update(self, val, n=1):
        if isinstance(val, torch.Tensor):
            val = val.item()
        if isinstance(val, float):
            self.sum += val * n
            self.n += n


def evaluate(model, batches):
    model.eval()
    meter, seen = Meter(), {}
    with torch.no_grad():
        for x in batches:
            y = model(x)
            meter.update(y.mean())
            seen[y.argmax().item()] = float(y.max())
    return meter.sum, meter.n, seen
"""


def test_numbers_are_pythons_outside_of_jit():
    class Model:
        def eval(self):
            pass

        def __call__(self, x):
            return x * 2

    result = convert_source(COUNTED)
    scope: dict[str, object] = {}
    exec(compile(COUNTED, "program.py", "exec"), scope)
    rows = [[1.0, 3.0], [5.0, 2.0]]
    assert load(result)["evaluate"](Model(), list(map(jnp.array, rows))) == scope["evaluate"](
        Model(), list(map(torch.tensor, rows))
    )


OF_PARAMETERS = """
import torch
from torch import nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("b", torch.ones(3))
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        if isinstance(self.w, nn.Parameter) and not isinstance(self.b, nn.Parameter):
            x = x * self.w + self.b
        return x * 2 if isinstance(self.lin.weight, nn.Parameter) else x
"""


def test_parameters():
    result = convert_source(OF_PARAMETERS)
    assert not result.diagnostics and "isinstance" not in result.code, result.code
    torch_m, jax_m = both_modules(OF_PARAMETERS, result)
    got = jax_m(jax_m.init(jax.random.key(0)), jax_m.init_state(jax.random.key(0)), jnp.ones(3))
    assert (jax.tree.leaves(got)[0] == torch_m(torch.ones(3)).detach().numpy()).all(), result.code


def test_what_may_be_a_parameter_is_reported():
    assert reported("def f(x, y):\n    return x * 2 if isinstance(y, nn.Parameter) else x") == {"taken-for-granted"}


def test_a_name_of_any_value_that_becomes_a_number():
    """`if torch.is_tensor(v): v = v.item()`, after which a number of torch's is an array here."""
    body = "def g(**kwargs):\n    found = []\n    for k, v in kwargs.items():\n        if isinstance(v, torch.Tensor):\n            v = v.item()\n        if isinstance(v, (float, int)):\n            found.append(v)\n    return found\n\n\ndef f(x, y):\n    return g(loss=x.mean(), lr=0.5, name='no')"
    torch_f, jax_f, code = both(body)
    x = torch.ones(2, 3)
    assert len(jax_f(jnp.ones((2, 3)), 1)) == len(torch_f(x, x)) == 2, code
