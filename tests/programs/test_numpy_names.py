"""What becomes a tensor later is NumPy's before that: `.std()` divides by n, `.repeat(2)` repeats each element."""

import numpy as np
import pytest
import torch

from transpile import convert_source

from ..proof.comparison import assert_close
from ..small_programs import load

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

SCALER = "class Scaler:\n    def fit(self, data):\n        self.m, n = data.mean(0), data.shape[0]\n        self.s = data.std(0)\n        self.top = data.max(0)\n        return self\n"
TRANSFORM = "\n    def transform(self, data):\n        s = torch.from_numpy(self.s) if torch.is_tensor(data) else self.s\n        return data / s\n"
PROGRAMS |= {
    "given to a method": SCALER + "\n\ndef f(env):\n    scaler = Scaler()\n    scaler.fit(np.array([1.0, 2.0, 5.0]))\n    return scaler.s, scaler.top, scaler.m",
    "of pandas": "import pandas as pd\n" + SCALER + "\n\ndef f(env):\n    scaler, df = Scaler(), pd.DataFrame([1.0, 2.0, 5.0])\n    scaler.fit(df.values)\n    scaler.fit(df.to_numpy())\n    return scaler.s, scaler.top, df.values.std()",
    "an attribute made a tensor": SCALER + TRANSFORM + "\n\ndef f(env):\n    scaler = Scaler().fit(env.reset()[:, None])\n    return scaler.transform(env.reset()), scaler.transform(torch.from_numpy(env.reset())), scaler.top",
    "asked for its shape": "def f(env):\n    return g(np.array([1.0, 2.0, 5.0]))\n\n\ndef g(x):\n    n = x.shape[0]\n    return x.std(), x.repeat(n)",
    "a dict of them": "from typing import Dict\n\n\ndef f(env):\n    return g({'x': env.reset()})\n\n\ndef g(d: Dict[str, np.ndarray]):\n    return d['x'].std(), d['x'].max(axis=0), [v.var() for v in d.values()][0]",
    "an alias": "import typing as ty\n\nArrays = ty.Dict[str, np.ndarray]\n\n\ndef f(env):\n    return g({'x': env.reset()})\n\n\ndef g(d: ty.Optional[Arrays] = None):\n    return d['x'].std(), [v.var() for _, v in d.items()][0]",
    "a field": "import dataclasses\nimport typing as ty\n\nArrays = ty.Dict[str, np.ndarray]\n\n\n@dataclasses.dataclass\nclass Data:\n    y: Arrays\n    x: np.ndarray\n\n    def stds(self):\n        return self.y['a'].std(), self.x.std(), self.x.min(axis=0)\n\n\ndef f(env):\n    return Data({'a': env.reset()}, env.reset()).stds()",
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
        assert_close(np.asarray(g), w.numpy() if isinstance(w, torch.Tensor) else w, err_msg=result.code)


def test_a_forward_pass_is_given_tensors():
    source = HEAD + "import torch.nn as nn\n\n\nclass M(nn.Module):\n    def forward(self, x):\n        return x.std(), torch.tensor(x)\n"
    result = convert_source(source)
    x = np.array([1.0, 2.0, 5.0])
    np.testing.assert_allclose(load(result)["M"]()(x)[0], x.std(ddof=1), 1e-6)


OPEN = {
    "data.std(0)": "NumPy's std divides by n, torch's by n - 1",
    "data.var()": "NumPy's var divides by n, torch's by n - 1",
    "data.max(0)": "NumPy's max gives the values alone",
    "data.min(axis=0)": "NumPy's min gives the values alone",
    "data.repeat(2)": "NumPy's repeat repeats each element",
    "data.std(dim=0)": None,
    "data.max()": None,
    "data.max(1)[1]": None,
    "torch.exp(data) + data.std()": None,
}  # fmt: skip


@pytest.mark.parametrize("expression", OPEN)
def test_what_stays_open_is_reported(expression):
    source = HEAD + f"class Scaler:\n    def fit(self, data):\n        self.n = data.shape[0]\n        self.s = {expression}\n"
    found = convert_source(source).diagnostics
    assert [(d.id, d.line) for d in found] == [("taken-for-granted", 9)] * (OPEN[expression] is not None), found
    assert not found or found[0].message.startswith(f"data is taken for a tensor: {OPEN[expression]}")


def test_a_function_that_no_forward_pass_runs():
    source = HEAD + "def norm(images):\n    return (images - images.mean()) / images.std()\n"
    assert [(d.id, d.line) for d in convert_source(source).diagnostics] == [("taken-for-granted", 7)]
    model = "\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return norm(x)\n"
    assert not convert_source(source + model).diagnostics


@pytest.mark.parametrize("what", ["forward(self, data)", "of_tensors(self, data: torch.Tensor)"])
def test_what_is_a_tensor_is_not_reported(what):
    source = HEAD + f"class Scaler(torch.nn.Module):\n    def {what}:\n        a, b = data.max(1)\n        return data.std(0), data.max(0), self.of(data)\n\n    def of(self, x):\n        return x.std()\n"
    assert not convert_source(source).diagnostics


SCALERS = {
    "    def fit(self, data):\n        self.s = data.std(0)\n": 6,
    "    def fit(self, data):\n        return torch.is_tensor(data), data.std(0)\n": 6,
    "    def fit(self, data):\n        self.s = data.std(0)\n\n    def back(self, x):\n        return x.unsqueeze(0) * self.s\n": None,
    "    def fit(self, data):\n        self.s = data.std(0)\n\n    def back(self, x):\n        return torch.exp(x) * self.s\n": None,
    "    def norm(self, x: torch.Tensor):\n        return x.std(0)\n": None,
    "    pass\n\n\ndef top(data):\n    return data.max(axis=0)\n": 9,
    "    pass\n\n\ndef norm(x):\n    return (x - x.mean()) / x.std()\n": None,
}


@pytest.mark.parametrize("body", SCALERS)
def test_a_file_that_does_not_import_numpy(body):
    found = convert_source("import torch\n\n\nclass Scaler:\n" + body).diagnostics
    assert [(d.id, d.line) for d in found] == [("taken-for-granted", SCALERS[body])] * (SCALERS[body] is not None), found
