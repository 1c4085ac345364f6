"""What is computed under `torch.no_grad()` is constant: `lax.stop_gradient` stands where a gradient would pass.

Only what leaves the block is wrapped: a value that is read after it, returned, yielded, kept on an object or put into a list
or dict from outside. Plain names are not, for `y = x` under no_grad is x itself, with its gradient. An in-place write changes
the value of a tensor but not its history: that of a tensor from outside the block is a write of its `.data`.

`blocks` finds the blocks and decorators, `leaving` goes through their statements, `wrapping` writes what is constant.
"""

from .blocks import run

__all__ = ["run"]
