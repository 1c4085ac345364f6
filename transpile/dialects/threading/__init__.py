"""State and keys as values: what functional and Equinox share."""
