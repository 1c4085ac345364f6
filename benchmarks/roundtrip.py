"""Parse real files and write them again, with no rules: no byte may change. Files without torch come back from the converter.

    python -m benchmarks.roundtrip DIRECTORY… [--files 2000]

Last line: how many files were written the same, and how many without torch came back unchanged.
"""

import argparse
import ast
import sys
import tokenize
import warnings
from pathlib import Path

import libcst as cst

from transpile import convert_source


def sources(directories, count):
    """So many files, evenly over all of them in order."""
    found = [f for d in directories for f in sorted(Path(d).rglob("*.py"))]
    return found[:: max(1, len(found) // count)][:count]


def read(path):
    """The text as it is, line endings included; None where the file is not Python."""
    try:
        with tokenize.open(path) as file:
            encoding = file.encoding
        text = path.read_bytes().decode(encoding)
        ast.parse(text)
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError):
        return None
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+")
    parser.add_argument("--files", type=int, default=2000)
    arguments = parser.parse_args()
    sys.setrecursionlimit(10_000)
    warnings.simplefilter("ignore")
    same = total = unchanged = without = 0
    for path in sources(arguments.directories, arguments.files):
        text = read(path)
        if text is None:
            print(f"not Python: {path}")
            continue
        total += 1
        if cst.parse_module(text).code == text:
            same += 1
        else:
            print(f"WRITTEN DIFFERENTLY: {path}")
        if "torch" not in text:
            without += 1
            if convert_source(text).code == text:
                unchanged += 1
            else:
                print(f"CHANGED: {path}")
    print(f"{same} of {total} files written the same; {unchanged} of {without} without torch unchanged")
    sys.exit(same != total or unchanged != without)


if __name__ == "__main__":
    main()
