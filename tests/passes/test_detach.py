"""What is computed under no_grad is constant where it leaves the block: values and gradients are
those of the program as it was, run by torch; and the text that the pass leaves.
"""

import textwrap

import pytest
import torch

from tests.passes.solved import IMPORTS, run
from transpile.passes import detach

HEAD = "import contextlib\nimport math\n" + IMPORTS + "\n\n"

# A body of `def f(x, y)`: `gt` has a gradient, and the lines stand under no_grad; "-> " gives what
# is returned.
NAMES = {
    "a name": "y = gt -> y * x",
    "names in a row": "z = gt; w = z -> w * y",
    "two at once": "a = b = gt -> a * b * y",
    "a tuple": "a, b = gt, y -> a * b",
    "a tuple, one computed": "a, b = gt, y * 2 -> a * b * x",
    "swapped": "a, b = gt, y * 3; a, b = b, a -> a * a * b * x",
    "conditional": "a = gt if x.dim() == 2 else y -> a * y",
    "conditional, one computed": "a = gt if x.dim() == 3 else y * 3 -> a * y * x",
    "conditional on data": "a = gt if x.sum() > 0 else y -> a * y",
    "conditional on data, one computed": "a = gt if x.sum() > 0 else y * 2 -> a * x",
    "or": "a = None or gt -> a * y",
    "of a list": "zs = [gt, y]; a = zs[0]; b = zs -> a * b[1]",
    "of a dict": "d = {'a': gt}; a = d['a'] -> a * y",
    "into a list": "zs = [gt, y * 2] -> zs[0] * zs[1] * y",
    "by a comprehension": "zs = [t for t in (gt, y)] -> zs[0] * zs[1]",
    "computed by a comprehension": "zs = [t * 2 for t in (gt, y)] -> zs[0] * zs[1] * x",
    "to a device": "a = gt.to('cpu'); b = gt.to(y.device); c = gt.cpu() -> a * b * c",
    "asked for a gradient": "a = gt.detach().requires_grad_(); b = gt.requires_grad_() -> a * b * y",
    "an index": "a = gt[0] -> a * y",
    "a view": "a = gt.view(-1); b = gt.reshape(4, 6); c = gt.T -> a.view(4, 6) * b * c.T * y",
    "squeezed, expanded": "a = gt.squeeze(); b = gt.expand(4, 6) -> a * b * y",
    "rows": "a, *rest = gt -> a * rest[0] * y",
    "rows of a loop": "for z in gt: w = z -> w * y * z",
    "elements of a list": "for z in (gt, y): w = z -> w * y * z",
    "a cast to what it is": "a = gt.double(); b = gt.to(y.dtype); c = gt.type_as(y) -> a * b * c",
    "a cast": "a = gt.float() -> a * x",
    "a lambda": "h = lambda t: t; z = h(gt) -> z * y",
}  # fmt: skip
PROGRAMS = {
    "an attribute": "class Box:\n    def __init__(self, v):\n        self.v = v\n\ndef f(x, y):\n    b = Box(x * 2)\n    c = Box(None)\n    with torch.no_grad():\n        c.v = b.v\n        b.w = x\n        z = b.v\n    return c.v * y * b.w * z",
    "a method of an object": "class Box:\n    def __init__(self, v):\n        self.v = v\n\n    def get(self):\n        return self.v\n\ndef f(x, y):\n    b = Box(x)\n    with torch.no_grad():\n        z = b.get()\n    return z * y",
    "a function that gives it back": "def g(t):\n    u = t\n    return u\n\ndef f(x, y):\n    with torch.no_grad():\n        z = g(x)\n    return z * y",
    "a decorated one": "@torch.no_grad()\ndef g(t):\n    return t\n\ndef f(x, y):\n    return g(x * 2) * y",
    "a decorated one, on some ways": "@torch.no_grad()\ndef g(t, n=2):\n    u = t\n    if n == 3:\n        u = u * 2\n    return u\n\ndef f(x, y):\n    return g(x * 2) * y + g(x, 3) * y",
    "a default": "def g(t, u=None):\n    with torch.no_grad():\n        u = t if u is None else u\n    return u * t\n\ndef f(x, y):\n    return g(x) + g(x, y) * y",
    "under a flag": "def g(t, on):\n    with torch.set_grad_enabled(on):\n        z = t\n        w = t * 2\n    return z * w * t\n\ndef f(x, y):\n    return g(x, True) + g(y, False)",
    "in turns": "z = x * 2\nwith torch.no_grad():\n    for i in range(3):\n        w = z\n        z = w * 2\nreturn w * y * z * x",
    "set again": "z = x * 3\nwith torch.no_grad():\n    z = x * 2\n    q = z\n    z = x\nreturn z * q * y",
    "in a branch": "gt = x * 2\nwith torch.no_grad():\n    if x.sum() > 0:\n        a = gt\n    else:\n        a = y * 2\nreturn a * y",
    "inference": "@torch.inference_mode()\ndef g(t):\n    return t\n\ndef f(x, y):\n    return g(x) * y.detach()",
}  # fmt: skip
SAMPLE = "def sample(t):\n    return {'z': t * 2, 'a': t * 3}\n\n"
LEAVING = {
    "a dict that a function returns": SAMPLE + "def f(x, y):\n    with torch.no_grad():\n        out = sample(x)\n    return out['z'] * x",
    "a dict keeps its order": SAMPLE + "def f(x, y):\n    with torch.no_grad():\n        out = sample(x)\n    return sum(i * v for i, v in enumerate(out.values())) * x",
    "a dict of a decorated function": "@torch.no_grad()\ndef g(t):\n    return {'a': t * 2, 'l': [t * 3, t], 'name': 'g'}\n\ndef f(x, y):\n    out = g(x)\n    return out['a'] * x + out['l'][0] * y + out['l'][1]",
    "a dict in a tuple": "def g(t):\n    with torch.no_grad():\n        return t * 2, {'k': t * 3}\n\ndef f(x, y):\n    a, b = g(x)\n    return a * x + b['k'] * y",
    "a dict comprehension": "with torch.no_grad():\n    ts = [x * i for i in range(3)]\n    d = {i: t for i, t in enumerate(ts)}\nreturn d[2] * x",
    "a dict that is updated": "d = {}\nwith torch.no_grad():\n    d.update(a=x * 2)\n    d.update({'b': x * 3, 'c': y})\n    d.setdefault('e', []).append(x * y)\nreturn (d['a'] + d['b']) * x + d['c'] + d['e'][0]",
    "a dict under a flag": SAMPLE + "def g(t, train):\n    with torch.set_grad_enabled(train):\n        out = sample(t)\n    return out['a'] * t\n\ndef f(x, y):\n    return g(x, True) + g(y, False)",
    "appended": "outs = []\nwith torch.no_grad():\n    for i in range(3):\n        outs.append(x * i)\n    outs.append(y)\n    outs.extend([x * 3, y * 2])\nreturn sum(outs) * x",
    "appended by a comprehension": "outs = []\nwith torch.no_grad():\n    [outs.append(x * i) for i in range(3)]\nreturn sum(outs) * x",
    "a deque": "from collections import deque\nq = deque()\nwith torch.no_grad():\n    q.append(x * 2)\nreturn q.pop() * x",
    "an object": "class Box:\n    def __init__(self, v):\n        self.v = v\n\ndef f(x, y):\n    b = Box(None)\n    with torch.no_grad():\n        b.v = x * 2\n        c = Box(y * 3)\n    return b.v * x + y * c.v",
    "what is no array": "import os\nfrom string import capwords\n\n\ndef f(x, y, root='a'):\n    with torch.no_grad():\n        name, path = capwords('a b'), os.path.join(root, 'b')\n        title = capwords('c')\n        where = os.path.join(root, title)\n        z = x * 2\n    return x * y * len(title) * len(where) + z * len(name + path)",
    "an object that keeps things": "class Cache:\n    def __init__(self):\n        self.items = []\n\n    def put(self, t):\n        self.items.append(t)\n\ndef f(x, y):\n    c = Cache()\n    with torch.no_grad():\n        c.put(x * 2)\n    return c.items[0] * x",
    "a generator": "@torch.no_grad()\ndef g(t):\n    for i in range(2):\n        u = t * i\n        yield u\n    yield from [t * 3, t]\n\ndef f(x, y):\n    return sum(g(x)) * x",
    "a block that yields": SAMPLE + "def g(t):\n    with torch.no_grad():\n        yield sample(t)\n\ndef f(x, y):\n    return [out['a'] for out in g(x)][0] * x",
    "the last turn of a loop": "def g(t):\n    yield t * 2\n    yield t * 3\n\ndef f(x, y):\n    with torch.no_grad():\n        for t in g(x):\n            pass\n    return t * x",
    "an attribute of what was computed": "with torch.no_grad():\n    m = x.max(dim=1)\n    v = m.values\n    t = x.T\nreturn v * x[:, 0] + (t @ x).sum()",
    "with an annotation": "with torch.no_grad():\n    z: torch.Tensor = x * 2\n    if x.dim() == (w := x * 3).dim():\n        z = z + w\nreturn z * x + w",
    "once where a parameter is set": "@torch.no_grad()\ndef g(t, n):\n    if n > 5:\n        t = t * 2\n    return t\n\ndef f(x, y):\n    return g(x, 3) * x + g(y, 7) * y",
    "what became part of a tensor": "@torch.no_grad()\ndef g(t):\n    z = torch.zeros(4, 6, dtype=torch.float64)\n    z.add_(t)\n    return z * 2\n\ndef f(x, y):\n    return g(x) * x",
    "in place of a tensor from outside": "z = x * 2\nwith torch.no_grad():\n    z.mul_(y)\n    z[0] = y[1]\n    z[1:] *= 2\n    torch.relu_(z)\nreturn z * z * y",
}  # fmt: skip
VARIABLES = {
    "computed": "z = torch.autograd.Variable(x * y, requires_grad=True)\nreturn z * x",
    "an argument": "z = torch.autograd.Variable(x)\nreturn z * x",
    "the same memory": "z = x * 2\nw = torch.autograd.Variable(z)\nw.mul_(3)\nreturn z * x + w",
    "in a helper": "from torch.autograd import Variable\ndef g(t):\n    h = Variable(torch.ones(4, 6))\n    return Variable(t + 1) * t * h\ndef f(x, y):\n    return g(x * y)",
    "of a tensor made of another": "z = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) * x\nw = torch.tensor(z[0])\nreturn w * x",
}  # fmt: skip
# What may be the tensor itself or something computed, which only the run tells: said at the line.
REPORTED = {
    "contiguous": "a = gt.contiguous() -> a * y",
    "dropout": "z = F.dropout(gt, 0.5, x.dim() == 3) -> z * y",
    "flattened": "z = gt.flatten(1) -> z * y",
}
OTHERS = {
    "a function on some ways": "def g(t, n):\n    if n > 2:\n        return t * 2\n    return t\n\ndef f(x, y):\n    with torch.no_grad():\n        z = g(x, 3)\n    return z * y",
}  # fmt: skip


def body(lines):
    """The program of a row of NAMES."""
    inside, result = lines.split(" -> ")
    block = textwrap.indent(inside.replace("; ", "\n"), "    ")
    return f"gt = x * 2\nwith torch.no_grad():\n{block}\nreturn {result}"


def source_of(text):
    """A whole file from the body of `def f(x, y)`, or from definitions that end in an `f`."""
    made = text if "def f(" in text else f"def f(x, y):\n{textwrap.indent(text, '    ')}\n"
    return HEAD + made + "\n"


def constant(value, unless=False):
    """What `Detached` does, in torch."""
    if unless:
        return value
    if isinstance(value, dict):
        return type(value)({k: constant(v) for k, v in value.items()})
    if isinstance(value, (list, tuple)):
        return type(value)(map(constant, value))
    return value.detach() if isinstance(value, torch.Tensor) else value


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v)]
    return [] if value is None else [value]


def gradients(text):
    """The results of f and its gradients."""
    scope = {"Detached": constant}
    exec(compile(text, "program.py", "exec"), scope)
    torch.manual_seed(0)
    x, y = torch.randn(2, 4, 6, dtype=torch.float64)
    x, y = x.requires_grad_(), y.requires_grad_()
    torch.manual_seed(1)
    results = leaves(scope["f"](x, y))
    total = sum(r.sin().sum() for r in results)
    return [*results, *torch.autograd.grad(total, (x, y), allow_unused=True)]


def check(source):
    code, diagnostics = run(source, detach.run)
    assert not any(
        word in code for word in ("no_grad", "set_grad_enabled", "inference", "enable_grad")
    )
    for got, want in zip(gradients(code), gradients(source), strict=True):
        zero = torch.zeros(4, 6, dtype=torch.float64)
        got, want = (zero if t is None else t for t in (got, want))
        torch.testing.assert_close(got, want, msg=code)
    return code, diagnostics


@pytest.mark.parametrize("name", [*NAMES, *PROGRAMS, *LEAVING])
def test_gradients(name):
    text = body(NAMES[name]) if name in NAMES else {**PROGRAMS, **LEAVING}[name]
    _, diagnostics = check(source_of(text))
    assert not diagnostics


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_has_no_history(name):
    text = source_of(VARIABLES[name])
    code, _ = run(text, detach.run, stage="traced")
    assert "detach()" in code or "Variable" not in text
    if "requires_grad" not in text and "torch.tensor" not in text:
        for got, want in zip(gradients(code), gradients(text), strict=True):
            torch.testing.assert_close(got, want, msg=code)


@pytest.mark.parametrize("name", [*REPORTED, *OTHERS])
def test_what_only_the_run_tells_is_reported(name):
    source = source_of(body(REPORTED[name]) if name in REPORTED else OTHERS[name])
    code, found = run(source, detach.run)
    assert [d.id for d in found] == ["taken-for-granted"]
    line = source.splitlines()[found[0].line - 1]
    assert "gt." in line or "dropout" in line or "g(x" in line, line


def after(source, **given):
    code, diagnostics = run(HEAD + source, detach.run, **given)
    return code.removeprefix(HEAD), [d.id for d in diagnostics]


TEXTS = {
    "comments stay": (
        """
        def f(x):
            # above
            with torch.no_grad():  # of the block
                # first
                y = x * 2  # behind
                # last
            # after
            return y
        """,
        """
        def f(x):
            # above
            # of the block
            # first
            y = Detached(x * 2)  # behind
            # last
            # after
            return y
        """,
    ),
    "beside another": (
        """
        def f(x):
            with torch.no_grad(), open("a") as file:
                y = x * 2
            return y
        """,
        """
        def f(x):
            with open("a") as file:
                y = Detached(x * 2)
            return y
        """,
    ),
    "what is not seen outside": (
        """
        @torch.no_grad()
        def f(x):
            y = x * 2
            z = torch.ones(3)
            return (y > 0), z, y.shape, y
        """,
        """
        def f(x):
            y = x * 2
            z = torch.ones(3)
            return (y > 0), z, y.shape, Detached(y)
        """,
    ),
    "a flag": (
        """
        def f(x, train):
            with torch.set_grad_enabled(train):
                y = x * 2
            return y
        """,
        """
        def f(x, train):
            y = Detached(x * 2, unless=train)
            return y
        """,
    ),
    "a flag that changes": (
        """
        def f(x, train):
            with torch.set_grad_enabled(not train):
                train = False
                y = x * 2
            return y
        """,
        """
        def f(x, train):
            with_gradient = not train
            train = False
            y = Detached(x * 2, unless=with_gradient)
            return y
        """,
    ),
    "on": (
        """
        @torch.enable_grad()
        def f(x):
            with torch.set_grad_enabled(True):
                return x * 2
        """,
        """
        def f(x):
            return x * 2
        """,
    ),
    "modules": (
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.ones(3))
                self.register_buffer("mean", torch.zeros(3))
                with torch.no_grad():
                    self.w.mul_(2)

            def forward(self, x):
                with torch.no_grad():
                    self.mean.mul_(0.9).add_(x.mean(0))
                    self.w.mul_(0.9)
                    self.mean = self.mean + x.mean(0)
                return x * self.mean
        """,
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.ones(3))
                self.register_buffer("mean", torch.zeros(3))
                self.w.mul_(2)

            def forward(self, x):
                self.mean.mul_(0.9).add_(Detached(x.mean(0)))
                self.w.data.mul_(0.9)
                self.mean = Detached(self.mean + x.mean(0))
                return x * self.mean
        """,
    ),
    "one below the other": (
        """
        def f(x):
            if x.dim() > 1:
                with torch.no_grad():
                    with torch.inference_mode():
                        pass
            return x
        """,
        """
        def f(x):
            if x.dim() > 1:
                pass
            return x
        """,
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name):
    before, expected = map(textwrap.dedent, TEXTS[name])
    assert after(before) == (expected, [])


REFUSED = {
    "turned on again": "with torch.no_grad():\n    with torch.enable_grad():\n        y = x * 2\nreturn x",
    "turned on by a flag": "with torch.no_grad():\n    with torch.set_grad_enabled(x.dim() > 1):\n        y = x * 2\nreturn x",
    "a write under a flag": "z = x * 2\nwith torch.set_grad_enabled(x.dim() > 1):\n    z.mul_(y)\nreturn z",
    "a store under a flag": "z = x * 2\nwith torch.set_grad_enabled(x.dim() > 1):\n    z[0] = y\nreturn z",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    code, ids = after(source_of(REFUSED[name]).removeprefix(HEAD))
    assert ids == ["unsupported"] and "nn.unconverted" in code, code


def test_suspended_block():
    """A generator that yields inside of no_grad turns gradients off for whoever takes from it, until
    it is left; a decorated one does not.
    """
    loop = "def f(x, y):\n    return [v * x for v in g(y)]\n"
    inside = "def g(t):\n    with torch.no_grad():\n        yield t * 2\n" + loop
    before = "def g(t):\n    with torch.no_grad():\n        u = t * 2\n    yield u\n" + loop
    decorated = "@torch.no_grad()\ndef g(t):\n    yield t * 2\n" + loop
    assert after(inside)[1] == ["taken-for-granted"]
    assert not after(before)[1] and not after(decorated)[1]


def test_a_name_from_before_that_is_returned_inside_keeps_no_gradient_that_was_written():
    check(source_of("def g(t):\n    z = torch.zeros(4, 6, dtype=torch.float64)\n    with torch.no_grad():\n        z.add_(t)\n        return z\n\ndef f(x, y):\n    return g(x) * x"))  # fmt: skip
