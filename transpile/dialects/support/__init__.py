"""The support file jax_nn.py: what an output uses of rules, layers and a prelude, and no more."""
