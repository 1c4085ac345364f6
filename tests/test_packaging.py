"""What is shipped: the wheel works where torch and jax are not, the bare checkout works, and the declared packages are the tree's."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
TORCH = "import torch\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 3)\n\n    def forward(self, x):\n        return torch.exp(self.fc(x))\n"

# What runs the installed command with everything missing that converting must not need.
COMMAND = """
import sys
for name in ("torch", "jax", "numpy", "flax", "equinox", "optax", "safetensors"):
    sys.modules[name] = None
sys.path.insert(0, sys.argv.pop(1))
import transpile
assert transpile.__file__.startswith(sys.path[0]), transpile.__file__
from transpile.command.cli import main
main()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, with the setuptools that is here: needs no network, and leaves nothing in the checkout."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in ("transpile", "rules"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, copy)
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(out)!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    target = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def test_the_wheel_holds_the_tree(wheel):
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}
    engine = {p.relative_to(ROOT).as_posix() for p in (ROOT / "transpile").rglob("*.py")}
    rules = {"transpile/" + p.relative_to(ROOT).as_posix() for p in (ROOT / "rules").rglob("*.py")}
    assert shipped == engine | rules | {"transpile/py.typed"}


def test_the_wheel_names_its_command(installed):
    (entry_points,) = installed.glob("*.dist-info/entry_points.txt")
    assert "torch-to-jax = transpile.command.cli:main" in entry_points.read_text()


def test_the_wheel_converts_without_torch_and_jax(installed, tmp_path):
    (tmp_path / "net.py").write_text(TORCH)
    arguments = [str(installed), "convert", "net.py", "-o", "out/net.py"]
    done = subprocess.run([sys.executable, "-I", "-c", COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'jnp.exp(self.fc(params["fc"], x))' in (tmp_path / "out" / "net.py").read_text()
    assert "class Linear(" in (tmp_path / "out" / "jax_nn.py").read_text()


def test_a_bare_checkout_converts(tmp_path):
    (tmp_path / "net.py").write_text(TORCH)
    command = [sys.executable, str(ROOT / "cli.py"), "convert", "net.py", "-o", "out/net.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'jnp.exp(self.fc(params["fc"], x))' in (tmp_path / "out" / "net.py").read_text()


def test_declared_packages_are_those_of_the_tree():
    engine = {".".join(p.parent.relative_to(ROOT).parts) for p in (ROOT / "transpile").rglob("__init__.py")}
    rules = {".".join(["transpile", *p.parent.relative_to(ROOT).parts]) for p in (ROOT / "rules").rglob("*.py")}
    assert set(SETUPTOOLS["packages"]) == engine | rules
    for package in SETUPTOOLS["packages"]:
        directory = SETUPTOOLS["package-dir"][package]
        assert list((ROOT / directory).glob("*.py")), f"{package} is declared to be in {directory}"
