"""Run the layers as classes on torch's own module samples: outputs, gradients, new buffers, in float64 under jax.jit.

    python -m benchmarks.modules [--only REGEX] [-v]

Last line: how many layers are right, refused (Unsupported), missing (no class), wrong.
"""

import argparse
import collections
import copy
import importlib
import inspect
import pkgutil
import re
import traceback
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.utils import _pytree as pytree

import rules
from transpile.rule import PLACEMENT, Unsupported, overloads, select

VALUE_TOLERANCE, GRADIENT_TOLERANCE = 1e-7, 1e-6
RANDOM = re.compile("FractionalMaxPool")  # drawn even in eval: compared in shapes and dtypes alone, unless the draws are given


def rule_table():
    return overloads(importlib.import_module(m.name) for m in pkgutil.walk_packages(rules.__path__, "rules."))


def to_jax(value, table):
    if isinstance(value, torch.Tensor):
        return jnp.asarray(value.detach().numpy())
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, torch.dtype):
        return jnp.dtype(str(value).removeprefix("torch."))
    if isinstance(value, (list, tuple)):
        return type(value)(to_jax(v, table) for v in value)
    if isinstance(value, torch.nn.Module):
        return module_like(value, table)
    if callable(value):
        return function_like(value, table)
    return value


def function_like(function, table):
    names = [f"{prefix}.{function.__name__}" for prefix in ("torch.nn.functional", "torch")]
    return next((table[name][0] for name in names if name in table), function)


def module_like(module, table):
    """The layer for a module passed to a constructor, from the torch module's attributes."""
    cls = table[f"torch.nn.{type(module).__name__}"][0]
    arguments = {}
    for name, parameter in inspect.signature(type(module).__init__).parameters.items():
        if name == "self" or name in PLACEMENT or name == "dtype":
            continue
        arguments[name] = recorded(module).get(name, parameter.default)
    return cls(**{n: to_jax(v, table) for n, v in arguments.items() if n in inspect.signature(cls).parameters})


RECORDED = {}


def recorded(module):
    """The constructor arguments a module was built with, seen by record_constructors."""
    return RECORDED.get(id(module), {})


def record_constructors():
    for cls in (torch.nn.TransformerEncoderLayer, torch.nn.TransformerDecoderLayer):
        built = cls.__init__

        def init(self, *args, _built=built, **kwargs):
            RECORDED[id(self)] = inspect.signature(_built).bind(self, *args, **kwargs).arguments | {}
            RECORDED[id(self)].pop("self")
            RECORDED[(id(self), "kept")] = self  # so that its id is not used again
            _built(self, *args, **kwargs)

        init.__signature__ = inspect.signature(built)
        cls.__init__ = init


def nested(module, kind):
    """The parameters or buffers as nested dicts, with an entry for each submodule."""
    own = {name: value for name, value in getattr(module, kind).items() if value is not None}
    return own | {name: nested(child, kind) for name, child in module._modules.items() if child is not None}


def as_arrays(tree):
    return {k: as_arrays(v) if isinstance(v, dict) else jnp.array(v.detach().numpy()) for k, v in tree.items()}


def compare(got, want, tolerance, what, values=True):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape} for {want.shape}"
    assert got.dtype.kind == want.dtype.kind, f"{what}: dtype {got.dtype} for {want.dtype}"
    assert got.dtype.kind != "f" or got.dtype == want.dtype, f"{what}: dtype {got.dtype} for {want.dtype}"
    if values:
        np.testing.assert_allclose(got, want, tolerance, tolerance, equal_nan=True, err_msg=what)


def compare_trees(got, want, tolerance, what, values=True):
    got = dict(jax.tree_util.tree_flatten_with_path(got)[0])
    want = dict(jax.tree_util.tree_flatten_with_path(want)[0])
    assert (
        got.keys() == want.keys()
    ), f"{what}: {list(map(jax.tree_util.keystr, got))} for {list(map(jax.tree_util.keystr, want))}"
    for path, value in want.items():
        compare(got[path], value, tolerance, what + jax.tree_util.keystr(path), values)


def is_float(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def check(layer_class, info, sample, training, table):
    """One sample: the torch module and the layer, built alike, called alike, differentiated alike."""
    args, kwargs = sample.constructor_input.args, sample.constructor_input.kwargs
    torch.manual_seed(0)
    module = info.module_cls(*args, **kwargs).to(torch.float64).train(training)
    own = {k: v for k, v in kwargs.items() if k not in PLACEMENT and k != "dtype"}
    layer = layer_class(*to_jax(args, table), **{k: to_jax(v, table) for k, v in own.items()})
    leaves, spec = pytree.tree_flatten((sample.forward_input.args, sample.forward_input.kwargs))
    if info.is_lazy:
        inputs, keywords = pytree.tree_unflatten(copy.deepcopy(leaves), spec)
        module(*inputs, **keywords)
    params, state = as_arrays(nested(module, "_parameters")), as_arrays(nested(module, "_buffers"))

    varied = [i for i, leaf in enumerate(leaves) if is_float(leaf)]
    if info.name == "nn.SoftMarginLoss":
        varied = varied[:1]  # torch has no gradient for the target
    variables = [leaves[i].detach().clone().requires_grad_() for i in varied]
    filled = [*leaves]
    for i, variable in zip(varied, variables):
        filled[i] = variable.clone()  # a layer may write into it
    inputs, keywords = pytree.tree_unflatten(filled, spec)
    wanted = module(*inputs, **keywords)
    wanted = [y for y in pytree.tree_leaves(wanted) if isinstance(y, torch.Tensor)]
    new_buffers = as_arrays(nested(module, "_buffers"))
    differentiable = [y.requires_grad for y in wanted]
    weights = pytree.tree_leaves(nested(module, "_parameters"))
    total = sum(y.cos().sum() for y in wanted if y.requires_grad)
    gradients = [None] * len(weights + variables)
    if any(differentiable):
        gradients = torch.autograd.grad(total, [*weights, *variables], allow_unused=True)
    gradients = [(torch.zeros_like(x) if g is None else g).numpy() for g, x in zip(gradients, [*weights, *variables])]

    takes = inspect.signature(type(layer).__call__).parameters
    assert not params or "params" in takes or not jax.tree.leaves(params), "the layer takes no params"
    extra = {"training": training} if "training" in takes else {}
    arrays = [jnp.asarray(leaf.detach().numpy()) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    traced = [i for i, leaf in enumerate(arrays) if isinstance(leaf, jax.Array) and i not in varied]

    @jax.jit
    def call(params, floats, others, state, key):
        filled = [*arrays]
        for i, value in [*zip(varied, floats), *zip(traced, others)]:
            filled[i] = value
        inputs, keywords = pytree.tree_unflatten(filled, spec)
        keywords = {"key_" if name == "key" else name: value for name, value in keywords.items()}
        keywords = {name: value for name, value in keywords.items() if name not in PLACEMENT}
        given = [value for name, value in (("params", params), ("state", state)) if name in takes]
        drawn = {"key": key} if "key" in takes else {}
        result = layer(*given, *inputs, **keywords, **extra, **drawn)
        result, state = result if "state" in takes else (result, state)
        return [y for y in jax.tree.leaves(result) if isinstance(y, jax.Array)], state

    def loss(params, floats, *rest):
        outputs, state = call(params, floats, *rest)
        assert len(outputs) == len(wanted), f"{len(outputs)} results for {len(wanted)}"
        return sum(jnp.cos(y).sum() for y, needed in zip(outputs, differentiable) if needed), (outputs, state)

    rest = [arrays[i] for i in traced], state, jax.random.key(0)
    floats = [arrays[i] for i in varied]
    values = not RANDOM.search(info.name) or "_random_samples" in sample.constructor_input.kwargs
    if any(differentiable):
        found, (outputs, new_state) = jax.grad(loss, argnums=(0, 1), has_aux=True)(params, floats, *rest)
    else:
        found, (outputs, new_state) = (params, floats), loss(params, floats, *rest)[1]
    for i, (got, want) in enumerate(zip(outputs, wanted, strict=True)):
        compare(got, want.detach().numpy(), VALUE_TOLERANCE, f"output {i}", values)
    if any(differentiable):
        per_weight = pytree.tree_unflatten(
            gradients[: len(weights)], pytree.tree_structure(nested(module, "_parameters"))
        )
        compare_trees(found[0], per_weight, GRADIENT_TOLERANCE, "gradient of params", values)
        for i, (got, want) in enumerate(zip(found[1], gradients[len(weights) :], strict=True)):
            compare(got, want, GRADIENT_TOLERANCE, f"gradient of input {i}", values)
    compare_trees(new_state, new_buffers, VALUE_TOLERANCE, "state" if "state" in takes else "no state taken")
    check_init(layer, params, state if "state" in takes else {})


def check_init(layer, params, state):
    """A fresh layer has torch's names, shapes and dtypes."""
    if params:
        compare_trees(layer.init(jax.random.key(0)), params, 0, "init", values=False)
    if state:
        compare_trees(layer.init_state(jax.random.key(0)), state, 0, "init_state", values=False)


def outcome(info, table, options):
    refused = ""
    for training in (True, False):
        torch.manual_seed(0)
        samples = info.module_inputs_func(
            info, device="cpu", dtype=torch.float64, requires_grad=False, training=training
        )
        for number, sample in enumerate(samples):
            described = f"{'train' if training else 'eval'} sample {number} {brief(sample)}"
            candidates = table.get(f"torch.{info.name}")
            if not candidates:
                return "missing", ""
            own = {k: v for k, v in sample.constructor_input.kwargs.items() if k not in PLACEMENT and k != "dtype"}
            candidates = variant(info, sample.constructor_input, table) or candidates
            layer_class = select(candidates, sample.constructor_input.args, own)
            if layer_class is None:
                refused = refused or f"no class takes {described}"
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    check(layer_class, info, sample, training, table)
            except Unsupported as error:
                refused = refused or f"{described}: {error}"
            except Exception as error:
                if options.verbose:
                    traceback.print_exc()
                return "wrong", f"{described}: {type(error).__name__}: {' '.join(str(error).split())}"[:500]
    return ("refused", refused[:400]) if refused else ("right", "")


def variant(info, given, table):
    """The layers for a constructor that is called with a literal True, where that makes another class of it."""
    arguments = inspect.signature(info.module_cls).bind(*given.args, **given.kwargs).arguments
    names = [f"torch.{info.name}[{word}]" for word, value in arguments.items() if value is True]
    return next((table[name] for name in names if name in table), None)


def brief(sample):
    show = lambda x: f"{str(x.dtype)[6:]}{list(x.shape)}" if isinstance(x, torch.Tensor) else repr(x)[:60]
    parts = []
    for given in (sample.constructor_input, sample.forward_input):
        words = [show(x) for x in given.args] + [f"{k}={show(x)}" for k, x in given.kwargs.items()]
        parts.append(f"({', '.join(words)})")
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="regular expression on the layer's name")
    parser.add_argument("-v", "--verbose", action="store_true", help="tracebacks, and the layers that are right")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    jax.config.update("jax_enable_x64", True)
    from torch.testing._internal.common_modules import module_db

    record_constructors()
    table, count = rule_table(), collections.Counter()
    infos = [info for info in module_db if re.search(options.only, info.name)]
    for info in infos:
        kind, why = outcome(info, table, options)
        count[kind] += 1
        if kind != "right" or options.verbose:
            print(f"{kind:8} {info.name:26} {why}", flush=True)
    print(
        f"{count['right']} of {len(infos)} right"
        f" ({count['refused']} refused, {count['missing']} missing, {count['wrong']} wrong)"
    )


if __name__ == "__main__":
    main()
