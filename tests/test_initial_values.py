"""Initial values: what constructors give params and buffers, by whatever way, is what `init` makes."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from transpile import convert_source, from_torch

from .small_programs import HEAD, both_modules

FORWARD = "\n    def forward(self, x):\n        return x\n"


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
    x = np.linspace(-1.0, 1.0, 6, dtype=np.float32).reshape(2, 3)
    params, state = from_torch(theirs, ours)
    given = inspect.signature(ours.__call__).parameters
    arrays = [tree for name, tree in (("params", params), ("state", state)) if name in given]
    output = ours(*arrays, jnp.asarray(x))
    np.testing.assert_allclose(output[0] if "state" in given else output, theirs(type(next(iter(theirs.state_dict().values())))(x)).detach(), 1e-5, 1e-6, err_msg=result.code)
    return got, want, result.code


def compare(source):
    """The initial arrays must be equal; all are constants."""
    got, want, code = begun(source)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, 1e-6, err_msg=f"{name}\n{code}")


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


NO_STATE = {
    "a param made of a random buffer": "self.register_buffer('v', torch.randn(3))\nself.w = nn.Parameter(self.v * 2)",
    "a method that sets more": "self.fc = nn.Linear(3, 3)\nself.start()",
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
    assert "module-value" in [d.id for d in result.diagnostics], result.code
    init = result.code.partition("def init(")[2].partition("def ")[0]
    assert "nn.unconverted(" in init and "state" not in init.replace("state_", ""), result.code
