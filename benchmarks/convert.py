"""What converting costs: relative to LibCST's own parse, no-op visit and code generation of the same files, in one run.

    python -m benchmarks.convert DIRECTORY_OR_FILE… [--slowest 5]

Formatting is not counted. Each file is converted by itself. Times are of this process's CPU. Last line: the ratio.
"""

import argparse
import gc
import sys
import time
from pathlib import Path

import libcst as cst

from transpile.command import cache, engine


def floor(text: str) -> str:
    """What any rewriting with LibCST costs at least."""
    return cst.parse_module(text).visit(cst.CSTTransformer()).code


def conversion(text: str) -> str:
    """Everything but formatting."""
    return engine.unformatted(text).code


def seconds(work, text: str) -> float:
    gc.collect()
    gc.disable()  # for both alike; the command does the same
    start = time.process_time()
    work(text)
    gc.enable()
    return time.process_time() - start


def files(paths: list[str]) -> list[Path]:
    found = [f for p in map(Path, paths) for f in (sorted(p.rglob("*.py")) if p.is_dir() else [p])]
    return [f for f in found if f.stat().st_size]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--slowest", type=int, default=5, help="how many of the slowest files to list")
    arguments = parser.parse_args()
    sys.setrecursionlimit(10_000)
    cache.rulebook()  # once in a process, not once a file
    rows = []
    for path in files(arguments.paths):
        text = path.read_text(encoding="utf-8")
        rows.append((path, len(text.splitlines()), seconds(floor, text), seconds(conversion, text)))
    rows.sort(key=lambda row: row[3] / row[2], reverse=True)
    for path, lines, least, ours in rows[: arguments.slowest]:
        print(f"{path.name:40} {lines:6} lines  libcst {least:6.2f} s  convert {ours:6.2f} s  {ours / least:5.2f}x")
    lines, least, ours = (sum(column) for column in list(zip(*rows))[1:])
    print(f"{len(rows)} files, {lines} lines: libcst {least:.1f} s, convert {ours:.1f} s: {ours / least:.2f}x")


if __name__ == "__main__":
    main()
