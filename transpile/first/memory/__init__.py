"""Which names may share memory at each point of a function, and how one is a view of another.

`flow` goes through the statements, `binding` through what they assign; `making` says which piece of memory an expression is,
`sharing` what else it may lie in, `calls` what calls pass on and keep.
"""

from .memory import Memory
from .places import COMPUTED, Env, Passed, merge

__all__ = ["COMPUTED", "Env", "Memory", "Passed", "merge"]
