"""What only torch's world leaves open is gone, and the user's own stays."""

import textwrap

import pytest

from tests.passes.solved import IMPORTS, run
from transpile.passes import detach, fold

HEAD = (
    "from contextlib import nullcontext\n"
    "from torch.nn.attention import SDPBackend, sdpa_kernel\n"
    "from packaging import version\n" + IMPORTS + "\nFAST = False\n\n\n"
)


def after(source, *passes):
    code, diagnostics = run(HEAD + source, *(passes or (fold.run,)))
    assert code.startswith(HEAD)
    return code.removeprefix(HEAD).rstrip() + "\n", [d.id for d in diagnostics]


def body(text, parameters="x: torch.Tensor"):
    return f"def f({parameters}):\n" + textwrap.indent(text, "    ") + "\n"


# body of `def f(x)` -> what is expected
BODIES = {
    "one way": ("if x.is_cuda:\n    x = fused(x)\nreturn x + 1", "return x + 1"),
    "the other way": (
        "if not torch.cuda.is_available():\n    return x\nelse:\n    return fused(x)",
        "return x",
    ),
    "what is never reached": (
        "if hasattr(F, 'gelu'):\n    # fast\n    return x + 1\nx = x * 2\nreturn x",
        "# fast\nreturn x + 1",
    ),
    "what kernels ask of their memory": (
        "if x.stride(-1) != 1:\n    x = x.contiguous()\nassert x.stride(dim=-1) == 1\nif x.stride(0) != 1:\n    x = x + 1\nreturn x",
        "if x.stride(0) != 1:\n    x = x + 1\nreturn x",
    ),
    "a chain": (
        "if torch.jit.is_scripting():\n    return x\nelif x.device.type == 'cuda':\n    return fused(x)\nelif x.dim() > 2:\n    # dims\n    return x * 2\nelse:\n    return x",
        "if x.dim() > 2:\n    # dims\n    return x * 2\nelse:\n    return x",
    ),
    "sent to the other processes": (
        "import flashy\nflashy.distrib.broadcast_tensors(x.unbind(0))\nreturn x",
        "import flashy\nreturn x",
    ),
    "sent, and made for that": (
        "import flashy\nflashy.distrib.broadcast_tensors(made(x))\nreturn x",
        "import flashy\nflashy.distrib.broadcast_tensors(made(x))\nreturn x",
    ),
    "in a chain": (
        "if x.dim() > 2:\n    y = x\nelif x.is_cuda:\n    y = fused(x)\nelif x.dim() > 1:\n    y = x * 2\nelse:\n    y = x\nreturn y",
        "if x.dim() > 2:\n    y = x\nelif x.dim() > 1:\n    y = x * 2\nelse:\n    y = x\nreturn y",
    ),
    "last of a chain": (
        "y = 1\nif x.dim() > 2:\n    y = x\nelif x.is_cuda:\n    y = fused(x)\nreturn y",
        "y = 1\nif x.dim() > 2:\n    y = x\nreturn y",
    ),
    "the rest of a chain": (
        "if x.dim() > 2:\n    y = x\nelif not x.is_cuda:\n    y = x + 1\nelse:\n    y = x\nreturn y",
        "if x.dim() > 2:\n    y = x\nelse:\n    y = x + 1\nreturn y",
    ),
    "else of a chain": (
        "if x.dim() > 2:\n    y = x\nelif x.is_cuda:\n    y = x + 1\nelse:  # others\n    y = x\nreturn y",
        "if x.dim() > 2:\n    y = x\nelse:  # others\n    y = x\nreturn y",
    ),
    "a side of and": (
        "if FAST and not torch.onnx.is_in_onnx_export():\n    x = x + 1\nreturn x",
        "if FAST:\n    x = x + 1\nreturn x",
    ),
    "a side of or": (
        "return x.sum() if x.is_cuda or x.dim() > 1 else x",
        "return x.sum() if x.dim() > 1 else x",
    ),
    "in a side": (
        "if FAST and (x.is_cuda or x.dim() > 1):\n    x = x + 1\nreturn x",
        "if FAST and x.dim() > 1:\n    x = x + 1\nreturn x",
    ),
    "a choice in a product": (
        "return x * (x.shape[0] + 1 if not x.is_cuda else 2)",
        "return x * (x.shape[0] + 1)",
    ),
    "two devices": (
        "if x.device != (x + 1).device:\n    x = x.to('cpu')\nif str(x.device) == str(x.T.device):\n    x = x + 1\nreturn x",
        "x = x + 1\nreturn x",
    ),
    "a flag": (
        "flag = not FAST and torch.cuda.is_available()\nother = x.is_cuda and FAST\nkept = FAST and x.is_cuda\nreturn x, flag, other, kept",
        "flag = False\nother = False\nkept = FAST and x.is_cuda\nreturn x, flag, other, kept",
    ),
    "asserted": (
        "assert torch.cuda.is_available(), 'train on a GPU'\nassert(x.is_cuda and FAST)\nassert FAST\nreturn x",
        "assert FAST\nreturn x",
    ),
    "devices": ("if torch.cuda.device_count() > 1:\n    x = x * 2\nreturn x", "return x"),
    "hasattr of what is not there": (
        "if hasattr(torch, 'no_such'):\n    return torch.no_such(x)\nreturn x",
        "return x",
    ),
    "versions": (
        "if torch.__version__ >= '2.4':\n    x = x + 1\nif torch.__version__ < '1.10':\n    x = x + 2\nreturn x * (3 if version.parse(torch.__version__) > version.parse('1.5.0') else 4)",
        "x = x + 1\nreturn x * 3",
    ),
    "what only that way sets": (
        "if x.is_cuda:\n    y = x + 1\nif x.is_cuda:\n    x = x.cuda()\n    z = 1\nreturn y * x",
        "y = x + 1\nreturn y * x",
    ),
    "what was set before on some way": (
        "if FAST:\n    y = x\nif x.is_cuda:\n    y = x + 1\nreturn y * x",
        "if FAST:\n    y = x\nreturn y * x",
    ),
    "nothing is left": ("if x.is_cuda:\n    x = x.cuda()\nelse:\n    pass\nreturn x", "return x"),
    "nothing is left of a loop": (
        "for i in range(3):\n    if x.is_cuda:\n        x = x.cuda()\nreturn x",
        "for i in range(3):\n    pass\nreturn x",
    ),
    "constants of the user's": (
        "if FAST:\n    return x + 1\nif False:\n    return x + 2\nreturn x",
        "if FAST:\n    return x + 1\nif False:\n    return x + 2\nreturn x",
    ),
    "checks of gradients": (
        "assert not x.requires_grad\nassert x.requires_grad == False\nif x.requires_grad:\n    raise ValueError\nif x.requires_grad and x.grad is not None:\n    x.grad.zero_()\nreturn x",
        "return x",
    ),
    "comments": (
        "# above\nif not x.is_cuda:\n    # first\n    y = x  # behind\n    # last\n# after\nreturn y",
        "# above\n# first\ny = x  # behind\n# last\n# after\nreturn y",
    ),
    "deleted": (
        "y = x + 1\nz = y * 2\ndel y\ndel x, zs[0]\nreturn z",
        "y = x + 1\nz = y * 2\ndel zs[0]\nreturn z",
    ),
    "what is not trained": (
        "z = torch.ones(3)\nz.requires_grad = False\nfor n in x:\n    n.requires_grad = True\nreturn x * z",
        "z = torch.ones(3)\nfor n in x:\n    pass\nreturn x * z",
    ),
    "settings": ("torch.backends.cudnn.benchmark = True\nreturn x", "return x"),
    "kernels": (
        "with sdpa_kernel([SDPBackend.MATH]):\n    return x * 2",
        "return x * 2",
    ),
    "profilers": (
        "with torch.autograd.profiler.record_function('z'), open('a') as f:\n    z = x * 2\nreturn z",
        "with open('a') as f:\n    z = x * 2\nreturn z",
    ),
    "streams": (
        "with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.nvtx.range('a'):\n    z = x\nreturn z",
        "z = x\nreturn z",
    ),
    "nothing": (
        "context = torch.autocast('cpu', enabled=False) if len(x) > 3 else nullcontext()\nwith context:\n    z = x\nreturn z",
        "z = x\nreturn z",
    ),
    "autocast that is off": (
        "with torch.cuda.amp.autocast(enabled=False), torch.cuda.amp.autocast(False):\n    z = x\nreturn z",
        "z = x\nreturn z",
    ),
    "all at once": (
        "if x.is_cuda:\n    with torch.autocast('cuda', enabled=False):\n        return x\nwith torch.profiler.profile():\n    if not x.is_cuda:\n        with torch.cuda.device(0):\n            del x\nwith torch.cuda.device(1):\n    return x",
        "return x",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_what_is_left(name):
    before, expected = BODIES[name]
    assert after(body(before)) == (body(expected), [])


REPORTED = {
    "straight through": ("z = x.round()\nif x.requires_grad:\n    z = x + 1\nreturn z", "z = x.round()\nz = x + 1\nreturn z"),
    "detached": ("if not x.requires_grad:\n    x = x.detach()\nreturn x", "return x"),
    "gradients on": ("if torch.is_grad_enabled():\n    x = x * 2\nreturn x", "x = x * 2\nreturn x"),
    "a choice": ("return (x if x.requires_grad else x.detach()) * 2", "return x * 2"),
    "a filter": ("return [a + 1 for a in x if x.requires_grad]", "return [a + 1 for a in x]"),
    "a part of one": (
        "return [a + 1 for a in x if a.ndim > 0 and x.requires_grad]",
        "return [a + 1 for a in x if a.ndim > 0]",
    ),
    "autocast": ("with torch.autocast('cuda', dtype=torch.bfloat16):\n    z = x\nreturn z", "z = x\nreturn z"),
}  # fmt: skip


@pytest.mark.parametrize("name", REPORTED)
def test_what_is_taken_for_granted(name):
    before, expected = REPORTED[name]
    assert after(body(before)) == (body(expected), ["taken-for-granted"])


FROZEN = {
    "self.fc.weight.requires_grad = False": "",
    "self.fc.requires_grad_(False)": "",
    "for p in self.fc.parameters():\n    p.requires_grad = False": "",
    "for n, p in self.named_parameters():\n    if 'bias' in n:\n        p.requires_grad_(False)": "",
    "for m in self.modules():\n    m.weight.requires_grad = x\n    m.n = 1": (
        "for m in self.modules():\n    m.n = 1"
    ),
    "x.requires_grad = False\nx[0] = 1": "x[0] = 1",  # it may be a param
    "self.e = nn.Embedding.from_pretrained(x)": "self.e = nn.Embedding.from_pretrained(x)",
}


@pytest.mark.parametrize("before", FROZEN)
def test_what_the_optimizer_is_told(before):
    head = "class Net(nn.Module):\n    def __init__(self, x):\n        super().__init__()\n"
    head += "        self.fc = nn.Linear(3, 3)\n"
    text, told = after(head + textwrap.indent(before, 8 * " ") + "\n")
    assert text == head + textwrap.indent(FROZEN[before] + "\n", 8 * " ").removeprefix("\n")
    assert told == ["frozen-param"]


COUNTED = {
    "self.n = sum(p.numel() for p in self.parameters() if p.requires_grad)": True,
    "for p in self.parameters():\n    if p.requires_grad:\n        x += p.numel()": True,
    "self.n = [p for p in self.parameters() if p.requires_grad]": False,
}


@pytest.mark.parametrize("body", COUNTED)
@pytest.mark.parametrize("frozen", (True, False))
def test_what_is_counted_of_params_of_which_some_are_frozen_is_refused(body, frozen):
    head = "class Net(nn.Module):\n    def __init__(self, x):\n        super().__init__()\n"
    head += "        self.fc = nn.Linear(3, 3)\n"
    head += "        self.fc.requires_grad_(False)\n" * frozen
    text, _ = after(head + textwrap.indent(body, 8 * " ") + "\n")
    assert ("unconverted(" in text) is (frozen and COUNTED[body]), text


def test_decorators():
    before = (
        "@torch.jit.script\n@mine\n@torch.cuda.amp.autocast()  # half\ndef f(x):\n    return x\n"
    )
    assert after(before) == ("@mine\n# half\ndef f(x):\n    return x\n", ["taken-for-granted"])


# a body of `def f(x, frozen=False)`, and it after this pass and `detach`
CHOICES = {
    "called": ("context = torch.no_grad if frozen else nullcontext\nwith context():\n    z = x * 2\nreturn z", "z = Detached(x * 2, unless=not frozen)\nreturn z"),
    "made": ("context = torch.enable_grad() if not frozen else torch.no_grad()\nwith context:\n    z = x * 2\nreturn z", "z = Detached(x * 2, unless=not frozen)\nreturn z"),
    "in place": ("with torch.no_grad() if frozen else nullcontext():\n    z = x * 2\nreturn z", "z = Detached(x * 2, unless=not frozen)\nreturn z"),
    "the other way": ("context = nullcontext if not frozen else torch.inference_mode\nw = x * 2\nwith context():\n    z = x * 2\nreturn z + w", "w = x * 2\nz = Detached(x * 2, unless=not frozen)\nreturn z + w"),
    "always": ("context = torch.no_grad\nwith context():\n    z = x * 2\nreturn z + x", "z = Detached(x * 2)\nreturn z + x"),
    "the condition changes": ("context = torch.no_grad if frozen else nullcontext\nfrozen = not frozen\nwith context():\n    z = x * 2\nreturn z", None),
    "two contexts": ("context = nullcontext\nif frozen:\n    context = torch.no_grad\nwith context():\n    z = x * 2\nreturn z", None),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_of_no_grad(name):
    before, expected = CHOICES[name]
    parameters = "x: torch.Tensor, frozen=False"
    wanted = before if expected is None else expected
    assert after(body(before, parameters), fold.run, detach.run)[0] == body(wanted, parameters)


DEVICES = {
    "a move": ("y = x.to('cuda').cpu() + x.cuda(non_blocking=True)\nreturn y.to(torch.float32)", "y = x + x\nreturn y.to(torch.float32)"),
    "a device": ("device = x.device\nreturn x + torch.arange(3, device=device)", "return x + torch.arange(3)"),
    "before others": ("return x + torch.zeros(3, device=x.device, dtype=x.dtype)", "return x + torch.zeros(3, dtype=x.dtype)"),
    "after sizes": ("b, n, device = *x.shape, x.device\nreturn torch.ones(b, n, device=device)", "b, n = x.shape\nreturn torch.ones(b, n)"),
    "after a star": ("b, n, h, w, device = *x.shape, 1, 2, x.device\nreturn torch.ones(b, n, device=device)", "b, n, h, w = *x.shape, 1, 2\nreturn torch.ones(b, n)"),
    "between others": ("h, place, n = 4, x.device, 2\nreturn torch.ones(h, n, device=place)", "h, n = 4, 2\nreturn torch.ones(h, n)"),
    "but one": ("place, n = x.device, x.shape[0]\nreturn torch.ones(n, device=place)", "n = x.shape[0]\nreturn torch.ones(n)"),
    "of another": ("here = x.device\nthere = here\nreturn x.to(there)", "return x"),
    "below a comment": ("# where x lives\ndevice = x.device\n# and y\nreturn x.to(device)", "# where x lives\n# and y\nreturn x"),
    "in a branch": ("if x.shape[0] > 2:\n    place = x.device\n    x = x.to(place) * 2\nreturn x", "if x.shape[0] > 2:\n    x = x * 2\nreturn x"),
    "made": ("d = torch.device('cuda')\nreturn torch.ones(3, device=d)", "return torch.ones(3)"),
    "read elsewhere": ("device = x.device\nprint(device)\nreturn x.to(device)", "device = x.device\nprint(device)\nreturn x"),
    "read inside": ("device = x.device\n\ndef g():\n    return device\n\nreturn g()", "device = x.device\n\ndef g():\n    return device\n\nreturn g()"),
    "the user's own": ("device = x.device\nreturn own(x, device=device)", "device = x.device\nreturn own(x, device=device)"),
}  # fmt: skip


@pytest.mark.parametrize("name", DEVICES)
def test_devices(name):
    before, expected = DEVICES[name]
    assert after(body(before)) == (body(expected), [])


def test_a_device_that_is_not_given():
    before = "if device is None:\n    device = x.device\nreturn x + torch.arange(3, device=device)"
    parameters = "x: torch.Tensor, device=None"
    assert after(body(before, parameters))[0] == body("return x + torch.arange(3)", parameters)
