"""Every fixture converts to the file expected of it, and both compute the same in float64."""

import pytest

from fixtures.cases import CASES
from transpile import convert_source

from . import fixtures


@pytest.mark.parametrize("name", fixtures.NAMES)
def test_converts_to_the_expected_file(name):
    result = fixtures.converted()[0][name]
    assert not result.diagnostics
    assert result.code == (fixtures.FUNCTIONAL / f"{name}.py").read_text()


def test_support_file_is_what_the_fixtures_use():
    assert (fixtures.FUNCTIONAL / "jax_nn.py").read_text() == fixtures.converted()[1]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.file)
def test_computes_the_same(case):
    report = fixtures.proved(case, fixtures.FUNCTIONAL)
    assert report.ok, [row for row in report.rows if not row.ok]


def test_converting_twice_gives_the_same_bytes():
    text = (fixtures.TORCH / "resnet.py").read_text()
    assert convert_source(text).code == convert_source(text).code
