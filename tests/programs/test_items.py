"""In-place writes of items: what an index selects is a view or a copy, and only the run tells which where the index may be an array."""

import types

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source

from ..small_programs import both, both_modules, leaves, load, reported

# bodies of `def f(x, i)`
WRITES = {
    "method": "x[i].zero_()\nreturn x",
    "chained": "x[i].mul_(2).add_(1)\nreturn x",
    "chained, and read in between": "x[i].mul_(2).add_(x.sum())\nreturn x",
    "column": "x[:, i].fill_(4)\nreturn x",
    "with a number beside": "x[i, 0].add_(1)\nreturn x",
    "of what is computed": "row = (x > 0).sum() - 8\nx[row].zero_()\nreturn x",
    "in a loop over anything": "for j in [i, 0]:\n    x[j].zero_()\nreturn x",
    "initialiser": "nn.init.zeros_(x[i])\nreturn x",
    "under no_grad": "with torch.no_grad():\n    x[i].fill_(0)\nreturn x",
    "store below": "x[i][0] = 5\nreturn x",
    "view below": "x[i].view(-1)[0] = 7\nreturn x",
    "assigned": "y = x[i].add_(1)\nreturn x, y",
    "assigned to the base": "y = x\nx = x[i].add_(1)\nreturn x, y",
    "in an expression": "y = x[i].add_(1).sum() + x\nreturn x, y",
    "of a copy": "x[x > 3].zero_()\ny = x[x > 3].mul_(2)\nreturn x, y",
}
INDICES = {"number": 1, "array of no rank": np.array(2), "array": np.array([0, 2])}


@pytest.mark.parametrize("name", WRITES)
def test_an_item_is_written_where_it_is_a_view(name):
    body = "".join(f"    {line}\n" for line in ("x = x * 1\n" + WRITES[name]).splitlines())
    torch_f, jax_f, _ = both(f"def f(x, i):\n{body}")
    x = np.arange(9.0).reshape(3, 3) + 1
    for index in INDICES.values():
        given = torch.tensor(index) if isinstance(index, np.ndarray) else index
        want = leaves(torch_f(torch.tensor(x), given))
        got = leaves(jax_f(jnp.array(x), jnp.array(index) if isinstance(index, np.ndarray) else index))
        assert len(want) == len(got)
        for a, b in zip(want, got):
            np.testing.assert_allclose(b, a.numpy(), rtol=1e-12)


def test_a_row_of_a_buffer_is_written_by_a_method():
    source = """import torch
import torch.nn as nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.ones(4, 3))

    def put(self, i, v):
        self.cache[i].copy_(v)

    def forward(self, x, i):
        self.put(i, x)
        return self.cache * 1
"""
    result = convert_source(source)
    assert not result.diagnostics
    torch_m, jax_m = both_modules(source, result)
    state = {"cache": jnp.ones((4, 3))}
    for i in (1, 3):
        got, state = jax_m(state, jnp.arange(3.0), i)
        np.testing.assert_allclose(got, torch_m(torch.arange(3.0), i).numpy())


# bodies of `def f(d, o)` for two dicts of tensors
DICTS = {
    "entries by key": "for k in d:\n    d[k].mul_(0.5).add_(o[k], alpha=0.5)\nreturn d",
    "entries by keys()": "for k in d.keys():\n    d[k].copy_(o[k])\nreturn d",
    "data of entries": "for k in d.keys():\n    d[k].data.mul_(0.5).add_(o[k].data, alpha=0.5)\nreturn d",
    "entries of items()": "for k, v in d.items():\n    v.mul_(0.5).add_(o[k])\nreturn d",
    "by the keys of another": "for k, v in o.items():\n    d[k].mul_(0.5).add_(v)\n    d[k][0] = 1\n    d[k] += 1\nreturn d",
    "assigned in a loop over items()": "for k, v in d.items():\n    d[k] = v.to(o['a'].device)\nreturn d",
    "assigned in a loop over the keys": "for k in d:\n    d[k] = d[k] * 2\nreturn d",
    "by name": "d['a'].mul_(2)\nd['b'][0] += 1\nreturn d",
    "taken out": "h, c = d['a'], d['b']\nh.zero_()\nc[0].add_(h[1])\nh[1] = 3\nreturn d, h, c",
    "a copy with an entry more": "d = d.copy()\nd['size'] = torch.tensor([1.0, 2.0])\nreturn d",
    "a dict or a tensor": "if isinstance(d, dict):\n    for k, v in d.items():\n        d[k] = v.cpu()\nelse:\n    d = d.cpu()\nreturn d",
}
LEFT = {
    "values()": "for v in d.values():\n    v.mul_(0.5)\nreturn d",
    "get": "v = d.get('a')\nv.zero_()\nreturn d",
    "an entry that is replaced": "h = d['a']\nd['a'] = h * 2\nh.zero_()\nreturn d",
    "an entry that a method may replace": "h = d['a']\nd.update(o)\nh.zero_()\nreturn d",
    "an entry that its loop replaces": "for k, v in d.items():\n    d[k] = v * 2\n    v.zero_()\nreturn d",
}


def of_dicts(body):
    return "def f(d, o):\n" + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("name", DICTS)
def test_entries_of_a_dict_are_written(name):
    torch_f, jax_f, _ = both(of_dicts(DICTS[name]))

    def given(make):
        return [{key: make(np.arange(3.0) + n + i) for i, key in enumerate("ab")} for n in (1, 5)]

    want, got = leaves(torch_f(*given(torch.tensor))), leaves(jax_f(*given(jnp.array)))
    assert len(want) == len(got)
    for a, b in zip(want, got):
        np.testing.assert_allclose(b, a.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", LEFT)
def test_what_a_dict_may_hold_is_not_written_elsewhere(name):
    assert reported(of_dicts(LEFT[name])) == {"aliased-write"}


def test_what_an_object_keeps_is_put_back():
    torch_f, jax_f, _ = both("def f(state, x):\n    h = state.h\n    h.add_(x)\n    return state")
    held = [types.SimpleNamespace(h=array) for array in (torch.ones(3), jnp.ones(3))]
    np.testing.assert_allclose(jax_f(held[1], jnp.ones(3)).h, torch_f(held[0], torch.ones(3)).h.numpy())


@pytest.mark.parametrize(("statement", "given"), [("values.sort()", [3, 1, 2]), ("values.add(7)", {1, 2}), ("values.remainder(7)", None)])
def test_what_computes_for_itself_is_no_method_of_a_tensor(statement, given):
    torch_f, jax_f, code = both(f"def f(values):\n    {statement}\n    return values")
    assert statement in code
    if given is not None:
        assert jax_f(given.copy()) == torch_f(given.copy())


@pytest.mark.parametrize("over", ["loader", "list(loader)", "(b for b in loader)"])
def test_a_loop_over_dicts_goes_over_no_rows(over):
    """A loader of batches: what is stored in a batch stays in it, as in torch."""
    source = f"""import torch


def total(model, loader):
    found = 0
    for batch in {over}:
        for k, v in batch.items():
            batch[k] = v.to("cuda")
        batch["x"] = batch["x"] * 2
        found = found + model(batch["x"]) - batch["y"]
    return found
"""
    result = convert_source(source)
    assert not result.diagnostics, result.code
    batches = [{"x": jnp.arange(3.0) + i, "y": jnp.ones(3)} for i in range(2)]
    np.testing.assert_allclose(load(result)["total"](lambda x: x + 1, batches), [2.0, 6.0, 10.0])
