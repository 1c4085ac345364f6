"""What writes JAX with self as source: one folder a library, one shared writer."""
