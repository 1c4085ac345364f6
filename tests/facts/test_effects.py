"""What torch's layers hold and do, asked of their definitions in rules/layers."""

from pathlib import Path, PurePosixPath

import pytest

from transpile.facts.effects import EffectsOf
from transpile.facts.modules import Modules
from transpile.model.project import Project
from transpile.passes.recognise.layer_words import library
from transpile.source.lower import lower

LAYERS = Path(__file__).parents[2] / "rules" / "layers"


@pytest.fixture(scope="module")
def modules():
    paths = [p for p in sorted(LAYERS.glob("*.py")) if p.name != "__init__.py"]
    files = [lower(p.read_text(), PurePosixPath(p.name)) for p in paths]
    return Modules(Project(), library(files))


# layer: params, buffers (optional ones with a question mark), submodules
HELD = {
    "Linear": ("weight bias?", "", ""),
    "Embedding": ("weight", "", ""),
    "BatchNorm2d": ("weight? bias?", "running_mean? running_var? num_batches_tracked?", ""),
    "LazyLinear": ("weight? bias?", "", ""),
    "MultiheadAttention": (
        "in_proj_weight q_proj_weight k_proj_weight v_proj_weight in_proj_bias? bias_k? bias_v?",
        "",
        "out_proj",
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_arrays(modules, name):
    cls = modules.library.find(f"torch.nn.{name}")
    arrays = modules.arrays(cls).values()
    held = tuple(
        " ".join(a.name + "?" * a.optional for a in arrays if a.kind == kind)
        for kind in ("param", "buffer")
    )
    assert (*held, " ".join(modules.children(cls))) == HELD[name]


# layer: what its call writes, whether it draws, asks for the mode, runs anything unknown; whether
# building it draws
DOES = {
    "Linear": ("", False, False, False, True),
    "LayerNorm": ("", False, False, False, False),
    "Dropout": ("", True, True, False, False),
    "BatchNorm2d": ("num_batches_tracked running_mean running_var", False, True, False, False),
    "InstanceNorm1d": ("", False, False, False, False),
    "InstanceNorm1d[track_running_stats]": ("running_mean running_var", False, True, False, False),
    "LSTM": ("", True, True, False, True),
    "TransformerEncoderLayer": ("", True, True, False, True),
    "Sequential": ("", False, False, True, False),
}


@pytest.mark.parametrize("name", DOES)
def test_effects(modules, name):
    cls, effects = modules.library.find(f"torch.nn.{name}"), EffectsOf(modules)
    found = effects.of(modules.find(cls, "__call__"))
    built = modules.find(cls, "__init__")
    writes = " ".join(sorted(place.removeprefix("self.") for place in found.writes))
    draws = built is not None and effects.of(built).draws
    assert (writes, found.draws, found.mode, found.open, draws) == DOES[name]
