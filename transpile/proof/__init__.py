"""Both sides run and compared."""
