"""How many models of a public repository compute the same, once the whole repository is converted.

    python -m benchmarks.repositories NAME DIRECTORY [--only WORD]

NAME is a table of repositories.toml, DIRECTORY a clone. Both sides have modules of the same names, so that each runs in a
process of its own: torch's keeps params, inputs, outputs and gradients, the other loads them, runs the model under jit in
eval mode, float32, and compares (relative to the largest output, and to the largest gradient). Libraries that are not
installed, and that the model does not compute with, are stood in for. Last line: how many are the same.
"""

import argparse
import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import subprocess
import sys
import tempfile
import tomllib
import warnings
from pathlib import Path
from unittest.mock import MagicMock

TOLERANCE, GRADIENT_TOLERANCE = 1e-4, 1e-3
CASES = tomllib.loads((Path(__file__).parent / "repositories.toml").read_text())
ABSENT = ("torchvision", "tiktoken", "tqdm", "numba", "triton", "loguru", "ftfy", "regex", "ema_pytorch", "accelerate", "pytorch_fid", "timm")


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of libraries that are not there: whatever is asked of them is a mock."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in ABSENT else None

    def create_module(self, spec):
        return MagicMock(__spec__=spec, __path__=[])

    def exec_module(self, module):
        pass


def chosen(name, only):
    """(case, module, how the model is made, its inputs) of a table."""
    return [(case, *row) for case, row in CASES[name].items() if case != "source" and only in case]


def tensors(value):
    """The arrays with a float dtype in what a model gives, in order."""
    if isinstance(value, dict):
        return [t for name in sorted(value) for t in tensors(value[name])]
    if isinstance(value, (list, tuple)):
        return [t for part in value for t in tensors(part)]
    return [value] if hasattr(value, "shape") and "float" in str(value.dtype) else []


def keep_torch(folder, cases):
    """Save params, buffers, inputs, outputs and gradients of each model."""
    import torch

    from transpile.proof.verification import parse_inputs

    for case, path, made, inputs in cases:
        try:
            torch.manual_seed(0)
            model = eval(made, dict(vars(importlib.import_module(path)))).eval()
            generator = torch.Generator().manual_seed(0)
            with torch.no_grad():
                for p in model.parameters():  # what is empty, ones or zeros hides what is swapped
                    p.copy_(p.nan_to_num(0, 0, 0).clamp(-3, 3))
                    p.add_(0.05 * torch.randn(p.shape, generator=generator))
            given = parse_inputs(inputs)
            kept = {name: value.clone() for name, value in {**model.state_dict(), **dict(model.named_buffers())}.items()}
            outputs = tensors(model(*(x.clone() for x in given)))
            sum((y.double() ** 2).mean() for y in outputs).backward()
            parameters = dict(model.named_parameters(remove_duplicate=False))
            grads = {name: p.grad for name, p in parameters.items() if p.grad is not None}
            torch.save({"tensors": kept, "inputs": given, "outputs": [y.detach() for y in outputs], "grads": grads, "names": list(parameters)}, folder / f"{case}.pt")
        except Exception as failure:  # the repository's code may raise anything
            print(json.dumps([case, f"torch: {type(failure).__name__}: {failure}"[:200]]), flush=True)


def errors(kept, path, made):
    """The largest difference of the outputs and of the gradients, both relative."""
    import jax
    import jax.numpy as jnp
    import torch

    from transpile import from_torch

    model = eval(made, dict(vars(importlib.import_module(path))))
    params, state = from_torch(kept["tensors"], model)
    signature = list(inspect.signature(model.__call__).parameters)
    stateful, leading = "state" in signature[:2], [n for n in ("params", "state") if n in signature[:2]]
    if stateful:
        state = filled(state, model.init_state(jax.random.key(0)))
    extra = {"key": jax.random.key(0)} if "key" in signature else {}
    extra |= {"training": False} if "training" in signature else {}
    inputs = [jnp.asarray(x.numpy()) for x in kept["inputs"]]

    def run(params, state, *inputs):
        output = model(*({"params": params, "state": state}[n] for n in leading), *inputs, **extra)
        return tensors(output[0] if stateful else output)

    outputs = jax.jit(run)(params, state, *inputs)
    wanted = [jnp.asarray(y.numpy()) for y in kept["outputs"]]
    difference = max(float(jnp.abs(a - b).max() / jnp.abs(b).max()) for a, b in zip(outputs, wanted, strict=True))
    gradient = jax.jit(jax.grad(lambda params: sum((y**2).mean() for y in run(params, state, *inputs))))(params) if params else {}
    zeros = {name: torch.zeros_like(value) if name in kept["names"] else value for name, value in kept["tensors"].items()}
    expected, _ = from_torch({**zeros, **kept["grads"]}, model)
    pairs = [(a, b) for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(expected) if params else [], strict=True) if a.size]
    largest = max((float(jnp.abs(b).max()) for _, b in pairs), default=1.0)
    return difference, max((float(jnp.abs(a - b).max()) / largest for a, b in pairs), default=0.0)


def filled(state, fresh):
    """What torch does not keep, from a state made anew."""
    state = state or {}
    return {k: filled(state.get(k), v) if isinstance(v, dict) else v if state.get(k) is None else state[k] for k, v in fresh.items()}


def compare_jax(folder, cases):
    """Print a line of JSON for each model that was kept: its name, and the errors or what went wrong."""
    import torch

    for case, path, made, _ in cases:
        if not (folder / f"{case}.pt").exists():
            continue
        try:
            result = errors(torch.load(folder / f"{case}.pt"), path, made)
        except Exception as failure:  # converted code may raise anything
            result = f"{type(failure).__name__}: {str(failure).strip().splitlines()[0] if str(failure).strip() else ''}"[:200]
        print(json.dumps([case, result]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=list(CASES))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="", help="a part of the names of the cases")
    parser.add_argument("--side", choices=["torch", "jax"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = chosen(options.name, options.only)
    if options.side:
        sys.path[:0] = [str(options.directory), str(options.directory / "src")]
        sys.meta_path.append(_StandIns())
        (keep_torch if options.side == "torch" else compare_jax)(options.folder, cases)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder, out = Path(temporary) / "kept", Path(temporary) / "out"
        folder.mkdir()
        subprocess.run([sys.executable, "-c", "import sys; from transpile import convert_path; convert_path(sys.argv[1], sys.argv[2])", str(options.directory), str(out)], check=True)
        lines = []
        for side, directory in (("torch", options.directory), ("jax", out)):
            again = [sys.executable, "-m", "benchmarks.repositories", options.name, str(directory), "--only", options.only, "--side", side, "--folder", str(folder)]
            lines += subprocess.run(again, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [json.loads(line) for line in lines if line.startswith('["')]
    same = 0
    for case, result in rows:
        right = not isinstance(result, str) and result[0] < TOLERANCE and result[1] < GRADIENT_TOLERANCE
        same += right
        print(f"{case:20} {result if isinstance(result, str) else ('' if right else 'DIFFERS ') + f'{result[0]:.1e}, gradients {result[1]:.1e}'}")
    print(f"{same} of {len(rows)} models the same")


if __name__ == "__main__":
    main()
