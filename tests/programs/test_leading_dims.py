"""A store leaves out dims of size 1 that the value has in front, as the states of recurrent layers have."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both, both_modules, compare, three

PROGRAMS = {
    "a piece": "parts = x.chunk(4)\nout = torch.zeros_like(x)\nfor t in range(4):\n    h = torch.tanh(parts[t] * 2) + y[t]\n    out[t] = h\nreturn out",
    "a new dim": "out = y.clone()\nout[1] = x[0].unsqueeze(0)\nreturn out",
    "a row of a table": "out = torch.zeros(4, 6, dtype=x.dtype)\nfor t in range(4):\n    out[t] = F.softmax(torch.cat((x[t : t + 1] * 2, y[:1]), 1), dim=1)[:, :6]\nreturn out",
    "a slice of one": "out = y.clone()\ni = 2\nout[0] = x[i : i + 1].relu()\nreturn out",
}
RECURRENT = """class M(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.m = m
        self.lstm = nn.LSTM(n, m)
        self.fc = nn.Linear(m, m)

    def forward(self, x):
        h = torch.zeros(1, x.size(0), self.m)
        c = torch.zeros(1, x.size(0), self.m)
        code = torch.zeros(x.size(0), x.size(1), self.m)
        seen = torch.zeros(x.size(1), x.size(0), self.m)
        for t in range(x.size(1)):
            out, (h, c) = self.lstm(x[:, t].unsqueeze(0), (h, c))
            code[:, t, :] = h
            seen[t] = self.fc(out)
        return code, seen
"""


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    compare(PROGRAMS[name], three((4, 6)))


APART = RECURRENT.replace("out, (h, c) = self.lstm(x[:, t].unsqueeze(0), (h, c))", "out, states = self.lstm(x[:, t].unsqueeze(0), (h, c))\n            h, c = states[0], states[1]")


@pytest.mark.parametrize("body", [RECURRENT, APART, APART.replace("h, c = states[0], states[1]", "h = states[0]\n            c = states[1]")])
def test_states_of_recurrent_layers(body):
    source = HEAD + body
    result = convert_source(source)
    assert not result.diagnostics, result.code
    torch_module, module = both_modules(source, result, 3, 5)
    params, _ = from_torch(torch_module, module)
    x = torch.randn(2, 4, 3)
    for got, want in zip(jax.jit(module.__call__)(params, jnp.asarray(x.numpy())), torch_module(x)):
        np.testing.assert_allclose(got, want.detach().numpy(), 1e-5, 1e-6)


def test_other_stores_are_plain():
    assert ".at[0].set(" in both("x[0] = y[0] * 2\nreturn x")[2]
