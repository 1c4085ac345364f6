"""Which names are read and bound where: activity, reaching definitions, liveness, order of
evaluation."""

from .activity import Event, Kind, bound, events, free, read
from .liveness import Liveness
from .reaching import Definitions

__all__ = ["Definitions", "Event", "Kind", "Liveness", "bound", "events", "free", "read"]
