import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, sizes=(1.0, 2.0)):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.shifts = [torch.ones(4), torch.zeros(4) + 2]
        anchors = []
        for size in sizes:
            anchors.append(torch.full((4,), size))
        self.anchors = anchors
        self.table = {"a": torch.arange(4.0)}

    def forward(self, x, y):
        for shift in self.shifts:
            x = self.fc(x) + shift
        return x * self.anchors[1] + self.table["a"] * y
