"""Turn PyTorch source into JAX source, and prove that both compute the same."""

from .command.convert import Report, Result, convert_path, convert_source
from .proof.weights import from_torch, to_torch

__all__ = ["Report", "Result", "convert_path", "convert_source", "from_torch", "to_torch", "verify"]


def __getattr__(name: str) -> object:
    if name == "verify":  # it needs numpy, which converting must not
        from .proof.equivalence import verify

        return verify
    raise AttributeError(f"module 'transpile' has no attribute {name!r}")
