"""What each expression may be, by abstract interpretation to a fixed point.

`expressions` and `statements` hold the transfer of each class of nodes, `solve` the worklist,
`queries` what is asked of them.
"""

from .queries import Values, solve

__all__ = ["Values", "solve"]
