"""Sizes and dims of arrays, as far as code tells them before it runs."""
