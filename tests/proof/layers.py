"""A layer, written with `self`, beside torch's module: built alike, given its weights, called
alike; outputs, gradients and new buffers in float64.

The samples are torch's own (module_db; importing it takes seconds), run under jit as in training
and as in evaluation.
"""

import copy
import functools
import re
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.utils import _pytree as pytree

from transpile.layer import keys
from transpile.rule import PLACEMENT

from .samples.modules import Sample, Table, entries, samples, to_jax, without_placement

VALUE_TOLERANCE, GRADIENT_TOLERANCE = 1e-7, 1e-6
KINDS = ("_parameters", "_buffers")
# drawn even in eval: compared in shapes and dtypes alone, unless the draws are given
RANDOM = re.compile("FractionalMaxPool")
# ------------------------------------------------------------------ comparing


def nested(module: Any, kind: str) -> dict[str, Any]:
    """The parameters or buffers as nested dicts, with an entry for each submodule."""
    own = {name: value for name, value in getattr(module, kind).items() if value is not None}
    below = {n: nested(child, kind) for n, child in module._modules.items() if child is not None}
    return own | below


def as_arrays(tree: dict[str, Any]) -> dict[str, Any]:
    """The same dicts with arrays of JAX's."""
    return {
        k: as_arrays(v) if isinstance(v, dict) else jnp.array(v.detach().numpy())
        for k, v in tree.items()
    }


def compare(got: Any, want: Any, tolerance: float, what: str, values: bool = True) -> None:
    """Raises AssertionError, with the word for what was compared."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape} for {want.shape}"
    same = got.dtype.kind == want.dtype.kind and (got.dtype.kind != "f" or got.dtype == want.dtype)
    assert same, f"{what}: dtype {got.dtype} for {want.dtype}"
    if values:
        np.testing.assert_allclose(got, want, tolerance, tolerance, equal_nan=True, err_msg=what)


def compare_trees(got: Any, want: Any, tolerance: float, what: str, values: bool = True) -> None:
    """Compare arrays in nested dicts. Raises AssertionError."""
    ours = dict(jax.tree_util.tree_flatten_with_path(got)[0])
    theirs = dict(jax.tree_util.tree_flatten_with_path(want)[0])
    keys = [list(map(jax.tree_util.keystr, some)) for some in (ours, theirs)]
    assert ours.keys() == theirs.keys(), f"{what}: {keys[0]} for {keys[1]}"
    for path, value in theirs.items():
        compare(ours[path], value, tolerance, what + jax.tree_util.keystr(path), values)


def check(
    layer_class: Any, module_class: Any, sample: Sample, training: bool, table: Table
) -> None:
    """One sample: the torch module and the layer, built alike, called alike, differentiated alike.

    Raises AssertionError where they differ, and what the layer raises. Both libraries must make
    float64 of nothing.
    """
    torch.manual_seed(0)
    module = module_class(*sample.args, **sample.kwargs).to(torch.float64).train(training)
    own = without_placement(sample.kwargs)
    with keys(jax.random.key(0)):
        layer = layer_class(
            *to_jax(sample.args, table), **{k: to_jax(v, table) for k, v in own.items()}
        )
    theirs = _Theirs(module, sample)
    ours = _Ours(layer.train(training), theirs)
    fresh = {kind: ours.arrays(kind) for kind in KINDS}
    values = not RANDOM.search(module_class.__name__) or "_random_samples" in sample.kwargs
    gradients, outputs, state = ours.run()
    for i, (got, want) in enumerate(zip(outputs, theirs.outputs, strict=True)):
        compare(got, want.detach().numpy(), VALUE_TOLERANCE, f"output {i}", values)
    if gradients is not None:
        compare_trees(
            gradients[0], theirs.slopes[0], GRADIENT_TOLERANCE, "gradient of params", values
        )
        for i, (got, want) in enumerate(zip(gradients[1], theirs.slopes[1], strict=True)):
            compare(got, want, GRADIENT_TOLERANCE, f"gradient of input {i}", values)
    compare_trees(state, theirs.new_state, VALUE_TOLERANCE, "state")
    # a fresh layer has torch's names, shapes and dtypes
    compare_trees(fresh["_parameters"], theirs.params, 0, "first params", values=False)
    compare_trees(fresh["_buffers"], theirs.state, 0, "first buffers", values=False)


class _Theirs:
    """What torch's module has and gives for a sample."""

    def __init__(self, module: Any, sample: Sample) -> None:
        self.leaves, self.spec = pytree.tree_flatten((sample.inputs, sample.keywords))
        self.lazy = isinstance(module, torch.nn.modules.lazy.LazyModuleMixin)
        if self.lazy:
            inputs, keywords = pytree.tree_unflatten(copy.deepcopy(self.leaves), self.spec)
            module(*inputs, **keywords)
        self.params = as_arrays(nested(module, "_parameters"))
        self.state = as_arrays(nested(module, "_buffers"))
        self.varied = [
            i
            for i, x in enumerate(self.leaves)
            if isinstance(x, torch.Tensor) and x.is_floating_point()
        ]
        if isinstance(module, torch.nn.SoftMarginLoss):
            self.varied = self.varied[:1]  # torch has no gradient for the target
        variables = [self.leaves[i].detach().clone().requires_grad_() for i in self.varied]
        filled = [*self.leaves]
        for i, variable in zip(self.varied, variables):
            filled[i] = variable.clone()  # a layer may write into it
        inputs, keywords = pytree.tree_unflatten(filled, self.spec)
        found = pytree.tree_leaves(module(*inputs, **keywords))
        self.outputs = [y for y in found if isinstance(y, torch.Tensor)]
        self.new_state = as_arrays(nested(module, "_buffers"))
        self.counts = [y.requires_grad for y in self.outputs]
        self.slopes = self._slopes(nested(module, "_parameters"), variables)

    def _slopes(self, params: Any, variables: list[Any]) -> tuple[Any, list[Any]]:
        """The gradients of the parameters and of the inputs."""
        weights, spec = pytree.tree_flatten(params)
        inputs, found = [*weights, *variables], [None] * len([*weights, *variables])
        if any(self.counts):
            total = sum(y.cos().sum() for y in self.outputs if y.requires_grad)
            found = torch.autograd.grad(total, inputs, allow_unused=True)
        slopes = [(torch.zeros_like(x) if g is None else g).numpy() for g, x in zip(found, inputs)]
        return pytree.tree_unflatten(slopes[: len(weights)], spec), slopes[len(weights) :]


class _Ours:
    """Our layer as a function of its arrays, and what it is called with."""

    def __init__(self, layer: Any, theirs: _Theirs) -> None:
        self.layer, self.theirs = layer, theirs
        self.inputs = [
            jnp.asarray(x.detach().numpy()) if isinstance(x, torch.Tensor) else x
            for x in theirs.leaves
        ]
        if theirs.lazy:  # completed at its first input
            with keys(jax.random.key(0)):
                self._call(self.inputs)
        self.boxes = {kind: dict(layer.boxes(kind)) for kind in KINDS}

    def arrays(self, kind: str) -> dict[str, Any]:
        """The parameters or buffers as nested dicts."""
        return _nested({name: box.value for name, box in self.boxes[kind].items()})

    def _put(self, kind: str, tree: dict[str, Any]) -> None:
        for name, box in self.boxes[kind].items():
            box.value = functools.reduce(dict.__getitem__, name.split("."), tree)

    def _call(self, inputs: list[Any]) -> Any:
        args, keywords = pytree.tree_unflatten(inputs, self.theirs.spec)
        return self.layer(*args, **{n: v for n, v in keywords.items() if n not in PLACEMENT})

    def run(self) -> tuple[Any, list[Any], Any]:
        """The layer's gradients, None where torch has none; its outputs and its new state."""
        theirs, arrays = self.theirs, self.inputs
        traced = [
            i for i, x in enumerate(arrays) if isinstance(x, jax.Array) and i not in theirs.varied
        ]

        def call(params: Any, floats: Any, others: Any, state: Any, key: Any) -> Any:
            filled = [*arrays]
            for i, value in [*zip(theirs.varied, floats), *zip(traced, others)]:
                filled[i] = value
            self._put("_parameters", params)
            self._put("_buffers", state)
            with keys(key):
                result = self._call(filled)
            found = [y for y in jax.tree.leaves(result) if isinstance(y, jax.Array)]
            return found, self.arrays("_buffers")

        def loss(params: Any, floats: Any, *rest: Any) -> tuple[Any, Any]:
            outputs, state = call(params, floats, *rest)
            assert len(outputs) == len(theirs.counts), (
                f"{len(outputs)} results for {len(theirs.counts)}"
            )
            total = sum(jnp.cos(y).sum() for y, counted in zip(outputs, theirs.counts) if counted)
            return total, (outputs, state)

        given = ([arrays[i] for i in traced], theirs.state, jax.random.key(0))
        floats = [arrays[i] for i in theirs.varied]
        if any(theirs.counts):
            slopes = jax.jit(jax.grad(loss, argnums=(0, 1), has_aux=True))
            found, (outputs, state) = slopes(theirs.params, floats, *given)
            return found, outputs, state
        return None, *jax.jit(call)(theirs.params, floats, *given)


def _nested(arrays: dict[str, Any]) -> dict[str, Any]:
    """Arrays by dotted names as nested dicts."""
    tree: dict[str, Any] = {}
    for name, array in arrays.items():
        *above, last = name.split(".")
        node = tree
        for part in above:
            node = node.setdefault(part, {})
        node[last] = array
    return tree


def module_class(name: str) -> type:
    """torch's class of this name, as `torch.nn.Linear`. Raises AttributeError where it has none."""
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def outcomes(
    name: str, table: Table, by_hand: list[Sample], own: bool = True
) -> Iterator[tuple[Sample, bool, Exception | None]]:
    """Each sample, in training and in evaluation, with what was raised: None where both agree.
    Raises AttributeError."""
    cls = module_class(name)
    for training in (True, False):
        torchs = [s for info in entries(name) for s in samples(info, training)] if own else []
        for sample in [*by_hand, *torchs]:
            try:
                check(table[name][0], cls, sample, training, table)
            except Exception as error:
                yield sample, training, error
            else:
                yield sample, training, None
