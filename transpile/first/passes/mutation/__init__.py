"""In-place operations become rebinding: `x.add_(y)` is `x = x.add(y)`, `x[i] = v` is `x = x.at[i].set(v)`.

A write reaches every name for the same memory. Which names may share memory is a may-alias analysis inside the function;
of those, the names that are read later must follow:

- the same object (`y = x`) is assigned again;
- a view of what was written is taken again;
- what the written view is a view of gets the new value put back;
- anything else is refused.

What the write does is decided before rules are applied: the output of this pass is still torch, without mutation.
"""

from .statements import run
from .summaries import Mutations

__all__ = ["Mutations", "run"]
