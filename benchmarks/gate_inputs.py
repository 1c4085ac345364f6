"""The inputs of the gate: copies in DIR/inputs, so that they stay what they were. See gate.py."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def gather(folder: Path, packages: list[Path], corpus: Path | None, count: int) -> None:
    """Copy all inputs but those of the tests, which `record` writes."""
    fixtures = fresh(folder / "inputs/fixtures")
    for file in sorted((ROOT / "fixtures/torch").glob("*.py")):
        copied(file, fixtures / file.name)
    chosen = fresh(folder / "inputs/corpus")
    for file in stratified(corpus, count) if corpus else []:
        copied(file, chosen / file.name)
    target = fresh(folder / "inputs/packages")
    for package in map(Path.resolve, packages):  # two may have the same name in different folders
        copied(package, target / package.parent.name / package.name)


def record(folder: Path, tests: list[str], run: bool) -> int:
    """Run the tests for what they convert. Most fail, as they should: see gate_recorder.py."""
    target = folder / "inputs/tests"
    if not tests:  # else theirs are added
        fresh(target)
    target.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-p", "benchmarks.gate_recorder", "--tb=line"]
    command.append("--ignore=tests/test_gate.py")  # it converts only to try the gate
    wanted = {"RECORD_TO": str(target.resolve()), "RECORD_RUN": "1" if run else ""}
    with (folder / "sources.log").open("w") as log:
        done = subprocess.run([*command, *tests], cwd=ROOT, env=os.environ | wanted, stdout=log)
    print(f"{len(list(target.iterdir()))} sources; how the tests ran: {folder / 'sources.log'}")
    return 0 if done.returncode in (0, 1) else done.returncode  # 1: some failed


def stratified(corpus: Path, count: int) -> list[Path]:
    """Files of all lengths: evenly from the list by length."""
    files = [p for p in sorted(corpus.glob("*.py")) if p.is_file()]
    return evenly(sorted(files, key=lambda p: p.read_bytes().count(b"\n")), count)


def evenly(items: list, count: int) -> list:
    count = min(count, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def names_of(folder: Path) -> list[str]:
    """All inputs: what lies in the folder of its kind as a file, or one folder further down."""
    found = [*folder.glob("inputs/*/*.py"), *folder.glob("inputs/*/*/*")]
    return sorted(p.relative_to(folder / "inputs").as_posix() for p in found)


def input_of(name: str) -> str:
    """The input that a row of this name comes from."""
    return "/".join(name.split("/")[:3])


def source_hash(path: Path) -> str:
    texts = [(p.relative_to(path).as_posix(), p.read_bytes()) for p in python_files(path)]
    return digest(repr(texts).encode())


def python_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(p for p in path.rglob("*.py") if p.is_file())


def copied(source: Path, target: Path) -> None:
    """A file, or a folder with nothing but its Python files."""
    for file in python_files(source):
        to = target / file.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, to)


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
