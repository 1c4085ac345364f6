"""Conditions that only torch's world leaves open are gone from the output; the user's own stay."""

import pytest

from transpile import convert_source

from ..small_programs import compare, reported, three

pytestmark = pytest.mark.usefixtures("wide")

HEAD = "import torch\nimport torch.nn.functional as F\n\nFAST = False\n\n\ndef f(x):\n"

# body of `def f(x)` -> body that is expected
BODIES = {
    "one way": ("if x.is_cuda:\n    x = fused(x)\nreturn x + 1", "return x + 1"),
    "the other way": ("if not torch.cuda.is_available():\n    return x\nelse:\n    return fused(x)", "return x"),
    "a chain": (
        "if torch.jit.is_scripting():\n    return x\nelif x.device.type == 'cuda':\n    return fused(x)\nelif x.dim() > 2:\n    return x * 2\nelse:\n    return x",
        "if x.ndim > 2:\n    return x * 2\nelse:\n    return x",
    ),
    "a side of and": ("if FAST and not torch.onnx.is_in_onnx_export():\n    x = x + 1\nreturn x", "if FAST:\n    x = x + 1\nreturn x"),
    "a side of or": ("return x.sum() if x.is_cuda or x.dim() > 1 else x", "return x.sum() if x.ndim > 1 else x"),
    "a choice in a product": ("return x * (x.shape[0] + 1 if not x.is_cuda else 2)", "return x * (x.shape[0] + 1)"),
    "two devices": ("if x.device != (x + 1).device:\n    x = x.to('cpu')\nif str(x.device) == str(x.T.device):\n    x = x + 1\nreturn x", "x = x + 1\nreturn x"),
    "a flag": ("flag = not FAST and torch.cuda.is_available()\nother = x.is_cuda and FAST\nkept = FAST and x.is_cuda\nreturn x, flag, other, kept", "flag = False\nother = False\nkept = FAST and False\nreturn x, flag, other, kept"),
    "asserted": ("assert torch.cuda.is_available(), 'train on a GPU'\nassert(x.is_cuda and FAST)\nassert FAST\nassert torch.is_tensor(x)\nreturn x", "assert FAST\nassert isinstance(x, jax.Array)\nreturn x"),
    "a device of its own": ("device = torch.device('cuda')\nif device.type == torch.device('cuda:0').type and not torch.cuda.is_available():\n    x = x + 1\nif device.type == 'cuda':\n    x = x * 2\nreturn x.to(device)", "x = x + 1\nreturn x"),
    "devices": ("if torch.cuda.device_count() > 1:\n    x = x * 2\nreturn x", "return x"),
    "a type by device": ("T = torch.cuda.LongTensor if x.is_cuda else torch.LongTensor\nreturn x.type(T)", "T = jax.Array\nreturn x.astype(int)"),
    "hasattr": ("if hasattr(F, 'gelu'):\n    return x + 1\nreturn x", "return x + 1"),
    "hasattr of what is not there": ("if hasattr(torch, 'no_such'):\n    return torch.no_such(x)\nreturn x", "return x"),
    "versions": ("if torch.__version__ >= '2.4':\n    x = x + 1\nif torch.__version__ < '1.10':\n    x = x + 2\nreturn x * (3 if version.parse(torch.__version__) > version.parse('1.5.0') else 4)", "x = x + 1\nreturn x * 3"),
    "a dtype": ("if torch.is_complex(x):\n    x = x.real\nreturn x", "if jnp.iscomplexobj(x):\n    x = x.real\nreturn x"),
    "what only that way sets": ("if x.is_cuda:\n    y = x + 1\nif x.is_cuda:\n    x = x.cuda()\n    z = 1\nreturn y * x", "y = x + 1\nreturn y * x"),
    "what only that way sets first": ("if x.is_cuda:\n    y = x + 1\ny[:, 0] = 2.0\ny = y * 2\nreturn y", "y = x + 1\ny = y.at[:, 0].set(2.0)\ny = y * 2\nreturn y"),
    "what was set before on some way": ("if FAST:\n    y = x\nif x.is_cuda:\n    y = x + 1\nreturn y * x", "if FAST:\n    y = x\nreturn y * x"),
    "nothing is left": ("if x.is_cuda:\n    x = x.cuda()\nelse:\n    pass\nreturn x", "return x"),
    "marks that nothing asks for": ("x = x + 1\nx.require_grad = False\nx.seen = True\nreturn x if x.seen else x * 2", "x = x + 1\nx.seen = True\nreturn x if x.seen else x * 2"),
    "constants of the user's": ("if FAST:\n    return x + 1\nif False:\n    return x + 2\nreturn x", "if FAST:\n    return x + 1\nif False:\n    return x + 2\nreturn x"),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_what_is_left(name):
    body, expected = BODIES[name]
    result = convert_source(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    assert not result.diagnostics
    found = result.code.partition("def f(x):\n")[2]
    assert found == "".join(f"    {line}\n" for line in expected.splitlines())


GRADIENTS = {
    "straight through": "x = x * 2\nz = x.round()\nif x.requires_grad:\n    z = x + (z - x).detach()\nreturn z * y",
    "detached": "x = x * 2\nif not x.requires_grad:\n    x = x.detach()\nreturn x * y",
    "gradients on": "if torch.is_grad_enabled():\n    x = x * 2\nreturn x * y",
    "a choice": "x = x * 2\nreturn (x if x.requires_grad else x.detach()) * y",
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_any_tensor_may_be_differentiated(name):
    compare(GRADIENTS[name], three(), ["taken-for-granted"])


CHECKS = {
    "asserted": "n = torch.ones(6)\nassert not n.requires_grad\nassert not n.requires_grad, 'a constant'\nassert n.requires_grad == False\nreturn x * n + y",
    "raised": "n = torch.ones(6)\nif n.requires_grad:\n    raise ValueError\nreturn x * n + y",
    "gradients that torch keeps": "z = x * y\nif z.requires_grad and z.grad is not None:\n    z.grad.zero_()\nif z.requires_grad:\n    z.retain_grad()\nreturn z",
    "of integers": "i = x > 0\nif i.requires_grad:\n    return y\nreturn x * i",
}


@pytest.mark.parametrize("name", CHECKS)
def test_checks_of_gradients_go(name):
    compare(CHECKS[name], three())


def test_hooks_are_refused():
    assert reported("z = x * y\nif z.requires_grad:\n    z.register_hook(lambda g: g * 0.1)\nreturn z") == {"hook", "taken-for-granted"}
