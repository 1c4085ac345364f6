# A weight that constructors are handed, one behind the other, in order to share it.
import torch
from torch import nn


class Predictions(nn.Module):
    def __init__(self, size, weights):
        super().__init__()
        self.transform = nn.Linear(size, size)
        self.decoder = nn.Linear(weights.size(1), weights.size(0), bias=False)
        self.decoder.weight = weights
        self.bias = nn.Parameter(torch.zeros(weights.size(0)))

    def forward(self, x):
        return self.decoder(self.transform(x)) + self.bias


class Heads(nn.Module):
    def __init__(self, size, weights):
        super().__init__()
        self.predictions = Predictions(size, weights)
        self.relation = nn.Linear(size, 2)

    def forward(self, x):
        return self.predictions(x), self.relation(x)


class Embeddings(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.words = nn.Embedding(7, size)

    def forward(self, ids):
        return self.words(ids)


class Net(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.embeddings = Embeddings(size)
        self.cls = Heads(size, self.embeddings.words.weight)
        self.apply(self.begin)

    def begin(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            m.weight.data.normal_(mean=0.0, std=0.02)

    def forward(self, x, y):
        ids = (x > 0).long()
        scores, relation = self.cls(self.embeddings(ids)[:, 0] * y)
        return scores, relation
