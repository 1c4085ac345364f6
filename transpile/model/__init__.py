"""The program as data: the lowest room."""
