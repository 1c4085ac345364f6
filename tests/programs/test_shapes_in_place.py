"""What gives a tensor another shape in place leaves its elements where they are: names for parts of its memory keep their shape."""

import pytest

from tests.small_programs import compare, reported, three

PROGRAMS = {
    "a view of what is transposed": "z = x * 1\nw = z[0]\nz.t_()\nreturn z, w * y[0]",
    "another name for what is transposed": "z = x * 1\nv, w = z, z[0]\nz.t_()\nreturn z, v, w",
    "a view that is reshaped": "w = x[0]\nw.unsqueeze_(0)\nreturn x * y, w",
    "a view without a name": "z = x * 1\nw = z[1].unsqueeze_(0).add_(1)\nv = z.view(4, 1, 6).squeeze_(1).transpose_(0, 1)\nreturn z * y, w, v",
    "then written": "z = x * 1\nz.unsqueeze_(1).mul_(y.unsqueeze(1))\nz.squeeze_(1)\nz[0] = 1.0\nreturn z",
    "in a loop": "z = x * 1\nfor i in range(3):\n    z.t_()\n    z.mul_(2)\nreturn z",
    "fewer elements": "z = x * y\na, b = z.detach().clone(), z.detach().clone()\na.resize_(2, 3)\nb.resize_((4, 3)).mul_(2)\nreturn a, b, z, z.detach().unsqueeze_(0)",
    "of an empty one": "z = torch.empty(0, dtype=x.dtype)\nz.resize_(x.shape).copy_(x)\nw = torch.empty(0, dtype=x.dtype)\nw.resize_as_(y)\nw.fill_(2.0)\nreturn z * w",
    "by the function": "z = torch.zeros(3)\nw = torch.resize_as_(z, y[:1, :2])\nreturn x * 1, w + 1",
}  # fmt: skip

REFUSED = {
    "a view of what was transposed is written": "z = x * 1\nw = z[0]\nz.t_()\nw.add_(1)\nreturn z, w",
    "what was transposed is written": "z = x * 1\nw = z[0]\nz.t_()\nz.add_(1)\nreturn z, w",
    "the data alone": "z = x * 1\nz.data.resize_(2, 3)\nreturn z",
    "written in the same statement": "z = x * 1\nw = z[0]\nz.unsqueeze_(0).add_(1)\nreturn z, w",
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name], three())


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_have_to_follow_is_refused(name):
    assert reported(REFUSED[name]) == {"aliased-write"}


def test_the_order_in_memory_is_reported():
    assert reported("z = x.t()\nz.resize_(2, 3)\nreturn z") == {"taken-for-granted"}


def test_a_buffer():
    source = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('low', torch.zeros(0))\n"
    source += "    def forward(self, x):\n        low = x.amin(0)\n        self.low.resize_(low.shape)\n        self.low.copy_(low)\n        return x - self.low\n"
    assert reported("def f(x):\n    return x\n\n\n" + source) == set()
