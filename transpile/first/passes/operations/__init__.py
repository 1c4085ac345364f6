"""Torch's functions, methods, properties, constants and layers become their JAX equivalents, as the rules say.

`uses` says which part sees to which node; all of them come to what is below a node by the `walk`.
"""

from .uses import run

__all__ = ["run"]
