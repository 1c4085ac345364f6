import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = []
        for name, shape in [("w", (4,)), ("v", (4, 4))]:
            param = nn.Parameter(torch.full(shape, 0.5))
            setattr(self, name + "_p", param)
            self.names.append(name + "_p")

    def forward(self, x, y):
        for name in self.names:
            param = getattr(self, name)
            x = x * param if param.dim() == 1 else x @ param
        return x + y
