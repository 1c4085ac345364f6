"""Convert torch's own modules, each held by a class as users hold it, and compare what the classes compute with torch.

    python -m benchmarks.modules [--target flax] [--only REGEX] [--samples N] [-v]

Each of torch's module samples (module_db), and of our own (benchmarks/layer_samples.py), becomes a class

    class Net0(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Conv1d(3, 4, 2, padding='same')

        def forward(self, t0):
            return self.layer(t0)

whose torch side gives the weights. Outputs, gradients of weights and inputs, and the state after two calls in training
are compared in float64, what draws in shapes alone. A module is right only if every sample is; the last lines say how many
are right, refused (by a diagnostic), in error (JAX raises), wrong.
"""

import argparse
import collections
import functools
import os
import re
import traceback
import warnings

import jax
import torch

from benchmarks.layer_samples import SAMPLES
from tests.dialects.verified import built, compare, converted, given, in_float64, namespace
from tests.proof.samples.modules import recorded, samples, without_placement
from transpile.command import TARGETS, engine
from transpile.proof.weights import to_array

ORDER = ("right", "refused", "error", "wrong")
HEAD = "from collections import OrderedDict\n\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
DRAWN = re.compile("Dropout|RReLU|FractionalMaxPool")


class Unwritten(Exception):
    """An argument that has no text."""


class Text:
    """An expression that stands for what `build(nn)` makes: `nn.Linear`, then `nn.Linear(4, 5)`."""

    def __init__(self, text, tensors):
        self.text, self.tensors = text, tensors

    def __getattr__(self, name):
        return Text(f"{self.text}.{name}", self.tensors)

    def __call__(self, *args, **kwargs):
        return Text(f"{self.text}({written(args, kwargs, self.tensors)})", self.tensors)


def written(args, kwargs, tensors):
    words = [literal(a, tensors) for a in args]
    words += [f"{k}={literal(v, tensors)}" for k, v in without_placement(kwargs).items()]
    return ", ".join(words)


def literal(value, tensors):
    """Source text for an argument, whose tensors become parameters."""
    if isinstance(value, Text):
        return value.text
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return f"t{len(tensors) - 1}"
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):
        return f"nn.utils.rnn.PackedSequence({written(value, {}, tensors)})"
    if isinstance(value, torch.nn.Module):
        return f"nn.{type(value).__name__}({written((), recorded(value), tensors)})"
    if isinstance(value, collections.OrderedDict):
        return f"OrderedDict({written((), value, tensors)})"
    if isinstance(value, (list, tuple)):
        body = ", ".join(literal(v, tensors) for v in value) + "," * (len(value) == 1)
        return f"[{body}]" if isinstance(value, list) else f"({body})"
    if value is None or isinstance(value, (bool, int, str, float)):
        return repr(value)
    for name, place in (("torch", torch), ("F", torch.nn.functional)):
        word = getattr(value, "__name__", "")
        if callable(value) and getattr(place, word, None) is value:
            return f"{name}.{word}"
    raise Unwritten(repr(value))


class Case:
    """One sample: its class, what that is made with, and called with."""

    def __init__(self, name, training, layer, given, args, kwargs):
        self.name, self.training = name, training
        self.layer, self.given, self.inputs = layer, given, []
        self.call = written(args, kwargs, self.inputs)

    def source(self, name):
        made = "".join(f", t{i}" for i in range(len(self.given)))
        taken = "".join(f", t{i}" for i in range(len(self.inputs)))
        return (
            f"\n\nclass {name}(nn.Module):\n    def __init__(self{made}):\n        super().__init__()\n"
            f"        self.layer = {self.layer}\n\n    def forward(self{taken}):\n"
            f"        return self.layer({self.call})\n"
        )


def torch_cases(info, training):
    for sample in samples(info, training):
        tensors = []
        name = info.name.removeprefix("nn.")
        layer = f"nn.{name}({written(sample.args, sample.kwargs, tensors)})"
        yield Case(info.name, training, layer, tensors, sample.inputs, sample.keywords)


def own_cases(sample, training):
    tensors = []
    layer = sample.build(Text("nn", tensors)).text
    inputs = sample.inputs() if callable(sample.inputs) else sample.inputs
    yield Case(sample.name, training, layer, tensors, inputs, sample.kwargs)


def cases_of(name, make, limit):
    """A module's cases in both modes; none where one has no text, which is said."""
    try:
        return [case for training in (True, False) for case in list(make(training))[: limit or None]]
    except Unwritten as error:
        print(f"left out {name}: {error}"[:150])
        return []


def outcomes(cases, target, verbose):
    """Each case with (kind, why); all are converted as one file."""
    source = HEAD + "".join(case.source(f"Net{i}") for i, case in enumerate(cases))
    torch_side = namespace(source, "program")
    (made,), support, _ = engine.convert([given(source)], "", target)
    with in_float64():
        scope = converted(made.code, support)
        for i, case in enumerate(cases):
            what = f"{'train' if case.training else 'eval'}: {case.layer} of ({case.call})"
            try:
                one(case, torch_side[f"Net{i}"], scope[f"Net{i}"], target)
                yield case, "right", ""
            except Exception as error:
                if verbose:
                    traceback.print_exc()
                why = f"{what}: {type(error).__name__}: {' '.join(str(error).split())}"
                yield case, kind_of(error), why[:700]
            if i % 20 == 19:
                jax.clear_caches()


def kind_of(error):
    if isinstance(error, NotImplementedError):
        return "refused"
    return "wrong" if isinstance(error, AssertionError) else "error"


def one(case, torch_class, our_class, target):
    """Raises where the two differ."""
    torch.manual_seed(0)
    theirs = torch_class(*case.given)
    if any(isinstance(m, torch.nn.modules.lazy.LazyModuleMixin) for m in theirs.modules()):
        theirs.eval()(*case.inputs)
    ours = built(lambda **words: our_class(*map(to_array, case.given), **words), our_class)
    drawn = DRAWN.search(case.layer) and (case.training or "Fractional" in case.layer)
    values = not drawn or "_random_samples" in case.layer
    fixed = case.name == "nn.SoftMarginLoss"  # torch has no gradient for its target
    floats = [i for i, x in enumerate(case.inputs) if x.is_floating_point()][: 1 if fixed else None]
    theirs = theirs.double().train(case.training)
    compare(theirs, ours, case.inputs, target, case.training, values, floats)


def measure(title, cases, target, verbose):
    """Prints the modules that are not right, and how many are."""
    count, example = collections.defaultdict(collections.Counter), {}
    for case, kind, why in outcomes(cases, target, verbose):
        count[case.name][kind] += 1
        if kind != "right" and (case.name, kind) not in example:
            example[case.name, kind] = why
            print(f"{kind:8}{case.name:32}{why}", flush=True)
    total = collections.Counter(max(kinds, key=ORDER.index) for kinds in count.values())
    kinds = ", ".join(f"{total[kind]} {kind}" for kind in ORDER[1:])
    print(f"{title}, {target}: {total['right']} of {total.total()} right ({kinds})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="functional", choices=TARGETS)
    parser.add_argument("--only", default="", help="regular expression on the module's name")
    parser.add_argument("--samples", type=int, default=0, help="at most this many samples a module (0: all)")
    parser.add_argument("-v", "--verbose", action="store_true", help="tracebacks")
    options = parser.parse_args()
    torch.set_num_threads(1)
    # each program runs once: compiling fast matters more than fast programs
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_modules import module_db

    sources = {
        "module_db": [(i.name, functools.partial(torch_cases, i)) for i in module_db],
        "samples of ours": [(s.name, functools.partial(own_cases, s)) for s in SAMPLES],
    }
    for title, entries in sources.items():
        chosen = [(name, make) for name, make in entries if re.search(options.only, name)]
        cases = [case for name, make in chosen for case in cases_of(name, make, options.samples)]
        measure(title, cases, options.target, options.verbose)


if __name__ == "__main__":
    main()
