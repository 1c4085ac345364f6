# What a layer around another one has itself: DINO's head.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.utils.weight_norm(nn.Linear(4, 3, bias=False))
        self.last.weight_g.data.fill_(1)
        nn.init.normal_(self.last.weight_v)

    def forward(self, x, y):
        return self.last(x + y) * self.last.weight_g.sum()
