"""torch.jit.isinstance looks into containers, under jit too."""

import jax
import jax.numpy as jnp
import pytest
import torch

from transpile import convert_source

from .small_programs import load

TYPES = ["torch.Tensor", "int", "List[torch.Tensor]", "List[List[int]]", "Dict[str, torch.Tensor]", "Tuple[int, torch.Tensor]", "Optional[torch.Tensor]", "(int, List[int])"]
T = torch.ones(2)
VALUES = [T, 3, None, [T], [T, 1], [[1], [2]], [[1], [T]], {"a": T}, {1: T}, {"a": 1}, (1, T), (1, T, T), [1, 2]]


@pytest.mark.parametrize("kind", TYPES)
def test_as_torch_answers(kind):
    source = f"import torch\nfrom typing import Dict, List, Optional, Tuple\n\n\ndef f(v, x):\n    if torch.jit.isinstance(v, {kind}):\n        return x + 1\n    return x\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    jax_f = load(result)["f"]
    for value in VALUES:
        arrays = jax.tree.map(lambda leaf: jnp.ones(2) if isinstance(leaf, torch.Tensor) else leaf, value)
        got = jax.jit(lambda x, arrays=arrays: jax_f(jax.tree.map(lambda leaf: leaf * x if isinstance(leaf, jax.Array) else leaf, arrays), x))(0.0)
        assert got == scope["f"](value, 0.0), (kind, value, result.code)
