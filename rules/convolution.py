"""Convolutions, forward and transposed, over any number of spatial dims."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import rule

from .spatial import per_dim, spatial_windows


@rule(
    "torch.nn.functional.conv2d",
    "torch.nn.functional.conv1d",
    "torch.nn.functional.conv3d",
    "torch.conv2d",
    "torch.conv1d",
    "torch.conv3d",
    differs={
        "values nan": "torch multiplies NaN with the zeros of the padding",
        "values inf": "torch multiplies infinite numbers with the zeros of the padding",
        "shape empty": "torch counts no channels for a kernel without any",
    },
)
def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlate (N, in, *spatial), or (in, *spatial), with (out, in // groups, *kernel)."""
    n = weight.ndim - 2
    if input.ndim == n + 1:
        return conv(input[None], weight, bias, stride, padding, dilation, groups)[0]
    output = lax.conv_general_dilated(
        input,
        weight,
        window_strides=per_dim(stride, n),
        padding=padding.upper() if isinstance(padding, str) else [(p, p) for p in per_dim(padding, n)],
        rhs_dilation=per_dim(dilation, n),
        feature_group_count=groups,
    )
    return output if bias is None else output + bias.reshape(-1, *(1,) * n)


@rule(
    "torch.nn.functional.conv_transpose2d",
    "torch.nn.functional.conv_transpose1d",
    "torch.nn.functional.conv_transpose3d",
    "torch.conv_transpose2d",
    "torch.conv_transpose1d",
    "torch.conv_transpose3d",
    differs={
        "values nan": "XLA computes the groups together, with zeros between them",
        "values inf": "XLA computes the groups together, with zeros between them",
    },
)
def conv_transpose(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of ``conv``, on (N, in, *spatial) or (in, *spatial) with (in, out // groups, *kernel)."""
    n = weight.ndim - 2
    if input.ndim == n + 1:
        return conv_transpose(input[None], weight, bias, stride, padding, output_padding, groups, dilation)[0]
    if not jnp.issubdtype(input.dtype, jnp.inexact):  # JAX transposes no functions of integers
        floats = (v if v is None else v.astype(float) for v in (input, weight, bias))
        return conv_transpose(*floats, stride, padding, output_padding, groups, dilation).astype(input.dtype)
    stride, padding, extra, dilation = (per_dim(v, n) for v in (stride, padding, output_padding, dilation))
    edges = [d * (k - 1) + 1 - 2 * p + e for d, k, p, e in zip(dilation, weight.shape[2:], padding, extra)]
    sizes = [(size - 1) * s + edge for size, s, edge in zip(input.shape[2:], stride, edges)]
    convolve = functools.partial(
        lax.conv_general_dilated,
        window_strides=stride,
        padding=[(p, p - e) for p, e in zip(padding, extra)],
        rhs_dilation=dilation,
        feature_group_count=groups,
    )
    shape = jax.ShapeDtypeStruct((len(input), weight.shape[1] * groups, *sizes), input.dtype)
    transposed = jax.custom_jvp(transposed_conv, nondiff_argnums=(0, 1))
    transposed.defjvp(transposed_conv_jvp, symbolic_zeros=True)
    output = transposed(convolve, shape, input, weight)
    return output if bias is None else output + bias.reshape(-1, *(1,) * n)


def transposed_conv(convolve, shape, input, weight):
    """The transpose of ``convolve(y, weight)`` for a y of this shape, at the input."""
    return jax.linear_transpose(lambda y: convolve(y, weight), shape)(input)[0]


def transposed_conv_jvp(convolve, shape, primals, tangents):
    """The derivative for the weight is that of ``convolve``, transposed.

    JAX's own is a convolution with a dilated image, for which XLA takes up to 30 times as long on CPUs.
    """
    (input, weight), (input_dot, weight_dot) = primals, tangents
    output_dot = jnp.zeros(shape.shape, shape.dtype)
    if not isinstance(input_dot, jax.custom_derivatives.SymbolicZero):
        output_dot += transposed_conv(convolve, shape, input_dot, weight)
    if not isinstance(weight_dot, jax.custom_derivatives.SymbolicZero):
        output_dot += jax.linear_transpose(
            lambda y: jax.linear_transpose(lambda weight: convolve(y, weight), weight)(input)[0], shape
        )(weight_dot)[0]
    return transposed_conv(convolve, shape, input, weight), output_dot


@rule("torch.convolution")
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv(input, weight, bias, stride, padding, dilation, groups)


@rule("torch.conv_tbc")
def conv_tbc(input, weight, bias, pad=0):
    """Convolve (time, batch, in) with (kernel, in, out)."""
    output = lax.conv_general_dilated(input, weight, (1,), [(pad, pad)], dimension_numbers=("WNC", "WIO", "WNC"))
    return output + bias


@rule("torch.nn.functional.unfold")
def unfold_patches(input, kernel_size, dilation=1, padding=0, stride=1):
    """The patches of (N, C, H, W), or (C, H, W), as columns: (N, C * kernel, places)."""
    kernel_size = per_dim(kernel_size, 2)
    pads = [(0, 0)] * (input.ndim - 2) + [(p, p) for p in per_dim(padding, 2)]
    patches = spatial_windows(jnp.pad(input, pads), kernel_size, per_dim(stride, 2), per_dim(dilation, 2))
    *leading, channels, height, width, rows, columns = patches.shape
    return patches.reshape(*leading, channels * height * width, rows * columns)


@rule("torch.nn.functional.fold")
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Add up patches where they overlap: (N, C * kernel, places) to (N, C, H, W), the transpose of unfolding."""
    kernel_height, kernel_width = per_dim(kernel_size, 2)
    channels = input.shape[-2] // (kernel_height * kernel_width)
    image = jax.ShapeDtypeStruct((*input.shape[:-2], channels, *per_dim(output_size, 2)), input.dtype)
    unfold = lambda x: unfold_patches(x, kernel_size, dilation, padding, stride)
    return jax.linear_transpose(unfold, image)(input)[0]
