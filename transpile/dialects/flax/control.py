"""Control by data."""

from __future__ import annotations

HANDLERS: dict[type, object] = {}
