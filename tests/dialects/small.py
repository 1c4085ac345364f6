"""Small programs: those of `beside_torch/` by their names, and what stands above those that tests hold."""

from pathlib import Path

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
TARGETS = ("flax", "equinox", "functional")
FOLDER = Path(__file__).parent / "beside_torch"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py"))


def program(name: str) -> str:
    return (FOLDER / f"{name}.py").read_text()


def alone(name: str) -> str:
    """A program without what it imports of torch."""
    text = program(name)
    for line in HEAD.splitlines():
        text = text.replace(f"{line}\n", "", 1) if line else text
    return "\n" + text.lstrip("\n")
