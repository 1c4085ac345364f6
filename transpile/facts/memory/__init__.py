"""Which places share memory, and what a write reaches: summaries, views and inverses."""

from .memory import Memory, Relation
from .places import Passed, Place, Summary
from .results import Results, Returns, Taken
from .summaries import Solved
from .views import View

__all__ = [
    "Memory",
    "Passed",
    "Place",
    "Relation",
    "Results",
    "Returns",
    "Solved",
    "Summary",
    "Taken",
    "View",
]
