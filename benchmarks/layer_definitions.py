"""Run the layers, as they are written once with `self`, against torch's: on torch's own module samples, and on ours.

    python -m benchmarks.layer_definitions [--only REGEX] [--quick] [-v]

Each module is built on both sides, compared in the names, order, shapes and dtypes of its state_dict, given torch's
arrays, and run in training and in eval, in float64 under jax.jit: outputs, gradients of params and inputs, buffers
after one step and after two. Then its first values, over several seeds: constants are equal, and of what is drawn the
two samples are of one distribution (Kolmogorov and Smirnov). Last, constructors and calls have torch's parameters.
"""

import argparse
import collections
import importlib
import inspect
import math
import os
import pkgutil
import re
import traceback
import warnings
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.utils import _pytree as pytree

import rules.layers
from benchmarks.layer_samples import SAMPLES
from tests.proof.functions import layers
from tests.proof.layers import GRADIENT_TOLERANCE, RANDOM, VALUE_TOLERANCE, compare
from tests.proof.samples.modules import recorded, samples, without_placement
from transpile.layer import keys
from transpile.rule import PLACEMENT, Unsupported


def definitions():
    names = [m.name for m in pkgutil.iter_modules(rules.layers.__path__, "rules.layers.")]
    return layers(importlib.import_module(name) for name in names)


class Namespace:
    """`nn.Linear`, `nn.utils.weight_norm` of ours, to build the same expression as with torch's `nn`."""

    def __init__(self, table, prefix="torch.nn"):
        self.table, self.prefix = table, prefix

    def __getattr__(self, name):
        full = f"{self.prefix}.{name}"
        if full in self.table:
            return layer_of(self.table, full)
        if name[0].islower():
            return Namespace(self.table, full)
        raise AttributeError(name)


def layer_of(table, name):
    """What builds a layer as converted code does: an InstanceNorm1d with `track_running_stats` is of another class."""
    made = table[name]
    variants = {n[len(name) + 1 : -1]: cls for n, cls in table.items() if n.startswith(f"{name}[")}
    names = list(inspect.signature(definitions()[name]).parameters) if variants else []

    def build(*args, **kwargs):
        given = {**dict(zip(names, args)), **kwargs}
        return next((cls for p, cls in variants.items() if given.get(p)), made)(*args, **kwargs)

    return build if variants else made


@dataclass
class Case:
    """One module on both sides, and what it is called with."""

    theirs: object  # a function that builds torch's module
    ours: object
    args: tuple
    kwargs: dict = field(default_factory=dict)
    lazy: bool = False
    values: bool = True  # or shapes and dtypes alone
    begins: bool = True  # or is made of a module that was built before
    constant: tuple = ()  # numbers of the inputs that torch gives no gradient for


# --- one side from the other -----------------------------------------------------------------------


def to_jax(value, table):
    if isinstance(value, torch.Tensor):
        return jnp.asarray(value.detach().numpy())
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, torch.dtype):
        return jnp.dtype(str(value).removeprefix("torch."))
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):
        from rules.packing import PackedSequence

        parts = (value.data, value.batch_sizes, value.sorted_indices, value.unsorted_indices)
        return PackedSequence(*(to_jax(part, table) for part in parts))
    if isinstance(value, (list, tuple)):
        return type(value)(to_jax(v, table) for v in value)
    if isinstance(value, torch.nn.Module):
        return module_like(value, table)
    return function_like(value) if callable(value) else value


def function_like(function):
    name = getattr(function, "__name__", "")
    places = [importlib.import_module(place) for place in ("rules.activation", "rules.distance", "jax.nn")]
    return next((getattr(place, name) for place in places if hasattr(place, name)), function)


def module_like(module, table):
    arguments = without_placement(recorded(module))
    return layer_of(table, f"torch.nn.{type(module).__name__}")(**to_jax_dict(arguments, table))


def torch_cases(info, training, table):
    """The cases of one entry of torch's module_db."""
    for sample in samples(info, training):
        args, kwargs, own = sample.args, sample.kwargs, without_placement(sample.kwargs)
        yield Case(
            lambda args=args, kwargs=kwargs: info.module_cls(*args, **kwargs),
            lambda args=args, own=own: layer_of(table, f"torch.{info.name}")(*to_jax(args, table), **to_jax_dict(own, table)),
            sample.inputs,
            sample.keywords,
            info.is_lazy,
            not RANDOM.search(info.name) or "_random_samples" in kwargs,
            not any(isinstance(x, torch.nn.Module) for x in (*args, *kwargs.values())),
            (1,) if info.name == "nn.SoftMarginLoss" else (),
        )


def to_jax_dict(values, table):
    return {k: to_jax(v, table) for k, v in values.items()}


def own_case(sample, table):
    """A case of ours: `build(nn)`, and the inputs."""
    inputs = sample.inputs() if callable(sample.inputs) else sample.inputs
    lazy = "Lazy" in sample.name
    build = sample.build
    ours = Namespace(table)
    return Case(lambda: build(torch.nn), lambda: build(ours), inputs, sample.kwargs, lazy, sample.values)


# --- our module as a function of its arrays ----------------------------------------------------------


class Functional:
    """A module as a pure function: `call(params, buffers, key, *inputs)` gives the outputs and the new buffers."""

    def __init__(self, module):
        self.module = module
        self.boxes = {
            "params": dict(module.boxes("_parameters")),
            "buffers": dict(module.boxes("_buffers")),
        }

    def arrays(self, kind):
        return {name: box.value for name, box in self.boxes[kind].items()}

    def put(self, params, buffers):
        for kind, values in (("params", params), ("buffers", buffers)):
            for name, box in self.boxes[kind].items():
                box.value = values[name]

    def __call__(self, params, buffers, key, *args, **kwargs):
        before = self.arrays("params"), self.arrays("buffers")
        self.put(params, buffers)
        try:
            with keys(key):
                output = self.module(*args, **kwargs)
            return output, self.arrays("buffers")
        finally:
            self.put(*before)


# --- comparing ---------------------------------------------------------------------------------------


def compare_dicts(got, want, tolerance, what, values=True):
    assert got.keys() == want.keys(), f"{what}: {list(got)} for {list(want)}"
    for name, value in want.items():
        compare(got[name], value, tolerance, f"{what} {name}", values)


def is_float(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def arrays_of(named):
    return {name: jnp.asarray(value.detach().numpy().copy()) for name, value in named}


def saved(module):
    return arrays_of(module.state_dict().items())


def build(case, training):
    """Both modules, ours with torch's arrays."""
    torch.manual_seed(0)
    module = case.theirs()
    with keys(jax.random.key(0)):
        ours = case.ours()
    assert isinstance(ours.training, bool)
    if case.lazy:
        names = list(module.state_dict())
        assert list(ours.state_dict()) == names, f"state_dict before: {list(ours.state_dict())} for {names}"
        with torch.no_grad(), keys(jax.random.key(0)):
            inputs = pytree.tree_map(lambda x: x.clone() if is_float(x) else x, (case.args, case.kwargs))
            module.eval()(*inputs[0], **inputs[1])
            ours.eval()(*to_jax(inputs[0], {}), **to_jax_dict(inputs[1], {}))
    module, ours = module.to(torch.float64).train(training), ours.train(training)
    theirs = saved(module)
    assert list(ours.state_dict()) == list(theirs), f"state_dict: {list(ours.state_dict())} for {list(theirs)}"
    compare_dicts(ours.state_dict(), theirs, 0, "state_dict", values=False)
    ours.load_state_dict(theirs)
    for kind in ("named_parameters", "named_buffers"):
        compare_dicts(dict(getattr(ours, kind)()), arrays_of(getattr(module, kind)()), 0, kind)
    return module, ours


def check(case, training, table):
    """Built alike, called alike, differentiated alike."""
    module, ours = build(case, training)
    leaves, spec = pytree.tree_flatten((case.args, case.kwargs))
    varied = [i for i, leaf in enumerate(leaves) if is_float(leaf) and i not in case.constant]
    variables = [leaves[i].detach().clone().requires_grad_() for i in varied]
    filled = [*leaves]
    for i, variable in zip(varied, variables):
        filled[i] = variable.clone()  # a layer may write into it
    inputs, keywords = pytree.tree_unflatten(filled, spec)
    wanted = [y for y in pytree.tree_leaves(module(*inputs, **keywords)) if isinstance(y, torch.Tensor)]
    steps = [arrays_of(module.named_buffers())]
    if training and steps[0]:
        with torch.no_grad():
            module(*pytree.tree_map(lambda x: x.detach() if is_float(x) else x, inputs), **keywords)
        steps.append(arrays_of(module.named_buffers()))
    differentiable = [y.requires_grad for y in wanted]
    weights = dict(module.named_parameters())
    sources = [w for w in [*weights.values(), *variables] if w.requires_grad]
    total = sum(y.cos().sum() for y in wanted if y.requires_grad)
    found = torch.autograd.grad(total, sources, allow_unused=True) if any(differentiable) else ()
    gradients = {id(w): torch.zeros_like(w) if g is None else g for w, g in zip(sources, found)}

    functional = Functional(ours)
    arrays = [to_jax(leaf, table) for leaf in leaves]
    traced = [i for i, leaf in enumerate(arrays) if isinstance(leaf, jax.Array) and i not in varied]

    def call(params, floats, others, buffers, key):
        filled = [*arrays]
        for i, value in [*zip(varied, floats), *zip(traced, others)]:
            filled[i] = value
        inputs, keywords = pytree.tree_unflatten(filled, spec)
        keywords = {name: value for name, value in keywords.items() if name not in PLACEMENT}
        packed = [to_jax(x, table) for x in inputs]
        result, buffers = functional(params, buffers, key, *packed, **keywords)
        return [y for y in jax.tree.leaves(result) if isinstance(y, jax.Array)], buffers

    @jax.jit
    def differentiate(params, floats, *rest):
        def loss(params, floats):
            outputs, buffers = call(params, floats, *rest)
            assert len(outputs) == len(wanted), f"{len(outputs)} results for {len(wanted)}"
            parts = [jnp.cos(y).sum() for y, needed in zip(outputs, differentiable) if needed]
            return sum(parts, jnp.zeros(())), (outputs, buffers)

        return jax.grad(loss, argnums=(0, 1), has_aux=True)(params, floats)

    params, buffers = functional.arrays("params"), functional.arrays("buffers")
    floats, others = [arrays[i] for i in varied], [arrays[i] for i in traced]
    found, (outputs, new) = differentiate(params, floats, others, buffers, jax.random.key(0))
    for i, (got, want) in enumerate(zip(outputs, wanted, strict=True)):
        compare(got, want.detach().numpy(), VALUE_TOLERANCE, f"output {i}", case.values)
    if any(differentiable):
        for name, weight in weights.items():
            if weight.requires_grad:
                want = gradients[id(weight)].numpy()
                compare(found[0][name], want, GRADIENT_TOLERANCE, f"gradient of {name}", case.values)
        for i, (got, variable) in enumerate(zip(found[1], variables, strict=True)):
            compare(got, gradients[id(variable)].numpy(), GRADIENT_TOLERANCE, f"gradient of input {i}", case.values)
    compare_dicts(new, steps[0], VALUE_TOLERANCE, "buffers", case.values)
    if len(steps) > 1:
        _, (_, new) = differentiate(params, floats, others, new, jax.random.key(0))
        compare_dicts(new, steps[1], VALUE_TOLERANCE, "buffers after two steps", case.values)
    assert not leaked(ours), "a traced array was left in the module"


def leaked(module):
    return any(isinstance(value, jax.core.Tracer) for value in module.state_dict().values())


# --- first values --------------------------------------------------------------------------------------


def check_beginnings(case, wanted=2000, most=60):
    """First values over several seeds: the constants are torch's, and what is drawn is of torch's distribution."""
    theirs, ours = collections.defaultdict(list), collections.defaultdict(list)
    for seed in range(most):
        torch.manual_seed(seed)
        module = case.theirs()
        with keys(jax.random.key(seed)):
            made = case.ours()
            if case.lazy:
                module.eval()(*case.args, **case.kwargs)
                made.eval()(*to_jax(case.args, {}), **to_jax_dict(case.kwargs, {}))
        for name, value in module.state_dict().items():
            theirs[name].append(value.detach().numpy().ravel())
        for name, value in made.state_dict().items():
            ours[name].append(np.asarray(value).ravel())
        sizes = [sum(map(len, values)) for values in theirs.values() if len(values[0])]
        if not sizes or seed >= 1 and all(same(values) for values in theirs.values()) or min(sizes) >= wanted:
            break
    for name, values in theirs.items():
        assert same(values) == same(ours[name]), f"{name} is drawn on one side only"
        if same(values):
            np.testing.assert_allclose(ours[name][0], values[0], 1e-6, 1e-6, err_msg=f"first {name}")
            continue
        got, want = np.concatenate(ours[name]), np.concatenate(values)
        distance = largest_distance(got, want)
        limit = 2.2 * math.sqrt(2 / len(got))  # passed once in 16,000 by samples of one distribution
        assert distance < limit, (
            f"first {name}: mean {got.mean():.4f} for {want.mean():.4f}, std {got.std():.4f} for {want.std():.4f},"
            f" range {got.min():.4f} {got.max():.4f} for {want.min():.4f} {want.max():.4f}"
        )


def same(values):
    return all(np.array_equal(value, values[0]) for value in values)


def largest_distance(a, b):
    """Between the two distribution functions."""
    both = np.sort(np.concatenate([a, b]))
    below = [np.searchsorted(np.sort(x), both, side="right") / len(x) for x in (a, b)]
    return np.abs(below[0] - below[1]).max()


# --- signatures ------------------------------------------------------------------------------------------


def signature_differences(table):
    """Where a constructor or a call has not torch's parameters, but for device and dtype."""
    for name, cls in sorted(table.items()):
        theirs = locate(name)
        if theirs is None or name.rpartition(".")[2].startswith("_"):  # bases, whose constructors only we call
            continue
        pairs = [("constructor", theirs.__init__ if isinstance(theirs, type) else theirs, cls.__init__)]
        if isinstance(theirs, type) and "forward" in dir(theirs):
            pairs.append(("call", theirs.forward, cls.__call__))
        for what, torch_function, function in pairs:
            wanted = parameters(torch_function)
            if any(kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD) for _, kind, _ in wanted):
                continue
            got = parameters(function)
            if [p[:2] for p in got] != [p[:2] for p in wanted]:
                yield f"{name}, {what}: ({', '.join(p[0] for p in got)}) for ({', '.join(p[0] for p in wanted)})"
                continue
            for (word, _, mine), (_, _, value) in zip(got, wanted):
                if mine != value and not callable(value):
                    yield f"{name}, {what}: {word}={mine!r} for {value!r}"


def locate(name):
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None


def parameters(function):
    found = list(inspect.signature(function).parameters.values())
    dropped = {"self", "module", "device", "dtype"}
    return [(p.name, p.kind, p.default) for p in found if p.name not in dropped]


# --- the run ---------------------------------------------------------------------------------------------


def outcome(cases, table, options):
    """`cases(training)` gives them; returns (kind, why)."""
    refused = ""
    for training in (True, False):
        for number, case in enumerate(cases(training)):
            described = f"{'train' if training else 'eval'} sample {number}"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if training or not isinstance(case.theirs(), torch.nn.modules.loss._Loss):  # which has no mode
                        check(case, training, table)
                    if training and number == 0 and case.begins:
                        check_beginnings(case)
            except Unsupported as error:
                refused = refused or f"{described}: {error}"
            except Exception as error:
                if options.verbose:
                    traceback.print_exc()
                return "wrong", f"{described}: {type(error).__name__}: {' '.join(str(error).split())}"[:500]
            if options.quick and number >= 1:
                break
    return ("refused", refused[:400]) if refused else ("right", "")


def prepare():
    """Torch's module_db, and our layers by name."""
    from torch.testing._internal.common_modules import module_db

    return module_db, definitions()


def report(title, entries, table, options):
    count = collections.Counter()
    for name, cases in entries:
        kind, why = outcome(cases, table, options)
        count[kind] += 1
        if kind != "right" or options.verbose:
            print(f"{kind:8} {name:26} {why}", flush=True)
    kinds = ", ".join(f"{count[kind]} {kind}" for kind in ("refused", "missing", "wrong"))
    print(f"{title}: {count['right']} of {count.total()} right ({kinds})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="regular expression on the layer's name")
    parser.add_argument("--quick", action="store_true", help="two samples of each layer at most")
    parser.add_argument("-v", "--verbose", action="store_true", help="tracebacks, and the layers that are right")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    jax.config.update("jax_enable_x64", True)
    # each program runs once: compiling fast matters more than fast programs
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
    module_db, table = prepare()
    infos = [info for info in module_db if re.search(options.only, info.name)]
    entries = [(info.name, lambda training, info=info: torch_cases(info, training, table)) for info in infos]
    report("module_db", entries, table, options)
    chosen = [s for s in SAMPLES if re.search(options.only, s.name)]
    entries = [(s.name, lambda training, s=s: [own_case(s, table)]) for s in chosen]
    report("samples of ours", entries, table, options)
    differences = [line for line in signature_differences(table) if re.search(options.only, line)]
    print(*differences, sep="\n" if differences else "")
    print(f"{len(set(table.values()))} layers under {len(table)} names, {len(differences)} differences in signatures")


if __name__ == "__main__":
    main()
