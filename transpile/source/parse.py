"""LibCST's parser, without its checks of what it has built itself."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst

_LOCK = threading.Lock()


def parse(text: str) -> cst.Module:
    """The tree of a file. Raises `libcst.ParserSyntaxError` where it is not Python."""
    with _LOCK, _trusted():
        return cst.parse_module(text)


@contextmanager
def _trusted() -> Iterator[None]:
    """While it is active, nodes are not validated.

    LibCST validates each node where it is made, also those that its parser makes, which are right
    (a comment at `CSTNode.__post_init__` says so): a third of what parsing costs.
    """
    validating = cst.CSTNode.__post_init__
    cst.CSTNode.__post_init__ = lambda self: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        cst.CSTNode.__post_init__ = validating  # type: ignore[method-assign]
