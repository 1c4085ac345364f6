"""The layers of rules/layers, written in Equinox, beside their definitions, which run eagerly."""

import importlib
import inspect
import pkgutil
import types

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import rules.layers
from transpile.layer import keys

from ..proof.comparison import assert_close
from ..proof.functions import layers
from .equinox_programs import layer_files, written

SKIPPED = ("beginnings", "containers")


def support_of_all() -> str:
    """A support file with every layer."""
    imports, names = [], ["Sequential", "ParameterList", "ParameterDict"]
    for file in layer_files():
        marked = [c.name for c in file.classes() if c.decorators]
        if file.path.stem not in SKIPPED:
            names += marked
            imports += [f"from .{file.path.stem} import {name}" for name in marked]
    imports.append("from .containers import Sequential, ParameterList, ParameterDict")
    built = "\n".join(f"        self.a{i} = {n}()" for i, n in enumerate(names))
    head = "from transpile.layer import Module\n" + "\n".join(imports)
    # named, so that nothing takes away parameters that are not given here
    kinds = f"def kinds():\n    return [{', '.join(names)}]\n"
    text = f"{head}\n\n\nclass All(Module):\n    def __init__(self):\n{built}\n\n\n{kinds}"
    _, support, _ = written(text)
    return support


def module_of(support: str) -> types.ModuleType:
    module = types.ModuleType("jax_nn")
    exec(compile(support, "jax_nn.py", "exec"), module.__dict__)
    return module


def eager() -> dict[str, type]:
    found = [m.name for m in pkgutil.iter_modules(rules.layers.__path__, "rules.layers.")]
    return layers(importlib.import_module(name) for name in found)


class Eager:
    """`nn.Linear` of the definitions."""

    def __init__(self, table):
        self.table = table

    def __getattr__(self, name):
        if f"torch.nn.{name}" not in self.table:
            raise AttributeError(name)
        return self.table[f"torch.nn.{name}"]


class Written:
    """`nn.Linear` of the support file; what draws is given a key."""

    def __init__(self, module, table):
        self.module, self.table = module, table

    def __getattr__(self, name):
        if name in ("ModuleList",):
            return list
        if name == "Dropout":
            return eqx.nn.Dropout
        cls = getattr(self.module, self.table[f"torch.nn.{name}"].__name__)

        def build(*args, **kwargs):
            drawn = "key" in inspect.signature(cls.__init__).parameters
            return cls(*args, **kwargs, **({"key": jax.random.key(0)} if drawn else {}))

        return build


def name_of(path) -> str:
    parts = [str(getattr(k, "name", getattr(k, "idx", getattr(k, "key", k)))) for k in path]
    return ".".join(p for p in parts if p not in ("layers", "arrays", "values", "params"))


def indices(model):
    is_index = lambda x: isinstance(x, eqx.nn.StateIndex)
    leaves = jax.tree_util.tree_leaves_with_path(model, is_leaf=is_index)
    return {name_of(path): x for path, x in leaves if is_index(x)}


def load(model, arrays):
    def leaf(path, x):
        if not eqx.is_array(x):
            return x
        value = jnp.asarray(arrays[name_of(path)])
        assert value.shape == x.shape, name_of(path)
        return value

    return jax.tree_util.tree_map_with_path(leaf, model)


def compare(build, inputs, kwargs, module, table, train: bool) -> None:
    """Both sides of one layer, built and called alike."""
    with keys(jax.random.key(1)):
        ours = build(Eager(table))
    model, state = eqx.nn.make_with_state(lambda: build(Written(module, table)))()
    arrays = dict(ours.named_parameters()) | ours.state_dict()
    held = {name_of(p) for p, x in jax.tree_util.tree_leaves_with_path(model) if eqx.is_array(x)}
    tied = dict(ours.named_parameters())
    assert held <= arrays.keys(), held - arrays.keys()
    assert tied.keys() <= held, tied.keys() - held
    model = eqx.nn.inference_mode(load(model, arrays), not train)
    stateful = module.is_stateful(model) if isinstance(model, eqx.Module) else False
    for name, index in indices(model).items():
        state = state.set(index, jnp.asarray(arrays[name]))
    ours.train(train)

    def run(model, state, *args):
        given = dict(kwargs)
        if stateful:
            return model(*args, state=state, **given)
        return model(*args, **given), state

    with keys(jax.random.key(2)):
        want = ours(*inputs, **kwargs)
    got, state = eqx.filter_jit(run)(model, state, *inputs)
    a, b = jax.tree.leaves(got), jax.tree.leaves(want)
    assert len(a) == len(b)
    for x, y in zip(a, b):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5, atol=1e-6)
    new = ours.state_dict()
    for name, index in indices(model).items():
        assert_close(np.asarray(state.get(index)), np.asarray(new[name]))
