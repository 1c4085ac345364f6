"""Facts about a program: one module a question. None means not known, never no."""
