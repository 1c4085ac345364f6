"""A layer as it is written for Flax NNX beside its definition, which runs eagerly: outputs and new
buffers."""

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from benchmarks.layer_definitions import (
    Namespace,
    definitions,
    own_case,
    to_jax,
    to_jax_dict,
)
from transpile.dialects.flax.layers import FUNCTIONS
from transpile.layer import keys

from .flax_programs import layer_names, support

TABLE = definitions()


def loaded(text):
    module = types.ModuleType("jax_nn")
    exec(compile(text, "jax_nn.py", "exec"), module.__dict__)
    return module


def written_table(text):
    """Our classes by torch's names; one that may need `rngs` is given them."""
    module, found = loaded(text), {}
    own = {"Dropout": nnx.Dropout, "ModuleList": nnx.List, "ModuleDict": nnx.Dict}
    for name, cls in TABLE.items():
        word = FUNCTIONS.get(cls.__name__, cls.__name__)
        made = own.get(word) or getattr(module, word, None)
        if made is not None:
            found[name] = Maker(made, module.build)
    return found


class Maker:
    def __init__(self, cls, build):
        self.cls, self.build = cls, build

    def __call__(self, *args, **kwargs):
        if self.cls is nnx.Dropout:
            kwargs.pop("inplace", None)
            args = args or (kwargs.pop("p", 0.5),)
            return nnx.Dropout(*args, rngs=RNGS)
        return self.build(self.cls, *args, rngs=RNGS, **kwargs)


RNGS = nnx.Rngs(0)


@dataclass
class Sampled:
    """A module by a table of classes, and what it is called with."""

    ours: Callable[[Any], Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @staticmethod
    def of(sample):
        case = own_case(sample, TABLE)
        return Sampled(lambda table: sample.build(Namespace(table)), case.args, case.kwargs)


def named(module, prefix=""):
    """The arrays by torch's names: a Sequential has its layers in `layers`."""
    found = {}
    holder = {"Sequential": "layers", "ParameterList": "values", "ParameterDict": "parameters"}
    word = holder.get(type(module).__name__)
    for name, value in vars(getattr(module, word) if word else module).items():
        if isinstance(value, nnx.Variable) and not isinstance(value, nnx.RngState):
            found[prefix + name] = value
        elif isinstance(value, nnx.Module):
            found |= named(value, f"{prefix}{name}.")
    return found


def arrays_of(eager):
    found = {}
    for kind in ("_parameters", "_buffers"):
        found |= {name: box.value for name, box in eager.boxes(kind)}
    return found


def agree(case, training):
    """Raises where the written layer is not like the eager one."""
    with keys(jax.random.key(0)):
        eager = case.ours(TABLE)
    module = case.ours(WRITTEN)
    eager.train(training)
    module.train() if training else module.eval()
    arrays = {name: np.array(value) for name, value in arrays_of(eager).items()}
    own = named(module)
    assert own.keys() == arrays.keys(), (sorted(own), sorted(arrays))
    for name, variable in own.items():
        assert variable[...].shape == arrays[name].shape, name
        variable[...] = jnp.asarray(arrays[name])
    args = to_jax(case.args, TABLE)
    kwargs = to_jax_dict(case.kwargs, TABLE)
    with keys(jax.random.key(0)):
        wanted = eager(*args, **kwargs)
    got = nnx.jit(lambda module: jax.tree.leaves(module(*args, **kwargs)))(module)
    for a, b in zip(got, jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    for name, value in arrays_of(eager).items():
        np.testing.assert_allclose(own[name][...], value, rtol=1e-6, atol=1e-6, err_msg=name)


WRITTEN = written_table(support(*layer_names() - FUNCTIONS.keys(), *FUNCTIONS.values(), "build"))
