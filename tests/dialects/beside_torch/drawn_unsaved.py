# What torch does not save is drawn for each model, and a model is given torch's.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        order = torch.randperm(4)
        self.order = order
        self.inverse = torch.argsort(order)
        self.scale = torch.rand(4)
        self.register_buffer("shift", torch.randn(4), persistent=False)
        self.flat = torch.ones(self.scale.shape[0])
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        y = y * self.scale + self.shift * self.flat
        return self.fc(x[:, self.order])[:, self.inverse] + y
