"""Locals that no call reads once the rules are applied go; what the user may still need stays."""

import pytest

from transpile import convert_source

HEAD = "import torch\n\n\n"

# name -> the body of `def f(x, y, device=None)`, and that of what it becomes
GONE = {
    "a device": ("device = x.device\nreturn x + torch.arange(3, device=device)", "return x + jnp.arange(3)"),
    "after sizes": ("b, n, device = *x.shape, x.device\nreturn x.reshape(n, b) + torch.ones(n, b, device=device)", "b, n = x.shape\nreturn x.reshape(n, b) + jnp.ones((n, b))"),
    "of one size": ("b, device = *x.shape, x.device\nreturn torch.ones(b, device=device)", "(b,) = x.shape\nreturn jnp.ones(b)"),
    "between others": ("h, place, n = 4, y.device, 2\nreturn torch.ones(h, n, device=place)", "h, n = 4, 2\nreturn jnp.ones((h, n))"),
    "but one": ("place, n = y.device, x.shape[0]\nreturn torch.ones(n, device=place)", "n = x.shape[0]\nreturn jnp.ones(n)"),
    "where it is not given": ("if device is None:\n    device = x.device\nreturn x + torch.arange(3, device=device)", "return x + jnp.arange(3)"),
    "or given": ("device = device if device is not None else x.device\nreturn x + torch.arange(3, device=device)", "return x + jnp.arange(3)"),
    "of another": ("here = x.device\nthere = here\nreturn y.to(there)", "return y"),
    "below a comment": ("# where x lives\ndevice = x.device\n# and y\nreturn y.to(device)", "# where x lives\n# and y\nreturn y"),
    "in a branch": ("if y.shape[0] > 2:\n    place = x.device\n    y = y.to(place) * 2\nreturn y", "if y.shape[0] > 2:\n    y = y * 2\nreturn y"),
}
STAYS = {
    "read elsewhere": ("device = x.device\nprint(device)\nreturn y.to(device)", "device = None\n"),
    "read inside": ("device = x.device\n\ndef g():\n    return device\n\nreturn y.to(device), g()", "device = None\n"),
    "of what was not converted": ("rate = 0.1\nreturn torch.optim.SGD([x], lr=rate)", "rate = 0.1\n"),
    "the user's own": ("unused = y\nreturn x * 2", "unused = y\n"),
    "from a call": ("size = print(x)\nreturn torch.ones(2, device=size)", "size = print(x)\n"),
}


def body(source):
    code = convert_source(f"{HEAD}def f(x, y, device=None):\n" + "".join(f"    {line}\n" for line in source.splitlines())).code
    return "".join(line[4:] + "\n" for line in code.split("device=None):\n")[1].splitlines())


@pytest.mark.parametrize("name", GONE)
def test_what_no_call_reads_goes(name):
    source, expected = GONE[name]
    assert body(source) == expected + "\n"


@pytest.mark.parametrize("name", STAYS)
def test_what_is_read_stays(name):
    source, kept = STAYS[name]
    assert kept in body(source)
