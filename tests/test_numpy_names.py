"""What becomes a tensor later is NumPy's before that: `.std()` divides by n, `.repeat(2)` repeats each element."""

import numpy as np
import pytest
import torch

from transpile import convert_source

from .small_programs import load

HEAD = "import numpy as np\nimport pickle\nimport torch\n\n\n"
PROGRAMS = {
    "from_numpy": "def f(env):\n    obs = env.reset()\n    obs = (obs - obs.mean()) / (obs.std() + 1e-8)\n    return torch.from_numpy(obs)",
    "a parameter": "def f(env):\n    return g(env.reset())\n\n\ndef g(rewards):\n    rewards = (rewards - rewards.mean()) / rewards.std()\n    return torch.tensor(rewards).unsqueeze(1)",
    "of several": "def f(env):\n    s, done = env.step(1)\n    v = s.var()\n    s = s.reshape(1, -1).repeat(2, 0)\n    return torch.from_numpy(s), v",
    "from what it holds": "def f(env):\n    data = env.load()\n    x = data['x']\n    return torch.FloatTensor((x - x.mean()) / x.std())",
    "declared": "def f(env):\n    return g(env.reset())\n\n\ndef g(x: np.ndarray):\n    return x.std(), x.repeat(2)",
    "a tensor after that": "def f(env):\n    x = env.reset()\n    v = x.std()\n    x = torch.from_numpy(x)\n    return x.std(), x.repeat(2), v",
    "in a loop": "def f(env):\n    total = []\n    for x in env.rows():\n        v = x.std()\n        total.append(torch.from_numpy(x) * v)\n    return total",
    "on one way only": "def f(env):\n    return g(torch.from_numpy(env.reset()))\n\n\ndef g(x):\n    v = x.std()\n    if isinstance(x, np.ndarray):\n        x = torch.from_numpy(x)\n    return x, v",
}  # fmt: skip


class Env:
    def reset(self):
        return np.array([1.0, 2.0, 5.0])

    def step(self, n):
        return np.array([1.0, 2.0, 5.0]) * n, False

    def load(self):
        return {"x": np.array([1.0, 2.0, 5.0])}

    def rows(self):
        return [np.array([1.0, 2.0, 5.0]), np.array([3.0, 2.0, 5.0])]


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    source = HEAD + PROGRAMS[name] + "\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    got, want = load(result)["f"](Env()), scope["f"](Env())
    for g, w in zip(*((v if isinstance(v, (tuple, list)) else [v]) for v in (got, want)), strict=True):
        np.testing.assert_allclose(np.asarray(g), w.numpy() if isinstance(w, torch.Tensor) else w, 1e-6, err_msg=result.code)


def test_a_forward_pass_is_given_tensors():
    source = HEAD + "import torch.nn as nn\n\n\nclass M(nn.Module):\n    def forward(self, x):\n        return x.std(), torch.tensor(x)\n"
    result = convert_source(source)
    x = np.array([1.0, 2.0, 5.0])
    np.testing.assert_allclose(load(result)["M"]()(x)[0], x.std(ddof=1), 1e-6)
