"""Convert the fixtures and verify them; `python -m tests.fixtures [NAME …]` updates the expected files.

An update is refused where the numbers disagree.
"""

import functools
import sys
import tempfile
from pathlib import Path, PurePosixPath

from fixtures.cases import CASES, Case
from transpile.command import dialect
from transpile.command.convert import Result
from transpile.proof.equivalence import Report, verify, verify_init
from transpile.proof.verification import _arguments, load, parse_inputs
from transpile.source.files import Source

ROOT = Path(__file__).parent.parent / "fixtures"
TORCH, FUNCTIONAL = ROOT / "torch", ROOT / "functional"
NAMES = sorted({case.file for case in CASES})


@functools.cache
def converted() -> tuple[dict[str, Result], str]:
    """What the converter makes of each fixture now, and their one jax_nn.py."""
    found, support = {}, None
    for name in NAMES:
        path = TORCH / f"{name}.py"
        source = Source(PurePosixPath(path.name), path.read_text(), "utf-8", False, "\n")
        (made,), support, _ = dialect.convert([source], "", "functional", support)
        found[name] = Result(made.code, "", made.diagnostics)
    return found, support or ""


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
    results, support = converted()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        (made / "jax_nn.py").write_text(support)
        refused = [name for name in names or NAMES if not _updated(name, results[name], made)]
    (FUNCTIONAL / "jax_nn.py").write_text(support)
    return len(refused)


def _updated(name: str, result: Result, folder: Path) -> bool:
    """Write one expected file, if it is right."""
    (folder / f"{name}.py").write_text(result.code)
    why = [str(d) for d in result.diagnostics]
    for case in (case for case in CASES if case.file == name):
        try:
            rows = proved(case, folder).rows
            why += [f"{r.check} {r.name}: {r.note} {r.error}" for r in rows if not r.ok]
        except Exception as error:  # the message is what the person who updates needs
            why.append(f"{type(error).__name__}: {error}")
    target = FUNCTIONAL / f"{name}.py"
    if why:
        print(f"REFUSED {name}: {'; '.join(why)[:600]}")
        target.with_suffix(".rejected").write_text(result.code)
        return False
    same = target.exists() and target.read_text() == result.code
    print(f"{'same' if same else 'updated'} {name}")
    target.write_text(result.code)
    return True


if __name__ == "__main__":
    sys.exit(update(sys.argv[1:]) > 0)
