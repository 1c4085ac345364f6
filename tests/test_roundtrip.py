"""Reading and writing changes no byte, and what does not use torch comes back as it is: over files of the standard library.

The same over thousands of files: `python -m benchmarks.roundtrip DIRECTORY`.
"""

import sysconfig
from pathlib import Path

import libcst as cst
import pytest

from transpile import convert_source

STANDARD = sorted(p for p in Path(sysconfig.get_path("stdlib")).glob("*.py") if p.stat().st_size < 20_000)


@pytest.mark.parametrize("path", STANDARD[:: len(STANDARD) // 60][:60], ids=lambda p: p.name)
def test_no_byte_changes(path):
    text = path.read_bytes().decode("utf-8")
    assert cst.parse_module(text).code == text
    assert convert_source(text).code == text
