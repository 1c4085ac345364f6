"""Bessel functions; those that JAX lacks come from their integrals, to full precision."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from transpile.rule import rule

from .pointwise import absolute


@rule("torch.i0", "torch.special.i0", "torch.special.modified_bessel_i0", "torch.Tensor.i0")
def i0(input):
    """Modified Bessel function of order 0, with gradient 0 at 0 (1 in jax.scipy.special.i0)."""
    return jnp.exp(absolute(input)) * jax.scipy.special.i0e(input)


@rule("torch.special.i0e")
def i0e(input):
    return jax.scipy.special.i0e(input)


@rule("torch.special.i1", "torch.special.modified_bessel_i1")
def i1(input):
    return jax.scipy.special.i1(input)


@rule("torch.special.i1e")
def i1e(input):
    return jax.scipy.special.i1e(input)


@rule("torch.special.spherical_bessel_j0")
def spherical_bessel_j0(input):
    """sin(x) / x: 1 at 0, 0 at infinity."""
    return jnp.where(input == 0, 1, jnp.where(jnp.isinf(input), 0, jnp.sin(input) / input))


def circle(points):
    """Angles evenly spaced around the circle, on which the mean of a smooth function is its integral."""
    return 2 * np.pi * np.arange(points) / points


def bessel_j(x, order):
    """Bessel function of the first kind, of order 0 or 1, for 0 <= x <= 25."""
    t = circle(96)
    lag, sine = jnp.asarray(order * t, x.dtype), jnp.asarray(np.sin(t), x.dtype)
    return jnp.cos(lag - x[..., None] * sine).mean(axis=-1)


def bessel_y(x, order):
    """Bessel function of the second kind, of order 0 or 1, for 0 < x <= 25: Neumann's series in J0, J2, J4, ..."""
    t, k = circle(192), np.arange(1, 40)
    weight = jnp.asarray(((-1.0) ** k / k * np.cos(2 * k * t[:, None])).sum(axis=-1), x.dtype)
    sine = jnp.asarray(np.sin(t), x.dtype)
    log = jnp.log(x / 2) + float(np.euler_gamma)
    if order == 0:
        series = (weight * jnp.cos(x[..., None] * sine)).mean(axis=-1)
        return 2 / math.pi * (log * bessel_j(x, 0) - 2 * series)
    series = (weight * sine * jnp.sin(x[..., None] * sine)).mean(axis=-1)
    return 2 / math.pi * (log * bessel_j(x, 1) - bessel_j(x, 0) / x - 2 * series)


def bessel_far(x, order):
    """Both kinds for x > 25, (J, Y), by Hankel's expansion."""
    terms = [1.0]
    for k in range(1, 24):
        terms.append(terms[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x))
    even = sum((-1) ** i * term for i, term in enumerate(terms[0::2]))
    odd = sum((-1) ** i * term for i, term in enumerate(terms[1::2]))
    phase = x - (2 * order + 1) * math.pi / 4
    size = jnp.sqrt(2 / (math.pi * x))
    return size * (even * jnp.cos(phase) - odd * jnp.sin(phase)), size * (even * jnp.sin(phase) + odd * jnp.cos(phase))


def as_float(x):
    """x itself, or as floats of the default width if it holds integers."""
    return jnp.asarray(x, dtype=jnp.result_type(x, 1.0))


@rule("torch.special.bessel_j0")
def bessel_j0(input):
    x = jnp.abs(as_float(input))
    return jnp.where(x <= 25, bessel_j(jnp.minimum(x, 25), 0), bessel_far(jnp.maximum(x, 25), 0)[0])


@rule("torch.special.bessel_j1")
def bessel_j1(input):
    x = jnp.abs(as_float(input))
    j1 = jnp.where(x <= 25, bessel_j(jnp.minimum(x, 25), 1), bessel_far(jnp.maximum(x, 25), 1)[0])
    return jnp.where(input < 0, -j1, j1)


@rule("torch.special.bessel_y0")
def bessel_y0(input):
    x = as_float(input)
    return jnp.where(x <= 25, bessel_y(jnp.minimum(x, 25), 0), bessel_far(jnp.maximum(x, 25), 0)[1])


@rule("torch.special.bessel_y1")
def bessel_y1(input):
    x = as_float(input)
    y1 = jnp.where(x <= 25, bessel_y(jnp.minimum(x, 25), 1), bessel_far(jnp.maximum(x, 25), 1)[1])
    return jnp.where(x == 0, -jnp.inf, y1)


def scaled_bessel_k(x, order):
    """exp(x) times the modified Bessel function of the second kind, of order 0 or 1.

    The integral over t >= 0 of exp(-x (cosh t - 1)) cosh(order t), by the trapezoidal rule up to where it is below 1e-17.
    """
    safe = jnp.clip(x, 1e-8, 1e30)
    step = 2 * jnp.arcsinh(jnp.sqrt(20 / safe)) / 128
    t = step[..., None] * jnp.arange(129)
    f = jnp.exp(-2 * safe[..., None] * jnp.sinh(t / 2) ** 2) * jnp.cosh(order * t)
    near_zero = (1 + x) * (1 / x if order else -jnp.log(x / 2) - float(np.euler_gamma))
    k = jnp.where(x < 1e-8, near_zero, step * (f.sum(axis=-1) - (f[..., 0] + f[..., -1]) / 2))
    return jnp.where(x < 0, jnp.nan, jnp.where(x == 0, jnp.inf, k))


@rule("torch.special.scaled_modified_bessel_k0")
def scaled_modified_bessel_k0(input):
    return scaled_bessel_k(as_float(input), 0)


@rule("torch.special.scaled_modified_bessel_k1")
def scaled_modified_bessel_k1(input):
    return scaled_bessel_k(as_float(input), 1)


@rule("torch.special.modified_bessel_k0")
def modified_bessel_k0(input):
    return scaled_modified_bessel_k0(input) * jnp.exp(-input)


@rule("torch.special.modified_bessel_k1")
def modified_bessel_k1(input):
    return scaled_modified_bessel_k1(input) * jnp.exp(-input)


@rule("torch.special.airy_ai")
def airy_ai(input):
    """The Airy function by its contour integral, on rays from the saddle points along which the integrand falls off."""
    x = as_float(input)
    root = jnp.sqrt(jnp.abs(x))
    saddle = jnp.where(x < 0, 1j * root, root)
    right = airy_ray(saddle, np.pi / 3)
    # for x > 0 one ray, mirrored at the real axis, is the whole path; for x < 0 it comes back from minus infinity
    path = jnp.where(x < 0, right - airy_ray(1j * root, 13 * np.pi / 12), right)
    return ((jnp.exp(-2 / 3 * saddle**3) * path).imag / math.pi).astype(x.dtype)


def airy_ray(saddle, angle):
    """The integral of ``exp((t**3 - saddle**3) / 3 - saddle**2 * (t - saddle))`` over a ray of t that starts at the saddle."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    # beyond this length the integrand is below 1e-16 of its largest
    length = jnp.minimum(5.5, jnp.sqrt(74 / jnp.maximum(jnp.abs(saddle), 1)))[..., None]
    s, step = length * jnp.asarray((nodes + 1) / 2, length.dtype), length * jnp.asarray(weights / 2, length.dtype)
    direction = complex(np.exp(1j * angle))
    return (jnp.exp(saddle[..., None] * direction**2 * s**2 + direction**3 * s**3 / 3) * direction * step).sum(axis=-1)
