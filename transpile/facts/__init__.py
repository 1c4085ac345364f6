"""What the program means: each question is answered by one module."""
