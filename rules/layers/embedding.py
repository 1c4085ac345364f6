"""Tables of vectors, of which rows are looked up."""

import jax

from transpile.layer import Module, Parameter, draw_key, layer
from transpile.rule import Unsupported

from ..embedding import embed, embed_bags, embed_flat_bags


def random_table(key, num_embeddings, embedding_dim, padding_idx, dtype=None):
    """Normal rows, and zeros for padding."""
    table = jax.random.normal(key, (num_embeddings, embedding_dim), dtype)
    return table if padding_idx is None else table.at[padding_idx].set(0)


@layer("torch.nn.Embedding")
class Embedding(Module):
    """Rows of a table, found by their number."""

    max_norm = None

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        *,
        dtype=None,
    ):
        if max_norm is not None:
            raise Unsupported("max_norm changes the weight in forward: normalise the rows before")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.scale_grad_by_freq = scale_grad_by_freq
        if _weight is None:
            _weight = random_table(
                draw_key(), num_embeddings, embedding_dim, self.padding_idx, dtype
            )
        self.weight = Parameter(_weight, requires_grad=not _freeze)

    @classmethod
    def from_pretrained(
        cls,
        embeddings,
        freeze=True,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
    ):
        """A layer with this table, which is not trained unless ``freeze`` is False."""
        return Embedding(
            *embeddings.shape,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            embeddings,
            freeze,
        )

    def __call__(self, input):
        if self.padding_idx is None and not self.scale_grad_by_freq:
            return self.weight[input]
        return embed(input, self.weight, self.padding_idx, self.scale_grad_by_freq)


@layer("torch.nn.EmbeddingBag")
class EmbeddingBag(Module):
    """The sum, mean or maximum of the rows of a table, for each bag of row numbers."""

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        _weight=None,
        include_last_offset=False,
        padding_idx=None,
    ):
        if max_norm is not None:
            raise Unsupported("max_norm changes the weight in forward: normalise the rows before")
        if scale_grad_by_freq:
            raise Unsupported("scale_grad_by_freq of EmbeddingBag")
        self.num_embeddings, self.embedding_dim, self.mode = num_embeddings, embedding_dim, mode
        self.include_last_offset = include_last_offset
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        if _weight is None:
            _weight = random_table(draw_key(), num_embeddings, embedding_dim, self.padding_idx)
        self.weight = Parameter(_weight)

    @classmethod
    def from_pretrained(
        cls,
        embeddings,
        freeze=True,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        include_last_offset=False,
        padding_idx=None,
    ):
        """A layer with this table, which is not trained unless ``freeze`` is False."""
        return EmbeddingBag(
            *embeddings.shape,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )

    def __call__(self, input, offsets=None, per_sample_weights=None):
        weight, mode, padding = self.weight, self.mode, self.padding_idx
        if offsets is None:
            return embed_bags(input, weight, mode, per_sample_weights, padding)
        last = self.include_last_offset
        return embed_flat_bags(input, weight, offsets, mode, per_sample_weights, last, padding)
