"""The process behind `torch-to-jax verify`: it imports and runs the user's code, and reports."""

import copy
import importlib
import importlib.util
import json
import re
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from ..command import convert as conversion
from .equivalence import Report, Row, verify, verify_lowering
from .initial import verify_init
from .models import constructed

SHAPE = re.compile(r"^(f16|bf16|f32|f64|i8|i16|i32|i64|u8|bool)\[([\d, ]*)\]$")


def parse_inputs(text: str) -> list[Any]:
    """Torch tensors for `f32[2,3] i64[4]`: floats are normal, ints below 10 (or `i64[2,16]<50`),
    bools by halves."""
    import torch

    generator = torch.Generator().manual_seed(0)
    made = []
    for word in re.findall(r"[a-z]+\d*\[[^\]]*\](?:<\d+)?", text):
        body, _, limit = word.partition("<")
        found = SHAPE.match(body)
        if found is None:
            raise ValueError(f"not a shape: {word!r}; write f32[2,3] or i32[2,16]<50")
        kind, shape = found[1], [int(n) for n in found[2].split(",") if n.strip()]
        if kind.startswith(("i", "u")):
            made.append(torch.randint(0, int(limit or 10), shape, generator=generator))
        elif kind == "bool":
            made.append(torch.rand(shape, generator=generator) < 0.5)
        else:
            made.append(torch.randn(shape, generator=generator))
    if not made:
        raise ValueError(f"no inputs in {text!r}; write f32[2,3] or i32[2,16]<50")
    return made


def load(path: Path, name: str, root: Path) -> Any:
    """Import a file under a name, with its directory importable."""
    sys.path.insert(0, str(root))
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=None)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def package_root(path: Path) -> Path:
    """The directory above the outermost package that a file is in."""
    directory = path.parent
    while (directory / "__init__.py").exists():
        directory = directory.parent
    return directory


def run(request: dict[str, Any]) -> Report:
    """Convert, import both sides, compare."""
    import jax
    import torch

    with tempfile.TemporaryDirectory() as temporary:
        original, converted, diagnostics = _sides(request, Path(temporary))
        report = Report()
        for found in diagnostics:
            note = f"{found.id}: {found.message}"
            report.rows.append(Row("diagnostic", f"{found.line}", True, None, note))
        torch.manual_seed(0)
        args_torch, inputs = _example(request, original)
        args_jax = args_torch if request.get("example") else _arguments(request["init"], converted)

        # each construction gets arguments of its own: a constructor may fill in its config
        def make_torch() -> Any:
            args, kwargs = copy.deepcopy(args_torch)
            return getattr(original, request["cls"])(*args, **kwargs)

        def make_jax(key: Any) -> Any:
            args, kwargs = copy.deepcopy(args_jax)
            return constructed(getattr(converted, request["cls"]), args, kwargs, key)

        torch_module, model = make_torch(), make_jax(jax.random.key(0))
        for training in (False, True):
            for dtype in ("float64", "float32"):
                report.rows += verify(
                    torch_module, model, *inputs, training=training, dtype=dtype
                ).rows
        functional = hasattr(model, "init_state")
        report.rows += verify_init(make_torch, model if functional else make_jax).rows
        report.rows += verify_lowering(torch_module.eval(), model, *inputs).rows
        return report


def _sides(request: dict[str, Any], out: Path) -> tuple[Any, Any, list[Any]]:
    """The file and what it is converted to, both imported, and what was told of it."""
    source, target = Path(request["path"]).resolve(), request.get("target", "functional")
    root = package_root(source)
    inside = root != source.parent
    diagnostics: list[Any] = []
    made = out / source.relative_to(root)
    if request.get("converted"):
        made = Path(request["converted"]).resolve()
        out = package_root(made)
    elif inside:
        package = root / source.relative_to(root).parts[0]
        diagnostics = conversion.convert_path(package, out / package.name, target).diagnostics
    else:
        diagnostics = conversion.convert_path(source, made, target).diagnostics
    if not inside:
        original = load(source, f"torch_{source.stem}", source.parent)
        return original, load(made, f"jax_{made.stem}", made.parent), diagnostics
    original = _imported(source, root)
    for name in [k for k in sys.modules if k.split(".")[0] == original.__name__.split(".")[0]]:
        del sys.modules[name]
    return original, _imported(made, out), diagnostics


def _imported(path: Path, root: Path) -> Any:
    """A file of a package, by the name that it has there."""
    sys.path.insert(0, str(root))
    return importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))


def _example(request: dict[str, Any], original: Any) -> tuple[Any, list[Any]]:
    if request.get("example"):
        example: Any = load(
            Path(request["example"]).resolve(),
            "example_of_inputs",
            Path(request["example"]).resolve().parent,
        )
        made = example.example()
        arguments, inputs = made
        return (tuple(arguments), {}), list(inputs)
    return _arguments(request["init"], original), parse_inputs(request["inputs"])


def _arguments(text: str, module: Any) -> Any:
    """Constructor arguments, evaluated with the names of the module."""
    collect = lambda *args, **kwargs: (args, kwargs)  # noqa: E731
    return eval(f"_collect({text})", {**vars(module), "_collect": collect})


def failure(error: BaseException) -> str:
    """What went wrong, and the last line that it went through outside of libraries."""
    own = str(Path(__file__).parent)
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if not f.filename.startswith((own, "<")) and "site-packages" not in f.filename
    ]
    where = (
        f" ({Path(frames[-1].filename).name}:{frames[-1].lineno}: {frames[-1].line})"
        if frames
        else ""
    )
    what = str(error).strip().splitlines()
    return f"{type(error).__name__}: {what[0] if what else ''}{where}"


def main() -> None:
    try:
        result = run(json.loads(sys.argv[1])).to_dict()
    except Exception as error:  # the user's code may raise anything
        traceback.print_exc()
        result = {"error": failure(error)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
