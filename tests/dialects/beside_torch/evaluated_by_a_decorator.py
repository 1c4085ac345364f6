# What sets the mode around a method is written out.
import torch
from torch import nn


def in_eval(fn):
    def inner(model, *args, **kwargs):
        was_training = model.training
        model.eval()
        out = fn(model, *args, **kwargs)
        model.train(was_training)
        return out

    return inner


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.5)

    @torch.no_grad()
    @in_eval
    def generate(self, x, n=2):
        return self.drop(self.fc(x)) * n

    def forward(self, x, y):
        return self.fc(x) + y + self.generate(x, n=3)
