"""One line of torch, one line of JAX."""

import pytest

from tests.passes.operations_helper import line
from tests.test_lines import LINES


@pytest.mark.parametrize(("torch_line", "jax_line"), LINES, ids=[row[0] for row in LINES])
def test_line(torch_line, jax_line):
    # what is written in place is functional by now
    assert line(torch_line.replace(".triu_(", ".triu(")) == (jax_line, [])
