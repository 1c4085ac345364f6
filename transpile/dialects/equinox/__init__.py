"""JAX with self as Equinox."""
