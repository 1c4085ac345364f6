"""Keys for what is not counted before it runs."""

import jax


def split_rows(key, n):
    """``n`` keys as rows for a scan, or None where no key was given."""
    return None if key is None else jax.random.split(key, n)


def key_stream(key):
    """Keys without end, or Nones where no key was given."""
    i = 0
    while True:
        yield None if key is None else jax.random.fold_in(key, i)
        i += 1
