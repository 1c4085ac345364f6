"""The process behind `torch-to-jax verify`: it imports and runs the user's code, and reports."""

from __future__ import annotations

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
from .equivalence import Report, Row, verify, verify_init, verify_lowering

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
    import torch

    source = Path(request["path"]).resolve()
    root = package_root(source)
    inside = root != source.parent
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary)
        if request.get("converted"):
            target = Path(request["converted"]).resolve()
            out = target.parent
            diagnostics: list[Any] = []
        elif inside:
            package = root / source.relative_to(root).parts[0]
            diagnostics = conversion.convert_path(package, out / package.name).diagnostics
            target = out / source.relative_to(root)
        else:
            target = out / source.name
            diagnostics = conversion.convert_path(source, target).diagnostics
        name = ".".join(source.relative_to(root).with_suffix("").parts)
        if inside:
            sys.path.insert(0, str(root))
            original = importlib.import_module(name)
            torch_modules = {
                k: sys.modules.pop(k)
                for k in list(sys.modules)
                if k.split(".")[0] == name.split(".")[0]
            }
            sys.path.insert(0, str(out))
            converted = importlib.import_module(name)
            del torch_modules
        else:
            original = load(source, f"torch_{source.stem}", source.parent)
            converted = load(target, f"jax_{target.stem}", target.parent)
        report = Report()
        for diagnostic in diagnostics:
            report.rows.append(
                Row(
                    "diagnostic",
                    f"{diagnostic.line}",
                    True,
                    None,
                    f"{diagnostic.id}: {diagnostic.message}",
                )
            )
        torch.manual_seed(0)
        args_torch, inputs = _example(request, original)
        args_jax = args_torch if request.get("example") else _arguments(request["init"], converted)
        # each construction gets arguments of its own: a constructor may fill in its config
        make: Any = lambda: _construct(getattr(original, request["cls"]), args_torch)  # noqa: E731
        jax_module = _construct(getattr(converted, request["cls"]), args_jax)
        torch_module = make()
        for training in (False, True):
            for dtype in ("float64", "float32"):
                report.rows += verify(
                    torch_module, jax_module, *inputs, training=training, dtype=dtype
                ).rows
        report.rows += verify_init(make, jax_module).rows
        report.rows += verify_lowering(torch_module.eval(), jax_module, *inputs).rows
        return report


def _construct(cls: Any, arguments: tuple[Any, Any]) -> Any:
    args, kwargs = copy.deepcopy(arguments)
    return cls(*args, **kwargs)


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
