# Methods that a method chooses, static ones beside those with params, and one of a dict.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, cosine=True, kind="scaled"):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.0)
        self.similarity = self._chosen(cosine)
        self.combined = self._product
        self.f = {"scaled": self.scaled, "dropped": self.dropped}[kind]
        self.set_last(False)

    def _chosen(self, cosine):
        if cosine:
            self._cosine = nn.CosineSimilarity(dim=-1)
            return self._cos
        else:
            return self._product

    def set_last(self, scaled):
        self.last = self.scaled if scaled else self.dropped

    @staticmethod
    def _product(x, y):
        return torch.tensordot(x, y.T, dims=1)

    def _cos(self, x, y):
        return self._cosine(self.fc(x).unsqueeze(1), y.unsqueeze(0))

    def scaled(self, x):
        return self.fc(x) * 2

    def dropped(self, x):
        return self.drop(self.fc(x))

    def forward(self, x, y):
        return self.similarity(x, y) + self.combined(x, y), self.last(self.f(x))
