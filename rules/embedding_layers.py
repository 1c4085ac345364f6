"""Embedding layers."""

import jax

from transpile.rule import Unsupported, layer, rule

from .embedding import embed, embed_bags, embed_flat_bags
from .module import Module


@layer("torch.nn.Embedding")
class Embedding(Module):
    """Rows of a table, found by their number."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, *, scale_grad_by_freq=False, sparse=False):
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.scale_grad_by_freq = scale_grad_by_freq

    def init(self, key):
        weight = jax.random.normal(key, (self.num_embeddings, self.embedding_dim))
        return {"weight": weight if self.padding_idx is None else weight.at[self.padding_idx].set(0)}

    def __call__(self, params, input):
        if self.padding_idx is None and not self.scale_grad_by_freq:
            return params["weight"][input]
        return embed(input, params["weight"], self.padding_idx, self.scale_grad_by_freq)


@rule("torch.nn.Embedding.from_pretrained", "torch.nn.EmbeddingBag.from_pretrained")
def embedding_from_pretrained(embeddings, freeze=True, padding_idx=None):
    raise Unsupported("a layer holds no arrays; build Embedding(n, d) and put the table into params['weight']")


@layer("torch.nn.EmbeddingBag")
class EmbeddingBag(Module):
    """The sum, mean or maximum of the rows of a table, for each bag of row numbers."""

    def __init__(
        self, num_embeddings, embedding_dim, *, mode="mean", sparse=False, include_last_offset=False, padding_idx=None
    ):
        self.num_embeddings, self.embedding_dim, self.mode = num_embeddings, embedding_dim, mode
        self.include_last_offset = include_last_offset
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings

    def init(self, key):
        weight = jax.random.normal(key, (self.num_embeddings, self.embedding_dim))
        return {"weight": weight if self.padding_idx is None else weight.at[self.padding_idx].set(0)}

    def __call__(self, params, input, offsets=None, per_sample_weights=None):
        weight, last = params["weight"], self.include_last_offset
        if offsets is None:
            return embed_bags(input, weight, self.mode, per_sample_weights, self.padding_idx)
        return embed_flat_bags(input, weight, offsets, self.mode, per_sample_weights, last, self.padding_idx)
