"""A layer beside torch's module: built alike, given its weights, called alike; outputs, gradients
and new buffers in float64.

The samples are torch's own (module_db; importing it takes seconds), run under jit as in training
and as in evaluation.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.utils import _pytree as pytree

from ..rule import PLACEMENT
from .samples.modules import (
    Sample,
    Table,
    entries,
    layer_for,
    samples,
    to_jax,
    without_placement,
)

VALUE_TOLERANCE, GRADIENT_TOLERANCE = 1e-7, 1e-6
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
    layer = layer_class(
        *to_jax(sample.args, table), **{k: to_jax(v, table) for k, v in own.items()}
    )
    theirs = _Theirs(module, sample)
    takes = inspect.signature(type(layer).__call__).parameters
    missing = "params" not in takes and bool(jax.tree.leaves(theirs.params))
    assert not missing, "the layer takes no params"
    values = not RANDOM.search(module_class.__name__) or "_random_samples" in sample.kwargs
    gradients, outputs, state = _ours(
        layer, theirs, {"training": training} if "training" in takes else {}
    )
    for i, (got, want) in enumerate(zip(outputs, theirs.outputs, strict=True)):
        compare(got, want.detach().numpy(), VALUE_TOLERANCE, f"output {i}", values)
    if gradients is not None:
        compare_trees(
            gradients[0], theirs.slopes[0], GRADIENT_TOLERANCE, "gradient of params", values
        )
        for i, (got, want) in enumerate(zip(gradients[1], theirs.slopes[1], strict=True)):
            compare(got, want, GRADIENT_TOLERANCE, f"gradient of input {i}", values)
    what = "state" if "state" in takes else "no state taken"
    compare_trees(state, theirs.new_state, VALUE_TOLERANCE, what)
    # a fresh layer has torch's names, shapes and dtypes
    if theirs.params:
        compare_trees(layer.init(jax.random.key(0)), theirs.params, 0, "init", values=False)
    if theirs.state and "state" in takes:
        compare_trees(
            layer.init_state(jax.random.key(0)), theirs.state, 0, "init_state", values=False
        )


class _Theirs:
    """What torch's module has and gives for a sample."""

    def __init__(self, module: Any, sample: Sample) -> None:
        self.leaves, self.spec = pytree.tree_flatten((sample.inputs, sample.keywords))
        if isinstance(module, torch.nn.modules.lazy.LazyModuleMixin):
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


def _ours(layer: Any, theirs: _Theirs, extra: dict[str, Any]) -> tuple[Any, list[Any], Any]:
    """The layer's gradients, None where torch has none; its outputs and its new state."""
    takes = inspect.signature(type(layer).__call__).parameters
    arrays = [
        jnp.asarray(x.detach().numpy()) if isinstance(x, torch.Tensor) else x for x in theirs.leaves
    ]
    traced = [
        i for i, x in enumerate(arrays) if isinstance(x, jax.Array) and i not in theirs.varied
    ]

    def call(params: Any, floats: Any, others: Any, state: Any, key: Any) -> tuple[list[Any], Any]:
        filled = [*arrays]
        for i, value in [*zip(theirs.varied, floats), *zip(traced, others)]:
            filled[i] = value
        inputs, keywords = pytree.tree_unflatten(filled, theirs.spec)
        keywords = {
            "key_" if n == "key" else n: v for n, v in keywords.items() if n not in PLACEMENT
        }
        given = [value for n, value in (("params", params), ("state", state)) if n in takes]
        drawn = {"key": key} if "key" in takes else {}
        result = layer(*given, *inputs, **keywords, **extra, **drawn)
        result, state = result if "state" in takes else (result, state)
        return [y for y in jax.tree.leaves(result) if isinstance(y, jax.Array)], state

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
                layer = layer_for(name, cls, sample, table)
                if layer is None:
                    raise NotImplementedError("no class takes these arguments")
                check(layer, cls, sample, training, table)
            except Exception as error:
                yield sample, training, error
            else:
                yield sample, training, None
