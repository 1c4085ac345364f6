"""What each expression may be, by abstract interpretation of the user's functions over a few rounds.

`fixed_point` runs the rounds and lists which module interprets which nodes; all of them read and fill the `tables`, and come
to what is inside a node through the `frame`. The rest of the project reads the tables.
"""

from .attributes import is_differentiable
from .containers import REGISTERS
from .evidence import may_be_numpy, used_as_tensors
from .fixed_point import infer
from .instances import draws, of_no_class
from .operators import asks_torch
from .tables import Inference
from .torch_calls import static_size
from .vocabulary import NUMPY_METHODS, ORDINARY, PROPERTIES, SHARED, WALKS, computes, plausible

__all__ = [
    "NUMPY_METHODS",
    "ORDINARY",
    "PROPERTIES",
    "REGISTERS",
    "SHARED",
    "WALKS",
    "Inference",
    "asks_torch",
    "computes",
    "draws",
    "infer",
    "is_differentiable",
    "may_be_numpy",
    "of_no_class",
    "plausible",
    "static_size",
    "used_as_tensors",
]
