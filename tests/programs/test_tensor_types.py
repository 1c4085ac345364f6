"""Types of tensors as values, chosen by where the tensors are or by a flag."""

import jax
import numpy as np
import pytest
import torch

from transpile import convert_source

from ..small_programs import HEAD, load

USE = "return b + imgs.type(Tensor), Tensor(imgs.size()).zero_(), Tensor([1.0, 2.0]), b.is_floating_point()"
MADE = "b = Tensor(imgs.shape[0], 1).fill_(1.0)"
PROGRAMS = {
    "of a file": f"cuda = torch.cuda.is_available()\nTensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor\n\n\ndef f(imgs, flag):\n    {MADE}\n    {USE}",
    "in a function": f"def f(imgs, flag):\n    Tensor = torch.FloatTensor if not imgs.is_cuda else torch.cuda.FloatTensor\n    {MADE}\n    {USE}",
    "in branches": f"def f(imgs, flag):\n    if imgs.shape[0] > 100:\n        Tensor = torch.cuda.LongTensor\n    else:\n        Tensor = torch.LongTensor\n    {MADE}\n    {USE}",
    "of two dtypes": f"def f(imgs, flag):\n    Tensor = torch.HalfTensor if flag else torch.FloatTensor\n    {MADE}\n    {USE}",
    "of the default": f"def f(imgs, flag):\n    Tensor = torch.LongTensor if flag else torch.Tensor\n    {MADE}\n    {USE.replace('imgs.type(Tensor)', 'imgs')}",
    "on an attribute": f"class M(nn.Module):\n    def __init__(self, flag):\n        super().__init__()\n        self.kind = torch.cuda.FloatTensor if flag is None else torch.FloatTensor\n\n    def forward(self, imgs):\n        Tensor = self.kind\n        b = self.kind(imgs.shape[0], 1).fill_(1.0)\n        {USE}\n\n\ndef f(imgs, flag):\n    return M(flag)(imgs)",
}  # fmt: skip


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_type_that_is_chosen(name, flag):
    source = HEAD + PROGRAMS[name] + "\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    imgs = torch.randn(3, 2)
    jax_f = load(result)["f"]
    got, want = jax.jit(lambda x: jax_f(x, flag))(imgs.numpy()), scope["f"](imgs, flag)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-3, err_msg=result.code)
