"""Writes in place become bindings, parts put into arrays, and writes of modules' arrays."""
