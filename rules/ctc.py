"""Connectionist temporal classification."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import rule

from .loss import reduce_loss


@rule("torch.nn.functional.ctc_loss")
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Minus the log-probability of all alignments of targets with log_probs (T, N, C) or (T, C).

    Targets are (N, S), or all after one another in one axis. The mean divides by the target's length first.
    """
    input_lengths, target_lengths = jnp.asarray(input_lengths), jnp.asarray(target_lengths)
    if log_probs.ndim == 2:
        loss = ctc_loss(
            log_probs[:, None], targets.reshape(1, -1), input_lengths.reshape(1), target_lengths.reshape(1), blank,
            "none", zero_infinity,
        )  # fmt: skip
        loss = loss[0]
    else:
        if targets.ndim == 1:
            targets = padded_targets(targets, target_lengths)
        loss = ctc_losses(log_probs, targets, input_lengths, target_lengths, blank)
        if zero_infinity:
            loss = jnp.where(jnp.isinf(loss), 0, loss)
    if reduction == "mean":
        return (loss / jnp.maximum(target_lengths.reshape(loss.shape), 1)).mean()
    return reduce_loss(loss, reduction)


def padded_targets(targets, lengths):
    """Targets that stand after one another as rows (N, S); what is beyond a row's length is arbitrary."""
    start = jnp.cumsum(lengths) - lengths
    return jnp.pad(targets, (0, len(targets)))[start[:, None] + jnp.arange(len(targets))]


def ctc_losses(log_probs, targets, input_lengths, target_lengths, blank):
    """The loss of each of the N sequences, by the forward algorithm over targets with blanks between (N, 2S + 1)."""
    (steps, n, _), s = log_probs.shape, targets.shape[1]
    states = jnp.full((n, 2 * s + 1), blank).at[:, 1::2].set(targets)
    skips = jnp.pad(states[:, 2:] != states[:, :-2], ((0, 0), (2, 0))) & (states != blank)

    def step(alpha, turn):
        t, log_p = turn
        one = jnp.pad(alpha, ((0, 0), (1, 0)), constant_values=-jnp.inf)[:, :-1]
        two = jnp.pad(alpha, ((0, 0), (2, 0)), constant_values=-jnp.inf)[:, : 2 * s + 1]
        paths = jnp.stack([alpha, one, jnp.where(skips, two, -jnp.inf)])
        longer = log_sum(paths, 0) + jnp.take_along_axis(log_p, states, axis=1)
        return jnp.where((t < input_lengths)[:, None], longer, alpha), None

    before = jnp.full(states.shape, -jnp.inf, log_probs.dtype).at[:, 0].set(0)  # stands before the first blank
    first = jnp.where(jnp.arange(2 * s + 1) < 2, jnp.take_along_axis(log_probs[0], states, axis=1), -jnp.inf)
    alpha = jnp.where((input_lengths > 0)[:, None], first, before)
    alpha, _ = lax.scan(step, alpha, (jnp.arange(1, steps), log_probs[1:]))

    place = jnp.arange(2 * s + 1) - 2 * target_lengths[:, None]  # 0 is the last blank, -1 the last target
    loss = -log_sum(jnp.where((place == 0) | (place == -1), alpha, -jnp.inf), 1)
    # As torch does, take the gradient as if a log_softmax came before: exp(log_probs) belongs to it.
    used = jnp.arange(steps)[:, None, None] < input_lengths[:, None]
    mass = jnp.where(used, jnp.exp(log_probs), 0).sum(axis=(0, 2))
    return loss + jnp.where(jnp.isinf(loss), 0, mass - lax.stop_gradient(mass))


def log_sum(x, axis):
    """logsumexp with gradient 0, not NaN, where all are -inf."""
    top = lax.stop_gradient(x.max(axis=axis, keepdims=True))
    top = jnp.where(jnp.isinf(top), 0, top)
    total = jnp.exp(x - top).sum(axis=axis)
    return jnp.where(total == 0, -jnp.inf, jnp.log(jnp.where(total == 0, 1, total)) + top.squeeze(axis))
