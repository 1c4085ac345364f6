"""What a test of its type says of a name: a packed sequence has data of its own, and is no tensor."""

import pytest

from tests.small_programs import compare, three
from transpile import convert_source

HEAD = "from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence\n\n\nclass Pair:\n    def __init__(self, a):\n        self.data = a * 2\n\n\n"
TAIL = "\n\n\ndef f(x, y):\n    p = pack_padded_sequence(x[:, :, None], [4, 2, 1, 1, 1, 1])\n    return g(p), g(x * y)"
FUNCTIONS = {
    "if": "def g(p):\n    if isinstance(p, PackedSequence):\n        return p.data.exp()\n    return p.data * 2",
    "if not": "def g(p):\n    if not isinstance(p, PackedSequence):\n        return p\n    return p.data.exp()",
    "and": "def g(p):\n    if isinstance(p, PackedSequence) and p.data.dim() == 2:\n        return p.data + 1\n    return p",
    "or": "def g(p):\n    if not isinstance(p, PackedSequence) or p.data.dim() != 2:\n        return p\n    return p.data + 1",
    "a choice": "def g(p):\n    return p.data.sin() if isinstance(p, PackedSequence) else p",
    "by a name": "def g(p):\n    packed = isinstance(p, PackedSequence)\n    if packed:\n        return p.data.sin()\n    return p",
    "type": "def g(p):\n    if type(p) is PackedSequence:\n        return p.data.sin()\n    return p",
    "one of several": "def g(p):\n    if isinstance(p, (PackedSequence, Pair)):\n        return p.data.sin()\n    return p",
    "after it": "def g(p):\n    n = 0\n    if isinstance(p, PackedSequence):\n        n = p.data.shape[0]\n    else:\n        n = p.data.shape[0]\n    return n",
    "assert": "def g(p):\n    assert not isinstance(p, torch.Tensor)\n    assert isinstance(p, PackedSequence)\n    return p.data.cos()\n\n\ndef f(x, y):\n    return g(pack_padded_sequence(x[:, :, None], [4, 2, 1, 1, 1, 1])) + y.sum()",
    "a class of the user's": "def g(p):\n    return p.data if isinstance(p, Pair) else p\n\n\ndef f(x, y):\n    return g(Pair(x)), g(y)",
    "in a comprehension": "def g(ps):\n    return [p.data.sin() for p in ps if isinstance(p, PackedSequence)]\n\n\ndef f(x, y):\n    return g([pack_padded_sequence(x[:, :, None], [4, 2, 1, 1, 1, 1]), y])",
}  # fmt: skip


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name):
    body = HEAD + FUNCTIONS[name]
    compare(body if "def f(" in body else body + TAIL, three())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_that_nobody_gives(name):
    function = FUNCTIONS[name].partition("\n\n\ndef f(")[0]
    code = convert_source("import torch\n" + HEAD + function + "\n").code
    assert name == "if" and code.count("stop_gradient(p)") == 1 or "stop_gradient(p)" not in code, code
