"""Tests of what is known of a program, through the interface of the library."""
