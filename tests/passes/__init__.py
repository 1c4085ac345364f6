"""Tests of what the passes make of a program, through the interface of the library."""
