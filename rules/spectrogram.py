"""Fourier transforms of short windows of a signal."""

import jax.numpy as jnp

from transpile.rule import Unsupported, rule

PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@rule("torch.stft", "torch.Tensor.stft", "torch.functional.stft")
def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """The spectra (..., frequencies, frames) of windows of ``n_fft`` samples, ``hop_length`` apart."""
    if align_to_window:
        raise Unsupported("stft with align_to_window: pad the window to n_fft instead")
    is_complex = jnp.iscomplexobj(input) or window is not None and jnp.iscomplexobj(window)
    if return_complex is None and not is_complex:
        raise Unsupported("stft of a real signal needs return_complex=True or False, as in torch")
    hop_length = n_fft // 4 if hop_length is None else hop_length
    if center:
        ends = [(0, 0)] * (input.ndim - 1) + [(n_fft // 2, n_fft // 2)]
        input = jnp.pad(input, ends, mode=PAD_MODES[pad_mode])
    starts = jnp.arange(0, input.shape[-1] - n_fft + 1, hop_length)
    frames = input[..., starts[:, None] + jnp.arange(n_fft)]
    if window is not None or win_length not in (None, n_fft):
        frames = frames * whole_window(window, n_fft, win_length, input.real.dtype)
    onesided = not is_complex if onesided is None else onesided
    norm = "ortho" if normalized else None
    spectra = jnp.fft.rfft(frames, norm=norm) if onesided else jnp.fft.fft(frames, norm=norm)
    spectra = spectra.swapaxes(-2, -1)
    return jnp.stack([spectra.real, spectra.imag], axis=-1) if return_complex is False else spectra


@rule("torch.istft", "torch.Tensor.istft", "torch.functional.istft")
def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,  # as the input has it
    length=None,
    return_complex=False,
):
    """The signal whose windows have the spectra ``input`` (..., frequencies, frames): overlapping windows are added."""
    hop_length = n_fft // 4 if hop_length is None else hop_length
    norm = "ortho" if normalized else None
    frames = input.swapaxes(-2, -1)
    if return_complex:
        frames = jnp.fft.ifft(frames, norm=norm)
    else:
        frames = jnp.fft.irfft(frames[..., : n_fft // 2 + 1], n=n_fft, norm=norm)
    window = whole_window(window, n_fft, win_length, frames.real.dtype)

    count = frames.shape[-2]
    places = hop_length * jnp.arange(count)[:, None] + jnp.arange(n_fft)
    total = n_fft + hop_length * (count - 1)
    signal = jnp.zeros((*frames.shape[:-2], total), frames.dtype).at[..., places].add(frames * window)
    weight = jnp.zeros(total, window.dtype).at[places].add(jnp.broadcast_to(window**2, places.shape))

    start = n_fft // 2 if center else 0
    stop = start + length if length is not None else total - start
    signal = signal[..., start:stop] / weight[start:stop]
    missing = 0 if length is None else length - signal.shape[-1]
    return jnp.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, missing)]) if missing else signal


def whole_window(window, n_fft, win_length=None, dtype=None):
    """The window (ones of ``win_length`` if None) with zeros around it to ``n_fft`` samples."""
    if window is None:
        window = jnp.ones(n_fft if win_length is None else win_length, dtype)
    before = (n_fft - window.shape[0]) // 2
    return jnp.pad(window, (before, n_fft - window.shape[0] - before))
