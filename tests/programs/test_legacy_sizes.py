"""torch.Tensor(shape) is zeros of a tensor's shape, and holds the numbers of any other."""

import numpy as np
import pytest
import torch

from tests.small_programs import both, compare, three

PROGRAMS = {
    "of tensors": "s = x.shape\nreturn torch.Tensor(s).zero_() + torch.Tensor(x.size()).fill_(1) + x.new(y.shape).zero_() + y, torch.Tensor(x.shape[:1]).zero_()",
    "of an empty tensor": "a = x.data.new().resize_((x.size(0), 1)).fill_(2)\nb = torch.zeros(0).new().resize_as_(y.data).zero_()\nreturn x * a + y.new().resize_(*y.size()).fill_(1), b",
    "of NumPy's arrays": "import numpy as np\n\n\ndef f(x, y):\n    a = np.zeros((4, 6))\n    s = a.shape\n    return x[0, :2] * torch.Tensor(a.shape).to(x.dtype) + torch.DoubleTensor(s), x.new(a.shape)",
}  # fmt: skip


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name], three())


class _Owner:
    shape = (2, 3)


@pytest.mark.parametrize("call", ["torch.Tensor(e.action_space.shape)", "torch.FloatTensor(e.action_space.shape)"])
def test_of_a_space(call):
    want, got, code = both(f"def f(e):\n    return {call}", ["taken-for-granted"])
    env = _Owner()
    env.action_space = _Owner()
    np.testing.assert_array_equal(got(env), want(env), err_msg=code)


def test_of_what_is_not_known_it_is_reported():
    _, got, _ = both("def f(e):\n    return torch.Tensor(e.weight.shape)", ["taken-for-granted"])
    env = _Owner()
    env.weight = torch.ones(2, 3)
    assert got(env).shape == (2, 3)
