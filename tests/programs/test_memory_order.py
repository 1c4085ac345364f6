"""What torch reads by its place in memory, and sparse tensors: converted, and said to be so."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from rules import sparse, strides
from transpile import convert_source

# shape, then size, stride and offset of the view
VIEWS = [
    ((6,), (2, 2), (1, 2), None),
    ((2, 3), (4, 3), (1, 1), None),  # windows that overlap
    ((2, 3, 4), (3,), (5,), 7),
    ((3,), (), (), 1),
    ((4, 4), (4,), (5,), 0),  # a diagonal
    ((3,), (2, 5), (1, 0), 0),  # a row that is repeated
    ((3,), (0, 2), (7, 7), 0),
]


@pytest.mark.parametrize(("shape", "size", "stride", "offset"), VIEWS)
def test_as_strided(shape, size, stride, offset):
    x = np.random.RandomState(0).randn(*shape)
    want = torch.tensor(x).as_strided(size, stride, offset)
    np.testing.assert_array_equal(strides.as_strided(jnp.asarray(x), size, stride, offset), want.float())


def test_as_strided_scatter():
    x, src = np.zeros((3, 4), np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)
    want = torch.as_strided_scatter(torch.tensor(x), torch.tensor(src), (2, 3), (5, 1), 1)
    np.testing.assert_array_equal(strides.as_strided_scatter(jnp.asarray(x), jnp.asarray(src), (2, 3), (5, 1), 1), want)


def test_places_beyond_the_end_are_refused():
    with pytest.raises(ValueError, match="reaches place 6 of 6"):
        strides.as_strided(jnp.zeros(6), (2, 2), (3, 3))


def test_strides():
    for shape in ((), (5,), (2, 3, 4), (2, 1, 4)):
        assert strides.stride(jnp.zeros(shape)) == torch.zeros(shape).stride()
    assert strides.stride(jnp.zeros((2, 3, 4)), -2) == 4


@pytest.mark.parametrize("values", [[1.0, 2, 3], [[1.0, 2], [3, 4], [5, 6]]])
def test_sparse_coo_tensor(values):
    indices = [[0, 1, 0], [2, 0, 2]]  # one place is there twice
    size = (2, 3, *np.shape(values)[1:])
    want = torch.sparse_coo_tensor(indices, values, size).to_dense()
    np.testing.assert_array_equal(sparse.sparse_coo_tensor(indices, values, size), want)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x.as_strided((2, 2), (1, 2))", "as if it were contiguous"),
        ("x.stride(0)", "row-major order"),
        ("x.to_sparse()", "must fit in memory"),
    ],
)
def test_what_is_taken_for_granted_is_reported_at_its_line(line, message):
    result = convert_source(f"import torch\n\n\ndef f(x: torch.Tensor):\n    y = x + 1\n    return {line}, y\n")
    (found,) = result.diagnostics
    assert (found.id, found.line) == ("taken-for-granted", 6) and message in found.message
    assert "unconverted" not in result.code
