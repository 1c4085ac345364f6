import torch.nn.functional as F
from torch import nn


class Attend(nn.Module):
    def forward(self, q, k):
        return F.softmax(q @ k.transpose(-2, -1), dim=-1) @ k


class Scaled(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.act = nn.Sequential(nn.Sigmoid(), nn.Tanh())

    def forward(self, x):
        return self.act(x) * self.n


class Event:
    def __init__(self, source, q):
        self.source = source
        self.q = q


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = Scaled(3)(Attend()(x, self.fc(x)))
        event = Event(self, h)
        loss_fct = nn.SmoothL1Loss()
        return loss_fct(event.q, y) + nn.CrossEntropyLoss(reduction="sum")(h, F.softmax(y, -1))
