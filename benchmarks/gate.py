"""The gate for changes of the engine: keeps the output for a fixed set of inputs, and compares with
it what another state of the code makes of the same inputs. A file that comes out equal keeps
whatever was once shown of it (tests, parity with torch); only what differs needs a look.

    python -m benchmarks.gate sources DIR [TEST…]       # what the tests convert, by running them
    PARITY_CORPUS=FOLDER python -m benchmarks.gate keep DIR PACKAGE… [--jobs 2]
    python -m benchmarks.gate compare DIR [--show 3] [--only WORD] [--sample 30]
    python -m benchmarks.gate accept DIR NAME… --reason "the same, one name fewer"

DIR then has copies of the inputs, so that comparing needs nothing else:

    inputs/corpus, inputs/fixtures, inputs/tests        single files, by convert_source
    inputs/packages/FOLDER/NAME, inputs/tests/TEST/NAME what convert_path gets, with its layout
    kept.jsonl    a first line on the run, then for each file of the output its code, support file
                  and diagnostics (id and line), or the error; a package's support file is a row
    now.jsonl     the same of the last `compare`
    accepted.txt  name, hash of the new output, reason

`compare` exits with 1 where a file differs that is not accepted, and says "formatted" where black
makes both the same, comments included. Run at the commit of `keep` under another PYTHONHASHSEED it
finds what goes by chance. Only the functions of `transpile` itself are used, whatever engine is
behind them; each input is converted in a process of its own, so that none depends on another.
"""

import argparse
import contextlib
import difflib
import functools
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

import black

import transpile

from .gate_inputs import (
    ROOT,
    digest,
    evenly,
    gather,
    input_of,
    names_of,
    python_files,
    record,
    source_hash,
)

SUPPORT = "jax_nn.py"
Row = dict  # name, source (its hash); and code, support, diagnostics, or error


# ---- converting ------------------------------------------------------------------------------


def convert(folder: Path, name: str) -> list[Row]:
    """The rows of one input."""
    path = folder / "inputs" / name
    try:
        if name.count("/") > 1:
            made = package_rows(path, name)
        else:
            result = transpile.convert_source(path.read_bytes().decode())
            made = [output(name, result.code, result.support, result.diagnostics)]
    except Exception as error:  # whatever it is: it is what came out
        made = [{"name": name, "error": f"{type(error).__name__}: {error}".partition("\n")[0]}]
    return [row | {"source": source_hash(path)} for row in made]


def package_rows(path: Path, name: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / path.name  # the same last name, for a file that is converted alone
        report = transpile.convert_path(path, out)
        rows = []
        for file in report.files:
            inside = "" if path.is_file() else "/" + file.source.relative_to(path).as_posix()
            code = file.target.read_bytes().decode("utf-8", "replace") if file.target else ""
            rows.append(output(name + inside, code, "", file.diagnostics))
        for support in Path(temporary).rglob(SUPPORT):
            rows.append(output(f"{name}/{SUPPORT}", "", support.read_text(), []))
        return rows


def output(name: str, code: str, support: str, diagnostics: list) -> Row:
    found = sorted({(d.id, d.line) for d in diagnostics})
    return {"name": name, "code": code, "support": support, "diagnostics": [list(d) for d in found]}


def rows_of(folder: Path, names: list[str], jobs: int, limit: float) -> Iterator[Row]:
    """The rows of all inputs as they come, each input in a process of its own."""
    waiting, running = names[::-1], {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                receiving, process = started(folder, waiting[-1])
                seconds = limit * len(python_files(folder / "inputs" / waiting[-1]))
                running[receiving] = waiting.pop(), process, time.monotonic() + seconds
            ready = wait(running, timeout=1)
            for receiving, (name, process, end) in list(running.items()):
                if receiving in ready or time.monotonic() > end:
                    yield from received(folder, name, receiving if receiving in ready else None)
                    del running[receiving]
                    process.kill()
                    process.join()
    finally:
        for _, process, _ in running.values():
            process.kill()


def started(folder: Path, name: str) -> tuple[Connection, multiprocessing.Process]:
    """Where the rows of an input will come from, and the process that makes them."""
    context = multiprocessing.get_context("fork")  # not to read the rules again for each input
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sending.send(convert(folder, name)))
    process.start()
    sending.close()  # so that the end of the process is the end of the pipe
    return receiving, process


def received(folder: Path, name: str, receiving: Connection | None) -> list[Row]:
    error = "over the time limit"
    with contextlib.suppress(EOFError):
        if receiving:
            error = "the process died"
            return receiving.recv()
    return [{"name": name, "error": error, "source": source_hash(folder / "inputs" / name)}]


# ---- keeping and comparing -------------------------------------------------------------------


def state() -> Row:
    git = functools.partial(subprocess.run, cwd=ROOT, capture_output=True, text=True)
    commit = git(["git", "describe", "--always", "--dirty"]).stdout.strip()
    return {"commit": commit, "hash seed": os.environ.get("PYTHONHASHSEED", "random")}


def write(path: Path, rows: Iterable[Row]) -> None:
    unfinished = path.with_suffix(".part")
    with unfinished.open("w") as out:
        for row in itertools.chain([state()], rows):
            print(json.dumps(row), file=out, flush=True)
    unfinished.replace(path)


def read(path: Path) -> tuple[Row, dict[str, Row]]:
    head, *rows = map(json.loads, path.read_text().splitlines())
    return head, {row["name"]: row for row in sorted(rows, key=lambda row: row["name"])}


def keep(folder: Path, rows: Iterable[Row]) -> None:
    write(folder / "kept.jsonl", rows)
    _, kept = read(folder / "kept.jsonl")
    for kind, n in sorted(Counter(name.partition("/")[0] for name in kept).items()):
        print(f"{n:6} {kind}")
    for name, row in kept.items():
        if "error" in row:
            print(f"{name}: {row['error']}")


def compare(folder: Path, names: set[str], rows: Iterable[Row], show: int) -> int:
    """Print each file's verdict as it comes, then counts and differences; 1 where there are any."""
    head, kept = read(folder / "kept.jsonl")
    accepted = read_accepted(folder)
    wanted = {name: row for name, row in kept.items() if input_of(name) in names}
    now, verdicts = {}, {}
    for row in rows:
        name = row["name"]
        now[name] = row
        verdicts[name] = verdict(wanted.get(name), row, accepted)
        print(f"{verdicts[name]:9} {name}", flush=True)
    for name in wanted.keys() - now.keys():
        verdicts[name] = "differs"
    write(folder / "now.jsonl", now.values())
    differing = sorted(name for name, found in verdicts.items() if found == "differs")
    for name in differing[:show]:
        print(*difference(name, wanted.get(name), now.get(name)), sep="\n")
    for name in differing:
        print(f"differs: {name} ({what(wanted.get(name), now.get(name))})")
    print(f"kept: {head}", f"now:  {state()}", sep="\n")
    print(*(f"{n} {found}" for found, n in sorted(Counter(verdicts.values()).items())), sep=", ")
    return 1 if differing else 0


def verdict(kept: Row | None, now: Row, accepted: dict[str, str]) -> str:
    if kept == now:
        return "equal"
    if kept and formatted(kept) == formatted(now):
        return "formatted"
    return "accepted" if accepted.get(now["name"]) == row_hash(now) else "differs"


def formatted(row: Row) -> Row:
    return row | {part: black_of(row[part]) for part in ("code", "support") if part in row}


@functools.lru_cache(maxsize=1000)  # one change to jax_nn.py is in the rows of many files
def black_of(text: str) -> str:
    with contextlib.suppress(Exception):  # what black cannot read is compared as it is
        return black.format_str(text, mode=black.Mode(line_length=100, magic_trailing_comma=False))
    return text


def what(kept: Row | None, now: Row | None) -> str:
    """Which parts of two rows differ."""
    if not kept or not now:
        return "was not there" if now else "is gone"
    return ", ".join(k for k in sorted(kept.keys() | now.keys()) if kept.get(k) != now.get(k))


def difference(name: str, kept: Row | None, now: Row | None) -> list[str]:
    texts = []
    for row in (kept or {}, now or {}):
        found = [f"{id}:{line}" for id, line in row.get("diagnostics", [])]
        parts = (row.get("error", ""), row.get("code", ""), row.get("support", ""), *found)
        texts.append([line for part in parts for line in part.splitlines()])
    return list(difflib.unified_diff(*texts, f"kept/{name}", f"now/{name}", lineterm=""))


def row_hash(row: Row) -> str:
    return digest(json.dumps(row, sort_keys=True).encode())


def read_accepted(folder: Path) -> dict[str, str]:
    path = folder / "accepted.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split("\t")[:2] for line in lines)


def accept(folder: Path, names: list[str], reason: str) -> int:
    """Take the outputs of the last `compare` for right."""
    _, now = read(folder / "now.jsonl")
    for name in names:
        if name not in now:
            print(f"the last compare has no {name}")
            return 1
    with (folder / "accepted.txt").open("a") as out:
        for name in names:
            print(name, row_hash(now[name]), " ".join(reason.split()), sep="\t", file=out)
    return 0


# ---- the command -----------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    of = {name: commands.add_parser(name) for name in ("sources", "keep", "compare", "accept")}
    for command in of.values():
        command.add_argument("folder", type=Path)
    of["sources"].add_argument("tests", nargs="*", help="what to run rather than all tests")
    of["sources"].add_argument("--run", action="store_true", help="in full: loses none, takes long")
    of["keep"].add_argument("packages", nargs="*", type=Path)
    of["keep"].add_argument("--corpus-files", type=int, default=320)
    for command in (of["keep"], of["compare"]):
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        command.add_argument("--limit", type=float, default=300, help="seconds for a file")
    of["compare"].add_argument("--show", type=int, default=0, help="how many differences to print")
    of["compare"].add_argument("--only", default="", help="a part of the inputs' names")
    of["compare"].add_argument("--sample", type=int, help="only so many inputs, of all kinds")
    of["accept"].add_argument("names", nargs="+")
    of["accept"].add_argument("--reason", required=True)
    return parser.parse_args()


def main() -> int:
    options = arguments()
    folder = options.folder
    if options.command == "sources":
        return record(folder, options.tests, options.run)
    if options.command == "accept":
        return accept(folder, options.names, options.reason)
    if options.command == "keep":
        corpus = os.environ.get("PARITY_CORPUS")
        gather(folder, options.packages, corpus and Path(corpus), options.corpus_files)
    transpile.convert_source("import torch\n")  # reads the rules, before processes are forked
    names = names_of(folder)
    if options.command == "keep":
        keep(folder, rows_of(folder, names, options.jobs, options.limit))
        return 0
    names = [name for name in names if options.only in name]
    names = evenly(names, options.sample or len(names))
    rows = rows_of(folder, names, options.jobs, options.limit)
    return compare(folder, set(names), rows, options.show)


if __name__ == "__main__":
    sys.exit(main())
