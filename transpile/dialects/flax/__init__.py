"""JAX with self as Flax NNX."""
