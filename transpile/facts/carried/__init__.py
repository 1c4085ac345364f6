"""What is carried through a block under control of data: inputs, outputs, starts, and what cannot
be carried."""

from .inputs_and_outputs import Carrying
from .obstacles import Obstacle, Obstacles

__all__ = ["Carrying", "Obstacle", "Obstacles"]
