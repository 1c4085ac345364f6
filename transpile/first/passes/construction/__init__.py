"""`__init__` is split: hyperparameters and submodules stay; `init(key)` makes the params, `init_state(key)` the buffers.

What made an array at the top level of `__init__` moves, with the local values it needs: those are read from `self`, and
kept there if they were not. Where that is not possible (in a loop, under a computed name) the attribute becomes a
declaration that holds its initialiser, `nn.Parameter(lambda key: …)`. A buffer that depends on hyperparameters alone is
a property. Other values given to the params of a submodule are `nn.reinitialise(module, name, function)`.
"""

from . import layer_resets
from .attribute_names import AttributeNames
from .constructors import Constructor
from .declarations import declare_parameters
from .drawn_parameters import drawn_parameters
from .failures import failing
from .in_place import in_place
from .initialisers import reinitialise
from .split import Split
from .unmade import asked_or_refused

__all__ = ["AttributeNames", "Constructor", "Split", "asked_or_refused", "declare_parameters", "drawn_parameters", "failing", "in_place", "layer_resets", "reinitialise"]
