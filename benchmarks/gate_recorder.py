"""A pytest plugin that keeps what the tests convert: `python -m benchmarks.gate sources DIR`.

The folder is RECORD_TO. A text becomes TEST-HASH.py; what convert_path gets, TEST-HASH/NAME with
its layout; TEST is the file with the first test that converts it. Tests are left out whose code
names nothing that comes to the converter.

What a test gets back converts when it is asked for its code or diagnostics, so that the test goes
on to its next source. Asked for its support file, without which no test runs the code, it raises:
that leaves out nearly all of torch and jax. A test that runs one conversion before it makes
another gives only the first: `sources DIR TEST… --run` runs such tests in full, and adds theirs.
"""

import functools
import os
import sys
import types
from pathlib import Path

import transpile

from .gate_inputs import copied, digest, python_files


class NotRun(Exception):
    """An ordinary error, so that a loop that counts the errors of its samples goes on."""


class Recorder:
    """Stands in for the functions that convert."""

    def __init__(self, folder: Path, run: bool, from_source, from_path):
        self.folder, self.run = folder, run
        self.from_source, self.from_path = from_source, from_path
        self.kept = {p.stem.rpartition("-")[2] for p in folder.iterdir()}

    def convert_source(self, text, *args, **kwargs):
        content = text.encode("utf-8", "surrogatepass")
        if target := self.new(digest(content)):
            Path(f"{target}.py").write_bytes(content)
        make = functools.partial(self.from_source, text, *args, **kwargs)
        return make() if self.run else Later(make)

    def convert_path(self, source, *args, **kwargs):
        path = Path(source)
        texts = [(str(p.relative_to(path.parent)), p.read_bytes()) for p in python_files(path)]
        if target := self.new(digest(repr(texts).encode())):
            copied(path, target / path.name)
        return self.from_path(source, *args, **kwargs)

    def new(self, name: str) -> Path | None:
        """Where to keep it, but for a file's ending; None where it is kept already."""
        if name in self.kept:
            return None
        self.kept.add(name)
        test = os.environ.get("PYTEST_CURRENT_TEST", "import").partition("::")[0]
        return self.folder / f"{Path(test).stem}-{name}"

    def reached(self, value, seen: set[int]) -> bool:
        """Whether a function, or one that it or its decorators name, converts."""
        value = getattr(value, "__wrapped__", value)
        code = getattr(value, "__code__", None)
        if getattr(value, "__self__", None) is self:
            return True
        if not isinstance(code, types.CodeType) or code in seen:
            return False
        seen.add(code)
        return any(self.reached(v, seen) for v in named(code, value.__globals__))


def named(code: types.CodeType, names: dict) -> list:
    """The values of global names in a function and those inside it; of modules, their parts."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    found = [names[n] for n in code.co_names if n in names]
    modules = [vars(m) for m in found if isinstance(m, types.ModuleType)]
    found += [names[n] for names in modules for n in code.co_names if n in names]
    return found + [value for c in inner for value in named(c, names)]


class Later:
    """A result that is made when it is asked for."""

    def __init__(self, make):
        self.make = make

    @functools.cached_property
    def made(self):
        return self.make()

    @property
    def code(self):
        return self.made.code

    @property
    def diagnostics(self):
        return self.made.diagnostics

    @property
    def support(self):
        raise NotRun("only the sources are asked for")


def install(folder: Path, run: bool) -> Recorder:
    """Before any test file is imported, so that each imports what stands in."""
    recorder = Recorder(folder, run, transpile.convert_source, transpile.convert_path)
    for name in ("convert_source", "convert_path"):
        for module in (sys.modules[getattr(transpile, name).__module__], transpile):
            setattr(module, name, getattr(recorder, name))
    return recorder


def pytest_configure(config):
    config.gate_recorder = install(Path(os.environ["RECORD_TO"]), bool(os.environ["RECORD_RUN"]))


def pytest_collection_modifyitems(config, items):
    def wanted(item):
        fixtures = [f[-1].func for f in item._fixtureinfo.name2fixturedefs.values()]
        return any(config.gate_recorder.reached(f, set()) for f in (item.function, *fixtures))

    if not config.gate_recorder.run:
        items[:] = filter(wanted, items)
