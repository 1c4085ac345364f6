"""One construct a pass. The list, in order, is in transpile/pipeline.py."""
