"""Every fixture converts to the file expected of it in each target, and both compute the same in float64."""

import pytest

from fixtures.cases import CASES
from transpile import convert_source

from . import fixtures


@pytest.mark.parametrize("target, name", fixtures.PROVED)
def test_converts_to_the_expected_file(target, name):
    result = fixtures.converted(target)[0][name]
    assert not result.diagnostics
    assert result.code == (fixtures.ROOT / target / f"{name}.py").read_text()


@pytest.mark.parametrize("target", fixtures.TARGETS)
def test_support_file_is_what_the_fixtures_use(target):
    assert (fixtures.ROOT / target / "jax_nn.py").read_text() == fixtures.converted(target)[1]


@pytest.mark.parametrize(
    "target, case", [(t, c) for t, name in fixtures.PROVED for c in CASES if c.file == name]
)
def test_computes_the_same(target, case):
    assert not fixtures.disagreements(case, fixtures.ROOT / target, target)


def test_converting_twice_gives_the_same_bytes():
    text = (fixtures.TORCH / "resnet.py").read_text()
    assert convert_source(text).code == convert_source(text).code
