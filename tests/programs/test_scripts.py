"""The statements of a file itself: what they write in place, and what of them could not be converted."""

import jax
import numpy as np
import pytest

from transpile import convert_source

from ..small_programs import HEAD, array, load

SCRIPTS = {
    "fill": "x = torch.ones(3)\ny = x\nx.fill_(7)\nx.mul_(2).add_(1)\n",
    "store": "x = torch.zeros(5)\ny = x[1:3]\nx[1] = 4\nx[2:] += 1\n",
    "data": "x, y = torch.zeros(3), torch.ones(3)\nx.data.copy_(y * 2)\n",
    "a loop": "x = torch.zeros(3)\ny = 0\nfor i in range(3):\n    x[i] = i\n    y = y + x.sum()\n",
    "a function that writes": "def f(t):\n    t.add_(1)\n    return t\n\n\nx = torch.zeros(3)\nf(x)\ny = x + 1\n",
    "a main block": "x = torch.zeros(3)\ny = x\nif __name__ != 'x':\n    x.add_(2)\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_writes_in_place(name):
    result = convert_source(HEAD + SCRIPTS[name])
    assert not result.diagnostics, result.code
    scope = {}
    exec(compile(HEAD + SCRIPTS[name], "program.py", "exec"), scope)
    made = load(result)
    for value in ("x", "y"):
        np.testing.assert_array_equal(array(made[value]), array(scope[value]), err_msg=result.code)


def test_what_is_not_converted_raises_where_no_import_runs_it():
    head = HEAD + "x = torch.ones(3)\n"
    load(convert_source(head + "torch.save(x, 'x.pt')\n"))
    for block in ("for i in range(3):\n    torch.save(x, 'x.pt')\n", "if __name__ != 'x':\n    torch.save(x, 'x.pt')\n"):
        with pytest.raises(NotImplementedError):
            load(convert_source(head + block))


def test_initialisers_outside_of_functions():
    source = HEAD + """
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
line = nn.Linear(3, 3)
line.weight.data.fill_(2.0)
nn.init.zeros_(line.bias)
nn.init.ones_(net[0].weight)


def fill(m):
    if isinstance(m, nn.Linear):
        m.bias.data.fill_(0.5)


net.apply(fill)
"""
    result = convert_source(source)
    assert not result.diagnostics, result.code
    made = load(result)
    line, net = (made[name].init(jax.random.key(0)) for name in ("line", "net"))
    assert (line["weight"] == 2).all() and (line["bias"] == 0).all()
    assert (net["0"]["weight"] == 1).all() and all((net[i]["bias"] == 0.5).all() for i in "01")


def test_a_lambda_of_a_table_that_writes_in_place_is_reported():
    result = convert_source(HEAD + "ACTS = {'relu': lambda x: F.relu(x, inplace=True), 'tanh': torch.tanh}\n")
    assert [d.id for d in result.diagnostics] == ["taken-for-granted"]
    assert load(result)["ACTS"]["relu"](-1.0) == 0


def test_settings_of_a_script_leave_nothing_behind():
    """Seeds are said to be keys here; how CUDA chooses its kernels, and where tensors are, says nothing."""
    source = HEAD + """import torch.backends.cudnn as cudnn

cudnn.benchmark = True


def setup(gpu, x, y):
    torch.manual_seed(gpu)
    torch.backends.cudnn.deterministic = True
    torch.cuda.set_device(gpu)
    x.requires_grad_(True)
    x, y = x.cuda(gpu), y.to("cuda")
    torch.cuda.synchronize()
    return x + y
"""
    result = convert_source(source)
    assert [d.id for d in result.diagnostics] == ["taken-for-granted"]
    assert result.code.split("\n\n\n")[-1].strip() == "def setup(gpu, x, y):\n    return x + y"


MODEL = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 2)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\n"


def test_a_model_that_a_script_calls_has_its_params():
    source = HEAD + MODEL + 'weights = nn.Softmax(0)(torch.ones(3))\nif __name__ == "__main__":\n    model = M()\n    y = model(torch.ones(2, 3))\n'
    result = convert_source(source)
    assert not result.diagnostics
    assert "    params = model.init(jax.random.key(0))\n" in result.code
    np.testing.assert_allclose(load(result)["weights"], np.ones(3) / 3, 1e-6)


def test_a_model_that_is_called_at_import_raises_where_it_is_used():
    result = convert_source(HEAD + MODEL + "y = M()(torch.ones(2, 3))\n")
    assert [d.id for d in result.diagnostics] == ["module-value"]
    with pytest.raises(NotImplementedError, match="module-value"):
        load(result)["y"](np.ones(2))
