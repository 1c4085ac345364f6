"""torch.utils.checkpoint, and the functions of torch.nn.utils that act on all parameters at once."""

import jax

from transpile.rule import Unsupported, rule


@rule("torch.utils.checkpoint.checkpoint")
def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=None,
    determinism_check="default",
    debug=False,
    preserve_rng_state=True,
    early_stop=True,
):
    if context_fn is not None:
        raise Unsupported("checkpoint with context_fn; use jax.checkpoint with a policy")
    return checkpointed(function)(*args)


def checkpointed(function):
    """``jax.checkpoint`` of a function, of its arrays alone: flags and sizes stay Python's."""

    def run(*args, **kwargs):
        leaves, tree = jax.tree.flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

        def again(arrays):
            filled = dict(enumerate(leaves)) | dict(zip(places, arrays))
            args, kwargs = jax.tree.unflatten(tree, filled.values())
            return function(*args, **kwargs)

        return jax.checkpoint(again)([leaves[i] for i in places])

    return run


@rule("torch.utils.checkpoint.checkpoint_sequential")
def checkpoint_sequential(functions, segments, input, use_reentrant=None, preserve_rng_state=True):
    raise Unsupported("checkpoint_sequential; call jax.checkpoint on each segment")


@rule("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_norm")
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    raise Unsupported("clip_grad_norm_ outside a converted training step; clip the gradients that jax.grad returned")


@rule("torch.nn.utils.clip_grad_value_")
def clip_grad_value_(parameters, clip_value, foreach=None):
    raise Unsupported("clip_grad_value_ outside a converted training step; clip the gradients that jax.grad returned")


@rule("torch.nn.utils.parameters_to_vector")
def parameters_to_vector(parameters):
    raise Unsupported("parameters_to_vector; jax.flatten_util.ravel_pytree(params) is close, in the order of names")


@rule("torch.nn.utils.vector_to_parameters")
def vector_to_parameters(vec, parameters):
    raise Unsupported("vector_to_parameters; the second result of jax.flatten_util.ravel_pytree does this")


@rule(
    "torch.nn.utils.fuse_conv_bn_eval",
    "torch.nn.utils.fusion.fuse_conv_bn_eval",
    "torch.nn.utils.fuse_linear_bn_eval",
    "torch.nn.utils.fusion.fuse_linear_bn_eval",
)
def fuse_bn_eval(layer, bn, transpose=False):
    raise Unsupported("fusing layers changes the params; XLA fuses the arithmetic by itself")
