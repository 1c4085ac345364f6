"""The command line, and conversion of files and directories."""

TARGETS = ("functional", "flax", "equinox")


def check_target(target: str) -> None:
    """Raises ValueError for what is no target."""
    if target not in TARGETS:
        raise ValueError(f"there is no target {target!r}: use one of {', '.join(TARGETS)}")
