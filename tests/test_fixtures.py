"""Every fixture converts to the file expected of it in each target, and both compute the same in float64."""

import pytest

from fixtures.cases import CASES
from transpile import convert_source

from . import fixtures


@pytest.mark.parametrize("target", fixtures.TARGETS)
def test_converts_to_the_expected_files(target):
    """All of a target in one test: the support file is what they use together."""
    results, support = fixtures.converted(target)
    folder = fixtures.ROOT / target
    for name in (name for of, name in fixtures.PROVED if of == target):
        assert (name, results[name].diagnostics) == (name, [])
        assert results[name].code == (folder / f"{name}.py").read_text()
    assert support == (folder / "jax_nn.py").read_text()


@pytest.mark.parametrize(
    "target, case", [(t, c) for t, name in fixtures.PROVED for c in CASES if c.file == name]
)
def test_computes_the_same(target, case):
    assert not fixtures.disagreements(case, fixtures.ROOT / target, target)


def test_converting_twice_gives_the_same_bytes():
    text = (fixtures.TORCH / "resnet.py").read_text()
    assert convert_source(text).code == convert_source(text).code
