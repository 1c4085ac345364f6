"""What converting costs, all included, beside LibCST's own parse and write of the same files in the same process.

    python -m benchmarks.convert DIRECTORY_OR_FILE… [--files 100] [--slowest 5]

Each file is converted by itself, formatted, with its jax_nn.py. Times are of this process's CPU. Last line: the ratio.
"""

import argparse
import gc
import sys
import time
from pathlib import Path

import libcst as cst

import transpile
from transpile.command import cache


def floor(text: str) -> str:
    """What any rewriting with LibCST costs at least."""
    return cst.parse_module(text).code


def seconds(work, text: str) -> float:
    gc.collect()
    gc.disable()  # for both alike; the command does the same
    start = time.process_time()
    work(text)
    gc.enable()
    return time.process_time() - start


def files(paths: list[str], count: int) -> list[Path]:
    """So many files of those below each path, evenly over all of them in order."""
    found: list[Path] = []
    for path in map(Path, paths):
        below = [f for f in (sorted(path.rglob("*.py")) if path.is_dir() else [path]) if f.stat().st_size]
        found += below[:: max(1, len(below) // count)][:count]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--files", type=int, default=1_000_000, help="how many of each directory")
    parser.add_argument("--slowest", type=int, default=5, help="how many of the slowest files to list")
    arguments = parser.parse_args()
    sys.setrecursionlimit(10_000)
    cache.rulebook()  # once in a process, not once a file
    rows = []
    for path in files(arguments.paths, arguments.files):
        text = path.read_text(encoding="utf-8")
        spent = seconds(floor, text), seconds(transpile.convert_source, text)
        rows.append((path, len(text.splitlines()), *spent))
    rows.sort(key=lambda row: row[3] / row[2], reverse=True)
    for path, lines, least, ours in rows[: arguments.slowest]:
        print(f"{path.name:40} {lines:6} lines  libcst {least:6.2f} s  convert {ours:6.2f} s  {ours / least:5.2f}x")
    lines, least, ours = (sum(column) for column in list(zip(*rows))[1:])
    print(f"{len(rows)} files, {lines} lines: libcst {least:.1f} s, convert {ours:.1f} s: {ours / least:.2f}x")


if __name__ == "__main__":
    main()
