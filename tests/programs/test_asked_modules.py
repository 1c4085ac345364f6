"""What a constructor asks of the arrays of a module that it is given, whose class is not known."""

import jax
import pytest

from transpile import convert_source

from ..small_programs import HEAD, load

MODULE = """class Learned(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = nn.Parameter(torch.randn(5, 4))
        self.layers = nn.Sequential(nn.ReLU(), nn.Linear(3, 7))


class Fixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = torch.ones(6, 2)
        self.layers = nn.Sequential(nn.ReLU(), nn.Linear(2, 8))


class M(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        count, n = encoder.places.shape[-2:]
        self.line = nn.Linear(n, encoder.layers[1].weight.shape[0])
        self.table = nn.Embedding(count, encoder.layers[-1].weight.shape[-1])

    def forward(self, x):
        return self.line(x)
"""


@pytest.mark.parametrize("encoder", ["Learned", "Fixed"])
def test_shapes(encoder):
    result = convert_source(HEAD + MODULE)
    assert not result.diagnostics, result.code
    torch_side = {}
    exec(compile(HEAD + MODULE, "program.py", "exec"), torch_side)
    jax_side = load(result)
    want, module = (side["M"](side[encoder]()) for side in (torch_side, jax_side))
    params = module.init(jax.random.key(0))
    assert params["line"]["weight"].shape == tuple(want.line.weight.shape)
    assert params["table"]["weight"].shape == tuple(want.table.weight.shape)


def test_what_may_be_no_array_is_left():
    source = HEAD + MODULE.replace("torch.ones(6, 2)", "None") + "\n\nTORCH = torch.ones(1)\n"
    assert "encoder.places.shape" in convert_source(source).code
