"""Every fixture converts to the file expected of it, and both compute the same in float64."""

import pytest

from fixtures.cases import CASES

from . import fixtures


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.file)
def test_converts_to_the_expected_file(case):
    result = fixtures.converted(case.file)
    assert not result.diagnostics
    assert result.code == (fixtures.FUNCTIONAL / f"{case.file}.py").read_text()


def test_support_file_is_what_the_fixtures_use():
    assert (fixtures.FUNCTIONAL / "jax_nn.py").read_text() == fixtures.support_file()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.file)
def test_computes_the_same(case):
    report = fixtures.proved(case, fixtures.FUNCTIONAL)
    assert report.ok, [row for row in report.rows if not row.ok]


def test_converting_twice_gives_the_same_bytes():
    first = fixtures.converted("resnet")
    assert fixtures.converted("resnet") == first
