# Objects of plain classes: their methods draw, write what they are given, and have others below.
import torch
from torch import nn


class Gaussian:
    def __init__(self, parameters):
        self.mean, self.logvar = torch.chunk(parameters, 2, dim=1)

    def sample(self):
        return self.mean + 0 * torch.randn(self.mean.shape)

    def kl(self):
        return 0.5 * (self.mean**2 + self.logvar.exp() - 1.0 - self.logvar).sum(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)

    def encode(self, x):
        return Gaussian(self.fc(x))

    def forward(self, x, y, sample=True):
        posterior = self.encode(x)
        z = posterior.sample() if sample else posterior.mean
        return z * y + posterior.kl()[:, None]
