"""Lower real files to the model and write them again: no byte may change, also where every expression is replaced by its equal.

    python -m benchmarks.roundtrip DIRECTORY… [--files 2000]

Files without torch must come back from the converter as they are. Last lines: how many files were written the same and came
back unchanged; what lowering and walking cost beside LibCST's parse and write of the same files; bytes of memory per line.
"""

import argparse
import ast
import gc
import pickle
import sys
import time
import tokenize
import tracemalloc
import warnings
from pathlib import Path, PurePosixPath

import libcst as cst

from transpile import convert_source
from transpile.model.copy import clone
from transpile.model.node import Expression
from transpile.source.lower import lower
from transpile.source.splice import write


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


def same_bytes(text):
    """Whether a file comes back to the byte from the model, and from one of which each expression is another, equal one."""
    file = lower(text, PurePosixPath("module.py"))
    if write(file) != text:
        return False
    for node in reversed(list(file.walk())):
        if isinstance(node, Expression):
            equal = clone(node)
            equal.touched = True  # its text is put together from its parts
            node.replace(equal)
    return write(file) == text


def seconds(work, *arguments):
    start = time.process_time()
    result = work(*arguments)
    return time.process_time() - start, result


def costs(texts):
    """Seconds of LibCST's parse and write, of lowering beside the parse, and of walking; nodes; bytes a line that stay."""
    parsing = lowering = writing = walking = nodes = 0.0
    gc.disable()
    for text in texts:
        spent, module = seconds(cst.parse_module, text)
        parsing += spent
        writing += seconds(lambda module: module.code, module)[0]
        spent, file = seconds(lower, text, PurePosixPath("module.py"))
        lowering += spent
        spent, count = seconds(lambda file: sum(1 for _ in file.walk()), file)
        walking, nodes = walking + spent, nodes + count
    gc.enable()
    return parsing, writing, lowering - parsing, walking, nodes


def memory(texts):
    """The bytes of the models of some files."""
    gc.collect()
    tracemalloc.start()
    models = [lower(text, PurePosixPath("module.py")) for text in texts]
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(pickle.dumps(models[0])) > 0
    return held


def report_costs(texts):
    lines = sum(text.count("\n") for text in texts) or 1
    parsing, writing, lowering, walking, nodes = costs(texts)
    print(f"{lines} lines: LibCST parses in {parsing:.1f} s and writes in {writing:.1f} s")
    ratio = lowering / (parsing + writing)
    print(f"lowering: {lowering:.1f} s, {ratio:.2f} of that, {lines / lowering:,.0f} lines/s")
    print(f"walking: {nodes / walking:,.0f} nodes/s, {nodes / lines:.1f} nodes a line")
    sample = texts[: max(1, len(texts) // 20)]
    held = memory(sample) / sum(text.count("\n") for text in sample)
    print(f"memory: {held:,.0f} bytes a line")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+")
    parser.add_argument("--files", type=int, default=2000)
    arguments = parser.parse_args()
    sys.setrecursionlimit(10_000)
    warnings.simplefilter("ignore")
    same = total = unchanged = without = 0
    texts = []
    for path in sources(arguments.directories, arguments.files):
        text = read(path)
        if text is None:
            print(f"not Python: {path}")
            continue
        total += 1
        texts.append(text)
        if same_bytes(text):
            same += 1
        else:
            print(f"WRITTEN DIFFERENTLY: {path}")
        if "torch" not in text:
            without += 1
            if convert_source(text).code == text:
                unchanged += 1
            else:
                print(f"CHANGED: {path}")
    report_costs(texts)
    print(f"{same} of {total} files written the same; {unchanged} of {without} without torch unchanged")
    sys.exit(same != total or unchanged != without)


if __name__ == "__main__":
    main()
