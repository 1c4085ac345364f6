"""The command and its promises: exit codes, bad files, bytes kept, nothing lost."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from transpile import convert_path, convert_source
from transpile.proof.copies import copied
from transpile.proof.verification import load

ROOT = Path(__file__).parent.parent
TORCH = "import torch\n\n\ndef f(x):\n    return torch.exp(x)\n"


def command(*args):
    return subprocess.run([sys.executable, str(ROOT / "cli.py"), *map(str, args)], capture_output=True, text=True)


@pytest.mark.parametrize(("text", "status"), [(TORCH, 0), ("import torch\nx = torch.load('w.pt')\n", 1), ("def f(:\n", 2)])
def test_check_reports_by_its_exit_status(tmp_path, text, status):
    source = tmp_path / "model.py"
    source.write_text(text)
    done = command("check", source)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(("text", "status"), [(TORCH, 0), ("def f(:\n", 2)])
def test_the_form_behind_the_passes_is_shown(tmp_path, text, status):
    source = tmp_path / "model.py"
    source.write_text(text)
    done = command("convert", "--show", "model", source)
    assert done.returncode == status and "Traceback" not in done.stderr
    assert ("# model.py\n" in done.stdout and "    return jnp.exp(x)\n" in done.stdout) is (status == 0)
    assert list(tmp_path.iterdir()) == [source]


def test_a_conversion_says_where_to_write_or_what_to_show(tmp_path):
    done = command("convert", tmp_path)
    assert done.returncode == 2 and "--output" in done.stderr


def test_a_bad_file_does_not_stop_the_others(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "bad.py").write_text("def f(:\n")
    (tmp_path / "in" / "deep.py").write_text("x = " + "(" * 3000 + ")" * 3000 + "\n")
    (tmp_path / "in" / "good.py").write_text(TORCH)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "bad.py").write_text("kept")
    report = convert_path(tmp_path / "in", tmp_path / "out")
    assert {d.id for d in report.diagnostics} == {"syntax-error"}
    assert (tmp_path / "out" / "good.py").exists()
    assert (tmp_path / "out" / "bad.py").read_text() == "kept"


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfx = 1\n",
        b"# -*- coding: latin-1 -*-\nname = '\xe9'\n",
        b"x = 1\r\nif x:\r\n\ty = 2\r\n",
        b"x = 1\r\ny = 2\n",
        b"# torch\r\nx = 1\r\ny = 2\n",
        b"x = 1",
        b"",
    ],
)
def test_what_needs_no_conversion_keeps_its_bytes(tmp_path, data):
    (tmp_path / "in.py").write_bytes(data)
    convert_path(tmp_path / "in.py", tmp_path / "out.py")
    assert (tmp_path / "out.py").read_bytes() == data


def test_line_endings_and_tabs_survive(tmp_path):
    (tmp_path / "in.py").write_bytes(b"import torch\r\n\r\n\r\ndef f(x):\r\n\ty = 1\r\n\treturn torch.exp(x)\r\n")
    convert_path(tmp_path / "in.py", tmp_path / "out.py")
    data = (tmp_path / "out.py").read_bytes()
    assert b"\treturn jnp.exp(x)\r\n" in data and b"\n" not in data.replace(b"\r\n", b"")


def test_statements_go_whatever_lines_end_in(tmp_path):
    source = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, n):\n"
    source += "        super().__init__()\n        self.w = nn.Parameter(torch.zeros(n))\n\n"
    source += "    def forward(self, x):\n        return x * self.w\n"
    for newline in ("\n", "\r\n"):
        (tmp_path / "in.py").write_bytes(source.replace("\n", newline).encode())
        convert_path(tmp_path / "in.py", tmp_path / "out.py")
        data = (tmp_path / "out.py").read_bytes().decode()
        assert "nn.Parameter" not in data and "super()" not in data
        assert data == convert_source(source).code.replace("\n", newline)
        assert data == convert_source(source.replace("\n", newline)).code


def test_an_existing_support_file_is_extended(tmp_path):
    (tmp_path / "a.py").write_text("import torch.nn as nn\n\nlayer = nn.Linear(2, 3)\n")
    (tmp_path / "b.py").write_text("import torch.nn as nn\n\nlayer = nn.GELU()\n")
    convert_path(tmp_path / "a.py", tmp_path / "out" / "a.py")
    convert_path(tmp_path / "b.py", tmp_path / "out" / "b.py")
    support = (tmp_path / "out" / "jax_nn.py").read_text()
    assert "class Linear(" in support and "class GELU(" in support


def test_imports_between_files_are_followed(tmp_path):
    (tmp_path / "in" / "net").mkdir(parents=True)
    (tmp_path / "in" / "net" / "__init__.py").write_text("")
    (tmp_path / "in" / "net" / "block.py").write_text(
        "import torch.nn as nn\n\n\nclass Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.bn = nn.BatchNorm1d(3)\n\n    def forward(self, x):\n        return self.bn(x)\n"
    )
    (tmp_path / "in" / "net" / "model.py").write_text(
        "import torch.nn as nn\n\nfrom .block import Block\n\n\nclass Model(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.block = Block()\n\n    def forward(self, x):\n        return self.block(x)\n"
    )
    report = convert_path(tmp_path / "in", tmp_path / "out")
    assert not report.diagnostics
    text = (tmp_path / "out" / "net" / "model.py").read_text()
    assert 'x, state["block"] = self.block(params["block"], state["block"], x, training=training)' in text
    assert "from .block import Block" in text


def test_names_of_torch_that_files_pass_on(tmp_path):
    """`from . import act`, where `__init__` has it from a file that has it from torch."""
    package = tmp_path / "net"
    package.mkdir()
    (package / "__init__.py").write_text("from .trace import _assert, act\n")
    (package / "trace.py").write_text("from torch import _assert\nfrom torch.nn.functional import gelu as act\n")
    (package / "model.py").write_text("from net import act as other\nfrom . import _assert, act\n\n\ndef f(x):\n    _assert(x.ndim == 2, 'flat')\n    return act(x) + other(x)\n")
    report = convert_path(package, tmp_path / "out" / "net")
    assert not report.diagnostics
    text = (tmp_path / "out" / "net" / "model.py").read_text()
    assert "import jax\n\n\ndef f(x):\n    assert x.ndim == 2, \"flat\"\n" in text
    assert "return jax.nn.gelu(x, approximate=False) + jax.nn.gelu(x, approximate=False)\n" in text


@pytest.mark.parametrize(("statement", "support"), [("from layers import Block", "import"), ("from .layers import Block", "from . import")])
def test_the_support_of_scripts_in_a_folder_with_an_init(tmp_path, statement, support):
    """Files that import one another as those beside the script that is run are no package, whatever lies there."""
    for path, text in {"__init__.py": "", "layers.py": "from torch import nn\n\n\nclass Block(nn.ReLU):\n    pass\n", "train.py": f"import torch\n{statement}\n"}.items():
        (tmp_path / "net" / path).parent.mkdir(exist_ok=True)
        (tmp_path / "net" / path).write_text(text)
    convert_path(tmp_path / "net", tmp_path / "out")
    assert f"{support} jax_nn as nn" in (tmp_path / "out" / "layers.py").read_text()


def test_a_library_converted_itself_hands_on_what_it_has(tmp_path):
    """`kornia` is built on torch, and the project is it; timm is another's, though a file is called as one of its."""
    layer = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.relu()\n"
    for path, text in {
        "kornia/__init__.py": "from kornia.net import Net\nfrom kornia.words import *\n",
        "kornia/net.py": layer,
        "kornia/words.py": "LIMIT = 3\n",
        "models/__init__.py": "",
        "models/layers.py": layer.replace("Net", "DropPath"),
        "models/net.py": "from timm.models.layers import DropPath\nfrom torch import nn\n\n\n"
        "class Own(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.path = DropPath(0.5)\n\n"
        "    def forward(self, x):\n        return self.path(x)\n",
    }.items():
        (tmp_path / "in" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / path).write_text(text)
    assert not convert_path(tmp_path / "in", tmp_path / "out").diagnostics
    assert (tmp_path / "out/kornia/__init__.py").read_text() == "from kornia.net import Net\nfrom kornia.words import *\n"
    assert "def __call__(self, x, *, key=None, training=False)" in (tmp_path / "out/models/net.py").read_text()


def test_verify_says_what_failed_and_where(tmp_path):
    source = tmp_path / "model.py"
    source.write_text("import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.no_such\n")
    done = command("verify", f"{source}::Net", "--inputs", "f32[2]")
    assert done.returncode == 1
    assert "AttributeError: 'Tensor' object has no attribute 'no_such' (model.py:6: return x.no_such)" in done.stderr


def test_verify_copies_closures(tmp_path):
    source = tmp_path / "model.py"
    source.write_text(
        "import torch\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.scale = nn.Parameter(torch.ones(3))\n        me = self\n        self.f = lambda x: x * me.scale\n\n"
        "    def forward(self, x):\n        return torch.exp(x) + self.scale\n"
    )
    module = load(source, "closures", tmp_path).Net()
    copy = copied(module).double()
    assert copy.f(torch.ones(3, dtype=torch.float64)).dtype == torch.float64
    assert module.f(torch.ones(3)).dtype == torch.float32


def test_verify_copies_weights_that_layers_compute():
    module = torch.nn.Sequential(torch.nn.utils.weight_norm(torch.nn.Linear(3, 4)))  # its `weight` has a gradient function, and no deep copy
    copy = copied(module).double()
    x = torch.ones(2, 3, dtype=torch.float64)
    assert torch.allclose(copy(x), module(x.float()).double()) and copy[0].weight_g is not module[0].weight_g
