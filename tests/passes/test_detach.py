"""What is computed under no_grad is constant where it leaves the block: values and gradients are
those of the program as it was, run by torch; and the text that the pass leaves.
"""

import textwrap

import pytest
import torch

from tests.passes.solved import IMPORTS, run
from tests.passes.test_no_grad_names import NAMES, PROGRAMS, REPORTED
from tests.passes.test_no_grad_names import OTHER_REPORTED as OTHERS
from tests.programs.test_gradients import LEAVING, VARIABLES
from transpile.passes import detach

HEAD = "import contextlib\nimport math\n" + IMPORTS + "\n\n"



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
