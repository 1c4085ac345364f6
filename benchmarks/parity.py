"""The table of causes in parity.md from examined JSON lines: `python -m benchmarks.parity examined.jsonl "what was run" > benchmarks/parity.md`.

"Reported" counts the cases in which a diagnostic stood at a line of the class, or of what it uses of its file.
"""

import collections
import json
import re
import sys
from pathlib import Path

STAGES = ["convert", "run", "match", "grad", "train"]

# a kind of cause, and the words in an error that tell it
KINDS = {
    "time limit": "Timeout|FileNotFoundError.*log",
    "the file's output could not be written": "not converted: 0 of",
    "torch objects given to a constructor": "is no module|must be Tensor, not",
    "data-dependent shapes or numbers": "Concretization|TracerInteger|NonConcreteBoolean|data-dependent|TracerBool|traced-|lengths set a shape",
    "numpy on traced arrays": "TracerArrayConversion",
    "an operation without a rule": "no-rule|arguments|unsupported",
    "random numbers while a module is built": "random-in-init",
    "a module as a value, or with state in an expression": "module-value|state-in-expression",
    "a write that reaches another name": "aliased-write|mutated-argument",
    "a name or attribute that conversion lost": "AttributeError|NameError|takes no arguments|unexpected keyword",
}


_RAN = {"wrong": "wrong: ran and differed", "noise": "ran, and differs by less than 1e-3 of the largest element"}


def kind(error):
    return next((name for name, words in KINDS.items() if re.search(words, error)), "other")


def report(rows, what):
    """Markdown: what was run, the stages, and the causes with their counts and one example each.

    Cases that give a constructor a torch object without a counterpart are not counted, as the judge does.
    """
    rows = [row for row in rows if row.get("kind") != "not applicable"]
    total = len(rows)
    reached = {s: total for s in STAGES}
    for row in rows:
        if row.get("failed", "convert"):
            for stage in STAGES[STAGES.index(row.get("failed", "convert")) :]:
                reached[stage] -= 1
    lines = ["# Modules by others", "", what, "", f"| stage | cases | share of {total} |", "| --- | --- | --- |"]
    lines += [f"| {s} | {n} | {n / total:.1%} |" for s, n in reached.items()]
    failed = [row for row in rows if row.get("failed", "convert")]
    causes = collections.defaultdict(list)
    for row in failed:
        causes[_RAN.get(row.get("kind")) or kind(str(row.get("error")))].append(row)
    lines += ["", "| cause | cases | reported | for example |", "| --- | --- | --- | --- |"]
    for cause, found in sorted(causes.items(), key=lambda c: -len(c[1])):
        example, told = found[0], sum(row.get("kind") == "refused" or row.get("verdict", "").startswith("reported") for row in found)
        lines.append(f"| {cause} | {len(found)} | {told} | {example['cls']} in {example['file']}: {str(example.get('error'))[:90].replace('|', '/')} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    path, what = sys.argv[1:]
    print(report([json.loads(line) for line in Path(path).read_text().splitlines()], what), end="")
