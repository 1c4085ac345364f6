"""Reductions over the places that a mask selects: `x[mask].mean()` has a static shape after all.

`[mask]` is for a mask that is known to have the rank of the array, `[rows]` for one that may have fewer dims.
"""

import jax.numpy as jnp

from transpile.rule import rule

from .class_loss import cross_entropy, nll_loss

# Operations that selections go through, element by element. Outside of the mask there may be anything, NaN too, and the slope there is
# multiplied by a gradient of 0: of those in LINEAR it is a number whatever the operand is, of those in SMOOTH where that is one, and of
# those in SAFE where it is the number here.
LINEAR = {
    "neg", "negative", "positive", "float", "double", "half", "bfloat16", "long", "int", "short", "byte", "bool", "to", "type", "cpu", "cuda", "detach", "clone",
    "contiguous", "clamp", "clip", "clamp_min", "clamp_max", "relu", "relu6", "hardtanh", "where",
}  # fmt: skip
SMOOTH = {
    "abs", "absolute", "square", "sigmoid", "tanh", "sin", "cos", "atan", "arctan", "erf", "softplus", "logsigmoid", "leaky_relu", "elu", "silu",
    "gelu", "mish", "softsign", "floor", "ceil", "round", "trunc", "sign", "maximum", "minimum",
}  # fmt: skip
SAFE = {
    "log": 1, "log2": 1, "log10": 1, "sqrt": 1, "rsqrt": 1, "reciprocal": 1, "lgamma": 1, "digamma": 1, "log1p": 0, "exp": 0, "exp2": 0, "expm1": 0,
    "sinh": 0, "cosh": 0, "tan": 0, "asin": 0, "arcsin": 0, "acos": 0, "arccos": 0, "atanh": 0, "arctanh": 0, "logit": 0.5,
}  # fmt: skip
COMPARED = {
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "isnan",
    "isinf",
    "isfinite",
    "logical_not",
    "logical_and",
    "logical_or",
    "logical_xor",
}

# Reductions: CURVED are those whose slopes are numbers where the operand is, to FILLED zeros add nothing, those in ONE_DIM keep none of one dim.
CURVED = {"std", "var"}
FILLED = {"norm"}
ONE_DIM = {"sum", "mean", "any", "all"}

# Losses by what they take of the difference, or by the operands that are safe; layers by the loss that they compute.
LOSSES = {
    "l1_loss": "abs", "mse_loss": "square", "smooth_l1_loss": (0, 0), "huber_loss": (0, 0), "binary_cross_entropy": (0.5, 0.5),
    "binary_cross_entropy_with_logits": (0, 0),
}  # fmt: skip
# layers that compute each row by itself, along its last dim
LAYERS_BY_ROWS = {
    "Linear", "Identity", "LayerNorm", "RMSNorm", "Dropout", "ReLU", "ReLU6", "LeakyReLU", "ELU", "CELU", "SELU", "GELU", "SiLU", "Mish", "Sigmoid",
    "LogSigmoid", "Tanh", "Tanhshrink", "Softplus", "Softsign", "Softshrink", "Hardshrink", "Hardtanh", "Hardsigmoid", "Hardswish", "Threshold",
}  # fmt: skip
LOSS_LAYERS = {
    "L1Loss": "l1_loss", "MSELoss": "mse_loss", "SmoothL1Loss": "smooth_l1_loss", "HuberLoss": "huber_loss", "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits", "CrossEntropyLoss": "cross_entropy", "NLLLoss": "nll_loss",
}  # fmt: skip


@rule("torch.Tensor.sum[mask]", "torch.sum[mask]")
def selected_sum(input, mask):
    return jnp.sum(input, where=mask)


@rule("torch.Tensor.mean[mask]", "torch.mean[mask]")
def selected_mean(input, mask):
    return jnp.mean(input, where=mask)


@rule("torch.Tensor.max[mask]", "torch.max[mask]", "torch.Tensor.amax[mask]")
def masked_max(input, mask):
    return jnp.max(input, where=mask, initial=-jnp.inf)


@rule("torch.Tensor.min[mask]", "torch.min[mask]", "torch.Tensor.amin[mask]")
def masked_min(input, mask):
    return jnp.min(input, where=mask, initial=jnp.inf)


@rule("torch.Tensor.numel[mask]", "torch.Tensor.nelement[mask]")
def masked_numel(input, mask):
    return jnp.sum(mask)


def over(mask, input):
    """The mask above the leading dims of ``input``, as an index takes it."""
    return mask.reshape(mask.shape + (1,) * (input.ndim - mask.ndim))


@rule("torch.Tensor.sum[rows]")
def sum_of_rows(input, mask):
    return jnp.sum(input, where=over(mask, input))


@rule("torch.Tensor.mean[rows]")
def mean_of_rows(input, mask):
    return jnp.mean(input, where=over(mask, input))


@rule("torch.Tensor.max[rows]", "torch.Tensor.amax[rows]")
def max_of_rows(input, mask):
    return jnp.max(input, where=over(mask, input), initial=-jnp.inf)


@rule("torch.Tensor.min[rows]", "torch.Tensor.amin[rows]")
def min_of_rows(input, mask):
    return jnp.min(input, where=over(mask, input), initial=jnp.inf)


@rule("torch.Tensor.numel[rows]", "torch.Tensor.nelement[rows]")
def numel_of_rows(input, mask):
    return jnp.sum(jnp.broadcast_to(over(mask, input), input.shape))


@rule("torch.Tensor.numel[flat]")
def numel_of_flat(input, mask):
    return jnp.sum(jnp.broadcast_to(mask, jnp.broadcast_shapes(mask.shape, input.shape)))


@rule("torch.Tensor.any[mask]")
def selected_any(input, mask):
    return jnp.any(input, where=mask)


@rule("torch.Tensor.any[rows]")
def any_of_rows(input, mask):
    return jnp.any(input, where=over(mask, input))


@rule("torch.Tensor.all[mask]")
def selected_all(input, mask):
    return jnp.all(input, where=mask)


@rule("torch.Tensor.all[rows]")
def all_of_rows(input, mask):
    return jnp.all(input, where=over(mask, input))


@rule("torch.Tensor.var[mask]")
def selected_var(input, mask):
    return jnp.var(input, ddof=1, where=mask)


@rule("torch.Tensor.var[rows]")
def var_of_rows(input, mask):
    return jnp.var(input, ddof=1, where=over(mask, input))


@rule("torch.Tensor.std[mask]")
def selected_std(input, mask):
    """The standard deviation of what the mask selects; where it is 0 its gradient is 0, not NaN."""
    variance = jnp.var(input, ddof=1, where=mask)
    flat = variance == 0
    return jnp.where(flat, 0, jnp.sqrt(jnp.where(flat, 1, variance)))


@rule("torch.Tensor.std[rows]")
def std_of_rows(input, mask):
    return selected_std(input, over(mask, input))


@rule("torch.where[rows]")
def where_over(mask, input, other):
    return jnp.where(over(mask, input), input, other)


@rule("torch.nn.functional.cross_entropy[rows]")
def cross_entropy_of_rows(
    input, target, mask, weight=None, *, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    """Cross entropy of the rows of logits that the mask selects."""
    input, target = rows(input, target, mask, ignore_index)
    return cross_entropy(
        input, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )


@rule("torch.nn.functional.nll_loss[rows]")
def nll_loss_of_rows(input, target, mask, weight=None, *, ignore_index=-100, reduction="mean"):
    """Negative log likelihood of the rows that the mask selects."""
    input, target = rows(input, target, mask, ignore_index)
    return nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def rows(input, target, mask, ignore_index):
    """Rows (N, C) and their classes (N,), of which those that the mask does not select are to be ignored."""
    if input.ndim != mask.ndim + 1 or target.shape != mask.shape:
        raise ValueError(
            f"a mask of shape {mask.shape} does not select rows of {input.shape} and classes of {target.shape}"
        )
    input = jnp.where(mask[..., None], input, 0)
    return input.reshape(-1, input.shape[-1]), jnp.where(mask, target, ignore_index).reshape(-1)
