"""What each expression may be, by abstract interpretation to a fixed point."""

from .solve import Values, solve

__all__ = ["Values", "solve"]
