"""A slice of torch's own OpInfo samples through the converter: values and gradients in float64."""

import ast

import pytest
from torch.testing._internal.common_methods_invocations import op_db

from benchmarks.opinfo import measure
from transpile.model import rule_files

from .against_torch import float64

# every sample of these is right, those of 0-dim tensors too
OPERATIONS = [
    "amin",
    "arange",
    "any",
    "cartesian_prod",
    "count_nonzero",
    "gather",
    "index_fill",
    "linalg.cholesky_ex",
    "masked.cumsum",
    "nanquantile",
    "nansum",
    "nn.functional.binary_cross_entropy",
    "nn.functional.gelu",
    "nn.functional.layer_norm",
    "scatter_reduce",
    "special.chebyshev_polynomial_t",
    "std",
]
FOUND = {op.name: op for op in op_db if op.name in OPERATIONS}


@pytest.mark.parametrize("name", OPERATIONS)
def test_values_and_gradients(name):
    with float64():
        values, gradients = measure(FOUND[name], "float64", limit=2)
    assert dict(values.count) == {"right": values.count.total()} and values.count, values.example
    assert set(gradients.count) <= {"right"}, gradients.example
    assert gradients.count or not FOUND[name].supports_autograd


def test_rules_call_each_other_without_dropped_parameters():
    """A rule that is copied to jax_nn.py loses the parameters it does not use, which no other rule may then pass."""
    book = rule_files.load()
    for caller in book.definitions.values():
        for call in (n for n in ast.walk(caller.node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)):
            rule = book.definitions.get(call.func.id)
            if rule is None or not isinstance(rule.node, ast.FunctionDef):
                continue
            passed = {p.name for p, _ in zip(rule.parameters, call.args)} | {k.arg for k in call.keywords}
            assert not passed & rule.unused, f"{caller.name} calls {ast.unparse(call)}"
