"""Torch's structure becomes nodes: params, buffers, submodules, module calls, the mode, ties, walks."""
