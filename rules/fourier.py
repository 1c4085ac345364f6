"""Fourier transforms, and those of short windows of a signal."""

import jax.numpy as jnp

from transpile.rule import Unsupported, rule


@rule("torch.fft.fft")
def fft(input, n=None, dim=-1, norm=None):
    return jnp.fft.fft(input, n=n, axis=dim, norm=norm)


@rule("torch.fft.ifft")
def ifft(input, n=None, dim=-1, norm=None):
    return jnp.fft.ifft(input, n=n, axis=dim, norm=norm)


@rule("torch.fft.rfft")
def rfft(input, n=None, dim=-1, norm=None):
    return jnp.fft.rfft(input, n=n, axis=dim, norm=norm)


@rule("torch.fft.irfft")
def irfft(input, n=None, dim=-1, norm=None):
    return jnp.fft.irfft(input, n=n, axis=dim, norm=norm)


@rule("torch.fft.hfft")
def hfft(input, n=None, dim=-1, norm=None):
    return jnp.fft.hfft(input, n=n, axis=dim, norm=norm)


@rule("torch.fft.ihfft")
def ihfft(input, n=None, dim=-1, norm=None):
    return jnp.fft.ihfft(input, n=n, axis=dim, norm=norm)


@rule("torch.fft.fft2")
def fft2(input, s=None, dim=(-2, -1), norm=None):
    if dim == (-2, -1):
        return jnp.fft.fft2(input, s=s, norm=norm)
    if isinstance(dim, int):
        return jnp.fft.fftn(input, s=s, axes=(dim,), norm=norm)
    return jnp.fft.fftn(input, s=s, axes=dim, norm=norm)


@rule("torch.fft.ifft2")
def ifft2(input, s=None, dim=(-2, -1), norm=None):
    if dim == (-2, -1):
        return jnp.fft.ifft2(input, s=s, norm=norm)
    if isinstance(dim, int):
        return jnp.fft.ifftn(input, s=s, axes=(dim,), norm=norm)
    return jnp.fft.ifftn(input, s=s, axes=dim, norm=norm)


@rule("torch.fft.rfft2")
def rfft2(input, s=None, dim=(-2, -1), norm=None):
    if dim == (-2, -1):
        return jnp.fft.rfft2(input, s=s, norm=norm)
    if isinstance(dim, int):
        return jnp.fft.rfftn(input, s=s, axes=(dim,), norm=norm)
    return jnp.fft.rfftn(input, s=s, axes=dim, norm=norm)


@rule("torch.fft.irfft2")
def irfft2(input, s=None, dim=(-2, -1), norm=None):
    if dim == (-2, -1):
        return jnp.fft.irfft2(input, s=s, norm=norm)
    if isinstance(dim, int):
        return jnp.fft.irfftn(input, s=s, axes=(dim,), norm=norm)
    return jnp.fft.irfftn(input, s=s, axes=dim, norm=norm)


@rule("torch.fft.fftn")
def fftn(input, s=None, dim=None, norm=None):
    if isinstance(dim, int):
        return jnp.fft.fftn(input, s=s, axes=(dim,), norm=norm)
    return jnp.fft.fftn(input, s=s, axes=dim, norm=norm)


@rule("torch.fft.ifftn")
def ifftn(input, s=None, dim=None, norm=None):
    if isinstance(dim, int):
        return jnp.fft.ifftn(input, s=s, axes=(dim,), norm=norm)
    return jnp.fft.ifftn(input, s=s, axes=dim, norm=norm)


@rule("torch.fft.rfftn")
def rfftn(input, s=None, dim=None, norm=None):
    if isinstance(dim, int):
        return jnp.fft.rfftn(input, s=s, axes=(dim,), norm=norm)
    return jnp.fft.rfftn(input, s=s, axes=dim, norm=norm)


@rule("torch.fft.irfftn")
def irfftn(input, s=None, dim=None, norm=None):
    if isinstance(dim, int):
        return jnp.fft.irfftn(input, s=s, axes=(dim,), norm=norm)
    return jnp.fft.irfftn(input, s=s, axes=dim, norm=norm)


@rule("torch.fft.hfft2")
def hfft2(input, s=None, dim=(-2, -1), norm=None):
    return hfftn(input, s, dim, norm)


@rule("torch.fft.ihfft2")
def ihfft2(input, s=None, dim=(-2, -1), norm=None):
    return ihfftn(input, s, dim, norm)


@rule("torch.fft.hfftn")
def hfftn(input, s=None, dim=None, norm=None):
    """The real transform of a signal whose last axis holds one half of a Hermitian symmetry."""
    axes = transformed_axes(input, s, dim)
    sizes = [None] * len(axes) if s is None else s
    for axis, size in zip(axes[:-1], sizes):
        input = jnp.fft.fft(input, n=size, axis=axis, norm=norm)
    return jnp.fft.hfft(input, n=sizes[-1], axis=axes[-1], norm=norm)


@rule("torch.fft.ihfftn")
def ihfftn(input, s=None, dim=None, norm=None):
    """The inverse of hfftn: half of the Hermitian spectrum of a real signal."""
    axes = transformed_axes(input, s, dim)
    sizes = [None] * len(axes) if s is None else s
    output = jnp.fft.ihfft(input, n=sizes[-1], axis=axes[-1], norm=norm)
    for axis, size in zip(axes[:-1], sizes):
        output = jnp.fft.ifft(output, n=size, axis=axis, norm=norm)
    return output


def transformed_axes(input, s=None, dim=None):
    """The axes of an n-dimensional transform: ``dim``, or the last ones, one for each size, or all."""
    if isinstance(dim, int):
        return (dim,)
    return range(-(input.ndim if s is None else len(s)), 0) if dim is None else dim


@rule("torch.fft.fftshift")
def fftshift(input, dim=None):
    return jnp.fft.fftshift(input, axes=dim)


@rule("torch.fft.ifftshift")
def ifftshift(input, dim=None):
    return jnp.fft.ifftshift(input, axes=dim)


@rule("torch.fft.fftfreq")
def fftfreq(n, d=1.0, *, dtype=None):
    return jnp.fft.fftfreq(n, d=d, dtype=dtype)


@rule("torch.fft.rfftfreq")
def rfftfreq(n, d=1.0, *, dtype=None):
    return jnp.fft.rfftfreq(n, d=d, dtype=dtype)


@rule("torch.rfft", "torch.irfft", "torch.ifft", "torch.Tensor.fft", "torch.Tensor.rfft", "torch.Tensor.irfft")
def old_fft(input, *args, normalized=False, onesided=True, signal_sizes=()):
    raise Unsupported("this function left torch in 1.8: use torch.fft.rfft, irfft, fft or ifft")
