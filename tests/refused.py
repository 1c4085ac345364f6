"""Programs that the engine refuses, or reports in other words, and need not: what is missing, and the tests that say so.

Each of these tests has to fail, so that the line goes with what mends it.
"""

REFUSED: dict[str, list[str]] = {}
