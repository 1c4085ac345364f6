"""Blocks that only choose kernels go, and a choice between no_grad and nothing is a flag: values and gradients are torch's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source

from ..small_programs import HEAD, both

IMPORTS = "import contextlib\nfrom contextlib import nullcontext\nfrom functools import partial\n\nfrom torch.nn.attention import SDPBackend, sdpa_kernel\n\n\n"
pytestmark = pytest.mark.usefixtures("wide")

NEUTRAL = {
    "sdpa_kernel": "def f(x, y):\n    with sdpa_kernel([SDPBackend.MATH]):\n        return x * y",
    "sdp_kernel": "def f(x, y):\n    with torch.backends.cuda.sdp_kernel(enable_math=False):\n        z = x * y\n    return z",
    "beside another": "@contextlib.contextmanager\ndef nothing():\n    yield\n\n\ndef f(x, y):\n    with torch.autograd.profiler.record_function('z'), nothing():\n        z = x * y\n    return z",
    "kept in the file": "try:\n    autocast = torch.cuda.amp.autocast\nexcept AttributeError:\n    class autocast:\n        def __init__(self, enabled):\n            pass\n\n        def __enter__(self):\n            pass\n\n        def __exit__(self, *args):\n            pass\n\n\ndef f(x, y):\n    with autocast(enabled=False):\n        z = x * y\n    return z",
    "local": "def f(x, y):\n    context = torch.autocast('cpu', enabled=False) if len(x) > 3 else nullcontext()\n    with context:\n        z = x * y\n    return z",
    "partial of a method": "class M(nn.Module):\n    def __init__(self, flash):\n        super().__init__()\n        backends = [SDPBackend.MATH] if flash else [SDPBackend.FLASH_ATTENTION]\n        self.attend = partial(sdpa_kernel, backends)\n\n    def forward(self, x, y):\n        with self.attend():\n            z = x * y\n        return z\n\n\ndef f(x, y):\n    return M(True)(x, y)",
}


def gradients(body, *flags):
    """torch's and JAX's gradients for both arguments."""
    torch_f, jax_f, code = both(body)
    x, y = torch.randn(2, 4, 3, dtype=torch.float64)
    x, y = x.requires_grad_(), y.requires_grad_()
    want = torch.autograd.grad((torch_f(x, y, *flags) * x).sum(), (x, y), allow_unused=True)
    arrays = [jnp.asarray(t.detach().numpy()) for t in (x, y)]
    got = jax.grad(lambda x, y: (jax_f(x, y, *flags) * x).sum(), (0, 1))(*arrays)
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, np.zeros(g.shape) if w is None else w, 1e-9, 1e-9, err_msg=code)
    return code


@pytest.mark.parametrize("name", NEUTRAL)
def test_blocks_that_change_no_value(name):
    code = gradients(IMPORTS + NEUTRAL[name])
    assert "unconverted" not in code and ("with " not in code or name == "beside another")
    assert "autocast" not in code and "attend" not in code


def test_blocks_of_a_device():
    code = convert_source(HEAD + "def f(x, y):\n    with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.nvtx.range('a'):\n        z = x * y\n    return z").code
    assert code.endswith("def f(x, y):\n    z = x * y\n    return z")


HALF = {
    "a block": ("def f(x, y):\n    with torch.autocast('cuda', dtype=torch.bfloat16):\n        z = x * y\n    return z", 1),
    "a decorator": ("@torch.cuda.amp.autocast()\ndef f(x, y):\n    return x * y", 1),
    "off": ("def f(x, y):\n    with torch.cuda.amp.autocast(enabled=False), torch.cuda.amp.autocast(False):\n        z = x * y\n    return z", 0),
}


@pytest.mark.parametrize("name", HALF)
def test_half_precision_is_reported(name):
    body, times = HALF[name]
    result = convert_source(HEAD + body)
    assert [d.id for d in result.diagnostics] == ["taken-for-granted"] * times and "autocast" not in result.code, (result.diagnostics, result.code)


CHOICES = {
    "called": "context = torch.no_grad if frozen else nullcontext\nwith context():\n    z = x * y\nreturn z",
    "made": "context = torch.enable_grad() if not frozen else torch.no_grad()\nwith context:\n    z = x * y\nreturn z",
    "in place": "with torch.no_grad() if frozen else contextlib.nullcontext():\n    z = x * y\nreturn z",
    "the other way": "context = nullcontext if not frozen else torch.inference_mode\nw = x * 2\nwith context():\n    z = x * y\nreturn z + w",
    "twice": "context = torch.no_grad if frozen else nullcontext\nwith context():\n    z = x * y\nwith context():\n    w = z * y\nreturn z + w",
    "always": "context = torch.no_grad\nwith context():\n    z = x * y\nreturn z + x",
}


def program(name):
    return IMPORTS + "def f(x, y, frozen=False):\n" + "".join(f"    {line}\n" for line in CHOICES[name].splitlines())


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_of_no_grad(name, frozen):
    if name == "the other way" and frozen:
        assert "nn.with_gradient(not frozen" in convert_source(HEAD + program(name)).code  # torch cannot differentiate what inference_mode made
        return
    code = gradients(program(name), frozen)
    assert "context =" not in code and "with " not in code


REFUSED = {
    "the condition changes": "context = torch.no_grad if frozen else nullcontext\nfrozen = not frozen\nwith context():\n    z = x * y\nreturn z",
    "two contexts": "context = nullcontext\nif frozen:\n    context = torch.no_grad\nwith context():\n    z = x * y\nreturn z",
    "gradients that may be switched on": "context = torch.enable_grad if frozen else nullcontext\nwith torch.no_grad():\n    with context():\n        z = x * y\nreturn z",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused(name):
    lines = "".join(f"    {line}\n" for line in REFUSED[name].splitlines())
    assert "no-rule" in {d.id for d in convert_source(HEAD + IMPORTS + "def f(x, y, frozen=False):\n" + lines).diagnostics}
