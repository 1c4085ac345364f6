"""What has nothing to do with tensors is left alone: strings, patterns and SciPy's matrices; files without torch to the byte."""

import pytest

from tests.small_programs import compare, three
from transpile import convert_path, convert_source

PLAIN = '''import re
import numpy as np
import scipy.sparse as sp

LOWEST = float('-inf')


def clean(line, pattern, b):
    line = pattern.sub(b, line)
    best = float('-inf')
    for p in line.split(' '):
        best = max(best, len(p))
    return line, best, pattern.dtype is b.dtype


def normalise(adj, mask):
    r = sp.diags(np.power(np.array(adj.multiply(mask).sum(1)), -1).flatten(), dtype=adj.dtype)
    return r.dot(adj), adj.T.max().item(), adj.data, adj.view(3)


class Vocabulary:
    def __init__(self, tokens):
        self.tokens = tokens

    def find(self, t):
        lookup = self.tokens if t else self.other
        return lookup(t), self.tokens.index(t), t.float(), t.to(3), t.size(0), t.unsqueeze(1)
'''
MODEL = "import torch\nfrom text import Vocabulary, clean\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x.view(-1)\n\n\ndef read(path):\n    with open(path) as lines:\n        return [clean(line, None, '') for line in lines]\n"


def test_a_file_without_torch_comes_out_to_the_byte(tmp_path):
    (tmp_path / "text.py").write_text(PLAIN)
    (tmp_path / "model.py").write_text(MODEL)
    assert not convert_path(tmp_path, tmp_path / "out").diagnostics
    assert (tmp_path / "out" / "text.py").read_text() == PLAIN
    assert "x.reshape(-1)" in (tmp_path / "out" / "model.py").read_text()


def test_a_file_without_torch_is_converted_where_it_gets_tensors(tmp_path):
    (tmp_path / "shapes.py").write_text("def flat(x, n):\n    return x.view(x.size(0), n).float()\n")
    (tmp_path / "model.py").write_text("import torch\nfrom shapes import flat\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return flat(x, 3)\n")
    assert not convert_path(tmp_path, tmp_path / "out").diagnostics
    assert "x.reshape(x.shape[0], n).astype(jnp.float32)" in (tmp_path / "out" / "shapes.py").read_text()


LINES = [
    "pattern.sub('a', line)",
    "pattern.sub(a, line)",
    "line.split(' ')",
    "[part.split(',') for part in lines]",
    "adj.multiply(mask)",
    "r.dot(adj)",
    "[w.sub('a', line).split('b') for w in words]",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_beside_torch_is_left_alone(line):
    names = sorted({"pattern", "a", "line", "lines", "words", "adj", "mask", "r"} & set(line.replace("(", " ").replace(".", " ").replace(",", " ").replace(")", " ").replace("]", " ").split()))
    result = convert_source(f"import torch\n\n\ndef f(x):\n    return torch.exp(x)\n\n\ndef g({', '.join(names)}):\n    return {line}\n")
    assert not result.diagnostics
    assert f"    return {line}\n" in result.code


@pytest.mark.usefixtures("wide")
def test_what_is_a_tensor_keeps_its_signatures_of_old():
    compare("z = x.clone()\nz.add_(3, y)\nreturn z.add(2, y), x.multiply(y), x[0].dot(y[0]), x.div(y, rounding_mode='floor'), x.norm('fro')", three())


CONFIGURED = """import torch
from yacs.config import CfgNode

_C = CfgNode()
_C.OUTPUT = ""


def get_config(args):
    config = _C.clone()
    config.OUTPUT = args.output
    return config


def scaled(args, x: torch.Tensor):
    config = get_config(args)
    return x.add(config.OUTPUT)
"""


def test_an_object_that_gets_fields_is_no_tensor_by_the_name_of_a_method():
    """Its clone() is one of its own."""
    result = convert_source(CONFIGURED, "functional")
    assert not result.diagnostics
    assert "config = _C.clone()\n    config.OUTPUT = args.output\n" in result.code
    assert "return x + config.OUTPUT" in result.code


TEXTS = {
    'exec("w = torch.ones(3)")': 1,
    'exec(f"w_{n} = nn.Parameter(torch.ones({n}))")': 1,
    'eval("nn.ReLU()")': 1,
    'eval("[8, 16]")': 0,
    "eval(n)": 0,
}


@pytest.mark.parametrize("text", TEXTS)
def test_torch_in_a_text_that_python_runs_is_refused(text):
    result = convert_source(f"import torch\nfrom torch import nn\n\n\ndef f(n):\n    return {text}\n")
    assert [d.id for d in result.diagnostics] == ["unsupported"] * TEXTS[text]
