import torch
from torch import nn
import numpy as np


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.grid = np.zeros((3, 4), dtype=np.float32)
        for i in range(4):
            self.grid[:, i] = np.arange(3) + i
        self.grid = torch.from_numpy(self.grid.astype(np.float32))
        self.angle = self.grid[:, 1:2] * np.pi
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.fc(x) * self.grid + y * self.angle.sin() * self.grid.shape[1]
