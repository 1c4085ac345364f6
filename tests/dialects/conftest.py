"""Flax as it is today and under its announced defaults."""

import pytest
from flax import nnx

MODES = [(True, True), (True, False), (False, False)]


@pytest.fixture(params=MODES, ids=lambda mode: f"graph={mode[0]},updates={mode[1]}")
def graph_mode(request):
    with nnx.set_graph_mode(request.param[0]), nnx.set_graph_updates(request.param[1]):
        yield request.param
