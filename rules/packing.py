"""Sequences of several lengths in one array: padding, packing and back."""

import jax
import jax.numpy as jnp
import numpy as np

from transpile.rule import layer, rule


@layer("torch.nn.utils.rnn.PackedSequence")
@jax.tree_util.register_pytree_node_class
class PackedSequence:
    """Sequences side by side: ``padded`` (time, batch, ...), zero after each end, and ``lengths`` (batch,).

    Torch keeps the flat ``data`` instead, whose size follows the lengths; here it is computed when asked for, which
    needs lengths known outside ``jax.jit``. ``longest`` says whether ``padded`` is as long as the longest sequence.
    """

    def __init__(self, data, batch_sizes, sorted_indices=None, unsorted_indices=None):
        sizes = known_lengths(batch_sizes)
        time, row = np.nonzero(np.arange(sizes[0]) < sizes[:, None])
        column = row if sorted_indices is None else known_lengths(sorted_indices)[row]
        self.lengths = np.bincount(column)
        self.padded = jnp.zeros((len(sizes), sizes[0], *data.shape[1:]), data.dtype).at[time, column].set(data)
        self.longest, self.enforce_sorted = True, sorted_indices is None

    @classmethod
    def of(cls, padded, lengths, longest, enforce_sorted):
        packed = cls.__new__(cls)
        packed.padded, packed.lengths = padded, lengths
        packed.longest, packed.enforce_sorted = longest, enforce_sorted
        return packed

    def tree_flatten(self):
        return (self.padded, self.lengths), (self.longest, self.enforce_sorted)

    @classmethod
    def tree_unflatten(cls, fixed, arrays):
        return cls.of(*arrays, *fixed)

    def replace(self, padded):
        """Sequences of the same lengths with other contents."""
        return self.of(padded, self.lengths, self.longest, self.enforce_sorted)

    def _replace(self, **given):
        names = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")
        return PackedSequence(**{name: getattr(self, name) for name in names} | given)

    def mask(self):
        """True up to the end of each sequence: (time, batch)."""
        return jnp.arange(self.padded.shape[0])[:, None] < jnp.asarray(self.lengths)

    @property
    def sorted_indices(self):
        return None if self.enforce_sorted else np.argsort(-known_lengths(self.lengths), kind="stable")

    @property
    def unsorted_indices(self):
        return None if self.enforce_sorted else np.argsort(self.sorted_indices)

    @property
    def batch_sizes(self):
        lengths = known_lengths(self.lengths)
        return (np.arange(lengths.max())[:, None] < lengths).sum(axis=1)

    @property
    def data(self):
        sizes = self.batch_sizes
        time, row = np.nonzero(np.arange(sizes[0]) < sizes[:, None])
        return self.padded[time, row if self.enforce_sorted else self.sorted_indices[row]]

    def __getitem__(self, index):
        return (self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)[index]


def known_lengths(lengths):
    """Lengths as a NumPy array, because a shape follows from them."""
    if isinstance(lengths, jax.core.Tracer):
        raise TypeError(
            "the lengths set a shape here, and jax.jit does not know them: pass total_length to pad_packed_sequence,"
            " or keep the lengths out of the jitted function's arguments (a list, a NumPy array or a closure)"
        )
    return np.asarray(lengths)


@rule("torch.nn.utils.rnn.pack_padded_sequence")
def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Lengths that are known cut the padding to the longest sequence, as torch does; traced ones keep it."""
    padded = input.swapaxes(0, 1) if batch_first else input
    if isinstance(lengths, list) and any(isinstance(length, jax.core.Tracer) for length in lengths):
        lengths = jnp.stack(lengths)
    longest = not isinstance(lengths, jax.core.Tracer)
    if longest:
        lengths = np.asarray(lengths)
        if enforce_sorted and (np.diff(lengths) > 0).any():
            raise ValueError("lengths must be in decreasing order, or pass enforce_sorted=False")
        padded = padded[: lengths.max()]
    packed = PackedSequence.of(padded, lengths, longest, enforce_sorted)
    mask = packed.mask()
    return packed.replace(jnp.where(mask.reshape(mask.shape + (1,) * (padded.ndim - 2)), padded, 0))


@rule("torch.nn.utils.rnn.pad_packed_sequence", by_data="not total_length")
def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded array and the lengths. Its length is the longest sequence's, or ``total_length``."""
    padded, mask = sequence.padded, sequence.mask()
    if total_length is None and not sequence.longest:
        padded = padded[: known_lengths(sequence.lengths).max()]
    elif total_length is not None:
        missing = total_length - padded.shape[0]
        if missing < 0:
            raise ValueError(f"total_length={total_length} is less than the {padded.shape[0]} steps that were packed")
        padded = jnp.pad(padded, [(0, missing)] + [(0, 0)] * (padded.ndim - 1))
    if padding_value != 0:
        mask = sequence.of(padded, sequence.lengths, True, True).mask()
        padded = jnp.where(mask.reshape(mask.shape + (1,) * (padded.ndim - 2)), padded, padding_value)
    return padded.swapaxes(0, 1) if batch_first else padded, jnp.asarray(sequence.lengths)


@rule("torch.nn.utils.rnn.pad_sequence")
def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stack arrays of several lengths along a new axis."""
    total = max(len(s) for s in sequences)
    missing = [(total - len(s), 0) if padding_side == "left" else (0, total - len(s)) for s in sequences]
    padded = [
        jnp.pad(s, [m] + [(0, 0)] * (s.ndim - 1), constant_values=padding_value) for s, m in zip(sequences, missing)
    ]
    return jnp.stack(padded, axis=0 if batch_first else 1)


@rule("torch.nn.utils.rnn.pack_sequence")
def pack_sequence(sequences, enforce_sorted=True):
    return pack_padded_sequence(pad_sequence(sequences), [len(s) for s in sequences], enforce_sorted=enforce_sorted)


@rule("torch.nn.utils.rnn.unpad_sequence")
def unpad_sequence(padded_sequences, lengths, batch_first=False):
    rows = padded_sequences if batch_first else padded_sequences.swapaxes(0, 1)
    return [row[:length] for row, length in zip(rows, known_lengths(lengths))]


@rule("torch.nn.utils.rnn.unpack_sequence")
def unpack_sequence(packed_sequences):
    return unpad_sequence(packed_sequences.padded, packed_sequences.lengths)


@rule("torch.nn.utils.rnn.invert_permutation")
def invert_permutation(permutation):
    if permutation is None:
        return None
    return jnp.argsort(permutation)
