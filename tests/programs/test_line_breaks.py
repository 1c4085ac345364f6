"""What is over several lines in brackets stays one expression when the brackets go."""

import numpy as np
import pytest
import torch

from ..small_programs import both

BROKEN = {
    "behind an operator": "x.add_(y *\n       2)",
    "before an operator": "x.mul_(y\n+ 2)",
    "in the text of another": "x.add_(x if y.shape[0] > 1\n       else y)",
    "with a comment": "x.add_(y *  # twice\n       2)",
    "in the head of a loop": "for i in (range(\n        2)):\n    x.add_(y -\n           i)",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_line_break_keeps_brackets(name):
    torch_f, jax_f, _ = both("def f(x, y):\n    x = x * 1\n    " + BROKEN[name].replace("\n", "\n    ") + "\n    return x")
    x, y = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    np.testing.assert_allclose(jax_f(x, y), torch_f(torch.tensor(x), torch.tensor(y)).numpy())
