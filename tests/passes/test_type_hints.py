"""Torch's types in type hints: a table of headers, before and after."""

from pathlib import PurePosixPath
from types import SimpleNamespace

import pytest

from transpile.command.engine import torch_layers
from transpile.facts.modules import Modules
from transpile.model.effects import Support
from transpile.model.expressions import Name
from transpile.model.project import Project
from transpile.passes import type_hints
from transpile.passes.pass_ import Changes
from transpile.source.lower import lower
from transpile.source.splice import write

IMPORTS = "import torch\nfrom torch import nn, Tensor\n"
HINTS = {
    "def f(x: torch.Tensor) -> Tensor: ...": "def f(x: jax.Array) -> jax.Array: ...",
    "def f(x: 'Tensor'): ...": "def f(x: jax.Array): ...",
    "def f(x: Optional[Tensor] = None): ...": "def f(x: Optional[jax.Array] = None): ...",
    "def f(x: list[tuple[Tensor, int]]): ...": "def f(x: list[tuple[jax.Array, int]]): ...",
    "def f(m: nn.Module, s: nn.Sequential): ...": "def f(m: Module, s: Sequential): ...",
    "def f(d: torch.dtype, w: nn.Parameter): ...": "def f(d: jnp.dtype, w: jax.Array): ...",
    "def f(o: torch.optim.Adam, x: int = 3): ...": "def f(o, x: int = 3): ...",
    "def f(x) -> torch.optim.Adam: ...": 'def f(x) -> "torch.optim.Adam": ...',
    "y: Tensor = f()": "y: jax.Array = f()",
    "class A:\n    kind: torch.dtype": "class A:\n    kind: jnp.dtype",
    "def f(x: Net, y: int, z: 'a b'): ...": "def f(x: Net, y: int, z: 'a b'): ...",
}


@pytest.mark.parametrize("line", HINTS)
def test_hints(line):
    project = Project()
    file = project.add(PurePosixPath("m.py"), lower(IMPORTS + line, PurePosixPath("m.py")))
    project.link()
    facts = SimpleNamespace(modules=Modules(project, torch_layers()))
    for scope in list(file.scopes()):
        changes: Changes = type_hints.run(scope, facts)
        changes.commit()
    for node in list(file.walk()):
        if isinstance(node, Support):
            node.replace(Name(node.name))
    assert write(file).removeprefix(IMPORTS) == HINTS[line]
