"""JAX with self as pure functions with explicit params."""
