# Both sides of a tie are what methods give.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.decoder = nn.Linear(4, 7, bias=False)
        self.tie_weights()

    def tie_weights(self):
        self.decoder.weight = self.get_input_embeddings().weight

    def get_input_embeddings(self):
        return self.emb

    def forward(self, x, y):
        return self.decoder(x) + y.sum()
