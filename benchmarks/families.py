"""How many model families of timm compute the same, once the whole package is converted.

    python -m benchmarks.families DIRECTORY [--largest 50] [--only REGEX]

DIRECTORY holds the package `timm`. Of each file of models one is taken, small by its name. Both sides have a package of one name,
so that each runs in a process of its own: torch's keeps params, an input and the output, the other loads them, runs the
model under jit in eval mode, float32, and compares (relative to the largest output). Last line: how many are the same.
"""

import argparse
import importlib
import inspect
import json
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

TOLERANCE = 1e-4
SMALL = re.compile("tiny|small|nano|atto|mini|_xs|_s|18|_t|b0|050|_m")


def chosen(only: str | None) -> list[tuple[str, str, tuple[int, ...]]]:
    """(file, model, shape of an input) for each file of models."""
    import timm

    found = []
    for module in timm.list_modules():
        names = sorted(timm.list_models(module=module), key=lambda name: (SMALL.search(name) is None, len(name)))
        if names and (only is None or re.search(only, names[0])):
            settings = timm.get_pretrained_cfg(names[0])
            found.append((module, names[0], settings.input_size if settings else (3, 224, 224)))
    return found


def keep_torch(folder: Path, only: str | None, largest: float) -> None:
    """Save params, buffers, input and output of each model that is not too large."""
    import timm
    import torch

    generator = torch.Generator().manual_seed(0)
    for module, name, size in chosen(only):
        torch.manual_seed(0)
        model = timm.create_model(name).eval()
        if sum(p.numel() for p in model.parameters()) > largest * 1e6:
            continue
        with torch.no_grad():
            for p in model.parameters():
                if p.ndim <= 1:  # ones and zeros hide what is swapped
                    p.add_(0.05 * torch.randn(p.shape, generator=generator))
            x = torch.randn(1, *size, generator=generator)
            y = model(x)
        tensors = {**model.state_dict(), **dict(model.named_buffers())}
        torch.save({"module": module, "tensors": tensors, "x": x, "y": y if isinstance(y, (list, tuple)) else [y]}, folder / f"{name}.pt")


def filled(state: dict, fresh: dict) -> dict:
    """What torch does not keep, from a state made anew."""
    return {k: filled(state[k], v) if isinstance(v, dict) and isinstance(state.get(k), dict) else v if state.get(k) is None else state[k] for k, v in fresh.items()}


def error(kept: dict, name: str) -> float:
    """The largest difference of the converted model's output, relative to the largest output."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from transpile import from_torch

    module = importlib.import_module(f"timm.models.{kept['module']}")
    model = getattr(module, name)()
    params, state = from_torch(kept["tensors"], model)
    state = filled(state, model.init_state(jax.random.key(0)))
    stateful = "state" in list(inspect.signature(model.__call__).parameters)[:2]
    run = jax.jit(lambda params, state, x: model(params, state, x)[0] if stateful else model(params, x))
    y = run(params, state, jnp.asarray(kept["x"].numpy()))
    jax.clear_caches()
    pairs = zip(y if isinstance(y, (list, tuple)) else [y], kept["y"], strict=True)
    return max(float(np.abs(np.asarray(a) - b.numpy()).max() / b.abs().max()) for a, b in pairs)


def compare_jax(folder: Path) -> None:
    """Print a line of JSON for each model that was kept: its name, and the error or what went wrong."""
    import torch

    for path in sorted(folder.glob("*.pt")):
        try:
            result = error(torch.load(path), path.stem)
        except Exception as failure:  # converted code may raise anything
            result = f"{type(failure).__name__}: {str(failure).strip().splitlines()[0] if str(failure).strip() else ''}"[:150]
        print(json.dumps([path.stem, result]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="where the package timm is")
    parser.add_argument("--largest", type=float, default=50, help="leave out models of more parameters, in millions")
    parser.add_argument("--only", help="a pattern of names")
    parser.add_argument("--side", choices=["torch", "jax"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.side:
        sys.path.insert(0, str(options.directory))
        keep_torch(options.folder, options.only, options.largest) if options.side == "torch" else compare_jax(options.folder)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder, out = Path(temporary) / "kept", Path(temporary) / "out"
        folder.mkdir()
        again = [sys.executable, "-m", "benchmarks.families", "--folder", str(folder), "--largest", str(options.largest)]
        only = ["--only", options.only] if options.only else []
        subprocess.run([*again, *only, "--side", "torch", str(options.directory)], check=True)
        convert = "import sys; from transpile import convert_path; convert_path(sys.argv[1], sys.argv[2])"
        subprocess.run([sys.executable, "-c", convert, str(options.directory / "timm"), str(out / "timm")], check=True)
        done = subprocess.run([*again, "--side", "jax", str(out)], check=True, capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    for name, result in rows:
        wrong = isinstance(result, float) and not result < TOLERANCE
        print(f"{name:40} {'WRONG ' if wrong else ''}{result if isinstance(result, str) else f'{result:.1e}'}")
    same = sum(isinstance(result, float) and result < TOLERANCE for _, result in rows)
    wrong = sum(isinstance(result, float) and not result < TOLERANCE for _, result in rows)
    print(f"{same} of {len(rows)} models the same, {wrong} wrong, {len(rows) - same - wrong} did not run")


if __name__ == "__main__":
    main()
