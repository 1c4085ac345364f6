import torch.nn as nn

from .filling import filled_

INPUTS = "f32[2,3]"


def start(module):
    if isinstance(module, nn.Linear):
        filled_(module.weight)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 64)
        self.apply(start)

    def forward(self, x):
        return self.fc(x)
