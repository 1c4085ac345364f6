"""Convert the fixtures in each target and prove them; `python -m tests.fixtures [NAME …]` updates the
expected files.

An update is refused where the numbers disagree.
"""

import functools
import sys
import tempfile
from pathlib import Path, PurePosixPath

from fixtures.cases import CASES, Case
from transpile.command import engine
from transpile.command.convert import Result
from transpile.proof.equivalence import verify
from transpile.proof.initial import verify_init
from transpile.proof.sides import is_random
from transpile.proof.verification import _arguments, load, parse_inputs
from transpile.source.files import Source

from .dialects.verified import built, compare, in_float64

ROOT = Path(__file__).parent.parent / "fixtures"
TORCH = ROOT / "torch"
TARGETS = ("functional", "flax", "equinox")
NAMES = sorted({case.file for case in CASES})
# NumPy's array that is a tensor later on: read as the one where it is the other. One module under two
# names has two sets of params in Equinox, which is told.
APART = {("flax", "grids"), ("equinox", "grids"), ("equinox", "sharing")}
PROVED = [(target, name) for target in TARGETS for name in NAMES if (target, name) not in APART]


# Their constants are float32, and what is computed of them: right to that in both libraries.
NARROW = {"grids", "positional"}


@functools.cache
def converted(target: str) -> tuple[dict[str, Result], str]:
    """What the converter makes of each fixture now, and their one jax_nn.py."""
    found, support = {}, None
    for name in NAMES:
        path = TORCH / f"{name}.py"
        source = Source(PurePosixPath(path.name), path.read_text(), "utf-8", False, "\n")
        (made,), more, _ = engine.convert([source], "", target, support)
        support = more or support  # None where a program uses nothing of it
        found[name] = Result(made.code, "", made.diagnostics)
    return found, support or ""


def disagreements(case: Case, directory: Path, target: str) -> list[str]:
    """What differs between both sides of a fixture in float64: outputs, gradients for params and
    inputs, and state, in the modes that do not draw; of the functional output also in training
    without what its dropout draws, and the initial values."""
    import torch

    original = load(TORCH / f"{case.file}.py", f"torch_{case.file}", TORCH)
    sys.modules.pop("jax_nn", None)
    sys.path[:] = [p for p in sys.path if p != str(TORCH)]
    module = load(directory / f"{case.file}.py", f"jax_{case.file}", directory)
    torch.manual_seed(0)
    args, kwargs = _arguments(case.init, original)
    make = lambda: getattr(original, case.cls)(*args, **kwargs)  # noqa: E731
    args_jax, kwargs_jax = _arguments(case.init, module)
    cls, inputs = getattr(module, case.cls), parse_inputs(case.inputs)
    ours = built(lambda **given: cls(*args_jax, **kwargs_jax, **given), cls)
    if target != "functional":
        return _differences(make, ours, inputs, target)
    theirs, narrow = make(), case.file in NARROW
    drawing = is_random(theirs.train(), inputs, {})  # and is compared without its dropout
    rows = [
        row
        for training in (False, True)
        if narrow or training and drawing
        for row in verify(theirs, ours, *inputs, training=training).rows
    ]
    rows += verify_init(make, ours).rows
    return _fallen(rows) + ([] if narrow else _differences(make, ours, inputs, target))


def _fallen(rows) -> list[str]:
    return [f"{r.check} {r.name}: {r.note} {r.error}" for r in rows if not r.ok]


def _differences(make, ours, inputs, target: str) -> list[str]:
    training = False
    try:
        with in_float64():
            wide = [x.double() if x.is_floating_point() else x for x in inputs]
            floats = [i for i, x in enumerate(wide) if x.is_floating_point()]
            theirs = make()
            modes = [m for m in (False, True) if not is_random(theirs.train(m), wide, {})]
            assert modes, "what draws in each mode is not compared"
            for training in modes:
                compare(theirs.train(training), ours, wide, target, training, varied=floats)
    except AssertionError as error:
        return [f"{'training' if training else 'eval'}: {error}"]
    return []


def update(names: list[str]) -> int:
    """Write the expected files anew where the numbers agree; returns how many were refused."""
    refused = 0
    for target in TARGETS:
        results, support = converted(target)
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder)
            (made / "jax_nn.py").write_text(support)
            wanted = [n for t, n in PROVED if t == target and n in (names or NAMES)]
            refused += sum(not _updated(name, results[name], made, target) for name in wanted)
        (ROOT / target / "jax_nn.py").write_text(support)
    return refused


def _updated(name: str, result: Result, folder: Path, target: str) -> bool:
    """Write one expected file, if it is right."""
    (folder / f"{name}.py").write_text(result.code)
    why = [str(d) for d in result.diagnostics]
    for case in (case for case in CASES if case.file == name):
        try:
            why += disagreements(case, folder, target)
        except Exception as error:  # the message is what the person who updates needs
            why.append(f"{type(error).__name__}: {error}")
    expected = ROOT / target / f"{name}.py"
    expected.parent.mkdir(exist_ok=True)
    if why:
        print(f"REFUSED {target} {name}: {'; '.join(why)[:600]}")
        expected.with_suffix(".rejected").write_text(result.code)
        return False
    same = expected.exists() and expected.read_text() == result.code
    print(f"{'same' if same else 'updated'} {target} {name}")
    expected.write_text(result.code)
    return True


if __name__ == "__main__":
    sys.exit(update(sys.argv[1:]) > 0)
