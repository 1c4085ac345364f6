# A dropout of the user's, without a constructor, that asks how it was made.
import torch.nn.functional as F
from torch import nn


def drop(x, p, train, inplace=False):
    if inplace:
        return x * p
    return F.dropout(x, p, train)


class Drop(nn.Dropout):
    def forward(self, x):
        return drop(x, self.p, self.training, self.inplace)


class Plain(nn.Dropout):
    def forward(self, x):
        return F.dropout(x, self.p, self.training, self.inplace)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.drop = Drop(0.2, True)
        self.named = Drop(p=0.2, inplace=True)
        self.plain = Plain(0.5, True)

    def forward(self, x, y):
        return self.drop(self.fc(x)) + self.plain(self.named(y))
