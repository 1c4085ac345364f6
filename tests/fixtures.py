"""Convert the fixtures and verify them; `python -m tests.fixtures [NAME …]` updates the expected files.

An update is refused where the numbers disagree.
"""

import sys
from pathlib import Path

from fixtures.cases import CASES, Case
from transpile.command import convert
from transpile.first import rulebook, support
from transpile.proof.equivalence import Report, verify, verify_init
from transpile.proof.verification import _arguments, load, parse_inputs

ROOT = Path(__file__).parent.parent / "fixtures"
TORCH, FUNCTIONAL = ROOT / "torch", ROOT / "functional"


def converted(name: str) -> convert.Result:
    """What the converter makes of a fixture now."""
    path = TORCH / f"{name}.py"
    return convert.convert_source(path.read_text(), path=f"{name}.py")


def support_file() -> str:
    """jax_nn.py for all fixtures together."""
    import libcst as cst

    names = set()
    for path in sorted(FUNCTIONAL.glob("*.py")):
        if path.name != "jax_nn.py":
            names |= support.names_used(cst.parse_module(path.read_text()))
    return support.write(rulebook.load(), names)


def proved(case: Case, directory: Path) -> Report:
    """Both sides of a fixture, compared in float64: eval and training mode, and the initial values."""
    import torch

    original = load(TORCH / f"{case.file}.py", f"torch_{case.file}", TORCH)
    sys.modules.pop("jax_nn", None)
    sys.path[:] = [p for p in sys.path if p != str(TORCH)]
    module = load(directory / f"{case.file}.py", f"jax_{case.file}", directory)
    torch.manual_seed(0)
    args, kwargs = _arguments(case.init, original)
    make = lambda: getattr(original, case.cls)(*args, **kwargs)  # noqa: E731
    args_jax, kwargs_jax = _arguments(case.init, module)
    torch_module, jax_module = make(), getattr(module, case.cls)(*args_jax, **kwargs_jax)
    inputs = parse_inputs(case.inputs)
    report = Report()
    for training in (False, True):
        report.rows += verify(torch_module, jax_module, *inputs, training=training).rows
    report.rows += verify_init(make, jax_module).rows
    return report


def update(names: list[str]) -> int:
    """Write the expected files anew where the numbers agree; returns how many were refused."""
    FUNCTIONAL.mkdir(exist_ok=True)
    refused = 0
    for case in CASES:
        if names and case.file not in names:
            continue
        target = FUNCTIONAL / f"{case.file}.py"
        before = target.read_text() if target.exists() else None
        result = converted(case.file)
        target.write_text(result.code)
        (FUNCTIONAL / "jax_nn.py").write_text(support_file())
        why = [str(d) for d in result.diagnostics]
        try:
            why += [f"{r.check} {r.name}: {r.note} {r.error}" for r in proved(case, FUNCTIONAL).rows if not r.ok]
        except Exception as error:  # the message is what the person who updates needs
            why.append(f"{type(error).__name__}: {error}")
        if why:
            refused += 1
            print(f"REFUSED {case.file}: {'; '.join(why)[:600]}")
            target.with_suffix(".rejected").write_text(result.code)
            target.unlink() if before is None else target.write_text(before)
        else:
            print(f"{'same' if before == result.code else 'updated'} {case.file}")
    (FUNCTIONAL / "jax_nn.py").write_text(support_file())
    return refused


if __name__ == "__main__":
    sys.exit(update(sys.argv[1:]) > 0)
