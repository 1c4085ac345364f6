"""Which places share memory, and what a write reaches: summaries, views and inverses."""

from .locations import Place
from .queries import Memory
from .returned_params import Returns, Taken
from .summaries import Solved
from .views import View

__all__ = ["Memory", "Place", "Returns", "Solved", "Taken", "View"]
