"""Which modules and arrays of a model are one and the same, and where they stand."""
