"""Torch's layers, each written once with `self`: transpile/layer.py says in which words."""
