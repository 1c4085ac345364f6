"""What is carried through a block under control of data: inputs, outputs, starts, and what cannot
be carried."""

from .carrying import Carrying
from .obstacles import Obstacle, Obstacles

__all__ = ["Carrying", "Obstacle", "Obstacles"]
