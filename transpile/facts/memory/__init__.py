"""Which places share memory, and what a write reaches: summaries, views and inverses."""

from .memory import Memory
from .places import Place
from .results import Returns, Taken
from .summaries import Solved
from .views import View

__all__ = ["Memory", "Place", "Returns", "Solved", "Taken", "View"]
