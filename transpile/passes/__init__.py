"""From torch's program to JAX with self: one construct a pass, in one list (`order.py`)."""
