"""Examine what the parity harness calls wrong or an error: `python -m benchmarks.examine HARNESS TARGET results.jsonl examined.jsonl`.

HARNESS is the folder of judge.py; TARGET that of the judge's run; PARITY_CORPUS names the corpus; TMPDIR is that of the run, which left the
converter's findings there. Each row that ran and differed, be it by no more than noise, gets a `verdict`, the first that holds:

- `draws`: torch's own outputs or gradients differ between seeds set after the inputs were made: the stage compares random numbers;
- `rounding`: both sides in float64 agree in outputs, gradients and training mode to 1e-6 of the largest element;
- `reported`: the converter reports a line of the class, or of a class or function of the file that it uses;
- `wrong`: none of these.

A row that ended in an error, without a refusal of ours, is `reported` in the same way, or `not reported`. Other rows are copied.
"""

import ast
import functools
import json
import multiprocessing
import re
import sys
import tempfile
from pathlib import Path

import jax
import torch

TOLERANCE = 1e-6
LOCATED = re.compile(r"^(?:\S*/)?(?P<file>test_\S+\.py):(?P<line>\d+):\d+: (?P<id>[\w-]+): ")


def wide(value):
    """The same arguments with their float tensors in float64."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(map(wide, value))
    return {k: wide(v) for k, v in value.items()} if isinstance(value, dict) else value


class Examination:
    """One case of the corpus, seen with the harness's own functions."""

    def __init__(self, harness, target, row):
        sys.path.insert(0, str(harness))
        import cases
        import judge
        import product

        self.cases, self.judge, self.model = cases, judge, product.MODELS[target]
        product.TARGET = target
        product.prepare()
        cases.setup_process()
        self.case = cases.load_file(cases.CORPUS / row["file"])[row["index"]]
        rows = map(json.loads, (harness / "eager.jsonl").read_text().splitlines())
        self.trains = next(r["train"] for r in rows if (r["file"], r["index"]) == (row["file"], row["index"]))

    def torch_results(self, training):
        """Torch's outputs and buffers, in float64."""
        module = self.cases.build(self.case).double().train(training)
        args, kwargs = map(wide, self.cases.inputs(self.case))
        with torch.no_grad():
            return module(*args, **kwargs), list(module.buffers())

    def drawn(self, seed):
        """Torch's outputs, buffers and gradients in float32, drawn from a seed on."""
        for training in [False] + [True] * self.trains:
            module, (args, kwargs) = self.cases.build(self.case).train(training), self.cases.inputs(self.case)
            self.cases.seed(seed)
            with torch.no_grad():
                yield module(*args, **kwargs), list(module.buffers())
        module, inputs = self.cases.build(self.case), self.cases.inputs(self.case)
        self.cases.seed(seed)
        if (gradient := self.judge.torch_gradient(module, *inputs)) is not None:
            yield [*gradient[0].values(), *gradient[1]]

    def draws(self):
        """Eighteen seeds: a dropout of 0.02 draws the same from most."""
        first = list(self.drawn(2))
        return any(not self.cases.compare(a, b)["ok"] for seed in range(3, 20) for a, b in zip(first, self.drawn(seed)))

    def stages(self):
        """The harness's comparisons with both sides in float64, one after the other."""
        cases, case = self.cases, self.case
        inputs = lambda: tuple(map(wide, cases.inputs(case)))
        for training in [False] + [True] * self.trains:
            module = cases.build(case).double().train(training)
            model = self.model(case, module)
            out, got = model.forward(*inputs(), training=training)
            yield cases.compare(self.torch_results(training)[0], out, TOLERANCE, TOLERANCE)
            if training:
                buffers = dict(module.named_buffers())
                module(*inputs()[0], **inputs()[1])
                names = [k for k in got if k in buffers]
                yield cases.compare([buffers[k] for k in names], [got[k] for k in names], TOLERANCE, TOLERANCE)
            if not training:
                gradient = self.judge.torch_gradient(cases.build(case).double(), *inputs())
                if gradient is not None:
                    yield self.judge.compare_gradients(module, gradient, model.gradient(*inputs()))

    def agrees(self):
        return all(s["max_scaled"] is not None and s["max_scaled"] < TOLERANCE for s in self.stages())


def reported(target, file, cls):
    """'id at line' of the first finding in the class or in what it uses of its file, '' where there is none."""
    work = Path(tempfile.gettempdir(), f"parity-work-{target}", Path(file).stem)
    if not (work / "log").exists():  # the conversion ran out of time
        return ""
    defined = {s.name: s for s in ast.parse((work / "source" / file).read_text()).body if isinstance(s, (ast.ClassDef, ast.FunctionDef))}
    used, waiting = set(), {cls}
    while waiting:
        name = waiting.pop()
        used.add(name)
        waiting |= {n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name)} & defined.keys() - used
    for line in (work / "log").read_text().splitlines():
        found = LOCATED.match(line)
        if found and any(defined[n].lineno <= int(found["line"]) <= defined[n].end_lineno for n in used):
            return f"{found['id']} at line {found['line']}"
    return ""


def examine(harness, target, row):
    """The verdict on a row that ran and differed."""
    jax.config.update("jax_enable_x64", True)
    examination = Examination(harness, target, row)
    try:
        if examination.draws():
            return "draws"
        if examination.agrees():
            return "rounding"
        why = ""
    except Exception as error:  # whatever another's code raises in float64
        why = f" ({type(error).__name__}: {error})"[:120]
    found = reported(target, row["file"], row["cls"])
    return f"reported: {found}" if found else f"wrong{why}"


def main(harness, target, results, examined):
    rows = [json.loads(line) for line in Path(results).read_text().splitlines()]
    for row in rows:
        if row.get("kind") == "error" and row.get("cls"):
            found = reported(target, row["file"], row["cls"])
            row["verdict"] = f"reported: {found}" if found else "not reported"
    failed = [row for row in rows if row.get("kind") in ("wrong", "noise")]
    # a process for each case: corpus files leave their marks on the interpreter
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        for row, verdict in zip(failed, pool.imap(functools.partial(examine, harness, target), failed)):
            row["verdict"] = verdict
            print(f"{row['file']}::{row['index']} {row['cls']}: {verdict}", flush=True)
    Path(examined).write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
