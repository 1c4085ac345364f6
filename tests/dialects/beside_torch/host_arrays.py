import torch
from torch import nn
import numpy as np


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.ratios = np.array([0.5, 1.0, 2.0, 3.0])

    def forward(self, x, y):
        table = np.tile(self.ratios, (x.shape[0], 1))
        return self.fc(x) * torch.from_numpy(table) + y * float(self.ratios[1])
