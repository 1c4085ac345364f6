"""The command line, and conversion of files and directories."""

TARGETS = ("functional", "flax", "equinox")
