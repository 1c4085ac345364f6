# Weights that a method of the base class ties, of the modules that it is given, or copies.
import torch
from torch import nn


class Config:
    def __init__(self, torchscript=False):
        self.torchscript = torchscript


class Base(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def init_weights(self, module):
        if isinstance(module, nn.Linear):
            module.weight.data.fill_(0.02)
        elif isinstance(module, nn.Embedding):
            module.weight.data.fill_(0.03)

    def _tie_or_clone_weights(self, first_module, second_module):
        if self.config.torchscript:
            first_module.weight = nn.Parameter(second_module.weight.clone())
        else:
            first_module.weight = second_module.weight


class Inner(Base):
    def __init__(self, config):
        super().__init__(config)
        self.emb = nn.Embedding(7, 4)
        self.fc = nn.Linear(4, 4)
        self.apply(self.init_weights)

    def forward(self, x):
        return self.fc(x)


class Net(Base):
    def __init__(self, config=Config()):
        super().__init__(config)
        self.inner = Inner(config)
        self.decoder = nn.Linear(4, 7, bias=False)
        self.apply(self.init_weights)
        self.tie_weights()

    def tie_weights(self):
        self._tie_or_clone_weights(self.decoder, self.inner.emb)

    def forward(self, x, y):
        return self.decoder(self.inner(x)) + y.sum()
