# Of a container and layers, only the layers have a bias.
from torch import nn
import numpy as np


def between(a, b):
    low = a[:, 1:] - b[:, :3]
    return np.clip(low, a_min=0, a_max=np.inf)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        z = self.fc(x).detach()
        return between(z, y.detach()) + x[:, 1:] * np.clip(z, a_max=0.5, a_min=-1.0).sum()
