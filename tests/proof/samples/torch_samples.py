"""The samples that torch's tests have of an operation."""

from collections.abc import Iterator
from typing import Any
from unittest import mock


def sample_inputs(op: Any, dtype: Any, requires_grad: bool = False) -> Iterator[Any]:
    """As `op.sample_inputs` gives them, which looks for the unittest around each by reading the source of every
    frame: nine tenths of what a sample costs."""
    from torch.testing._internal import common_utils
    from torch.testing._internal.opinfo import core

    nowhere = {"extract_test_fn": lambda: None}
    with mock.patch.multiple(common_utils, **nowhere), mock.patch.multiple(core, **nowhere):
        yield from op.sample_inputs("cpu", dtype, requires_grad=requires_grad)
