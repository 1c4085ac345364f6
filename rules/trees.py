"""torch.utils._pytree: JAX has the same trees, but for None, which is a leaf in torch, and for the order of dicts."""

import jax

from transpile.rule import rule


@rule("torch.utils._pytree.tree_flatten", note="the leaves of a dict come by its sorted keys here, in torch as they were put in")
def tree_flatten(tree):
    return jax.tree.flatten(tree, is_leaf=lambda leaf: leaf is None)


@rule("torch.utils._pytree.tree_leaves", note="the leaves of a dict come by its sorted keys here, in torch as they were put in")
def tree_leaves(tree):
    return jax.tree.leaves(tree, is_leaf=lambda leaf: leaf is None)


@rule("torch.utils._pytree.tree_unflatten")
def tree_unflatten(leaves, treespec):
    return jax.tree.unflatten(treespec, leaves)


@rule("torch.utils._pytree.tree_map")
def tree_map(func, tree, *rests):
    return jax.tree.map(func, tree, *rests, is_leaf=lambda leaf: leaf is None)
