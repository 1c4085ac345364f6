"""The support file: what is asked for, what that needs, and nothing else; it runs."""

import ast
import subprocess
import sys
from types import SimpleNamespace

import jax.numpy as jnp
import pytest

from transpile import convert_source
from transpile.dialects.support.definitions import Prelude, Rules, Written
from transpile.dialects.support.support_file import write
from transpile.model.rule_files import load

HEADER = "What this code uses."


def run(text):
    scope = {}
    exec(compile(text, "jax_nn.py", "exec"), scope)
    return scope


def test_functions_come_with_what_they_need():
    text = write(["dropout", "layer_norm"], [Rules(load())], HEADER)
    scope = run(text)
    assert scope["dropout"](jnp.ones(4), 0.5, training=False, key=None).tolist() == [1, 1, 1, 1]
    assert scope["layer_norm"](jnp.arange(4.0), (4,)).shape == (4,)
    assert "@rule" not in text and "transpile" not in text and "Unsupported" not in text


def test_every_definition_of_the_rules_can_be_written():
    book = load()
    source = Rules(book)
    for name in book.definitions:
        entry = source.find(name)
        assert entry is None or entry.node is not None
    names = [n for n, d in book.definitions.items() if not d.is_class]
    text = write(names, [source], HEADER)
    assert {n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)} >= set(
        names[:9]
    )


def test_what_completes_a_function_comes_too():
    book = load()
    source = Rules(book)
    completed = next(name for name in book.completions if source.find(name) is not None)
    text = write([completed], [source], HEADER)
    assert all(f"def {name}(" in text for name in book.completions[completed])


def written(texts):
    """What a dialect writes, in this order."""
    file = SimpleNamespace(path="z.py", body=SimpleNamespace(body=[]))
    nodes = {n: SimpleNamespace(name=n, file=file, start=i) for i, n in enumerate(texts)}
    return Written(nodes.get, lambda node: texts[node.name], {})


def test_the_first_source_counts():
    prelude = "import math\n\n\ndef a():\n    return b() + math.pi\n\n\ndef b():\n    return 1\n"
    texts = {"C": "class C:\n    two = 2\n", "b": "@layer('x')\ndef b():\n    return C.two\n"}
    text = write(["a"], [written(texts), Prelude(prelude)], HEADER)
    assert text == (
        '"""What this code uses."""\n\nimport math\n\n\n'
        "def a():\n    return b() + math.pi\n\n\nclass C:\n    two = 2\n\n\ndef b():\n    return C.two\n"
    )


def test_what_must_be_there_before_comes_first():
    texts = {"A": "class A(B):\n    c: C = D()\n", "B": "class B: ...\n"}
    texts |= {"C": "class C: ...\n", "D": "class D(C): ...\n"}
    names = [n.name for n in ast.parse(write(["A"], [written(texts)], HEADER)).body[1:]]
    assert names.index("A") == 3 and names.index("C") < names.index("D")


@pytest.mark.parametrize("name", ["lstm", "conv", "embed", "batch_norm_moving", "scan_time"])
def test_one_function(name):
    if name in load().definitions:
        assert callable(run(write([name], [Rules(load())], HEADER))[name])


def test_each_definition_alone_has_all_its_names(tmp_path):
    source = Rules(load())
    named = load().definitions.items()
    layers = [n for n, d in named if d.file.parent.name == "layers"]  # a dialect writes them
    for name in [n for n, _ in named if n not in layers and source.find(n)]:
        (tmp_path / f"{name}.py").write_text(write([name], [source], HEADER))
    check = ["ruff", "check", "--isolated", "--select", "F821,F811,E9", str(tmp_path)]
    check += ["--config", f"builtins = {layers}"]
    done = subprocess.run([sys.executable, "-m", *check], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_methods_that_nothing_asks_for_are_left_out(target):
    program = "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self, n):\n        "
    program += "super().__init__()\n        self.table = nn.Embedding(n, 4)\n        "
    program += "self.steps = nn.ModuleList([])\n        {}\n\n    def forward(self, x):\n        "
    program += "for step in self.steps:\n            x = step(x)\n        return self.table(x)\n"
    plain = convert_source(program.format("pass"), target).support
    assert "from_pretrained" not in plain and "def insert" not in plain
    grown = convert_source(program.format("self.steps.insert(0, nn.Linear(2, 2))"), target).support
    assert ("def insert" in grown) == (target == "functional")  # the others have lists of their own
    made = "self.table = nn.Embedding.from_pretrained(table)"
    program = program.replace("self, n", "self, n, table").format(made)
    assert "from_pretrained" in convert_source(program, target).support


LISTS = """from torch import nn

class Net(nn.Module):
    def __init__(self, n, names):
        super().__init__()
        self.names = {"a": 1} | {name: 2 for name in names}
        self.steps = nn.Sequential(nn.Linear(n + n, n))
        self.parts = nn.ModuleDict({"a": nn.Tanh()})
        %s

    def forward(self, x):
        found = []
        for name, one in self.names.items():
            found.append(self.parts[name](x) + one)
            found += [x]
        total = {}
        total["a"] = self.steps(found[0]) if "a" in self.names else x
        return total["a"] + found[-1]
"""


def methods(program, target):
    """The methods of the containers in the support file of a program."""
    tree = ast.parse(convert_source(program, target).support)
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    lists = [c for c in classes if c.name in ("_Container", "_Numbered", "Sequential")]
    return {m.name for c in lists for m in c.body if isinstance(m, ast.FunctionDef)}


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_what_is_asked_of_lists_and_arrays_is_not_asked_of_containers(target):
    found = methods(LISTS % "pass", target)
    assert not found & {"__add__", "__iadd__", "__setitem__", "__contains__", "insert"}


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
@pytest.mark.parametrize(
    "line, method",
    [
        ("self.more = self.steps + nn.Sequential(nn.Tanh())", "__add__"),
        ("self.more = grown(self.steps, nn.Sequential(nn.Tanh()))", "__add__"),
        ("self.steps.append(nn.Tanh())", "append"),
        ("self.steps[0] = nn.Linear(n + n, n)", "__setitem__"),
    ],
)
def test_what_is_asked_of_containers_stays(target, line, method):
    program = LISTS % line + "\ndef grown(a, b):\n    return a + b\n"
    own = target == "equinox" and method in ("append", "__setitem__")  # by eqx.tree_at
    assert (method in methods(program, target)) != own


def test_what_jax_calls_of_a_pytree_stays():
    text = "import torch\nfrom torch.nn.utils.rnn import PackedSequence\n\n\ndef f(x):\n    return x.data if isinstance(x, PackedSequence) else torch.abs(x)\n"
    support = convert_source(text).support
    assert support is None or "def tree_unflatten(" in support and "def tree_flatten(" in support
    exec(compile(support or "", "jax_nn", "exec"), {"__name__": "jax_nn"})
