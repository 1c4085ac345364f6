"""Turn PyTorch source into JAX source, and prove that both compute the same."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .command.convert import Report as Report
    from .command.convert import Result as Result
    from .command.convert import convert_path as convert_path
    from .command.convert import convert_source as convert_source
    from .proof.checkpoints import from_torch as from_torch
    from .proof.checkpoints import to_torch as to_torch
    from .proof.equivalence import verify as verify

__version__ = "0.1.0"
__all__ = ["Report", "Result", "convert_path", "convert_source", "from_torch", "to_torch", "verify"]

# Where each name is defined. It is imported when it is asked for: `torch-to-jax --version` parses
# nothing, and `verify` needs numpy, which converting must not.
_HOMES = {
    "Report": ".command.convert",
    "Result": ".command.convert",
    "convert_path": ".command.convert",
    "convert_source": ".command.convert",
    "from_torch": ".proof.checkpoints",
    "to_torch": ".proof.checkpoints",
    "verify": ".proof.equivalence",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'transpile' has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
